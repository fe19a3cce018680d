"""Every kernel beside its floor and its peers: results/bench/speed.csv, of which
scripts/speed_page.py makes docs/speed.md.

`pytest -m bench -s tests/bench/test_speed.py -k lake` measures some kernels and replaces their rows. No time is
asserted. An entry of ``KERNELS`` is one kernel: what sets it up and returns a :class:`Work`, which is the calls that
are timed, ours first, and the floor of one unit: the bytes that must be read or written, the additions to counters,
the floating-point operations of products of matrices, and the multiply-adds of 16 bits that no program could avoid.
How many of each this machine does in a second is measured in the same sitting (:func:`roofs`); the floor is the
largest of the four times.

All are called in turn; minimum and median of each count. Times are processor time, including child processes, of one
thread, which other work on the machine disturbs less than the clock; those of two threads are by the clock.
"""

import csv
import ctypes
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from llvmlite import binding
from numba import njit
from threadpoolctl import threadpool_limits

from boostrun import ArraySource, ReservoirClassifier, kernel_cache
from boostrun.data.lake import open_lake
from boostrun.data.streams import draw
from boostrun.export import c_source, read
from boostrun.kernels import in_threads, stumps, trees
from boostrun.methods.estimator import component_of
from boostrun.methods.weak_learner import LOSSES, Binner, RowBinner, as_weak_learner
from boostrun.papers.adaptive.adaboost_mh import TreeRun, one_column_a_class
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.reservoir import full_data
from boostrun.papers.reservoir.classifier import RULES
from boostrun.papers.reservoir.full_data import CourseSettings
from boostrun.papers.reservoir.full_data_classifier import All, FullDataClassifier
from boostrun.papers.reservoir.keys import OF_WEAK_LEARNERS
from boostrun.papers.reservoir.strategies import KeyedReservoir
from boostrun.papers.shareboost.coded import CodedPool, Screen, add_products, no_sums, total, words_at
from boostrun.papers.shareboost.pools import Codes
from boostrun.store import provenance
from boostrun.streams import HoeffdingTreeClassifier, SGBTClassifier, StreamForestClassifier
from tests.bench.test_drift_iboost import followed, prequential
from tests.bench.test_side_by_side import HYDRA, JOBLIB, ONE_TRIAL
from tests.bench.timing import RESULTS, in_turn, pixels_of_mnist, processor, show, write_rows
from tests.docs.page import script
from tests.export.compiled import FLAGS, Compiled

pytestmark = pytest.mark.bench

DEPTH, DIGIT = 6, 3
PACKAGES = ("numpy", "numba", "scikit-learn", "lightgbm", "xgboost-cpu", "river", "pyarrow", "hydra-core")


class Work(NamedTuple):
    """``calls`` by name, ours first: functions, and how many units one call does; the floor of one unit."""

    unit: str
    calls: dict[str, tuple[Callable, float]]
    bytes: float = 0
    additions: float = 0
    products: float = 0
    words: float = 0
    warm: bool = True  # whether a first turn, which does not count, is of use
    threads: int = 1  # of more than one the clock is read, not the time of the processor


# -- trees and stumps on all samples


@cache
def mnist(bins: int = 256):
    """Codes (60000, 784), the same by columns, and labels; two bins: is a pixel above 127?"""
    bank = pixels_of_mnist()
    samples = np.array(bank.samples("train"))
    samples = samples if bins == 256 else (samples > 127).astype(np.uint8)
    return samples, np.ascontiguousarray(samples.T), np.asarray(bank.labels("train"))


