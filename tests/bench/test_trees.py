"""Kernels beside their floors, growing a tree beside LightGBM, and whole training runs; no time is asserted."""

import time

import numpy as np
import pytest
from numba import njit
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from boostrun import ArraySource, ReservoirClassifier
from boostrun.kernels import in_threads, stumps, trees
from boostrun.methods.weak_learner import Binner
from boostrun.papers.reservoir import geem, kernels
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from boostrun.papers.reservoir.strategies import Batch
from tests.bench.timing import median_ms, pixels_of_mnist, show, slowness, taken, yardsticks

pytestmark = pytest.mark.bench

DEPTH = 6


@pytest.fixture(scope="module")
def mnist():
    """Codes (60000, 784), the same by columns, labels, and signed weights of one digit against the rest."""
    bank = pixels_of_mnist()
    samples, labels = np.array(bank.samples("train")), bank.labels("train")
    signed = np.where(labels == 3, 1.0, -1.0) * np.random.default_rng(0).random(len(labels))
    return samples, np.ascontiguousarray(samples.T), labels, signed


@pytest.mark.parametrize("n", [250, 1000, 5000, 60_000])
def test_a_level_of_a_tree_beside_a_pass_over_its_codes(mnist, n):
    samples, columns, _, signed = mnist
    samples, columns, signed = samples[:n], np.ascontiguousarray(columns[:, :n]), signed[:n]
    weights, positive = trees.fixed_point(signed)[0], signed > 0
    entries, of_stumps = trees.sorted_entries(columns), stumps.fixed_point(signed)[0]
    *_, sums, leaves = trees.grow(columns, *entries, weights, positive, DEPTH, 1)
    assert sums.sum() == weights.sum() and len(np.unique(leaves)) > DEPTH
    repeats = 30 if n < 10_000 else 5
    search, sort, grow = (median_ms(function, repeats, time.process_time) for function in (
        lambda: stumps.best_feature_by_histogram(samples, np.arange(n), of_stumps),
        lambda: trees.sorted_entries(columns), lambda: trees.grow(columns, *entries, weights, positive, DEPTH, 1),
    ))  # fmt: skip
    show(f"{n} samples of MNIST, depth {DEPTH}", [
        ("a stump's histogram search, one pass over all codes", f"{search:.2f} ms"),
        ("order of the codes, once a reservoir's tree, once a data set", f"{sort:.2f} ms, ratio {sort / search:.2f}"),
        ("a tree, all levels", f"{grow:.2f} ms, a level by a pass {grow / DEPTH / search:.2f}"),
    ])  # fmt: skip


def test_a_round_on_all_samples_beside_lightgbm(mnist):
    lightgbm = pytest.importorskip("lightgbm")
    samples, columns, labels, _ = mnist
    y, entries = np.where(labels == 3, 1.0, -1.0), trees.sorted_entries(columns)
    least = {"num_leaves": 2**DEPTH, "max_depth": DEPTH, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 1e-3}
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1, "learning_rate": 0.3, "max_bin": 255, **least}
    data = lightgbm.Dataset(samples.astype(np.float32), y > 0, params=settings).construct()
    theirs, scores, times = lightgbm.Booster(settings, data), np.zeros(len(y)), ([], [])

    def round_of_ours():
        signed = y / (1.0 + np.exp(y * scores))
        weights = trees.fixed_point(signed)[0]
        _, _, sums, leaves = trees.grow(columns, *entries, weights, signed > 0, DEPTH, int(weights.mean()))
        scores[:] += 0.3 * 0.5 * np.log((sums[:, 1] + 1e12) / (sums[:, 0] + 1e12))[leaves]

    with threadpool_limits(1):
        for _ in range(12):
            for each, one in zip(times, (round_of_ours, theirs.update)):
                begun = time.process_time()  # a shared machine's clock counts others' work too
                one()
                each.append(1e3 * (time.process_time() - begun))
    right, of_other = ((said > 0) == (y > 0) for said in (scores, theirs.predict(samples, raw_score=True)))
    assert abs(right.mean() - of_other.mean()) < 0.01  # their steps are those of Newton
    ours, other = (float(np.median(each[2:])) for each in times)
    show(f"a round on 60,000 x 784, depth {DEPTH}, one thread, processor time", [
        ("boostrun", f"{ours:.0f} ms"), ("LightGBM, 64 leaves at most", f"{other:.0f} ms, ratio {ours / other:.2f}"),
    ])  # fmt: skip


def test_two_threads_beside_one(mnist):
    """In turns, and the least of each: other work on the machine slows one at a time."""
    samples, columns, labels, signed = mnist
    weights, positive = trees.fixed_point(signed)[0], signed > 0
    entries, y, values = trees.sorted_entries(columns), labels == 3, samples.astype(np.float32)
    by_trees, by_stumps = (
        FullDataClassifier("all", weak_learner=word, n_estimators=10, random_state=0) for word in ("tree", "stump")
    )
    binned = Binner(values[:10_000])
    fitted = FullDataClassifier("all", weak_learner="tree", n_estimators=50, random_state=0)
    fitted.fit(samples[:1000], labels[:1000])
    told = []
    for what, work, repeats in (
        ("a tree of depth 6", lambda: trees.grow(columns, *entries, weights, positive, DEPTH, 1), 30),
        ("fit, two classes, ten trees", lambda: by_trees.fit(samples, y), 6),
        ("fit, two classes, ten stumps", lambda: by_stumps.fit(samples, y), 10),
        ("codes of float32", lambda: binned.encode(values), 5),
        ("scores of 500 trees", lambda: fitted.decision_function(samples), 5),
    ):
        seconds = {1: [], 2: []}
        for turn in range(repeats + 1):
            for threads, found in seconds.items():
                with in_threads(threads):
                    begun = time.perf_counter()
                    work()
                    found.append(time.perf_counter() - begun if turn else np.inf)  # the first compiles
        one, two = (1e3 * min(found) for found in seconds.values())
        told.append((what, f"{one:.0f} ms, {two:.0f} ms, ratio {one / two:.2f}"))
    show("60,000 x 784, one thread and two, wall clock", told)


