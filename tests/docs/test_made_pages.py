"""Pages that are made of declarations and of published items are those that are committed."""

import re
from pathlib import Path

import pytest

from boostrun.cli.arguments import VERBS
from boostrun.cli.frontier import names as frontiers
from boostrun.config import catalogue
from boostrun.config.yaml_files import options

from .page import script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages():
    return script("pages")


def test_the_reference_is_made_of_the_declarations_and_names_all_of_them(pages):
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert text == pages.reference()
    for verb in VERBS:
        assert f"\n### {verb}\n" in text
    for group, names in (("algo", catalogue.methods()), ("dataset", catalogue.datasets())):
        assert all(f"\n### {group}={name}\n" in text for name in names)


def test_the_gallery_has_a_picture_and_its_command_for_each_item_that_has_one(pages):
    if not (ROOT / "results").is_dir():
        pytest.skip("this copy comes without published results")
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert text == pages.gallery()
    pictures = re.findall(r"!\[([\w/-]+)\]\(\.\./([^)]*)\)", text)
    assert len(pictures) > 40 and all((ROOT / path).is_file() for _, path in pictures)
    assert re.findall(r"^\$ boostrun reproduce (.*)$", text, re.M) == [name for name, _ in pictures]
    assert {name for name, _ in pictures} <= {*options("paper"), *frontiers()}
