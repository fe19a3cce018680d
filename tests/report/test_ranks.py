from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from boostrun.errors import BoostrunError
from boostrun.report import TableSpec, build
from boostrun.report.statistics import rank_methods
from boostrun.report.table import contests


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
        assert ranks.friedman_p == pytest.approx(friedmanchisquare(*values.values()).pvalue)


def test_the_critical_difference_of_demsars_example():
    """Four classifiers on 14 data sets differ from 1.25 ranks on (Demsar 2006, Section 3.2.2)."""
    values = {str(method): [method + block for block in range(14)] for method in range(4)}
    assert round(rank_methods(values, True).critical_difference, 2) == 1.25


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


def test_equal_methods_are_equal_and_too_few_are_refused():
    assert rank_methods({name: [1.0] * 5 for name in "abc"}, True).friedman_p == 1.0
    with pytest.raises(BoostrunError, match="3 methods and 5 blocks"):
        rank_methods({name: [1.0] * 4 for name in "abc"}, True)
    with pytest.raises(BoostrunError, match="not 2 and 9"):
        rank_methods({name: [1.0] * 9 for name in "ab"}, True)


SPEC = TableSpec("Many", "", "", "test_accuracy_pct", True, ("dataset", "r"))


def test_methods_compete_over_data_sets_where_there_are_five(make_entry):
    entries = [
        make_entry(row, data, values=[better + place, better + place + 0.1], expected=2)
        for better, row in enumerate(("rand", "wsam", "geem"))
        for place, data in enumerate("pqrst")
    ]
    held, remark = contests(build(SPEC, entries))
    assert [contest.ranks.methods for contest in held] == [("geem", "wsam", "rand")] and not remark
    assert held[0].over == "5 data sets: p, q, r, s, t" and held[0].ranks.mean_ranks == (1.0, 2.0, 3.0)


def test_over_seeds_of_each_data_set_where_there_are_fewer_and_that_is_said(make_entry):
    entries = [
        make_entry(row, data, values=[better + seed / 8 for seed in range(6)], expected=6)
        for better, row in enumerate(("rand", "wsam", "geem"))
        for data in ("p", "q")
    ]
    held, remark = contests(build(SPEC, entries))
    assert [(contest.dataset, contest.over) for contest in held] == [("p", "6 seeds"), ("q", "6 seeds")]
    assert "test accuracy % r=100: 2" in remark
    assert contests(build(SPEC, entries[:4])) == ([], "")  # two methods hold no contest
