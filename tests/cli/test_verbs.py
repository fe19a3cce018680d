"""The actions and the output of the verbs, on small runs in a temporary folder."""

import json
import re
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from boostrun.config import catalogue
from boostrun.methods.declaration import obtain
from boostrun.store import provenance, unpack

SMALL = "dataset=digits r=12 T=4 trials=3 n_jobs=1"


def figures(folder):
    """Seeds and metrics of every record of a store."""
    records = [json.loads(path.read_text()) for path in folder.rglob("*.json")]
    return sorted((r["cell_key"], r["seed"], json.dumps(r["metrics"])) for r in records)


def test_a_run_prints_its_row_keeps_records_and_does_not_run_twice(command, workplace):
    code, out, err = command(f"algo=wsam {SMALL}")
    assert code == 0 and re.search(r"wsam +\d+\.\d\d \(\d+\.\d\d\) n=3 +24 +7[  ]?\d*", out)
    records = list((workplace / "results" / "runs").rglob("*.json"))
    assert len(records) == 3 and "trials 3/3" in err
    record = json.loads(records[0].read_text())
    assert record["status"] == "done" and record["cell"]["budget"] == {"r": 12, "q": 12, "T": 4}
    assert {"test_accuracy_pct", "test_error_pct"} <= set(record["metrics"])
    assert record["cost"]["peak_samples_held"] == 24 and record["cost"]["samples_drawn"] == 10 * (24 + 4 * 12)
    assert record["curve"]["T"] == [1, 2, 3, 4]
    provenance = record["provenance"]
    assert provenance["threads"] and "boostrun" in " ".join(provenance["command"])
    before = {path: path.stat().st_mtime_ns for path in records}
    code, again, _ = command(f"algo=wsam {SMALL}")
    assert code == 0 and again == out
    assert before == {path: path.stat().st_mtime_ns for path in (workplace / "results" / "runs").rglob("*.json")}


def test_results_do_not_depend_on_workers_or_order(command, workplace):
    sweep = "-m algo=rand,wsam,geem dataset=digits r=12 T=4 trials=2"
    code, _, err = command(f"{sweep} n_jobs=1 store=one")
    assert code == 0, err
    assert command(f"{sweep} n_jobs=2 store=two")[0] == 0
    assert command("-m algo=geem,rand,wsam dataset=digits r=12 T=4 trials=2 n_jobs=1 seed=0 store=three")[0] == 0
    assert figures(workplace / "one") == figures(workplace / "two") == figures(workplace / "three")


def test_a_mixed_sweep_has_dashes_and_a_name_of_its_own(command, workplace):
    small = "dataset=digits r=12 T=4 trials=1 n_jobs=1"
    code, out, _ = command(f"-m algo=geem,majority {small} --name first,try")
    head, geem, majority = (line.split() for line in out.splitlines()[:3])
    assert code == 0 and head[:2] == ["r", "T"] and geem[1:3] == ["12", "4"] and majority[1:3] == ["—", "—"]
    page = (workplace / "results" / "tables" / "first-try" / "table.md").read_text()
    assert "- dataset=digits features=raw\n- one split, one seed\n" in page
    assert command(f"-m algo=geem,majority {small} name=second")[0] == 0
    assert (workplace / "results" / "tables" / "second" / "table.csv").is_file()
    code, plan, _ = command(f"plan -m algo=geem,majority {small}")
    assert code == 0 and plan.splitlines()[0].startswith("geem · digits · raw · r=12 q=12 T=4: 1 cached")
    for line, says in (
        ("name=..", "a name for the table with a letter"),
        ("-m algo=geem,rand M=3", "none of algo=geem,r"),
    ):
        code, out, err = command(f"{line} {small} store=none")
        assert (code, out) == (2, "") and says in err and not (workplace / "none").exists()


def test_the_papers_figure_stands_beside_only_where_the_budget_is_the_papers(command, workplace):
    from boostrun.cli.run import _paper_place
    from boostrun.runner.plan import PlannedCell, cell_of, compose_one

    def place(*words):
        settings = compose_one(list(words))
        return _paper_place(PlannedCell(settings, cell_of(settings), None))

    assert place("algo=geem", "dataset=mnist", "r=100") == {"method": "geem", "dataset": "mnist", "r": "100"}
    assert place("algo=geem", "dataset=mnist", "r=100", "T=10") == {}
    assert place("algo=geem", "dataset=mnist", "r=100", "q=5") == {}
    assert place("algo=majority") == {}


