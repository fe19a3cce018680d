"""Every pool: its scores are those of its columns; pieces in use: letters and sums by code give the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostrun.errors import BoostrunError
from boostrun.kernels.lanes import load, store, zeros
from boostrun.papers.shareboost import model as evaluate
from boostrun.papers.shareboost.coded import CodedPool
from boostrun.papers.shareboost.design import DenseDesign, pad_classes
from boostrun.papers.shareboost.pieces import (
    WIDTH,
    LocalDesign,
    LocalScores,
    PiecewisePool,
    _fused,
    _plain,
    letter_scores,
    outer_sums,
)
from boostrun.papers.shareboost.pools import GroupPool, ProductPool
from boostrun.papers.shareboost.stumps import BinnedStumpPool, SortedStumpPool
from tests.papers.shareboost.pools import CLASSES, POOLS, pieces, samples
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


def residuals(n, k=CLASSES, seed=5):
    sides = np.random.default_rng(seed).normal(size=(n, k))
    return np.asfortranarray(sides - sides.mean(axis=1, keepdims=True))


@pytest.fixture(params=POOLS)
def pool(request):
    return POOLS[request.param](samples()[0])


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("k", [2, 19])
def test_scores_are_those_of_the_columns(pool, normalised, k):
    sides = residuals(pool.n_samples, k)
    found = pool.scores(sides, normalised=normalised)
    score = twin.normalised_score if normalised else twin.score
    wanted = [score(pool.columns(r), sides) for r in range(pool.n_candidates)]
    np.testing.assert_allclose(found, wanted, rtol=2e-5 if pool.rounding > 1e-9 else 1e-10, atol=1e-7 * max(wanted))


def test_some_units_have_the_scores_that_they_have_among_all(pool):
    sides = residuals(pool.n_samples)
    starts = np.arange(pool.n_candidates + 1) if pool.unit_starts is None else pool.unit_starts
    every = np.arange(len(starts) - 1)
    whole = pool.scores(sides)
    for units in (every, every[::2], every[1:], every[-1:], every[:1]):
        wanted = np.concatenate([whole[starts[unit] : starts[unit + 1]] for unit in units])
        np.testing.assert_allclose(pool.scores(sides, units), wanted, rtol=1e-6, atol=1e-8)


def test_no_column_reaches_further_than_the_pool_says(pool):
    for r, reach in enumerate(pool.reaches()):
        assert np.abs(pool.columns(r)).max(axis=0).sum() <= reach * (1 + 1e-6)


def test_the_design_of_a_pool_holds_its_columns(pool):
    design, chosen = pool.design(), [0, pool.n_candidates - 1, pool.n_candidates // 2]
    for candidate in chosen:
        pool.extend(design, candidate)
    columns = np.hstack([pool.columns(candidate) for candidate in chosen])
    near = 1e-5 if pool.kind == "pieces" else 1e-12  # single precision
    weights = np.random.default_rng(0).normal(size=(columns.shape[1], 3))
    assert design.width == columns.shape[1]
    np.testing.assert_allclose(design.scores(weights), columns @ weights, atol=near)
    sides = residuals(pool.n_samples)
    np.testing.assert_allclose(design.gradient(sides), columns.T @ sides / len(sides), atol=near)
    width = pool.columns(chosen[0]).shape[1]
    np.testing.assert_allclose(design.scores(weights[:width]), columns[:, :width] @ weights[:width], atol=near)


@pytest.mark.parametrize("name", [name for name in POOLS if "coded" not in name and "with" not in name])
def test_features_of_new_samples_are_the_columns_when_the_samples_are_the_old_ones(name):
    x, _ = samples()
    pool = POOLS[name](x)
    for candidate in range(0, pool.n_candidates, 3):
        features = pool.feature(candidate) | pool.common()
        design = evaluate.design_of(pool.kind, features, x, np.empty(0, np.int64), False)
        np.testing.assert_allclose(design.scores(np.eye(design.width)), pool.columns(candidate), atol=1e-6)


def test_codes_of_new_samples_may_be_feature_major():
    codes = np.random.default_rng(0).integers(0, 256, (5, 20)).astype(np.uint8)
    pool = CodedPool(codes, costs=np.arange(5))
    found = evaluate.compute_codes(pool.feature(3), codes.T)
    np.testing.assert_array_equal(found, pool.columns(3))
    assert pool.cost(3) == 3


@given(seed=st.integers(0, 10_000), n=st.integers(2, 60), levels=st.integers(1, 30))
def test_stumps_are_all_thresholds_with_ties_and_constant_features(seed, n, levels):
    rng = np.random.default_rng(seed)
    x, sides = rng.integers(0, levels, (n, 3)).astype(float), residuals(n, 3, seed)
    columns = twin.stump_columns(x)
    wanted = np.array([twin.score(columns[:, [r]], sides) for r in range(columns.shape[1])])
    sorted_, binned = SortedStumpPool(x), BinnedStumpPool.binned(x)
    assert sorted_.n_candidates == binned.n_candidates == len(wanted)
    np.testing.assert_allclose(sorted_.scores(sides), wanted, atol=1e-12)
    np.testing.assert_allclose(binned.scores(sides), wanted, atol=1e-5)
    for r in range(len(wanted)):
        np.testing.assert_array_equal(sorted_.columns(r)[:, 0], columns[:, r])
        np.testing.assert_array_equal(binned.columns(r)[:, 0], columns[:, r])


def test_stumps_of_more_samples_than_single_precision_sums():
    rng = np.random.default_rng(0)
    x, sides = rng.integers(0, 200, (17_000, 6)).astype(float), residuals(17_000, 20)
    np.testing.assert_allclose(BinnedStumpPool.binned(x).scores(sides), SortedStumpPool(x).scores(sides), rtol=2e-5)


def test_bins_are_fewer_where_values_are_many():
    x = np.random.default_rng(0).normal(size=(1000, 2))
    assert BinnedStumpPool.binned(x, max_bins=16, constant=True).n_candidates == 1 + 2 * 15
    assert SortedStumpPool(x).n_candidates == 2 * 999


@pytest.mark.parametrize("n, d", [(30, 2), (50, 11), (3, 40)])
def test_products_on_the_fly_are_products_stored(n, d, monkeypatch):
    monkeypatch.setattr("boostrun.papers.shareboost.pools._BYTES", 8 * n * 5 * 3)  # blocks of three attributes
    x, sides = np.random.default_rng(1).integers(0, 9, (n, d)).astype(float), residuals(n, 5)
    columns = twin.product_columns(x)
    pool = ProductPool(x)
    np.testing.assert_allclose(np.hstack([pool.columns(r) for r in range(pool.n_candidates)]), columns, atol=1e-12)
    wanted = [twin.score(columns[:, [r]], sides) for r in range(columns.shape[1])]
    np.testing.assert_allclose(pool.scores(sides), wanted, atol=1e-13)


@pytest.mark.parametrize("scale", ["minmax", "max01", "standard"])
def test_every_scale_of_products_ends_at_one(scale):
    x = np.random.default_rng(2).integers(0, 50, (80, 5)).astype(float)
    pool = ProductPool(x, scale)
    columns = np.hstack([pool.columns(r) for r in range(pool.n_candidates)])
    np.testing.assert_allclose(np.abs(columns).max(axis=0), 1.0)
    if scale == "max01":
        np.testing.assert_allclose(columns[:, 0], x[:, 0] * x[:, 1] / (x[:, 0] * x[:, 1]).max())


def test_pieces_are_what_anchors_and_radii_say():
    x, _ = samples()
    pool = pieces(x)
    sides = residuals(len(x))
    found = pool.scores(sides).reshape(len(pool.anchors), len(pool.radii))
    for j, anchor in enumerate(pool.anchors):
        for b, radius in enumerate(pool.radii):
            columns = twin.piece_columns(x, anchor, radius)
            np.testing.assert_array_equal(pool.columns(j * len(pool.radii) + b), columns)
            assert found[j, b] == pytest.approx(twin.score(columns, sides), rel=1e-5)


def test_pieces_scored_on_some_samples():
    x, _ = samples()
    rows = np.arange(0, len(x), 3)
    sides = residuals(len(x))
    whole = pieces(x)
    wanted = [twin.score(whole.columns(r)[rows], sides[rows]) for r in range(whole.n_candidates)]
    np.testing.assert_allclose(pieces(x, rows).scores(sides), wanted, rtol=1e-5)


def test_fitted_pieces_have_coordinates_within_one_and_growing_radii():
    x = np.random.default_rng(0).normal(size=(300, 12))
    pool = PiecewisePool.fitted(x, 10, 5, 4, 100, np.random.default_rng(0))
    assert pool.points.shape == (300, 5)
    assert np.abs(pool.points).max() == pytest.approx(1.0)
    assert (np.diff(pool.radii) > 0).all()
    assert np.isinf(pool.radii[-1])
    assert len(pool.rows) == 100
    np.testing.assert_allclose(evaluate.project(pool.common(), x), pool.points[:, :4], atol=1e-12)


@pytest.mark.parametrize("name", POOLS)
def test_fingerprints_tell_pools_apart(name):
    x, _ = samples()
    changed = x.copy()
    changed[7, 0] = changed[7, 8] = -0.97
    assert POOLS[name](x).fingerprint() == POOLS[name](x.copy()).fingerprint() != POOLS[name](changed).fingerprint()


@pytest.mark.parametrize("make, words", [
    (lambda x: GroupPool(x, []), "at least one group"),
    (lambda x: GroupPool(x, [[0], []]), "group 1 holds no column"),
    (lambda x: GroupPool(x, [[0, 9]]), "not one of 0 to 8"),
    (lambda x: ProductPool(x[:, :1]), "at least two attributes"),
    (lambda x: ProductPool(x, "minmx"), "did you mean 'minmax'"),
])  # fmt: skip
def test_what_cannot_be_a_pool_is_refused(make, words):
    with pytest.raises(BoostrunError, match=words):
        make(samples()[0])
