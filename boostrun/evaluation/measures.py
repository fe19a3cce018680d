"""What the field reports of predictions on a stream beside their accuracy: kappas, recovery, memory, time.

Kappas are Cohen's (1960), and those of Zliobaite, Bifet, Read, Pfahringer & Holmes, "Evaluation methods and decision
theory for classification of streaming data with temporal dependence", Machine Learning 98 (2015).

How much memory a learner takes: what can be reached from it, each thing counted once.

One trial: what is opened, made, trained and measured, in this order. Locks, caches and workers are the runner's.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence

from boostrun.config.fields import whole_number
from boostrun.evaluation import Evaluation, Result

# code, and what belongs to everybody
_SHARED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_COMPILED = ("numba.core.", "numba.np.", "_thread")


def size_in_bytes(thing: Any) -> int:
    """Bytes of an object and of all that it holds, at any depth: arrays, containers, attributes and slots.

    An array that looks into another counts as the whole of that other. Code does not count, and of an object of a
    compiled library only what Python sees: that of LightGBM keeps its trees elsewhere. Cost: one visit an object.

    >>> size_in_bytes(np.zeros(1000)) >= 8000, size_in_bytes([np.zeros(1000)[:1]] * 50) < 9000
    (True, True)
    """
    seen: dict[int, Any] = {}
    waiting, total = [thing], 0
    while waiting:
        one = waiting.pop()
        while isinstance(one, np.ndarray) and isinstance(one.base, np.ndarray):
            one = one.base
        if id(one) in seen or isinstance(one, _SHARED) or type(one).__module__.startswith(_COMPILED):
            continue
        seen[id(one)] = one  # kept, so that no other object takes its place
        total += sys.getsizeof(one, 0)
        if isinstance(one, np.ndarray):
            if not one.flags.owndata:
                total += one.nbytes
            if one.dtype.hasobject:
                waiting += one.ravel().tolist()
        else:
            waiting += _held(one)
    return total


def _held(one: Any) -> list:
    """What an object holds itself."""
    if isinstance(one, (str, bytes, bytearray, int, float, complex, np.generic)):
        return []
    found: list = []
    if isinstance(one, dict):
        found += [*one.keys(), *one.values()]
    elif isinstance(one, (list, tuple, set, frozenset)) or type(one).__name__ == "deque":
        found += one
    found += [attributes] if (attributes := getattr(one, "__dict__", None)) else []
    for cls in type(one).__mro__:
        slots = vars(cls).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and (value := getattr(one, slot, None)) is not None:
                found.append(value)
    return found


BINS = 10  # of equal width, of the probability that the predicted class is given
_LEAST = float(np.finfo(np.float64).eps)  # as scikit-learn has it: a probability of 0 costs 36, not everything


class Calibration(NamedTuple):
    """Sums over samples, so that parts of a test set, and trials, can be added up (:func:`together`).

    Attributes
    ----------
    losses : (2,) float64, sums of the log loss and of the Brier score
    bins : (3, 10) float64, by the probability of the predicted class: samples, sum of that probability, samples that
        are of this class
    """

    losses: np.ndarray
    bins: np.ndarray

    @property
    def log_loss(self) -> float:
        """Mean of -log of the true class' probability, natural logarithm."""
        return float(self.losses[0] / self.bins[0].sum())

    @property
    def brier(self) -> float:
        """Mean squared distance of the probabilities to 0 and 1: of several classes their sum, of two that of one."""
        return float(self.losses[1] / self.bins[0].sum())


