"""Trees as what is boosted: in a reservoir, on all data, averaged, binned, saved."""

import numpy as np
import pytest

from boostrun.config.fields import fields_of, kind_of
from boostrun.errors import BoostrunError
from boostrun.methods.stumps import StumpLearner
from boostrun.methods.tree import ColumnTrees, Growth, TreeEnsemble, TreeLearner, leaf_values
from boostrun.methods.weak_learner import LOSSES
from boostrun.papers.reservoir.budgeted import BudgetedReservoirClassifier, SplitReservoirClassifier
from boostrun.papers.reservoir.classifier import ActiveReservoirClassifier, Reservoir, ReservoirClassifier, log_odds
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from boostrun.papers.reservoir.keys import FullDataKeys
from boostrun.papers.reservoir.strategies import WSam

METHODS = kind_of(fields_of(FullDataKeys)["method"]).choices
TREES = {"weak_learner": "tree", "reservoir_size": 100, "n_estimators": 12, "depth": 3, "random_state": 0}


def board(n=500, seed=0):
    """Two of three columns of codes make a chess board of 2 x 2 fields: no stump tells its colours apart."""
    X = np.random.default_rng(seed).integers(0, 256, (n, 3)).astype(np.uint8)
    return X, (X[:, 1] // 120 + X[:, 2] // 120) % 2


class Draws:
    """Samples drawn at random, with labels -1 and +1."""

    drawn = 0

    def draw(self, n):
        X, y = board(n, self.drawn)
        self.drawn += n
        return X, np.where(y, 1.0, -1.0)

    def release(self, n):
        """Nothing is counted."""


def test_scores_carried_along_are_those_of_the_ensemble_to_the_bit():
    learner = TreeLearner(depth=3)
    reservoir = Reservoir(Draws(), 30, 20, LOSSES["logistic"], learner)
    reservoir.boost(70, WSam(), log_odds, 0.3, np.random.default_rng(0))
    ensemble = learner.ensemble(reservoir.problems, None)
    np.testing.assert_array_equal(reservoir.scores, ensemble.decision(reservoir.samples)[0])
    assert all(step == 0.3 for _, step in reservoir.members.learners)


@pytest.mark.parametrize("model", [
    ReservoirClassifier("wsam", **TREES), ReservoirClassifier("geem", **TREES), ReservoirClassifier("max", **TREES),
    ReservoirClassifier("wsam", shared=True, **TREES), ReservoirClassifier("wsam", leaf_values="newton", **TREES),
    SplitReservoirClassifier("wsam", parts=2, **TREES), ActiveReservoirClassifier("wsam", **TREES),
    *(FullDataClassifier(method, **TREES) for method in METHODS),
], ids=lambda model: f"{type(model).__name__}-{getattr(model, 'method', model.__dict__.get('strategy'))}")  # fmt: skip
def test_trees_learn_a_chess_board_that_no_stump_knows(model):
    X, y = board(2000)
    model.fit(X[:1500], y[:1500])
    assert model.score(X[1500:], y[1500:]) > 0.7
    assert isinstance(model.ensemble_, TreeEnsemble) and model.ensemble_.depth == 3
    probabilities = model.predict_proba(X[1500:])
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(X[1500:])).all()


@pytest.mark.parametrize("method", METHODS)
def test_real_values_are_binned_and_thresholds_are_in_their_units(method):
    X, y = board()
    real = FullDataClassifier(method, **TREES).fit(X / 10.0 - 3.3, y)
    assert real.score(X / 10.0 - 3.3, y) > 0.6
    thresholds = real.ensemble_.thresholds
    assert thresholds[np.isfinite(thresholds)].max() < 22.3


def test_a_search_that_knows_all_samples_finds_what_one_that_is_handed_them_finds():
    X, y = board()
    signed = np.where(y, 0.5, -0.5) * np.random.default_rng(0).random(len(y))
    learner = TreeLearner(depth=4)
    tree, votes = learner.of_columns(np.ascontiguousarray(X.T))(signed)
    for one, other in zip(tree, learner.find_among(X, np.arange(len(X)), signed)):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(votes, tree(X))


def test_a_tree_of_depth_1_splits_where_the_mean_of_the_labels_tells_most():
    codes, signed = np.array([[0], [4], [9], [30]], np.uint8), np.array([-1.0, -1.0, 1.0, 1.0])
    tree, stump = TreeLearner(depth=1).find(codes, signed), StumpLearner().find(codes, signed)
    assert (tree.features[0], tree.thresholds[0]) == (stump.feature, stump.threshold) == (0, 7.0)


def test_a_leaf_says_half_the_log_odds_or_their_newton_step_and_nothing_without_weight():
    sums = np.array([[1, 7], [0, 0]])
    np.testing.assert_allclose(leaf_values(sums, 1.0, "log_odds"), [0.5 * np.log(4.0), 0.0])
    np.testing.assert_allclose(leaf_values(sums, 1.0, "newton"), [0.6, 0.0])
    assert not leaf_values(np.zeros((2, 2)), 0.0, "log_odds").any()
    _, votes = ColumnTrees(np.arange(3, dtype=np.uint8)[None], Growth())(np.zeros(3))
    assert not votes.any()


def test_both_sides_of_a_split_have_the_least_weight_asked_for():
    X, y = board(60)
    for least in (3.0, 10.0):
        tree, votes = ColumnTrees(np.ascontiguousarray(X.T), Growth(leaf_weight=least))(np.where(y, 1.0, -1.0))
        _, counts = np.unique(votes, return_counts=True)
        assert counts.min() >= least and len(counts) > 1 and np.isinf(tree.thresholds).any()


def test_averaging_trees_averages_scores():
    X, y = board()
    ensembles = [ReservoirClassifier("wsam", **TREES | {"random_state": s}).fit(X, y).ensemble_ for s in range(3)]
    expected = np.mean([ensemble.decision(X) for ensemble in ensembles], axis=0)
    average = TreeEnsemble.average(ensembles)
    np.testing.assert_allclose(average.decision(X), expected, rtol=1e-12, atol=1e-12)
    *_, last = average.staged_decision(np.ascontiguousarray(X.T), [3, 36])
    np.testing.assert_array_equal(last, average.decision(X))


def test_a_budget_of_features_refuses_trees():
    with pytest.raises(BoostrunError, match="weak_learner='stump' is needed"):
        BudgetedReservoirClassifier("wsam", weak_learner="tree").fit(*board(60))


@pytest.mark.parametrize(("key", "value"), [
    ("depth", 0), ("depth", 11), ("leaf_smoothing", 0.0), ("leaf_weight", -1.0), ("leaf_values", "mean"),
])  # fmt: skip
def test_keys_out_of_range_are_one_sentence(key, value):
    for kind in (ReservoirClassifier, FullDataClassifier):
        with pytest.raises(BoostrunError, match=f"{key}="):
            kind(**{"weak_learner": "tree", key: value}).fit(*board(60))


def test_values_that_are_no_codes_are_refused():
    with pytest.raises(BoostrunError, match="trees are grown on codes, uint8, not on float64"):
        TreeLearner().find(np.zeros((3, 1)), np.ones(3))
