"""Laminating on the 16,775 features of MNIST beside LightGBM, XGBoost and scikit-learn; no times are asserted.

Stumps for ten classes on 60,000 samples, one thread. Measures the seconds to a training loss of 10^-1.8 and to a test
error of 1.6 %. Writes results/bench/adaptive_peers.csv and adaptive_peers.png. It takes about an hour and 14 GB;
`BENCH_SAMPLES=3000 BENCH_FEATURES=600` tries it in a minute on a part of the data, for targets that Laminating reaches
half way, and writes no file. These choices were made before any result was known:

- The feature bank is built beforehand (`boostrun algo=laminating dataset=mnist features=families19`), and every library
  gets its codes, arrays of bytes in memory. The time before a library's first tree (histogram bins, gradient index) is
  its setup, which is shown separately and not counted.
- All grow trees of two leaves. XGBoost grows one for all classes in a round, with a vector at each leaf, which is
  nearest to our vote vectors; the others have no such trees and grow ten a round, one for each class.
- Each rival runs with shrinkage 0.3 and 1, and again with less data to read: 1 % and 0.1 % of the features a tree
  (LightGBM), a tenth of the samples a tree (XGBoost); scikit-learn's sampling of features saves it no histogram. For
  each target the best of its runs counts, chosen afterwards, which favours it. Laminating runs once, with its defaults.
- A run is stopped at 12 times the time that Laminating needs for both targets, so that "not reached" is a result.

One difference remains: the rivals minimise the softmax loss. The training loss shown is ours, mean_il exp(-y_il
F_l(x_i)), with F_l half the log-odds of their probability of class l, which minimises this loss for given
probabilities.
"""

import json
import os
import time
from contextlib import redirect_stdout, suppress
from math import ceil, floor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

import boostrun
from boostrun.data.source import ArraySource
from boostrun.errors import DataMissingError
from boostrun.features import bank_key, open_bank
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.report.canvas import COLOURS
from tests.bench.test_peers import Ticking, text
from tests.bench.timing import RESULTS, panels, show, write_rows
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.bench

TIMES, SHRINKAGES = 12, (0.3, 1.0)
LOSS, ERROR = -1.8, 1.6  # log10, %
SMALL = {axis: int(os.environ.get(f"BENCH_{axis}") or 0) for axis in ("SAMPLES", "FEATURES")}
ROUNDS = 200 if any(SMALL.values()) else 1000
BINNING_SAMPLES = 10_000  # LightGBM keeps 12 bytes for each value that it finds bins by


class Data(NamedTuple):
    """Codes sample-major (n, d) and feature-major (d, n), labels (n,) from 0, and families of features."""

    samples: np.ndarray
    columns: np.ndarray
    labels: np.ndarray
    test_samples: np.ndarray
    test_columns: np.ndarray
    test_labels: np.ndarray
    families: list

    @property
    def classes(self):
        return int(self.labels.max()) + 1


class Stump(NamedTuple):
    """The scores that a tree adds: ``below`` (K,) where a code is below ``threshold``, else ``above`` (K,)."""

    feature: int
    threshold: int
    below: np.ndarray
    above: np.ndarray


class Run(NamedTuple):
    """One training: seconds from setup to the end of each round (t,), log10 loss and test error in % after it (t,)."""

    package: str
    version: str
    setting: str
    setup: float
    ends: np.ndarray
    loss: np.ndarray
    error: np.ndarray

    def seconds_to(self, figures, target):
        """Seconds until ``figures`` (t,) are at most ``target``; infinite if they never are."""
        reached = np.flatnonzero(figures <= target)
        return float(self.ends[reached[0]]) if len(reached) else np.inf


def exponential_loss(scores, labels):
    """log10 of mean_il exp(-y_il F_l(x_i)), F_l half the log-odds of the softmax of ``scores`` (n, K)."""
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    others = weights.sum(axis=1, keepdims=True) - weights
    weights_of_others = weights.copy()
    weights_of_others[rows, best] = 0.0
    others[rows, best] = weights_of_others.sum(axis=1)  # without cancellation
    with np.errstate(divide="ignore", over="ignore"):
        terms = np.sqrt(weights / others)
        terms[rows, labels] = np.sqrt(others / weights)[rows, labels]
    return float(np.log10(terms.mean()))


