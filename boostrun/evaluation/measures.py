"""Measures besides accuracy: kappas, recovery, memory and time on a stream, calibration; metrics; a trial of a method.

Kappas are Cohen's (1960), and those of Zliobaite, Bifet, Read, Pfahringer & Holmes, "Evaluation methods and decision
theory for classification of streaming data with temporal dependence", Machine Learning 98 (2015).

Metrics are balanced accuracy, macro F1, log loss, ROC AUC and average precision. A class that no true label names
counts in none of them but macro F1, where a predicted class without true labels has an F1 of 0. With all classes
present the figures are those of scikit-learn.
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

# code, which is shared
_SHARED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_COMPILED = ("numba.core.", "numba.np.", "_thread")
CURVES = ("balanced_accuracy_pct", "macro_f1_pct")  # metrics of counts, which cost little after every round


def size_in_bytes(thing: Any) -> int:
    """Bytes of an object and of everything it holds, at any depth: arrays, containers, attributes and slots.

    Each object counts once. A view of an array counts as the whole array. Code does not count, and objects of compiled
    libraries only as far as Python sees them: the trees of LightGBM are elsewhere. Cost: one visit for each object.

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
        seen[id(one)] = one  # kept alive, so that its id stays unique
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
    """The objects that an object holds directly."""
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


BINS = 10  # of equal width, for the probability of the predicted class
_LEAST = float(np.finfo(np.float64).eps)  # as in scikit-learn: a probability of 0 costs 36, not infinity


class Calibration(NamedTuple):
    """Sums over samples, which can be added over parts of a test set and over trials (:func:`together`).

    Attributes
    ----------
    losses : (2,) float64, sums of the log loss and of the Brier score
    bins : (3, 10) float64, by the probability of the predicted class: number of samples, sum of that probability,
        number of correct predictions
    """

    losses: np.ndarray
    bins: np.ndarray

    @property
    def log_loss(self) -> float:
        """Mean of -ln of the probability of the true class."""
        return float(self.losses[0] / self.bins[0].sum())

    @property
    def brier(self) -> float:
        """Mean squared error of the probabilities: of one class if there are two, else summed over the classes."""
        return float(self.losses[1] / self.bins[0].sum())


