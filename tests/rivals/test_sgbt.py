"""SGBT as a stream learner, and its compiled trees and steps against their plain twins."""

import math
import pickle

import numpy as np
import pytest

from boostrun import SGBTClassifier
from boostrun.rivals import histograms, sgbt
from boostrun.rivals import regression_trees as trees_of
from boostrun.rivals.regression_trees import RegressionTrees, TreeGrowth
from tests.marks import slow_after
from tests.reference import regression_trees as plain

pytestmark = pytest.mark.slow  # kernels that take long to compile

QUICK = {"budget": 6, "learning_rate": 0.2, "random_state": 0}


def moving(n, classes=2, seed=0):
    """A concept of so many classes that is another one in the second half."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 4))
    y = np.minimum((X[:, 0] * classes).astype(int), classes - 1)
    y[n // 2 :] = (y[n // 2 :] + 1) % classes
    return X, y


@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_model_goes_on_as_it_was_though_its_trees_have_grown(classes, tmp_path):
    X, y = moving(900, classes)
    model = SGBTClassifier(skip=3, **QUICK).partial_fit(X[:600], y[:600], classes=range(classes))
    again = SGBTClassifier.load(model.save(tmp_path / "model"))
    assert len(again._boosters[0].links) > 6 * len(again._boosters[0].roots)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.test_then_train(X[600:], y[600:]), model.test_then_train(X[600:], y[600:]))
    assert np.array_equal(again.decision_function(X), model.decision_function(X)) and again.n_splits_ == model.n_splits_


def test_a_third_class_leaves_the_first_two_as_they_were_and_is_learnt():
    X, y = moving(1200, 3)
    model = SGBTClassifier(**QUICK).partial_fit(X[:300], np.minimum(y[:300], 1))
    before, seen = model.decision_function(X), model.n_seen_
    model._grow(3)
    first, second, third = (model._scores(X)[k] for k in range(3))
    assert np.array_equal(second, np.where(before == np.nextafter(0.0, 1.0), 0.0, before)) and seen == 300
    assert np.array_equal(first, -second) and (third < np.maximum(first, second)).all()
    late = SGBTClassifier(**QUICK).partial_fit(X[:300], np.minimum(y[:300], 1))
    said = late.test_then_train(X[300:600], y[300:600])
    assert late.classes_.tolist() == [0, 1, 2] and (said == y[300:600])[150:].mean() > 0.8
    assert (late.predict_proba(X).argmax(axis=1) == late.predict(X)).all()


@pytest.mark.parametrize("keys", [{}, {"weights": "one"}, {"repeats": 10}, {"learning_rate": 1.0, "budget": 40}])
def test_no_stream_makes_a_score_that_is_no_number(keys):
    """Constant and huge features, one class for long, labels that say nothing."""
    rng = np.random.default_rng(1)
    X = np.column_stack([np.full(600, 7.0), rng.normal(size=600) * 1e300, rng.integers(0, 2, 600)])
    for y in (np.zeros(600, int), np.arange(600) % 2, (np.arange(600) > 500).astype(int)):
        model = SGBTClassifier(**{**QUICK, **keys}).partial_fit(X, y, classes=[0, 1])
        assert np.isfinite(model.decision_function(X)).all() and np.isfinite(model.predict_proba(X)).all()
    constant = SGBTClassifier(**QUICK).partial_fit(np.ones((700, 3)), np.arange(700) % 2)
    assert constant.n_splits_ == 0


def test_each_tree_looks_at_its_share_of_the_features():
    X, y = moving(50)
    for share, expected in ((0.75, 3), (0.1, 2), (1.0, 4)):
        columns = SGBTClassifier(feature_fraction=share, **QUICK).partial_fit(X, y)._boosters[0].columns
        assert columns.shape == (6, expected) and all(len(set(each)) == expected for each in columns.tolist())
    assert SGBTClassifier(**QUICK).partial_fit(X[:, :1], y)._boosters[0].columns.tolist() == [[0]] * 6


def test_a_feature_that_an_example_lacks_is_in_no_histogram():
    """And at a split on it the side with more examples is taken."""
    X, y = moving(300)
    model = SGBTClassifier(budget=2, feature_fraction=1.0, grace_period=150, random_state=0)
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist())):
        model.learn_one(dict(zip("abc", x)) if i % 3 == 0 else dict(zip("ab", x)), label)
        if i == 100:
            filled, bins = model._boosters[0].filled[0], model._boosters[0].bins[0]
            assert [bins[j, : filled[j], 1].sum() for j in range(3)] == [101.0, 101.0, 34.0]
    assert model.n_splits_ > 0 and sum(model.predict_proba_one({}).values()) == pytest.approx(1.0)


def test_one_example_in_skip_is_not_learnt():
    X, y = moving(2000)
    learnt = [SGBTClassifier(skip=skip, **QUICK).partial_fit(X, y)._boosters[0].targets[0, 0] for skip in (1, 2, 10)]
    assert learnt[0] == 2000 and abs(learnt[1] - 1000) < 100 and abs(learnt[2] - 1800) < 60


def test_trees_stop_at_their_leaves_and_take_no_more_memory():
    X, y = moving(3000)
    model = SGBTClassifier(max_leaves=4, **QUICK).partial_fit(X[:1500], y[:1500])
    size = len(pickle.dumps(model))
    assert abs(len(pickle.dumps(model.partial_fit(X[1500:], y[1500:]))) - size) < 0.5 * size
    assert model._boosters[0].leaves.max() <= 6  # with those of an alternate that has started


GROWTH = TreeGrowth(grace=20.0, delta=0.2, tie=0.1, alpha=0.005, threshold=2.0, max_leaves=9, inherit=False)


def drifting(n, d=4, seed=0, turns=3):
    """Values some of which come again, one column constant; labels turn round ``turns`` times."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, -1] = 3.0
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64)
    return X, y ^ (np.arange(n) * (turns + 1) // n % 2)


def compiled(X, y, columns, bins, settings):
    trees, scores, done = RegressionTrees.fresh(columns, bins), np.empty(len(X)), 0
    rng = np.random.default_rng(0)
    while (done := sgbt.boost(X, y, 1, trees, settings, rng, done, scores)) < len(X):
        trees = trees.with_room(len(trees.links) + 7, len(trees.bins) + 5)
    return trees, scores


def twins(X, y, columns, bins, settings):
    trees = [plain.Tree(each, bins, settings.growth._asdict()) for each in columns]
    scores = [
        plain.boost(trees, x, label, settings.rate, settings.by_hessian, settings.repeats)
        for x, label in zip(X.tolist(), y.tolist())
    ]
    return trees, np.array(scores)


@pytest.mark.parametrize(
    ("by_hessian", "repeats", "inherit", "absent"),
    slow_after(0, [(True, 1, False, 0.0), (False, 1, True, 0.0), (True, 10, False, 0.2), (True, 1, True, 0.2)]),
)
def test_boosted_trees_are_their_twins(by_hessian, repeats, inherit, absent):
    """Splits, alarms, replaced branches, leaves at most, and every score; with and without features that are absent."""
    X, y = drifting(800)
    X[np.random.default_rng(1).random(X.shape) < absent] = np.nan
    columns = np.array([[0, 1, 3], [0, 1, 2], [1, 2, 3]])
    settings = sgbt.BoostingSettings(0.3, 1, repeats, by_hessian, GROWTH._replace(inherit=inherit))
    trees, scores = compiled(X, y, columns, 6, settings)
    others, expected = twins(X, y, columns, 6, settings)
    for place, name in ((trees_of.SPLITS, "splits"), (trees_of.ALARMS, "alarms"), (trees_of.REPLACED, "replaced")):
        assert trees.counts[place] == sum(getattr(tree, name) for tree in others) > 0
    assert trees.leaves.tolist() == [tree.root.leaves() for tree in others]
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)


