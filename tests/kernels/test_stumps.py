"""Stump search and scoring against their twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from boostrun.kernels import stumps
from boostrun.methods.stumps import Stump, find_stump
from tests.reference import stumps as twin

CODES = hnp.arrays(np.uint8, st.tuples(st.integers(2, 12), st.integers(1, 70)))


def signed_weights_for(n):
    return st.lists(st.floats(-1, 1, allow_nan=False, width=32), min_size=n, max_size=n).map(np.array)


@given(st.data(), CODES)
@settings(max_examples=60, deadline=None)
def test_histogram_and_sorting_find_the_same_stump_with_negative_weights(data, codes):
    weights = data.draw(signed_weights_for(len(codes)))
    assert find_stump(codes, weights) == find_stump(codes, weights, search="exact")


@given(st.data(), hnp.arrays(np.uint8, st.tuples(st.integers(2, 9), st.integers(1, 5)), elements=st.integers(0, 4)))
@settings(max_examples=80, deadline=None)
def test_edge_equals_brute_force(data, codes):
    weights = data.draw(signed_weights_for(len(codes)))
    (feature, threshold, polarity), edge = find_stump(codes, weights)
    expected, best = twin.brute_force_stump(codes, weights)
    if expected is None:  # no feature takes two values
        assert (feature, threshold) == (0, 0.0)
        return
    assert edge == pytest.approx(best, abs=1e-12)
    votes = np.where(codes[:, feature] >= threshold, polarity, -polarity)
    assert float(weights @ votes) == pytest.approx(best, abs=1e-9)


def test_threshold_lies_midway_between_the_two_values_it_separates():
    codes = np.array([[10], [20], [23]], np.uint8)
    assert find_stump(codes, np.array([-1.0, 1.0, 1.0]))[0] == Stump(0, 15.0, 1)
    assert find_stump(codes, np.array([1.0, 1.0, -1.0]))[0] == Stump(0, 22.0, -1)
    values = codes.astype(np.float64)
    assert find_stump(values, np.array([1.0, 1.0, -1.0]), search="exact")[0] == Stump(0, 21.5, -1)


def test_ties_go_to_the_lowest_feature_across_blocks():
    rng = np.random.default_rng(0)
    column = rng.integers(0, 256, 40).astype(np.uint8)
    codes = np.tile(column[:, None], (1, 77))
    stump, _ = find_stump(codes, rng.normal(size=40))
    assert stump.feature == 0


@pytest.mark.parametrize("d", [1, 15, 16, 17, 31, 33, 64, 95, 784])
def test_every_feature_is_looked_at_whatever_their_number(d):
    rng = np.random.default_rng(d)
    labels = np.where(np.arange(20) % 2, 1.0, -1.0)
    for winner in {0, d // 2, d - 1}:
        codes = rng.integers(0, 256, (20, d)).astype(np.uint8)
        codes[:, winner] = np.where(labels > 0, 200, 100)
        assert find_stump(codes, labels / 20)[0] == Stump(winner, 150.0, 1)


def test_only_the_rows_asked_for_count():
    codes = np.array([[0, 9], [9, 0], [0, 0], [9, 9]], np.uint8)
    stump, edge = find_stump(codes, np.array([-0.5, 0.5]), rows=np.array([2, 1]))
    assert (stump, edge) == (Stump(0, 5.0, 1), 1.0)


def test_a_constant_batch_gives_a_constant_stump_with_the_larger_sides_polarity():
    codes = np.full((3, 2), 7, np.uint8)
    assert find_stump(codes, np.array([0.2, 0.2, -0.9])) == (Stump(0, 0.0, -1), pytest.approx(0.5))
    stump, _ = find_stump(codes.astype(float), np.array([0.2, 0.2, -0.1]), search="exact")
    assert stump == Stump(0, -np.inf, 1)


def test_fixed_point_sums_do_not_depend_on_order():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=5000) * 10.0 ** rng.integers(-12, 3, 5000)
    integers, scale = stumps.fixed_point(weights)
    shuffled, _ = stumps.fixed_point(weights[rng.permutation(5000)])
    assert integers.sum() == shuffled.sum()
    assert integers.sum() / scale == pytest.approx(weights.sum(), rel=1e-12)
    assert stumps.fixed_point(np.zeros(3))[0].tolist() == [0, 0, 0]


def test_scores_equal_the_obvious_sum_to_the_last_bit_in_both_layouts():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (30, 9)).astype(np.uint8)
    features = rng.integers(0, 9, 25).astype(np.int32)
    thresholds, steps = rng.integers(0, 257, 25).astype(float), rng.normal(size=25)
    expected = twin.scores(codes, features, thresholds, steps)
    by_sample, by_feature = np.zeros(30), np.zeros(30)
    stumps.add_scores(codes, np.arange(30), features, thresholds, steps, by_sample)
    stumps.add_scores_by_feature(np.ascontiguousarray(codes.T), features, thresholds, steps, by_feature)
    assert (by_sample == expected).all() and (by_feature == expected).all()


@given(st.data(), CODES)
@settings(max_examples=60, deadline=None)
def test_a_stump_that_no_constant_vote_is_worse_than_is_found_too(data, codes):
    weights, _ = stumps.fixed_point(np.abs(data.draw(signed_weights_for(len(codes)))))  # one side only: nothing beats S
    rows, total = np.arange(len(codes)), weights.sum()
    assert stumps._best_above_constant(codes, rows, weights, total)[0] == -1
    expected = stumps.best_feature_by_sorting(codes, rows, weights)
    assert stumps.best_feature_by_histogram(codes, rows, weights) == expected
