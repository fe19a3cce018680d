"""Evaluation on a stream: on hold-outs of the current concept, or prequential, each example first tested, then learned.

Recovery is measured over the 600 examples after a change, as in Grbovic & Vucetic (2011).
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostrun.data.streams.drift_stream import DriftStream
from boostrun.errors import BoostrunError
from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.measures import RECOVERY, Measures


class Delayed:
    """A learner with late labels: example t is learned after example t + ``delay`` was predicted.

    Before the first label it predicts the second of two classes, else the first. Labels that are still to come at the
    end of the stream are never learned. It needs memory for ``delay`` examples.

    Parameters
    ----------
    learner : with ``test_then_train(X, y, classes)`` and ``predict(X)``, on class numbers; it is changed
    delay : int, at least 1
    n_classes : int

    Cost: for each example one prediction and one call to learn it, in Python.

    >>> class Last:
    ...     def test_then_train(self, X, y, classes): self.label = y[-1]
    ...     def predict(self, X): return np.full(len(X), self.label)
    >>> Delayed(Last(), 2, 5).test_then_train(np.zeros((6, 1)), np.array([1, 2, 3, 4, 3, 2]), range(5)).tolist()
    [0, 0, 0, 1, 2, 3]
    """

    def __init__(self, learner: Any, delay: int, n_classes: int):
        self.learner, self.delay = learner, delay
        self._first = int(n_classes == 2)
        self._waiting: deque[tuple[np.ndarray, np.ndarray]] = deque()
        self._begun = False

    def test_then_train(self, X: np.ndarray, y: np.ndarray, classes: Any) -> np.ndarray:
        """Predict class numbers (k,) for the rows of X (k, d), and learn the examples whose labels arrive."""
        said = np.empty(len(y), np.int64)
        for i in range(len(y)):
            said[i] = self.predict(X[i : i + 1])[0]
            self._waiting.append((X[i : i + 1].copy(), np.array(y[i : i + 1])))
            if len(self._waiting) > self.delay:
                self.learner.test_then_train(*self._waiting.popleft(), classes)
                self._begun = True
        return said

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Class numbers (k,) for X (k, d)."""
        return self.learner.predict(X) if self._begun else np.full(len(X), self._first)


TAIL = 500  # examples before a change, or the end, that tail accuracy covers
_REHEARSED = 100  # examples run first, so that compilation is not timed


