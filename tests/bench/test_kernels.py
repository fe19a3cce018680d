"""Kernels beside their floors; no time is asserted."""

import numpy as np
import pytest
from numba import njit
from scipy.linalg import lapack

from boostrun.kernels import stumps
from boostrun.papers.reservoir import geem, kernels
from tests.bench.timing import median_ms, show, yardsticks

pytestmark = pytest.mark.bench


def test_yardsticks():
    inverse, cityblock = yardsticks()
    assert inverse > 0.0 and cityblock > 0.0
    show("yardsticks", [("numpy inverse 500 x 500 float64", f"{inverse:.1f} ms"),
                        ("SciPy cityblock 500 x 784 float32", f"{cityblock:.1f} ms")])  # fmt: skip


@pytest.mark.parametrize(("r", "d"), [(100, 784), (250, 784), (250, 3780), (2500, 784), (250, 12800)])
def test_stump_search_beside_a_plain_sum_over_the_same_codes(r, d):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (2 * r, d)).astype(np.uint8)
    rows = np.sort(rng.permutation(2 * r)[:r])
    weights, _ = stumps.fixed_point(rng.normal(size=r))
    kept = codes[rows]
    search = median_ms(lambda: stumps.best_feature_by_histogram(codes, rows, weights))
    total = median_ms(kept.sum)
    assert 0 <= stumps.best_feature_by_histogram(codes, rows, weights)[0] < d
    show(f"stump search, {r} x {d} codes", [
        ("search", f"{search:.3f} ms, {r * d / search / 1e6:.2f} GB/s"),
        ("numpy's sum of the same codes", f"{total:.3f} ms, {r * d / total / 1e6:.2f} GB/s"),
        ("ratio", f"{search / total:.1f}"),
        ("histogram lanes scanned per code read (256 / r)", f"{256 / r:.2f}"),
    ])  # fmt: skip


@njit(cache=True)
def read_pairs(ranks, out):
    """The floor of a pairwise distance: both rows of every pair read, and combined by one instruction a word."""
    n, p = ranks.shape
    for i in range(n):
        for j in range(i):
            total = np.uint8(0)
            for k in range(p):
                total = np.uint8(total ^ np.uint8(ranks[i, k] ^ ranks[j, k]))
            out[i, j] = total


@pytest.mark.parametrize(("n", "d"), [(200, 784), (500, 784), (500, 3780)])
def test_geems_parts_beside_their_floors(n, d):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (n, d)).astype(np.uint8)
    y, weights, dims = np.where(rng.random(n) < 0.1, 1.0, -1.0), rng.random(n), np.sort(rng.permutation(d)[:n])
    ranked = geem._Ranks(codes, y, dims)
    ranks, thresholds = ranked.ranks, ranked.thresholds
    sigma, words = np.empty((n, n)), np.empty((n, n), np.uint8)
    covariance = median_ms(lambda: kernels.covariance_from_byte_ranks(ranks, y, thresholds, 0.1 * thresholds, sigma))
    read = median_ms(lambda: read_pairs(ranks, words))
    ranking = median_ms(lambda: geem._Ranks(codes, y, dims))
    kernels.fill_lower(sigma)
    assert np.array_equal(sigma, sigma.T)
    buffer, memory = np.empty((n, n), order="F"), geem._Elimination(n, n // 2)

    def invert():
        np.copyto(buffer, sigma.T)
        lapack.dpotrf(buffer, lower=0, clean=0, overwrite_a=1)
        lapack.dpotri(buffer, lower=0, overwrite_c=1)

    inverse = median_ms(invert)
    selection = median_ms(lambda: memory(lambda raised, out: np.copyto(out, sigma), weights))
    show(f"GEEM, {n} samples, {n} of {d} dimensions, {n // 2} discarded", [
        ("dense ranks", f"{ranking:.3f} ms"),
        ("covariance", f"{covariance:.3f} ms"),
        ("reading the ranks of every pair", f"{read:.3f} ms, ratio {covariance / read:.2f}"),
        ("selection, inverse included", f"{selection:.3f} ms"),
        ("Cholesky and inverse of the same matrix", f"{inverse:.3f} ms, ratio {selection / inverse:.2f}"),
    ])  # fmt: skip
