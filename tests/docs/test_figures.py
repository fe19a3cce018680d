"""Every decimal figure that a page quotes beside a link to a table is in that table, to the quoted digits.

A section is checked when it links to ``results/.../table.md`` or ``.csv``; code, formulas and keys in backticks are no
figures. Which row a figure belongs to is not checked, but a mean and the figure in brackets after it share a row.
"""

import csv
import re
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md", DOCS / "howto" / "which_method.md", DOCS / "explanation" / "results.md",
    *sorted((DOCS / "papers").glob("*.md")),
]  # fmt: skip
_NUMBER = r"-?\d+\.\d+"
_NO_FIGURES = re.compile(r"```.*?```|\$\$.*?\$\$|\$[^$\n]*\$|``[^`]*``|`[^`]*`|\]\([^)]*\)", re.DOTALL)
_PAIRS = (("mean", "std"), ("paper_mean", "paper_std"), ("mean", "paper_mean"))
_SINGLE = ("mean", "std", "paper_mean", "paper_std", "difference")


def _sections(text: str) -> list[str]:
    return re.split(r"^#+ ", text, flags=re.MULTILINE)


def _rows(section: str) -> list[dict]:
    rows = []
    for name in sorted(set(re.findall(r"\]\((?:\.\./)*(results/(?:frontiers/[\w-]+/)?[\w/]+)\.(?:md|csv)", section))):
        with (ROOT / f"{name}.csv").open(newline="") as file:
            rows += list(csv.DictReader(file))
    return rows


def _says(value: str | None, text: str) -> bool:
    try:
        return abs(float(value) - float(text)) <= 0.5 * 10.0 ** -len(text.split(".")[1]) + 1e-9  # a tie either way
    except (TypeError, ValueError):
        return False


def unknown_figures(section: str) -> list[str]:
    """The figures of a section that are in none of the tables that it links to; [] where it links to none."""
    rows = _rows(section)
    text = _NO_FIGURES.sub(" ", section).replace("*", "")
    if not rows:
        return []
    unknown = []
    for mean, beside in re.findall(rf"({_NUMBER}) \(({_NUMBER})\)", text):
        if not any(_says(r.get(a), mean) and _says(r.get(b), beside) for r, (a, b) in product(rows, _PAIRS)):
            unknown.append(f"{mean} ({beside})")
    text = re.sub(rf"{_NUMBER} \({_NUMBER}\)", " ", text)
    for figure in re.findall(rf"(?<![\w.]){_NUMBER}(?![\w.]*\d)", text):
        if not any(_says(r[key], figure) for r in rows for key in r if key in _SINGLE or "mean" not in r):
            unknown.append(figure)
    return unknown


@pytest.mark.skipif(not (ROOT / "results").is_dir(), reason="no results beside the tests")
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_figures_of_a_page_are_those_of_the_tables_that_it_links_to(page):
    wrong = {s.splitlines()[0]: found for s in _sections(page.read_text()) if (found := unknown_figures(s))}
    assert not wrong, f"not in the tables that the section links to: {wrong}"


@pytest.mark.skipif(not (ROOT / "results").is_dir(), reason="no results beside the tests")
def test_a_figure_that_is_in_no_table_is_found():
    link = "[t](../../results/reservoir/table3/table.md)"
    assert unknown_figures(f"{link} 86.55 (0.38) and 84.66, `0.123` and $0.456$") == []
    assert unknown_figures(f"{link} 86.55 (0.39) and 84.67") == ["86.55 (0.39)", "84.67"]
    assert unknown_figures("no table, 12.34") == []
