"""Two threads beside one, whole training runs, the parts of a choice of GEEM. Results are asserted, times are not."""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from boostrun import ArraySource, ReservoirClassifier
from boostrun.kernels import in_threads
from boostrun.methods.tree import ColumnTrees, Growth
from boostrun.methods.weak_learner import Binner
from boostrun.papers.reservoir import geem, kernels
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from boostrun.papers.reservoir.strategies import Batch
from tests.bench.timing import pixels_of_mnist, show, slowness, taken, yardsticks

pytestmark = pytest.mark.bench

DEPTH = 6


@pytest.fixture(scope="module")
def mnist():
    """Codes (60000, 784), the same by columns, labels, and signed weights of one digit against the rest."""
    bank = pixels_of_mnist()
    samples, labels = np.array(bank.samples("train")), bank.labels("train")
    signed = np.where(labels == 3, 1.0, -1.0) * np.random.default_rng(0).random(len(labels))
    return samples, np.ascontiguousarray(samples.T), labels, signed


def test_two_threads_beside_one(mnist):
    """In turns, and the least of each: other work on the machine slows one at a time."""
    samples, columns, labels, signed = mnist
    grow, y, values = ColumnTrees(columns, Growth(DEPTH)), labels == 3, samples.astype(np.float32)
    by_trees, by_stumps = (
        FullDataClassifier("all", weak_learner=word, n_estimators=10, random_state=0) for word in ("tree", "stump")
    )
    binned = Binner(values[:10_000])
    fitted = FullDataClassifier("all", weak_learner="tree", n_estimators=50, random_state=0)
    fitted.fit(samples[:1000], labels[:1000])
    few, told = samples[:100], []
    for what, work, repeats in (
        ("a tree of depth 6", lambda: grow(signed), 30),
        ("fit, two classes, ten trees", lambda: by_trees.fit(samples, y).decision_function(few), 6),
        ("fit, two classes, ten stumps", lambda: by_stumps.fit(samples, y).decision_function(few), 10),
        ("codes of float32", lambda: binned.encode(values), 5),
        ("scores of 500 trees", lambda: fitted.decision_function(samples), 5),
    ):
        seconds, outcomes = {1: [], 2: []}, {}
        for turn in range(repeats + 1):
            for threads, found in seconds.items():
                with in_threads(threads):
                    begun = time.perf_counter()
                    outcomes[threads] = work()
                    found.append(time.perf_counter() - begun if turn else np.inf)  # the first compiles
        np.testing.assert_equal(outcomes[1], outcomes[2])
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
