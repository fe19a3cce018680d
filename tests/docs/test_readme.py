"""The README is short, links lead somewhere, and the commands of all pages are understood."""

import re
import shlex
from pathlib import Path

import pytest

from boostrun.cli.arguments import VERBS, parse
from boostrun.cli.reproduce import names
from boostrun.config import catalogue
from boostrun.config.words import split_ranges
from boostrun.runner.plan import compose_all

ROOT = Path(__file__).parents[2]
_RUN_WORD_FOR_WORD = ("tutorial.md", "faq.md", "extending.md")  # with mistakes, and a user's own things
PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.name not in _RUN_WORD_FOR_WORD
]


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
        items = [name for name in words.names if "/" in name and "://" not in name]
        assert set(items) <= {*catalogue.options("paper"), *names()}, line
        if words.verb in ("run", "plan", "tune", "export") and words.overrides and not items:
            of_verb = ("tune.", "table.", "metric=")
            compose_all(split_ranges([word for word in words.overrides if not word.startswith(of_verb)])[0])


def test_the_readme_is_short_and_commands_are_found_on_pages():
    assert commands(ROOT / "README.md") and sum(len(commands(page)) for page in PAGES) > 30
    assert (ROOT / "README.md").read_text().count("\n") <= 120


LINKING = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "datasets" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md")),
]  # fmt: skip
WRITTEN_BY_MAKE_DOCS = {ROOT / "docs" / "reference" / f"{name}.md" for name in ("verbs", "methods")}
_LINK = re.compile(r"""(?:\]\(|src="|srcset=")([^)"#\s]*)(?:#([^)"\s]*))?""")


def anchors(page: Path) -> set[str]:
    """The anchors of a page: its headings, as web pages of repositories and mkdocs name them, and explicit ones."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    named = {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}
    return {*named, *re.findall(r'<a id="([^"]+)">', text)}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for path, anchor in _LINK.findall(text):
        if re.match(r"[a-z]+:", path):
            continue
        target = (page.parent / path).resolve() if path else page
        if target in WRITTEN_BY_MAKE_DOCS or (not (ROOT / "results").is_dir() and "results/" in path):
            continue
        assert target.exists(), f"{path} is missing"
        assert not anchor or anchor in anchors(target), f"{path}#{anchor} is no heading"
