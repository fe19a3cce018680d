"""Preparation before a classifier's own ``fit``: convert samples of any kind to numbers, and keep all classes.

:class:`boostrun.methods.saved.TakesFrames` puts :func:`of_tables` before the ``fit`` of each of its classes, and
:func:`of_source` before ``fit_source``. Arrays of finite numbers and sources without weights reach them unchanged.

- Columns of a frame become numbers: a text or category becomes its index among the sorted values of training, or -1 if
  new; False and True become 0 and 1; dates seconds since 1970 (UTC); times and durations seconds. A frame is a pandas
  DataFrame, or anything with ``__arrow_c_stream__``: polars, pyarrow, DuckDB and others. Sparse matrices become dense.
- NaN is a missing value, as in a run. A method with bins gets the codes of quantile bins that are fitted on at most
  10,000 samples; in one feature a missing value is below all others, and in a second one, which stands after all
  columns, above them. Any other method gets the mean of the column, and a further column of 0 and 1 that marks it.
- ``class_weight`` multiplies the weights of samples. A class whose samples all have the weight 0 keeps its place in
  ``classes_``.
- ``early_stopping`` holds out samples before all this, see :mod:`boostrun.methods.early_stopping`.
- ``partial_fit`` does the same for samples that arrive call by call, see :class:`PartialFit`.

The fitted model has a :class:`boostrun.methods.preparation.Preparation` that repeats this for new samples.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.config.fields import kind_of, plain_number, workers
from boostrun.data.dataset import means_of
from boostrun.errors import BoostrunError
from boostrun.methods import early_stopping, in_force
from boostrun.methods.class_weights import WithClasses, weighed_source, with_class_weights
from boostrun.methods.preparation import Preparation, RawTable
from boostrun.methods.probabilities import declared_for, only_with
from boostrun.methods.scikit_learn import check_classification_targets

_DTYPES = [np.float64, np.float32, np.uint8]
_AS_THEY_ARE = {"kind": np.array("numbers")}
_SHARE = 2  # a sparse matrix may take this part of the memory of the machine when it is dense
_BINNED = 10_000  # samples that bins are fitted on, as for a bank


def of_tables(own: Callable) -> Callable:
    """``fit(X, y, ...)`` for samples of any kind, from one for arrays of finite numbers."""
    train = functools.partial(with_class_weights, own) if "sample_weight" in inspect.signature(own).parameters else own

    @functools.wraps(own)
    def fit(self, X, y, *given, **named):
        self.__dict__.pop("_arrivals", None)
        if early_stopping.is_on(self):
            return early_stopping.fit(self, opened(X), y, *given, **named)
        samples, table = numbered(X)
        missing = has_missing(samples)
        if not missing and table is None:
            return train(self, samples, y, *given, **named)
        if not missing:
            train(self, samples, y, *given, **named)
            self._prepare_by(_preparation(dict(_AS_THEY_ARE), table, self.n_features_in_))
            return self
        values = _validated(self, samples)
        held = self._preparation() if getattr(self, "warm_start", False) else None
        preparation = held or _fitted(self, values, table)
        seen = {name: vars(self)[name] for name in ("n_features_in_", "feature_names_in_") if name in vars(self)}
        train(self, preparation(values), y, *given, **named)
        vars(self).update(seen)
        self._prepare_by(preparation)
        return self

    return fit


def with_threads(own: Callable) -> Callable:
    """A method that shares its work among as many threads as ``n_jobs`` says, if the class has this parameter."""

    @functools.wraps(own)
    def work(self, *given, **named):
        from boostrun.kernels import in_threads

        threads = threads_of(self)
        with contextlib.nullcontext() if threads is None else in_threads(threads):
            return own(self, *given, **named)

    return work


def threads_of(classifier) -> int | None:
    """The threads that ``n_jobs`` asks for, None if it does not; BoostrunError if it is no number of threads."""
    n_jobs = plain_number(classifier.n_jobs) if classifier._threaded else None
    if n_jobs is None:
        return None
    kind = kind_of(workers(1))
    if kind.read(n_jobs) is None:
        raise BoostrunError(f"n_jobs={n_jobs!r}: {kind.allowed} is needed")
    if n_jobs != -1:
        return n_jobs
    from joblib import cpu_count

    return cpu_count()


def anew(own: Callable) -> Callable:
    """A method that trains, from one of a classifier that does not know how samples were prepared before."""

    @functools.wraps(own)
    def train(self, *given, **named):
        self.__dict__.pop("_prepared_for", None)
        return own(self, *given, **named)

    return train


def of_tables_anew(own: Callable) -> Callable:
    """:func:`of_tables` with :func:`anew`."""
    return anew(of_tables(own))


def of_samples(own: Callable) -> Callable:
    """A method of samples X (n, d) of any kind, such as ``predict(X)``, from one for arrays of finite numbers.

    It is called on a copy of the classifier that takes what training took, so that it may call others of these methods.
    """

    @functools.wraps(own)
    def answer(self, X, *given, **named):
        preparation = self._preparation() if "classes_" in vars(self) else None
        if preparation is None:
            if type(X) is not np.ndarray and "classes_" in vars(self):
                X = self._numbers_of(X, None, False) if "n_features_in_" in vars(self) else opened(X)
            return own(self, X, *given, **named)
        X, inner = self._prepared(X, dtype=[np.float64, np.float32]), copy.copy(self)
        for name in ("_prepared_for", "feature_names_in_"):
            vars(inner).pop(name, None)
        inner.n_features_in_ = X.shape[1]
        return own(inner, X, *given, **named)

    return answer


def of_rows(own: Callable) -> Callable:
    """``_checked(X, y, reset)`` of a stream learner for frames and sparse matrices, from one for arrays.

    Words have the places that the first samples give them, since what was learned refers to these; a word that comes
    later is one that was not seen.
    """

    @functools.wraps(own)
    def checked(self, X, y="no_validation", reset=True):
        if reset:
            self.__dict__.pop("_prepared_for", None)
        if type(X) is np.ndarray:
            return own(self, X, y, reset)
        if reset and (table := numbered(X)[1]) is not None:
            self._prepare_by(_preparation(dict(_AS_THEY_ARE), table, len(table.columns)))
        return own(self, self._numbers_of(X, self._preparation(), False, reset), y, reset)

    return checked


def of_source(own: Callable) -> Callable:
    """``fit_source(source)`` with the weights of ``class_weight``, unless the source has weights already."""

    @functools.wraps(own)
    @early_stopping.without
    def fit_source(self, source):
        self.__dict__.pop("_arrivals", None)
        class_weight, weighed = getattr(self, "class_weight", None), isinstance(source, WithClasses)
        if class_weight is not None and not weighed and getattr(source, "weights", None) is None:
            source = weighed_source(source, class_weight)
        return own(self, source)

    return fit_source


def numbered(samples: Any) -> tuple[Any, RawTable | None]:
    """Training samples with numbers in place of text, and the table that says which; None if all columns are numbers.

    Frames become pandas frames of numbers, sparse matrices arrays; anything else is returned unchanged. Raises
    BoostrunError with the column for values that are no numbers, text or dates, and for infinity.
    """
    samples = opened(samples)
    if not is_table(samples) or is_plain(samples):
        return samples, None
    table = RawTable.of_frame(samples)
    return in_numbers(samples, table, missing=True), table if table.categories or table.forms else None


def opened(samples: Any) -> Any:
    """A frame as a pandas DataFrame or an Arrow table, a sparse matrix as an array, anything else unchanged.

    Masked values become NaN. Raises BoostrunError for two columns of the same name, and for a sparse matrix that would
    take half of the machine's memory.
    """
    if isinstance(samples, np.ma.MaskedArray) and samples.dtype.kind in "biuf":
        return np.ma.filled(samples.astype(np.result_type(samples.dtype, np.float32)), np.nan)
    if getattr(samples, "toarray", None) is not None and getattr(samples, "nnz", None) is not None:
        return _dense(samples)
    if getattr(samples, "__arrow_c_stream__", None) is not None:
        import pandas
        import pyarrow

        if not isinstance(samples, (pandas.DataFrame, pyarrow.Table)):
            try:
                samples = pyarrow.table(samples)
            except (TypeError, ValueError):  # a single column
                return samples
    if is_table(samples) and len({*(names := column_names(samples))}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BoostrunError(f"X has two columns of the name {twice!r}")
    return samples


def _dense(samples: Any) -> np.ndarray:
    size = int(np.prod(samples.shape, dtype=object)) * samples.dtype.itemsize
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size * _SHARE > memory:
        raise BoostrunError(
            f"X is sparse, {samples.shape[0]} x {samples.shape[1]} with {samples.nnz} values, and would take "
            f"{size >> 20} MiB as a dense array, of {memory >> 20} MiB in this machine: choose columns, or fewer rows"
        )
    return samples.toarray()


def is_table(samples: Any) -> bool:
    """Whether :func:`opened` has found a frame."""
    return getattr(samples, "columns", None) is not None and len(getattr(samples, "shape", ())) == 2


def is_plain(frame: Any) -> bool:
    """Whether all columns are numbers of NumPy in a pandas frame, which scikit-learn takes as they are."""
    kinds = getattr(frame, "dtypes", (None,))
    return all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in kinds)


def column_names(frame: Any) -> list:
    """The names of the columns of a pandas frame or an Arrow table."""
    return list(getattr(frame, "column_names", frame.columns))


def in_numbers(frame: Any, table: RawTable, missing: bool) -> Any:
    """A pandas frame of float64 with the columns of ``frame``, an Arrow table or a pandas frame."""
    import pandas

    return pandas.DataFrame(table.numbers(frame, "X", 0, missing), columns=column_names(frame))


def check_names(classifier, frame: Any) -> None:
    """Raise ValueError, as scikit-learn does, if the columns of a frame are not those of training."""
    import pandas
    from sklearn.utils.validation import validate_data

    validate_data(classifier, pandas.DataFrame(columns=column_names(frame)), reset=False, skip_check_array=True)


def has_missing(samples: Any) -> bool:
    """Whether an array, a list of rows or a frame of numbers has NaN."""
    try:
        values = samples if type(samples) is np.ndarray else np.asarray(samples)
    except ValueError:  # rows of several lengths
        return False
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def _validated(classifier, samples: Any) -> np.ndarray:
    """The samples as an array of floats with NaN; sets the number and the names of the features."""
    from sklearn.utils.validation import validate_data

    return validate_data(classifier, samples, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")


def has_bins(classifier) -> bool:
    """Whether a method learns from quantile bins."""
    return getattr(classifier, "max_bins", None) is not None


def _fitted(classifier, values: np.ndarray, table: RawTable | None) -> Preparation:
    """The preparation for samples like ``values`` (n, d), of which some are missing."""
    missing = np.flatnonzero(np.isnan(values).any(axis=0))
    width = values.shape[1] + len(missing)
    arrays = {"missing": missing}
    if has_bins(classifier):
        from boostrun.methods.estimator import bins

        bins(classifier)
        if len(missing) and classifier.max_bins < 3:
            raise BoostrunError(f"max_bins={classifier.max_bins}: columns with missing values need at least 3")
        arrays |= {"kind": np.array("edges"), "edges": _edges(values, missing, classifier.max_bins)}
    else:
        means = means_of(values)
        arrays |= {"kind": np.array("scaled"), "shift": np.zeros(width), "factor": np.ones(width), "means": means}
    return _preparation(arrays, table, width)


def _preparation(arrays: dict[str, np.ndarray], table: RawTable | None, width: int) -> Preparation:
    return Preparation(arrays | ({"table": np.array(table.text())} if table is not None else {}), width)


def _edges(values: np.ndarray, missing: np.ndarray, bins: int) -> np.ndarray:
    """Edges (d + m, bins - 1) of quantile bins of the values present; of a column with missing values one fewer, and
    one edge below or above all numbers.
    """
    from boostrun.kernels.stumps import fit_edges

    rows = np.random.default_rng(0).permutation(len(values))[:_BINNED] if len(values) > _BINNED else slice(None)
    edges = np.full((values.shape[1] + len(missing), bins - 1), np.inf, values.dtype)
    for column, some in enumerate(np.sort(values[rows].T, axis=1)):
        there = some[: np.searchsorted(some, np.inf)]  # NaN is sorted last
        own = edges[column : column + 1] if column not in missing else edges[column : column + 1, 1:]
        fit_edges(np.ascontiguousarray(there)[None], inner := np.full(own.shape, np.inf, values.dtype))
        own[:] = inner
    edges[values.shape[1] :, :-1] = edges[missing, 1:]
    edges[missing, 0] = np.finfo(values.dtype).min
    return edges


def below_all(values: np.ndarray) -> np.ndarray:
    """Values with the lowest number in place of NaN."""
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros((), bool)
    return np.where(missing, np.finfo(values.dtype).min, values) if missing.any() else values


class PartialFit:
    """Base of classifiers; those whose paper declares ``arrivals`` for them have :meth:`partial_fit`."""

    @only_with("_arrivals_class")
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more samples, the next ones of a stream; returns the classifier.

        Parameters
        ----------
        X : (n, d) array or frame, n at least 1, as ``fit`` takes it, with the columns of the first call.
        y : (n,) labels.
        classes : (n_classes,) all labels of the stream, two or more; without them those of the first ``y``. Later calls
            need not repeat them.
        sample_weight : (n,) numbers of at least 0, used as they are: 1 is an ordinary sample, and one of weight 0 is
            skipped. Online methods refuse it.

        Samples are learned in their order. The size of a call matters only where its rule names the first call.
        ``peak_samples_held_`` counts all samples that are kept between calls.

        - *Reservoirs* begin with the first r + q samples. From then on each q fresh ones make a round: one more weak
          learner for each problem. With the same samples in the same order the model equals that of ``fit`` to the bit.
          After ``n_estimators`` rounds learning ends, with a warning; ``set_params(n_estimators=...)`` lets it go on.
          All classes learn side by side, and each keeps its own r + q samples; with ``shared`` they share one. With
          ``balanced`` a batch is complete when half of it is of either kind. With ``parts`` the reservoirs take turns.
        - *Online methods* learn from each sample once, and ignore ``samples_seen``. Methods with fixed stumps find them
          on the first ``subset_size`` samples, those with GEEM on the samples of its ``n_estimators`` rounds.
        - *Before the first round* all scores are 0.
        - *Bins* are fitted on the first r + q samples (online: the first ``subset_size``, or the first call). A column
          with missing values among these has a bin for them. Elsewhere a missing value is below all others; ``bisc``
          and ``leistner`` refuse it.
        - *Words* of text columns are those of the first call; others are unknown, as in ``predict``. Values have the
          dtype of the first call.
        - ``class_weight="balanced"`` uses the numbers of samples so far.

        A pickled model goes on where it stopped. A model that was loaded from a file, or trained by ``fit``, cannot: a
        warning says so, and it stays as it is. Raises AttributeError if the method has no ``partial_fit``, and
        ValueError (BoostrunError for parameters and labels) for bad input, before it learns.

        >>> from sklearn.datasets import load_digits
        >>> from boostrun import ReservoirClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = ReservoirClassifier(reservoir_size=50, random_state=0)
        >>> for first in range(0, 1400, 100):
        ...     rows = slice(first, first + 100)
        ...     model = model.partial_fit(X[rows], y[rows], classes=range(10))
        >>> model.samples_drawn_per_problem_[0], bool(model.score(X[1400:], y[1400:]) > 0.7)
        (1400, True)
        """
        arrivals = self.__dict__.get("_arrivals")
        if arrivals is None:
            if "classes_" in self.__dict__:
                warnings.warn(
                    "fit and load keep nothing that partial_fit could go on from: these samples were not used, and the "
                    "model is as it was; a clone of it begins again", stacklevel=2,
                )  # fmt: skip
                return self
            arrivals = self._arrivals_class()(self)
        in_force.go_on(self)
        arrivals.add(X, y, classes, sample_weight)
        self._arrivals = arrivals
        return self

    def _arrivals_class(self) -> Any:
        found = declared_for(self, "arrivals")
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no partial_fit: it looks at all samples at once")
        return found


