"""The edge to expect of the best candidate, the search for Q and S, Figure 1; the lemma of laminating, simulated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from boostrun.papers.adaptive.figures import ROUNDS, failure, round_failure, simulated_failures
from boostrun.papers.adaptive.policies.mas import (
    Mixtures,
    best_of_families,
    best_of_one_family,
    largest_of_normal,
    of_gaussian,
    of_mixtures,
    sample_sizes,
)
from tests.papers.adaptive.kernels.test_mixture import as_arrays, some_mixtures
from tests.reference import mixture as twin


def test_the_largest_of_normals_has_the_known_mean():
    known = {2: 0.56419, 10: 1.53875, 100: 2.50759, 1000: 3.24144, 10000: 3.85162}
    np.testing.assert_allclose(largest_of_normal(list(known)), list(known.values()), atol=6e-6)
    assert largest_of_normal(1) == pytest.approx(0.0, abs=1e-12)


@given(st.floats(-0.2, 0.5), st.floats(1e-5, 1e-2), st.floats(1e-6, 1e-1), st.integers(1, 10_000))
@settings(max_examples=30, deadline=None)
def test_the_closed_form_for_a_gaussian_is_the_integral(mean, variance, noise, q):
    gaussian = Mixtures(np.ones((1, 1)), np.full((1, 1), mean), np.full((1, 1), variance))
    exact = of_gaussian(q, noise, mean, variance)
    assert of_mixtures(gaussian, [[q]], [noise])[0, 0] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(("variance", "optima"), [
    (1e-2, {1e3: (13, 77, 0.1100), 1e4: (52, 192, 0.1837), 1e5: (286, 350, 0.2524)}),
    (1e-4, {1e3: (5, 200, 0.00163), 1e4: (6, 1667, 0.00479), 1e5: (13, 7692, 0.01100)}),
])  # fmt: skip
def test_the_optima_of_figure_1(variance, optima):
    """(Q*, S*, E*) of section 7; near 286 the curve is flat to 4e-7."""
    counts = np.arange(1, 10_001)
    for cost, (q, samples, edge) in optima.items():
        expected = of_gaussian(counts, counts / cost, 0.0, variance)
        best = int(counts[expected.argmax()])
        assert best == pytest.approx(q, abs=2) and cost / best == pytest.approx(samples, rel=0.01)
        assert expected.max() == pytest.approx(edge, abs=6e-5 if variance == 1e-2 else 6e-6)
        assert expected[q - 1] == pytest.approx(expected.max(), abs=1e-6)


def test_one_family_is_the_single_formula_and_equal_families_are_pooled():
    gaussian = [(np.ones(1), np.array([0.1]), np.array([9e-4]))]  # more candidates are always better
    single = of_mixtures(as_arrays(gaussian), [[12]], [1e-3])[0, 0]
    for families in (1, 3):
        plan = best_of_families(as_arrays(gaussian * families), [50] * families, 1.0, 12_000, np.array([1000]))
        assert plan.counts.sum() == 12 and plan.expected == pytest.approx(single, abs=1e-6)


@given(st.integers(1, 10**5), st.floats(1.1, 3.0), st.integers(1, 10**6))
@settings(max_examples=60, deadline=None)
def test_sizes_to_try_grow_from_the_least_to_at_most_the_most(least, ratio, most):
    sizes = sample_sizes(least, ratio, most)
    assert sizes[0] == min(least, most) and sizes[-1] <= most and (np.diff(sizes) >= 0).all()
    if most > least:
        assert sizes[-1] * ratio > most - ratio
        np.testing.assert_allclose(sizes[1:] / sizes[:-1], ratio, atol=2 / least)


def test_the_grid_of_the_specification():
    assert len(sample_sizes(32, 1.41421356, 60_000)) == 22 and sample_sizes(32, 2.0, 60_000)[-1] == 32768
    assert (sample_sizes(32, 2**0.5, 20) == [20]).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_best_family_q_and_s_are_those_of_a_search_by_hand(seed):
    rng = np.random.default_rng(seed)
    mixtures, sizes, samples = some_mixtures(rng, 3), np.array([10, 1000, 60]), sample_sizes(32, 2.0, 3000)
    plan = best_of_one_family(as_arrays(mixtures), sizes, 0.5, 20_000, samples)
    by_hand = {
        (k, s): twin.expected_edge([mixtures[k]], [min(20_000 // s, sizes[k])], 0.5 / s)
        for k in range(3) for s in samples
    }  # fmt: skip
    k, s = max(by_hand, key=by_hand.get)
    assert plan.expected == pytest.approx(by_hand[k, s], abs=1e-6)
    assert by_hand[int(plan.counts.argmax()), plan.size] == pytest.approx(by_hand[k, s], abs=1e-6)
    assert np.count_nonzero(plan.counts) == 1 and plan.counts.sum() * plan.size <= 20_000


@given(st.integers(0, 10**6), st.integers(33, 50_000), st.floats(0.05, 1.0))
@settings(max_examples=25, deadline=None)
def test_no_plan_costs_more_than_the_budget_or_asks_for_more_than_there_is(seed, budget, kappa):
    rng = np.random.default_rng(seed)
    mixtures, sizes = as_arrays(some_mixtures(rng, 4)), rng.integers(1, 300, 4)
    samples = sample_sizes(32, 2.0, min(budget, 5000))
    one = best_of_one_family(mixtures, sizes, kappa, budget, samples)
    several = best_of_families(mixtures, sizes, kappa, budget, samples)
    for plan in (one, several):
        assert 0 < plan.counts.sum() * plan.size <= budget and (plan.counts <= sizes).all()
        value = twin.expected_edge(list(zip(*mixtures)), plan.counts, kappa / plan.size)
        assert plan.expected == pytest.approx(value, abs=2e-4)
    assert several.expected >= 0.95 * one.expected


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


@pytest.mark.slow
def test_the_report_prints_both_constants(workplace, command):
    code, out, _ = command("reproduce adaptive/bounds")
    page = (workplace / "results/adaptive/bounds/table.md").read_text()
    assert code == 0 and "274.9" in page and "68.7" in page and page in out
    assert "than range 2 allows: in 0 of 14 lines" in page
