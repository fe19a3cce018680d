from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from boostrun.report.statistics import compare_methods, holm, mean_std, signed_rank, welch

numbers = st.floats(-1000, 1000)


def test_mean_and_std_by_hand():
    mean, std = mean_std([1.0, 2.0, 4.0])
    assert mean == pytest.approx(7 / 3)
    assert std == pytest.approx(math.sqrt(((4 / 3) ** 2 + (1 / 3) ** 2 + (5 / 3) ** 2) / 2))


def test_one_value_has_no_std_and_none_has_no_mean():
    assert mean_std([3.0])[0] == 3.0
    assert math.isnan(mean_std([3.0])[1])
    assert all(map(math.isnan, mean_std([])))


def test_equal_values_have_exactly_their_mean_and_no_spread():
    assert mean_std([0.1] * 7) == (0.1, 0.0)


@given(st.lists(numbers, min_size=1, max_size=12), st.randoms())
def test_the_order_of_values_changes_no_bit(values, random):
    shuffled = random.sample(values, len(values))
    assert repr(mean_std(values)) == repr(mean_std(shuffled))


@given(st.lists(numbers, min_size=2, max_size=12))
def test_mean_and_std_agree_with_numpy(values):
    mean, std = mean_std(values)
    assert mean == pytest.approx(np.mean(values), abs=1e-9)
    assert std == pytest.approx(np.std(values, ddof=1), abs=1e-9)


@pytest.mark.parametrize("figures", [(84.3, 0.3, 10, 84.7, 0.3, 10), (1.0, 2.0, 3, 4.0, 0.1, 20), (5, 1, 2, 5, 1, 2)])
def test_welch_agrees_with_scipy(figures):
    expected = stats.ttest_ind_from_stats(*figures, equal_var=False).pvalue
    assert welch(*figures) == pytest.approx(expected, rel=1e-9)


def test_welch_without_spread_or_trials():
    assert welch(1.0, 0.0, 5, 1.0, 0.0, 5) == 1.0
    assert welch(1.0, 0.0, 5, 2.0, 0.0, 5) == 0.0
    assert math.isnan(welch(1.0, math.nan, 1, 2.0, 0.1, 10))
    assert math.isnan(welch(1.0, 0.1, 10, 2.0, math.nan, 10))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8))
def test_signed_rank_agrees_with_the_enumeration_of_all_signs(differences):
    kept = [d for d in differences if d]
    ranks = stats.rankdata([abs(d) for d in kept])
    observed = sum(rank for rank, d in zip(ranks, kept) if d > 0)
    sums = [sum(rank for rank, up in zip(ranks, signs) if up) for signs in itertools.product((0, 1), repeat=len(kept))]
    low, high = (sum(f(s) for s in sums) / len(sums) for f in (lambda s: s <= observed, lambda s: s >= observed))
    assert signed_rank(differences, [0] * len(differences)) == pytest.approx(min(1.0, 2 * min(low, high)))


@settings(max_examples=25)
@given(st.permutations(list(range(1, 13))), st.lists(st.sampled_from([-1, 1]), min_size=12, max_size=12))
def test_signed_rank_without_ties_agrees_with_scipy(sizes, signs):
    differences = np.multiply(sizes, signs)
    assert signed_rank(list(differences), [0] * 12) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


def test_equal_groups_give_p_1_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert signed_rank([84.3] * 10, [84.3] * 10) == 1.0
        assert signed_rank([], []) == 1.0


def test_differences_that_are_equal_in_the_records_are_ties_whatever_their_last_bit():
    a, b = [84.31, 84.33, 84.35, 84.30], [84.29, 84.31, 84.33, 84.32]
    assert signed_rank(a, b) == signed_rank([2, 2, 2, 0], [0, 0, 0, 2])


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_agrees_with_the_closed_test_by_brute_force(p_values):
    # Holm is the closure of Bonferroni: a hypothesis falls with the worst Bonferroni p of all families that hold it.
    everyone = range(len(p_values))
    families = [f for size in range(1, len(p_values) + 1) for f in itertools.combinations(everyone, size)]
    worst = [max(min(1.0, len(f) * min(p_values[i] for i in f)) for f in families if one in f) for one in everyone]
    assert holm(p_values) == pytest.approx(worst)


def column(**methods):
    return {name: dict(enumerate(values)) for name, values in methods.items()}


def test_best_worse_and_not_worse_are_told_apart():
    base = [80, 81, 82, 83, 84, 85, 86, 87]
    jitter = [0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0.4, -0.5]
    marks = compare_methods(column(a=base, b=[x + j for x, j in zip(base, jitter)], c=[x - 3 for x in base]), True)
    assert marks == {"a": "best", "b": "not worse", "c": "worse"}


def test_a_lucky_trial_is_not_the_best_of_methods_with_many():
    marks = compare_methods(column(a=[9.0], b=[1, 2, 3, 4, 5, 6], c=[0, 1, 2, 3, 4, 5]), True)
    assert marks == {"a": "untested", "b": "best", "c": "worse"}


def test_lower_is_better_turns_the_marks_round():
    marks = compare_methods(column(a=[5, 6, 7, 8, 9, 10], b=[1, 2, 3, 4, 5, 6]), False)
    assert marks == {"a": "worse", "b": "best"}


def test_too_few_common_seeds_are_untested_not_equal():
    assert compare_methods(column(a=[5.0, 6.0], b=[1.0, 2.0]), True) == {"a": "best", "b": "untested"}
    apart = {"a": dict.fromkeys(range(8), 2.0), "b": dict.fromkeys(range(8, 16), 1.0)}
    assert compare_methods(apart, True) == {"a": "best", "b": "untested"}


def test_many_methods_with_six_seeds_cannot_be_told_apart_so_none_is_tested():
    methods = {f"m{i}": [10 * i + s for s in range(6)] for i in range(4)}
    marks = compare_methods(column(**methods), True)
    assert marks == {"m0": "untested", "m1": "untested", "m2": "untested", "m3": "best"}


def test_equal_means_are_both_best():
    assert set(compare_methods(column(a=[1.0] * 8, b=[1.0] * 8), True).values()) == {"best"}


def test_a_method_alone_or_without_values_has_no_mark():
    assert compare_methods(column(a=[1.0, 2.0]), True) == {"a": ""}
    assert compare_methods({"a": {0: 1.0}, "b": {}, "c": {0: math.nan}}, True) == {"a": "", "b": "", "c": ""}


def test_marks_take_a_pandas_frame_as_well():
    import pandas as pd

    frame = pd.DataFrame({"a": [5.0, 6, 7, 8, 9, 10], "b": [1.0, 2, 3, 4, 5, math.nan]})
    assert compare_methods(frame, True) == {"a": "best", "b": "untested"}


@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(0, 5), max_size=10), min_size=2))
def test_negating_the_values_and_the_direction_changes_no_mark(methods):
    up = compare_methods(column(**methods), True)
    down = compare_methods(column(**{name: [-v for v in values] for name, values in methods.items()}), False)
    assert up == down
