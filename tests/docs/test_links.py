"""Links between pages lead to files and headings that exist, with or without the builder of the site."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
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