def test_reproduce_writes_a_table_that_table_shows_without_running(command, workplace):
    small = "reservoir/table3 dataset=digits,stl10 algo=rand,max r=12 T=4 trials=3 n_jobs=1"
    code, out, _ = command(f"reproduce {small}")
    folder = workplace / "results" / "reservoir" / "table3"
    assert code == 0 and "stl10" in out and "—" in out and "T=4" in out
    assert sorted(path.name for path in folder.iterdir()) == [
        "curve_T.png", "curve_samples_drawn.png", "curve_train_seconds.png", "records.parquet", "table.csv",
        "table.md", "table.png", "table.tex",
    ]  # fmt: skip
    for path in (workplace / "results" / "runs").rglob("*.json"):
        path.unlink()  # a fresh clone has the packed records alone
    code, shown, _ = command(f"table {small}")
    assert code == 0 and shown.strip() in out
    assert command(f"table {small} --strict")[0] == 1
    assert command(f"table {small.replace('digits,stl10', 'digits')} --strict")[0] == 0
    code, plan, _ = command(f"plan {small}")
    assert "18 cached, 0 stale, 0 to run" in plan and "stl10" in plan
    narrowed = f"reproduce {small.replace('digits,stl10', 'digits')}"
    assert ["replaces the table made with" in command(narrowed)[2] for _ in range(2)] == [True, False]


@pytest.mark.slow
def test_a_part_of_an_item_keeps_the_packed_records_of_the_rest(command, workplace):
    small = "reservoir/table3 dataset=digits r=12 T=4 trials=2 n_jobs=1 run.pictures=false"
    for algo in ("rand,max", "rand"):
        assert command(f"reproduce {small} algo={algo}")[0] == 0
        for path in (workplace / "results" / "runs").rglob("*.json"):
            path.unlink()  # a fresh clone has the packed records alone
    assert "12 cached, 0 stale, 0 to run" in command(f"plan {small} algo=rand,max")[1]
    assert "max" not in (workplace / "results" / "reservoir" / "table3" / "table.md").read_text()


def test_folders_of_own_tables_are_compared_by_the_records_of_their_cells(command, workplace):
    small = "algo=rand dataset=digits T=2 n_jobs=1 run.pictures=false"
    assert command(f"{small} r=12 trials=2 --name first")[0] == command(f"-m {small} r=12,14 trials=3")[0] == 0
    (other,) = set((workplace / "results" / "tables").iterdir()) - {workplace / "results" / "tables" / "first"}
    code, out, _ = command(f"diff results/tables/first results/tables/{other.name}")
    assert code == 0 and out.startswith("a: 2 records, seeds 0, 1; b: 6 records, seeds 0 to 2")
    assert "cell rand digits r=12" in out and "only in b\n  rand digits r=14" in out
    for path in (workplace / "results" / "runs").rglob("*.json"):
        path.unlink()
    code, _, err = command("diff results/tables/first results/tables/first")
    assert code == 2 and "no stored trial names the command that made results/tables/first" in err


@pytest.mark.slow
def test_folders_of_an_item_are_compared_by_the_records_of_its_table_wherever_they_are_packed(command, workplace):
    small = "reservoir/table3 dataset=digits algo=rand r=12 T=4 n_jobs=1 run.pictures=false"
    for place, trials in (("results", 2), ("other", 3)):
        assert command(f"reproduce {small} trials={trials} results={place} store=runs")[0] == 0
    room = workplace / "results" / "reservoir"
    (room / "table3" / "records.parquet").rename(room / "records.parquet")
    code, out, _ = command("diff results/reservoir/table3 other/reservoir/table3")
    assert code == 0 and out.startswith("a: 6 records, seeds 0, 1; b: 9 records, seeds 0 to 2")
    for one in ("results/reservoir/records.parquet", "other/reservoir/table3/records.parquet"):
        assert command(f"diff {one} {one}")[0] == 0
    assert "no record, file or item" in command("diff results/reservoir other/reservoir")[2]


@pytest.mark.slow
def test_a_figure_without_trials_is_drawn_with_its_numbers_beside_it(command, workplace):
    code, out, _ = command("reproduce adaptive/figure1")
    folder = workplace / "results" / "adaptive" / "figure1"
    assert code == 0 and "0.0001  100000   13    7692  0.01100" in out and str(folder.relative_to(workplace)) in out
    picture, numbers = ((folder / name).read_bytes() for name in ("figure.png", "figure.csv"))
    assert picture.startswith(b"\x89PNG") and len(numbers.splitlines()) > 900
    rows = [line.split(",") for line in numbers.decode().splitlines()[1:]]
    assert all(float(q) * float(s) == pytest.approx(float(cost), rel=1e-5) for _, cost, q, s, _ in rows)
    assert command("reproduce adaptive/figure1 results=elsewhere")[0] == 0
    assert (workplace / "elsewhere" / "adaptive" / "figure1" / "figure.png").read_bytes() == picture
    for verb in ("plan", "table"):
        code, _, said = command(f"{verb} adaptive/figure1")
        assert code == 2 and "adaptive/figure1 is a figure without trials" in said