@cache
def random_codes(n: int, d: int):
    """Codes (n, d) without pattern, the same by columns, and a label that a noisy sum of eight columns decides."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 256, (d, n), dtype=np.uint8)
    total = columns[:8].astype(np.float32).sum(axis=0) + rng.normal(0, 200, n).astype(np.float32)
    return np.ascontiguousarray(columns.T), columns, np.where(total > 8 * 127.5, DIGIT, 0)


def uncommon(columns) -> int:
    """How many codes are not the most frequent one of their column, whose sum needs no addition."""
    return int(full_data.describe_columns(columns)[2].sum())


def our_round(samples, columns, y, word) -> Callable:
    """A round of LogitBoost on all samples."""
    model = FullDataClassifier("all", weak_learner=word)
    learner = as_weak_learner(component_of(model, "weak_learner", OF_WEAK_LEARNERS))
    loss, rule = LOSSES[model.loss], RULES[model.coefficient]
    settings = CourseSettings(1, 1, loss, rule, 0.3, 1000, learner, 256)
    source = SimpleNamespace(samples=samples, columns=columns, labels=y)
    method = All(source, settings, np.random.default_rng(0))
    method.data.begin(DIGIT)
    signed = np.empty(len(y))

    def round_():
        weights = method.data.weights(settings.loss)
        method._round(weights, np.multiply(weights, method.data.y, out=signed))

    return round_


@cache
def binned(data):
    """LightGBM's bins of the codes, with the digit against the rest as labels, or with all classes."""
    library = pytest.importorskip("lightgbm")
    samples, _, labels = data()
    settings = {"max_bin": 255, "min_data_in_leaf": 1, "verbose": -1, "num_threads": 1}
    return library.Dataset(samples, labels if data is ten_classes else labels == DIGIT, params=settings).construct()


def ten_classes():
    return mnist()


def lightgbm_round(data, depth, threads=1, **more) -> tuple[Callable, float]:
    """A round of LightGBM with as many leaves as ours may have; binning is done before."""
    made = binned(data)
    settings = {
        "objective": "binary", "verbose": -1, "num_threads": threads, "learning_rate": 0.3, "max_bin": 255,
        "num_leaves": 2**depth, "max_depth": depth, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 1e-3, **more,
    }  # fmt: skip
    return pytest.importorskip("lightgbm").Booster(settings, made).update, 1


def of_all(data, depth) -> Work:
    samples, columns, labels = data()
    entries = uncommon(columns)
    calls = {
        "boostrun": (our_round(samples, columns, labels, "stump" if depth == 1 else "tree"), 1),
        "LightGBM": lightgbm_round(data, depth),
        "LightGBM, quantised gradients": lightgbm_round(data, depth, use_quantized_grad=True),
    }
    # below the root a floor reads the smaller of two sisters, and subtracts
    return Work("round", calls, bytes=entries, additions=entries * (depth + 1) / 2)


def of_two_threads(data) -> Work:
    """Trees as in :func:`of_all`, by the clock."""
    samples, columns, labels = data()
    rounds = repeated(our_round(samples, columns, labels, "tree"), 4)

    def in_so_many(threads):
        with in_threads(threads):
            rounds()

    return Work("round", {
        "boostrun": (partial(in_so_many, 2), 4), "boostrun, one thread": (partial(in_so_many, 1), 4),
        "LightGBM": lightgbm_round(data, DEPTH, 2),
        "LightGBM, quantised gradients": lightgbm_round(data, DEPTH, 2, use_quantized_grad=True),
    }, threads=2)  # fmt: skip


def few_rows() -> Work:
    samples, columns, labels = mnist()
    n = 250
    samples, columns = samples[:n], np.ascontiguousarray(columns[:, :n])
    signed = np.where(labels[:n] == DIGIT, 1.0, -1.0) * np.random.default_rng(0).random(n)
    (weights, _), (of_stumps, _), positive = trees.fixed_point(signed), stumps.fixed_point(signed), signed > 0
    entries, rows = trees.sorted_entries(columns), np.arange(n)
    return Work("level", {
        "boostrun": (repeated(lambda: trees.grow(columns, *entries, weights, positive, DEPTH, 1)), 50 * DEPTH),
        "a stump's search, ours": (repeated(lambda: stumps.best_feature_by_histogram(samples, rows, of_stumps)), 50),
    }, bytes=columns.size, additions=len(entries[-1]))  # fmt: skip


def repeated(function, times=50) -> Callable:
    def many():
        for _ in range(times):
            function()

    return many