def grown(rounds, columns, offset):
    """Scores (n, K) after each round, a list of stumps; the same array, grown in place."""
    scores = np.tile(np.asarray(offset, float), (columns.shape[1], 1))
    for stumps in rounds:
        for stump in stumps:
            above = columns[stump.feature] >= stump.threshold
            for k in np.flatnonzero((stump.below != 0) | (stump.above != 0)):
                scores[:, k] += np.where(above, stump.above[k], stump.below[k])
        yield scores


def judged(data, library, version, setting, setup, ends, rounds, final):
    """A Run of a rival: ``rounds`` of stumps, and its own scores of the first test samples (m, K) after the last.

    Where it began is the difference, which must be the same for all samples: else the stumps are misread.
    """
    *_, added = grown(rounds, data.test_columns[:, : len(final)], np.zeros(data.classes))
    offset = np.median(final - added, axis=0)
    np.testing.assert_allclose(final, added + offset, atol=1e-3)
    loss = [exponential_loss(scores, data.labels) for scores in grown(rounds, data.columns, offset)]
    tests = grown(rounds, data.test_columns, offset)
    error = [100 * (scores.argmax(axis=1) != data.test_labels).mean() for scores in tests]
    assert len(ends) == len(loss) == len(error)
    return Run(library, version, setting, setup, np.array(ends), np.array(loss), np.array(error))


def laminating(data):
    source = ArraySource(data.samples, data.labels, 0, columns=data.columns)
    source.families = data.families
    model = AdaBoostMHClassifier("laminating", n_estimators=ROUNDS, random_state=0)
    begun = time.perf_counter()
    model.fit_source(source)
    ends = model.staged_train_seconds_
    setup = time.perf_counter() - begun - ends[-1]
    tests = model.ensemble_.staged_decision(data.test_columns, range(1, ROUNDS + 1))
    error = [100 * (one_vs_all.predict(scores, model.classes_) != data.test_labels).mean() for scores in tests]
    return Run("boostrun", boostrun.__version__, "laminating", setup, ends, model.staged_log10_loss_, np.array(error))


def until(limit, update):
    """Call ``update`` round by round until ``limit`` seconds are over or it says True; the end of each round."""
    ends, begun = [], time.perf_counter()
    while not ends or ends[-1] < limit:
        if update(len(ends)):
            break
        ends.append(time.perf_counter() - begun)
    return ends


