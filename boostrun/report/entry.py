"""Entries: the cells of a table with their records, and the numbers that tables and figures read from these.

Metrics have names that a user can type; some have lines below a table of the user's own data, about its test part.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from boostrun.config import catalogue
from boostrun.config.fields import METRIC_NAMES
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.report.markup import MISSING, decimal, metric_name
from boostrun.report.statistics import ONE_SPLIT, Paired, Sampling, mean_std

#: Horizontal axes of curves, besides the ``"examples"`` of a stream.
AGAINST = ("T", "samples_drawn", "labels_asked", "evaluations", "all_evaluations", "train_seconds")

#: Most lines in a figure of curves: more are hard to distinguish.
MOST_LINES = 24

_STEPS_A_DECADE = 6

ACCURACY = "test_accuracy_pct"
#: The name of each metric, and its key in the records.
METRICS = {name: name for name in METRIC_NAMES} | {
    "accuracy": ACCURACY, "balanced_accuracy": "balanced_accuracy_pct", "macro_f1": "macro_f1_pct",
}  # fmt: skip
_OF_PROBABILITIES = {"log_loss": 3, "roc_auc": 4, "average_precision": 4}  # and their decimals in a table
HELD = "peak_samples_held"
_SHARES = ("accuracy_pct", "error_pct", "f1_pct")  # ends of the names of percentages of samples
_ESTIMATES = {*METRICS.values(), "kappa", "kappa_majority", "kappa_temporal", "recovery_pct", "test_errors"}
_FEW_ROWS = 30
_Z = 1.96  # of a two-sided 95 % interval


@dataclass(frozen=True)
class Entry:
    """One cell of a table: the requested trials, and the records that exist.

    Attributes
    ----------
    row : name of the method, e.g. ``"geem"``
    column : one label for each column level, e.g. ``("mnist", "r=100")``
    where : columns of the paper's figure, e.g. ``{"dataset": "mnist", "method": "geem", "r": "100"}``
    expected : how many trials were asked for
    records : the finished records (``status == "done"``)
    stale : how many of the records were made by code or data that has changed
    failed : how many trials failed
    reason : why trials are missing, e.g. ``"no data: datasets/stl10_binary not found"``
    setting : ``"paper"``, ``"tuned"``, ...; part of the row's label if a table has several settings
    metric : key in the records' metrics; that of the table if empty
    rounds : read the figure off the trials' curves after so many rounds; their last figure if None
    sampled : keys of records made by older code, some of whose trials were repeated with equal results
    right : the share of the trials that are right on each test row, if all of them kept their predictions
    fixed : whether nothing in the cell is random, so that its one trial stands for every seed

    >>> Entry("geem", ("mnist", "r=100"), {}, 10, []).label
    'geem · mnist r=100'
    """

    row: str
    column: tuple[str, ...]
    where: Mapping[str, str]
    expected: int
    records: Sequence[Mapping]
    stale: int = 0
    failed: int = 0
    reason: str = ""
    setting: str = ""
    metric: str = ""
    rounds: int | None = None
    sampled: frozenset[str] = frozenset()
    right: tuple[float, ...] | None = None
    fixed: bool = False

    @property
    def label(self) -> str:
        """The cell in words, for lists of missing cells."""
        return cell_label(row_label(self.row, self.setting, True), self.column)


def row_label(row: str, setting: str, several: bool) -> str:
    """The head of a row: the method, and its setting if the table has several.

    >>> row_label("geem", "tuned", True), row_label("geem", "tuned", False)
    ('geem (tuned)', 'geem')
    """
    return f"{row} ({setting})" if several and setting else row


def cell_label(row: str, column: Sequence[str]) -> str:
    """A row's head and its column in one line."""
    return " · ".join(filter(None, (row, " ".join(filter(None, column)))))


def is_estimate(metric: str) -> bool:
    """Whether a figure is estimated from test samples; others are counts and times."""
    return metric.endswith(_SHARES) or metric in _ESTIMATES


def done(records: Sequence[Mapping]) -> list[Mapping]:
    """The finished records by seed and key; the order in which they come makes no difference."""
    kept = [record for record in records if record.get("status", "done") == "done"]
    places = [(_number(record.get("seed")), str(record.get("key"))) for record in kept]
    if len(set(places)) == len(places):  # almost always: the content need not decide
        return [record for _, record in sorted(zip(places, kept), key=lambda pair: pair[0])]
    return sorted(kept, key=lambda record: (_number(record.get("seed")), str(record.get("key")), canonical(record)))


