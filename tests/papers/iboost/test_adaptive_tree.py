"""Hoeffding adaptive trees: against a plain twin, after a change, saved, in parts."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun.errors import BoostrunError
from boostrun.papers.iboost.baselines import HoeffdingTreeClassifier
from boostrun.papers.iboost.kernels.adaptive_tree import ADDED, DROPPED, IN_USE, TAKEN
from tests.reference.adaptive_tree import AdaptiveTree

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do

SMALL = {"grace_period": 20, "delta": 0.1, "tie": 0.3, "adaptive": True, "drift_delta": 0.3, "switch_after": 30}


def stream(n, every, classes=2, seed=0):
    """One feature determines two classes, two features three; classes change places after ``every`` examples."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0) * (classes - 2)
    return X, (y + np.arange(n) // every) % classes


@pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_tree_is_its_plain_twin(classes):
    """On streams where no two thresholds are equally good up to rounding."""
    X, y = stream(700, 250, classes, seed=3)
    twin = AdaptiveTree(classes, 0.3, 30, 0.05, 3, "nba", 20, 0.1, 0.3)
    expected = []
    for x, label in zip(X, y.tolist()):
        expected.append(twin.answer(x))
        twin.learn(x, label)
    model = HoeffdingTreeClassifier(**SMALL)
    assert (model.test_then_train(X, y, classes=range(classes)) == expected).all()
    assert model.learners_.watched.counts[TAKEN] == twin.taken > 0


def test_it_follows_a_change_that_a_tree_without_alternates_does_not():
    X, y = stream(6000, 3000)
    right = [
        (HoeffdingTreeClassifier(adaptive=adaptive).test_then_train(X, y) == y)[3000:4500].mean()
        for adaptive in (True, False)
    ]
    assert right[0] > 0.8 and right[1] < 0.1


@pytest.mark.parametrize("classes", [2, 3])
def test_chunks_and_a_file_in_between_make_no_difference(classes, tmp_path):
    """With repeated enlargements, and alternates that begin, replace a split, or are deleted."""
    X, y = stream(4000, 300, classes)
    y = np.where(np.random.default_rng(1).random(4000) < 0.1, 0, y)
    whole, model = HoeffdingTreeClassifier(**SMALL), HoeffdingTreeClassifier(**SMALL)
    said, parts = whole.test_then_train(X, y, classes=range(classes)), []
    counts = whole.learners_.watched.counts
    assert counts[ADDED] > 30 and counts[TAKEN] > 10 and counts[DROPPED] >= classes - 2
    for first in range(0, 4000, 800):
        part = slice(first, first + 800)
        assert (model.predict(X[part][:1]) == said[first]).all() if first else True
        parts.append(model.test_then_train(X[part], y[part], classes=range(classes)))
        model = HoeffdingTreeClassifier.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(np.concatenate(parts), said)
    assert model.n_nodes_ == whole.n_nodes_
    assert (model.predict_proba(X).argmax(axis=1) == model.predict(X)).all()


@pytest.mark.parametrize(("place", "change"), [("1.0", "itself"), ("1.2", "more"), ("0.1", "twice")])
def test_a_file_whose_alternates_are_no_trees_gets_a_sentence(place, change, tmp_path):
    X, y = stream(4000, 700)
    model = HoeffdingTreeClassifier(**SMALL)
    for first in range(0, 4000, 50):
        model.partial_fit(X[first : first + 50], y[first : first + 50], classes=[0, 1])
        if model.learners_.watched.counts[IN_USE]:
            break
    path = model.save(tmp_path / "model")
    arrays = dict(np.load(path))
    array = arrays[f"state_learners_.{place}"]
    if change == "itself":
        array[array >= 0] = 0
    elif change == "more":
        array[-1] = 1
    else:
        array[1] = array[0]
    np.savez(path, **arrays)
    with pytest.raises(BoostrunError, match=r"alternates|make no trees"):
        HoeffdingTreeClassifier.load(path)


@parametrize_with_checks([HoeffdingTreeClassifier(grace_period=20, tie=0.3, adaptive=True)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
