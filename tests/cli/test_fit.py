"""``boostrun fit``: budgets that are refused in a sentence, and models whose meters agree with their certificate."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import boostrun
from boostrun import BoostrunError
from boostrun.prediction import load
from boostrun.runner import meters, within
from boostrun.runner.worker import Execute

WHERE = "n_jobs=1 store=runs results=results cache_root=cache"


@pytest.fixture
def table(workplace):
    """mine.csv: 240 rows of two classes, which columns a and b tell apart; six columns are noise."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(240, 8))
    y = np.where(X[:, 0] + X[:, 1] > 0.0, "yes", "no")
    lines = [",".join([*(f"{value:.4f}" for value in row), label]) for row, label in zip(X, y)]
    (workplace / "mine.csv").write_text("\n".join(["a,b,c,d,e,f,g,h,kind", *lines]) + "\n")
    return workplace


@pytest.mark.parametrize(
    ("within", "said"),
    [
        ("flash=kB", "flash=kB has no number: write flash=4kB"),
        ("flash=4", "flash=4 has no unit (B, kB, MB, GB, KiB, MiB, GiB): write flash=4kB"),
        ("latency=20", "latency=20 has no unit"),
        ("memory=256Mib", "memory=256Mib has a unit that is unknown, 'Mib'"),
        ("sise=4", "no budget 'sise'"),
        ("feature=4", "no budget 'feature'; did you mean 'features'?"),
        ("features=20_", "features=20_ has no number"),
        ("features=2.5", "features=2.5: a whole number above 0 is needed"),
        ("features=0", "a whole number above 0"),
        ("seconds=-5", "a number above 0"),
        ("seconds=nan", "has no number"),
        ("features=4,features=5", "features is given twice"),
        ("features", "a budget is KIND=AMOUNT"),
        (",", "a budget is needed"),
        ("memory=1MiB", "memory=1 MiB cannot be kept: Python and numba alone take"),
        ("held=3", "held=3 is too few for 2 classes: two of each are the least, as in held=4"),
    ],
)
def test_a_budget_that_is_no_budget_is_one_sentence_with_an_example_and_nothing_runs(command, table, within, said):
    code, out, err = command(f"fit mine.csv --within {within} {WHERE}")
    assert (code, out) == (2, "") and said in err and err.startswith("boostrun: ") and err.count("\n") == 1
    assert "=" in err.partition(": ")[2] and not (table / "runs").exists() and not list(table.glob("model*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("fit mine.csv", "fit needs budgets: boostrun fit mine.csv --within"),
        ("fit --within features=3", "fit needs a table of yours"),
        ("fit dataset=digits --within features=3", "fit needs a table of yours"),
        ("fit mine.csv --within features=3 trials=3", "trials"),
        ("fit mine.csv --within features=3 train_samples=30", "held=500 is a budget of samples"),
        ("fit mine.csv --within features=3 -o model.c", "the model is written as .npz, as in -o model.npz"),
        ("fit mine.csv --within features=3 -o nowhere/m.npz", "there is no such folder"),
        ("fit none.csv --within features=3", "none.csv"),
        ("fit mine.csv --within features=3 algo=wsamm", "no algo 'wsamm'; did you mean 'wsam'?"),
        ("fit mine.csv --within features=3 algo=wsam", "no method keeps features"),
        ("fit mine.csv --within features=3 bogus=1", "no key 'bogus'"),
        ("fit mine.csv --within features=3 T=10,20", "T=10,20 lists several values"),
        ("fit mine.csv --within seconds=9 algo=logistic", "no method can be used: models of logistic are not saved"),
        ("run mine.csv --within features=3", "--within is an option of fit only"),
    ],
)
def test_words_that_fit_has_no_use_for_are_one_sentence(command, table, words, said):
    code, out, err = command(f"{words} {WHERE}")
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1 and not list(table.glob("model*"))


def test_the_table_is_not_overwritten_by_the_model(command, workplace):
    np.savez(workplace / "mine.npz", x=np.eye(40), y=np.arange(40) % 2)
    before = (workplace / "mine.npz").read_bytes()
    code, _, err = command(f"fit mine.npz --within features=2 -o mine.npz {WHERE}")
    assert code == 2 and "mine.npz is also the input" in err and (workplace / "mine.npz").read_bytes() == before