class Arrivals(ABC):
    """The state of ``partial_fit`` between two calls, with the samples that are held.

    A subclass has ``learn`` and ``publish``, and ``first``. ``weighs`` says if samples may have weights, ``fills`` if a
    value may be missing later for the first time.

    Attributes
    ----------
    model : the classifier.
    classes : (n_classes,) array
    width : int, columns that the weak learners see.
    """

    weighs = True
    fills = True

    def __init__(self, model: Any):
        self.model = model
        self.classes = np.empty(0)
        self.width = 0
        self._begun = False
        self._held: list[tuple[np.ndarray, ...]] = []  # samples before the first batch is complete
        self._prepared: Preparation | None = None
        self._table: RawTable | None = None
        self._dtype = np.dtype(np.float64)
        self._counts = np.empty(0, np.int64)  # samples of each class

    @property
    @abstractmethod
    def first(self) -> int:
        """The number of samples with which :meth:`learn` is called first, at least."""

    @abstractmethod
    def learn(self, samples: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> int:
        """Learn from samples (n, width), and return how many were used."""

    @abstractmethod
    def publish(self) -> None:
        """Set the attributes of the classifier."""

    def add(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Check the samples of a call, learn from them, and set the attributes of the classifier."""
        from sklearn.utils.validation import validate_data

        model, begins = self.model, not len(self.classes)
        model._check_parameters()
        if early_stopping.is_on(model):
            raise BoostrunError("early_stopping=True holds out samples of fit(X, y), and partial_fit has none")
        table = None
        if begins:
            samples, table = numbered(X)
        else:
            samples = model._numbers_of(X, self._prepared, True)
        values, labels = validate_data(
            model, samples, y, reset=begins, dtype=_DTYPES, order="C", ensure_all_finite="allow-nan"
        )
        check_classification_targets(labels)
        known = np.unique(labels if classes is None else classes) if begins else self.classes
        self._check_classes(known, labels, classes)
        if self._begun and not self.fills and self._missing is None and has_missing(values):
            raise BoostrunError(
                f"column {int(np.isnan(values).any(axis=0).argmax())} of X has a missing value, and none had one in "
                "the first call: fill it in"
            )
        values = values if begins else self._of_one_type(values)
        weights = self._weights(sample_weight, values, labels, known)
        if begins:
            self._dtype, self._table, self.width = values.dtype, table, values.shape[1]
            self.classes = model.classes_ = known
            self._counts = np.zeros(len(known), np.int64)
            self._prepared = _preparation(dict(_AS_THEY_ARE), table, self.width) if table is not None else None
        self._counts = self._counts + np.bincount(np.searchsorted(known, labels), minlength=len(known))
        there = weights > 0.0
        left = self._learn(values[there], labels[there], weights[there]) if there.any() else 0
        self.publish()
        if self._prepared is not None:
            model._prepare_by(self._prepared)
        if left:
            warnings.warn(
                f"all {model.n_estimators} rounds of n_estimators are done: {left} samples of this call were not used; "
                "set_params(n_estimators=...) adds rounds", stacklevel=3,
            )  # fmt: skip

    @property
    def _missing(self) -> np.ndarray | None:
        return None if self._prepared is None else self._prepared.missing

    def _of_one_type(self, values: np.ndarray) -> np.ndarray:
        """Values in the dtype of the first call."""
        with np.errstate(invalid="ignore"):
            found = values.astype(self._dtype, copy=False)
        if self._dtype == np.uint8 and (found != values).any():
            raise BoostrunError(
                "X was uint8 in the first call, which are their own bins, and has other values now: give float64 from "
                "the first call on"
            )
        return found

    def _check_classes(self, known: np.ndarray, labels: np.ndarray, classes: Any) -> None:
        if len(known) < 2:
            found = f"hold only one class, {known.tolist()[0]!r}" if len(known) else "have no class"
            raise BoostrunError(f"the first labels {found}: name all labels of the stream, classes=[...]")
        for said, given in (("the label", labels), ("classes has", () if classes is None else classes)):
            unknown = [label for label in np.unique(given).tolist() if not np.isin(label, known)]
            if unknown:
                raise BoostrunError(
                    f"{said} {unknown[0]!r}, which is none of the classes {known.tolist()} that the stream began with: "
                    "name all of them in the first call, classes=[...]"
                )

    def _weights(self, sample_weight: Any, values: np.ndarray, labels: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(n,) float64: ``sample_weight`` times the weights of the classes."""
        from sklearn.utils.class_weight import compute_class_weight
        from sklearn.utils.validation import _check_sample_weight

        if sample_weight is not None and not self.weighs:
            raise BoostrunError("sample_weight: an online method meets every sample as one example of weight 1")
        if np.shape(sample_weight) == labels.shape and not np.any(sample_weight):
            return np.zeros(len(labels))
        weights = _check_sample_weight(sample_weight, values, dtype=np.float64, ensure_non_negative=True)
        class_weight, codes = getattr(self.model, "class_weight", None), np.searchsorted(known, labels)
        if class_weight == "balanced":
            counts = np.eye(len(known), dtype=np.int64)[codes].cumsum(axis=0)
            counts += self._counts if len(self.classes) else 0
            weights = weights * counts.sum(axis=1) / (len(known) * counts[np.arange(len(codes)), codes])
        elif class_weight is not None:
            weights = weights * compute_class_weight(class_weight, classes=known, y=known)[codes]
        return weights

    def _learn(self, *fresh: np.ndarray) -> int:
        """Learn from samples, labels and weights; the number that was left over."""
        if not self._begun:
            fresh = tuple(map(np.concatenate, zip(*self._held, fresh)))
            self._held = [fresh]
            if len(fresh[1]) < max(1, self.first):
                return 0
            self._begun, self._held = True, []
            head = fresh[0][: self.first or None]
            if has_missing(head):
                self._prepared = _fitted(self.model, head, self._table)
                self.width = self._prepared.width
        samples = fresh[0] if self._missing is None else self._prepared(fresh[0])  # type: ignore[misc]
        return len(fresh[1]) - self.learn(below_all(samples), *fresh[1:])