def vote_trees() -> Work:
    samples, columns, labels = mnist()
    model = AdaBoostMHClassifier("laminating", weak_learner="tree", depth=DEPTH)
    board, policy = model.set_up(columns, None, np.random.default_rng(0), samples)
    run = TreeRun(board, policy, one_column_a_class(labels, np.unique(labels)), "uniform", DEPTH)
    library = pytest.importorskip("xgboost")
    settings = {
        "objective": "multi:softprob", "num_class": 10, "multi_strategy": "multi_output_tree", "max_depth": DEPTH,
        "tree_method": "hist", "max_bin": 256, "nthread": 1,
    }  # fmt: skip
    made = library.QuantileDMatrix(samples, labels, max_bin=256, nthread=1)
    booster, number = library.Booster(settings, [made]), itertools.count()
    looks = 10 * len(samples) * DEPTH  # ten features a sample and level
    return Work("round", {
        "boostrun": (lambda: run.boost(1), 1),
        "LightGBM, ten trees": lightgbm_round(ten_classes, DEPTH, objective="multiclass", num_class=10),
        "XGBoost, leaves of vectors": (lambda: booster.update(made, next(number)), 1),
    }, bytes=looks, additions=2 * looks)  # fmt: skip


# -- reservoirs


def reservoir(r, rounds, thin=False) -> Work:
    samples, _, labels = mnist()
    source = ArraySource(samples, (labels == DIGIT).astype(int), 0)

    def fit(strategy):
        model = ReservoirClassifier(strategy, reservoir_size=r, n_estimators=rounds, random_state=0)
        return lambda: model.fit_source(source), rounds

    calls = {"boostrun": fit("geem"), "in single precision, ours": fit("geem_single"), "WSam, ours": fit("wsam")}
    if thin:
        calls["thin GEEM, ours"] = fit("geem_thin")
    n, steps = 2 * r, np.arange(r)
    return Work("round", calls, products=n**3 + 2.0 * (steps * (n - steps)).sum())


def merge() -> Work:
    rng, parts = np.random.default_rng(0), []
    for _ in range(10):
        parts.append(KeyedReservoir(2000))
        samples = rng.random((2000, 784), np.float32)
        parts[-1].add(rng.standard_exponential(2000), samples=samples, labels=rng.integers(0, 10, 2000))

    def numpy():
        keys = np.concatenate([part.keys for part in parts])
        kept = np.sort(np.argpartition(keys, 2000)[:2000])
        samples, labels = (np.concatenate([part.rows[name] for part in parts]) for name in ("samples", "labels"))
        return samples[kept], labels[kept]

    calls = {"boostrun": (lambda: KeyedReservoir(2000).merge(*parts), 1), "NumPy, concatenate and choose": (numpy, 1)}
    return Work("merge", calls, bytes=2 * 2000 * 784 * 4)


def lake(folder: Path) -> Work:
    pyarrow = pytest.importorskip("pyarrow.dataset")
    rows, width = 500_000, 28
    script("lakes").write("spheres", folder, rows, folder)
    options = {"path": str(folder / "spheres/train"), "test_path": str(folder / "spheres/test.parquet"),
               "label": "label", "chunk_rows": 4096}  # fmt: skip
    source = open_lake(options, folder).source(64.0, 0)
    first, _ = source.open(10_000).draw(10_000)
    source.encode = RowBinner(Binner(first).edges).encode  # as a command does

    def drawn():
        filter_ = source.open(10_000)
        for _ in range(rows // 10_000):
            filter_.draw(10_000)
            filter_.release(10_000)

    def coded():
        filter_ = source.open(10_000)
        while filter_._passes == 0:  # the buffer is emptied without drawing
            filter_._fill()
            filter_._count = 0

    def scanned():
        for batch in pyarrow.dataset(options["path"]).to_batches(use_threads=False):
            np.column_stack([column.to_numpy() for column in batch.columns[:-1]])

    calls = {"boostrun": (drawn, rows / 1000), "boostrun, without drawing": (coded, rows / 1000),
             "pyarrow, scan into float32 rows": (scanned, rows / 1000)}  # fmt: skip
    # a value is decoded, written and read; its cell is looked up, and an edge is compared
    return Work("1,000 rows", calls, bytes=1000 * width * 9, additions=1000 * width * 2)


# -- prediction


def prediction(word, kind, rows, folder: Path) -> Work:
    """Ten classes, 250 rounds, 64 columns; ``rows`` at a time."""
    library = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (20_000, 64)).astype(kind)
    y = np.digitize(X[:, :8].sum(axis=1, dtype=float), np.linspace(700, 1340, 9))
    clf = ReservoirClassifier("rand", weak_learner=word, n_estimators=250, reservoir_size=500, random_state=0)
    clf.fit(X[:2000], y[:2000])
    depth = 1 if word == "stump" else DEPTH
    settings = {"objective": "multiclass", "num_class": 10, "verbose": -1, "num_threads": 1, "num_leaves": 2**depth,
                "max_depth": depth, "min_data_in_leaf": 1}  # fmt: skip
    other = library.train(settings, library.Dataset(X[:2000], y[:2000], params=settings), 250)
    saved = read(clf.save(folder / "model.npz"))
    compiled = Compiled(c_source(saved), folder, [*FLAGS, "-march=native"])
    given, out = np.ascontiguousarray(X, compiled.dtype), np.empty(len(X), np.intc)
    places = [each.ctypes.data_as(ctypes.c_void_p) for each in (given, out)]
    many = places[0], ctypes.c_size_t(len(X)), places[1]
    compiled.shared.predict_many(*many)
    assert np.array_equal(np.array(saved.labels)[out], clf.predict(X))
    if rows == 1:
        row = X[:1].copy()
        calls = {
            "boostrun": repeated(lambda: clf.predict(row), 500),
            "C as exported, a call from Python": repeated(lambda: compiled.shared.predict(places[0]), 500),
            "LightGBM": repeated(lambda: other.predict(row, num_threads=1), 500),
        }
    else:
        calls = {
            "boostrun": lambda: clf.predict(X),
            "C as exported, predict_many": lambda: compiled.shared.predict_many(*many),
            "LightGBM": lambda: other.predict(X[:2000], num_threads=1),
        }
    units = {name: 500 if rows == 1 else 2000 if name == "LightGBM" else rows for name in calls}
    timed = {name: (call, units[name]) for name, call in calls.items()}
    return Work("row", timed, bytes=64 * X.itemsize, additions=2500 * depth)


