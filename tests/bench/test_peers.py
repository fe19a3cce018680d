"""LogitBoost on all of MNIST beside scikit-learn, LightGBM and XGBoost; no times are asserted.

One digit against the rest, N = 60,000, d = 784, stumps, T = 250, one thread. Writes results/bench/peers.csv and
peers.png. These choices were made without the test data:

- All get the same array of bytes. Binning, transposing and the like are part of the training time and shown as setup:
  the end of the first round less one median round.
- All train with a shrinkage of 0.5, which is our default, and then with their own default. Other settings are each
  library's defaults, except that trees have two leaves, bins are as many as allowed, and there is no early stopping.
  LightGBM is set to go by rows, which is faster here and spares it a trial of both ways.
- Two settings that make a rival faster but change its model have separate rows: gradients rounded to a few levels
  (LightGBM), and zeros taken for missing values (XGBoost).

Some differences remain: the others take one Newton step for each side of a stump, and all except AdaBoost start at the
share of the digit; ours is one vote of both signs, half its log-odds long, and starts at 0. AdaBoost minimises the
exponential loss; its scores are doubled into log-odds, and it runs only as many rounds as take about a minute. So the
training logistic loss, mean log(1 + exp(-y F)), and the test error are compared against seconds.
"""

import contextlib
import io
import json
import time
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
import sklearn
from matplotlib.ticker import FuncFormatter
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import boostrun
from boostrun.methods.preparation import transposed
from boostrun.methods.weak_learner import Logistic
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from boostrun.report.canvas import COLOURS, MARKERS
from tests.bench.timing import RESULTS, panels, pixels_of_mnist, show, write_rows

pytestmark = pytest.mark.bench

DIGIT, ROUNDS, SHRINKAGE, MINUTE = 3, 250, 0.5, 60.0


class Digits(NamedTuple):
    """One digit against the rest: samples (n, d) and columns (d, n) of bytes, labels 0 and 1."""

    samples: np.ndarray
    labels: np.ndarray
    columns: np.ndarray
    test_samples: np.ndarray
    test_labels: np.ndarray
    test_columns: np.ndarray


class Run(NamedTuple):
    """One training: ``ends`` (t,) seconds from the bytes to the end of each round; staged scores as log-odds."""

    package: str
    version: str
    variant: str
    shrinkage: float
    ends: np.ndarray
    loss: np.ndarray  # (t,) mean training logistic loss after each round
    error: np.ndarray  # (t,) test error in %

    @property
    def per_round(self):
        return float(np.median(np.diff(self.ends)))

    @property
    def setup(self):
        return max(0.0, float(self.ends[0]) - self.per_round)

    def seconds_to(self, loss):
        """Seconds until the training loss is at most ``loss``; None if it never is."""
        reached = np.flatnonzero(self.loss <= loss)
        return float(self.ends[reached[0]]) if len(reached) else None


def judged(data, library, version, variant, shrinkage, ends, train_scores, test_scores):
    """A Run from iterators over scores after each round."""
    y = 2.0 * data.labels - 1.0
    loss = [Logistic().value(y * scores).mean() for scores in train_scores]
    error = [100 * ((scores >= 0) != data.test_labels).mean() for scores in test_scores]
    assert len(ends) == len(loss) == len(error)
    return Run(library, version, variant, shrinkage, np.array(ends), np.array(loss), np.array(error))


def staged_votes(stumps, columns, offset):
    """Scores after each of ``stumps``, functions from columns to what is added; the same array, grown in place."""
    scores = np.full(columns.shape[1], offset)
    for stump in stumps:
        scores += stump(columns)
        yield scores


def offset_of(stumps, data, final):
    """Where a library began: its own scores of the test samples less our sum of its stumps, which must be constant."""
    *_, total = staged_votes(stumps, data.test_columns, 0.0)
    offset = float(np.median(final - total))
    np.testing.assert_allclose(final, total + offset, atol=1e-3)
    return offset


def our_round(data, rounds=80):
    """Seconds a round of ours, now: the machine is not equally fast all the time."""
    clf = FullDataClassifier("all", n_estimators=rounds, shrinkage=SHRINKAGE, random_state=0)
    return float(np.median(np.diff(clf.fit(data.samples, data.labels).staged_train_seconds_)))