class OnStream:
    """For stream learners, with ``test_then_train(X, y, classes)`` and ``predict(X)``.

    If the stream has hold-outs, the learner is tested on them from example ``data.first`` on, every ``data.eval_every``
    examples; otherwise each example is predicted before it is learned. The curve holds ``examples``;
    ``test_accuracy_pct`` (on the hold-out of the current concept, or over the last ``data.window`` examples) and
    ``fading_accuracy_pct`` after so many examples; ``changes``, the examples after which the concept changes; and the
    facts of the stream. Metrics without a value are omitted. ``cost.time_s`` is the processor time of learning and of
    predictions on the stream, without hold-outs.

    With ``data.delay`` labels are late, see :class:`Delayed`. If ``data.measures`` is "all", metrics and curve include
    those of :class:`boostrun.evaluation.measures.Measures`, and ``cost.memory_bytes`` is the largest of its curve. A
    stream with hold-outs then also has ``prequential_accuracy_pct``, and the curves of the predictions, with their own
    ``examples``, are in the curve's ``predictions``.
    """

    def check(self, model: Any, data: Any) -> None:
        """Accept every model: nothing can be checked before training."""

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile the code of a learner on the first examples of the stream."""
        x, y = next(data.stream.blocks(_REHEARSED))
        small.test_then_train(x, y, np.arange(len(data.stream.classes)))
        small.predict(x[:1])

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Train ``model`` on the stream, in order, and measure it along the way."""
        stream = data.stream
        if data.delay:
            model = Delayed(model, min(data.delay, len(stream)), len(stream.classes))
        metrics, seconds, curve = self.holdouts(model, data) if stream.holdouts else self.predictions(model, data)
        if "test_accuracy_pct" in metrics:
            metrics["test_error_pct"] = 100.0 - metrics["test_accuracy_pct"]
        changes = [int(change) for change in stream.changes if change < len(stream)]
        cost = {
            "time_s": seconds, "train_seconds": seconds, "examples_per_second": len(stream) / max(seconds, 1e-9),
            "time_per_example_us": 1e6 * seconds / len(stream),
        }  # fmt: skip
        if held := curve.get("predictions", curve).get("memory_bytes"):
            cost["memory_bytes"] = max(held)
        return {"metrics": metrics, "cost": cost, "curve": {**curve, "changes": changes, "stream": dict(stream.facts)}}

    def holdouts(self, model: Any, data: Any) -> tuple[dict[str, float], float, dict[str, Any]]:
        """Metrics, seconds and curve on the hold-outs of the concepts."""
        measures = _measures(model, data)
        found = follow(model, data.stream, data.eval_every, data.first, measures)
        metrics = {
            "test_accuracy_pct": found.stream_accuracy_pct(), "tail_accuracy_pct": found.tail_accuracy_pct(),
            "recovery_pct": found.recovery_pct(),
        }  # fmt: skip
        for number, recovery in enumerate(found.recoveries_pct(), start=1):
            metrics[f"recovery_{number}_pct"] = recovery
        curve = {"examples": found.examples.tolist(), "test_accuracy_pct": found.accuracy_pct.tolist()}
        if measures is not None:
            curve["predictions"] = measures.curve
            metrics = {**measures.metrics(), "prequential_accuracy_pct": measures.accuracy_pct, **metrics}
        return {name: value for name, value in metrics.items() if not math.isnan(value)}, found.seconds, curve

    def predictions(self, model: Any, data: Any) -> tuple[dict[str, float], float, dict[str, Any]]:
        """Metrics, seconds and curve of predictions, each made before its example is learned."""
        score = Prequential(data.window, data.fading, data.curve_every, data.scored_after)
        measures = _measures(model, data)
        blocks = blocks_of(data.stream) if measures is None else blocks_of(data.stream, data.curve_every)
        score, seconds = prequential(model, blocks, np.arange(len(data.stream.classes)), score, measures)
        curve = {"examples": score.curve["examples"], "test_accuracy_pct": score.curve["window_accuracy_pct"]}
        curve["fading_accuracy_pct"] = score.curve["fading_accuracy_pct"]
        metrics = {"test_accuracy_pct": score.accuracy_pct, "fading_accuracy_pct": score.fading_accuracy_pct}
        if measures is not None:
            metrics |= measures.metrics()
            curve |= {name: points for name, points in measures.curve.items() if name != "examples"}
        return metrics, seconds, curve


@dataclass(frozen=True)
class HoldoutCurve:
    """Accuracy on the hold-out of the current concept at checkpoints of the stream.

    Attributes
    ----------
    examples : (c,) int64, rising: the number of examples before each checkpoint
    accuracy_pct : (c,) float64
    changes : int64, numbers of examples after which the concept changes
    end : int, length of the stream
    seconds : float, processor time of learning and of predictions on the stream, without hold-outs
    """

    examples: np.ndarray
    accuracy_pct: np.ndarray
    changes: np.ndarray
    end: int
    seconds: float

    def stream_accuracy_pct(self) -> float:
        """Mean over all checkpoints; NaN if there is none."""
        return _mean(self.accuracy_pct)

    def tail_accuracy_pct(self) -> float:
        """Mean over the checkpoints among the last 500 examples of each concept."""
        before = np.append(self.changes, self.end)
        inside = (self.examples > before[:, None] - TAIL) & (self.examples <= before[:, None])
        return _mean(self.accuracy_pct[inside.any(axis=0)])

    def recoveries_pct(self) -> list[float]:
        """For each change, the mean over the checkpoints in the 600 examples after it; NaN if there is none."""
        return [
            _mean(self.accuracy_pct[(self.examples > change) & (self.examples <= change + RECOVERY)])
            for change in self.changes
        ]

    def recovery_pct(self) -> float:
        """Mean of the recoveries over the changes that have one."""
        found = np.array(self.recoveries_pct())
        return _mean(found[~np.isnan(found)])


