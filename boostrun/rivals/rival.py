"""The bases of rivals, their evaluation, and any classifier with ``fit`` and ``predict`` as a rival.

A rival wraps a model of a library. It draws samples within a budget, turns scores into labels, and counts what it has
spent. A subclass trains the model on arrays and reports the features it looked at and its size.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun import extend
from boostrun.config.fields import check
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.staged import Fitted, accuracy_pct, checkpoints, counts
from boostrun.methods.probabilities import LINKS, Link
from boostrun.methods.saved import take_frames
from boostrun.methods.scikit_learn import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_is_fitted,
    check_random_state,
    validate_data,
)
from boostrun.rivals.keys import EstimatorKeys

_DTYPES = [np.float64, np.float32, np.uint8]
_SEEDS = 2**31 - 1  # seeds below this are valid in every library


class Rival(ClassifierMixin, BaseEstimator, ABC):
    """Base of rivals. A subclass has keys, with ``random_state``, trains in :meth:`_learn`, and predicts.

    Attributes
    ----------
    classes_ : (k,) labels of the training samples
    peak_samples_held_, samples_drawn_ : the most samples in memory at once, and the number drawn in total
    evaluations_ : pairs of a feature and a sample that training looked at
    n_features_used_ : features that a prediction looks at
    model_bytes_ : size of the model in the format of its library
    """

    package = "sklearn.linear_model"
    """What is imported, and is there or is not."""

    random_state: Any
    model_bytes_: int

    @classmethod
    def installed(cls) -> None:
        """Import the library; BoostrunError, with the command that installs it, if it is missing."""
        try:
            importlib.import_module(cls.package)
        except ImportError:
            package = cls.package.partition(".")[0]
            raise BoostrunError(f"{package} is not installed: pip install 'boostrun[rivals]'") from None

    def refuse(self, n: int, d: int, k: int) -> None:
        """Raise BoostrunError if a budget cannot be kept on ``n`` samples of ``d`` features and ``k`` classes."""

    def fit(self, X, y):
        """Train on X (n, d) and labels y (n,), and return self; ValueError with one sentence on bad arrays."""
        self.installed()
        check(self)
        X, y = validate_data(self, X, y, dtype=_DTYPES)
        check_classification_targets(y)
        return self.fit_source(ArraySource(X, y, self._seed()))

    def fit_source(self, source: ArraySource):
        """Train on samples drawn from ``source`` with one thread, and return self."""
        self.installed()
        check(self)
        self.n_features_in_ = source.n_features
        with threadpool_limits(1):
            self._learn(source)
        return self

    @abstractmethod
    def _learn(self, source: ArraySource) -> None:
        """Draw samples and train on them."""

    def _checked(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=_DTYPES)

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state) % _SEEDS
        return int(check_random_state(self.random_state).randint(_SEEDS))


take_frames(Rival)


class Holding(Rival):
    """A rival that holds all its samples at once, at most ``samples_held``, and trains on them in :meth:`_fit`."""

    samples_held: int | None = None

    def refuse(self, n: int, d: int, k: int) -> None:
        """Raise BoostrunError also if there are fewer than ``samples_held`` samples."""
        super().refuse(n, d, k)
        if self.samples_held is not None and self.samples_held > n:
            raise BoostrunError(f"algo.samples_held={self.samples_held}: there are {n} samples to train on")

    def _learn(self, source: ArraySource) -> None:
        """Draw ``samples_held`` samples, or all, and train on them."""
        held = min(len(source.labels), self.samples_held or len(source.labels))
        filter_ = source.open(capacity=held)
        X, y = filter_.draw(held)
        self.peak_samples_held_, self.samples_drawn_ = filter_.peak_held, filter_.drawn
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BoostrunError(f"all {held} samples that are held are of one class: there is nothing to learn")
        self._fit(X, numbers)

    @abstractmethod
    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Train on the samples held, X (n, d) with class numbers y (n,)."""


