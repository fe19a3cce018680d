"""The README is short, and the commands of all pages are understood."""

import re
import shlex
from pathlib import Path

import pytest

from boostrun.cli.arguments import VERBS, parse
from boostrun.cli.frontier import names
from boostrun.config import catalogue
from boostrun.config.words import split_ranges
from boostrun.runner.plan import compose_all

ROOT = Path(__file__).parents[2]
_RUN_WORD_FOR_WORD = ("tutorial.md", "faq.md", "extending.md")  # with mistakes, and things of a person's own
PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.name not in _RUN_WORD_FOR_WORD
]


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text().count("\n") <= 120


def commands(page: Path) -> list[str]:
    """The words after `boostrun` of a page's commands in ```console and ```text, whether they are run or not."""
    blocks = re.findall(r"```(?:console|text)\n(.*?)```", page.read_text(), re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [found[1] for line in lines if (found := re.match(r"(?:\$ )?boostrun (?!0)(.*)$", line))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_are_understood(page):
    for line in commands(page):
        words = parse(shlex.split(line, comments=True))
        assert words.verb in VERBS, line
        items = [name for name in words.names if "/" in name]
        assert set(items) <= {*catalogue.options("paper"), *names()}, line
        if words.verb in ("run", "plan", "tune", "export") and words.overrides and not items:
            compose_all(split_ranges([word for word in words.overrides if not word.startswith("tune.")])[0])


def test_commands_are_found_on_pages():
    assert commands(ROOT / "README.md") and sum(len(commands(page)) for page in PAGES) > 30
