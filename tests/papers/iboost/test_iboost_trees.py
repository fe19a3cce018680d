"""IBoost of compiled Hoeffding trees."""

import numpy as np
import pytest

from boostrun import IBoostClassifier, IBoostTreesClassifier
from boostrun.errors import BoostrunError
from boostrun.kernels import hoeffding
from tests.papers.iboost.test_iboost_adwin import jumps
from tests.reference.hoeffding import Tree
from tests.reference.iboost import IBoost
from tests.reference.iboost_mm import IBoostMM

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do
SMALL = {"n_window": 40, "budget": 4, "period": 10, "n_steps": 2, "grace_period": 10, "split_delta": 0.5}


@pytest.mark.parametrize("labels", [lambda X: X[:, 3] > 5, lambda X: np.digitize(X[:, 3], [3, 6])])
def test_the_feature_that_decides_is_the_important_one_and_there_may_be_fewer_features_than_trees(labels):
    X = np.random.default_rng(0).uniform(0, 10, (800, 4))
    model = IBoostTreesClassifier(n_window=100, budget=9, period=20)
    model.test_then_train(X, labels(X).astype(int))
    found = model.feature_importances_
    assert found.shape == (4,) and np.isclose(found.sum(), 1.0) and found[3] > 0.8


def trees_of(twin):
    """``twin``, an IBoost, with Hoeffding trees in place of stumps: its window passes them, oldest first."""

    class OfTrees(twin):
        def fit(self, X, y, w, n_classes):
            tree = Tree(X.shape[1], "nba", 10, 0.5, 0.05, 5)
            for i in (self.seen + np.arange(self.n)) % self.n:
                tree.learn(X[i], y[i], self.n * w[i])
            return None, lambda Z: np.array([tree.answer(x) for x in Z], int)

    return OfTrees


@pytest.mark.parametrize("classes", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("keys", [{}, pytest.param({"update": "batch"}, marks=pytest.mark.slow)])
def test_the_kernel_is_its_twin(classes, keys):
    """Same predictions, same trees, same coefficients, through changes of concept."""
    X, y = jumps(160, 60, classes=classes)
    eta = 1e-3 if keys else 3e-3 if classes == 2 else 1e-2
    twin = trees_of(IBoost if classes == 2 else IBoostMM)(
        40, 4, 10, 2, classes, batch=bool(keys), eta=eta, eps_min=0.05, fit=None
    )  # fmt: skip
    del twin.fit  # the instance's, None
    twin.p = 10
    model = IBoostTreesClassifier(**SMALL, eps_min=0.05, **keys)
    expected = [twin.learn(x, t) for x, t in zip(X, y)]
    assert (model.test_then_train(X, y, classes=range(classes)) == expected).all()
    assert len(twin.removed) == model.n_removed_negative_ + model.n_removed_budget_ > 0
    assert [born for _, born, _ in twin.members] == model._state.born[: len(twin.members)].tolist()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)


@pytest.mark.parametrize("keys", [{"grow": True}, pytest.param({"leaf": "mc", "grow": True}, marks=pytest.mark.slow)])
@pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_what_is_kept_of_the_trees_is_what_they_say(keys, classes):
    """After an addition: the window, every tree's answers, the margins."""
    X, y = jumps(160, 60, classes=classes)
    model = IBoostTreesClassifier(**SMALL, **keys).partial_fit(X, y, classes=range(classes))
    state, m, rules = model._state, len(model.betas_), model._rules
    assert m == model.budget and (X[120:] == state.columns.T).all() and (state.labels == y[120:]).all()
    numbers = state.models[:m, 0].astype(int).tolist()
    assert len(set(numbers)) == m
    said = np.array([[hoeffding.answer(model._trees, j, x, rules) for x in X[120:]] for j in numbers])
    scores = model.decision_function(X[120:])
    if classes == 2:
        assert ((said == state.labels) == (state.right[:m] > 0)).all()
        np.testing.assert_allclose(state.margins, scores * np.where(state.labels == 1, 1, -1), rtol=1e-9, atol=1e-12)
    else:
        assert (said == state.said[:m]).all()
        np.testing.assert_allclose(state.votes, scores, rtol=1e-9, atol=1e-12)
    assert (model.predict(X) == (model.predict_proba(X).argmax(axis=1))).all()
    held = model.answers_on(X[:50])
    model.partial_fit(X[:30], y[:30])
    assert (held() == model.predict(X[:50])).all()


def test_a_hold_out_is_predicted_as_by_the_learner_itself():
    X, y = jumps(200, 60)
    model, held = IBoostTreesClassifier(**SMALL), None
    for first in range(0, 200, 20):
        model.partial_fit(X[first : first + 20], y[first : first + 20], classes=[0, 1])
        held = held or model.answers_on(X[:70])
        assert (held() == model.predict(X[:70])).all()
    assert len(held._said) == len(model.betas_) < model.n_added_


@pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_saved_learner_goes_on_where_it_was(classes, tmp_path):
    X, y = jumps(300, 60, classes=classes)
    model = IBoostTreesClassifier(**SMALL, grow=True).partial_fit(X[:150], y[:150], classes=range(classes))
    loaded = IBoostTreesClassifier.load(model.save(tmp_path / "model"))
    assert (loaded.test_then_train(X[150:], y[150:]) == model.test_then_train(X[150:], y[150:])).all()
    assert (loaded.betas_ == model.betas_).all()


@pytest.mark.parametrize(
    ("place", "value"), [("state__states.0.8", 5.0), ("state__states.0.8", 0.5), ("state__trees.1", 3)]
)
def test_a_damaged_file_gets_a_sentence(place, value, tmp_path):
    """A member that is no tree, half of one, and two trees with one root."""
    model = IBoostTreesClassifier(**SMALL).partial_fit(*jumps(150, 60), classes=[0, 1])
    path = model.save(tmp_path / "model")
    arrays = dict(np.load(path))
    arrays[place] = arrays[place].copy()
    arrays[place].flat[0] = value if place.endswith("8") else arrays[place].flat[value]
    np.savez(path, **arrays)
    with pytest.raises(BoostrunError, match=r"members|make no trees"):
        IBoostTreesClassifier.load(path)


@pytest.mark.slow
def test_trees_learn_a_rule_that_one_stump_cannot():
    """Exclusive or: no stump is better than chance, whatever their number."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (800, 2))
    y = ((X[:, 0] > 0) != (X[:, 1] > 0.3)).astype(int)
    trees = IBoostTreesClassifier(200, 10, 20, grace_period=10, split_delta=0.9).fit(X, y)
    stumps = IBoostClassifier(200, 10, 20).fit(X, y)
    accuracies = [(model.predict(X[400:]) == y[400:]).mean() for model in (trees, stumps)]
    assert accuracies[0] > accuracies[1] + 0.1


@pytest.mark.slow
def test_a_class_that_comes_later_is_learnt():
    X, y = jumps(300, 1000, classes=3)
    model = IBoostTreesClassifier(**SMALL).partial_fit(X[:100], np.minimum(y[:100], 1))
    assert (model.test_then_train(X[100:], y[100:]) == y[100:])[100:].mean() > 0.6


@pytest.mark.parametrize(
    ("parameters", "words"), [({"split_delta": 1.0}, "split_delta=1.0"), ({"max_depth": 0}, "max_depth=0")]
)  # fmt: skip
def test_bad_parameters_get_a_sentence(parameters, words):
    with pytest.raises(BoostrunError, match=words):
        IBoostTreesClassifier(**parameters).fit(*jumps(30, 30))