class Scoring(Rival):
    """A rival with a score for each class; the label is the class with the largest score."""

    def predict(self, X) -> np.ndarray:
        """Labels (n,) for X (n, d)."""
        return self._labels(self._scores(self._checked(X)))

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (n, k) for X (n, d) from the library, columns as ``classes_``."""
        return self._scores(self._checked(X))

    @abstractmethod
    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Scores (n, k) for X (n, d)."""

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[scores.argmax(axis=1)]


class ByRounds(Scoring, Holding):
    """A rival that grows by rounds, each of which adds to the scores."""

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Labels after 1, 2, ... rounds."""
        return self.predict_after(X, range(1, self.n_rounds_ + 1))

    def predict_after(self, X, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield labels (n,) after each number of ``rounds``, in rising order; the last are those of ``predict``."""
        X = self._checked(X)
        for count, scores in zip(rounds, self._staged_scores(X, rounds)):
            yield self._labels(self._scores(X) if count == self.n_rounds_ else scores)

    @property
    @abstractmethod
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""

    @abstractmethod
    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield scores (n, k) after each number of ``rounds``."""


class OfRivals(Fitted):
    """The evaluation of rivals: a curve only over the rounds that it shows, and the bytes of the model as a cost."""

    def check(self, model: Rival, data: Any) -> None:
        """Raise BoostrunError if the library is missing, or a budget cannot be kept on these data."""
        model.installed()
        n, d = data.inputs("train").shape
        model.refuse(n, d, len(data.classes))

    def warm_up(self, small: Rival, data: Any) -> None:
        """Load the library by training on a few rows; errors are left to the trial."""
        with contextlib.suppress(Exception):
            super().warm_up(small, data)

    def run(self, model: Rival, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on training samples of ``data`` with one thread, and test it."""
        model.installed()
        with threadpool_limits(1):
            return self._measured(model, data, seeds)

    def _measured(self, model: Rival, data: Any, seeds: Seeds) -> Result:
        begun = time.perf_counter()
        self._fit(model, data, seeds.filter)
        trained = time.perf_counter()
        test, truth = data.inputs("test"), data.labels("test")
        accuracy = accuracy_pct(np.asarray(model.predict(test)), truth)
        tested = time.perf_counter()
        curve: dict[str, list] = {}
        if isinstance(model, ByRounds):
            curve["T"] = checkpoints(model.n_rounds_)
            curve["test_accuracy_pct"] = [accuracy_pct(said, truth) for said in model.predict_after(test, curve["T"])]
        cost = {"train_seconds": trained - begun, "test_seconds": tested - trained, **counts(model)}
        cost["model_bytes"] = model.model_bytes_
        return {
            "metrics": {"test_accuracy_pct": accuracy, "test_error_pct": 100.0 - accuracy}, "cost": cost,
            "curve": curve,
        }  # fmt: skip


# -- fresh chunks of samples, one after the other, one held at a time


def marks_of(chunks: int) -> list[int]:
    """The numbers of chunks after which a curve has a point, each about 1.4 times the one before.

    >>> marks_of(20)
    [1, 2, 4, 5, 7, 10, 14, 20]
    """
    return sorted({max(1, round(chunks / 2 ** (step / 2))) for step in range(2 * chunks.bit_length())})