# -- ShareBoost


@cache
def candidates():
    """Codes (10000, 60000) of the larger of two pixels, and residuals (60000, 10) before the first choice."""
    _, columns, labels = mnist()
    pairs = np.random.default_rng(0).integers(0, len(columns), (10_000, 2))
    codes = np.empty((len(pairs), columns.shape[1]), np.uint8)
    for place, (one, other) in enumerate(pairs):
        np.maximum(columns[one], columns[other], out=codes[place])
    return codes, np.asfortranarray(0.1 - (labels[:, None] == np.arange(10)))


def choice() -> Work:
    codes, residuals = candidates()
    pool, none = CodedPool(codes), np.zeros(len(codes), bool)
    some, sides = codes[:500].astype(np.float32), residuals.astype(np.float32, order="C")
    return Work("choice", {
        "boostrun": (lambda: pool.contending(residuals, none), 1),
        "NumPy, product of float32 (a twentieth)": (lambda: some @ sides, 0.05),
    }, bytes=codes.size, words=codes.size * residuals.shape[1])  # fmt: skip


def set_up() -> Work:
    samples, generator = np.ascontiguousarray(candidates()[0].T), np.random.default_rng(0)
    calls = {
        "boostrun": (lambda: Screen(Codes().pool(samples, "none", generator).codes), 1),
        "NumPy, transposition alone": (lambda: np.ascontiguousarray(samples.T), 1),
    }
    return Work("set-up", calls, bytes=2 * samples.size)


# -- streams

_RIVER = {
    "ARF": lambda count: pytest.importorskip("river.forest").ARFClassifier(n_models=count, seed=0),
    "ADWIN boosting": lambda count: pytest.importorskip("river.ensemble").ADWINBoostingClassifier(
        pytest.importorskip("river.tree").HoeffdingTreeClassifier(), n_models=count, seed=0
    ),
    "Hoeffding tree": lambda count: pytest.importorskip("river.tree").HoeffdingTreeClassifier(),
}


def stream(make, members, rival, rows) -> Work:
    """RBF with centroids that move: our 20,000 examples, and river's first ``rows``."""
    ours = draw({"name": "rbf", "n_samples": 20_000}, Path("."), 0)
    first = SimpleNamespace(x=np.array(ours.x)[:rows], y=np.array(ours.y)[:rows])
    width = first.x.shape[1]
    return Work("example", {
        "boostrun": (lambda: prequential(make(budget=members, random_state=0), ours), len(ours.y)),
        f"river, {rival} (first {rows:,})": (lambda: followed(_RIVER[rival](members), first), rows),
    }, bytes=8 * width, additions=3 * members * width)  # fmt: skip


