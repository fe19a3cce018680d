"""The pictures that a run draws beside its table, and the predictions of its models for the test part."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from boostrun.report.confusion import Confusion, draw_classes, draw_confusion
from boostrun.runner import predictions
from tests.marks import slow_after

HEAVY = {"numba", "scipy", "sklearn", "pandas", "matplotlib"}  # that a command without work does not import
LINE = "algo=rand dataset=digits r=20 T=2 trials=2 n_jobs=1"


@pytest.mark.slow
@pytest.mark.pictures
def test_a_run_leaves_pictures_beside_its_table_and_draws_again_only_what_has_changed(command, workplace):
    def times(words):
        code, _, err = command(f"{LINE} name=mine {words}")
        assert code == 0
        (folder,) = (workplace / "results" / "tables").iterdir()
        return err, {path.name: path.stat().st_mtime_ns for path in folder.glob("*.[ps][nv]g")}

    assert times("run.pictures=false")[1] == {}
    first = times("")[1]
    assert len(first) == 8 and times("")[1] == first
    next(workplace.rglob("curve_T.png")).unlink()
    second = times("")[1]  # all are drawn, and equal ones are not written
    assert second.keys() == first.keys() and dict(second.items() - first.items()).keys() == {"curve_T.png"}
    (swapped,), (by,) = workplace.rglob("curve_T.svg"), workplace.rglob("curve_samples_drawn.svg")
    swapped.write_bytes(by.read_bytes().replace(b"pictures ", b"pictures of others "))
    assert dict(times("")[1].items() - second.items()).keys() == {"curve_T.svg"}
    second = times("")[1]
    record = next((workplace / "results" / "runs").rglob("*.json"))
    changed = json.loads(record.read_text())
    changed["metrics"]["test_accuracy_pct"] += 1.0
    record.write_text(json.dumps(changed))
    third = times("")[1]
    assert third.keys() == second.keys() and not third.items() & second.items() and times("")[1] == third
    err, fourth = times("T=1 run.predictions=true")
    assert "pictures: table, curve_T, " in err and "classes, reliability (.png and .svg)" in err
    assert len(fourth) == 14 and not fourth.items() & third.items()
    assert {name.partition(".")[0] for name in fourth} == {
        "table", "curve_T", "curve_samples_drawn", "curve_train_seconds", "confusion", "classes", "reliability",
    }  # fmt: skip
    assert all(ET.parse(path).getroot().tag.endswith("svg") for path in workplace.rglob("*.svg"))


@pytest.mark.pictures
@pytest.mark.parametrize("words", slow_after(1, ["algo=rand", "reproduce reservoir/table3 algo=rand"]))
def test_a_command_whose_records_are_there_writes_nothing_and_starts_no_worker(command, workplace, monkeypatch, words):
    line = f"{words} dataset=digits r=20 T=2 trials=2 n_jobs=2"
    code, out, _ = command(line)

    def fail(*arguments, **keys):
        raise AssertionError(arguments)

    monkeypatch.setattr(os, "fsync", fail)
    monkeypatch.setattr("boostrun.runner.pool.started", fail)
    assert code == 0 and command(line)[:2] == (0, out)
    then = f"import sys; print('heavy:', *({HEAVY} & {{*sys.modules}}))"
    code = f"from boostrun.cli import main; main({line.split()})\n{then}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy:"


@pytest.mark.slow
@pytest.mark.pictures
def test_table_draws_an_item_from_stored_records(command, workplace):
    small = "reservoir/table3 dataset=digits algo=rand r=12 T=4 trials=2 n_jobs=1"
    assert command(f"reproduce {small}")[0] == 0
    folder = workplace / "results/reservoir/table3"
    drawn = {path.name: path.read_bytes() for path in folder.glob("*.png")}
    for path in folder.glob("*.png"):
        path.unlink()
    code, out, _ = command(f"table {small} --draw")
    assert code == 0 and "written: results/reservoir/table3/table.png, curve_T.png" in out
    assert {path.name: path.read_bytes() for path in folder.glob("*.png")} == drawn
    assert command("table shareboost/section6 --draw -o figures")[0] == 0
    assert (workplace / "figures" / "table.md").is_file()
    assert "add --draw" in command(f"table {small} -o there")[2]


@pytest.mark.pictures
def test_a_sweep_over_one_key_tells_its_cells_apart_in_pictures(command, workplace):
    from boostrun.cli.pictures import placed
    from boostrun.cli.run import entry
    from boostrun.runner.plan import compose_all, open_store, plan

    words = ["algo=rand,logitboost", "dataset=digits", "r=10,20", "T=1,2", "trials=1"]
    all_settings = compose_all(words, None)
    cells = plan(all_settings, open_store(all_settings[0]))
    found = [(one.row, *one.column) for one in placed(cells, [entry(cell) for cell in cells])]
    assert len(set(found)) == len(found) == 6 and ("rand", "digits", "r=10 T=2") in found
    assert ("logitboost", "digits", "T=2") in found


@pytest.mark.slow
def test_log_loss_and_brier_stand_beside_the_accuracy(command, workplace):
    words = "-m algo=shareboost,knn dataset=digits trials=1 n_jobs=1 run.predictions=true run.pictures=false"
    code, out, err = command(f"{words} T=2")
    assert code == 0 and "log loss  Brier" in out and "2 files" in err
    (table,) = (workplace / "results" / "tables").glob("*/table.csv")
    head, told, untold = (line.split(",") for line in table.read_text().splitlines())
    values = dict(zip(head, told))
    assert 0.0 < float(values["log loss"]) < 2.6 and 0.0 < float(values["Brier"]) < 1.0
    assert dict(zip(head, untold))["Brier"] == ""  # nearest neighbours have no probabilities
    code, out, err = command(f"{words} T=2".replace("predictions=true", "predictions=false"))
    assert code == 0 and "log loss  Brier" in out and "files" not in err  # metrics of earlier trials stay columns


def test_predictions_are_those_that_were_measured_and_come_later_too(command, workplace):
    code, _, _ = command(LINE)
    folder = workplace / "results" / "predictions"
    assert code == 0 and not folder.exists()
    (workplace / "kept").mkdir()
    records = {path: path.read_bytes() for path in (workplace / "results" / "runs").rglob("*.json")}
    code, _, err = command(f"{LINE} run.predictions=true")
    assert code == 0 and "trained once more for their predictions, records stay: 2 trials" in err
    assert records == {path: path.read_bytes() for path in (workplace / "results" / "runs").rglob("*.json")}
    from boostrun import records as stored

    frame = stored(store="results/runs", results="results")
    found = {key: predictions.read(folder, [key])[0] for key in frame["key"]}
    for key, accuracy in zip(frame["key"], frame["test_accuracy_pct"]):
        assert 100 * np.mean(found[key].truth == found[key].predicted) == pytest.approx(accuracy)
        assert found[key].confusion.sum() == len(found[key].truth) == 359
    assert "trained once more" not in command(f"{LINE} run.predictions=true")[2]


@pytest.mark.parametrize("words, sentence", [
    ("algo=iboost_stochastic dataset=sea", "dataset=sea has no test part"),
    ("run.backend=ray", "workers of run.backend=ray cannot keep them"),
])  # fmt: skip
def test_predictions_that_nobody_can_keep_are_refused_before_anything_is_run(command, workplace, words, sentence):
    code, out, err = command(f"{words} trials=1 run.predictions=true n_jobs=1")
    assert code == 2 and sentence in err and not out and not list(workplace.glob("results/*"))


def test_classes_are_shown_in_percent_and_damaged_predictions_count_as_absent(tmp_path):
    counts = np.array([[9, 1, 0], [0, 4, 0], [0, 0, 0]])
    names = ("cat", "dog", "owl")
    figure = draw_confusion([Confusion("geem", counts, 2, "geem")], names, "pets")
    assert [text.get_text() for text in figure.axes[0].texts] == ["90", "10", "100"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(names)
    methods = [f"method_{number}" for number in range(8)]
    many = draw_classes([Confusion(name, counts, 2, name) for name in methods], names, "pets", methods)
    drawn = [[line for line in axes.get_lines() if len(line.get_xdata()) == 3] for axes in many.axes]
    assert list(map(len, drawn)) == [4, 4] and drawn[0][0].get_xdata()[:2].tolist() == [90.0, 100.0]
    whole = predictions.Predictions(("a", "b"), np.array([0, 1], np.int32), np.array([0, 0], np.int32))
    predictions.keep(tmp_path, "good", whole)
    predictions.keep(tmp_path, "beyond", whole._replace(predicted=np.array([0, 2], np.int32)))
    predictions.keep(tmp_path, "short", whole._replace(predicted=np.array([0], np.int32)))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "good.npz").read_bytes()[:100])
    found = predictions.read(tmp_path, ["good", "beyond", "short", "cut", "absent"])
    assert [one.confusion.tolist() for one in found] == [[[1, 0], [1, 0]]]
