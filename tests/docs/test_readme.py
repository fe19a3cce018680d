"""The README is short, and what it links to is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _anchor(heading: str) -> str:
    """As web pages of repositories, and mkdocs, name a heading."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") < 150
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", text)
    assert len(links) > 20
    for path, anchor in links:
        assert (ROOT / path).exists() or path.startswith("results"), path
        if anchor:
            headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(), re.MULTILINE)
            assert anchor in map(_anchor, headings), f"{path}#{anchor}"