# -- what a person waits for

_DIGITS = "from sklearn.datasets import load_digits; X, y = load_digits(return_X_y=True)"
_FIRST = {
    "GEEM, stumps": "from boostrun import ReservoirClassifier as C; m = C('geem', reservoir_size=50, n_estimators=5)",
    "WSam, trees": "from boostrun import ReservoirClassifier as C; m = C('wsam', weak_learner='tree', n_estimators=5)",
    "ShareBoost": "from boostrun import ShareBoostClassifier as C; X = X / 16.0; m = C(n_features=5)",
    "IBoost": "from boostrun import IBoostClassifier as C; m = C(n_window=100, budget=5)",
}  # fmt: skip


def process(*words, folder=None, **more) -> None:
    """Run Python to its end."""
    own = {"PYTHONPATH": str(RESULTS.parents[1]), "BOOSTRUN_DATA": str(folder), "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **own, **more}
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=True)


@cache
def without_a_wheel() -> dict[str, str]:
    """The environment in which kernels of a wheel, which are then there, are not used."""
    if not kernel_cache.shipped():
        subprocess.run([sys.executable, RESULTS.parents[1] / "scripts" / "compile_kernels.py"], check=True)
        kernel_cache.shipped.cache_clear()
    assert kernel_cache.shipped()
    return {"NUMBA_CPU_NAME": binding.get_host_cpu_name(),
            "NUMBA_CPU_FEATURES": binding.get_host_cpu_features().flatten()}  # fmt: skip


def first_fit(method, folder: Path) -> Work:
    code, own = f"{_DIGITS}; {_FIRST[method]}; m.fit(X, y)", without_a_wheel()
    lightgbm = f"{_DIGITS}; from lightgbm import LGBMClassifier as C; C(n_estimators=5, n_jobs=1, verbose=-1).fit(X, y)"

    def cold(**more):
        with tempfile.TemporaryDirectory(dir=folder) as empty:
            process("-c", code, folder=folder, NUMBA_CACHE_DIR=empty, **more)

    return Work("process", {
        "boostrun": (partial(cold, **own), 1),
        "boostrun, kernels of a wheel": (cold, 1),
        "boostrun, kernels kept": (lambda: process("-c", code, folder=folder, **own), 1),
        "LightGBM": (lambda: process("-c", lightgbm, folder=folder), 1),
    }, warm=False)  # fmt: skip


def imported(name, folder: Path) -> Work:
    peers = {"boostrun": f"from boostrun import {name}", "scikit-learn": "import sklearn.ensemble",
             "LightGBM": "import lightgbm", "river": "import river.ensemble"}  # fmt: skip
    return Work("process", {by: (partial(process, "-c", code, folder=folder), 1) for by, code in peers.items()})


def command(fresh, folder: Path) -> Work:
    (folder / "one_trial.py").write_text(ONE_TRIAL, "utf-8")
    (folder / "multirun.py").write_text(HYDRA, "utf-8")
    stores = itertools.count()
    words = ["-m", "boostrun", "algo=rand", "dataset=digits", "r=20", "T=10", "trials=1"]

    def ours():
        process(*words, f"store=store{next(stores) if fresh else ''}", folder=folder)

    ours()
    rivals = {"Hydra, one job of the same trial": ["multirun.py", "+seed=1"], "import hydra": ["-c", "import hydra"]}
    return Work("command", {
        "boostrun": (ours, 1), **{by: (partial(process, *line, folder=folder), 1) for by, line in rivals.items()},
    })  # fmt: skip


def many_trials(folder: Path, trials=1000) -> Work:
    (folder / "one_trial.py").write_text(ONE_TRIAL, "utf-8")
    (folder / "loop.py").write_text(JOBLIB, "utf-8")
    stores = itertools.count()
    words = ["-m", "boostrun", "algo=rand", "dataset=digits", "r=20", "T=10", f"trials={trials}", "n_jobs=1"]
    return Work("trial", {
        "boostrun": (lambda: process(*words, f"store=many{next(stores)}", folder=folder), trials),
        "a loop of joblib": (partial(process, "loop.py", str(trials), folder=folder), trials),
    }, warm=False)  # fmt: skip


