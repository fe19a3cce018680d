"""From a config to the record of a drifting stream: what is refused, what is measured, and that it is repeatable."""

import json
from pathlib import Path

import numpy as np
import pytest

from boostrun.config.compose import compose_one
from boostrun.data import DRIFTING, checksum, describe, fetch, load
from boostrun.data.streams import draw
from boostrun.errors import BoostrunError
from boostrun.evaluation import stream as evaluate_drift
from boostrun.runner import algorithms
from boostrun.runner.plan import open_store, plan
from boostrun.schemas import drift


class Rule:
    """Knows SEA's first threshold and never learns; remembers what it was given."""

    def __init__(self):
        self.sizes = []

    def test_then_train(self, x, y, classes=None):
        self.sizes.append(len(y))
        return self.predict(x)

    def predict(self, x):
        return (x[:, 0] + x[:, 1] <= 8).astype(int)


def test_a_stream_with_holdouts_is_measured_on_them_from_the_first_window_on():
    stream = draw({"name": "sea", "n_samples": 4000}, Path("."))
    result = evaluate_drift.train_and_test(Rule(), stream, {"eval_every": 20}, 200)
    curve, metrics = result["curve"], result["metrics"]
    assert curve["changes"] == [1000, 2000, 3000] and curve["examples"][0] == 200
    accuracy = dict(zip(curve["examples"], curve["test_accuracy_pct"]))
    expected = [100 * np.mean(Rule().predict(held.x) == held.y) for held in stream.holdouts]
    assert [accuracy[k] for k in (1000, 1020, 2020, 4000)] == pytest.approx(expected)
    assert metrics["test_accuracy_pct"] == pytest.approx(np.mean(curve["test_accuracy_pct"]))
    assert metrics["recovery_pct"] == pytest.approx(np.mean(expected[1:]))
    assert [metrics[f"recovery_{i}_pct"] for i in (1, 2, 3)] == pytest.approx(expected[1:])
    assert metrics["tail_accuracy_pct"] == pytest.approx(np.mean(expected))
    assert metrics["test_error_pct"] == 100 - metrics["test_accuracy_pct"]
    assert result["cost"]["time_s"] >= 0
    json.dumps(result, allow_nan=False)


def test_a_stream_without_is_tested_example_by_example():
    stream = draw({"name": "led", "n_samples": 2500}, Path("."))
    rule = Rule()
    result = evaluate_drift.train_and_test(rule, stream, {"window": 500, "fading": 0.99, "curve_every": 1000}, 200)
    right = Rule().predict(stream.x) == stream.y
    assert sum(rule.sizes) == 2500 and result["curve"]["examples"] == [1000, 2000]
    assert result["metrics"]["test_accuracy_pct"] == pytest.approx(100 * right.mean())
    last = [100 * right[500:1000].mean(), 100 * right[1500:2000].mean()]
    assert result["curve"]["test_accuracy_pct"] == pytest.approx(last)
    assert result["curve"]["stream"]["bayes_accuracy_pct"] == pytest.approx(88.07, abs=0.01)
    json.dumps(result, allow_nan=False)


def test_figures_without_a_checkpoint_are_left_out():
    stream = draw({"name": "sea", "n_samples": 40}, Path("."))
    result = evaluate_drift.train_and_test(Rule(), stream, {"eval_every": 20}, 200)
    assert result["metrics"] == {} and result["curve"]["examples"] == []


