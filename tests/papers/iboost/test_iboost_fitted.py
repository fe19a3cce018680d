"""IBoost of Hoeffding trees, of logistic regressions and of objects; Hoeffding adaptive trees."""

import itertools
import pickle

import numpy as np
import pytest

from boostrun import IBoostFittedClassifier, IBoostTreesClassifier
from boostrun.errors import BoostrunError
from boostrun.kernels import hoeffding
from boostrun.papers.iboost.baselines import HoeffdingTreeClassifier
from boostrun.papers.iboost.kernels.adaptive_tree import ADDED, DROPPED, TAKEN
from tests.papers.iboost.learners import TreeAsked, jumps, small_tree
from tests.reference.adaptive_tree import AdaptiveTree
from tests.reference.hoeffding import Tree
from tests.reference.iboost import IBoost
from tests.reference.iboost_mm import IBoostMM

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do
SMALL = {"n_window": 40, "budget": 4, "period": 10, "n_steps": 2}
TREES = SMALL | {"grace_period": 10, "split_delta": 0.5}
KINDS = [
    (IBoostTreesClassifier, TREES), (IBoostFittedClassifier, SMALL),
    (IBoostFittedClassifier, SMALL | {"base": small_tree()}),
]  # fmt: skip
every_kind = pytest.mark.parametrize(("kind", "keys"), KINDS, ids=["trees", "regressions", "objects"])
several = pytest.mark.parametrize("classes", [2, 4])


def trees_of(twin):
    """``twin``, an IBoost, with Hoeffding trees in place of stumps: its window passes them, oldest first."""

    class OfTrees(twin):
        def fit(self, X, y, w, n_classes):
            tree = Tree(X.shape[1], "nba", 10, 0.5, 0.05, 5)
            for i in (self.seen + np.arange(self.n)) % self.n:
                tree.learn(X[i], y[i], self.n * w[i])
            return None, lambda Z: np.array([tree.answer(x) for x in Z], int)

    return OfTrees


@several
@pytest.mark.parametrize("keys", [{}, {"update": "batch"}])
def test_the_kernel_of_trees_is_its_twin(classes, keys):
    """Same predictions, same trees, same coefficients, through changes of concept."""
    X, y = jumps(160, 60, classes=classes)
    eta = 1e-3 if keys else 3e-3 if classes == 2 else 1e-2
    twin = trees_of(IBoost if classes == 2 else IBoostMM)(
        40, 4, 10, 2, classes, batch=bool(keys), eta=eta, eps_min=0.05, fit=None
    )  # fmt: skip
    del twin.fit  # the instance's, None
    twin.p = 10
    model = IBoostTreesClassifier(**TREES, eps_min=0.05, **keys)
    expected = [twin.learn(x, t) for x, t in zip(X, y)]
    assert (model.test_then_train(X, y, classes=range(classes)) == expected).all()
    assert len(twin.removed) == model.n_removed_negative_ + model.n_removed_budget_ > 0
    assert [born for _, born, _ in twin.members] == model._state.born[: len(twin.members)].tolist()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)


@several
@pytest.mark.parametrize("update", ["stochastic", "batch"])
def test_objects_are_followed_as_compiled_trees_are(classes, update):
    """Same answers, same coefficients, through changes of concept, however the stream is cut."""
    X, y = jumps(300, 60, classes=classes)
    keys = SMALL | {"eps_min": 0.05, "update": update}
    trees = IBoostTreesClassifier(grace_period=10, split_delta=0.5, **keys)
    objects = IBoostFittedClassifier(base=TreeAsked(classes, hoeffding.Rules(10.0, 0.5, max_depth=5)), **keys)
    expected = trees.test_then_train(X, y, classes=range(classes))
    said = [
        objects.test_then_train(X[first:last], y[first:last], classes=range(classes))
        for first, last in itertools.pairwise([0, 3, 39, 40, 57, 190, 300])
    ]
    np.testing.assert_array_equal(np.concatenate(said), expected)
    np.testing.assert_array_equal(objects.betas_, trees.betas_)
    np.testing.assert_array_equal(objects.decision_function(X), trees.decision_function(X))
    assert objects.n_removed_negative_ + objects.n_removed_budget_ > 0