def lightgbm(data, limit):
    import lightgbm as library

    fixed = {
        "objective": "multiclass", "num_class": data.classes, "num_leaves": 2, "max_bin": 255, "num_threads": 1,
        "force_col_wise": True, "bin_construct_sample_cnt": BINNING_SAMPLES, "verbose": -1, "seed": 0,
    }  # fmt: skip
    begun = time.perf_counter()
    made = library.Dataset(data.samples, data.labels, params=fixed).construct()
    setup = time.perf_counter() - begun
    for share in (1.0, 0.01, 0.001):
        for shrinkage in SHRINKAGES:
            model = library.Booster(fixed | {"learning_rate": shrinkage, "feature_fraction": share}, made)
            ends = until(limit, lambda t: model.update())  # noqa: B023
            trees = [leaves_of_lightgbm(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]
            rounds = by_class(trees, data.classes)[: len(ends)]
            final = model.predict(data.test_samples[:100], raw_score=True, num_iteration=len(ends), num_threads=1)
            setting = f"shrinkage {shrinkage:g}, {100 * share:g} % of features"
            yield judged(data, "LightGBM", library.__version__, setting, setup, ends, rounds, final)


def leaves_of_lightgbm(root):
    """(feature, threshold, value below, value above) of a tree of at most two leaves."""
    if "split_feature" not in root:
        return 0, 0, root["leaf_value"], root["leaf_value"]
    below, above = root["left_child"]["leaf_value"], root["right_child"]["leaf_value"]
    return root["split_feature"], floor(root["threshold"]) + 1, below, above


def by_class(trees, classes):
    """Rounds of stumps from (feature, threshold, below, above), tree by tree, of which each adds to one class."""
    columns = np.eye(classes)
    stumps = [
        Stump(feature, threshold, below * columns[i % classes], above * columns[i % classes])
        for i, (feature, threshold, below, above) in enumerate(trees)
    ]
    return [stumps[i : i + classes] for i in range(0, len(stumps), classes)]


def xgboost(data, limit):
    import xgboost as library

    fixed = {
        "objective": "multi:softprob", "num_class": data.classes, "multi_strategy": "multi_output_tree", "max_depth": 1,
        "tree_method": "hist", "max_bin": 256, "nthread": 1, "seed": 0,
    }  # fmt: skip
    begun = time.perf_counter()
    made = library.QuantileDMatrix(data.samples, data.labels, max_bin=256, nthread=1)
    setup = time.perf_counter() - begun
    tests = library.DMatrix(data.test_samples[:100], nthread=1)
    for share in (1.0, 0.1):
        for shrinkage in SHRINKAGES:
            model = library.Booster(fixed | {"eta": shrinkage, "subsample": share}, [made])
            ends = until(limit, lambda t: model.update(made, t))  # noqa: B023
            trees = json.loads(model.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]
            rounds = [[leaves_of_xgboost(tree, data.classes)] for tree in trees]
            setting = f"shrinkage {shrinkage:g}, {100 * share:g} % of samples"
            final = model.predict(tests, output_margin=True)
            yield judged(data, "XGBoost", library.__version__, setting, setup, ends, rounds, final)


def leaves_of_xgboost(tree, classes):
    leaves = np.reshape(tree["leaf_weights"], (-1, classes))
    return Stump(tree["split_indices"][0], ceil(tree["split_conditions"][0]), leaves[0], leaves[-1])


class TimeIsOverError(Exception):
    """Raised where scikit-learn tells of a finished round: it can be stopped nowhere else."""


class Clock(Ticking):
    """Keeps when the first round began and each one ended, and ends the training at a limit of seconds."""

    def __init__(self, limit, classes):
        super().__init__()
        self.limit, self.last, self.begun = limit, f"{classes} trees", None

    def write(self, told):
        now = time.perf_counter()
        if told.startswith("Fitting"):
            self.begun = now
        if told.startswith(self.last):
            self.times.append(now - self.begun)
            if self.times[-1] >= self.limit:
                raise TimeIsOverError
        return len(told)


def hist_gradient_boosting(data, limit):
    values = data.samples.astype(float)  # the conversion that the library would do in each run
    for shrinkage in SHRINKAGES:
        model = HistGradientBoostingClassifier(
            max_iter=10**6, learning_rate=shrinkage, max_leaf_nodes=2, max_depth=1, max_bins=255, early_stopping=False,
            verbose=2, random_state=0,
        )  # fmt: skip
        clock, begun = Clock(limit, data.classes), time.perf_counter()
        with redirect_stdout(clock), suppress(TimeIsOverError):
            model.fit(values, data.labels)
        trees = [leaves_of_hist(tree.nodes) for round_ in model._predictors for tree in round_]
        rounds = by_class(trees, data.classes)[: len(clock.times)]
        *_, final = model.staged_decision_function(data.test_samples[:100])
        setting, setup = f"shrinkage {shrinkage:g}", clock.begun - begun
        yield judged(data, "HistGradientBoosting", sklearn.__version__, setting, setup, clock.times, rounds, final)


def leaves_of_hist(nodes):
    root = nodes[0]
    if root["is_leaf"]:
        return 0, 0, root["value"], root["value"]
    below, above = nodes[root["left"]]["value"], nodes[root["right"]]["value"]
    return root["feature_idx"], floor(root["num_threshold"]) + 1, below, above


def digits():
    """The bank of MNIST, or a part of it; skips if it is missing, since building it takes half an hour."""
    names = {"name": "mnist"}, {"name": "families19"}
    try:
        there = (Path(REAL_DATA) / "banks" / bank_key(*names, REAL_DATA)).is_dir()
    except DataMissingError as missing:
        pytest.skip(str(missing))
    if not there:
        pytest.skip("boostrun algo=laminating dataset=mnist features=families19 T=1 trials=1 builds what this needs")
    bank = open_bank(*names, REAL_DATA, REAL_DATA)
    arrays, d = [], len(bank.codes("train"))
    features = np.linspace(0, d - 1, min(SMALL["FEATURES"] or d, d)).astype(int)
    for part in ("train", "test"):
        rows = slice(SMALL["SAMPLES"] or None)
        columns = np.array(bank.codes(part)) if len(features) == d else bank.codes(part)[features]
        columns = np.ascontiguousarray(columns[:, rows])
        arrays += [np.ascontiguousarray(columns.T), columns, np.asarray(bank.labels(part))[rows]]
    stops = [int(np.searchsorted(features, stop)) for _, _, stop in bank.families]
    families = [(f[0], start, stop) for f, start, stop in zip(bank.families, [0, *stops], stops) if stop > start]
    return Data(*arrays, families)


def fields(run, ours, loss, error):
    """A row of the table and of the file."""
    to_loss, to_error = run.seconds_to(run.loss, loss), run.seconds_to(run.error, error)
    row = {
        "library": run.package, "version": run.version, "setting": run.setting, "rounds": len(run.ends),
        "setup_seconds": f"{run.setup:.1f}", "seconds": f"{run.ends[-1]:.1f}", "log10_loss": f"{run.loss[-1]:.3f}",
        "test_error_percent": f"{run.error[-1]:.2f}",
    }  # fmt: skip
    for what, seconds, of_ours in (
        (f"loss_{loss:.2f}", to_loss, ours.seconds_to(ours.loss, loss)),
        (f"error_{error:.2f}", to_error, ours.seconds_to(ours.error, error)),
    ):
        reached = np.isfinite(seconds)
        times = f"{seconds / of_ours:.2f}" if reached else f">{run.ends[-1] / of_ours:.1f}"
        row[f"seconds_to_{what}"] = text(seconds if reached else None)
        row[f"times_ours_to_{what}"] = times if np.isfinite(of_ours) else ""
    return row


def best_runs(runs, figures, target):
    """The run of each library that reaches the target first, or gets nearest to it, by library."""
    best = {}
    for run in runs:
        key = (run.seconds_to(figures(run), target), figures(run).min())
        if run.package not in best or key < best[run.package][0]:
            best[run.package] = key, run
    return {package: run for package, (_, run) in best.items()}


def draw(runs, loss, error, limit, path):
    """Training loss and test error against seconds; the best run of each library is thick and named."""
    libraries = list(dict.fromkeys(run.package for run in runs))
    parts = (("log10 training loss", lambda run: run.loss, loss), ("test error in %", lambda run: run.error, error))
    title = f"MNIST, 19 families of features, one thread; dotted: the targets, and {TIMES} times laminating's time"
    with panels(path, title, 2) as axes:
        for axis, (name, figures, target) in zip(axes, parts):
            best = best_runs(runs, figures, target)
            for run in runs:
                colour, chosen = COLOURS[libraries.index(run.package)], best[run.package] is run
                axis.plot(
                    run.ends, figures(run), color=colour, linewidth=2.0 if chosen else 0.8, zorder=4 if chosen else 3,
                    label=f"{run.package}, {run.setting}" if chosen else None, alpha=1.0 if chosen else 0.5,
                )  # fmt: skip
            axis.axhline(target, color="0.4", linewidth=0.8, linestyle=":")
            axis.axvline(limit, color="0.4", linewidth=0.8, linestyle=":")
            axis.set(xscale="log", xlabel="training time in seconds, setup not included", ylabel=name)
            axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)
        axes[0].set_ylim(min(run.loss.min() for run in runs) - 0.1, 0.1)  # some runs diverge
        axes[1].set_yscale("log")