def canonical(record: Mapping) -> str:
    """One line of JSON that does not depend on the order of the keys."""
    return json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)  # a curve may be read on first use


def sampling_of(records: Sequence[Mapping], metric: str) -> Sampling:
    """How the trials of a cell differ in their data: by their splits, or not, with the number of test rows if known.

    >>> trial = lambda seed, split: {"seed": seed, "cell": {"dataset": {"split_seed": split, "test_fraction": 0.2}},
    ...     "inputs": {"data": f"bank {seed if split is None else 0}"}, "metrics": {"test_rows": 36}}
    >>> sampling_of([trial(seed, None) for seed in range(10)], "test_accuracy_pct")
    Sampling(ratio=0.25, rows=0)
    >>> sampling_of([trial(seed, 0) for seed in range(10)], "test_accuracy_pct")
    Sampling(ratio=0.0, rows=36)
    """
    kept = [record for record in records if record.get("status", "done") == "done"]
    parts = {(record.get("inputs") or {}).get("data") for record in kept}
    rows = {(record.get("metrics") or {}).get("test_rows") for record in kept}
    sets: list[Mapping] = [(record.get("cell") or {}).get("dataset") or {} for record in kept]
    if len(parts) > 1 and (sets[0].get("split_seed", 0) is None or len({one.get("split") for one in sets}) > 1):
        return Sampling(ratio=round(_ratio(sets[0], max(int(each or 0) for each in rows)), 9))
    known = metric == ACCURACY and len(parts) == len(rows) == 1
    return Sampling(rows=int(rows.pop() or 0)) if known else ONE_SPLIT


def _ratio(dataset: Mapping, rows: int) -> float:
    """Test samples for each training sample of a split; ``rows`` are the test samples, 0 if not known."""
    if rows and dataset.get("train_samples"):
        return rows / dataset["train_samples"]
    declared = catalogue.datasets().get(str(dataset.get("name")))
    published = declared.test_share if declared and "split" in dataset else 0.0
    share = dataset.get("holdout") or dataset.get("held_out") or dataset.get("test_fraction") or published or 0.2
    return share / (1 - share)


def common(samplings: Iterable[Sampling]) -> Sampling:
    """The sampling of cells that are compared: the largest ratio, or else the rows that all of them have.

    >>> common([Sampling(rows=36), Sampling(rows=36)]), common([Sampling(ratio=0.25), ONE_SPLIT])
    (Sampling(ratio=0.0, rows=36), Sampling(ratio=0.25, rows=0))
    """
    found = set(samplings)
    ratio = max((one.ratio for one in found), default=0.0)
    return found.pop() if len(found) == 1 else Sampling(ratio)


def value(record: Mapping, metric: str, rounds: int | None = None) -> float | None:
    """One figure of a record, from its metrics or else its cost, or from its curve after so many ``rounds``.

    Returns None if it is absent or not a finite number.

    >>> record = {"metrics": {"log10_loss": -1.9}, "cost": {}, "curve": {"T": [1, 10], "log10_loss": [-0.2, -1.9]}}
    >>> value(record, "log10_loss"), value(record, "log10_loss", rounds=1)
    (-1.9, -0.2)
    """
    parts = [record.get(part) or {} for part in ("metrics", "cost")]
    if rounds is not None:
        curve = record.get("curve") or {}
        marks = curve.get("T") or []
        parts = [{metric: curve[metric][marks.index(rounds)]}] if rounds in marks and metric in curve else []
    for part in parts:
        found = part.get(metric)
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            # the shuffle buffer of each reservoir of a stream holds samples, too
            buffered = part.get("buffer_rows", 0) * part.get("reservoirs", 1) if metric == HELD else 0
            return float(found) + buffered if math.isfinite(found) else None
    return None


def of_draws(cost: Mapping[str, Any], samples: int, classes: int) -> dict[str, float]:
    """The ``passes`` of a trial over so many training ``samples``, and its ``reservoirs``; empty if it counts no draws.

    ``reservoirs`` is 1 if samples are drawn for all classes together, otherwise the number of binary problems.

    >>> of_draws({"samples_drawn": 630, "samples_drawn_per_problem": 63}, 600, 10)
    {'passes': 1.05, 'reservoirs': 10}
    >>> of_draws({"samples_drawn": 630}, 600, 10)
    {'passes': 1.05, 'reservoirs': 1}
    """
    if not (drawn := cost.get("samples_drawn")) or not samples:
        return {}
    together = cost.get("samples_drawn_per_problem", drawn) == drawn
    return {"passes": drawn / samples, "reservoirs": 1 if together or classes < 3 else classes}


