"""Searches and scores against twins that try everything: stumps, stumps with a vote for every class, trees."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from boostrun.kernels import code_sums, stumps, trees
from boostrun.kernels import votes as kernels
from boostrun.methods.stumps import Stump, find_stump
from tests.reference import stumps as twin
from tests.reference import trees as reference
from tests.reference import votes as votes_twin

CODES = hnp.arrays(np.uint8, st.tuples(st.integers(2, 12), st.integers(1, 70)))


def signed_weights_for(n):
    return st.lists(st.floats(-1, 1, allow_nan=False, width=32), min_size=n, max_size=n).map(np.array)


@given(st.data(), CODES)
@settings(max_examples=60, deadline=None)
def test_histogram_and_sorting_find_the_same_stump_with_negative_weights(data, codes):
    weights = data.draw(signed_weights_for(len(codes)))
    assert find_stump(codes, weights) == find_stump(codes, weights, search="exact")


@given(
    st.integers(0, 2**32 - 1), st.integers(0, 140), st.integers(1, 255), st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["whole", "normal", "heavy tails", "huge", "tiny"]),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_a_code_is_the_number_of_edges_up_to_the_value(seed, n, most, kind, scale):
    """With heavy tails nearly all edges lie in one cell; the span of huge edges is infinite, that of tiny ones 0."""
    rng = np.random.default_rng(seed)
    draw = {
        "whole": lambda size: rng.integers(-45, 45, size), "normal": lambda size: rng.normal(size=size),
        "heavy tails": lambda size: rng.standard_cauchy(size) ** 3,
        "huge": lambda size: rng.uniform(-1, 1, size) * float(np.finfo(kind).max),
        "tiny": lambda size: rng.integers(-5, 5, size) * float(np.finfo(kind).smallest_subnormal),
    }[scale]  # fmt: skip
    edges = np.full((3, most), np.inf, kind)
    for row in edges:
        known = np.unique(draw(rng.integers(0, most + 1)).astype(kind))
        row[: len(known)] = known
    values = draw((n, 3)).astype(kind)
    codes = np.empty((3, n), np.uint8)
    stumps.quantise(values, edges, codes)
    found = stumps.quantise_rows(values, *stumps.cells_of(edges))
    assert found.dtype == np.uint8 and (found == codes.T).all()
    for row, column, its in zip(edges, values.T, found.T):
        assert (its == np.searchsorted(row, column, side="right")).all()


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


def test_scores_equal_the_obvious_sum_to_the_last_bit_in_both_layouts_and_for_all_problems_at_once():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (30, 9)).astype(np.uint8)
    features = rng.integers(0, 9, 25).astype(np.int32)
    thresholds, steps = rng.integers(0, 257, 25).astype(float), rng.normal(size=25)
    expected = twin.scores(codes, features, thresholds, steps)
    by_sample, by_feature = np.zeros(30), np.zeros(30)
    stumps.add_scores(codes, np.arange(30), features, thresholds, steps, by_sample)
    stumps.add_scores_by_feature(np.ascontiguousarray(codes.T), features, thresholds, steps, by_feature)
    assert (by_sample == expected).all() and (by_feature == expected).all()
    scores = np.empty((2, 30))
    stumps.put_scores(codes, *(np.stack([each, each[::-1]]) for each in (features, thresholds, steps)), scores)
    turned = twin.scores(codes, features[::-1], thresholds[::-1], steps[::-1])
    assert (scores == [expected, turned]).all()


@given(st.data(), CODES)
@settings(max_examples=60, deadline=None)
def test_a_stump_that_no_constant_vote_is_worse_than_is_found_too(data, codes):
    weights, _ = stumps.fixed_point(np.abs(data.draw(signed_weights_for(len(codes)))))  # one side only: nothing beats S
    rows, total = np.arange(len(codes)), weights.sum()
    assert stumps._best_above_constant(codes, rows, weights, total)[0] == -1
    expected = stumps.best_feature_by_sorting(codes, rows, weights)
    assert stumps.best_feature_by_histogram(codes, rows, weights) == expected


def problem(seed, n=50, d=3, classes=3, distinct=256):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, distinct, (d, n)).astype(np.uint8)
    labels = np.where(rng.random((n, classes)) < 0.4, 1.0, -1.0)
    weights = rng.random((n, classes))
    signed = np.zeros((n, 1 if classes == 1 else -(-classes // 16) * 16), np.float32)
    signed[:, :classes] = labels * weights / weights.sum()
    return codes, signed, labels, rng


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 256))
@settings(max_examples=30, deadline=None)
def test_the_best_stump_is_that_of_all_thresholds_and_all_votes(seed, classes, distinct):
    codes, signed, *_ = problem(seed, classes=classes, distinct=distinct)
    edges, thresholds = np.empty(3), np.empty(3, np.int64)
    kernels.best_votes(codes, np.arange(3), np.arange(50), signed, edges, thresholds)
    exact = signed[:, :classes].astype(np.float64)
    for f in range(3):
        best, at = votes_twin.best_stump_of_feature(codes[f], exact)
        assert edges[f] == pytest.approx(best, abs=2e-6)
        side = np.where(codes[f] >= thresholds[f], 1.0, -1.0)
        assert np.abs(side @ exact).sum() == pytest.approx(best, abs=2e-6)
        threshold, votes, edge = kernels.best_stump(codes[f], signed)
        side = np.where(codes[f] >= threshold, 1.0, -1.0)
        assert threshold == at and edge == pytest.approx(best, abs=1e-12)
        assert side @ exact @ votes[:classes] == pytest.approx(edge, abs=1e-12)


def test_of_equal_edges_the_smallest_threshold_counts_and_zero_is_the_constant_stump():
    codes = np.array([[5, 5, 9, 9]], np.uint8)
    signed = np.zeros((4, 16), np.float32)
    edges, thresholds = np.empty(1), np.empty(1, np.int64)
    signed[:, 0] = [0.25, 0.25, 0.25, 0.25]
    kernels.best_votes(codes, np.array([0]), np.arange(4), signed, edges, thresholds)
    assert (edges[0], thresholds[0]) == (1.0, 0)
    assert kernels.best_stump(codes[0], signed)[::2] == (0, 1.0)
    signed[:, 0] = [-0.25, -0.25, 0.25, 0.25]
    kernels.best_votes(codes, np.array([0]), np.arange(4), signed, edges, thresholds)
    assert (edges[0], thresholds[0]) == (1.0, 6)  # nothing lies from 6 to 9
    assert kernels.best_stump(codes[0], signed)[::2] == (6, 1.0)


@pytest.mark.parametrize("classes", [1, 3, 16, 20])
def test_many_features_of_many_samples_are_blocked_right(classes):
    rng = np.random.default_rng(classes)
    n, d = 5000, 21
    codes = rng.integers(0, 256, (d, n)).astype(np.uint8)
    lanes = 1 if classes == 1 else -(-classes // 16) * 16
    signed = np.zeros((n, lanes), np.float32)
    signed[:, :classes] = rng.normal(size=(n, classes)) / n
    features = rng.permutation(d)
    exact, thresholds = np.empty(d), np.empty(d, np.int64)
    kernels.best_votes(codes, features, np.arange(n), signed, exact, thresholds)
    for place in (0, 7, 8, 20):
        side = np.where(codes[features[place]] >= thresholds[place], 1.0, -1.0)
        assert np.abs(side @ signed.astype(float)).sum() == pytest.approx(exact[place], rel=1e-3)
        assert kernels.best_stump(codes[features[place]], signed)[2] == pytest.approx(exact[place], rel=1e-4)


@pytest.mark.parametrize(("q", "size", "classes"), [(1, 1, 1), (5, 3, 4), (4, 40, 4), (7, 33, 1), (2, 500, 20)])
def test_a_search_on_few_samples_skips_empty_bins_only(q, size, classes):
    rng = np.random.default_rng(size)
    codes = rng.integers(0, 256, (q, size)).astype(np.uint8)
    signed = np.zeros((size, 1 if classes == 1 else -(-classes // 16) * 16), np.float32)
    signed[:, :classes] = rng.normal(size=(size, classes)) / size
    edges, thresholds = np.empty(q), np.empty(q, np.int64)
    kernels.best_votes(codes, np.arange(q), np.arange(size), signed, edges, thresholds)
    for f in range(q):
        edge = kernels.best_stump(codes[f], signed)[2]
        assert edges[f] == pytest.approx(edge, rel=1e-5)
        side = np.where(codes[f] >= thresholds[f], 1.0, -1.0)
        assert np.abs(side @ signed.astype(float)).sum() == pytest.approx(edge, rel=1e-5)


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("size", [41, 3000])
def test_a_search_on_some_rows_is_the_search_on_their_codes(classes, size):
    codes, _, _, rng = problem(3, n=500, d=9)
    rows = np.sort(rng.integers(0, 500, size))
    signed = np.zeros((size, 1 if classes == 1 else 16), np.float32)
    signed[:, :classes] = rng.normal(size=(size, classes)) / size
    picked = np.empty((9, size), np.uint8)
    kernels.pick_by_sample(np.ascontiguousarray(codes.T), np.arange(9), rows, picked)
    assert (picked == codes[:, rows]).all()
    (one, other), thresholds = np.empty((2, 9)), np.empty((2, 9), np.int64)
    kernels.best_votes(codes, np.arange(9), rows, signed, one, thresholds[0])
    kernels.best_votes(picked, np.arange(9), np.arange(size), signed, other, thresholds[1])
    assert (one == other).all() and (thresholds[0] == thresholds[1]).all()


@pytest.mark.parametrize("classes", [1, 4, 20])
def test_reweighing_keeps_the_sum_at_one_when_the_edge_is_true(classes):
    codes, signed, *_ = problem(4, classes=classes)
    total = np.abs(signed).sum(dtype=np.float64)
    threshold, votes, edge = kernels.best_stump(codes[1], signed)
    before, edge = signed.astype(np.float64), edge / total
    side = np.where(codes[1] >= threshold, 1.0, -1.0)[:, None]
    alpha = 0.5 * np.log((1 + edge) / (1 - edge))
    expected = before * np.exp(-alpha * np.sign(before) * votes * side) / np.sqrt(1 - edge**2)
    new = kernels.reweigh(codes[1], threshold, votes, edge, signed)
    np.testing.assert_allclose(signed, expected, rtol=1e-5, atol=1e-12)
    assert new == pytest.approx(1.0, abs=1e-5) and new == pytest.approx(np.abs(signed).sum(), rel=1e-5)


def test_added_votes_are_the_obvious_sum():
    codes, _, _, rng = problem(1, n=40, d=5)
    features, thresholds = rng.integers(0, 5, 7).astype(np.int32), rng.integers(0, 256, 7).astype(float)
    votes, alphas = np.where(rng.random((7, 3)) < 0.5, 1, -1), rng.random(7)
    scores = np.zeros((40, 3))
    kernels.add_votes(codes, features, thresholds, alphas[:, None] * votes, scores)
    np.testing.assert_allclose(scores, votes_twin.scores(codes, features, thresholds, votes, alphas), rtol=1e-12)


def grown(codes, signed, depth=3, least=1, by_codes=0, listed=False):
    columns = np.ascontiguousarray(codes.T)
    weights, _ = trees.fixed_point(signed)
    offsets = code_sums.offsets_of(columns)
    others = (offsets, code_sums.list_others(columns, offsets)) if listed else None
    return trees.grow(columns, *trees.sorted_entries(columns), weights, signed > 0, depth, least, by_codes, others)


def tree_problem(seed, n, d, span, zeros=0.3):
    rng = np.random.default_rng(seed)
    codes = (rng.integers(0, span, (n, d)) * (255 // (span - 1))).astype(np.uint8)
    codes[rng.random((n, d)) < zeros] = codes[0, 0]
    signed = rng.choice([-2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0], n)
    return codes, signed


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 40), d=st.integers(1, 5), span=st.sampled_from([2, 3, 9, 256]),
    depth=st.integers(1, 4), share=st.sampled_from([0.0, 0.03, 0.2]), by_codes=st.integers(0, 4), listed=st.booleans(),
)  # fmt: skip
def test_a_tree_is_the_one_that_trying_every_split_finds(seed, n, d, span, depth, share, by_codes, listed):
    codes, signed = tree_problem(seed, n, d, span)
    weights, _ = trees.fixed_point(signed)
    least = max(1, int(share * weights.sum()))
    features, thresholds, sums, leaves = grown(codes, signed, depth, least, by_codes, listed)
    expected = reference.grow(codes, weights, signed > 0, depth, least)
    for found, wanted in zip((features, thresholds, leaves), expected):
        np.testing.assert_array_equal(found, wanted)
    for sign, column in ((False, 0), (True, 1)):
        there = (signed > 0) == sign
        np.testing.assert_array_equal(sums[:, column], np.bincount(leaves[there], weights[there], 2**depth))


def test_many_samples_of_a_code_and_few_give_one_tree():
    """Long runs are added in four lanes and looked at for every node, short ones are not."""
    codes, signed = tree_problem(0, 3000, 3, 3)
    repeated = grown(codes, signed, 4)
    order = np.random.default_rng(1).permutation(len(codes))
    for found, wanted in zip(grown(codes[order], signed[order], 4)[:3], repeated[:3]):
        np.testing.assert_array_equal(found, wanted)
    weights, _ = trees.fixed_point(signed)
    expected = reference.grow(codes, weights, signed > 0, 4, 1)
    np.testing.assert_array_equal(repeated[0], expected[0])
    np.testing.assert_array_equal(repeated[1], expected[1])


def test_entries_are_all_samples_but_those_of_the_most_frequent_code():
    codes, _ = tree_problem(1, 50, 4, 9)
    starts, ends, bounds, common, rows = trees.sorted_entries(np.ascontiguousarray(codes.T))
    for f in range(4):
        column, begin = codes[:, f], 0 if starts[f] == 0 else ends[starts[f] - 1]
        assert common[f] == np.bincount(column).argmax()
        for run in range(starts[f], starts[f + 1]):
            of_run = rows[begin : ends[run]]
            code = bounds[run] + (bounds[run] >= common[f])
            assert (np.flatnonzero(column == code) == of_run).all() and code != common[f]
            begin = ends[run]


def test_others_are_all_codes_but_the_most_frequent_ones():
    codes, _ = tree_problem(1, 50, 5, 9)
    offsets = code_sums.offsets_of(codes.T)
    assert (np.diff(offsets) == codes.max(axis=0) + 1).all()
    firsts, starts, others, common = code_sums.list_others(np.ascontiguousarray(codes.T), offsets)
    assert firsts.tolist() == [0, 3, 5] and len(starts) == 2 * 50 + 1
    assert common.tolist() == [np.bincount(column).argmax() for column in codes.T]
    for block, (first, last) in enumerate(itertools.pairwise(firsts)):
        for i, row in enumerate(codes):
            wanted = [offsets[f] - offsets[first] + row[f] for f in range(first, last) if row[f] != common[f]]
            assert others[starts[50 * block + i] : starts[50 * block + i + 1]].tolist() == wanted


def test_no_weight_and_one_sample_and_features_that_do_not_vary_give_no_split():
    for codes, signed in (
        (np.zeros((5, 2), np.uint8), np.ones(5)),
        (np.arange(5, dtype=np.uint8)[:, None], np.zeros(5)),
        (np.arange(1, dtype=np.uint8)[:, None], np.ones(1)),
        (np.full((4, 2), 255, np.uint8), np.array([1.0, -1.0, 1.0, -1.0])),
    ):
        _, thresholds, _, leaves = grown(codes, signed)
        assert np.isinf(thresholds).all() and not leaves.any()


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 90))
@settings(max_examples=20)
def test_scores_are_sums_of_leaves(seed, depth, n):
    rng = np.random.default_rng(seed)
    samples, nodes = rng.integers(0, 9, (n, 3)).astype(np.uint8), 2**depth - 1
    features, thresholds = rng.integers(0, 3, (5, nodes)).astype(np.int32), rng.choice([2.0, 4.5, np.inf], (5, nodes))
    leaves, scores = rng.normal(size=(5, nodes + 1)), np.zeros(n)
    trees.add_scores(samples, np.arange(n), features, thresholds, leaves, scores)
    np.testing.assert_array_equal(scores, reference.scores(samples, features, thresholds, leaves))
    places = np.empty(n, np.int32)
    trees.leaves_of(samples, np.arange(n), features[0], thresholds[0], places)
    np.testing.assert_array_equal(
        leaves[0][places], reference.scores(samples, features[:1], thresholds[:1], leaves[:1])
    )