def test_laminating_beside_its_peers(tmp_path):
    for package in ("lightgbm", "xgboost"):
        pytest.importorskip(package, reason=f"the comparison needs {package}, which is not installed")
    data = digits()
    with threadpool_limits(1):
        part = slice(300)
        AdaBoostMHClassifier("laminating", n_estimators=2, random_state=0).fit_source(
            ArraySource(data.samples[part], data.labels[part], 0, columns=np.ascontiguousarray(data.columns[:, part]))
        )  # compiles
        ours = laminating(data)
        loss, error = (ours.loss[ROUNDS // 2], ours.error[ROUNDS // 2]) if any(SMALL.values()) else (LOSS, ERROR)
        needed = max(ours.seconds_to(ours.loss, loss), ours.seconds_to(ours.error, error))
        limit = TIMES * min(needed, ours.ends[-1])
        runs = [ours]
        for rival in (lightgbm, xgboost, hist_gradient_boosting):
            runs += rival(data, limit)
    rows = [fields(run, ours, loss, error) for run in runs]
    assert ours.loss[-1] < ours.loss[0] and all(np.isfinite(run.loss).all() and run.error.min() < 100 for run in runs)
    folder = tmp_path if any(SMALL.values()) else RESULTS
    write_rows(folder / "adaptive_peers.csv", rows)
    draw(runs, loss, error, limit, folder / "adaptive_peers.png")
    for row in rows:
        show(f"{row.pop('library')} {row.pop('version')}, {row.pop('setting')}", list(row.items()))
    print(f"\nwritten: {folder}/adaptive_peers.csv and adaptive_peers.png")