def by_seed(records: Sequence[Mapping], metric: str, rounds: int | None = None) -> tuple[dict, list[str]]:
    """One value for each seed, and remarks on the records that are not counted.

    Two records of one seed are never averaged as if they were two trials: the first by key counts.
    """
    values, absent, repeated = {}, 0, 0
    for record in done(records):
        found, seed = value(record, metric, rounds), record.get("seed")
        if found is None:
            absent += 1
        elif seed in values:
            repeated += 1
        else:
            values[seed] = found
    remarks = []
    if absent:
        remarks.append(f"{metric} absent or not finite in {absent} record{'s' * (absent > 1)}")
    if repeated:
        remarks.append(f"{repeated} more record{'s' * (repeated > 1)} of the same seeds not counted")
    return values, remarks


def _number(seed) -> float:
    return float(seed) if isinstance(seed, (int, float)) else math.inf


# -- the numbers that figures show -------------------------------------------------------------------------------------


def too_many(curves: Sequence[Entry]) -> bool:
    """Whether entries have more curves than a figure can show."""
    drawn = [entry for entry in curves if any(record.get("curve") for record in entry.records)]
    return len({(entry.row, entry.setting, entry.column[1:]) for entry in drawn}) > MOST_LINES


def curve_points(entry: Entry, metric: str, against: str) -> list[tuple[float, float, float]]:
    """(mean of against, mean, std of the metric) at the checkpoints that all curves of the entry share.

    Checkpoints are a curve's ``T``, on a stream its ``examples``. A single trial whose curve holds the points of a
    ``path`` with their ``columns`` has those points against T. Returns [] if no record has both figures.

    >>> curves = [{"T": [1, 2], "loss": [4.0, 2.0]}, {"T": [1, 2, 3], "loss": [6.0, 2.0, 1.0]}]
    >>> entry = Entry("a", ("x",), {}, 2, [{"seed": seed, "curve": curve} for seed, curve in enumerate(curves)])
    >>> curve_points(entry, "loss", "T")
    [(1, 5.0, 1.4142135623730951), (2, 2.0, 0.0)]
    """
    if against == "T" and len(entry.records) == 1 and (points := _path(entry.records[0], metric)):
        return points
    curves = []
    for record in done(entry.records):
        curve = record.get("curve") or {}
        marks = marks_of(curve)
        if all(curve.get(name) for name in (marks, metric, against)):
            triples = zip(curve[marks], curve[against], curve[metric])
            curves.append({t: (x, y) for t, x, y in triples if _finite(x) and _finite(y)})
    shared = sorted(set.intersection(*map(set, curves))) if curves else []
    return [(mean_std(curve[t][0] for curve in curves)[0], *mean_std(curve[t][1] for curve in curves)) for t in shared]


def thinned(points: Sequence, most: int | None) -> list:
    """At most ``most`` of the points, evenly spread, with the first and the last; all points if ``most`` is None.

    >>> thinned(range(11), 3), thinned([1, 2], 3), thinned([1, 2, 3, 4], None)
    ([0, 5, 10], [1, 2], [1, 2, 3, 4])
    """
    if most is None or len(points) <= most:
        return list(points)
    return [points[round(number * (len(points) - 1) / (most - 1))] for number in range(most)]


def marks_of(curve: Mapping) -> str:
    """The key of a curve's checkpoints: ``"examples"`` on a stream, else ``"T"``."""
    return "examples" if "examples" in curve and "T" not in curve else "T"


def _finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _path(record: Mapping, metric: str) -> list[tuple[float, float, float]]:
    """(columns, metric, NaN) at the points of a record's path that have columns; [] if it has no path."""
    path = (record.get("curve") or {}).get("path") or {}
    points = zip(path.get("columns") or [], path.get(metric) or [])
    return [(columns, value, math.nan) for columns, value in points if _finite(columns) and columns and _finite(value)]


def mean_of(entry: Entry, metric: str) -> float:
    """The mean of a metric over the trials of an entry; NaN if no trial has it."""
    return mean_std(by_seed(entry.records, metric)[0].values())[0]


