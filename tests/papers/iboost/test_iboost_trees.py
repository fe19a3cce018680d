"""IBoost of river's Hoeffding trees."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun import IBoostClassifier, IBoostTreesClassifier
from boostrun.errors import BoostrunError
from boostrun.papers.iboost.iboost_trees import _named
from tests.papers.iboost.test_iboost_adwin import jumps

SMALL = {"n_window": 40, "budget": 4, "period": 10, "n_steps": 2, "grace_period": 10, "delta": 0.5, "random_state": 0}


def test_river_absent_gets_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(BoostrunError, match="pip install 'boostrun"):
        IBoostTreesClassifier(**SMALL).fit(*jumps(60, 60))


@pytest.fixture(scope="module")
def river():
    return pytest.importorskip("river")


@pytest.mark.slow
@pytest.mark.parametrize("keys", [{}, {"grow": True}, {"update": "batch", "budget": 2}])
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_kept_of_the_trees_is_what_they_say(river, keys, classes):
    """After an addition: the window, every tree's answers, the margins."""
    X, y = jumps(160, 60, classes=classes)
    model = IBoostTreesClassifier(**(SMALL | keys))
    for chunk in (slice(0, 90), slice(90, 160)):
        model.partial_fit(X[chunk], y[chunk], classes=range(classes))
    state, m = model._state, len(model.betas_)
    assert m == model.budget == len(model._trees) and 8 < model.n_added_ <= 13
    assert (X[120:] == state.columns.T).all() and (state.labels == y[120:]).all()
    said = np.array([[tree.predict_one(_named(x)) for x in X[120:]] for tree in model.trees_])
    assert ((said == state.labels) == (state.right[:m] > 0)).all()
    codes = np.where(said == state.labels, 1 / (classes - 1), -1 / (classes - 1) ** 2)
    np.testing.assert_allclose(state.margins, model.betas_ @ codes, rtol=1e-9, atol=1e-12)
    scores = model.decision_function(X[120:])
    assert (model.predict(X[120:]) == (scores >= 0 if classes == 2 else scores.argmax(axis=1))).all()
    if classes == 2:
        np.testing.assert_allclose(scores * np.where(y[120:] == 1, 1, -1), state.margins, rtol=1e-9, atol=1e-12)


def test_chunks_and_copies_make_no_difference(river):
    X, y = jumps(150, 60)
    whole, parts = (IBoostTreesClassifier(**SMALL, grow=True) for _ in range(2))
    said = whole.test_then_train(X, y)
    pieces = []
    for i in range(0, 150, 17):
        pieces.append(parts.test_then_train(X[i : i + 17], y[i : i + 17], classes=[0, 1]))
        parts = pickle.loads(pickle.dumps(parts))
    assert (np.concatenate(pieces) == said).all() and (whole.betas_ == parts.betas_).all()


@pytest.mark.slow
def test_trees_learn_a_rule_that_one_stump_cannot(river):
    """Exclusive or: no stump is better than chance, whatever their number."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (800, 2))
    y = ((X[:, 0] > 0) != (X[:, 1] > 0.3)).astype(int)
    trees = IBoostTreesClassifier(200, 10, 20, random_state=0, grace_period=10, delta=0.9).fit(X, y)
    stumps = IBoostClassifier(200, 10, 20).fit(X, y)
    accuracies = [(model.predict(X[400:]) == y[400:]).mean() for model in (trees, stumps)]
    assert accuracies[0] > accuracies[1] + 0.1


def test_a_class_that_comes_later_is_learnt(river):
    X, y = jumps(300, 1000, classes=3)
    model = IBoostTreesClassifier(**SMALL).partial_fit(X[:100], np.minimum(y[:100], 1))
    assert (model.test_then_train(X[100:], y[100:]) == y[100:])[100:].mean() > 0.6


@pytest.mark.parametrize(
    ("parameters", "words"), [({"delta": 1.0}, "delta=1.0"), ({"max_depth": 0}, "max_depth=0")]
)  # fmt: skip
def test_bad_parameters_get_a_sentence(river, parameters, words):
    with pytest.raises(BoostrunError, match=words):
        IBoostTreesClassifier(**parameters).fit(*jumps(30, 30))


@pytest.mark.slow
@parametrize_with_checks([IBoostTreesClassifier(**(SMALL | {"n_window": 20}))])
def test_scikit_learns_checks(river, estimator, check):
    check(estimator)