def test_what_is_given_back_is_used_again_and_nothing_is_lost():
    """Every node taken is in one tree, or free; so is every set of histograms."""
    X, y = drifting(3000, turns=8)
    trees, _ = compiled(X, y, np.array([[0, 1, 2], [0, 1, 2]]), 4, sgbt.BoostingSettings(0.3, 1, 10, True, GROWTH))
    found, open_ = [], trees.roots.tolist()
    while open_:
        node = open_.pop()
        found.append(node)
        if trees.links[node, trees_of.FEATURE] >= 0:
            below = trees.links[node, [trees_of.LEFT, trees_of.RIGHT, trees_of.ALTERNATE]]
            open_ += [each for each in below.tolist() if each >= 0]
    leaves = [node for node in found if trees.links[node, trees_of.FEATURE] == trees_of.LEAF]
    assert len(leaves) == trees.leaves.sum()
    free, node = [], trees.counts[trees_of.FREE_NODE]
    while node >= 0:
        free.append(node)
        node = trees.links[node, trees_of.NEXT]
    assert sorted(found + free) == list(range(trees.counts[trees_of.NODES]))
    assert trees.counts[trees_of.REPLACED] > 10
    slots, slot = trees.links[leaves, trees_of.OBSERVER].tolist(), trees.counts[trees_of.FREE_OBSERVER]
    while slot >= 0:
        slots.append(slot)
        slot = trees.filled[slot, 0]
    assert sorted(slots) == list(range(trees.counts[trees_of.OBSERVERS]))