def test_ten_classes_of_mnist_holding_500_samples(mnist):
    samples, _, labels, _ = mnist
    seconds = []
    with threadpool_limits(1):
        for rounds in (2, 250):
            begun = time.process_time()
            clf = ReservoirClassifier(
                "wsam", weak_learner="tree", reservoir_size=250, n_estimators=rounds, shrinkage=0.3, random_state=0
            )
            clf.fit_source(ArraySource(samples, labels, 0))
            seconds.append(time.process_time() - begun)
    assert clf.score(samples, labels) > 0.93
    show("wsam r=q=250, trees of depth 6, T=250, 10 classes", [("processor time, target 10 s", f"{seconds[1]:.1f} s")])


TARGETS = {("wsam", 100): 1.5, ("geem", 100): 5.0, ("wsam", 250): None, ("geem", 250): 25.0}


def test_ten_classes_of_mnist_on_one_core():
    bank = pixels_of_mnist()
    samples, labels = bank.samples("train"), bank.labels("train")
    rows = []
    with threadpool_limits(1):
        for (strategy, r), target in TARGETS.items():
            ReservoirClassifier(strategy, reservoir_size=5, n_estimators=2, random_state=0).fit_source(
                ArraySource(samples[:100], labels[:100], 0)
            )
            before = yardsticks()
            begun = time.perf_counter()
            clf = ReservoirClassifier(strategy, reservoir_size=r, n_estimators=250, random_state=0)
            clf.fit_source(ArraySource(samples, labels, 0))
            seconds = time.perf_counter() - begun
            assert clf.score(samples[:10_000], labels[:10_000]) > 0.75
            # a shared machine changes its speed within seconds: the yardsticks are taken on both sides of a run
            after = yardsticks()
            scale, (inverse, cityblock) = slowness(before, after), np.mean([before, after], axis=0)
            against = f", target {target * scale:.2f} s, ratio {seconds / target / scale:.2f}" if target else ""
            rows.append((f"{strategy} r={r} T=250, 10 classes", f"{seconds:.2f} s{against}"))
            rows.append(("  yardsticks: inverse, cityblock; scale", f"{inverse:.1f}, {cityblock:.1f} ms; {scale:.2f}"))
    show("training on MNIST", rows)


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


@pytest.mark.parametrize("r", [250, 500, 1000, 2000])
def test_a_choice_of_geem_beside_its_products_of_matrices(mnist, r):
    samples, _, labels, signed = mnist
    n = 2 * r
    y, weights = np.where(labels[:n] == 3, 1.0, -1.0), np.abs(signed[:n]) ** 3  # few samples have most of the weight
    given = Batch(samples[:n], y, weights, np.zeros(n, int))
    dims = np.arange(samples.shape[1])
    sigma, square = np.empty((n, n)), np.ones((1024, 1024))
    ranked = geem._Ranks(given.samples, y, dims)
    inversion, columns, found = kernels.inversion_of(n), np.empty((r, n)), {}

    def invert():
        np.copyto(inversion.matrix.T, sigma)
        inversion.factor()
        inversion.inverse()

    def eliminate(way):
        weight, alive = weights[None].copy(), np.arange(n)
        way(inverse, inverse.sum(axis=0)[None], weight, np.zeros((1, n)), 0.0, alive, columns)
        found[way] = alive[r:]

    def choose(strategy):
        return lambda: strategy(given, r, np.random.default_rng(0))

    covariance, repeats = lambda: ranked.covariance(1.0, sigma), 3 if r >= 1000 else 9
    covariance()
    invert()
    inverse = inversion.matrix.T.copy()
    kernels.fill_lower(inverse)
    speed = 2.0 * len(square) ** 3 / taken(lambda: square @ square, 9)  # operations a second
    steps = np.arange(r)
    floors = {"inverse": n**3 / speed, "elimination": 2.0 * (steps * (n - steps)).sum() / speed}
    ways = {"elimination, one by one": kernels.eliminate, "elimination, in blocks": geem.eliminate_in_blocks}
    parts = {
        "covariance": covariance, "inverse": invert,
        **{name: (lambda way=way: eliminate(way)) for name, way in ways.items()},
        "a choice of GEEM": choose(geem.Geem()), "a choice of thin GEEM, 128 stumps": choose(geem.GeemThin()),
    }  # fmt: skip
    rows = [("product of 1024 x 1024 matrices", f"{speed / 1e9:.0f} G operations/s, the floors' speed")]
    for name, part in parts.items():
        least, floor = 1e3 * taken(part, repeats), 1e3 * floors.get(name.partition(",")[0], 0.0)
        rows.append((name, f"{least:.1f} ms of processor" + (f", {least / floor:.1f} of its floor" if floor else "")))
    assert np.array_equal(*found.values())
    show(f"GEEM, r = q = {r}, MNIST", rows)
