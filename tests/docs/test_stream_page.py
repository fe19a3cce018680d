"""The page of stream learners is made of the published tables, and says of made ones what is so."""

from pathlib import Path

import pytest

from .page import script

ROOT = Path(__file__).parents[2]


@pytest.fixture
def made():
    return script("stream_page")


def test_the_page_is_made_of_the_published_tables(made):
    if not (ROOT / "results").is_dir():
        pytest.skip("this copy comes without published results")
    assert made.PAGE.read_text(encoding="utf-8") == made.page()


def test_no_page_without_a_table(made, tmp_path):
    assert made.cells("today_recorded", tmp_path) == {}


def test_the_best_of_each_side_is_said_and_seeds_are_those_that_both_have(made, monkeypatch):
    def cell(seconds, *accuracies):
        seeds = range(len(accuracies))
        return made.Cell(dict(enumerate(accuracies)), dict.fromkeys(seeds, seconds), dict.fromkeys(seeds, "one"))

    rows = {
        "FLC, naive Bayes": cell(1.0, 91.0, 92.0, 99.0), "FLC, trees": cell(2.0, 90.0, 91.0, 92.0),
        "AdWin Bagging, trees": cell(1.0, 80.0, 80.0), "river's ADWIN bagging": cell(30.0, 92.0, 94.0),
        "the last label again": cell(0.1, 50.0, 50.0),
    }  # fmt: skip
    found = {(row, "sea"): cell for row, cell in rows.items()}
    monkeypatch.setattr(made, "cells", lambda item: found if item == "today_generated" else {})
    page = made.page()
    line = next(line for line in page.splitlines() if line.startswith("| sea "))
    assert [text.strip() for text in line.strip("|").split("|")] == [
        "sea", "FLC, naive Bayes", "94.00 (4.36)", "river's ADWIN bagging", "93.00 (1.41)", "-1.50", "30", "50.00",
    ]  # fmt: skip
    assert "the higher mean on 0 of 1 streams" in page and "in 0 of 1 cases, by -3.00 to -3.00 points" in page
    assert "have 3 seeds (2 in 3 rows on sea)" in page
    assert "## Thirty members" not in page and "| -13.00     | 30            |" in page


def test_times_are_compared_on_one_kind_of_processor_where_both_sides_have_it(made):
    ours = made.Cell({0: 90.0, 1: 90.0}, {0: 1.0, 1: 3.0}, {0: "new", 1: "old"})
    theirs = made.Cell({0: 90.0, 1: 90.0, 2: 90.0}, {0: 10.0, 1: 40.0, 2: 50.0}, {0: "new", 1: "old", 2: "old"})
    elsewhere = made.Cell({0: 90.0}, {0: 8.0}, {0: "other"})
    assert theirs.times_as_long_as(ours) == 15.0  # 45 to 3: most of theirs are of the old kind
    assert elsewhere.times_as_long_as(ours) == 4.0  # of no kind that both have: all that there are
