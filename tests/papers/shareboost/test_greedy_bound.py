"""The theorem's bound on synthetic sets: the competitor that uses most of it is found, and none uses more."""

import numpy as np
import pytest

from boostrun.papers.shareboost import theory
from boostrun.papers.shareboost.inner import loss_and_residuals


@pytest.fixture(scope="module")
def small():
    one = theory.make_problem(2)  # of few features and classes
    return one, theory.measure(one, rounds=6)


def test_no_w_uses_more_of_the_allowance_than_the_largest_share_found(small):
    one, found = small
    assert 0.0 < found.share <= found.share_of_any < 1.0
    rng, rounds = np.random.default_rng(0), np.arange(1, 7)
    for _ in range(200):
        weights = one.truth * rng.uniform(0.1, 8.0) + rng.normal(scale=0.1, size=one.truth.shape) * rng.integers(0, 2)
        excess = found.losses - loss_and_residuals(one.x @ weights, one.y)[0]
        size = np.abs(weights).max(axis=1).sum()
        assert (excess <= 1.05 * found.share_of_any * 4.0 * size**2 / rounds).all()  # the path has a few points


def test_rounds_to_twice_the_loss_are_those_of_the_losses(small):
    _, found = small
    assert found.losses[found.rounds - 1] <= 2.0 * found.competitor
    assert found.rounds == 1 or found.losses[found.rounds - 2] > 2.0 * found.competitor
    assert found.allowed == pytest.approx(4.0 * found.size**2 / found.competitor)


def test_a_problem_is_its_seeds_alone_and_lies_in_the_cube():
    one, again, other = (theory.make_problem(seed) for seed in (3, 3, 4))
    assert (one.x == again.x).all() and one.x.shape != other.x.shape
    assert np.abs(one.x).max() <= 1.0 and set(one.y.tolist()) <= set(range(one.truth.shape[1]))