def measure(probabilities: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> Calibration:
    """The calibration of ``probabilities`` (n, k), for true and predicted class numbers (n,).

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
    """The calibration over the samples of all, of which there is at least one."""
    return Calibration(*(np.sum(parts, axis=0) for parts in zip(*found)))


RECOVERY = 600  # examples after a change, as in Grbovic & Vucetic (2011)
_ROWS = ("right", "last", "majority", "y", "said")


def kappa_of(accuracy: float, chance: float) -> float:
    """The improvement over ``chance``, scaled to 1: (p - p0) / (1 - p0), or 0 if chance is 1.

    >>> kappa_of(0.75, 0.5), kappa_of(0.5, 1.0)
    (0.5, 0.0)
    """
    return (accuracy - chance) / (1.0 - chance) if chance < 1.0 else 0.0


class Measures:
    """Kappas over the stream and over a window, recovery after each known change, memory and time along the stream.

    For a share p of correct predictions a kappa is (p - p0) / (1 - p0), or 0 if p0 is 1. ``kappa`` is Cohen's: p0 is
    the accuracy by chance, given the shares of labels and of predictions. For ``kappa_majority`` (kappa M) p0 is the
    accuracy of predicting the most frequent label so far, for ``kappa_temporal`` that of predicting the last label.
    Both predictors see labels with the same delay as the learner. Before the first label, and among labels of equal
    frequency, they predict the second of two classes, else the first. A prediction that is not a class is wrong.

    Recovery is the accuracy of the predictions for the 600 examples after a change.

    Parameters
    ----------
    learner : its memory is measured
    n_classes : int
    window : int, examples in a point of the curves
    every : int, examples from one point of the curves to the next; a point may wait for the end of a block
    changes : numbers of examples after which the concept changes
    delay : int, examples by which labels are late
    since : int, metrics leave out the predictions, and the changes, of the first examples

    Attributes
    ----------
    curve : dict of lists: ``examples``, the three kappas over the window after so many examples, ``memory_bytes`` of
        the learner, and ``microseconds_per_example`` since the previous point

    Memory is 34 bytes for each example of the window, and the points of the curve.

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
        self._recovered = np.zeros((len(self._changes), 2), np.int64)  # correct predictions, all predictions
        self._sums = np.zeros(3, np.int64)  # correct: by the learner, the last label, the majority
        self._labels = np.zeros(n_classes, np.int64)
        self._answers = np.zeros(n_classes + 1, np.int64)  # the last place: not a class
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
        """Over all examples after ``since``; NaN before the first."""
        return 100.0 * int(self._sums[0]) / self._n_scored if self._n_scored else float("nan")

    def metrics(self) -> dict[str, float]:
        """The kappas over all examples after ``since``, and the recovery after each change; empty before the first."""
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
        """The last and the most frequent of the labels known before each of y (k,)."""
        waiting = np.concatenate([self._late, y])
        come, self._late = waiting[: len(y)], waiting[len(y) :]  # the label that arrives after each prediction, or -1
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
    """The three kappas, from shares of correct predictions (3,) and counts of each class as label and prediction."""
    accuracy, last, majority = shares.tolist()
    by_chance = float(labels @ answers[:-1]) / float(labels.sum()) ** 2
    names = ("kappa", "kappa_majority", "kappa_temporal")
    return {name: kappa_of(accuracy, chance) for name, chance in zip(names, (by_chance, majority, last))}


class TrialSeeds(NamedTuple):
    """Independent seeds of one trial.

    Methods that are run with one seed share ``split`` and ``filter``, so that they see the same data, however much
    they draw themselves from ``algorithm``.
    """

    split: SeedSequence
    """How the data is split into train and test."""
    filter: SeedSequence
    """Which samples Filter() hands out, and in which order."""
    algorithm: SeedSequence
    """Every random choice of the method itself."""


def spawn(seed: int) -> TrialSeeds:
    """The seeds of the trial number ``seed``; BoostrunError if that is not a whole number of at least 0.

    They are the children of one ``SeedSequence`` in a fixed order, on which stored records depend: a further seed must
    come last. Each call returns new objects, since a ``SeedSequence`` counts its children.

    >>> import numpy as np
    >>> seeds = spawn(3)
    >>> np.random.default_rng(seeds.filter).integers(100, size=3).tolist()
    [71, 10, 15]
    """
    return TrialSeeds(*SeedSequence(whole_number(seed, "seed")).spawn(len(TrialSeeds._fields)))


class Trained(NamedTuple):
    """A fitted model, the data it was trained on, and the result."""

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
    open_data : function from the seeds of the trial to the data of the evaluation
    make : function from the seed of the algorithm, a whole number, to an unfitted estimator
    evaluation : trains and measures it
    seed : int, at least 0
    compile_first : called with the data before the estimator is made; its time does not count
    """
    seeds = spawn(seed)
    data = open_data(seeds)
    compile_first(data)
    model = make(int(seeds.algorithm.generate_state(1)[0]))
    return Trained(model, data, evaluation.run(model, data, seeds))  # type: ignore[arg-type]  # read-only is enough


# -- metrics -----------------------------------------------------------------------------------------------------------


def counted(truth: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """(3, classes) int64: samples of each class by ``truth`` (n,), by ``predicted`` (n,), and by both.

    Counts of several parts of a test set can be added. Cost: one pass.

    >>> counted(np.array([0, 0, 1]), np.array([0, 1, 1]), 3).tolist()
    [[2, 1, 0], [1, 2, 0], [1, 1, 0]]
    """
    labels = (truth, predicted, truth[truth == predicted])
    return np.array([np.bincount(each, minlength=classes) for each in labels])


def of_counts(counts: np.ndarray) -> dict[str, float]:
    """Balanced accuracy and macro F1 in percent, of :func:`counted`.

    Balanced accuracy is the mean recall of the classes in the test part. Macro F1 is the mean F1 of the classes that
    are a true or a predicted label.

    >>> of_counts(counted(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]), 2))
    {'balanced_accuracy_pct': 50.0, 'macro_f1_pct': 42.857142857142854}
    """
    true, said, right = counts
    there, either = true > 0, true + said > 0
    recall, f1 = right[there] / true[there], 2 * right[either] / (true + said)[either]
    return {"balanced_accuracy_pct": 100.0 * float(recall.mean()), "macro_f1_pct": 100.0 * float(f1.mean())}


def of_probabilities(truth: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """ROC AUC and average precision, from 0 to 1, of class numbers (n,) and probabilities (n, k).

    ROC AUC is the mean over the classes, each against the rest. Average precision is that of the second of two
    classes, and the mean over three classes or more, as in scikit-learn. Either is left out where no class allows it.
    Cost: two sorts of n numbers a class.

    >>> of_probabilities(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]]))
    {'roc_auc': 0.5, 'average_precision': 0.5}
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    there = np.unique(truth)
    ours = [1] if probabilities.shape[1] == 2 else there.tolist()

    def mean(score: Callable, classes: list[int]) -> list[float]:
        return [float(score(truth == one, probabilities[:, one])) for one in classes if one in there]

    found = {"roc_auc": mean(roc_auc_score, ours if len(there) > 1 else [])}
    found["average_precision"] = mean(average_precision_score, ours)
    return {name: float(np.mean(values)) for name, values in found.items() if values}


def of_test_part(counts: np.ndarray) -> dict[str, float]:
    """The number of samples in the test part, and the percentage of its most frequent class, of :func:`counted`."""
    rows = int(counts[0].sum())
    return {"test_rows": rows, "majority_pct": 100.0 * int(counts[0].max()) / rows}
