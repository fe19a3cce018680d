"""Means, tests, marks and ranks, against scipy, enumeration and hand-made cases."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from boostrun.errors import BoostrunError
from boostrun.report.statistics import (
    Sampling,
    compare_methods,
    holm,
    interval,
    mean_std,
    paired,
    rank_methods,
    signed_rank,
    welch,
)

numbers = st.floats(-1000, 1000)
NAN = math.nan


@given(st.lists(numbers, min_size=2, max_size=12), st.randoms())
def test_mean_and_std_agree_with_numpy_and_the_order_of_values_changes_no_bit(values, random):
    mean, std = mean_std(values)
    assert mean == pytest.approx(np.mean(values), abs=1e-9)
    assert std == pytest.approx(np.std(values, ddof=1), abs=1e-9)
    assert repr(mean_std(values)) == repr(mean_std(random.sample(values, len(values))))


def test_means_of_few_and_equal_values_and_the_interval_of_a_t_test():
    assert mean_std([3.0])[0] == 3.0 and math.isnan(mean_std([3.0])[1])
    assert all(map(math.isnan, mean_std([])))
    assert mean_std([0.1] * 7) == (0.1, 0.0)
    values = np.random.default_rng(0).normal(1.0, 2.0, 7)
    mean, low, high = interval(values)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert mean == pytest.approx(values.mean()) and (low, high) == pytest.approx(tuple(expected))
    assert welch(1.0, 0.0, 5, 1.0, 0.0, 5) == 1.0 and welch(1.0, 0.0, 5, 2.0, 0.0, 5) == 0.0
    assert math.isnan(welch(1.0, NAN, 1, 2.0, 0.1, 10)) and math.isnan(welch(1.0, 0.1, 10, 2.0, NAN, 10))


@pytest.mark.parametrize("figures", [(84.3, 0.3, 10, 84.7, 0.3, 10), (1.0, 2.0, 3, 4.0, 0.1, 20), (5, 1, 2, 5, 1, 2)])
def test_welch_agrees_with_scipy(figures):
    expected = stats.ttest_ind_from_stats(*figures, equal_var=False).pvalue
    assert welch(*figures) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8))
def test_signed_rank_agrees_with_the_enumeration_of_all_signs(differences):
    kept = [d for d in differences if d]
    ranks = stats.rankdata([abs(d) for d in kept])
    observed = sum(rank for rank, d in zip(ranks, kept) if d > 0)
    sums = [sum(rank for rank, up in zip(ranks, signs) if up) for signs in itertools.product((0, 1), repeat=len(kept))]
    low, high = (sum(f(s) for s in sums) / len(sums) for f in (lambda s: s <= observed, lambda s: s >= observed))
    assert signed_rank(differences, [0] * len(differences)) == pytest.approx(min(1.0, 2 * min(low, high)))


def test_equal_groups_are_equal_and_too_few_methods_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert signed_rank([84.3] * 10, [84.3] * 10) == signed_rank([], []) == 1.0
    a, b = [84.31, 84.33, 84.35, 84.30], [84.29, 84.31, 84.33, 84.32]
    assert signed_rank(a, b) == signed_rank([2, 2, 2, 0], [0, 0, 0, 2])
    assert rank_methods({name: [1.0] * 5 for name in "abc"}, True).friedman_p == 1.0
    with pytest.raises(BoostrunError, match="3 methods and 5 blocks"):
        rank_methods({name: [1.0] * 4 for name in "abc"}, True)
    with pytest.raises(BoostrunError, match="not 2 and 9"):
        rank_methods({name: [1.0] * 9 for name in "ab"}, True)


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_agrees_with_the_closed_test_by_brute_force(p_values):
    # Holm is the closure of Bonferroni: a hypothesis falls with the worst Bonferroni p of all families that hold it.
    everyone = range(len(p_values))
    families = [f for size in range(1, len(p_values) + 1) for f in itertools.combinations(everyone, size)]
    worst = [max(min(1.0, len(f) * min(p_values[i] for i in f)) for f in families if one in f) for one in everyone]
    assert holm(p_values) == pytest.approx(worst)


# -- overlapping splits, and test rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.25, 1.0])
def test_the_corrected_t_test_is_nadeau_and_bengios_formula_and_its_interval_agrees(ratio):
    rng = np.random.default_rng(0)
    for k in (6, 10, 30):
        a, b = rng.normal(0.4, 1.0, k), rng.normal(0.0, 1.0, k)
        one = paired(dict(enumerate(a)), dict(enumerate(b)), Sampling(ratio))
        variance = sum((d - (a - b).mean()) ** 2 for d in a - b) / (k - 1)
        t = (a - b).mean() / math.sqrt((1 / k + ratio) * variance)
        assert one.p == pytest.approx(2 * stats.t(k - 1).sf(abs(t)))
        assert (one.p < 0.05) == (not one.low <= 0 <= one.high) and math.isnan(one.rows_p)
    same = dict.fromkeys(range(6), 1.0)
    assert [paired(same, other, Sampling(0.25)).p for other in (same, {s: v - 1 for s, v in same.items()})] == [1, 0]


def test_on_resplits_of_one_table_the_corrected_test_keeps_its_level_and_the_plain_ones_do_not():
    """Two methods that are equal on all tables: on each, one is better on the rows that it happens to hold."""
    rng, tables, wrong = np.random.default_rng(1), 400, {"plain": 0, "signed": 0, "corrected": 0}
    for _ in range(tables):
        rows = rng.choice([-1.0, 0.0, 1.0], 100, p=[0.1, 0.8, 0.1])
        values = {s: rng.permutation(rows)[:20].mean() for s in range(10)}  # differences on a fifth, ten times
        zeros = dict.fromkeys(values, 0.0)
        corrected, plain = (paired(values, zeros, Sampling(ratio)) for ratio in (0.25, 0.0))
        wrong["corrected"] += corrected.p < 0.05
        wrong["plain"] += not plain.low <= 0 <= plain.high
        wrong["signed"] += plain.p < 0.05
    assert 0.01 * tables < wrong["corrected"] < 0.08 * tables  # 4 %, and 25 and 20 % of the others
    assert min(wrong["plain"], wrong["signed"]) > 0.15 * tables


def test_the_bootstrap_of_rows_agrees_with_drawing_them_one_by_one():
    rng = np.random.default_rng(2)
    right = [tuple(rng.binomial(10, p, 200) / 10) for p in (0.8, 0.74)]
    figures = [{s: 100 * float(np.mean(side)) for s in range(10)} for side in right]
    one = paired(*figures, Sampling(rows=200), tuple(right))
    differences = 100 * (np.array(right[0]) - right[1])
    means = differences[rng.integers(0, 200, (20_000, 200))].mean(axis=1)
    assert one.rows_by == "bootstrap" and (one.rows_low, one.rows_high) == pytest.approx(
        tuple(np.quantile(means, (0.025, 0.975))), abs=0.25
    )
    assert one.rows_p == pytest.approx(2 * (means <= 0).mean(), abs=0.02)
    assert one.larger_p == max(one.p, one.rows_p)


@pytest.mark.parametrize(("first", "second"), [(3, 10), (0, 6), (5, 5), (45, 40), (0, 0)])
def test_without_rows_the_bound_is_the_widest_of_all_overlaps_of_the_errors(first, second):
    n = 50
    ours, others = ({0: 100 * (1 - wrong / n)} for wrong in (first, second))
    one = paired(ours, others, Sampling(rows=n))
    for both in range(max(0, first + second - n), min(first, second) + 1):
        alone = first + second - 2 * both
        exact = min(1.0, 2 * stats.binom.cdf(min(first, second) - both, alone, 0.5)) if alone else 1.0
        assert one.rows_p >= exact - 0.03
        half = 1.96 * math.sqrt(alone - (first - second) ** 2 / n)
        assert one.rows_low <= 100 * (second - first - half) / n and one.rows_high >= 100 * (second - first + half) / n


def column(**methods):
    return {name: dict(enumerate(values)) for name, values in methods.items()}


BASE = [80, 81, 82, 83, 84, 85, 86, 87]
NEAR = [x + j for x, j in zip(BASE, [0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0.4, -0.5])]


@pytest.mark.parametrize("values, higher, marks", [
    (column(a=BASE, b=NEAR, c=[x - 3 for x in BASE]), True, "best, not worse, worse"),
    (column(a=[9.0], b=[1, 2, 3, 4, 5, 6], c=[0, 1, 2, 3, 4, 5]), True, "untested, best, worse"),  # one lucky trial
    (column(a=[5, 6, 7, 8, 9, 10], b=[1, 2, 3, 4, 5, 6]), False, "worse, best"),
    (column(a=[5.0, 6.0], b=[1.0, 2.0]), True, "best, untested"),
    ({"a": dict.fromkeys(range(8), 2.0), "b": dict.fromkeys(range(8, 16), 1.0)}, True, "best, untested"),
    (column(**{f"m{i}": [10 * i + s for s in range(6)] for i in range(4)}), True, "untested, untested, untested, best"),
    (column(a=[1.0] * 8, b=[1.0] * 8), True, "best, best"),
    (column(a=[1.0, 2.0]), True, ""),
    ({"a": {0: 1.0}, "b": {}, "c": {0: NAN}}, True, ", , "),
])  # fmt: skip
def test_marks_of_methods(values, higher, marks):
    assert ", ".join(compare_methods(values, higher).values()) == marks


def test_marks_take_the_wider_of_trials_and_rows_and_correct_for_splits():
    values = column(a=[90 + s % 3 for s in range(10)], b=[89 + s % 2 for s in range(10)])
    marks = [compare_methods(values, True, one)["b"] for one in (Sampling(), Sampling(rows=50), Sampling(rows=10**6))]
    assert marks == ["worse", "not worse", "worse"]
    assert compare_methods(values, True, Sampling(ratio=0.25))["b"] == "not worse"
    right = {"a": (0.9,) * 50, "b": (0.88,) * 50}  # the same on every row: another test part would change nothing
    assert compare_methods(values, True, Sampling(rows=50), right)["b"] == "worse"


def test_marks_of_equal_means_do_not_depend_on_their_order():
    values = column(a=[85, 95] * 5, b=[90] * 10, c=[89.8 + x / 100 for x in range(-5, 5)])
    marks = {tuple(sorted(compare_methods({name: values[name] for name in order}, True).items()))
             for order in itertools.permutations("abc")}  # fmt: skip
    assert marks == {(("a", "best"), ("b", "best"), ("c", "worse"))}


def test_shares_of_rows_count_only_if_both_methods_have_the_same_trials():
    ours, right = {seed: 90.0 + seed % 2 for seed in range(10)}, ((0.9,) * 50, (0.95,) * 50)
    some, fixed = {seed: 84.0 + seed for seed in range(6)}, dict.fromkeys(range(8), 85.0)
    by = [paired(ours, others, Sampling(rows=50), right).rows_by for others in (ours, some, fixed)]
    assert by == ["bootstrap", "bound", "bound"]
    assert paired({seed: ours[seed] for seed in range(6)}, fixed, Sampling(rows=50), right).rows_by == "bootstrap"


def test_the_spread_of_a_printed_figure_makes_an_interval_wider():
    values = [0.6 + x for x in (-0.5, 0.5, -1, 1, -0.2, 0.2, -0.8, 0.8, -0.1, 0.1)]
    for ratio in (0.0, 0.25):
        mean, low, high = interval(values, ratio=ratio)
        _, wider_low, wider_high = interval(values, paper_std=0.6, ratio=ratio)
        assert wider_low < low < mean < high < wider_high


@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(0, 5), max_size=10), min_size=2))
def test_negating_the_values_and_the_direction_changes_no_mark(methods):
    up = compare_methods(column(**methods), True)
    down = compare_methods(column(**{name: [-v for v in values] for name, values in methods.items()}), False)
    assert up == down


# -- ranks ---------------------------------------------------------------------------------------------------------


def mean_ranks_twin(values, higher_is_better):
    """Mean ranks by counting who is better, a tie half."""
    better = (lambda a, b: a > b) if higher_is_better else (lambda a, b: a < b)
    blocks = list(zip(*values.values()))
    return {
        method: 1 + sum(better(x, block[place]) + (x == block[place]) / 2 for block in blocks for x in
                        (*block[:place], *block[place + 1 :])) / len(blocks)
        for place, method in enumerate(values)
    }  # fmt: skip


@settings(max_examples=30)
@given(st.integers(3, 6), st.integers(5, 9), st.booleans(), st.data())
def test_mean_ranks_and_friedmans_p(k, n, higher, data):
    rows = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    values = {str(method): data.draw(rows) for method in range(k)}
    ranks = rank_methods(values, higher)
    assert dict(zip(ranks.methods, ranks.mean_ranks)) == pytest.approx(mean_ranks_twin(values, higher))
    assert list(ranks.mean_ranks) == sorted(ranks.mean_ranks) and ranks.blocks == n
    if any(len(set(block)) > 1 for block in zip(*values.values())):
        assert ranks.friedman_p == pytest.approx(stats.friedmanchisquare(*values.values()).pvalue)


@pytest.mark.parametrize("k, q", [(3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_critical_values_are_those_of_demsars_table(k, q):
    values = {str(method): [method + block for block in range(8)] for method in range(k)}
    assert rank_methods(values, True).critical_difference == pytest.approx(q * math.sqrt(k * (k + 1) / 48), abs=2e-3)


@settings(max_examples=30)
@given(st.integers(3, 7), st.integers(5, 9), st.integers(0, 2**32 - 1))
def test_two_methods_share_a_bar_exactly_where_their_ranks_are_near(k, n, seed):
    values = np.random.default_rng(seed).normal(size=(k, n)) + np.arange(k)[:, None] * 0.5
    ranks = rank_methods({str(method): row for method, row in enumerate(values)}, False)
    for a, b in itertools.combinations(range(k), 2):
        near = ranks.mean_ranks[b] - ranks.mean_ranks[a] <= ranks.critical_difference
        assert near == any(first <= a and b <= last for first, last in ranks.groups)


def test_copies_of_one_figure_are_one_comparison_over_the_test_rows():
    """Ten equal differences are no ten trials: a row of 9,062 is nothing, 200 are enough whichever rows they are."""
    def mark(more, rows=9062, right=None):
        values = {"a": dict.fromkeys(range(10), 80.0), "b": dict.fromkeys(range(10), 80.0 - 100 * more / rows)}
        return compare_methods(values, True, Sampling(rows=rows), right)["b"]

    assert [mark(more) for more in (1, 5, 50, 200)] == ["not worse", "not worse", "untested", "worse"]
    a = [1.0] * 8000 + [0.0] * 1062
    rows_of_b = [0.0] * 50 + a[50:]  # errs on 50 rows more, and on no other
    assert mark(50, right={"a": a, "b": rows_of_b}) == "worse"


def test_a_method_that_wins_at_every_common_seed_is_not_worse():
    values = {"a": dict.fromkeys(range(6), 50.0) | dict.fromkeys(range(6, 10), 100.0),
              "b": {seed: 60.0 + seed for seed in range(6)}}  # fmt: skip
    assert compare_methods(values, True) == {"a": "best", "b": "not worse"}