_WIDE, _LONG, _TWO = partial(random_codes, 1000, 100_000), partial(random_codes, 5_000_000, 20), partial(mnist, 2)
KERNELS: dict[str, Callable[[Path], Work]] = {
    "stumps, 60,000 x 784, 255 bins": lambda _: of_all(mnist, 1),
    "stumps, 60,000 x 784, 2 bins": lambda _: of_all(_TWO, 1),
    "stumps, 1,000 x 100,000, 255 bins": lambda _: of_all(_WIDE, 1),
    "stumps, 5,000,000 x 20, 255 bins": lambda _: of_all(_LONG, 1),
    "a tree of depth 6, 60,000 x 784, 255 bins": lambda _: of_all(mnist, DEPTH),
    "a tree of depth 6, 60,000 x 784, 2 bins": lambda _: of_all(_TWO, DEPTH),
    "a tree of depth 6, 1,000 x 20,000, 255 bins": lambda _: of_all(partial(random_codes, 1000, 20_000), DEPTH),
    "a tree of depth 6, 5,000,000 x 20, 255 bins": lambda _: of_all(_LONG, DEPTH),
    "two threads, a tree of depth 6, 60,000 x 784, 255 bins": lambda _: of_two_threads(mnist),
    "two threads, a tree of depth 6, 60,000 x 784, 2 bins": lambda _: of_two_threads(_TWO),
    "two threads, a tree of depth 6, 1,000 x 20,000, 255 bins":
        lambda _: of_two_threads(partial(random_codes, 1000, 20_000)),
    "two threads, a tree of depth 6, 5,000,000 x 20, 255 bins": lambda _: of_two_threads(_LONG),
    "a level of a tree, 250 x 784": lambda _: few_rows(),
    "vote tree of depth 6, ten classes, 60,000 x 784": lambda _: vote_trees(),
    "GEEM, r = 100": lambda _: reservoir(100, 100),
    "GEEM, r = 250": lambda _: reservoir(250, 50),
    "GEEM, r = 500": lambda _: reservoir(500, 20),
    "GEEM, r = 1,000": lambda _: reservoir(1000, 5, thin=True),
    "GEEM, r = 2,000": lambda _: reservoir(2000, 3, thin=True),
    "merge of ten reservoirs of 2,000 x 784": lambda _: merge(),
    "drawing and coding a lake, 28 columns": lake,
    **{
        f"prediction, 10 x 250 {word}s, {name}, {'one row' if rows == 1 else 'batch'}":
            partial(prediction, word, kind, rows)
        for word in ("stump", "tree") for name, kind in (("codes", np.uint8), ("float64", np.float64))
        for rows in (20_000, 1) if rows > 1 or name == "float64"
    },
    "ShareBoost's choice, 10,000 x 60,000 codes": lambda _: choice(),
    "ShareBoost's set-up, 10,000 x 60,000 codes": lambda _: set_up(),
    "stream: vfdt": lambda _: stream(lambda budget, **_: HoeffdingTreeClassifier(), 1, "Hoeffding tree", 5000),
    "stream: arf_stream, 10 members": lambda _: stream(StreamForestClassifier, 10, "ARF", 1000),
    "stream: sgbt, 10 members": lambda _: stream(SGBTClassifier, 10, "ADWIN boosting", 1000),
    "stream: sgbt, 100 members": lambda _: stream(SGBTClassifier, 100, "ADWIN boosting", 200),
    **{f"first fit, no kernel compiled: {method}": partial(first_fit, method) for method in _FIRST},
    **{f"import of {name}": partial(imported, name) for name in (
        "ReservoirClassifier", "AdaBoostMHClassifier", "ShareBoostClassifier", "IBoostClassifier"
    )},
    "a command whose trial is there": partial(command, False),
    "a fresh tiny command": partial(command, True),
    "a tiny trial among 1,000": many_trials,
}  # fmt: skip


# -- the machine, and the table


@njit(cache=True)
def add_often(places, counters, times):
    """counters[places[i]] += i, for all i, so many times: no place comes again soon."""
    for _ in range(times):
        for i in range(places.shape[0]):
            counters[np.uint64(places[np.uint64(i)])] += i


