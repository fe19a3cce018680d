"""Stream learners as river's: its own checks of an estimator, and its naive Bayes beside ours."""

import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostrun.papers.iboost.baselines import HoeffdingTreeClassifier
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.streams import (
    FLBClassifier,
    IBoostAdwinClassifier,
    IBoostClassifier,
    IBoostFittedClassifier,
    IBoostGeemClassifier,
    IBoostTreesClassifier,
    OnlineBoostClassifier,
)
from tests.papers.iboost.learners import BASES, EVERY, make

river_checks = pytest.importorskip("river.checks")
naive_bayes = pytest.importorskip("river.naive_bayes")
river_tree = pytest.importorskip("river.tree")


def checks(learner):
    """river's checks: (name, call); most come once for each of its three data sets."""
    for check in river_checks.yield_checks(learner):
        yield check.__name__, lambda check=check: check(learner.clone())


@pytest.mark.parametrize("name", EVERY)
def test_rivers_checks_in_short(name):
    """Each on its first data set; the growth of memory takes long."""
    first = {}
    for check, call in checks(make(name)):
        first.setdefault(check, call)
    del first["check_bounded_memory_growth"]
    for call in first.values():
        call()
    assert len(first) > 20


@pytest.mark.slow
@pytest.mark.parametrize("learner", [
    *(pytest.param(make(name, base=base), id=f"{name} of {base}") for name, base in BASES),
    IBoostClassifier(n_window=20, budget=10, multiclass="ovr", flip_bad=True),
    IBoostAdwinClassifier(n_window=20, n_least=5, budget=10),
    IBoostGeemClassifier(n_window=20, batch_size=5, budget=10),
    IBoostTreesClassifier(n_window=20, budget=3, grow=True, random_state=0),
    IBoostFittedClassifier(n_window=20, budget=3, base=DecisionTreeClassifier(max_depth=2)),
    FLBClassifier(n_window=20, budget=3, base=DecisionTreeClassifier(max_depth=2)),
    OnlineBoostClassifier(budget=3, base=river_tree.HoeffdingTreeClassifier(grace_period=20)),
    HoeffdingTreeClassifier(grace_period=20, tie=0.3, adaptive=True),
])  # fmt: skip
def test_rivers_checks_of_variants(learner):
    every = list(checks(learner))
    for _, call in every:
        call()
    assert len(every) > 40


@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_incremental_naive_bayes_is_rivers(absent):
    """On the same stream, before each example is learnt, features left out; river adds 1e-9 to every density."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(y[:, None] * 0.8, 1.3, (300, 3))
    X[rng.random(X.shape) < absent] = np.nan
    theirs, ours, share = naive_bayes.GaussianNB(), bayes.Learners.fresh(1, 2, 3), np.zeros(2)
    for i, (x, label) in enumerate(zip(X, y.tolist())):
        row = {place: value for place, value in enumerate(x.tolist()) if not math.isnan(value)}
        if i >= 20:
            bayes.probabilities(ours, 0, x, True, share)
            assert theirs.predict_proba_one(row)[1] == pytest.approx(share[1], abs=1e-5)
            assert theirs.predict_one(row) == bayes.answer(ours, 0, x, True)
        theirs.learn_one(row, label)
        bayes.train(ours, 0, x, label, 1.0, np.full(3, 1e-12), True)


@pytest.mark.parametrize("leaf", ["nba", "nb"])
def test_a_tree_leaves_out_the_features_that_an_example_lacks_as_rivers_does(leaf):
    """But in a leaf that has just split off, where a class has met a feature once: river's density is 0 or infinite."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 3))
    y = (X[:, 0] + X[:, 1] > 0.3 * X[:, 2]).astype(int)
    X[rng.random(X.shape) < 0.2] = np.nan
    rows = [{name: value for name, value in zip("abc", x) if not math.isnan(value)} for x in X.tolist()]
    ours = HoeffdingTreeClassifier(grace_period=100, leaf=leaf)
    theirs = river_tree.HoeffdingTreeClassifier(grace_period=100, leaf_prediction=leaf)
    ours.learn_one(dict.fromkeys("abc", 0.0), 0)
    theirs.learn_one(dict.fromkeys("abc", 0.0), 0)
    said = []
    for row, label in zip(rows, y.tolist()):
        if row:
            said.append((ours.predict_one(row), theirs.predict_one(row)))
            ours.learn_one(row, label)
            theirs.learn_one(row, label)
    assert ours.n_nodes_ == theirs.n_nodes > 5
    assert np.mean([one == other for one, other in said]) > 0.998
