"""IBoost of logistic regressions and of objects."""

import itertools
import pickle

import numpy as np
import pytest

from boostrun import IBoostFittedClassifier, IBoostTreesClassifier
from boostrun.errors import BoostrunError
from boostrun.kernels import hoeffding
from tests.papers.iboost.learners import TreeAsked, small_tree
from tests.papers.iboost.test_iboost_adwin import jumps

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do
SMALL = {"n_window": 40, "budget": 4, "period": 10, "n_steps": 2}
several = pytest.mark.parametrize("classes", [2, 4])


@several
@pytest.mark.parametrize("update", ["stochastic", "batch"])
def test_objects_are_followed_as_compiled_trees_are(classes, update):
    """Same answers, same coefficients, through changes of concept, however the stream is cut."""
    X, y = jumps(300, 60, classes=classes)
    keys = SMALL | {"eps_min": 0.05, "update": update}
    trees = IBoostTreesClassifier(grace_period=10, split_delta=0.5, **keys)
    objects = IBoostFittedClassifier(base=TreeAsked(classes, hoeffding.Rules(10.0, 0.5, max_depth=5)), **keys)
    expected = trees.test_then_train(X, y, classes=range(classes))
    cuts = [0, 3, 39, 40, 57, 190, 300]
    said = [
        objects.test_then_train(X[first:last], y[first:last], classes=range(classes))
        for first, last in itertools.pairwise(cuts)
    ]
    np.testing.assert_array_equal(np.concatenate(said), expected)
    np.testing.assert_array_equal(objects.betas_, trees.betas_)
    np.testing.assert_array_equal(objects.decision_function(X), trees.decision_function(X))
    assert objects.n_removed_negative_ + objects.n_removed_budget_ > 0


@several
@pytest.mark.parametrize("base", ["logistic", small_tree()])
def test_a_hold_out_is_predicted_as_by_the_learner_itself(base, classes):
    X, y = jumps(200, 60, classes=classes)
    model, held = IBoostFittedClassifier(base=base, **SMALL), None
    for first in range(0, 200, 20):
        model.partial_fit(X[first : first + 20], y[first : first + 20], classes=range(classes))
        held = held or model.answers_on(X[:70])
        assert (held() == model.predict(X[:70])).all()
        assert (model.predict(X[:70]) == model.predict_proba(X[:70]).argmax(axis=1)).all()


@several
def test_a_saved_learner_goes_on_where_it_was(classes, tmp_path):
    X, y = jumps(300, 60, classes=classes)
    model = IBoostFittedClassifier(**SMALL).partial_fit(X[:150], y[:150], classes=range(classes))
    loaded = IBoostFittedClassifier.load(model.save(tmp_path / "model"))
    assert (loaded.test_then_train(X[150:], y[150:]) == model.test_then_train(X[150:], y[150:])).all()
    assert (loaded.betas_ == model.betas_).all()


def test_objects_are_pickled_and_are_not_saved(tmp_path):
    X, y = jumps(200, 60)
    model = IBoostFittedClassifier(base=small_tree(), **SMALL).partial_fit(X[:150], y[:150])
    copied = pickle.loads(pickle.dumps(model))
    assert (copied.test_then_train(X[150:], y[150:]) == model.test_then_train(X[150:], y[150:])).all()
    with pytest.raises(BoostrunError, match="cannot be saved: its _fitted is a FittedObjects"):
        model.save(tmp_path / "model")


@pytest.mark.parametrize(("place", "value"), [("state__states.0.8", 5.0), ("state__models", None)])
def test_a_damaged_file_gets_a_sentence(place, value, tmp_path):
    """A member in no place, and regressions of fewer features."""
    model = IBoostFittedClassifier(**SMALL).partial_fit(*jumps(150, 60), classes=[0, 1])
    path = model.save(tmp_path / "model")
    arrays = dict(np.load(path))
    arrays[place] = arrays[place][:, :-1] if value is None else np.full_like(arrays[place], value)
    np.savez(path, **arrays)
    with pytest.raises(BoostrunError, match=r"members|state__models has the shape"):
        IBoostFittedClassifier.load(path)


@pytest.mark.parametrize("base", ["logistic", small_tree()])
def test_a_class_that_comes_later_is_learnt(base):
    X, y = jumps(300, 1000, classes=3)
    model = IBoostFittedClassifier(base=base, **SMALL).partial_fit(X[:100], np.minimum(y[:100], 1))
    before = model.predict(X[:100])
    model.partial_fit(X[100:101], [2])
    assert np.mean(model.predict(X[:100]) == before) > 0.8  # one step of the coefficients
    assert (model.test_then_train(X[101:], y[101:]) == y[101:])[100:].mean() > 0.6


def test_what_cannot_be_a_member_is_one_sentence():
    from sklearn.neighbors import KNeighborsClassifier

    for base, words in (
        ("oak", "base='oak': one of logistic"), ("hoeffding", "iboost_trees"), (object(), "base=.*: one of logistic"),
        (KNeighborsClassifier(), "KNeighborsClassifier takes no weights"),
    ):  # fmt: skip
        with pytest.raises(BoostrunError, match=words):
            IBoostFittedClassifier(base=base, **SMALL).partial_fit(*jumps(50, 60))
