"""ShareBoost's scoring passes, and a round of JointBoost, beside their matrix products; no time is asserted."""

import numpy as np
import pytest
from numba import njit
from sklearn.datasets import load_digits

from boostrun.kernels.lanes import LANES, increase, load, zeros
from boostrun.papers.shareboost import coded
from boostrun.papers.shareboost.coded import CodedDesign
from boostrun.papers.shareboost.design import DenseDesign
from boostrun.papers.shareboost.inner import Objective, losses_and_residuals
from boostrun.papers.shareboost.jointboost import JointBoostClassifier
from boostrun.papers.shareboost.pieces import LocalDesign, PiecewisePool
from boostrun.papers.shareboost.pools import DensePool, ProductPool
from boostrun.papers.shareboost.stumps import BinnedStumpPool
from tests.bench.timing import median_ms, read_often, show
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.bench

CLASSES = 10


@njit(cache=True)
def add_by_bin(codes, sides, histograms):
    """The histogram pass alone: four columns at a time."""
    for first in range(0, codes.shape[0], 4):
        a, b, c, d = codes[first], codes[first + 1], codes[first + 2], codes[first + 3]
        for i in range(codes.shape[1]):
            row = load(sides, i, 0)
            increase(histograms, np.uint64(a[i]), 0, row)
            increase(histograms, np.uint64(b[i]) + np.uint64(256), 0, row)
            increase(histograms, np.uint64(c[i]) + np.uint64(512), 0, row)
            increase(histograms, np.uint64(d[i]) + np.uint64(768), 0, row)


def in_turn(rounds, **functions):
    """Median ms of each, taken in turn so that what else the machine does comes to all of them."""
    times = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(median_ms(function, 3))
    return {name: float(np.median(took)) for name, took in times.items()}


def beside(title, times):
    floor = times["floor"]
    show(title, [(name, f"{took:.1f} ms, ratio {took / floor:.2f}") for name, took in times.items()])


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


def sides_of(rng, n, k=CLASSES):
    return np.asfortranarray(rng.normal(size=(n, k)))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_dense_columns_beside_one_matrix_product(kind, rng):
    x, sides = rng.random((20_000, 2000)).astype(kind), sides_of(rng, 20_000)
    single, pool = np.ascontiguousarray(sides.T.astype(kind)), DensePool(x)
    np.testing.assert_allclose(pool.scores(sides), np.abs(sides.T @ x).sum(axis=0) / 20_000, rtol=1e-3)
    beside(f"20,000 x 2,000 {np.dtype(kind).name}", in_turn(
        5, floor=lambda: single @ x, scores=lambda: pool.scores(sides)
    ))  # fmt: skip


def test_vectors_of_words_beside_plain_integers(rng):
    codes, words = (
        rng.integers(0, 256, (64, 60_000)).astype(np.uint8),
        rng.integers(-9, 9, (59, CLASSES, 1024), np.int16),
    )
    scales, found, plain = np.ones((59, CLASSES)), np.zeros((64, CLASSES)), np.zeros((64, CLASSES))
    coded.sums(codes, words, scales, found)
    coded._plain_sums(codes, words, scales, plain)
    assert (found == plain).all()
    beside("products of 60,000 x 64 codes with words of 16 bits", in_turn(
        3, floor=lambda: coded.sums(codes, words, scales, found),
        plain=lambda: coded._plain_sums(codes, words, scales, plain),
    ))  # fmt: skip


def test_the_loss_beside_its_exponentials(rng):
    scores, y = sides_of(rng, 100_000) * 5, rng.integers(0, CLASSES, 100_000)
    terms = np.empty((CLASSES, 100_000))
    np.testing.assert_allclose(losses_and_residuals(scores, y)[1].sum(axis=1), 0.0, atol=1e-12)
    beside("loss and residuals of 100,000 x 10 scores, by layout", in_turn(
        5, floor=lambda: np.exp(scores.T, out=terms), classes=lambda: losses_and_residuals(scores, y),
        samples=lambda: losses_and_residuals(scores.copy("C"), y),
    ))  # fmt: skip


def test_stumps_beside_the_histogram_pass(rng):
    codes, sides = rng.integers(0, 256, (200, 60_000)).astype(np.uint8), sides_of(rng, 60_000)
    padded, histograms = zeros(60_000, LANES), zeros(1024, LANES)
    padded[:, :CLASSES] = sides
    pool = BinnedStumpPool(codes)
    assert np.isfinite(pool.scores(sides)).all() and pool.scores(sides).min() >= 0.0
    beside("stumps on 60,000 x 200 codes", in_turn(
        5, floor=lambda: add_by_bin(codes, padded, histograms), scores=lambda: pool.scores(sides)
    ))  # fmt: skip


@pytest.mark.parametrize("n, d, k", [(6238, 617, 26), (4435, 36, 6)])
def test_products_beside_a_matrix_product_a_class(n, d, k, rng):
    x, sides = rng.random((n, d)), sides_of(rng, n, k)
    pool, rows, weights = ProductPool(x), np.ascontiguousarray(x.T), np.ascontiguousarray(sides.T)

    def products():
        for side in weights:
            (rows * side) @ rows.T

    for j in (0, d - 2, len(pool.scores(sides)) - 1):  # pairs that begin and end the numbering
        assert pool.scores(sides)[j] == pytest.approx(np.abs(pool.columns(j).T @ sides).sum() / n, rel=1e-6)
    beside(f"products of {d} attributes, {n} samples, {k} classes, float64", in_turn(
        1, floor=products, scores=lambda: pool.scores(sides)
    ))  # fmt: skip