def sweep_points(entries: Sequence[Entry], level: int) -> list[tuple[float, float, float]]:
    """(number in the column label at ``level``, mean, std) of entries, by that number.

    An entry without the metric in every trial has no point: a trial did not get there.

    >>> entry = lambda classes, values: Entry("a", (f"k={classes}",), {}, len(values), [
    ...     {"seed": seed, "metrics": {"features": value}} for seed, value in enumerate(values)], metric="features")
    >>> sweep_points([entry(10, [4, 6]), entry(2, [1, 3]), entry(36, [20, None])], 0)
    [(2.0, 2.0, 1.4142135623730951), (10.0, 5.0, 1.4142135623730951)]
    """
    points = []
    for entry in entries:
        values = by_seed(entry.records, entry.metric, entry.rounds)[0]
        if values and len(values) >= entry.expected:
            points.append((float(entry.column[level].rpartition("=")[2]), *mean_std(values.values())))
    return sorted(points)


def family_shares(entry: Entry) -> tuple[list[float], dict[str, list[float]]] | None:
    """Edges of intervals of T, and for each family its share of the steps in each interval, mean over trials.

    Reads ``curve["family_steps"]``, {family: steps so far, at each of ``curve["T"]``}. None if no record has it.
    """
    curves = [record["curve"] for record in done(entry.records) if (record.get("curve") or {}).get("family_steps")]
    if not curves:
        return None
    shared = sorted(set.intersection(*(set(curve["T"]) for curve in curves)))
    marks = [0]
    for mark in filter(None, shared):
        if mark >= marks[-1] * 10 ** (1 / _STEPS_A_DECADE) or mark == shared[-1]:
            marks.append(mark)
    shares: dict[str, list[float]] = {}
    for name in curves[0]["family_steps"]:
        totals = [0.0]
        for mark in marks[1:]:
            counts = [curve["family_steps"].get(name, [])[curve["T"].index(mark)] for curve in curves]
            totals.append(sum(counts) / len(counts))
        pairs = zip(marks, marks[1:], totals, totals[1:])
        shares[name] = [(after - before) / (last - first) for first, last, before, after in pairs]
    return [max(mark, 0.8) for mark in marks], shares


# -- metrics -----------------------------------------------------------------------------------------------------------


def metric_key(name: str) -> str:
    """The key in the records of a metric's name; BoostrunError with the nearest name if it is unknown.

    >>> metric_key("roc_auc"), metric_key("balanced_accuracy")
    ('roc_auc', 'balanced_accuracy_pct')
    >>> metric_key("balanced")
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: no metric 'balanced'; did you mean 'balanced_accuracy'? (accuracy, ...)
    """
    if name not in METRICS:
        raise BoostrunError(f"no metric '{name}'{did_you_mean(name, METRICS)} ({', '.join(METRICS)})")
    return METRICS[name]


def metric_word(metric: str) -> str:
    """The name of a metric, of its key in the records.

    >>> metric_word("balanced_accuracy_pct")
    'balanced_accuracy'
    """
    return next(name for name, key in METRICS.items() if key == metric)


def measure_of(metric: str) -> str:
    """A metric in the words of a title.

    >>> measure_of("test_accuracy_pct"), measure_of("balanced_accuracy_pct"), measure_of("roc_auc")
    ('accuracy', 'balanced accuracy', 'ROC AUC')
    """
    return metric_name(metric).removeprefix("test ").removesuffix(" %")


def places_of(metric: str) -> int:
    """The decimals of a metric in a table: two for percentages, more for log loss, ROC AUC and average precision."""
    return _OF_PROBABILITIES.get(metric, 2)


def limits_of(metric: str) -> tuple[float, float]:
    """The least and the largest value that a metric can have, where intervals end.

    >>> limits_of("test_accuracy_pct"), limits_of("roc_auc"), limits_of("log_loss"), limits_of("labels_asked")
    ((0.0, 100.0), (0.0, 1.0), (0.0, inf), (-inf, inf))
    """
    if metric.endswith(_SHARES):
        return 0.0, 100.0
    if metric in _OF_PROBABILITIES:
        return 0.0, math.inf if metric == "log_loss" else 1.0
    return -math.inf, math.inf


def in_words(one: Paired, sampling: Sampling, metric: str) -> str:
    """A difference of two methods with its 95 % intervals.

    >>> in_words(Paired(10, 1.5, 0.9, 2.1, 0.01, -0.6, 3.6, 0.2, "bound"), Sampling(rows=359), ACCURACY)
    '+1.50 (95 % over the trials +0.90 to +2.10, over the 359 test rows -0.60 to +3.60 by a bound)'
    >>> in_words(Paired(10, 1.5, -0.3, 3.3, 0.1), Sampling(ratio=0.25), ACCURACY)
    '+1.50 (95 % over the splits, which overlap, -0.30 to +3.30)'
    """
    mean, low, high, rows_low, rows_high = (
        decimal(number, signed=True, places=places_of(metric))
        for number in (one.mean, one.low, one.high, one.rows_low, one.rows_high)
    )
    rows = f", over the {sampling.rows} test rows {rows_low} to {rows_high} by a {one.rows_by}" if rows_low else ""
    return f"{mean} (95 % over the {'splits, which overlap,' if sampling.ratio else 'trials'} {low} to {high}{rows})"


