"""Rivals on a stream: as their library has them, the same for the same seed, beside ours, told of when not installed."""

import json
import sys

import numpy as np
import pytest

from boostrun.cli import main
from boostrun.config import catalogue
from boostrun.errors import BoostrunError

METHODS = {
    name: method for name, method in catalogue.methods().items()
    if method.paper == "rivals" and method.inputs == {"stream"}
}  # fmt: skip
RIVERS = [name for name, method in METHODS.items() if method.search and "capymoa" not in name]
SEEDED = sorted(set(RIVERS) - {"hoeffding_tree"})
RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def made(name, seed=0, **keys):
    """A small one."""
    pytest.importorskip("river")
    method = METHODS[name]
    few = {"grace_period": 20, "delta": 0.01} if "grace_period" in method.fields else {}
    return method.make({**few, **keys}, dict.fromkeys(method.budget, 3), {"random_state": seed})


@pytest.mark.parametrize("name", RIVERS)
def test_something_is_learnt_and_the_same_seed_says_the_same(name):
    model = made(name, seed=1)
    said = model.test_then_train(X, Y, [0, 1])
    assert np.mean(said[160:] == Y[160:]) > 0.7
    assert np.array_equal(said, made(name, seed=1).test_then_train(X, Y, [0, 1]))
    found = model.predict_proba(X[:20])
    assert found.shape == (20, 2) and np.allclose(found.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(X[:20]), found.argmax(axis=1))


@pytest.mark.parametrize("name", SEEDED)
def test_another_seed_draws_otherwise(name):
    found = [made(name, seed).partial_fit(X[:150], Y[:150]).predict_proba(X) for seed in (1, 2)]
    assert not np.array_equal(*found)


def test_the_accuracy_is_that_which_river_measures_on_the_same_stream():
    evaluate, forest = (pytest.importorskip(f"river.{name}") for name in ("evaluate", "forest"))
    from river import metrics

    from boostrun.evaluation.prequential import prequential

    examples = [(dict(enumerate(x)), y) for x, y in zip(X.tolist(), Y.tolist())]
    theirs = evaluate.progressive_val_score(examples, forest.ARFClassifier(n_models=3, seed=5), metrics.Accuracy())
    rival = METHODS["arf"].make({}, {"M": 3}, {"random_state": 5})
    score, _ = prequential(rival, [(X[:1], Y[:1]), (X[1:], Y[1:])], [0, 1])
    first = made("arf").test_then_train(X[:1], Y[:1], [0, 1])[0] == Y[0]  # which river does not count
    assert score.n_seen == 240
    assert round(score.accuracy_pct * 2.4) - first == round(theirs.get() * 239)


def test_a_class_of_rivers_is_named_on_the_command_line_and_stands_beside_ours(tmp_path, capsys):
    pytest.importorskip("river")
    places = [f"store={tmp_path}/runs", f"cache_root={tmp_path}", f"results={tmp_path}", "n_jobs=1"]
    words = ["-m", "algo=no_change,estimator", "algo.class=river.tree:ExtremelyFastDecisionTreeClassifier"]
    assert main([*words, "algo.grace_period=50", "dataset=rbf", "dataset.n_samples=300", "trials=2", *places]) == 0
    records = [json.loads(path.read_text()) for path in tmp_path.glob("runs/**/*.json")]
    theirs = [one for one in records if ":" in one["cell"]["algo"]["name"]]
    assert len(records) == 4 and [one["cell"]["algo"]["grace_period"] for one in theirs] == [50, 50]
    assert all(one["cost"]["peak_memory_mb"] > 0 and one["cost"]["time_s"] > 0 for one in records)
    assert "ExtremelyFastDecisionTreeClassifier" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("river.linear_model:LinearRegression", "LinearRegression of river is no classifier"),
        ("river.linear_model:LogisticRegression", "LogisticRegression of river tells two classes apart, and there are 3"),
    ],
)
def test_a_class_that_cannot_tell_the_classes_apart_is_refused(where, why):
    pytest.importorskip("river")
    from boostrun.methods.declaration import obtain

    estimator = METHODS["stream_estimator"].make({}, {}, {"random_state": 0}).set_params(estimator=obtain(where)())
    with pytest.raises(BoostrunError, match=f"^{why}"):
        estimator.partial_fit(X[:9], np.arange(9) % 3)


def test_a_class_without_a_seed_of_its_own_is_given_the_trials():
    forest = pytest.importorskip("river.forest")
    for given, seed in ((None, 8), (3, 3)):
        rival = METHODS["stream_estimator"].make({}, {}, {"random_state": 8})
        model = rival.set_params(estimator=forest.ARFClassifier(seed=given)).partial_fit(X[:9], Y[:9])
        assert model.model_.seed == seed and model.estimator.seed == given


def test_without_river_the_command_that_installs_it_is_told(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "river", None)
    places = [f"store={tmp_path}/runs", f"cache_root={tmp_path}", f"results={tmp_path}", "n_jobs=1"]
    assert main(["-m", "algo=no_change,arf", "dataset=rbf", "dataset.n_samples=200", *places]) == 2
    assert "river is not installed: pip install 'boostrun[streams]'" in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/**/*.json"))
