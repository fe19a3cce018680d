"""Columns kept as codes give what columns of doubles give, to the bit; the pass in 16-bit integers before them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.papers.shareboost import coded
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.coded import CodedDesign, CodedPool, Screen, unpack
from boostrun.papers.shareboost.design import DenseDesign, thread_team
from boostrun.papers.shareboost.evaluations import SharePath
from boostrun.papers.shareboost.inner import losses_and_residuals
from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.papers.shareboost.pools import WithConstant
from boostrun.papers.shareboost.selection import lowest_best
from tests.reference import screening as twin


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


def draw(n, d, k, seed=0):
    """Codes (d, n) that have to do with classes, and residuals (n, k), class-major, most of them small."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(size=(d, 1)) * 20 * rng.normal(size=n)
    codes = np.clip(rng.normal(120, 40, size=(d, n)) + shift, 0, 255).astype(np.uint8)
    sides = rng.normal(size=(n, k)) ** 5
    return codes, np.asfortranarray((sides - sides.mean(axis=1, keepdims=True)) / np.abs(sides).max())


@settings(max_examples=30)
@given(
    n=st.sampled_from([1, 15, 16, 17, 1023, 1024, 1025, 2077]),
    d=st.integers(1, 4), k=st.sampled_from([1, 2, 5, 7]), seed=st.integers(0, 99),
)  # fmt: skip
def test_sums_are_those_of_whole_multiples(n, d, k, seed):
    codes, sides = draw(n, d, k, seed)
    by_class = sides.T.astype(np.float32, order="C")
    shape = -(-n // coded.BLOCK), -(-k // coded.CLASSES) * coded.CLASSES
    words, scales = np.zeros((*shape, coded.BLOCK), np.int16), np.zeros(shape)
    rest, squares = np.empty(k), np.empty(k)
    coded.quantise(by_class, words, scales, rest, squares)
    multiples = twin.in_words(by_class)
    left = by_class - multiples
    np.testing.assert_allclose(rest, left.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(squares, np.square(left).sum(axis=1), atol=1e-14)
    wanted = twin.sums(codes, multiples)
    found, plain = np.zeros((d, shape[1])), np.zeros((d, shape[1]))
    coded.sums(codes, words, scales, found)
    coded._plain_sums(codes, words, scales, plain)
    np.testing.assert_allclose(found[:, :k], wanted, rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(found, plain)
    assert not found[:, k:].any()


def test_the_largest_products_fit():
    codes = np.full((3, 1024), 255, np.uint8)
    words = np.full((1, coded.CLASSES, 1024), -32767, np.int16)
    out = np.zeros((3, coded.CLASSES))
    coded.sums(codes, words, np.ones((1, coded.CLASSES)), out)
    assert (out == -255 * 32767 * 1024).all()


@given(n=st.integers(1, 9000), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_moments_are_exact(n, seed):
    codes = np.random.default_rng(seed).integers(0, 256, (3, n)).astype(np.uint8)
    first, second = np.empty(3, np.int64), np.empty(3, np.int64)
    coded.moments(codes, first, second)
    wide = codes.astype(np.int64)
    np.testing.assert_array_equal(first, wide.sum(axis=1))
    np.testing.assert_array_equal(second, np.square(wide).sum(axis=1))


@pytest.mark.parametrize("k", [2, 3, 10])
def test_errors_are_within_the_bounds(k):
    codes, sides = draw(5000, 40, k, seed=k)
    found, bounds = Screen(codes).scores(sides)
    exact = np.abs(codes.astype(np.float64) @ sides.astype(np.float32).astype(np.float64)).sum(axis=1) / (255 * 5000)
    off = np.abs(found - exact)
    assert (off <= bounds).all()
    assert off.max() > 0.0
    assert (off < 16 / 5000**0.5 * bounds).all()  # the remainders have no direction


@settings(max_examples=25, deadline=None)
@given(
    k=st.sampled_from([2, 5, 10]), taken=st.floats(0.0, 0.95), seed=st.integers(0, 999),
    twins=st.booleans(), few=st.booleans(),
)  # fmt: skip
def test_no_choice_changes(k, taken, seed, twins, few):
    codes, sides = draw(3000, 200, k, seed)
    rng = np.random.default_rng(seed)
    if twins:
        codes[100:] = codes[:100]
    if few:  # residuals of few values, as before the first round
        sides = np.asfortranarray(np.where(rng.random((len(sides), 1)) < 0.3, 0.9, -0.1) * np.ones(k))
    pool, out = CodedPool(codes), rng.random(200) < taken
    out[rng.integers(200)] = False
    pool.large_from = 0
    found, every = pool.contending(sides, out), pool.scores(sides)
    every[out] = -np.inf
    best = lowest_best(every, pool.rounding)
    assert lowest_best(found, pool.rounding) == best
    assert found[best] == every[best]
    assert ((found == every) | np.isneginf(found)).all()


def test_few_are_looked_at_twice():
    codes, sides = draw(40_000, 300, 4)
    pool, none = CodedPool(codes), np.zeros(300, bool)
    found, every = pool.contending(sides, none), pool.scores(sides)
    assert 1 <= np.isfinite(found).sum() <= 10
    assert found.argmax() == every.argmax()


def test_a_constant_contends_with_columns():
    codes, sides = draw(2000, 30, 3)
    sides += [3.0, 0.0, -3.0]
    inner = CodedPool(np.minimum(codes, 100))
    inner.large_from = 0
    taken = np.zeros(31, bool)
    assert WithConstant(inner).contending(sides, taken).argmax() == 30
    taken[30] = True
    assert WithConstant(inner).contending(sides, taken)[:30].argmax() == inner.scores(sides).argmax()


def test_codes_that_are_not_contiguous_are_scored_all_the_same():
    codes, sides = draw(1500, 20, 3)
    pool = CodedPool(np.asfortranarray(codes))
    pool.large_from = 0
    np.testing.assert_array_equal(pool.contending(sides, np.zeros(20, bool)), pool.scores(sides))


def test_a_rehearsal_compiles_what_only_large_data_need(monkeypatch):
    passes, scores = [], Screen.scores
    monkeypatch.setattr(Screen, "scores", lambda self, sides: passes.append(self) or scores(self, sides))
    codes, _ = draw(50, 6, 2)
    table = SimpleNamespace(
        kind="codes", codes=lambda split: codes, fitted=dict, labels=lambda split: np.arange(50) % 2
    )
    SharePath().warm_up(ShareBoostClassifier(1), table)
    assert passes


# 1,024 samples, 10 classes: from 98 columns on products read the sample-major layout
@settings(max_examples=40, deadline=None)
@given(
    n=st.sampled_from([1, 1024, 2100]) | st.integers(1, 2500), k=st.just(10) | st.integers(2, 30),
    seed=st.integers(0, 999),
    widths=st.sampled_from([[1] * 11, [97], [98], [120, 1, 40]]) | st.lists(st.integers(1, 70), min_size=1, max_size=5),
)  # fmt: skip
def test_products_are_equal_to_the_bit_whatever_their_sizes(n, k, seed, widths):
    coded, dense = both(n, widths, seed)
    rng = np.random.default_rng(seed)
    weights, importance, y = rng.normal(size=(dense.width, k)), rng.random(n), rng.integers(0, k, n)
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
