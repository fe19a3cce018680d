"""Published frontiers: the words that make one, its tables and records, the summaries, the page."""

import csv
import functools
import math
from collections import Counter
from pathlib import Path

import pytest

from boostrun.report.frontier import KINDS
from boostrun.report.frontier_summary import frontiers_of, markdown
from boostrun.report.statistics import mean_std

from ..published import of_room
from .page import script

ROOT = Path(__file__).parents[2]
FRONTIERS = ROOT / "results" / "frontiers"
FOLDERS = [
    path.parent for path in sorted(FRONTIERS.glob("*/contest.csv")) if not path.parent.name.endswith("-quick")
]  # fmt: skip


@functools.cache
def means():
    """Method -> the (number, mean) of each of its cells in the packed records of frontiers."""
    cells: dict[tuple[str, str], list[float]] = {}
    for record in of_room("frontiers"):
        if record["status"] == "done" and "test_accuracy_pct" in record["metrics"]:
            place = record["cell"]["algo"]["name"], record["cell_key"]
            cells.setdefault(place, []).append(record["metrics"]["test_accuracy_pct"])
    found: dict[str, list[tuple[int, float]]] = {}
    for (method, _), values in cells.items():
        found.setdefault(method, []).append((len(values), mean_std(values)[0]))
    return found


def test_the_pages_are_made_of_the_published_frontiers():
    made = script("budget_page")
    if not (ROOT / "results").is_dir():
        pytest.skip("this copy comes without published results")
    assert made.PAGE.read_text(encoding="utf-8") == made.page()
    assert made.OF_MEMORY.read_text(encoding="utf-8") == made.page_of_memory()


@pytest.mark.parametrize("kind", KINDS)
def test_a_summary_is_made_of_the_frontiers_of_its_budget(kind):
    made = script("budget_page")
    summary = made.summary_of(FRONTIERS, kind)
    if summary is None:
        pytest.skip("no frontier of it is published")
    assert (FRONTIERS / f"summary-{kind}" / "table.md").read_text(encoding="utf-8") == markdown(summary)
    assert [one.folder for one in frontiers_of(FRONTIERS, kind)] == [one.folder for one in summary.frontiers]


def outcomes(kind):
    """Frontier of a kind of budget -> the (budget, outcome) of its contests."""
    found: dict[str, list[tuple[str, str]]] = {}
    for folder in (folder for folder in FOLDERS if folder.name.endswith(f"-{kind}")):
        with open(folder / "contest.csv", newline="", encoding="utf-8") as file:
            found[folder.name] = [(row[kind], row["outcome"]) for row in csv.DictReader(file)]
    if not found:
        pytest.skip("this copy comes without published results")
    every = Counter(outcome for rows in found.values() for _, outcome in rows)
    return found, every, every["win"] + every["tie"] + every["loss"]


PAGES = (ROOT / "README.md", ROOT / "docs" / "explanation" / "results.md")


def prose(page):
    return " ".join(page.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_count_the_frontiers_of_samples_held(page):
    found, every, tested = outcomes("samples_held")
    at_500 = [outcome for rows in found.values() for budget, outcome in rows if budget == "500"]
    counts = f"ours win {every['win']}, tie {every['tie']}, lose {every['loss']}"
    assert f"on {len(found)} data sets, all methods tuned alike" in prose(page)
    assert f"on {at_500.count('win')} of {len(at_500)} sets" in prose(page)
    assert f"Of {tested} tested comparisons" in prose(page) and counts in prose(page)


@pytest.mark.parametrize(
    ("kind", "words", "page"),
    [
        ("features", "with few *features*", PAGES[0]), ("features", "With few *features*", PAGES[1]),
        ("evaluations", "within a budget of *evaluations*", PAGES[1]),
    ],
)  # fmt: skip
def test_pages_count_the_frontiers_of_other_budgets(kind, words, page):
    found, every, tested = outcomes(kind)
    sets = len({name.partition("-")[0] for name in found})
    where = f"on {sets} sets" if sets == len(found) else f"in {len(found)} frontiers on {sets} sets"
    counts = f"ours win {every['win']}, tie {every['tie']}, lose {every['loss']} of {tested}, {where}"
    assert f"{words} {counts}" in prose(page)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_figure_of_a_frontier_is_the_mean_of_packed_records(folder):
    there = means()
    with open(folder / "table.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["mean"]]
    assert rows
    for row in rows:
        count, mean = int(row["n"]), float(row["mean"])
        assert any(n == count and math.isclose(mean, each, rel_tol=1e-9) for n, each in there[row["method"]]), row


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_published_frontier_says_in_a_file_with_which_words_it_is_made(folder):
    frontiers = script("frontiers")
    made = frontiers.as_yaml(folder.name, frontiers.words_of(folder))
    assert (ROOT / "conf" / "frontier" / f"{folder.name}.yaml").read_text(encoding="utf-8") == made


def test_the_page_reads_well_without_any_frontier_and_with_one(tmp_path):
    made = script("budget_page")
    assert "No frontier is published yet" in made.page(tmp_path)
    folder = tmp_path / "one-features"
    folder.mkdir()
    (folder / "table.csv").write_text(
        "method,rival,features,n,expected,mean,std,rank,spent,over,words,reason\n"
        "mine,0,5,10,10,91,1,best,5,0,,\nother,1,5,10,10,90,1,,5,0,,\n"
    )
    (folder / "contest.csv").write_text(
        "features,ours,rival,n,mean,low,high,rows_low,rows_high,rows_by,p,outcome\n"
        "5,mine,other,10,1,0.5,1.5,0.2,1.8,bootstrap,0.01,win\n"
    )
    page = made.page(tmp_path)
    assert "## A budget of features used\n\n1 data set. Of 1 tested comparison of our best method" in page
    assert f"| [one]({folder.as_posix()}/table.md)" in page
    assert "win +1.00 [+0.50, +1.50] [+0.20, +1.80] mine : other" in page
    assert "No frontier" not in page and "mean rank" not in page.lower()
