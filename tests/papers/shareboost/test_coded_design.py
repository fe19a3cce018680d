"""Columns kept as codes give what columns of doubles give, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.papers.shareboost.coded import CodedDesign, CodedPool, unpack
from boostrun.papers.shareboost.design import DenseDesign, thread_team
from boostrun.papers.shareboost.inner import losses_and_residuals
from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.papers.shareboost.pools import WithConstant


def both(n, widths, seed=0):
    """Designs of codes and of doubles, with columns added ``widths`` at a time."""
    rng, designs = np.random.default_rng(seed), (CodedDesign(n), DenseDesign(n))
    for width in widths:
        columns = rng.integers(0, 256, (n, width)) / 255.0
        for design in designs:
            design.add(columns)
    return designs


def test_every_code_is_what_a_division_makes_of_it():
    codes, out = np.arange(256, dtype=np.uint8).reshape(16, 16), np.empty((16, 16))
    unpack(codes, out)
    np.testing.assert_array_equal(out, codes / 255.0)


def test_as_many_numbers_are_unpacked_as_there_is_room_for():
    codes = np.random.default_rng(0).integers(0, 256, (9, 7)).astype(np.uint8)
    out = np.empty((4, 5))
    unpack(codes, out)
    np.testing.assert_array_equal(out, codes[:4, :5] / 255.0)


# 1,024 samples, 10 classes: from 98 columns on products read the sample-major layout
@pytest.mark.parametrize("n", [1, 1024, 2100])
@pytest.mark.parametrize("widths", [[1] * 11, [97], [98], [120, 1, 40]])
def test_products_are_equal_to_the_bit(n, widths):
    coded, dense = both(n, widths)
    rng, y = np.random.default_rng(1), np.random.default_rng(2).integers(0, 10, n)
    weights, importance = rng.normal(size=(dense.width, 10)), rng.random(n)
    scores = dense.scores(weights)
    np.testing.assert_array_equal(coded.scores(weights), scores)
    np.testing.assert_array_equal(coded.scores(weights[:-1]), dense.scores(weights[:-1]))
    for sides in (scores, np.ascontiguousarray(scores)):
        np.testing.assert_array_equal(coded.gradient(sides), dense.gradient(sides))
    np.testing.assert_array_equal(coded.gram(importance), dense.gram(importance))
    with thread_team(2):
        (value, gradient), (wanted, slope) = (
            design.value_and_gradient(weights, lambda part, scores: losses_and_residuals(scores, y[part]))
            for design in (coded, dense)
        )
    assert value == wanted
    np.testing.assert_array_equal(gradient, slope)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 2500), k=st.integers(1, 30), seed=st.integers(0, 999),
    widths=st.lists(st.integers(1, 70), min_size=1, max_size=5),
)  # fmt: skip
def test_no_size_makes_a_difference(n, k, seed, widths):
    coded, dense = both(n, widths, seed)
    weights = np.random.default_rng(seed).normal(size=(dense.width, k))
    np.testing.assert_array_equal(coded.scores(weights), dense.scores(weights))
    sides = np.asfortranarray(np.random.default_rng(seed).normal(size=(n, k)))
    np.testing.assert_array_equal(coded.gradient(sides), dense.gradient(sides))


def test_a_large_bank_keeps_codes_and_a_small_one_numbers():
    pool = CodedPool(np.zeros((1, 50), np.uint8))
    assert type(pool.design()) is DenseDesign
    pool.large_from = 50
    assert type(pool.design()) is CodedDesign
    assert type(WithConstant(pool).design()) is CodedDesign


def test_a_constant_beside_pieces_is_a_column_of_numbers():
    x = np.random.default_rng(0).normal(size=(30, 2))
    pool = PiecewisePool(x, x[:4], np.array([1.0, np.inf]), np.zeros(2), np.eye(2))
    assert type(WithConstant(pool).design()) is DenseDesign