@pytest.mark.slow
def test_an_item_reads_several_figures_off_one_run(command, workplace):
    small = "adaptive/table1 algo=uniform_naive dataset=digits features=raw T=12 trials=2 n_jobs=1"
    code, out, _ = command(f"reproduce {small}")
    assert code == 0 and "log10 loss" in out and "test error %" in out
    folder = workplace / "results" / "adaptive" / "table1"
    table = pd.read_csv(folder / "table.csv")
    assert table["T"].tolist() == ["T=10"] * 2 and table["metric"].tolist() == ["log10 loss", "test error %"]
    curves = [record["curve"] for record in unpack(folder / "records.parquet")]
    for metric, shown in zip(("log10_loss", "test_error_pct"), table["mean"]):
        assert shown == pytest.approx(np.mean([curve[metric][curve["T"].index(10)] for curve in curves]))
    assert all(curve["family_steps"] == {"raw": curve["T"]} for curve in curves)
    assert (folder / "curve_log10_loss_evaluations.png").is_file()


def test_plan_tells_cached_from_stale_and_why(command, workplace, monkeypatch):
    assert "3 to run (time unknown)" in command(f"plan algo=rand {SMALL}")[1]
    command(f"algo=rand {SMALL}")
    assert "3 cached, 0 stale, 0 to run" in command(f"plan algo=rand {SMALL}")[1]
    assert "2 to run (about" in command(f"plan algo=rand {SMALL} trials=5")[1]
    from boostrun.runner import plan
    from boostrun.store import code as changes

    now = changes.definitions
    monkeypatch.setattr(plan, "source_digest", lambda *_: "0" * 64)
    monkeypatch.setattr(changes, "definitions", lambda roots: {**now(roots), "boostrun.kernels.stumps.column": "other"})
    assert "3 stale (changed: boostrun.kernels.stumps.column)" in command(f"plan algo=rand {SMALL}")[1]
    assert "changed: boostrun.kernels.stumps.column" in command(f"plan algo=rand {SMALL} --why")[1]
    shutil.rmtree(workplace / "results" / "runs" / ".code")
    assert "3 stale (changed: code)" in command(f"plan algo=rand {SMALL}")[1]
    code, out, _ = command(f"table reservoir/table3 dataset=digits algo=rand {SMALL.replace('dataset=digits ', '')}")
    assert code == 0 and "†" in out
    assert "3 of the trials run again, because code or data changed: code" in command(f"algo=rand {SMALL}")[2]


def test_plan_and_diff_tell_trials_made_with_other_instruction_sets(command, workplace, monkeypatch):
    command(f"algo=rand {SMALL}")
    here = provenance.instructions_in_force()
    assert here["numpy"] and "were made with" not in command(f"plan algo=rand {SMALL}")[1]
    path, *_ = sorted((workplace / "results" / "runs").rglob("*.json"))
    record = json.loads(path.read_text())
    assert record["provenance"]["instructions"]["numpy"] == here["numpy"]
    assert set(record["provenance"]["instructions"]) == {"numpy", "numba", "openblas"}
    record["provenance"]["instructions"]["numpy"] = "SSE"
    (workplace / "other.json").write_text(json.dumps(record))
    _, out, _ = command(f"diff {path} other.json")
    assert re.search(r"instructions.numpy +a: .* +b: SSE", out)
    path.write_text(json.dumps(record))
    said = f"1 of the cached were made with numpy SSE (here {here['numpy']}): trials made here can differ, see the FAQ"
    assert said in command(f"plan algo=rand {SMALL}")[1]


def test_a_failed_trial_is_named_with_the_command_that_runs_it_again(command, workplace, monkeypatch):
    from boostrun.runner import worker as evaluate

    working = evaluate.train_and_test
    monkeypatch.setattr(evaluate, "train_and_test", lambda *_: 1 / 0)
    code, _, err = command(f"algo=rand {SMALL}")
    assert code == 1 and "division by zero" in err
    again = re.findall(r"again: boostrun (.*)", err)
    assert len(again) == 3
    monkeypatch.setattr(evaluate, "train_and_test", working)
    code, out, _ = command(again[0] + " n_jobs=1")
    assert code == 0 and "n=1" in out
    code, out, _ = command(f"algo=rand {SMALL}")
    assert code == 0 and "n=3" in out