def test_typed_settings_stay_and_costs_that_stored_trials_lack_are_measured(command, table):
    words = f"algo=lightgbm algo.leaves=3 T=7 {WHERE}"
    assert command(f"fit mine.csv --within features=3 {words} -o a.npz")[0] == 0
    code, _, _ = command(f"fit mine.csv --within features=3,flash=900B {words} -o b.npz")
    first, second = (json.loads((table / f"{name}.certificate.json").read_text()) for name in "ab")
    assert code == 0 and not {"T", "algo.leaves"} & first["settings"].keys() and "algo.leaves=3 T=7" in first["alone"]
    assert command(f"fit mine.csv --within features=3,flash=900B {words} store=fresh -o b.npz")[0] == 0
    assert json.loads((table / "b.certificate.json").read_text())["settings"] == second["settings"]


def test_a_trial_is_trained_once_whether_or_not_its_model_has_a_meter(command, table, monkeypatch):
    trained, own = [], Execute.trained
    monkeypatch.setattr(Execute, "trained", lambda self, trial: trained.append(trial.key) or own(self, trial))
    assert command(f"fit mine.csv --within flash=900B algo=logistic,lightgbm {WHERE} -o a.npz")[0] == 0
    assert len(trained) == len(set(trained)) > 9


def test_a_typed_null_is_as_good_as_nothing(command, table):
    words = f"algo=few_features algo.features_used=null T=7 {WHERE}"
    assert command(f"fit mine.csv --within features=3 {words} -o a.npz")[0] == 0


def test_a_table_below_the_data_root_is_measured_too_and_its_default_reservoir_is_small(command, table):
    (table / "datasets").mkdir(exist_ok=True)
    (table / "mine.csv").rename(table / "datasets" / "there.csv")
    code, out, err = command(f"fit dataset=csv dataset.path=there.csv --within flash=3kB algo=rand {WHERE}")
    assert code == 0 and "r=96 q=96" in err and "datasets/there.csv --to c" in out


def test_a_table_of_one_class_is_one_sentence(command, workplace):
    (workplace / "one.csv").write_text("a,kind\n" + "".join(f"{n},yes\n" for n in range(40)))
    code, out, err = command(f"fit one.csv --within features=1 {WHERE}")
    assert (code, out) == (2, "") and err.count("\n") == 1 and "class" in err and not list(workplace.glob("model*"))


@pytest.mark.slow
def test_a_model_keeps_its_budgets_and_the_same_command_finds_its_trials(command, table):
    line = f"fit mine.csv --within features=2,flash=900B,seconds=200 algo=few_features,laminating {WHERE}"
    code, _, err = command(line)
    assert code == 0, err
    facts = json.loads((table / "model.certificate.json").read_text())
    spent = {kind: each["spent"] for kind, each in facts["budgets"].items()}
    assert spent["features"] <= 2 and spent["flash"] <= 900 and spent["seconds"] <= 200
    low, high = facts["interval_95"]
    assert facts["rows"] == {"test": 48, "held_out": 38, "train": 154} and low < facts["test_accuracy_pct"] < high
    assert facts["test_accuracy_pct"] > 85.0 and (table / "model.certificate.md").read_text().count("`boostrun") == 3
    assert command("predict model.npz mine.csv -o said.csv")[0] == 0
    assert len((table / "said.csv").read_text().splitlines()) == 241
    before = {path: path.stat().st_mtime_ns for path in (table / "runs").rglob("*.json")}
    assert command(line)[0] == 0 and json.loads((table / "model.certificate.json").read_text())["method"]
    assert before == {path: path.stat().st_mtime_ns for path in (table / "runs").rglob("*.json")}