def follow(
    learner, stream: DriftStream, every: int = 20, first: int = 1, measures: Measures | None = None
) -> HoldoutCurve:
    """Train ``learner`` on the stream, and test it on the hold-out of the current concept along the way.

    Parameters
    ----------
    learner : with ``test_then_train(X, y, classes)`` and ``predict(X)``, on class numbers; it is changed
    stream : with hold-outs
    every : int, checkpoints are after example ``every``, 2 ``every``, ...
    first : int, no checkpoint is before this example, such as the length of a window
    measures : gets the predictions for the examples of the stream, made before they are learned; or None

    The concept of a checkpoint is that of the last example. Cost: one prediction of a hold-out per checkpoint; a
    committee with ``answers_on`` computes only its new members. Raises BoostrunError if the stream has no hold-outs.
    """
    if not stream.holdouts:
        raise BoostrunError(f"the stream '{stream.name}' has no hold-out: test it by testing, then training")
    known = np.arange(len(stream.classes))
    marks = np.arange(every, len(stream) + 1, every)
    accuracy = np.empty(len(marks))
    answers = [_answers(learner, held.x) for held in stream.holdouts]
    seconds, seen = 0.0, 0
    for place, mark in enumerate(marks):
        seconds += _learn(learner, stream.x[seen:mark], stream.y[seen:mark], known, measures)
        seen = mark  # type: ignore[assignment]
        if mark >= first:
            concept = stream.concept(mark)
            right = answers[concept]() == stream.holdouts[concept].y
            accuracy[place] = 100.0 * np.mean(right)
    if seen < len(stream):
        seconds += _learn(learner, stream.x[seen:], stream.y[seen:], known, measures)
    kept = marks >= first
    return HoldoutCurve(marks[kept], accuracy[kept], stream.changes, len(stream), seconds)


class Prequential:
    """Accuracy of predictions made before their examples are learned: overall, in a window, and with fading.

    Parameters
    ----------
    window : int
        Length of the window, in examples.
    fading : float in (0, 1]
        f of S_k = e_k + f S_(k-1) and N_k = 1 + f N_(k-1), where e_k is 1 for an error; the accuracy is 1 - S_k / N_k.
    every : int
        The curve has a point after ``every``, 2 ``every``, ... examples.
    since : int
        The overall accuracy leaves out the predictions for the first ``since`` examples.

    Attributes
    ----------
    n_seen : int, examples
    curve : dict of lists
        ``examples``, and ``window_accuracy_pct`` and ``fading_accuracy_pct`` after so many examples. The first windows
        hold fewer examples.

    Memory is ``window`` bytes and the points of the curve. The size of blocks makes no difference.

    >>> score = Prequential(window=2, fading=0.5, every=2)
    >>> score.update(np.array([True, False, True]))
    >>> score.update(np.array([True]))
    >>> score.accuracy_pct, score.curve["window_accuracy_pct"], score.curve["examples"]
    (75.0, [50.0, 100.0], [2, 4])
    """

    def __init__(self, window: int = 10_000, fading: float = 0.999, every: int = 10_000, since: int = 0):
        self.window, self.fading, self.every, self.since = window, fading, every, since
        self.n_seen = 0
        self.curve: dict[str, list] = {"examples": [], "window_accuracy_pct": [], "fading_accuracy_pct": []}
        self._right = 0
        self._last = np.zeros(window, bool)
        self._right_in_window = 0
        self._errors = self._examples = 0.0  # S_k and N_k

    def update(self, right: np.ndarray) -> None:
        """Add predictions in order: ``right`` bool, (k,)."""
        right = np.asarray(right, bool)
        while len(right):
            until_mark = self.every - self.n_seen % self.every
            self._add(right[: min(until_mark, self.window)])
            right = right[min(until_mark, self.window) :]
            if self.n_seen % self.every == 0:
                self.curve["examples"].append(self.n_seen)
                self.curve["window_accuracy_pct"].append(self.window_accuracy_pct)
                self.curve["fading_accuracy_pct"].append(self.fading_accuracy_pct)

    @property
    def accuracy_pct(self) -> float:
        """Over all examples after ``since``; NaN before the first."""
        return 100.0 * self._right / (self.n_seen - self.since) if self.n_seen > self.since else float("nan")

    @property
    def window_accuracy_pct(self) -> float:
        """Over the last ``window`` examples; NaN before the first."""
        return 100.0 * self._right_in_window / min(self.n_seen, self.window) if self.n_seen else float("nan")

    @property
    def fading_accuracy_pct(self) -> float:
        """1 - S_k / N_k in percent; NaN before the first example."""
        return 100.0 * (1.0 - self._errors / self._examples) if self.n_seen else float("nan")

    def _add(self, right: np.ndarray) -> None:
        """Add at most ``window`` predictions, so that each slot of the ring is written once."""
        k = len(right)
        slots = (self.n_seen + np.arange(k)) % self.window
        self._right_in_window += int(np.count_nonzero(right)) - int(np.count_nonzero(self._last[slots]))
        self._last[slots] = right
        powers = self.fading ** np.arange(k - 1, -1, -1)
        faded = self.fading**k
        self._errors = faded * self._errors + float(powers @ ~right)
        self._examples = faded * self._examples + float(powers.sum())
        self._right += int(np.count_nonzero(right[max(self.since - self.n_seen, 0) :]))
        self.n_seen += k


