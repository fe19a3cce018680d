"""A pass in 16-bit integers before the exact one: its sums, its errors, and that no choice changes."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.papers.shareboost import coded
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.coded import CodedPool, Screen
from boostrun.papers.shareboost.evaluations import SharePath
from boostrun.papers.shareboost.pools import WithConstant
from boostrun.papers.shareboost.selection import lowest_best
from tests.reference import screening as twin


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


@pytest.mark.parametrize("bias", ["none", "pool", "free"])
def test_whole_paths_are_the_same(bias):
    codes, _ = draw(2500, 60, 3, seed=4)
    y = (codes[3].astype(int) + codes[11] > 250).astype(np.int64) + (codes[20] > 150)
    paths = []
    for start in (0, 10**9):
        pool = CodedPool(codes)
        pool.large_from = start
        paths.append(ShareBoostClassifier(12, bias=bias).fit_pool(pool, y))
    one, other = paths
    np.testing.assert_array_equal(one.selected_, other.selected_)
    np.testing.assert_array_equal(one.scores_, other.scores_)
    np.testing.assert_array_equal(one.path_[-1], other.path_[-1])


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
