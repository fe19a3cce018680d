"""GEEM with the most probable best stump for its target: what is aimed at, and what is kept for it."""

import dataclasses
import itertools

import numpy as np
import pytest

from boostrun import ReservoirClassifier
from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.geem import GeemLikely, covariance, likely_target
from boostrun.papers.reservoir.strategies import Batch


def batch(n, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 9, (n, 6), dtype=np.uint8)
    return Batch(codes, np.where(rng.random(n) < 0.5, -1.0, 1.0), rng.random(n), np.zeros(n, int))


def sigma_of(at_hand, ridge):
    return covariance(at_hand.samples, at_hand.labels, ridge)


def test_the_target_is_where_the_density_of_the_best_of_many_gaussians_is_largest():
    at_hand = batch(5, 0)
    sigma, weights = sigma_of(at_hand, 0.3), at_hand.weights
    found = likely_target(np.asfortranarray(np.linalg.inv(np.linalg.cholesky(sigma))), weights)
    assert np.allclose(found, sigma @ weights / np.abs(sigma @ weights).mean())
    draws = np.random.default_rng(1).multivariate_normal(np.zeros(5), sigma, (1000, 60))
    best = draws[np.arange(1000), (draws @ weights).argmax(axis=1)].mean(axis=0)  # its mean lies there as well
    assert np.corrcoef(best, found)[0, 1] > 0.98


def test_one_sample_is_dropped_so_that_those_kept_explain_the_edge_best():
    for seed in range(20):
        at_hand = batch(6, seed)
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
    at_hand = dataclasses.replace(batch(8, 0), weights=np.zeros(8))
    kept, weights = GeemLikely()(at_hand, 4, np.random.default_rng(0))
    assert len(kept) == 4 and not weights.any()
    x = np.random.default_rng(0).random((60, 3))
    with pytest.raises(BoostrunError, match="geem_likely cannot share a reservoir"):
        ReservoirClassifier("geem_likely", shared=True, reservoir_size=10, n_estimators=2).fit(x, np.arange(60) % 3)