@njit(cache=True)
def multiply_often(words, times):
    """Multiply-adds of (6, 1024) int16: the first row, so many times, by the first 16 words of each other row."""
    y0, y1, y2 = words_at(words, 1, 0), words_at(words, 2, 0), words_at(words, 3, 0)
    y3, y4 = words_at(words, 4, 0), words_at(words, 5, 0)
    a0, a1, a2, a3, a4 = no_sums(), no_sums(), no_sums(), no_sums(), no_sums()
    for _ in range(times):
        for i in range(0, 1024, 16):
            x = words_at(words, 0, i)
            a0, a1, a2 = add_products(a0, x, y0), add_products(a1, x, y1), add_products(a2, x, y2)
            a3, a4 = add_products(a3, x, y3), add_products(a4, x, y4)
    return total(a0) + total(a1) + total(a2) + total(a3) + total(a4)


def roofs() -> dict[str, float]:
    """The most this machine does in a second: bytes read in order, additions to counters in the first-level cache,
    floating-point operations of products of double precision, and multiply-adds of 16 bits.
    """
    codes, square = np.ones(1 << 28, np.uint8), np.ones((1024, 1024))
    places, counters = np.arange(1 << 16, dtype=np.uint16) % 2048, np.zeros(2048, np.int64)
    calls = {
        "bytes": (codes.max, codes.size), "additions": (lambda: add_often(places, counters, 100), 100 * places.size),
        "products": (lambda: square @ square, 2 * 1024**3),
        "words": (lambda: multiply_often(np.ones((6, 1024), np.int16), 10_000), 5 * 1024 * 10_000),
    }  # fmt: skip
    with threadpool_limits(1):
        return {name: 1 / min(found) for name, found in in_turn(calls).items()}


def rows_of(kernel, work: Work) -> list[dict]:
    """Measure; a row for each way, with what a floor counts in that of ours."""
    needed = {name: getattr(work, name) for name in ("bytes", "additions", "products", "words")}
    with threadpool_limits(work.threads):
        found = in_turn(work.calls, warm=work.warm, clock=processor if work.threads == 1 else time.perf_counter)
    return [
        {
            "kernel": kernel, "by": by, "unit": work.unit, "turns": len(times), "least_s": f"{min(times):.4g}",
            "median_s": f"{np.median(times):.4g}",
            **{name: f"{amount:.4g}" if amount and by == "boostrun" else "" for name, amount in needed.items()},
            "date": time.strftime("%Y-%m-%d"),
        }
        for by, times in found.items()
    ]  # fmt: skip


def keep(rows: list[dict]) -> None:
    """Replace the rows of these kernels in the file."""
    path, kept = RESULTS / "speed.csv", []
    if path.exists():
        with open(path, newline="", encoding="utf-8") as file:
            kept = [{**dict.fromkeys(rows[0], ""), **row} for row in csv.DictReader(file)]
            kept = [row for row in kept if row["kernel"] != rows[0]["kernel"]]
    order = list(KERNELS)
    write_rows(path, sorted([*kept, *rows], key=lambda row: order.index(row["kernel"])))


@pytest.fixture(scope="module")
def sitting():
    """The roofs of this machine, now; what it is goes to a file, and all rows are shown in the end."""
    here, load = provenance.collect([]), os.getloadavg()[0]
    about = {"processor": here["cpu"]["model"], "cores": here["cpu"]["usable"], "Python": here["python"]}
    about |= {name: version(name) for name in PACKAGES}
    about |= {f"{name}_a_second": f"{rate:.3g}" for name, rate in roofs().items()}
    yield
    about["load"] = f"{load:.1f} to {os.getloadavg()[0]:.1f}"
    write_rows(RESULTS / "speed_machine.csv", [{"what": what, "value": value} for what, value in about.items()])
    print(f"\n{script('speed_page').table()}")


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_beside_its_floor_and_its_peers(kernel, sitting, tmp_path):
    rows = rows_of(kernel, KERNELS[kernel](tmp_path))
    assert all(float(row["least_s"]) > 0.0 for row in rows)
    keep(rows)
    show(kernel, [(row["by"], f"{row['least_s']} s a {row['unit']}, median {row['median_s']}") for row in rows])