@pytest.mark.slow
def test_a_latency_of_a_few_trees_is_kept_by_few_trees(command, table):
    pytest.importorskip("lightgbm")
    code, _, err = command(f"fit mine.csv --within latency=100ns,seconds=200 algo=lightgbm,random_forest {WHERE}")
    assert code == 0, err
    facts = json.loads((table / "model.certificate.json").read_text())
    assert facts["budgets"]["latency"]["spent"] <= 0.1 and facts["test_accuracy_pct"] > 85.0
    costs = [json.loads(path.read_text())["cost"] for path in (table / "runs").rglob("*.json")]
    estimates = [cost["prediction_us"] for cost in costs if "prediction_us" in cost]
    assert len(estimates) > 40 and sum(one <= 0.1 for one in estimates) > len(estimates) / 2  # small ones are tried


@pytest.mark.slow
def test_a_budget_that_cannot_be_kept_is_refused_with_the_smallest_that_can(command, table):
    code, _, err = command(f"fit mine.csv --within flash=3B algo=laminating {WHERE}")
    assert code == 2 and "flash=3 B cannot be kept on these data: the smallest that can, of the models" in err
    assert not list(table.glob("*model*"))
    assert "measured, is flash=" in err
    least = err.rpartition("flash=")[2].partition("B")[0]
    assert command(f"fit mine.csv --within flash={least}B algo=laminating {WHERE}")[0] == 0


@pytest.mark.slow
def test_a_slow_start_leaves_time_for_a_search(command, table, monkeypatch):
    monkeypatch.setattr(meters, "process_began", time.monotonic)  # not that of the tests
    monkeypatch.setattr(within, "check_possible", lambda *given: 100.0)  # seconds of a process that only starts
    code, _, err = command(f"fit mine.csv --within features=2,seconds=60 algo=laminating {WHERE}")
    assert code == 0, err
    assert json.loads((table / "model.certificate.json").read_text())["trials"] > 1


@pytest.mark.slow
def test_a_killed_search_goes_on_from_its_finished_trials(table):
    words = f"fit mine.csv --within features=3 algo=few_features,lightgbm,laminating {WHERE}".split()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    first = subprocess.Popen([sys.executable, "-m", "boostrun", *words], cwd=table, env=environment)
    for _ in range(600):
        if len(done := list((table / "runs").rglob("*.json"))) >= 4 or first.poll() is not None:
            break
        time.sleep(0.1)
    first.kill()
    first.wait()
    assert len(done) >= 4 and not (table / "model.npz").exists()
    before = {path: path.stat().st_mtime_ns for path in done}
    whole = [sys.executable, "-m", "boostrun", *words]
    again = subprocess.run(whole, cwd=table, env=environment, check=True, capture_output=True, text=True)
    assert {path: path.stat().st_mtime_ns for path in done} == before and "accuracy on 48 rows" in again.stdout
    assert load(table / "model.npz").n_features_in_ == 8


@pytest.mark.slow
def test_in_python_a_frame_with_text_and_missing_values_is_fitted(workplace):
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"size": generator.normal(size=200), "colour": generator.choice(["red", "blue"], 200)})
    frame["noise"] = np.where(np.arange(200) % 7 == 0, np.nan, generator.normal(size=200))
    y = np.where((frame["size"] > 0) == (frame["colour"] == "red"), "up", "down")
    clf = boostrun.fit(frame, y, {"features": 2, "flash": "2kB"}, "algo=lightgbm,few_features", "n_jobs=1")
    spent = {kind: each["spent"] for kind, each in clf.certificate_["budgets"].items()}
    assert spent["features"] == 2 and spent["flash"] <= 2000
    assert np.mean(clf.predict(frame) == y) > 0.8 and set(clf.classes_) == {"up", "down"}
    assert not list(workplace.iterdir())
    with pytest.raises(BoostrunError, match="X has 200 rows and y 3 labels"):
        boostrun.fit(frame, y[:3], "features=2")
    with pytest.raises(BoostrunError, match="no budget 'sise'"):
        boostrun.fit(frame, y, {"sise": 3})


