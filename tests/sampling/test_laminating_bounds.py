"""The lemma of laminating against simulated rounds, and the constant that it cannot have."""

import numpy as np
import pytest
from scipy.stats import binom

from tests.reference.laminating_bounds import ROUNDS, failure, round_failure

RUNS = 3000


def share_of_failures(q, samples, delta, shared, rng):
    """How often all survivors of a round are worse than the best of q learners by delta; half of them survive."""
    edges = np.full(q, -delta / 2)
    edges[0] = delta / 2
    if shared:  # every learner judges the same samples
        draws = rng.random((RUNS, 1, samples)).repeat(q, axis=1)
        shift = rng.random((1, q, 1))
        draws = (draws + shift) % 1.0  # as dependent as can be, and each uniform
        products = np.where(draws < (1 + edges[None, :, None]) / 2, 1.0, -1.0)
        estimates = products.mean(axis=2)
    else:
        estimates = 2 * rng.binomial(samples, (1 + edges) / 2, (RUNS, q)) / samples - 1
    kept = np.argsort(-estimates - 1e-9 * rng.random((RUNS, q)), axis=1)[:, : q // 2]
    return (kept != 0).all(axis=1).mean()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("q", "samples", "delta"), [
    (2, 20, 1.0), (2, 100, 0.6), (8, 40, 0.8), (8, 100, 0.6), (32, 60, 0.8), (16, 60, 0.7), (32, 150, 0.45),
])  # fmt: skip
def test_a_round_fails_no_more_often_than_the_lemma_says(q, samples, delta, shared):
    bound = round_failure(delta, samples)
    found = share_of_failures(q, samples, delta, shared, np.random.default_rng(q + samples))
    assert found <= bound + 4 * np.sqrt(bound * max(1 - bound, 0) / RUNS)


def test_the_lemma_cannot_have_the_constant_of_variables_of_range_1():
    """Two independent learners with edges +-0.25 on 80 samples: exact binomials."""
    right = np.arange(81)
    worse_wins = (binom.pmf(right, 80, 0.625) * binom.sf(right, 80, 0.375)).sum()
    assert worse_wins == pytest.approx(4.9e-4, rel=0.02)
    assert round_failure(0.5, 80, scope=1.0) == pytest.approx(1.8e-4, rel=0.02) and worse_wins > 1.8e-4
    assert worse_wins < round_failure(0.5, 80)


def test_the_theorem_sums_the_rounds():
    assert pytest.approx(5.86198, abs=1e-5) == ROUNDS
    delta, samples = 0.4, 20_000
    parts = [delta * np.sqrt(k / 2.0 ** (k - 1)) / ROUNDS for k in range(1, 60)]
    rounds = [round_failure(part, 2.0 ** (k - 1) * samples) for k, part in enumerate(parts, 1)]
    assert sum(parts) == pytest.approx(delta) and sum(rounds) == pytest.approx(failure(delta, samples))
    assert failure(delta, samples) > failure(delta, samples, scope=1.0) > 0
