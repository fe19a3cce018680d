"""Stumps with a vote for every class: searches, reweighting, sampling, against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.kernels import votes as kernels
from tests.reference import votes as twin


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
        best, at = twin.best_stump_of_feature(codes[f], exact)
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
    np.testing.assert_allclose(scores, twin.scores(codes, features, thresholds, votes, alphas), rtol=1e-12)
