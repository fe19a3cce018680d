"""Trees as what is boosted: in a reservoir, on all data, averaged, binned; and strategies beyond the paper's."""

import dataclasses
import itertools

import numpy as np
import pytest

from boostrun.config.fields import fields_of, kind_of
from boostrun.errors import BoostrunError
from boostrun.methods.stumps import StumpLearner
from boostrun.methods.tree import ColumnTrees, Growth, TreeEnsemble, TreeLearner, leaf_values
from boostrun.methods.weak_learner import LOSSES
from boostrun.papers.reservoir.classifier import ActiveReservoirClassifier, Reservoir, ReservoirClassifier, log_odds
from boostrun.papers.reservoir.conformance import batch
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from boostrun.papers.reservoir.geem import Geem, GeemLikely, GeemMean, GeemTrees, covariance, likely_target, objective
from boostrun.papers.reservoir.kernels import shared_leaves
from boostrun.papers.reservoir.keys import FullDataKeys
from boostrun.papers.reservoir.strategies import Batch, WSam, WSamMass
from boostrun.papers.reservoir.variants import BudgetedReservoirClassifier, SplitReservoirClassifier

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


def test_the_covariance_is_the_share_of_trees_with_a_leaf_in_common():
    rng = np.random.default_rng(0)
    leaves, labels = rng.integers(0, 4, (9, 20)).astype(np.uint8), rng.choice([-1.0, 1.0], 9)
    sigma = np.zeros((9, 9))
    shared_leaves(leaves, labels, 0.5, sigma)
    share = (leaves[:, None] == leaves).mean(axis=2)
    np.testing.assert_allclose(sigma, np.triu(np.outer(labels, labels) * share + 0.5 * np.eye(9)), atol=1e-15)


def test_a_sample_that_is_another_over_again_goes_first():
    given = batch(n=10)
    given.samples[7] = given.samples[2]
    given.labels[:], given.weights[:] = 1.0, 1.0
    kept, weights = GeemTrees(ridge=0.01, covariance_trees=500)(given, 9, np.random.default_rng(0))
    assert len({2, 7} & {*kept.tolist()}) == 1 and weights.sum() == pytest.approx(10.0, abs=0.5)


def test_samples_that_are_all_alike_are_kept_by_their_weights():
    given = batch()
    given.samples[:] = 7
    kept, weights = GeemTrees()(given, 16, np.random.default_rng(0))
    assert len(kept) == 16 and np.isfinite(weights).all()


def test_it_is_a_strategy_by_its_name():
    X, y = board(900)
    model = ReservoirClassifier("geem_trees", **TREES).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.7


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 9, (n, 6), dtype=np.uint8)
    return Batch(codes, np.where(rng.random(n) < 0.5, -1.0, 1.0), rng.random(n), np.zeros(n, int))


def sigma_of(at_hand, ridge):
    return covariance(at_hand.samples, at_hand.labels, ridge)


def test_the_target_is_where_the_density_of_the_best_of_many_gaussians_is_largest():
    at_hand = drawn(5, 0)
    sigma, weights = sigma_of(at_hand, 0.3), at_hand.weights
    found = likely_target(np.asfortranarray(np.linalg.inv(np.linalg.cholesky(sigma))), weights)
    assert np.allclose(found, sigma @ weights / np.abs(sigma @ weights).mean())
    draws = np.random.default_rng(1).multivariate_normal(np.zeros(5), sigma, (1000, 60))
    best = draws[np.arange(1000), (draws @ weights).argmax(axis=1)].mean(axis=0)  # its mean lies there as well
    assert np.corrcoef(best, found)[0, 1] > 0.98


def test_one_sample_is_dropped_so_that_those_kept_explain_the_edge_best():
    for seed in range(20):
        at_hand = drawn(6, seed)
        kept, weights = GeemLikely(ridge=0.5, covariance_dims="all")(at_hand, 5, np.random.default_rng(0))
        sigma = sigma_of(at_hand, 0.5)

        def explained(chosen, sigma=sigma, at_hand=at_hand):
            inside = np.ix_(chosen, chosen)
            corrected = np.linalg.solve(sigma[inside], sigma[chosen] @ at_hand.weights)
            return corrected @ sigma[inside] @ corrected, corrected

        choices = [np.array(one) for one in itertools.combinations(range(6), 5)]
        best = max(choices, key=lambda chosen: explained(chosen)[0])
        assert kept.tolist() == best.tolist() and np.allclose(weights, explained(best)[1])


@pytest.mark.parametrize("seed", range(5))
def test_with_an_unknown_mean_the_weights_are_those_of_universal_kriging_and_sum_to_all(seed):
    at_hand, rng = drawn(40, seed), np.random.default_rng(0)
    whole = at_hand.weights.sum()
    kept, weights = GeemMean(ridge=0.5, covariance_dims="all")(at_hand, 20, rng)
    sigma = sigma_of(at_hand, 0.5)
    known = np.linalg.inv(sigma[np.ix_(kept, kept)])
    plain = objective(sigma, at_hand.weights, np.ones(40), kept)[1]
    kriged = plain + known.sum(axis=1) * (whole - plain.sum()) / known.sum()  # the limit of a large variance
    assert np.allclose(weights, kriged, atol=1e-3 * whole / 20) and abs(weights.sum() / whole - 1.0) < 1e-3
    assert abs(Geem(ridge=0.5, covariance_dims="all")(at_hand, 20, rng)[1].sum() / whole - 1.0) > 0.05


@pytest.mark.parametrize("strategy", [GeemLikely(), GeemMean()])
def test_weights_that_are_all_zero_leave_a_choice_and_a_shared_reservoir_is_a_sentence(strategy):
    at_hand = dataclasses.replace(drawn(8, 0), weights=np.zeros(8))
    kept, weights = strategy(at_hand, 4, np.random.default_rng(0))
    assert len(kept) == 4 and not weights.any()
    x = np.random.default_rng(0).random((60, 3))
    with pytest.raises(BoostrunError, match=r"geem_\w+ cannot share a reservoir"):
        ReservoirClassifier(strategy, shared=True, reservoir_size=10, n_estimators=2).fit(x, np.arange(60) % 3)


def test_it_keeps_what_wsam_keeps_and_all_of_the_weight():
    for seed in range(20):
        at_hand = Batch(np.zeros((30, 1)), np.ones(30), np.random.default_rng(seed).random(30), np.zeros(30, int))
        kept, weights = WSamMass()(at_hand, 10, np.random.default_rng(seed))
        wanted, _ = WSam()(at_hand, 10, np.random.default_rng(seed))
        assert kept.tolist() == wanted.tolist()
        assert np.ptp(weights) == 0.0 and np.isclose(weights.sum(), at_hand.weights.sum())


def test_masses_are_those_of_importance_sampling_and_add_up_to_r():
    x = np.random.default_rng(0).random((400, 3))
    model = ReservoirClassifier(
        "wsam_mass", reservoir_size=20, n_estimators=1, shrinkage=1.0, random_state=0, warm_start=True
    ).fit(x, x[:, 0] > 0.3)
    (reservoir, _, _) = model._problems[0]
    assert np.isclose(reservoir.masses.sum(), 40.0)  # those of the fresh ones are 1
    model.set_params(n_estimators=30).fit(x, x[:, 0] > 0.3)
    old = reservoir.arrived < reservoir.arrived.max()
    assert np.isclose(reservoir.masses[old].sum(), 20.0)
    margins = (reservoir.labels * reservoir.scores)[old]
    assert reservoir.masses[old][margins > 1.0].mean() > reservoir.masses[old][margins < 0.0].mean()