def prequential(
    learner, blocks: Iterable, classes, score: Prequential | None = None, measures: Measures | None = None
) -> tuple[Prequential, float]:
    """Predict, score, then learn each example of a stream.

    Parameters
    ----------
    learner : with ``test_then_train(X, y, classes)``; it is changed
    blocks : iterable of (X (k, d), y (k,)), see :func:`blocks_of`; only one block is in memory at a time
    classes : all labels
    score : Prequential, which is updated, or None for one with the defaults
    measures : Measures, which is updated, or None; labels are then class numbers

    Returns the score, and the processor time of learning and predictions in seconds.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> class Learner(GaussianNB):
    ...     def test_then_train(self, X, y, classes=None):
    ...         guess = self.predict(X) if hasattr(self, "classes_") else np.zeros(len(y), int)
    ...         self.partial_fit(X, y, classes)
    ...         return guess
    >>> rng = np.random.default_rng(0)
    >>> blocks = ((x, (x[:, 0] > 0).astype(int)) for x in (rng.normal(size=(50, 2)) for _ in range(20)))
    >>> score, seconds = prequential(Learner(), blocks, [0, 1])
    >>> score.n_seen, score.accuracy_pct > 90
    (1000, True)
    """
    score = Prequential() if score is None else score
    seconds = 0.0
    for x, y in blocks:
        begun = time.process_time()
        predicted = learner.test_then_train(x, y, classes)
        spent = time.process_time() - begun
        seconds += spent
        score.update(predicted == np.asarray(y))
        if measures is not None:
            measures.update(y, predicted, spent)
    return score, seconds


def blocks_of(stream, size: int = 10_000):
    """Yield the examples of any stream with ``blocks(size)`` in blocks of at most ``size``."""
    yield from stream.blocks(size)


def _measures(model: Any, data: Any) -> Measures | None:
    """The further measures that the data ask for, or None."""
    if data.measures == "accuracy":
        return None
    stream = data.stream
    delay = min(data.delay, len(stream))
    changes = stream.changes.tolist()
    return Measures(model, len(stream.classes), data.window, data.curve_every, changes, delay, data.scored_after)


def _learn(learner, x: np.ndarray, y: np.ndarray, known: np.ndarray, measures: Measures | None) -> float:
    """Predict and learn the rows of x (k, d), and return the processor time in seconds."""
    begun = time.process_time()
    predicted = learner.test_then_train(x, y, known)
    spent = time.process_time() - begun
    if measures is not None:
        measures.update(y, predicted, spent)
    return spent


def _answers(learner, x: np.ndarray) -> Callable[[], np.ndarray]:
    """A function that predicts x (t, d) by ``learner`` in its current state; a learner may cache parts of it."""
    keeping = getattr(learner, "answers_on", None)
    return keeping(x) if keeping is not None else lambda: learner.predict(x)


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
