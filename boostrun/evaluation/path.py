"""What records of shared features have in common: a path of predictors, read by how many features each one uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from boostrun.evaluation.staged import accuracy_pct

TARGETS = (20, 8)  # test errors in percent whose fewest features are told (Figure 2)


def errors(staged: Iterable[np.ndarray], truth: np.ndarray, known: int) -> tuple[list[float], np.ndarray]:
    """Test errors in percent of staged scores (m, k) at every point, and the class numbers (m,) predicted last.

    Classes after the first ``known`` are never predicted; ties go to the lowest.
    """
    found, predicted = [], np.empty(0, np.int64)
    for scores in staged:
        predicted = scores[:, :known].argmax(axis=1)
        found.append(100.0 - accuracy_pct(predicted, truth))
    return found, predicted


def by_features(counts: Sequence[int], path: Mapping[str, Sequence[Any]], upto: int = 0) -> dict[str, list]:
    """The curve over T = 1, 2, ..., the most features of any point: the last point that uses at most T.

    ``counts`` tells how many features each point uses, ``path`` lists by name with an entry a point. T begins where
    there is such a point, and ends no earlier than at ``upto``, the number asked for: a path that ended before keeps
    its last point.

    >>> by_features([0, 2, 3], {"error": [90, 40, 20]}, upto=4)
    {'T': [1, 2, 3, 4], 'error': [90, 40, 20, 20]}
    """
    counts = np.asarray(counts)  # type: ignore[assignment]
    marks = range(max(1, int(counts.min())), max(upto, int(counts.max())) + 1)  # type: ignore[attr-defined]
    last = [int(np.flatnonzero(counts <= t)[-1]) for t in marks]  # type: ignore[operator]
    return {"T": list(marks), **{name: [values[point] for point in last] for name, values in path.items()}}


def metrics_of(curve: Mapping[str, Any]) -> dict[str, float]:
    """Error and accuracy at the end of a curve, and the fewest features with at most each of the targets."""
    error = curve["test_error_pct"][-1]
    metrics = {"test_error_pct": error, "test_accuracy_pct": 100.0 - error}
    for target in TARGETS:
        reached = [t for t, error in zip(curve["T"], curve["test_error_pct"]) if error <= target]
        if reached:
            metrics[f"features_to_{target}_pct"] = reached[0]
    return metrics


def wrong(predicted: np.ndarray, truth: np.ndarray) -> list[list[int]]:
    """[number, predicted class, true class] of each sample that is predicted wrongly."""
    which = np.flatnonzero(predicted != truth)
    return np.column_stack([which, predicted[which], truth[which]]).tolist()