@pytest.mark.parametrize("leaf", ["nba", "mc"])
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_kept_of_growing_trees_is_what_they_say(leaf, classes):
    """After an addition: the window, every tree's answers, the margins."""
    X, y = jumps(160, 60, classes=classes)
    model = IBoostTreesClassifier(**TREES, grow=True, leaf=leaf).partial_fit(X, y, classes=range(classes))
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
    held = model.answers_on(X[:50])
    model.partial_fit(X[:30], y[:30])
    assert (held() == model.predict(X[:50])).all()


@several
@every_kind
def test_a_hold_out_is_predicted_as_by_the_learner_itself(kind, keys, classes):
    X, y = jumps(200, 60, classes=classes)
    model, held = kind(**keys), None
    for first in range(0, 200, 20):
        model.partial_fit(X[first : first + 20], y[first : first + 20], classes=range(classes))
        held = held or model.answers_on(X[:70])
        assert (held() == model.predict(X[:70])).all()
        assert (model.predict(X[:70]) == model.predict_proba(X[:70]).argmax(axis=1)).all()
    assert len(held._said) == len(model.betas_) < model.n_added_


@several
@pytest.mark.parametrize(
    ("kind", "keys"), [(IBoostTreesClassifier, TREES | {"grow": True}), (IBoostFittedClassifier, SMALL)]
)
def test_a_saved_learner_goes_on_where_it_was(kind, keys, classes, tmp_path):
    X, y = jumps(300, 60, classes=classes)
    model = kind(**keys).partial_fit(X[:150], y[:150], classes=range(classes))
    loaded = kind.load(model.save(tmp_path / "model"))
    assert (loaded.test_then_train(X[150:], y[150:]) == model.test_then_train(X[150:], y[150:])).all()
    assert (loaded.betas_ == model.betas_).all()


def test_objects_are_pickled_and_are_not_saved(tmp_path):
    X, y = jumps(200, 60)
    model = IBoostFittedClassifier(base=small_tree(), **SMALL).partial_fit(X[:150], y[:150])
    copied = pickle.loads(pickle.dumps(model))
    assert (copied.test_then_train(X[150:], y[150:]) == model.test_then_train(X[150:], y[150:])).all()
    with pytest.raises(BoostrunError, match="cannot be saved: its _fitted is a FittedObjects"):
        model.save(tmp_path / "model")


@pytest.mark.parametrize("labels", [lambda X: X[:, 3] > 5, lambda X: np.digitize(X[:, 3], [3, 6])])
def test_the_feature_that_decides_is_the_important_one_and_there_may_be_fewer_features_than_trees(labels):
    X = np.random.default_rng(0).uniform(0, 10, (800, 4))
    model = IBoostTreesClassifier(n_window=100, budget=9, period=20)
    model.test_then_train(X, labels(X).astype(int))
    found = model.feature_importances_
    assert found.shape == (4,) and np.isclose(found.sum(), 1.0) and found[3] > 0.8


ADAPTIVE = {"grace_period": 20, "delta": 0.1, "tie": 0.3, "adaptive": True, "drift_delta": 0.3, "switch_after": 30}


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
    model = HoeffdingTreeClassifier(**ADAPTIVE)
    assert (model.test_then_train(X, y, classes=range(classes)) == expected).all()
    assert model.learners_.watched.counts[TAKEN] == twin.taken > 0


@pytest.mark.parametrize("classes", [2, 3])
def test_chunks_and_a_file_in_between_make_no_difference(classes, tmp_path):
    """With repeated enlargements, and alternates that begin, replace a split, or are deleted."""
    X, y = stream(4000, 300, classes)
    y = np.where(np.random.default_rng(1).random(4000) < 0.1, 0, y)
    whole, model = HoeffdingTreeClassifier(**ADAPTIVE), HoeffdingTreeClassifier(**ADAPTIVE)
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
