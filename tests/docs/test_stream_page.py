"""The page of stream learners is made of the published tables, and says of made ones what is so."""

import csv
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def made():
    spec = importlib.util.spec_from_file_location("stream_page", ROOT / "scripts" / "stream_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_of_the_published_tables(made):
    if not (ROOT / "results").is_dir():
        pytest.skip("this copy comes without published results")
    assert made.PAGE.read_text(encoding="utf-8") == made.page()


def write(folder, rows):
    folder.mkdir(parents=True)
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "dataset", "metric", "mean", "std"])
        for row, accuracy, std, seconds in rows:
            writer.writerow([row, "sea", "test accuracy %", accuracy, std])
            writer.writerow([row, "sea", "time s", seconds, std])


def test_the_best_of_each_side_is_said_and_who_is_behind(made, tmp_path, monkeypatch):
    monkeypatch.setattr(made, "TABLES", tmp_path)
    assert "## " not in made.page()
    rows = [
        ("FLC, naive Bayes", 91.0, 0.5, 1.0), ("FLC, trees", 90.0, 0.5, 2.0), ("AdWin Bagging, trees", 80.0, "", 1.0),
        ("river's ADWIN bagging", 92.5, 0.1, 30.0), ("river's ARF", "", "", ""),
        ("the last label again", 50.0, "", 0.1),
    ]  # fmt: skip
    write(tmp_path / "today_recorded", rows)
    page = made.page()
    line = next(line for line in page.splitlines() if line.startswith("| sea "))
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "sea", "FLC, naive Bayes", "91.00 (0.50)", "river's ADWIN bagging", "92.50 (0.10)", "-1.50", "30", "50.00",
    ]  # fmt: skip
    assert "ahead on 0 of 1 streams" in page and "in 0 of 1 cases, by -1.00 to -1.00 points" in page
    assert "## Thirty members" not in page and "| 30            |" in page
