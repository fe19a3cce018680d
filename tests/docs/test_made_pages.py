"""Pages and tables that scripts make of declarations and published records, and the pictures that pages show."""

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

from boostrun.cli.arguments import VERBS
from boostrun.cli.reproduce import names as frontiers
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


SCRIPT = Path(__file__).parents[2] / "scripts/small_tables.py"


def test_small_tables_have_a_column_target_and_no_number_of_the_row(tmp_path, capsys):
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci/segment.dat").write_text("164.0 49.0 9 2\n37.0 104.0 9 3\n")
    (tmp_path / "streams").mkdir()
    (tmp_path / "streams/electricity_openml.csv").write_text(",date,class\n0,0.5,UP\n1,0.25,DOWN\n")
    runpy.run_path(str(SCRIPT))["main"](tmp_path)
    tables = {path.stem: pd.read_csv(path) for path in (tmp_path / "tables").glob("*.csv")}
    assert {name: table.shape for name, table in tables.items()} == {
        "breast_cancer": (569, 31), "wine": (178, 14), "segment": (2, 4), "electricity": (2, 2),
    }  # fmt: skip
    assert tables["segment"]["target"].tolist() == [2, 3] and tables["electricity"]["target"].tolist() == ["UP", "DOWN"]
    assert "wine.csv: 178 rows, 13 features, 3 classes" in capsys.readouterr().out


@pytest.fixture
def made():
    return script("stream_page")


@pytest.mark.slow
def test_the_page_is_made_of_the_published_tables_and_without_one_there_is_none(made, tmp_path):
    assert made.cells("today_recorded", tmp_path) == {}
    if not (ROOT / "results").is_dir():
        pytest.skip("this copy comes without published results")
    assert made.PAGE.read_text(encoding="utf-8") == made.page()


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
    assert elsewhere.times_as_long_as(ours) == 4.0  # no kind in common: the means over all


def test_the_page_of_speed_is_made_of_the_measurements():
    if not (ROOT / "results").is_dir():
        pytest.skip("this copy comes without published results")
    made = script("speed_page")
    assert made.PAGE.read_text(encoding="utf-8") == made.page()
    times, _ = made.measured(made.BENCH)
    asked = {
        way for targets in made.TARGETS.values() for target in targets for way in (target.of, target.beside) if way
    }
    assert asked <= set(times)  # no target without a figure


def test_targets_are_ratios_differences_or_seconds_and_floors_the_largest_of_four(tmp_path):
    made = script("speed_page")
    (tmp_path / "speed_machine.csv").write_text(
        "what,value\nbytes_a_second,1e10\nadditions_a_second,1e9\nproducts_a_second,5e10\n"
        "words_a_second,1e11\n"
    )
    (tmp_path / "speed.csv").write_text(
        "kernel,by,unit,least_s,median_s,bytes,additions,products,words\n"
        "k,boostrun,row,0.002,0.003,1e7,1.6e6,,\nk,other,row,0.004,0.004,,,,\n"
    )
    times, _ = made.measured(tmp_path)
    ours, theirs = ("k", "boostrun"), ("k", "other")
    assert times[ours].floor == pytest.approx(0.0016) and times[theirs].floor == 0.0
    assert made.verdict(made.Target("", ours, 0.7, theirs), times) == ("0.50", "met")
    assert made.verdict(made.Target("", theirs, 0.7, ours), times) == ("2.00", "missed, 2.9 times")
    missed = "missed, 2 times; the floor alone: 1.6 times"
    assert made.verdict(made.Target("", ours, 0.001), times) == ("2.00 ms", missed)
    assert made.verdict(made.Target("", theirs, 0.01, ours, "-"), times) == ("0.00 s", "met")
    assert made.verdict(made.Target("", ours, 1 / 400, rate=True), times) == ("500 a second", "met")
    cells = [cell.strip() for cell in made.table(tmp_path).splitlines()[-1].strip("|").split("|")]
    assert cells == ["k", "row", "2.00 ms (3.00 ms)", "1.60 ms", "1.2", "other", "4.00 ms (4.00 ms)", "0.5"]
