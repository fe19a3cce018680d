"""Pages that are made of declarations and of published records, and the pictures that pages show."""

import re
from pathlib import Path

import pytest

from boostrun.cli.arguments import VERBS
from boostrun.cli.frontier import names as frontiers
from boostrun.config import catalogue

from .page import loaded, script

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
_SHOWN = re.compile(r"""(?:!\[[^]]*\]\(|src="|srcset=")([^)"]+)""")


def test_the_reference_has_every_verb_and_choice():
    pytest.importorskip("griffe", reason="pip install 'boostrun[docs]'")
    site = loaded(ROOT / "docs" / "site.py")
    verbs, choices = "\n".join(site.reference()), "\n".join(site.declared())
    assert all(f"\n### {verb}\n" in verbs for verb in VERBS)
    assert "| `holdout` |" in verbs and "| `algo.shrinkage` |" in choices and "`boostrun tune` searches `T=" in choices
    for group, names in (("algo", catalogue.methods()), ("dataset", catalogue.datasets())):
        assert all(f"{{#{group}.{name}}}" in choices for name in names)


def test_the_gallery_is_what_make_pictures_writes_and_its_commands_exist():
    if not (ROOT / "results").is_dir():
        pytest.skip("this copy comes without published results")
    made = script("pictures")
    text = (ROOT / "docs" / "explanation" / "gallery.md").read_text(encoding="utf-8")
    assert text == made.gallery()
    assert {shown.name for shown in made.GALLERY} <= {made.HERO, *(picture.name for picture in made.PICTURES)}
    items = re.findall(r"^\$ boostrun reproduce (\S+)", text, re.M)
    assert len(items) > 6 and set(items) <= {*catalogue.options("paper"), *frontiers()}


def test_pictures_of_pages_are_small_and_in_one_folder():
    shown = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for path in _SHOWN.findall(page.read_text(encoding="utf-8")):
            shown.add((page.parent / path).resolve())
    shown.discard((ROOT / "docs" / "architecture.svg").resolve())
    assert len(shown) > 15 and {path.parent for path in shown} == {PICTURES}
    assert all(path.is_file() for path in shown)
    assert max(path.stat().st_size for path in PICTURES.iterdir()) < 60_000