def test_pieces_beside_a_matrix_product_of_as_many_multiply_adds(rng):
    x, sides = rng.normal(size=(60_000, 50)) / 4, sides_of(rng, 60_000)
    radii = np.append(np.linspace(1.0, 3.0, 34), np.inf)
    pool = PiecewisePool(x, x[:40], radii, np.zeros(50), np.eye(50))
    points, many = pool.points.T.astype(np.float32), np.tile(sides.astype(np.float32), 40)
    assert np.isfinite(pool.scores(sides)).all() and pool.scores(sides).min() >= 0.0
    beside("pieces: 60,000 x 51 coordinates, 40 anchors, 35 radii", in_turn(
        3, floor=lambda: points @ many, scores=lambda: pool.scores(sides)
    ))  # fmt: skip


def test_an_inner_step_beside_its_two_matrix_products(rng):
    n, width = 20_000, 60
    design, x, y = DenseDesign(n), rng.random((n, width)), rng.integers(0, CLASSES, n)
    design.add(x)
    objective, weights, rows = Objective(design, y, CLASSES), rng.normal(size=(width, CLASSES)), x.T.copy()
    sides = sides_of(rng, n)
    value, gradient = objective(weights)
    assert value > 0.0 and np.isfinite(gradient).all() and gradient.size == weights.size
    beside(f"value and gradient, {n} samples, {width} columns", in_turn(
        5, floor=lambda: (weights.T @ rows, rows @ sides), step=lambda: objective(weights)
    ))  # fmt: skip


def test_columns_kept_as_codes_beside_columns_of_doubles(rng):
    n, width = 60_000, 200
    codes, y = rng.integers(0, 256, (n, width)), rng.integers(0, CLASSES, n)
    objectives, weights = [], rng.normal(size=(width, CLASSES))
    for design in (DenseDesign(n), CodedDesign(n)):
        design.add(codes / 255.0)
        objectives.append(Objective(design, y, CLASSES))
    (value, gradient), (coded, slope) = (objective(weights) for objective in objectives)
    assert value == coded and (gradient == slope).all()
    doubles, codes = objectives
    beside(f"value and gradient, {n} samples, {width} columns", in_turn(
        5, floor=lambda: doubles(weights), codes=lambda: codes(weights)
    ))  # fmt: skip


def test_pieces_in_use_beside_matrix_products_of_their_masks(rng):
    n, pieces = 20_000, 96
    points = np.column_stack([rng.normal(size=(n, 50)), np.ones(n)]).astype(np.float32)
    design, masks = LocalDesign(points), (rng.random((n, pieces)) < 0.5).astype(np.float32)
    for inside in masks.T:
        design.add(inside > 0)
    weights, sides = rng.normal(size=(51 * pieces, CLASSES)), sides_of(rng, n)
    wide = weights.reshape(pieces, -1).astype(np.float32)
    outer = (points[:, :, None] * sides[:, None, :].astype(np.float32)).reshape(n, -1)
    wanted = np.einsum("iaq,ia->iq", (masks @ wide).reshape(n, 51, CLASSES), points)
    np.testing.assert_allclose(design.scores(weights), wanted, rtol=1e-3, atol=1e-3)
    beside(f"scores and gradient of {pieces} pieces of 51 columns, {n} samples", in_turn(
        3,
        floor=lambda: (masks @ wide, masks.T @ outer),
        letters=lambda: (design.scores(weights), design.gradient(sides)),
    ))  # fmt: skip


def training_sets():
    """name -> (X, y): StatLog and Pendigits where their files are, else scikit-learn's digits."""
    found = {}
    for name, file, delimiter in (("StatLog", "sat.trn", None), ("Pendigits", "pendigits.tra", ",")):
        if (REAL_DATA / "uci" / file).is_file():
            table = np.loadtxt(REAL_DATA / "uci" / file, delimiter=delimiter)
            found[name] = table[:, :-1], table[:, -1]
    return found or {"digits": load_digits(return_X_y=True)}


def test_a_round_of_jointboost():
    rows = []
    for name, (X, y) in training_sets().items():
        clf = JointBoostClassifier(rounds=60).fit(X, y)
        assert clf.score(X, y) > 0.8
        select, rest = 1e3 * np.median(clf.seconds_select_), 1e3 * np.median(clf.seconds_optimise_)
        weights = zeros(len(X), -(-len(clf.classes_) // LANES) * LANES)
        floor = median_ms(lambda weights=weights, d=X.shape[1]: read_often(weights, d))
        what = f"{name}: {len(X)} samples, {X.shape[1]} features, {len(clf.classes_)} classes"
        rows.append((what, f"{select:.2f} + {rest:.2f} ms, floor {floor:.2f}"))
    show("JointBoost, best first: search + update a round; the target on StatLog is 50 ms", rows)