def ours(data, shrinkage):
    clf = FullDataClassifier("all", n_estimators=ROUNDS, shrinkage=shrinkage, random_state=0)
    begun = time.perf_counter()
    clf.fit(data.samples, data.labels)
    whole = time.perf_counter() - begun
    ends = clf.staged_train_seconds_ + (whole - clf.staged_train_seconds_[-1])  # checks of the arrays come first
    scores = [
        (part[0] for part in clf.ensemble_.staged_decision(columns, range(1, ROUNDS + 1)))
        for columns in (data.columns, data.test_columns)
    ]
    return judged(data, "boostrun", boostrun.__version__, "", shrinkage, ends, *scores)


def lightgbm_settings(shrinkage, quantised):
    return {
        "objective": "binary", "num_leaves": 2, "max_bin": 255, "learning_rate": shrinkage, "num_threads": 1,
        "force_row_wise": True, "verbose": -1, "seed": 0, "use_quantized_grad": quantised,
    }  # fmt: skip


def alternately(data, quantised, times=9, rounds=30):
    """LightGBM's seconds a round over ours: (median, least, most) of ratios of stretches that follow each other."""
    import lightgbm as library

    settings = lightgbm_settings(SHRINKAGE, quantised)
    model = library.Booster(settings, library.Dataset(data.samples, data.labels, params=settings))
    model.update()
    ratios = []
    for _ in range(times):
        ends = [time.perf_counter()]
        for _ in range(rounds):
            model.update()
            ends.append(time.perf_counter())
        ratios.append(np.median(np.diff(ends)) / our_round(data, rounds))
    return float(np.median(ratios)), min(ratios), max(ratios)


def lightgbm(data, shrinkage, quantised=False):
    import lightgbm as library

    settings = lightgbm_settings(shrinkage, quantised)
    ends = []
    begun = time.perf_counter()
    made = library.Dataset(data.samples, data.labels, params=settings)
    model = library.train(settings, made, ROUNDS, callbacks=[lambda _: ends.append(time.perf_counter() - begun)])

    def stump(tree):
        root = tree["tree_structure"]
        if "split_feature" not in root:
            return lambda columns: root["leaf_value"]
        below, above = root["left_child"]["leaf_value"], root["right_child"]["leaf_value"]
        return lambda columns: np.where(columns[root["split_feature"]] <= root["threshold"], below, above)

    stumps = [stump(tree) for tree in model.dump_model()["tree_info"]]
    offset = offset_of(stumps, data, model.predict(data.test_samples, raw_score=True, num_threads=1))
    scores = [staged_votes(stumps, columns, offset) for columns in (data.columns, data.test_columns)]
    variant = "rounded gradients" if quantised else ""
    return judged(data, "LightGBM", library.__version__, variant, shrinkage, ends, *scores)


def xgboost(data, shrinkage, missing=None):
    import xgboost as library

    settings = {
        "objective": "binary:logistic", "tree_method": "hist", "max_depth": 1, "max_bin": 256, "eta": shrinkage,
        "nthread": 1, "seed": 0,
    }  # fmt: skip
    absent = np.nan if missing is None else missing
    ends = []
    begun = time.perf_counter()
    made = library.QuantileDMatrix(data.samples, data.labels, max_bin=256, nthread=1, missing=absent)
    model = library.Booster(settings, [made])
    for t in range(ROUNDS):
        model.update(made, t)
        ends.append(time.perf_counter() - begun)

    def stump(tree):
        if "leaf" in tree:
            return lambda columns: tree["leaf"]
        leaf = {child["nodeid"]: child["leaf"] for child in tree["children"]}
        feature, below, above = int(tree["split"][1:]), leaf[tree["yes"]], leaf[tree["no"]]

        def votes(columns):
            values = columns[feature]
            out = np.where(values < tree["split_condition"], below, above)
            return out if missing is None else np.where(values == missing, leaf[tree["missing"]], out)

        return votes

    stumps = [stump(json.loads(tree)) for tree in model.get_dump(dump_format="json")]
    tests = library.DMatrix(data.test_samples, missing=absent, nthread=1)
    offset = offset_of(stumps, data, model.predict(tests, output_margin=True))
    scores = [staged_votes(stumps, columns, offset) for columns in (data.columns, data.test_columns)]
    variant = "" if missing is None else "zeros as missing"
    return judged(data, "XGBoost", library.__version__, variant, shrinkage, ends, *scores)