def test_a_histogram_keeps_all_values_while_there_is_room_then_their_sums():
    rng = np.random.default_rng(1)
    for room in (3, 8, 64):
        bins, filled, twin = np.zeros((room, 4)), 0, plain.Histogram(room)
        values = np.round(rng.normal(size=60), 1)
        for x in values:
            g = rng.normal()
            filled = histograms.insert(bins, filled, x, 1.0, g, 0.25)
            twin.insert(x, 1.0, g, 0.25)
        np.testing.assert_allclose(bins[:filled], twin.bins, rtol=1e-12, atol=1e-14)
        assert filled == min(room, len(np.unique(values))) and (np.diff(bins[:filled, 0]) > 0).all()
        assert bins[:filled, 1].sum() == 60 and bins[:filled, 3].sum() == 15
        np.testing.assert_allclose(histograms.best_cut(bins, filled), twin.best_cut(), rtol=1e-9)


def test_the_gain_is_the_variance_that_the_cut_takes_away():
    """Of targets -g/h with weights h, times their sum."""
    rng = np.random.default_rng(2)
    x, g, h = np.arange(40.0), rng.normal(size=40) + (np.arange(40) > 22), rng.uniform(0.05, 0.25, 40)
    bins, filled = np.zeros((64, 4)), 0
    for one in zip(x, np.ones(40), g, h):
        filled = histograms.insert(bins, filled, *one)

    def scatter(part):
        target, weight = -g[part] / h[part], h[part]
        return weight @ (target - weight @ target / weight.sum()) ** 2

    gains = [scatter(x >= 0) - scatter(x <= cut) - scatter(x > cut) for cut in x[4:35]]
    gain, threshold, _, _ = histograms.best_cut(bins, filled)
    assert threshold == x[4 + int(np.argmax(gains))] + 0.5
    assert gain == pytest.approx(max(gains), rel=1e-9)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_gradient_and_hessian_are_those_of_the_logistic_loss(label):
    def loss(raw):
        return math.log1p(math.exp(-raw)) if label else math.log1p(math.exp(raw))

    for raw in (-4.0, -0.3, 0.0, 1.7, 5.0):
        g, h = sgbt.derivatives(raw, label)
        assert g == pytest.approx((loss(raw + 1e-5) - loss(raw - 1e-5)) / 2e-5, abs=1e-9)
        assert h == pytest.approx((loss(raw + 1e-3) - 2 * loss(raw) + loss(raw - 1e-3)) / 1e-6, abs=1e-6)
    for raw in (-1e4, 1e4):  # far out nothing overflows, and no target is infinite
        g, h = sgbt.derivatives(raw, label)
        assert h > 0 and math.isfinite(g / h)