def table_with_gaps(folder, n=300):
    """A file whose columns b and c decide, and a has gaps."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, n))
    rows = [f"{'' if place % 4 == 0 else round(x, 4)},{y:.4f},{z:.4f},{'uv'[int(y + z > 0)]}\n"
            for place, (x, y, z) in enumerate(zip(a, b, c))]  # fmt: skip
    (folder / "gaps.csv").write_text("".join(["a,b,c,kind\n", *rows]))


@pytest.mark.parametrize("budget", ["features=2", "flash=2kB", "held=250", "held=5000"])
def test_a_table_with_gaps_keeps_every_budget(command, workplace, budget):
    table_with_gaps(workplace)
    words = f"gaps.csv --within {budget} algo=laminating,shareboost,lightgbm T=20 n_jobs=1 -o m.npz"
    code, _, err = command(f"fit {words}")
    assert code == 0, err
    found = json.loads((workplace / "m.certificate.json").read_text())
    assert found["test_accuracy_pct"] > 75 and (held := found["budgets"].get("held"), True)
    assert not held or found["next_best"]["validation_accuracy_pct"] <= found["validation_accuracy_pct"]


LABELS = {
    "truth values": [False, True], "text of whole numbers": ["0", "1"], "text with blanks": ["a", "a "],
    "objects": np.array([3, "x"], object), "dates": np.array(["2024-01-31", "2024-02-01"], "datetime64[D]"),
    "text": ["yes", "no"], "whole numbers": [7, 3], "beyond 63 bits": np.array([2**63, 2**64 - 1], np.uint64),
}  # fmt: skip


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("name", list(LABELS))
def test_labels_come_back_as_they_were_given(name, framed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.asarray(LABELS[name])[(X[:, 0] > 0).astype(int)]
    clf = boostrun.fit(pd.DataFrame(X, columns=["a", "b"]) if framed else X, y, {"features": 1}, "algo=laminating",
                       "n_jobs=1", "T=3")  # fmt: skip
    given = pd.DataFrame(X, columns=["a", "b"]) if framed else X
    assert sorted(map(str, clf.classes_.tolist())) == sorted(map(str, set(y.tolist())))
    assert np.mean(clf.predict(given) == y) > 0.95


@pytest.mark.parametrize(("X", "y", "said"), [
    (pd.DataFrame([[1.0, 2.0]] * 4, columns=["a", "a"]), "uvuv", "two columns of the name 'a'"),
    (pd.DataFrame({1: [1.0] * 4, "1": [2.0] * 4}), "uvuv", "two columns called '1'"),
    (pd.DataFrame([[1.0, 2.0]] * 4, columns=pd.MultiIndex.from_tuples([("u", "a"), ("u", "b")])), "uvuv", "levels"),
    (pd.DataFrame({"a": [1j] * 4}), "uvuv", "column 'a' of X holds complex numbers"),
    (np.array([["a"], ["b"]] * 2, object), "uvuv", "objects that are no numbers"),
    (np.arange(4.0), "uvuv", r"an array \(4,\) of float64"),
    (np.ones((4, 2)), ["u", None, "v", "u"], "no label in row 1"),
    (np.ones((4, 2)), [["u"]] * 4, r"y has the shape \(4, 1\)"),
    (np.ones((4, 2)), [1.0, 2.0, 2.5, 1.0], "y holds 2.5 in row 2"),
    (np.ones((4, 2)), [1.0, 2.0, np.inf, 1.0], "y holds inf in row 2"),
    (np.ones((0, 2)), [], r"y has the shape \(0,\)"),
])  # fmt: skip
def test_samples_that_are_no_table_are_a_sentence(X, y, said):
    with pytest.raises(BoostrunError, match=said):
        boostrun.fit(X, list(y), {"features": 1})


def test_sparse_masked_and_arrow_tables_are_read():
    arrow = pytest.importorskip("pyarrow")
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] > 0, "u", "v")
    words = {"features": 1}, "algo=laminating", "n_jobs=1", "T=3"
    expected = boostrun.fit(X, y, *words).predict(X)
    for given in (sparse.csr_array(X), np.ma.masked_array(X, mask=False), X.astype(object)):
        assert np.array_equal(boostrun.fit(given, y, *words).predict(X), expected)
    table = arrow.table({"a": X[:, 0], "b": X[:, 1]})
    assert np.array_equal(boostrun.fit(table, y, *words).predict(table.to_pandas()), expected)
