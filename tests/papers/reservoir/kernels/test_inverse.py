"""Distances between runs of bytes, and inverses by halves, against numpy."""

import pickle

import numpy as np
import pytest
from numba import njit

from boostrun.papers.reservoir.inverse import Inversion, PlainInversion
from boostrun.papers.reservoir.kernels import RUN, byte_distance

BOTH = pytest.mark.parametrize("kind", [Inversion, PlainInversion])


@njit
def distance(left, right):
    return byte_distance(left.ctypes.data, right.ctypes.data)


@pytest.mark.parametrize("largest", [1, 127, 255])
def test_byte_distance_is_the_sum_of_absolute_differences(largest):
    rng = np.random.default_rng(largest)
    for _ in range(20):
        left, right = rng.integers(0, largest + 1, (2, RUN)).astype(np.uint8)
        assert distance(left, right) == np.abs(left.astype(int) - right).sum()
    assert distance(np.zeros(RUN, np.uint8), np.full(RUN, largest, np.uint8)) == RUN * largest


@BOTH
@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 200, 257, 515])
def test_factor_and_inverse_equal_numpys_in_memory_used_again(n, kind):
    inversion, rng = kind(n), np.random.default_rng(n)
    for _ in range(2):
        root = rng.normal(size=(n, n + 2))
        matrix = root @ root.T + 0.5 * n * np.eye(n)
        inversion.matrix[:] = np.tril(matrix)  # what stands above the diagonal is not read
        lower = np.tril(inversion.factor())
        np.testing.assert_allclose(lower, np.linalg.inv(np.linalg.cholesky(matrix)), rtol=1e-9, atol=1e-12)
        inverse = np.tril(inversion.inverse())
        np.testing.assert_allclose(inverse, np.tril(np.linalg.inv(matrix)), rtol=1e-9, atol=1e-12)
        inversion = pickle.loads(pickle.dumps(inversion))  # a copy works too, in memory of its own


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 100, 257, 515])
def test_the_plain_inverse_equals_the_other_to_the_bit(n):
    root = np.random.default_rng(n).normal(size=(n, n + 2))
    both = Inversion(n), PlainInversion(n)
    for inversion in both:
        inversion.matrix[:] = np.tril(root @ root.T + 0.5 * n * np.eye(n))
    np.testing.assert_array_equal(*(np.tril(inversion.factor()) for inversion in both))
    np.testing.assert_array_equal(*(np.tril(inversion.inverse()) for inversion in both))


@BOTH
@pytest.mark.parametrize("n", [3, 300])
def test_a_matrix_that_is_not_positive_definite_is_refused_wherever_it_fails(n, kind):
    for place in (0, n // 2, n - 1):
        matrix = np.eye(n)
        matrix[place, place] = -1.0
        inversion = kind(n)
        inversion.matrix[:] = matrix
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            inversion.factor()
        inversion.matrix[:] = np.eye(n)
        np.testing.assert_array_equal(np.tril(inversion.factor()), np.eye(n))