def test_ls_data_doctor_version_and_cfg_answer(command):
    assert "geem" in command("ls")[1] and "raw" in command("ls features")[1]
    assert "Lefakis" in command("ls paper")[1] and "[r, q, T]" in command("ls algo")[1]
    assert command("data digits")[0] == 0
    code, out, _ = command("doctor")
    assert code == 0 and "numba" in out and "digits: found" in out and "mnist: not found" in out
    assert command("--version")[1].startswith("boostrun 0.")
    assert re.search(r"shrinkage: 0.5 +# factor of every step\n", command("--cfg algo=wsam")[1])
    assert yaml.safe_load(command("--cfg algo=wsam")[1].rstrip("-\n"))["algo"]["shrinkage"] == 0.5
    code, out, _ = command("--help")
    assert code == 0 and "reproduce" in out


def test_methods_are_grouped_on_a_terminal_and_one_a_line_in_a_pipe(command, monkeypatch):
    plain = command("ls algo")[1]
    assert {line.split(" ")[0] for line in plain.splitlines()} == set(catalogue.methods())
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    grouped = command("ls algo")[1]
    after = grouped.partition("\nsamples held · Lefakis & Fleuret 2013\n\n")[2]
    assert after.startswith("geem ") and "\nRivals of today · for streams\n" in after
    assert [line for line in grouped.splitlines() if line in plain.splitlines()] == plain.splitlines()


def test_what_must_be_installed_is_said(command, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None if name == "river" else object())
    lines = dict(line.split(" ", 1) for line in command("ls algo")[1].splitlines())
    assert "not installed: pip install 'boostrun[streams]'" in lines["arf"] and "not installed" not in lines["geem"]
    for method in catalogue.methods().values():  # as the classes say when they are trained
        if method.needs:
            kind = obtain(method.target)
            assert method.needs == (kind.package.partition(".")[0], getattr(kind, "extra", "rivals"))


def test_a_persons_own_config_folder_adds_choices(command, workplace):
    folder = workplace / "mine" / "algo"
    folder.mkdir(parents=True)
    (folder / "gentle.yaml").write_text("# smaller steps\nname: wsam\nshrinkage: 0.1\n")
    code, out, _ = command(f"--config-dir mine algo=gentle {SMALL}")
    assert code == 0 and "wsam" in out
    assert "smaller steps" in command("ls algo --config-dir mine")[1]
    assert "shrinkage: 0.1" in command("--config-dir mine --cfg algo=gentle")[1]


@pytest.mark.slow
def test_the_library_runs_the_same_cells_and_a_quick_item_says_so_and_stands_apart(workplace, command):
    from boostrun import run

    frame = run("algo=rand,wsam", "dataset=digits", "T=4", r=12, trials=2, n_jobs=1)
    assert list(frame.algo) == ["rand", "rand", "wsam", "wsam"] and set(frame.r) == {12}
    command("-m algo=rand,wsam dataset=digits T=4 r=12 trials=2 n_jobs=1")
    assert len(list((workplace / "results" / "runs").rglob("*.json"))) == 4
    code, out, _ = command("reproduce reservoir/table3 --quick dataset=digits algo=rand r=12 T=4 n_jobs=1")
    assert code == 0 and "quick" in out and "trials=3" in out
    assert (workplace / "results" / "reservoir" / "table3-quick" / "table.md").is_file()


def test_a_paper_in_a_folder_of_ones_own_counts_for_every_verb(command, workplace):
    mine = workplace / "mine"
    mine.mkdir()
    (mine / "papers.yaml").write_text("lone: lone_paper:PAPER\n")
    (mine / "lone_paper.py").write_text(
        "from pathlib import Path\nfrom boostrun.methods.paper import Paper\n"
        "PAPER = Paper('Lone 2026', strategies={'lone': 'lone_paper:keep'}, drawings={'lone': 'lone_paper:draw'},\n"
        "              items=Path(__file__).parent / 'items')\n"
        "def keep(batch, r, rng): ...\n"
        "def draw(folder, data_root): return f'drawn for {folder.name}'\n"
    )
    (mine / "items").mkdir()
    (mine / "items" / "figure.yaml").write_text("# a figure\ndraws: lone\n")
    try:
        assert re.search("^lone +lone_paper:keep$", command("ls strategies --config-dir mine")[1], re.MULTILINE)
        assert "lone/figure" in command("ls paper --config-dir mine")[1]
        assert command("reproduce lone/figure --config-dir mine")[1] == "drawn for figure\n"
    finally:
        catalogue.forget()
        sys.path.remove(str(mine))
