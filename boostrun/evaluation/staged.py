"""Evaluation by rounds: train on a table or on chunks, then test after several numbers of rounds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.evaluation import Result, Seeds
from boostrun.methods import hypothesis_ensemble as one_vs_all

_STEPS = (1, 2, 3, 5, 7)
_STAGED = ("samples_drawn", "labels_asked", "train_seconds")
_COUNTS = (
    "samples_drawn_", "labels_asked_", "peak_samples_held_", "covariance_restarts_", "evaluations_",
    "n_features_used_", "n_learners_",
)  # fmt: skip


def checkpoints(rounds: int) -> list[int]:
    """The numbers of rounds after which a curve has a point: 1, 2, 3, 5, 7, 10, 20, ..., then every 25 from 100 on.

    >>> checkpoints(60)
    [1, 2, 3, 5, 7, 10, 20, 30, 50, 60]
    """
    marks = {*_STEPS, *(10 * step for step in _STEPS), *range(100, rounds + 1, 25), rounds}
    return sorted(mark for mark in marks if mark <= rounds)


def accuracy_pct(predicted: np.ndarray, truth: np.ndarray) -> float:
    """The share of correct labels in percent.

    >>> accuracy_pct(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 0]))
    75.0
    """
    return 100.0 * float(np.count_nonzero(predicted == truth)) / len(truth)


class Staged:
    """For ensembles that grow by rounds: estimators with ``fit_source(source)``, ``ensemble_`` and ``classes_``.

    They draw samples from ``data.source(seed)``. The curve is the test accuracy after :func:`checkpoints` of rounds,
    from one pass over the test data. A subclass may override :meth:`marks`, :meth:`curve` and :meth:`extra`.
    """

    def check(self, model: Any, data: Any) -> None:
        """Raise BoostrunError if ``model`` cannot be trained on ``data``; nothing is trained."""

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile by training ``small`` on a few rows of the kind of ``data``."""
        sample = data.sample()
        small.fit_source(sample.source(np.random.SeedSequence(0)))
        next(iter(small.ensemble_.staged_decision(next(iter(sample.test_chunks()))[0], [1])))

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit and test ``model``; metrics and counts are the same on any machine, other costs vary."""
        begun = time.perf_counter()
        cost = self.train(model, data, seeds)
        trained = time.perf_counter()
        marks = self.marks(model)
        curve: dict[str, Any] = {"T": marks}
        for name in _STAGED:
            if (staged := getattr(model, f"staged_{name}_", None)) is not None:
                curve[name] = [staged[t - 1].item() for t in marks]
        curve["test_accuracy_pct"] = staged_accuracy_pct(model, data, marks)
        curve |= self.curve(model, data, marks)
        cost |= {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained, **counts(model)}
        accuracy = curve["test_accuracy_pct"][-1]
        metrics = {"test_accuracy_pct": accuracy, "test_error_pct": 100.0 - accuracy}
        more, costs = self.extra(model, data, curve)
        return {"metrics": metrics | more, "cost": cost | costs, "curve": curve}

    def train(self, model: Any, data: Any, seeds: Seeds) -> dict[str, Any]:
        """Fit ``model``, and return the costs that the source of the samples counts."""
        source = data.source(seeds.filter)
        data.set_up(model)
        model.fit_source(source)
        return data.costs_of(source)

    def marks(self, model: Any) -> list[int]:
        """Numbers of rounds after which the curve has a point."""
        return checkpoints(model.ensemble_.n_rounds)

    def curve(self, model: Any, data: Any, marks: Sequence[int]) -> dict[str, Any]:
        """Further lists of the curve, from a subclass."""
        return {}

    def extra(self, model: Any, data: Any, curve: dict[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
        """Further metrics and costs, from a subclass."""
        return {}, {}


class Fitted:
    """For any classifier with ``fit(X, y)`` and ``predict(X)``.

    It gets codes or values, depending on the features; if it has ``fit_source``, it draws its samples from a source.
    Its counts become costs. If it has ``staged_predict``, the curve has its accuracy after several numbers of rounds.
    """

    def check(self, model: Any, data: Any) -> None:
        """Accept every model: nothing can be checked before training."""

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile by training ``small`` on a few rows."""
        sample = data.sample()
        self._fit(small, sample, np.random.SeedSequence(0))
        small.predict(sample.inputs("test"))

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on the training part of ``data``, and test it."""
        begun = time.perf_counter()
        self._fit(model, data, seeds.filter)
        trained = time.perf_counter()
        test, truth = data.inputs("test"), data.labels("test")
        predicted = np.asarray(model.predict(test))
        if predicted.shape != truth.shape:
            raise BoostrunError(
                f"{type(model).__name__}.predict gave the shape {predicted.shape} for {len(truth)} samples; one label "
                "each is needed"
            )
        accuracy = accuracy_pct(predicted, truth)
        curve: dict[str, list] = {}
        if (staged_predict := getattr(model, "staged_predict", None)) is not None:
            staged = [accuracy_pct(np.asarray(labels), truth) for labels in staged_predict(test)]
            curve["T"] = checkpoints(len(staged))
            curve["test_accuracy_pct"] = [staged[t - 1] for t in curve["T"]]
        cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained, **counts(model)}
        return {
            "metrics": {"test_accuracy_pct": accuracy, "test_error_pct": 100.0 - accuracy}, "cost": cost,
            "curve": curve,
        }  # fmt: skip

    @staticmethod
    def _fit(model: Any, data: Any, seed: np.random.SeedSequence) -> None:
        if (fit_source := getattr(model, "fit_source", None)) is not None:
            fit_source(data.source(seed))
        else:
            model.fit(data.inputs("train"), data.labels("train"))


def counts(model: Any) -> dict[str, int]:
    """The counts of a fitted model, such as samples drawn, as costs."""
    found = {name.rstrip("_"): int(getattr(model, name)) for name in _COUNTS if getattr(model, name, None) is not None}
    per_problem = getattr(model, "samples_drawn_per_problem_", None)
    return found if per_problem is None else found | {"samples_drawn_per_problem": int(max(per_problem))}


def staged_accuracy_pct(model: Any, data: Any, stages: Sequence[int]) -> list[float]:
    """The test accuracy in percent after each number of rounds; test data are read in chunks."""
    right, total = np.zeros(len(stages), np.int64), 0
    for columns, labels in data.test_chunks():
        total += len(labels)
        for place, scores in enumerate(model.ensemble_.staged_decision(columns, stages)):
            right[place] += np.count_nonzero(one_vs_all.predict(scores, model.classes_) == labels)
    return [100.0 * float(count) / total for count in right]


TARGETS = (20, 8)  # test errors in percent; a metric is the fewest features that reach them (Figure 2)


def errors(staged: Iterable[np.ndarray], truth: np.ndarray, known: int) -> tuple[list[float], np.ndarray]:
    """Test errors in percent for each of the ``staged`` scores (m, k), and the last predicted class numbers (m,).

    Only the first ``known`` classes are predicted; the lowest wins ties.
    """
    found, predicted = [], np.empty(0, np.int64)
    for scores in staged:
        predicted = scores[:, :known].argmax(axis=1)
        found.append(100.0 - accuracy_pct(predicted, truth))
    return found, predicted


def by_features(counts: Sequence[int], path: Mapping[str, Sequence[Any]], upto: int = 0) -> dict[str, list]:
    """The curve over the number of features T: for each T the last point of ``path`` that uses at most T features.

    ``counts`` has the number of features of each point, ``path`` lists by name with a value for each point. T begins
    at the smallest count, at least 1, and ends at the largest count or at ``upto``, whichever is larger.

    >>> by_features([0, 2, 3], {"error": [90, 40, 20]}, upto=4)
    {'T': [1, 2, 3, 4], 'error': [90, 40, 20, 20]}
    """
    counts = np.asarray(counts)  # type: ignore[assignment]
    marks = range(max(1, int(counts.min())), max(upto, int(counts.max())) + 1)  # type: ignore[attr-defined]
    last = [int(np.flatnonzero(counts <= t)[-1]) for t in marks]  # type: ignore[operator]
    return {"T": list(marks), **{name: [values[point] for point in last] for name, values in path.items()}}


def metrics_of(curve: Mapping[str, Any]) -> dict[str, float]:
    """Error and accuracy at the end of a curve, and the fewest features that reach each of the target errors."""
    error = curve["test_error_pct"][-1]
    metrics = {"test_error_pct": error, "test_accuracy_pct": 100.0 - error}
    for target in TARGETS:
        reached = [t for t, error in zip(curve["T"], curve["test_error_pct"]) if error <= target]
        if reached:
            metrics[f"features_to_{target}_pct"] = reached[0]
    return metrics


def wrong(predicted: np.ndarray, truth: np.ndarray) -> list[list[int]]:
    """[number, predicted class, true class] of each sample with a wrong prediction."""
    which = np.flatnonzero(predicted != truth)
    return np.column_stack([which, predicted[which], truth[which]]).tolist()
