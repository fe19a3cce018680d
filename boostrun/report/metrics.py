"""Metrics that a user can name, and the lines below a table of the user's own data about its test part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.report.entry import Entry, by_seed, done
from boostrun.report.markup import MISSING, decimal, metric_name
from boostrun.report.statistics import mean_std

ACCURACY = "test_accuracy_pct"
#: The name of each metric, and its key in the records.
METRICS = {
    "accuracy": ACCURACY, "balanced_accuracy": "balanced_accuracy_pct", "macro_f1": "macro_f1_pct",
    "log_loss": "log_loss", "roc_auc": "roc_auc", "average_precision": "average_precision",
}  # fmt: skip
_OF_PROBABILITIES = {"log_loss": 3, "roc_auc": 4, "average_precision": 4}  # and their decimals in a table
_SHARES = ("accuracy_pct", "error_pct", "f1_pct")  # ends of the names of percentages of samples
_FEW_ROWS = 30
_Z = 1.96  # of a two-sided 95 % interval


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


def name_of(metric: str) -> str:
    """The name of a metric, of its key in the records.

    >>> name_of("balanced_accuracy_pct")
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


def absent_lines(entries: Sequence[Entry], labels: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Why metrics are missing from a table: methods without probabilities, and records without metrics."""
    lines = []
    for entry, label in zip(entries, labels):
        records = [record["metrics"] for record in done(entry.records)]
        absent = [key for key in metrics if key != ACCURACY and any(key not in one for one in records)]
        if not absent:
            continue
        names = " and ".join(filter(None, (", ".join(map(metric_name, absent[:-1])), metric_name(absent[-1]))))
        if any("examples" in (record.get("curve") or {}) for record in done(entry.records)):
            lines.append(f"{label}: {MISSING} no {names}: a stream has no test part")
        elif all("balanced_accuracy_pct" in one for one in records):
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


def without_curves(entries: Sequence[Entry], metrics: Sequence[str]) -> str:
    """A line that names the metrics that records have at their end only, though accuracy has a curve; or empty."""
    curves = [record.get("curve") or {} for entry in entries for record in done(entry.records)]
    staged = [curve for curve in curves if ACCURACY in curve and "T" in curve]
    lacking = [metric_name(metric) for metric in metrics if not all(metric in curve for curve in staged)]
    return f"no curve of {', '.join(lacking)}: measured after the last round only" if lacking else ""