class Ticking(io.StringIO):
    """Keeps the time at which each line about a tree is written."""

    def __init__(self):
        super().__init__()
        self.times = []

    def write(self, text):
        if "tree" in text and "leaves" in text and "Fit" not in text:
            self.times.append(time.perf_counter())
        return super().write(text)


def hist_gradient_boosting(data, shrinkage):
    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS, learning_rate=shrinkage, max_leaf_nodes=2, max_depth=1, max_bins=255, early_stopping=False,
        verbose=2, random_state=0,
    )  # fmt: skip
    ticks = Ticking()
    begun = time.perf_counter()
    with contextlib.redirect_stdout(ticks):
        model.fit(data.samples, data.labels)
    ends = np.array(ticks.times) - begun
    scores = [model.staged_decision_function(samples) for samples in (data.samples, data.test_samples)]
    return judged(data, "HistGradientBoosting", sklearn.__version__, "", shrinkage, ends, *map(raveled, scores))


def raveled(parts):
    return (part.ravel() for part in parts)


class TimedStump(DecisionTreeClassifier):
    """A tree that notes when each training of one begins and ends; AdaBoost has no other place to look."""

    begun, ended = [], []

    def fit(self, X, y, sample_weight=None, check_input=True):
        self.begun.append(time.perf_counter())
        super().fit(X, y, sample_weight, check_input)
        self.ended.append(time.perf_counter())
        return self


def ada_boost(data, shrinkage):
    samples = data.samples.astype(np.float32)  # the dtype of trees: otherwise every round would convert
    tests = data.test_samples.astype(np.float32)
    rounds = 2
    for _ in range(2):  # two rounds say how many fit into a minute
        TimedStump.begun.clear()
        TimedStump.ended.clear()
        tree = TimedStump(max_depth=1)
        model = AdaBoostClassifier(tree, n_estimators=rounds, learning_rate=shrinkage, random_state=0)
        begun = time.perf_counter()
        model.fit(samples, data.labels)
        rounds = int(np.clip(MINUTE * rounds / (time.perf_counter() - begun), 2, ROUNDS))
    ends = np.array([*TimedStump.begun[1:], TimedStump.ended[-1]]) - begun
    stages = list(zip(model.estimator_weights_, model.estimators_))

    def staged(values):
        scores = np.zeros(len(values))
        for weight, tree in stages:
            scores += weight * (2.0 * tree.predict(values) - 1.0)
            yield scores

    ends = ends[: len(stages)]
    return judged(data, "AdaBoost", sklearn.__version__, "", shrinkage, ends, staged(samples), staged(tests))


def digits():
    bank, arrays = pixels_of_mnist(), []
    for part in ("train", "test"):
        samples = np.array(bank.samples(part))
        arrays += [samples, (np.asarray(bank.labels(part)) == DIGIT).astype(np.int64), transposed(samples)]
    return Digits(*arrays)


def fields(run, beside, first, common):
    """A row of the table and of the file; ``beside``: seconds a round of ours, just before and just after the run."""
    return {
        "library": run.package, "version": run.version, "variant": run.variant, "shrinkage": run.shrinkage,
        "rounds": len(run.ends), "seconds_a_round": f"{run.per_round:.5f}",
        "times_ours": "" if run.package == first.package else f"{run.per_round / beside:.2f}",
        "setup_seconds": f"{run.setup:.3f}", "training_seconds": f"{run.ends[-1]:.2f}",
        "train_loss": f"{run.loss[-1]:.4f}", "test_error_percent": f"{run.error[-1]:.2f}",
        "seconds_to_our_loss": text(run.seconds_to(first.loss[-1])),
        "seconds_to_common_loss": text(run.seconds_to(common)),
    }  # fmt: skip


def text(seconds):
    return "" if seconds is None else f"{seconds:.2f}"


