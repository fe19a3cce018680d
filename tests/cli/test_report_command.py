"""``boostrun report`` shows what is stored, and runs nothing."""

import json
import re
import subprocess
import sys

import pytest

from boostrun import digest, extend
from boostrun.report.markup import write_bytes
from boostrun.store import pack, unpack

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


@pytest.mark.slow
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
    assert "\nwriting 1 files beside it" in out
    again = command("report reservoir/swaps -o pages/all.html")[1]
    assert again.splitlines() == [line for line in out.splitlines() if not line.startswith("writing")]


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
    assert code == 0 and "changed by hand: T=30 trials=10\n" in out and "missing" not in out and "inria" not in out
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


@pytest.mark.slow
def test_own_trials_are_read_from_the_store_that_the_command_uses(command, workplace):
    assert command("algo=rand dataset=digits r=20 T=2 trials=2 n_jobs=1 store=mine")[0] == 0
    code, out, _ = command("report own reservoir/swaps store=mine")
    assert code == 0 and out.startswith("own: 2 trials in 1 runs\n1 items, 0 with trials, 2 records")
    page = (workplace / "report.html").read_text()
    assert page.index('id="own-1"') < page.index('class="paper"') and "2 own trials in 1 run," in page
    assert "own:" not in command("report own store=elsewhere")[1]


PAGE_ALONE = """
import sys
from boostrun.cli import main, report
from boostrun.runner.worker import peak_memory_mb
report._write_beside = lambda words, folder, files, items, n_jobs: print(len(files), "files")
code = main(["report", "-o", sys.argv[1], "results=" + sys.argv[2]])
print("MB", peak_memory_mb())
sys.exit(code)
"""


@pytest.mark.slow
def test_the_page_of_all_published_results_is_light(workplace):
    if not RESULTS.is_dir():
        pytest.skip("this copy comes without published records")
    path = workplace / "all.html"
    line = [sys.executable, "-c", PAGE_ALONE, str(path), str(RESULTS)]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=workplace)
    assert path.stat().st_size < 3e6 and float(done.stdout.rpartition("MB")[2]) < 500
    files = re.findall(r'data-file="([^"]*)"', path.read_text())
    assert len(files) == len(set(files)) > 80 and f"\n{len(files)} files" in done.stdout


@pytest.mark.slow
def test_processes_write_the_same_files_as_one(command, workplace, monkeypatch):
    if not RESULTS.is_dir():
        pytest.skip("this copy comes without published records")
    monkeypatch.setattr("boostrun.cli.report._ITEMS_A_WORKER", 1)
    found, called = [], []
    monkeypatch.setattr("boostrun.cli.report.write_bytes", lambda *task: called.append(task) or write_bytes(*task))
    for jobs in (1, 2):
        line = f"report reservoir/swaps reservoir/timing -o {jobs}.html results={RESULTS} n_jobs={jobs}"
        code, out, _ = command(line)
        assert code == 0 and "writing 2 files" in out
        found.append({path.name: path.read_bytes() for path in (workplace / f"{jobs}_files").iterdir()})
    beside = [path for path, _ in called if path.suffix != ".html"]
    assert found[0] == found[1] and len(found[0]) == 2 == len(beside)  # one process wrote the first two files itself


REFUSES = """
from sklearn.base import BaseEstimator, ClassifierMixin

class Refuses(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise ArithmeticError("it never ends")

    def predict(self, X):
        return X[:, 0]
"""


@pytest.fixture
def forgetful(monkeypatch):
    """Nothing of a test's own choices stays registered, allowed or imported."""
    monkeypatch.setattr(extend, "_allowed", {})
    yield
    extend.forget()
    digest.forget()
    sys.modules.pop("my_refusal", None)


@pytest.mark.slow
def test_a_comparison_of_your_own_shows_every_method_that_its_command_named(command, workplace, forgetful):
    rows = [f"{number % 7},{number % 5},{'yes' if number % 7 > 2 else 'no'}" for number in range(80)]
    (workplace / "mine.csv").write_text("\n".join(["a,b,label", *rows]))
    (workplace / "my_refusal.py").write_text(REFUSES)
    line = "r=10 T=3 dataset=mine.csv trials=2 n_jobs=1 run.backend=sequential run.pictures=false"
    assert command(f"algo=geem {line}")[0] == 0
    assert command(f"-m algo=geem,rand,wsam,my_refusal:Refuses {line}")[0] == 1
    for path in (workplace / "results" / "runs").rglob("*.json"):
        record = json.loads(path.read_text())
        if record["cell"]["algo"]["name"] == "wsam" or (record["cell"]["algo"]["name"], record["seed"]) == ("rand", 1):
            path.unlink()
    code, out, _ = command("report")
    page = (workplace / "report.html").read_text()
    assert code == 0 and out.startswith("own: 3 trials in 2 runs\n") and "0 with trials, 3 records" in out
    first = page[page.index('id="own-1"') : page.index('id="own-2"')]
    shown = dict(re.findall(r'<th scope="row">([^<]*)</th><td[^>]*>(?:<button[^>]*>)?([^<]*)', first))
    assert list(shown) == ["geem", "my_refusal:Refuses", "rand", "wsam"]
    assert re.match(r"\d+\.\d\d", shown["geem"]) and "/" not in shown["geem"] and " 1/2" in shown["rand"]
    assert shown["wsam"].startswith("\N{EM DASH}")
    lines = re.findall(r'<li class="open">(.*?)</li>', first)
    assert [line.partition(": ")[0] for line in lines] == [f"{name} · mine.csv" for name in list(shown)[1:]]
    assert "ArithmeticError: it never ends; 2 trials failed" in lines[0]
    assert "1 of 2 trials: not run yet" in lines[1] and lines[2].endswith("wsam · mine.csv: not run yet")
    # the data set is called by its file, the measure by one name; papers without results are left out
    assert "<option>mine.csv</option>" in page and "<option>csv" not in page and "test accuracy %</th>" in first
    assert 'id="claims"' not in page and "reservoir-table3" not in page
    assert re.search(r"no stored results: [^<]*\breservoir\b", page)
    (file,) = (workplace / "report_files").glob("own-1.*.js")
    charts = unpacked(file.read_text())[1]["charts"]
    assert charts and all(title.startswith("test error (%) against ") for title, _ in charts)
    assert all(">test error (%)<" in svg and ">mine.csv<" in svg for _, svg in charts)


@pytest.mark.parametrize(
    ("line", "cells", "metrics", "every"),
    [
        ("boostrun -m algo=rand,geem dataset=digits r=20 trials=2", 2, ["test_accuracy_pct"], True),
        ("boostrun run dataset=digits table.metrics=[log_loss]", 1, ["log_loss"], True),
        ("boostrun.run algo=rand,geem dataset=digits", 2, [], True),
        ("boostrun reproduce reservoir/swaps trials=2", 9, [], False),
        ("boostrun tune algo=geem dataset=digits", 0, [], True),
        ("boostrun dataset=digits results=${oc.env:HOME}", 0, [], True),
        ("my_script.py algo=geem", 0, [], True),
        ("", 0, [], True),
    ],
)
def test_the_cells_of_an_own_run_come_from_its_command(line, cells, metrics, every):
    from boostrun.cli.report import composed

    settings, *rest = composed(line)
    assert len(settings) == cells and rest == [metrics, every]