def absent_lines(entries: Sequence[Entry], labels: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Why metrics are missing from a table: methods without probabilities, and records without metrics."""
    lines = []
    for entry, label in zip(entries, labels):
        records = [record["metrics"] for record in done(entry.records)]
        absent = [key for key in metrics if key != ACCURACY and any(key not in one for one in records)]
        if not absent:
            continue
        names = " and ".join(filter(None, (", ".join(map(metric_name, absent[:-1])), metric_name(absent[-1]))))
        of_stream = any("examples" in (record.get("curve") or {}) for record in done(entry.records))
        if of_stream and absent[0] in _OF_PROBABILITIES:
            lines.append(f"{label}: {MISSING} no {names}: no probabilities are asked for along a stream")
        elif of_stream:
            lines.append(f"{label}: {MISSING} its records were made without {names}")
        elif all("majority_pct" in one for one in records):
            lines.append(f"{label}: {MISSING} no {names}: it has no probabilities, or the test part lacks a class")
        else:
            lines.append(
                f"{label}: {MISSING} its records were made without {names}; run.predictions=true measures them"
            )
    return list(dict.fromkeys(lines))


def majority_lines(entries: Sequence[Entry], labels: Sequence[str]) -> list[str]:
    """Lines that compare the accuracies with the sizes of the classes in the test part; none for records without sizes.

    A method's accuracy is compared with the share of the most frequent class. It is within noise if it is not above the
    95 % interval of that share, of the rows of all test parts that differ.
    """
    rows = [record["metrics"].get("test_rows") for entry in entries for record in done(entry.records)]
    known = [count for count in rows if count is not None]
    lines = []
    if known and min(known) < _FEW_ROWS:
        fewest, most = min(known), max(known)
        range_ = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        lines.append(f"the test part has {range_} rows: one row is {decimal(100.0 / fewest)} points of accuracy")
    said: dict[str, list[str]] = {}
    for entry, label in zip(entries, labels):
        if sentence := _of_majority(entry):
            said.setdefault(sentence, []).append(label)
    return [*lines, *(f"{', '.join(dict.fromkeys(names))}: {sentence}" for sentence, names in said.items())]


def _of_majority(entry: Entry) -> str:
    """The sentence about a method whose accuracy is not above that of the majority class; else an empty text."""
    records = [one for one in done(entry.records) if {"majority_pct", ACCURACY} <= one["metrics"].keys()]
    if not records:
        return ""
    level = mean_std(one["metrics"]["majority_pct"] for one in records)[0]
    mean = mean_std(one["metrics"][ACCURACY] for one in records)[0]
    parts: Mapping = {one.get("inputs", {}).get("data"): one["metrics"]["test_rows"] for one in records}
    noise = _Z * math.sqrt(level * (100.0 - level) / sum(parts.values()))
    if mean > level + noise:
        return ""
    balanced = mean_std(by_seed(records, METRICS["balanced_accuracy"])[0].values())[0]
    shown = decimal(level)
    same = "that" if decimal(mean) == shown else "below that" if mean < level - noise else "within noise of that"
    return f"accuracy is {same} of the majority class ({shown}); balanced accuracy {decimal(balanced)}"


def stopped_lines(entries: Sequence[Entry], labels: Sequence[str]) -> list[str]:
    """The rounds that each method with early stopping has kept, and those that it tried: means over its trials."""
    lines = []
    for entry, label in zip(entries, labels):
        means = [mean_of(entry, name) for name in ("rounds_kept", "rounds_scored")]
        if all(map(math.isfinite, means)):
            lines.append(f"{label}: early stopping kept {means[0]:.4g} of {means[1]:.4g} rounds looked at")
    return list(dict.fromkeys(lines))


def without_curves(entries: Sequence[Entry], metrics: Sequence[str]) -> str:
    """A line that names the metrics that records have at their end only, though accuracy has a curve; or empty."""
    curves = [record.get("curve") or {} for entry in entries for record in done(entry.records)]
    staged = [curve for curve in curves if ACCURACY in curve and "T" in curve]
    lacking = [metric_name(metric) for metric in metrics if not all(metric in curve for curve in staged)]
    return f"no curve of {', '.join(lacking)}: measured after the last round only" if lacking else ""
