"""``boostrun report`` shows what is stored, and runs nothing."""

import json
import re

import pytest

from boostrun.store.store import pack, unpack

from ..published import RESULTS, copies, of_item
from ..report.test_page import unpacked


@pytest.fixture
def published(workplace):
    """The published records of one small item, in a results folder of its own."""
    if not (RESULTS / "reservoir" / "swaps").is_dir():
        pytest.skip("this copy comes without published records")
    folder = workplace / "results" / "reservoir" / "swaps"
    folder.mkdir(parents=True)
    pack(of_item("reservoir/swaps"), folder / "records.parquet")
    return folder / "records.parquet"


def test_the_figures_are_those_of_table(command, workplace, published):
    code, out, err = command("report reservoir/swaps -o pages/all.html")
    assert code == 0 and "1 items, 1 with trials, 90 records" in out and not err
    page = (workplace / "pages" / "all.html").read_text()
    table = command("table reservoir/swaps")[1].replace(" ", "")
    page = re.sub(r'<table class="plain" id="best">.*?</table>', "", page, flags=re.DOTALL)  # errors, not accuracies
    shown = [cell.replace("\u202f", "").replace(" ", "") for cell in re.findall(r">(\d[^<]*\(\d[^<]*\)[^<]*)<", page)]
    assert len(shown) >= 9 and all(figure in table for figure in shown)
    assert "boostrun reproduce reservoir/swaps" in page and str(workplace) not in page
    (beside,) = (workplace / "pages" / "all_files").iterdir()
    assert f'data-file="{beside.name}"' in page and out.splitlines()[-1].startswith("written: pages/all_files (1 files")
    _, content = unpacked(beside.read_text())
    trials = content["trials"]
    assert trials["commands"][0].startswith("algo=") and all(origin["commit"] for origin in trials["origins"])
    places = re.findall(r'data-r="([^"]*)"', page)
    assert len(trials["records"]) == 90 and {int(place) for each in places for place in each.split()} == set(range(90))
    assert content["charts"] and str(workplace) not in json.dumps(content)
    assert command("report reservoir/swaps -o pages/all.html")[:2] == (0, out)


@pytest.mark.slow
def test_an_item_that_is_published_smaller_is_shown_as_published(command, workplace, published):
    lines = copies(unpack(published))
    for line in lines:
        line["cell"]["budget"]["T"] = 30
    remade(published, lines)
    assert "9 are missing" in " ".join(command("table reservoir/swaps")[1].split())
    notes = published.with_name("table.md")
    notes.write_text(
        "# Swaps\n\n- narrowed to: dataset=mnist\n- changed by hand: T=30 trials=10 algo.x=${oc.env:HOME}\n"
    )
    code, out, _ = command("table reservoir/swaps")
    assert (
        code == 0 and "changed by hand: T=30 trials=10\n" in out and "missing" not in out and "pedestrians" not in out
    )
    assert "narrowed to: dataset=digits" in command("table reservoir/swaps dataset=digits")[1]
    assert command("report reservoir/swaps")[0] == 0
    page = (workplace / "report.html").read_text()
    assert "changed by hand: T=30 trials=10<" in page and "oc.env" not in page
    notes.write_text("- changed by hand: T=none\n")
    code, out, _ = command("report reservoir/swaps")
    assert code == 0 and "0 with trials" in out


def remade(path, records):
    from boostrun.store.cell import Cell, trial_key

    for record in records:
        record["cell_key"] = Cell.from_config(record["cell"]).key
        record["key"] = trial_key(record["cell"], record["seed"], record["inputs"])
    pack(records, path)


def test_a_figure_without_trials_is_shown_as_it_was_drawn(command, workplace):
    folder = workplace / "results" / "shareboost" / "fig1"
    folder.mkdir(parents=True)
    (folder / "figure.png").write_bytes(b"a picture")
    assert command("report shareboost/fig1 adaptive/figure3")[0] == 0
    page = (workplace / "report.html").read_text()
    (picture,) = (workplace / "report_files").iterdir()
    assert picture.read_bytes() == b"a picture" and f'src="report_files/{picture.name}"' in page
    assert "not drawn yet" in page


def test_a_papers_name_stands_for_its_items():
    from boostrun.cli.arguments import parse
    from boostrun.cli.report import _chosen

    def chosen(line):
        return _chosen(parse(line.split()))

    assert len(chosen("report")) > len(chosen("report shareboost")) > 5
    both = chosen("report reservoir/table4 reservoir")
    assert both[0] == "reservoir/table4" and sorted(both) == sorted(chosen("report reservoir"))


def test_own_trials_are_read_from_the_store_that_the_command_uses(command, workplace):
    assert command("algo=rand dataset=digits r=20 T=2 trials=2 n_jobs=1 store=mine")[0] == 0
    code, out, _ = command("report own reservoir/swaps store=mine")
    assert code == 0 and out.startswith("own: 2 trials in 1 runs\n1 items, 0 with trials, 2 records")
    page = (workplace / "report.html").read_text()
    assert page.index('id="own-1"') < page.index('class="paper"') and "2 own trials in 1 run," in page
    assert "own:" not in command("report own store=elsewhere")[1]
