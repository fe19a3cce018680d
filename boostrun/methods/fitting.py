"""What comes before a classifier's own ``fit``: samples of any kind become numbers, and no class is lost.

:class:`boostrun.methods.saved.Saveable` puts :func:`of_tables` before the ``fit`` of each of its classes, and
:func:`of_source` before ``fit_source``. Arrays of finite numbers and sources without weights reach them unchanged.

- Columns of a frame become numbers: a text or category its place among the sorted ones of training, or -1 if it is none
  of them; False and True 0 and 1; dates seconds since 1970 (UTC), times and durations seconds. A frame is a pandas
  DataFrame, or anything with ``__arrow_c_stream__``: polars, pyarrow, DuckDB and others. Sparse matrices become dense.
- NaN is a missing value, as in a run. A method with bins gets the codes of quantile bins that are fitted on at most
  10,000 samples; in one feature a missing value is below all others, and in a second one, which stands after all
  columns, above them. Any other method gets the mean of the column, and a further column of 0 and 1 that marks it.
- ``class_weight`` multiplies the weights of samples. A class whose samples all have the weight 0 keeps its place in
  ``classes_``.
- ``early_stopping`` holds out samples before all this, see :mod:`boostrun.methods.early_stopping`.

The fitted model has a :class:`boostrun.methods.preparation.Preparation` that repeats this for new samples.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.config.fields import check
from boostrun.data.dataset import means_of
from boostrun.data.source import weighted_source
from boostrun.errors import BoostrunError
from boostrun.methods import early_stopping
from boostrun.methods.preparation import Preparation, RawTable

_AS_THEY_ARE = {"kind": np.array("numbers")}
_SHARE = 2  # a sparse matrix may take this part of the memory of the machine when it is dense
_BINNED = 10_000  # samples that bins are fitted on, as for a bank


def of_tables(own: Callable) -> Callable:
    """``fit(X, y, ...)`` for samples of any kind, from one for arrays of finite numbers."""
    train = functools.partial(_with_weights, own) if "sample_weight" in inspect.signature(own).parameters else own

    @functools.wraps(own)
    def fit(self, X, y, *given, **named):
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
        class_weight = getattr(self, "class_weight", None)
        if class_weight is not None and getattr(source, "weights", None) is None:
            source = _weighed(source, class_weight)
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

    Raises BoostrunError for two columns of the same name, and for a sparse matrix that would take half of the machine's
    memory.
    """
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


class WithClasses:
    """A source of samples that names ``classes`` (k,), of some of which it may have no sample."""

    def __init__(self, source: Any, classes: np.ndarray):
        self._source, self._classes = source, classes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def class_labels(self) -> np.ndarray:
        """The distinct labels, sorted."""
        return self._classes


def _weighed(source: Any, class_weight: Any) -> WithClasses:
    """A source with the weights of classes; BoostrunError if it does not have all labels at once."""
    if getattr(source, "labels", None) is None:
        raise BoostrunError("class_weight needs all labels at once, and these samples are read in pieces")
    weights, classes = _class_weights(class_weight, source.labels), source.class_labels()
    found = weighted_source(source.samples, source.labels, weights, source.seed)
    if len(found.labels) == len(source.labels):
        found.columns = source.columns
    found.families = source.families
    return WithClasses(found, classes)


def _class_weights(class_weight: Any, labels: Any) -> np.ndarray:
    from sklearn.utils.class_weight import compute_sample_weight

    return compute_sample_weight(class_weight, labels)


def _with_weights(own: Callable, classifier, X, y, sample_weight=None, **named):
    """``own(classifier, X, y, sample_weight)`` with the weights of classes, so that all are among ``classes_``."""
    if (class_weight := getattr(classifier, "class_weight", None)) is not None:
        check(classifier)
        own_weights = _class_weights(class_weight, y)
        sample_weight = own_weights if sample_weight is None else own_weights * np.asarray(sample_weight)
    if sample_weight is None:
        return own(classifier, X, y, **named)
    lost, classes = _lost(y, sample_weight)
    if not len(lost) or getattr(classifier, "fit_source", None) is None:
        return own(classifier, X, y, sample_weight, **named)
    source, _, _ = classifier._source(X, y, sample_weight)
    classifier.fit_source(WithClasses(source, classes))
    if len(classifier.classes_) < len(classes):
        raise BoostrunError(
            f"all samples of the class {lost[0]!r} have the weight 0, and {type(classifier).__name__} needs samples of "
            "every class"
        )
    return classifier


def _lost(y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes all of whose samples have the weight 0, and all classes; none if a sentence about it is due later."""
    nothing = np.empty(0)
    labels, weights = np.asarray(y), np.asarray(sample_weight)
    if labels.ndim != 1 or weights.shape != labels.shape or weights.dtype.kind not in "biuf" or not weights.any():
        return nothing, nothing
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several types
        return nothing, nothing
    return classes[np.bincount(numbers, weights != 0) == 0], classes
