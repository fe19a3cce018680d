"""GEEM with a covariance over random trees."""

import numpy as np
import pytest

from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.conformance import batch
from boostrun.papers.reservoir.geem import GeemTrees
from boostrun.papers.reservoir.kernels import shared_leaves
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