class ByChunks(Scoring):
    """Base of rivals that learn from fresh chunks. A subclass learns one in :meth:`_take`.

    Attributes
    ----------
    n_chunks_ : int, chunks learnt from, each of ``batch_size`` samples
    staged_samples_drawn_ : (n_chunks_,) samples drawn by the end of each
    """

    batch_size: int
    epochs: int
    samples_drawn: int | None
    n_chunks_: int
    _staged_scores: Callable[[np.ndarray, Sequence[Any]], Iterator[np.ndarray]]
    """Yields scores (n, k) of X (n, d) for each of some states, the earliest first."""

    def _learn(self, source: ArraySource) -> None:
        self.classes_ = source.class_labels()
        if len(self.classes_) < 2:
            raise BoostrunError("all samples are of one class: there is nothing to learn")
        to_draw = self.samples_drawn or self.epochs * len(source.labels)
        size = min(self.batch_size, to_draw)
        self.n_chunks_ = max(1, min(to_draw // size, self._most_chunks))
        self._first_seed, self._d = self._seed(), source.n_features
        self._begin()
        filter_ = source.open(capacity=size + self._kept)
        marks, self._stages = set(marks_of(self.n_chunks_)), {}
        drawn = []
        for chunk in range(1, self.n_chunks_ + 1):
            X, y = filter_.draw(size)
            filter_.release(self._take(X, np.searchsorted(self.classes_, y), chunk))
            drawn.append(filter_.drawn)
            if chunk in marks and (state := self._state()):  # before its first tree there is no model
                self._stages[chunk] = state
        self.staged_samples_drawn_ = np.array(drawn)
        self.peak_samples_held_, self.samples_drawn_ = filter_.peak_held, filter_.drawn
        self._finish()

    @property
    def _most_chunks(self) -> int:
        """The most chunks that the keys allow."""
        return np.iinfo(np.int64).max

    @property
    def _kept(self) -> int:
        """The most samples that are held beside a chunk."""
        return 0

    def _seed_of(self, chunk: int) -> int:
        """The seed for random choices on a chunk."""
        return (self._first_seed + chunk) % _SEEDS

    @abstractmethod
    def _begin(self) -> None:
        """Make an empty model of ``_d`` features and ``classes_``."""

    @abstractmethod
    def _take(self, X: np.ndarray, y: np.ndarray, chunk: int) -> int:
        """Learn from X (q, d) with class numbers y (q,), and return the number of samples that are held no longer."""

    @abstractmethod
    def _state(self) -> Any:
        """The current state of the model, for :meth:`_staged_scores`."""

    @abstractmethod
    def _finish(self) -> None:
        """Count evaluations, features in use and the bytes of the model."""

    @property
    def checkpoints_(self) -> list[int]:
        """Numbers of chunks after which :meth:`predict_after` has an answer."""
        return list(self._stages)

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Labels after each of ``checkpoints_``."""
        return self.predict_after(X, self.checkpoints_)

    def predict_after(self, X, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield labels (n,) after each number of chunks, some of ``checkpoints_`` in rising order."""
        X = self._checked(X)
        for count, scores in zip(rounds, self._staged_scores(X, [self._stages[count] for count in rounds])):
            yield self._labels(self._scores(X) if count == self.n_chunks_ else scores)


class OfChunks(OfRivals):
    """The evaluation of rivals that learn by chunks: the curve has the samples drawn, and T counts the chunks."""

    def _measured(self, model: Any, data: Any, seeds: Seeds) -> Result:
        begun = time.perf_counter()
        self._fit(model, data, seeds.filter)
        trained = time.perf_counter()
        marks, test, truth = model.checkpoints_, data.inputs("test"), data.labels("test")
        found = [accuracy_pct(said, truth) for said in model.predict_after(test, marks)]
        cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained, **counts(model)}
        drawn = [int(model.staged_samples_drawn_[mark - 1]) for mark in marks]
        return {
            "metrics": {"test_accuracy_pct": found[-1], "test_error_pct": 100.0 - found[-1]},
            "cost": {**cost, "model_bytes": model.model_bytes_},
            "curve": {"T": marks, "samples_drawn": drawn, "test_accuracy_pct": found},
        }


# -- files larger than memory


class _Rows:
    """A streamed source whose number of rows is known, as rivals ask for it: ``len(labels)``."""

    def __init__(self, source: Any, rows: int):
        self.open, self.class_labels, self.n_features = source.open, source.class_labels, source.n_features
        self.labels = range(rows)


class OnChunks:
    """The evaluation of rivals on files larger than memory: samples are drawn from a shuffle buffer, read row by row.

    The test part is read in chunks too. The numbers are those of the files, without bins.
    """

    def check(self, model: Rival, data: Any) -> None:
        """Like :meth:`OfRivals.check`; raises BoostrunError too for a rival that would hold all rows."""
        model.installed()
        facts = data.data.train_facts
        if isinstance(model, Holding) and not isinstance(model, ByChunks) and model.samples_held is None:
            raise BoostrunError(
                f"it would hold all {facts.rows:,} rows of {data.data.train.path}: algo.samples_held=1000 holds as many"
            )
        model.refuse(facts.rows, facts.features, len(data.classes))

    def warm_up(self, small: Rival, data: Any) -> None:
        """Load the library by training on a few rows; errors are left to the trial."""
        with contextlib.suppress(Exception):
            sample = data.sample()
            small.fit_source(sample.source(np.random.SeedSequence(0)))
            small.predict(next(iter(sample.test_chunks()))[0].T)

    def run(self, model: Rival, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on the training part with one thread, and test it."""
        model.installed()
        with threadpool_limits(1):
            begun = time.perf_counter()
            source = data.source(seeds.filter)
            model.fit_source(_Rows(source, data.data.train_facts.rows))  # type: ignore[arg-type]
            trained = time.perf_counter()
            grows = isinstance(model, (ByChunks, ByRounds))
            marks = model.checkpoints_ if isinstance(model, ByChunks) else checkpoints(model.n_rounds_) if grows else []
            right, total = np.zeros(len(marks) or 1, np.int64), 0
            for columns, truth in data.test_chunks():
                X = np.ascontiguousarray(columns.T)
                stages = model.predict_after(X, marks) if grows else [model.predict(X)]
                right += [np.count_nonzero(said == truth) for said in stages]
                total += len(truth)
        found = (100.0 * right / total).tolist()
        cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained, **counts(model)}
        curve: dict[str, list] = {"T": marks, "test_accuracy_pct": found} if grows else {}
        if isinstance(model, ByChunks):
            curve["samples_drawn"] = [int(model.staged_samples_drawn_[mark - 1]) for mark in marks]
        return {
            "metrics": {"test_accuracy_pct": found[-1], "test_error_pct": 100.0 - found[-1]},
            "cost": {**cost, **data.costs_of(source), "model_bytes": model.model_bytes_}, "curve": curve,
        }  # fmt: skip


# -- any classifier


class EstimatorClassifier(EstimatorKeys, Holding):
    """Any classifier like scikit-learn's, on a random subset of the samples, with one thread and a fixed seed.

    ``estimator`` is copied, never changed; None is scikit-learn's DecisionTreeClassifier. Its bytes are those of its
    pickle.

    Parameters
    ----------
    estimator : object with ``fit(X, y)`` and ``predict(X)``, or None
    {parameters}
    """

    package = "sklearn.tree"

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        from sklearn.tree import DecisionTreeClassifier

        self.model_ = DecisionTreeClassifier() if self.estimator is None else copy.deepcopy(self.estimator)
        known = getattr(self.model_, "get_params", lambda: getattr(self.model_, "__dict__", {}))()
        given = {"random_state": self._seed(), "n_jobs": 1}
        mine = {name: value for name, value in given.items() if name in known}
        if mine and callable(getattr(self.model_, "set_params", None)):
            self.model_.set_params(**mine)
        else:  # a plain class, which draws when it is trained
            vars(self.model_).update(mine)
        self._asked(self.model_.fit, X, y)
        self.model_bytes_ = len(pickle.dumps(self.model_))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) for X (n, d)."""
        X = self._checked(X)
        said = np.asarray(self._asked(self.model_.predict, X))
        if said.shape != (len(X),) or not np.isin(said, np.arange(len(self.classes_))).all():
            raise BoostrunError(f"{type(self.model_).__name__}.predict returned labels that it was not trained on")
        return self.classes_[said.astype(np.intp)]

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """Probabilities (n, k) for X (n, d); AttributeError if the estimator has none."""
        of = self.model_.predict_proba
        return lambda X: self._asked(of, self._checked(X))

    def _asked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        cls = type(self.model_)
        return extend.call(f"{cls.__module__}:{cls.__name__}", function, *arguments)


def sgbt_link(classifier) -> Link:
    """The link of SGBT: the logistic loss, of each class against the rest if there are several."""
    return LINKS["logistic"]