@pytest.mark.parametrize(
    "words, said",
    [
        ("algo=geem dataset=sea", "cannot follow the stream dataset=sea; iboost_stochastic"),
        ("algo=iboost_batch dataset=digits", "dataset=digits is none"),
        ("algo=iboost_batch dataset=sea features=hog", "learnt as it is"),
        ("algo=iboost_batch dataset=sea features.bins=16", "learnt as it is"),
        ("algo=iboost_batch dataset=sea holdout=0.2", "no use for holdout=0.2"),
        ("algo=iboost_batch dataset=sea train_samples=20", "no use for train_samples=20"),
        ("algo=iboost_batch dataset=sea T=20", "no use for T=20"),
        ("algo=iboost_batch dataset=sea algo.example=random", "no key 'example'"),
        ("algo=iboost_stochastic dataset=led dataset.schedule=swop", "did you mean 'swap'"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(command, words, said):
    code, _, err = command(words)
    assert code == 2 and said in err and "Traceback" not in err


@pytest.mark.parametrize("words, said", [
    ("dataset.classes=9", "one of binary, 10"), ("dataset.positive=11", "different digits"),
])  # fmt: skip
def test_what_the_generator_refuses_is_said_before_a_trial_starts(command, words, said):
    code, _, err = command(f"algo=iboost_stochastic dataset=led dataset.n_samples=10 {words} n_jobs=1")
    assert code == 2 and said in err and "failed" not in err


def test_keys_reach_the_classifier():
    settings = compose_one(["algo=iboost_batch", "dataset=sea", "algo.base=gnb", "M=7", "n=30", "p=2", "b=1"])
    model = algorithms.make(settings.algo, settings.budget, 5)
    found = model.get_params()
    expected = {"update": "batch", "base": "gnb", "budget": 7, "n_window": 30, "period": 2, "n_steps": 1, "eta": None}
    assert {key: found[key] for key in expected} == expected and found["random_state"] == 5


@pytest.mark.parametrize("name", drift.ALGORITHMS)
def test_every_algorithm_has_its_classes_defaults_and_takes_its_keys(name):
    settings = compose_one([f"algo={name}", "dataset=sea"])
    model = algorithms.make(settings.algo, settings.budget, 0)
    plain, found = type(model)().get_params(), model.get_params()
    own = {"update", "random_state", *({"budget"} if "iboost" in name else ())}
    assert {key: found[key] for key in found if key not in own} == {key: plain[key] for key in plain if key not in own}


@pytest.mark.parametrize("name", drift.ALGORITHMS)
def test_every_algorithm_follows_a_stream(name):
    if name == "iboost_trees":
        pytest.importorskip("river")
    small = {"M": 5, "n": 60, "q": 10, "p": 5, "b": 1}
    stream = draw({"name": "sea", "n_samples": 800, "holdout_per_concept": 100}, Path("."), 3)
    algo, budget = compose_one([f"algo={name}", "dataset=sea"]).algo, drift.ALGORITHMS[name].budget
    model = algorithms.make(algo, {key: small[key] for key in budget}, 0)
    result = evaluate_drift.train_and_test(model, stream, {"eval_every": 20}, 60)
    assert 60 < result["metrics"]["test_accuracy_pct"] <= 100 and result["curve"]["examples"][0] == 60


@pytest.mark.parametrize("name", [name for name in DRIFTING if name != "file_stream"])
def test_every_stream_says_what_it_needs(name, tmp_path, command):
    line = describe({"name": name}, tmp_path)
    generated = name in ("sea", "led", "rbf")
    assert ("generated" in line) == generated and ("not there" in line) != generated
    if generated:
        assert fetch({"name": name}, tmp_path) == line
        assert checksum({"name": name}, tmp_path) != checksum({"name": name, "n_samples": 9}, tmp_path)
    with pytest.raises(BoostrunError, match="a stream in an order of its own"):
        load({"name": name}, tmp_path)
    code, out, _ = command(f"data {name}")
    assert code == (0 if generated else 2) and ("generated" in out) == generated


def test_a_missing_file_is_said_before_anything_runs(command):
    code, _, err = command("algo=iboost_stochastic dataset=santafe")
    assert code == 2 and "santafe_laser.npy" in err


def test_a_run_is_stored_and_repeated_exactly(command):
    line = ("algo=iboost_stochastic dataset=sea dataset.n_samples=2000 dataset.holdout_per_concept=300 M=5 n=50 "
            "trials=2 n_jobs=1")  # fmt: skip
    assert command(line)[0] == 0
    first = records(line)
    assert [record["seed"] for record in first] == [0, 1] and first[0]["metrics"] != first[1]["metrics"]
    assert 60 < first[0]["metrics"]["test_accuracy_pct"] < 100 and len(first[0]["curve"]["examples"]) == 98
    assert command(line)[0] == 0 and records(line) == first  # with their times: nothing was run again
    assert command(f"{line} store=elsewhere")[0] == 0
    again = records(f"{line} store=elsewhere")
    assert [record["metrics"] for record in first] == [record["metrics"] for record in again]


def records(line):
    settings = compose_one(line.split())
    (cell,) = plan([settings], open_store(settings))
    return cell.done


def test_tables_of_methods_and_streams_agree_with_the_papers(command, workplace):
    code, out, _ = command("reproduce iboost/table_methods")
    assert code == 0 and "0 of them differ" in out and (workplace / "results/iboost/table_methods/table.csv").is_file()
    rows = {line.split("|")[1].strip(): line.replace(" ", "") for line in out.splitlines() if line.startswith("| ")}
    assert rows["flc"] == "|flc|x|x|x|x|x|x|x|x|" and rows["adaboost"] == "|adaboost|-|—|-|—|-|—|x|—|"