def measure(probabilities: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> Calibration:
    """Of ``probabilities`` (n, k), a column a class, true and predicted class numbers (n,).

    >>> found = measure(np.array([[0.8, 0.2], [0.6, 0.4]]), np.array([0, 1]), np.array([0, 0]))
    >>> round(found.log_loss, 3), round(found.brier, 3), found.bins[:, [6, 8]].tolist()
    (0.57, 0.2, [[1.0, 1.0], [0.6, 0.8], [0.0, 1.0]])
    """
    rows, (n, k) = np.arange(len(truth)), probabilities.shape
    log_loss = -np.log(np.clip(probabilities[rows, truth], _LEAST, 1.0)).sum()
    squares = np.square(probabilities).sum() + n - 2.0 * probabilities[rows, truth].sum()
    sure = probabilities[rows, predicted]
    places = np.minimum((sure * BINS).astype(np.intp), BINS - 1)
    bins = [np.bincount(places, weights, BINS) for weights in (None, sure, predicted == truth)]
    return Calibration(np.array([log_loss, squares / 2.0 if k == 2 else squares]), np.array(bins, np.float64))


def together(found: list[Calibration]) -> Calibration:
    """All their samples; there is at least one."""
    return Calibration(*(np.sum(parts, axis=0) for parts in zip(*found)))


RECOVERY = 600  # examples after a change, as Grbovic & Vucetic (2011) have it
_ROWS = ("right", "last", "majority", "y", "said")


def kappa_of(accuracy: float, chance: float) -> float:
    """Of the room that ``chance`` leaves, the share that is avoided: (p - p0) / (1 - p0); 0 where it leaves none.

    >>> kappa_of(0.75, 0.5), kappa_of(0.5, 1.0)
    (0.5, 0.0)
    """
    return (accuracy - chance) / (1.0 - chance) if chance < 1.0 else 0.0


class Measures:
    """Kappas over the stream and over a window, recovery after each known change, memory and time along the stream.

    Of a share p of right predictions, a kappa is (p - p0) / (1 - p0), and 0 where p0 is 1. ``kappa`` is Cohen's: p0 is
    what the shares of labels and of answers make by chance. Of ``kappa_majority`` (kappa M) p0 is the accuracy of the
    most frequent label so far, of ``kappa_temporal`` that of the last label again. Both know as many labels as the
    learner does: under a delay theirs are as late. Before the first label they answer with the second of two classes,
    else with the first, and of labels that are as frequent so likewise. A prediction that is none of the classes is
    wrong.

    Recovery is the accuracy of the predictions of the 600 examples after a change.

    Parameters
    ----------
    learner : whose memory is looked at
    n_classes : int
    window : int, examples of a point of the curves
    every : int, a point of the curves after so many examples, or at the next end of a block
    changes : the concept changes after so many examples
    delay : int, examples that labels are late
    since : int, metrics are those of the predictions after so many examples, and of the changes after them

    Attributes
    ----------
    curve : dict of lists, ``examples`` and, after as many, the three kappas over the window, ``memory_bytes`` of the
        learner, and ``microseconds_per_example`` since the point before

    Memory is 34 bytes an example of the window, and the curve's points.

    >>> measures = Measures(None, n_classes=2, window=4, every=2)
    >>> measures.update(np.array([1, 1, 0, 0]), np.array([1, 1, 1, 0]), seconds=0.0)
    >>> {name: round(value, 3) for name, value in measures.metrics().items()}
    {'kappa': 0.5, 'kappa_majority': 0.5, 'kappa_temporal': 0.0}
    """

    def __init__(
        self, learner: Any, n_classes: int, window: int, every: int, changes: Sequence[int] = (), delay: int = 0,
        since: int = 0,
    ):  # fmt: skip
        self.learner, self.n_classes, self.window, self.every = learner, n_classes, window, every
        names = ("examples", "kappa", "kappa_majority", "kappa_temporal", "memory_bytes", "microseconds_per_example")
        self.curve: dict[str, list] = {name: [] for name in names}
        self.n_seen = 0
        self.since = since
        self._changes = [int(change) for change in changes]
        self._recovered = np.zeros((len(self._changes), 2), np.int64)  # right ones, all
        self._sums = np.zeros(3, np.int64)  # right ones: of the learner, of the last label, of the most frequent one
        self._labels = np.zeros(n_classes, np.int64)
        self._answers = np.zeros(n_classes + 1, np.int64)  # the last place: none of the classes
        self._window: dict[str, np.ndarray] = {}
        self._begin = self._last = self._most = int(n_classes == 2)
        self._known = [0] * n_classes
        self._late = np.full(delay, -1, np.int64)
        self._seconds, self._marked = 0.0, 0

    def update(self, y: np.ndarray, said: np.ndarray, seconds: float) -> None:
        """Add k examples in order: their classes y (k,) int64, predictions (k,), processor time of the whole block."""
        y, said = np.asarray(y, np.int64), np.asarray(said)
        inside = (said >= 0) & (said < self.n_classes)
        said = np.where(inside, said, self.n_classes).astype(np.int64)
        last, majority = self._labels_alone(y)
        block = dict(zip(_ROWS, (said == y, last == y, majority == y, y, said)))
        count = slice(max(self.since - self.n_seen, 0), None)
        self._sums += [int(block[name][count].sum()) for name in _ROWS[:3]]
        self._labels += np.bincount(y[count], minlength=self.n_classes)
        self._answers += np.bincount(said[count], minlength=self.n_classes + 1)
        self._recover(block["right"])
        before = self._window
        self._window = {
            name: np.concatenate([before[name], rows] if before else [rows])[-self.window :]
            for name, rows in block.items()
        }
        passed = (self.n_seen + len(y)) // self.every > self.n_seen // self.every
        self.n_seen += len(y)
        self._seconds += seconds
        if passed:
            self._mark()

    @property
    def accuracy_pct(self) -> float:
        """Over all examples after ``since``; nan before the first."""
        return 100.0 * int(self._sums[0]) / self._n_scored if self._n_scored else float("nan")

    def metrics(self) -> dict[str, float]:
        """The kappas over all examples after ``since``, and recovery after each change that examples follow; empty
        before any.
        """
        if not self._n_scored:
            return {}
        found = _kappas(self._sums / self._n_scored, self._labels, self._answers)
        seen = self._recovered[:, 1] > 0
        each = 100.0 * self._recovered[seen, 0] / self._recovered[seen, 1]
        if len(each):
            found["recovery_pct"] = float(each.mean())
        for number, value in zip(1 + np.flatnonzero(seen), each):
            found[f"recovery_{number}_pct"] = float(value)
        return found

    @property
    def _n_scored(self) -> int:
        return max(self.n_seen - self.since, 0)

    def _mark(self) -> None:
        shares = np.array([self._window[name].mean() for name in _ROWS[:3]])
        labels = np.bincount(self._window["y"], minlength=self.n_classes)
        found = _kappas(shares, labels, np.bincount(self._window["said"], minlength=self.n_classes + 1))
        found["examples"] = self.n_seen
        found["memory_bytes"] = size_in_bytes(self.learner)
        found["microseconds_per_example"] = 1e6 * self._seconds / (self.n_seen - self._marked)
        for name, points in self.curve.items():
            points.append(found[name])
        self._seconds, self._marked = 0.0, self.n_seen

    def _recover(self, right: np.ndarray) -> None:
        for number, change in enumerate(self._changes):
            if change < self.since:
                continue
            begin, end = (min(max(place - self.n_seen, 0), len(right)) for place in (change, change + RECOVERY))
            self._recovered[number] += (int(right[begin:end].sum()), end - begin)

    def _labels_alone(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The last label and the most frequent one, of those known, before each of y (k,)."""
        waiting = np.concatenate([self._late, y])
        come, self._late = waiting[: len(y)], waiting[len(y) :]  # the label that comes after each prediction, or -1
        last, majority = np.empty_like(y), np.empty_like(y)
        known, most, newest = self._known, self._most, self._last
        for i, label in enumerate(come.tolist()):
            last[i], majority[i] = newest, most
            if label >= 0:
                newest = label
                known[label] += 1
                ahead, first = known[label] - known[most], label < most
                most = label if ahead > 0 or (ahead == 0 and first != bool(self._begin)) else most
        self._last, self._most = newest, most
        return last, majority


def _kappas(shares: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> dict[str, float]:
    """The three kappas of shares of right ones (3,), and of how often each class was the label and the answer."""
    accuracy, last, majority = shares.tolist()
    by_chance = float(labels @ answers[:-1]) / float(labels.sum()) ** 2
    names = ("kappa", "kappa_majority", "kappa_temporal")
    return {name: kappa_of(accuracy, chance) for name, chance in zip(names, (by_chance, majority, last))}


class TrialSeeds(NamedTuple):
    """Independent seeds of one trial, one per axis.

    Two algorithms run with one seed share ``split`` and ``filter``; how much one of them draws for itself from
    ``algorithm`` has no effect on the data of the other.
    """

    split: SeedSequence
    """How the data is split into train and test."""
    filter: SeedSequence
    """Which samples Filter() hands out, and in which order."""
    algorithm: SeedSequence
    """Every random choice of the method itself."""


def spawn(seed: int) -> TrialSeeds:
    """The seeds of the trial number ``seed`` (an integer of at least 0).

    The axes are children of one ``SeedSequence`` in a fixed order, which stored records rely on: a new axis goes last.
    Each call gives fresh objects (a ``SeedSequence`` counts the children spawned from it).

    Raises
    ------
    BoostrunError
        For a seed that is not an integer of at least 0.

    >>> import numpy as np
    >>> seeds = spawn(3)
    >>> np.random.default_rng(seeds.filter).integers(100, size=3).tolist()
    [71, 10, 15]
    """
    return TrialSeeds(*SeedSequence(whole_number(seed, "seed")).spawn(len(TrialSeeds._fields)))


class Trained(NamedTuple):
    """A fitted model, the data it was trained on, and what was measured."""

    model: Any
    data: Any
    result: Result


def train_and_test(
    open_data: Callable[[Any], Any], make: Callable[[int], Any], evaluation: Evaluation, seed: int,
    compile_first: Callable[[Any], None],
) -> Trained:  # fmt: skip
    """Run the trial number ``seed``.

    Parameters
    ----------
    open_data : from the trial's seeds to what the evaluation is run on
    make : from the algorithm's seed, a whole number, to an unfitted estimator
    evaluation : how it is trained and measured
    seed : int, of at least 0
    compile_first : called with the data before anything is made; no second of it counts
    """
    seeds = spawn(seed)
    data = open_data(seeds)
    compile_first(data)
    model = make(int(seeds.algorithm.generate_state(1)[0]))
    return Trained(model, data, evaluation.run(model, data, seeds))  # type: ignore[arg-type]  # read-only is enough