def draw(runs, parts):
    """Test error against training seconds: a panel for each (title, runs), a line a library."""
    libraries = list(dict.fromkeys(run.package for run in runs))
    title = (
        f"MNIST, digit {DIGIT} against the rest, 60,000 samples, {ROUNDS} stumps, one thread; "
        "marks after 1, 2, 4, 8, ... rounds"
    )
    with panels(RESULTS / "peers.png", title, len(parts), sharey=True, sharex=True) as axes:
        for axis, (title, shown) in zip(axes, parts):
            for run in shown:
                at = libraries.index(run.package)
                marks = [m for m in (0, 1, 3, 7, 15, 31, 63, 124, 249) if m < len(run.ends)]
                name = f"{run.package}, shrinkage {run.shrinkage:g}"
                if len(run.ends) < ROUNDS:
                    name += f", {len(run.ends)} rounds only"
                axis.plot(
                    run.ends, run.error, color=COLOURS[at], marker=MARKERS[at], markevery=marks, markersize=6,
                    linewidth=1.8 if at else 2.6, label=name, zorder=3 if at else 4,
                )  # fmt: skip
            axis.set(xscale="log", yscale="log", xlabel="training time in seconds, setup included")
            axis.set_yticks([2, 3, 4, 5, 6, 8, 10])
            for side in (axis.xaxis, axis.yaxis):
                side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.yaxis.set_minor_formatter("")
            axis.set_title(title, fontsize=11)
            axis.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False)
        axes[0].set_ylabel("test error in %")


def test_full_data_logitboost_beside_its_peers():
    for package in ("lightgbm", "xgboost"):
        pytest.importorskip(package, reason=f"the comparison needs {package}, which is not installed")
    data = digits()
    FullDataClassifier("all", n_estimators=2, random_state=0).fit(data.samples[:100], data.labels[:100])  # compiles
    with threadpool_limits(1):
        runs, rounds = [], [our_round(data)]
        for train, *arguments in (
            (ours, SHRINKAGE), (lightgbm, SHRINKAGE), (xgboost, SHRINKAGE), (hist_gradient_boosting, SHRINKAGE),
            (ada_boost, 1.0), (ours, 1.0), (lightgbm, 0.1), (xgboost, 0.3), (hist_gradient_boosting, 0.1),
            (lightgbm, SHRINKAGE, True), (xgboost, SHRINKAGE, 0),
        ):  # fmt: skip
            runs.append(train(data, *arguments))
            rounds.append(our_round(data))
        plain, rounded = alternately(data, False), alternately(data, True)
    first, ada = runs[0], runs[4]
    assert all(run.loss[-1] < run.loss[0] and run.error[-1] < 10.0 for run in runs)  # a tenth is of the digit
    beside = [(before + after) / 2 for before, after in pairwise(rounds)]

    # the highest of the last losses; AdaBoost's few rounds may not get there
    common = max(run.loss[-1] for run in runs if len(run.ends) == ROUNDS)
    rows = [fields(run, near, first, common) for run, near in zip(runs, beside)]
    rows[1]["times_ours"], rows[9]["times_ours"] = f"{plain[0]:.2f}", f"{rounded[0]:.2f}"  # closer in time, so surer
    write_rows(RESULTS / "peers.csv", rows)
    draw(runs, [
        (f"shrinkage {SHRINKAGE} (AdaBoost 1)", runs[:5]),
        ("shrinkage as each library has it", [first, *runs[6:9], ada]),
    ])  # fmt: skip

    for run, row in zip(runs, rows):
        ratio = f", {row['times_ours']} of ours" if row["times_ours"] else ""
        show(" ".join(filter(None, (run.package, run.version, run.variant, f"shrinkage {run.shrinkage:g}"))), [
            (f"a round, median of {len(run.ends) - 1}", f"{1e3 * run.per_round:.1f} ms{ratio}"),
            ("setup", f"{run.setup:.2f} s"),
            (f"{len(run.ends)} rounds with setup", f"{run.ends[-1]:.2f} s"),
            ("training loss, test error", f"{run.loss[-1]:.4f}, {run.error[-1]:.2f} %"),
            (f"seconds until our training loss, {first.loss[-1]:.4f}", row["seconds_to_our_loss"] or "not reached"),
            (f"seconds until the loss that all reach, {common:.4f}", row["seconds_to_common_loss"] or "not reached"),
        ])  # fmt: skip
    show("seconds a round, the fastest rival over ours, in turn: median (least to most)", [
        (what, f"{middle:.2f} ({least:.2f} to {most:.2f})")
        for what, (middle, least, most) in (("LightGBM", plain), ("LightGBM, rounded gradients", rounded))
    ])  # fmt: skip
