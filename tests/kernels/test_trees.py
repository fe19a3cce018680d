"""Trees: the search by runs of entries beside one that tries everything, and scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.kernels import trees
from tests.reference import trees as reference


def grown(codes, signed, depth=3, least=1):
    columns = np.ascontiguousarray(codes.T)
    weights, _ = trees.fixed_point(signed)
    return trees.grow(columns, *trees.sorted_entries(columns), weights, signed > 0, depth, least)


def problem(seed, n, d, span, zeros=0.3):
    rng = np.random.default_rng(seed)
    codes = (rng.integers(0, span, (n, d)) * (255 // (span - 1))).astype(np.uint8)
    codes[rng.random((n, d)) < zeros] = codes[0, 0]
    signed = rng.choice([-2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0], n)
    return codes, signed


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 40), d=st.integers(1, 5), span=st.sampled_from([2, 3, 9, 256]),
    depth=st.integers(1, 4), share=st.sampled_from([0.0, 0.03, 0.2]),
)  # fmt: skip
def test_a_tree_is_the_one_that_trying_every_split_finds(seed, n, d, span, depth, share):
    codes, signed = problem(seed, n, d, span)
    weights, _ = trees.fixed_point(signed)
    least = max(1, int(share * weights.sum()))
    features, thresholds, sums, leaves = grown(codes, signed, depth, least)
    expected = reference.grow(codes, weights, signed > 0, depth, least)
    for found, wanted in zip((features, thresholds, leaves), expected):
        np.testing.assert_array_equal(found, wanted)
    for sign, column in ((False, 0), (True, 1)):
        there = (signed > 0) == sign
        np.testing.assert_array_equal(sums[:, column], np.bincount(leaves[there], weights[there], 2**depth))


@pytest.mark.parametrize("depth", [1, 2])
def test_the_leaves_lose_no_more_than_any_tree_grown_so(depth):
    codes, signed = problem(3, 30, 3, 9)
    _, scale = trees.fixed_point(signed)
    *_, sums, _leaves = grown(codes, signed, depth)
    columns = codes.astype(int).T
    best = 0.0  # of one split, then of the best split of each side
    for column in columns:
        for low in np.unique(column)[:-1]:
            gain = sum(signed[side].sum() ** 2 / np.abs(signed[side]).sum() for side in (
                column <= low, column > low,
            ) if np.abs(signed[side]).sum())  # fmt: skip
            best = max(best, gain)
    weight, edge = sums.sum(axis=1) / scale, (sums[:, 1] - sums[:, 0]) / scale
    gain = np.sum(edge[weight > 0] ** 2 / weight[weight > 0])
    assert gain == pytest.approx(best) if depth == 1 else gain >= best


def test_many_samples_of_a_code_and_few_give_one_tree():
    """Long runs are added in four lanes and looked at for every node, short ones are not."""
    codes, signed = problem(0, 3000, 3, 3)
    repeated = grown(codes, signed, 4)
    order = np.random.default_rng(1).permutation(len(codes))
    for found, wanted in zip(grown(codes[order], signed[order], 4)[:3], repeated[:3]):
        np.testing.assert_array_equal(found, wanted)
    weights, _ = trees.fixed_point(signed)
    expected = reference.grow(codes, weights, signed > 0, 4, 1)
    np.testing.assert_array_equal(repeated[0], expected[0])
    np.testing.assert_array_equal(repeated[1], expected[1])


def test_entries_are_all_samples_but_those_of_the_most_frequent_code():
    codes, _ = problem(1, 50, 4, 9)
    starts, ends, bounds, common, rows = trees.sorted_entries(np.ascontiguousarray(codes.T))
    for f in range(4):
        column, begin = codes[:, f], 0 if starts[f] == 0 else ends[starts[f] - 1]
        assert common[f] == np.bincount(column).argmax()
        for run in range(starts[f], starts[f + 1]):
            of_run = rows[begin : ends[run]]
            code = bounds[run] + (bounds[run] >= common[f])
            assert (np.flatnonzero(column == code) == of_run).all() and code != common[f]
            begin = ends[run]


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
