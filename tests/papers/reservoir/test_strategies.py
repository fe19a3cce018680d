"""Strategies beyond the paper's: GEEM with a covariance over random trees, with the most probable best stump for its
target, and WSam that carries mass."""

import dataclasses
import itertools

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.conformance import batch
from boostrun.papers.reservoir.geem import GeemLikely, GeemTrees, covariance, likely_target
from boostrun.papers.reservoir.kernels import shared_leaves
from boostrun.papers.reservoir.strategies import Batch, WSam, WSamMass
from tests.papers.reservoir.test_trees import TREES, board


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


def test_weights_that_are_all_zero_leave_a_choice_and_a_shared_reservoir_is_a_sentence():
    at_hand = dataclasses.replace(drawn(8, 0), weights=np.zeros(8))
    kept, weights = GeemLikely()(at_hand, 4, np.random.default_rng(0))
    assert len(kept) == 4 and not weights.any()
    x = np.random.default_rng(0).random((60, 3))
    with pytest.raises(BoostrunError, match="geem_likely cannot share a reservoir"):
        ReservoirClassifier("geem_likely", shared=True, reservoir_size=10, n_estimators=2).fit(x, np.arange(60) % 3)


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
