"""The lemma of laminating against simulated rounds, and the constant that it cannot have."""

import numpy as np
import pytest
from scipy.stats import binom

from boostrun.papers.adaptive.figures import ROUNDS, failure, round_failure, simulated_failures

RUNS = 3000


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("q", "samples", "delta"), [
    (2, 20, 1.0), (2, 100, 0.6), (8, 40, 0.8), (8, 100, 0.6), (32, 60, 0.8), (16, 60, 0.7), (32, 150, 0.45),
])  # fmt: skip
def test_a_round_fails_no_more_often_than_the_lemma_says(q, samples, delta, shared):
    bound = round_failure(delta, samples)
    found = simulated_failures(q, samples, delta, shared, RUNS, np.random.default_rng(q + samples))
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


def test_simulated_rounds_of_two_agree_with_exact_binomials():
    right = np.arange(21)
    lost = binom.pmf(right, 20, 0.6) * (binom.sf(right, 20, 0.4) + binom.pmf(right, 20, 0.4) / 2)
    found = simulated_failures(2, 20, 0.4, False, 20_000, np.random.default_rng(0))
    assert found == pytest.approx(lost.sum(), abs=4 * np.sqrt(lost.sum() / 20_000))


def test_the_report_prints_both_constants(workplace, command):
    code, out, _ = command("reproduce adaptive/bounds")
    page = (workplace / "results/adaptive/bounds/table.md").read_text()
    assert code == 0 and "274.9" in page and "68.7" in page and page in out
    assert "than range 2 allows: in 0 of 14 lines" in page
