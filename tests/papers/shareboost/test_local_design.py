"""Pieces in use: letters and sums by code give the same as the columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostrun.kernels.lanes import load, store, zeros
from boostrun.papers.shareboost.design import DenseDesign, pad_classes
from boostrun.papers.shareboost.inner import Objective, regulariser
from boostrun.papers.shareboost.pieces import (
    WIDTH,
    LocalDesign,
    LocalScores,
    _fused,
    _plain,
    letter_scores,
    outer_sums,
)
from tests.reference import sharing as twin


def draw(n, d, pieces, k, seed=0):
    """Points (n, d), masks (n, pieces) of all sorts, one of them empty and one whole, residuals (n, k)."""
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.normal(size=(n, d - 1)), np.ones(n)]).astype(np.float32)
    inside = rng.random((n, pieces)) < rng.random(pieces)
    inside[:, ::7], inside[:, 3::7] = False, True
    return points, inside, np.asfortranarray(rng.normal(size=(n, k)))


def designs(points, inside):
    local, dense = LocalDesign(points), DenseDesign(len(points))
    for near in inside.T:
        local.add(near)
    dense.add(twin.local_columns(points.astype(float), inside))
    return local, dense


@given(st.integers(1, 2100), st.integers(1, 3), st.integers(1, 70), st.integers(0, 99))
def test_sums_of_outer_products_are_those_of_the_twin(n, rows, n_codes, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_codes + 2, (rows, n)).astype(np.uint8)  # some are left out
    points, sides = zeros(n, WIDTH), rng.normal(size=(n, 5)).astype(np.float32)
    points[:, :9] = rng.normal(size=(n, 9))
    given_rows, sums = np.arange(rows)[::-1].copy(), np.ones((rows, n_codes, 5, WIDTH))
    outer_sums(codes, given_rows, points, sides, sums)
    wanted = 1.0 + twin.outer_sums(codes[given_rows], points, sides, n_codes)
    np.testing.assert_allclose(sums, wanted, atol=2e-6 * n)


def test_sums_of_many_samples_keep_double_precision():
    n = 100_000
    points, sides = zeros(n, WIDTH), np.full((n, 5), 0.1, np.float32)
    points[:] = 1.0
    sums = np.zeros((1, 1, 5, WIDTH))
    outer_sums(np.zeros((1, n), np.uint8), np.zeros(1, np.int64), points, sides, sums)
    np.testing.assert_allclose(sums, n * np.float64(np.float32(0.1)), rtol=1e-5)  # one running sum has 4e-4 and more


@pytest.mark.parametrize("pieces", [1, 6, 25, 61])
@pytest.mark.parametrize("d, k", [(1, 2), (33, 7), (51, 10)])
def test_scores_and_gradients_are_those_of_the_columns(pieces, d, k):
    points, inside, sides = draw(1500, d, pieces, k)
    local, dense = designs(points, inside)
    weights = np.random.default_rng(1).normal(size=(dense.width, k))
    assert local.width == dense.width
    for some in (weights, weights[: d * (pieces // 2)]):  # of the first columns alone, too
        scores = dense.scores(some)
        np.testing.assert_allclose(local.scores(some), scores, atol=1e-6 * max(1.0, np.abs(scores).max()))
    gradient = dense.gradient(sides)
    np.testing.assert_allclose(local.gradient(sides), gradient, atol=1e-6)
    np.testing.assert_allclose(
        LocalScores(points.astype(float), inside).scores(weights), dense.scores(weights), rtol=1e-10, atol=1e-10
    )


def test_no_piece_has_no_scores_and_no_gradient():
    points, _, sides = draw(30, 4, 1, 3)
    design = LocalDesign(points)
    np.testing.assert_array_equal(design.scores(np.zeros((0, 3))), np.zeros((30, 3)))
    assert design.gradient(sides).shape == (0, 3) and design.scaling(np.ones(30), np.zeros(0)) is None


@pytest.mark.parametrize("keys", [{}, {"margin": 0.3, "offset": np.linspace(-1, 1, 1600).reshape(400, 4)}])
def test_the_objective_is_that_of_the_columns(keys):
    points, inside, _ = draw(400, 5, 9, 4)
    y = np.random.default_rng(2).integers(0, 4, 400)
    problems = [
        Objective(design, y, 4, penalty=regulariser("frobenius", 10.0), weight=0.1, **keys)
        for design in designs(points, inside)
    ]
    weights = np.random.default_rng(3).normal(size=problems[0].shape)
    (value, gradient), (wanted, slope) = (problem(weights) for problem in problems)
    assert value == pytest.approx(wanted, rel=1e-6)
    np.testing.assert_allclose(gradient, slope, atol=1e-6)


def test_residuals_are_filled_up_with_zeros():
    sides = np.asfortranarray(np.random.default_rng(0).normal(size=(3000, 7)))
    filled = pad_classes(sides, 5)
    assert filled.shape == (3000, 10) and filled.dtype == np.float32 and not filled[:, 7:].any()
    np.testing.assert_array_equal(filled[:, :7], sides.astype(np.float32))


def test_scores_by_letters_add_to_nothing_that_was_there():
    points, letters = zeros(3, WIDTH), np.array([[1, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0, 32]], np.uint8)
    points[:, 0] = [1.0, 2.0, 3.0]
    weights, scores = np.zeros((2, 24, 16), np.float32), np.full(3, 9.0)
    weights[0, [0, 1, 23], 0] = [1.0, 10.0, 100.0]
    letter_scores(letters, points, weights, scores)
    np.testing.assert_array_equal(scores, [1.0, 22.0, 300.0])


def test_a_product_is_added_as_the_plain_kernel_adds_it():
    from numba import njit

    @njit
    def both(rows):
        a, b, c = load(rows, 0, 0), load(rows, 1, 0), load(rows, 2, 0)
        store(rows, 3, 0, _fused(a, b, c))

    rows = zeros(4, 16)
    rows[:3] = np.random.default_rng(0).normal(size=(3, 16))
    both(rows)
    once, twice = _plain(rows[0], rows[1], rows[2]), rows[0] + rows[1] * rows[2]
    assert ((rows[3] == once) | (rows[3] == twice)).all()  # rounded once, or twice on processors that cannot
