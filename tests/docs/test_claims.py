"""Pages agree with records on the papers' claims: the page of claims, verdicts in prose, the counts."""

import functools
import re
from pathlib import Path

import pytest
import yaml

from boostrun.config import catalogue
from boostrun.report import verdicts as page_of
from boostrun.runner.claims import verdicts

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md", DOCS / "explanation" / "results.md", *sorted((DOCS / "papers").glob("*.md")),
    DOCS / "howto" / "faq.md",
]  # fmt: skip
OURS = ("adaptive", "iboost", "reservoir", "shareboost")
_LINK = re.compile(r"\[([^]]*)\]\((?:[\w./]*/)?claims\.md#([a-z0-9-]+)\)")
_FIGURE = re.compile(r"(?<![\w.^])-?\d+\.\d+(?![\w.]*\d)")

pytestmark = pytest.mark.skipif(not (ROOT / "results").is_dir(), reason="no results beside the tests")


@functools.cache
def computed():
    return verdicts(OURS, [f"results={ROOT / 'results'}", f"store={ROOT / 'no-store-of-ones-own'}"])


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.chdir(ROOT)


def told():
    """The page with commands that name no place."""
    titles = {name: paper.title for name, paper in catalogue.papers().items()}
    page = page_of.markdown(computed(), titles)
    return re.sub(r" results=\S+? store=[^\s`]+", "", page)


def test_the_page_of_claims_is_the_computed_one():
    page = DOCS / "explanation" / "claims.md"
    assert page.read_text() == told(), f"boostrun claims -o {page.relative_to(ROOT)} writes it"


def test_every_verdict_in_prose_is_the_computed_one():
    words = {one.claim.id: one.word for judged in computed().values() for one in judged if one.claim.id}
    said = [(page.name, found[1], " ".join(found[0].split())) for page in PAGES
            for found in [(m[1], m[2]) for m in _LINK.finditer(page.read_text())]]  # fmt: skip
    assert len(said) > 40 and {one for _, one, _ in said} <= words.keys()
    wrong = [f"{page}: '{word}' of {one}, which {words[one]}" for page, one, word in said
             if word in page_of.WORDS and word != words[one]]  # fmt: skip
    assert not wrong
    assert sum(word in page_of.WORDS for _, _, word in said) > 40


def test_every_claim_has_a_command_and_no_verdict_in_prose_stands_without_its_claim():
    loose = re.compile(r"\b(does not hold|do not hold|fails|claim holds|order holds|targets? (?:is|are) met|all met)\b")
    for page in PAGES[:-1]:
        prose = re.sub(r"```.*?```", "", _LINK.sub("", page.read_text()), flags=re.DOTALL)
        lines = [line for line in prose.splitlines() if not line.startswith("#")]
        assert not [line for line in lines if loose.search(line)], page.name
    for name, judged in computed().items():
        for one in judged:
            assert one.commands or one.claim.open, (name, one.claim.text)
            assert all(command.startswith("boostrun ") for command in one.commands)


def test_the_counts_of_the_readme_are_the_computed_ones():
    *_, (_, *counts) = page_of.summary(computed())
    sentence = (
        r"of\s\[(\d+) claims\][^;]*? (\d+) hold, (\d+) hold only[^,]*?, (\d+) holds?\s+by\s+construction, "
        r"(\d+)\s+agrees?\s[^,]*?, (\d+) fail\s+and (\d+) are\s+undecided, (\d+) "
    )
    found = re.search(sentence + "of these because trials are missing", (ROOT / "README.md").read_text())
    untold = [one.why for judged in computed().values() for one in judged if one.word == "undecided"]
    lacking = sum("seeds" in why or "not run yet" in why for why in untold)
    assert found is not None and list(found.groups()) == [*counts, str(lacking)]


@pytest.mark.parametrize("path", sorted((ROOT / "conf" / "paper").rglob("*.yaml")), ids=lambda path: path.stem)
def test_the_figures_in_an_items_notes_of_results_are_in_tables(path):
    """A note that begins with "result:" quotes figures of its own table, or of a curve where it says so."""
    notes = [note for note in yaml.safe_load(path.read_text()).get("notes", ()) if str(note).startswith("result:")]
    name = path.relative_to(ROOT / "conf" / "paper").with_suffix("").as_posix()
    table = (ROOT / "results" / name / "table.csv").read_text() if notes else ""
    cells = [float(cell) for cell in re.findall(r"(?<![\w.-])-?\d+\.?\d*(?![\w.])", table)]
    for note in notes:
        asked = re.sub(r"At equal label cost.*", "", note)
        for figure in _FIGURE.findall(asked):
            places = len(figure.split(".")[1])
            near = [cell for cell in cells if abs(cell - float(figure)) <= 0.5 * 10.0**-places + 1e-9]
            differences = [1 for a in cells for b in cells if abs(abs(a - b) - float(figure)) <= 0.5 * 10.0**-places]
            assert near or (places == 1 and differences), f"{name}: {figure} is not in its table"
