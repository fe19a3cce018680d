"""The predictions of a trial's model on the test part: measured, and with ``run.predictions=true`` kept.

A trial with ``run.metrics`` has metrics beside accuracy in its record. Kept predictions are a file per trial,
``<results>/predictions/<key>.npz``: ``truth`` and ``predicted`` (n,) int32, class numbers; ``classes`` (k,) text;
``probabilities`` (n, k) float32 if the model has them and they take at most 32 MiB unpacked; ``losses`` and ``bins``,
log loss, Brier score and reliability over all samples, measured before rounding (:mod:`boostrun.evaluation.measures`).
Missing trials have no rows. A frontier keeps ``<key>.npy`` instead: which test rows the trial has right, packed bits.
"""

from __future__ import annotations

import contextlib
import copy
import io
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.config.fields import Settings
from boostrun.errors import BoostrunError
from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.measures import (
    BINS,
    CURVES,
    Calibration,
    Trained,
    counted,
    measure,
    of_counts,
    of_probabilities,
    of_test_part,
    together,
)
from boostrun.inputs.bank import Table
from boostrun.report.entry import metric_key
from boostrun.store import write_file

MOST_BYTES = 32 << 20
"""Limit of a trial's probabilities, before compression."""

_NEAR = 1e-6  # percent: tolerance between the accuracy of the predictions and the measured one
_SUM = 1e-3  # tolerance of the sum of a sample's probabilities
_NONE = np.empty((0, 0), np.float32)
_NO_STAGES = np.empty((0, 3, 0), np.int64)


class Predictions(NamedTuple):
    """The predictions of one trial.

    Names of classes (k,), true and predicted class numbers (n,) of the test part, how good the probabilities are (None
    if the model has none), the (n, k) probabilities, (0, 0) if they are not kept, and the counts (stages, 3, k) of
    :func:`boostrun.evaluation.measures.counted` after several numbers of rounds, without stages (0, 3, 0).
    """

    classes: tuple[str, ...]
    truth: np.ndarray
    predicted: np.ndarray
    calibration: Calibration | None = None
    probabilities: np.ndarray = _NONE
    staged: np.ndarray = _NO_STAGES

    @property
    def confusion(self) -> np.ndarray:
        """(k, k) int64: number of samples by true class (row) and predicted class (column).

        >>> Predictions(("a", "b"), np.array([0, 0, 1]), np.array([0, 1, 1])).confusion.tolist()
        [[1, 1], [0, 1]]
        """
        k = len(self.classes)
        return np.bincount(self.truth.astype(np.int64) * k + self.predicted, minlength=k * k).reshape(k, k)


def folder_of(settings: Settings) -> Path:
    """The folder of the predictions of these settings' trials."""
    return Path(settings.root["results"]).absolute() / "predictions"


def of(trained: Trained, most_bytes: int | None = None, stages: Sequence[int] = ()) -> Predictions:
    """The predictions of a trained model on its test part.

    Probabilities of more than ``most_bytes`` in single precision, by default :data:`MOST_BYTES`, are measured only.
    Predictions after the numbers of rounds in ``stages``, the last of them all rounds, are counted if the model has
    them. Raises BoostrunError if the predictions do not have the measured accuracy, or its probabilities are not
    probabilities.
    """
    classes = tuple(map(str, trained.data.classes))
    truth, predicted, measured, kept = [], [], [], []
    room = MOST_BYTES if most_bytes is None else most_bytes
    staged = np.zeros((len(stages), 3, len(classes)), np.int64)
    for labels, answers, found, at_stages in _answers(trained, stages):
        truth.append(_numbers(labels, trained.data))
        predicted.append(_numbers(answers, trained.data))
        counts = [counted(truth[-1], _numbers(one, trained.data), len(classes)) for one in at_stages]
        staged = staged + counts if counts else _NO_STAGES
        if found is None:
            continue
        columns = _by_class(found, trained, len(labels))
        measured.append(measure(columns, truth[-1], predicted[-1]))
        room -= columns.size * _NONE.itemsize
        if room >= 0:
            kept.append(columns)
    one = Predictions(classes, np.concatenate(truth), np.concatenate(predicted), staged=staged)
    accuracy = 100.0 * float(np.mean(one.truth == one.predicted))
    known = trained.result["metrics"].get("test_accuracy_pct")
    if known is None or abs(accuracy - known) > _NEAR:
        raise BoostrunError(f"{_prefix(trained.model)} does not predict what was measured of it")
    if not measured:
        return one
    probabilities = np.concatenate(kept) if room >= 0 else _NONE
    return one._replace(calibration=together(measured), probabilities=probabilities)


def _answers(trained: Trained, stages: Sequence[int]) -> Iterator[tuple[np.ndarray, np.ndarray, Any, list]]:
    """True labels (m,), predicted ones, probabilities or None, and the labels predicted after each of ``stages``, of
    one part of the test set after the other."""
    from boostrun.methods import hypothesis_ensemble as one_vs_all  # compiles kernels
    from boostrun.methods.probabilities import probabilities_of_rows  # loads scipy.special

    data, model = trained.data, _with_classes(trained)
    chunks = getattr(data, "test_chunks", None)
    staged = getattr(getattr(model, "ensemble_", None), "staged_decision", None)
    predict = getattr(model, "predict", None)
    if chunks and staged:
        rounds = [*stages] if stages and stages[-1] == model.ensemble_.n_rounds else [model.ensemble_.n_rounds]
        for columns, labels in chunks():
            found = []
            for scores in staged(columns, rounds):  # the same array each time
                found.append(one_vs_all.predict(scores, model.classes_))
            probabilities = probabilities_of_rows(model, scores, found[-1])
            yield np.asarray(labels), found[-1], probabilities, found if len(rounds) == len(stages) else []
    elif isinstance(data, Table) and predict:
        from boostrun.features.build import ValueBank

        # products and distances are computed by the model, from values if there are any
        X = data.values("test") if isinstance(data.bank, ValueBank) else data.inputs("test")
        predict_proba = getattr(model, "predict_proba", None)
        staged_predict = getattr(model, "staged_predict", None) if stages else None
        after = enumerate(staged_predict(X) if staged_predict else (), 1)
        found = [np.asarray(labels) for rounds, labels in after if rounds in stages]
        probabilities = predict_proba(X) if predict_proba else None
        answers = np.asarray(predict(X))
        yield np.asarray(data.labels("test")), answers, probabilities, found if len(found) == len(stages) else []
    else:
        raise BoostrunError(f"{_prefix(model)} keeps no model that predicts")


def _with_classes(trained: Trained) -> Any:
    """The model; a copy with ``classes_`` if it was fitted to class numbers and does not know them."""
    if getattr(trained.model, "classes_", None) is not None:
        return trained.model
    model = copy.copy(trained.model)
    model.classes_ = np.arange(len(trained.data.classes))
    return model


def _numbers(labels: Any, data: Any) -> np.ndarray:
    """int32 class numbers of labels (n,), which a streamed set returns as in its file."""
    from boostrun.inputs.bank import Chunks

    found = np.asarray(labels)
    return (np.searchsorted(data.data.classes, found) if isinstance(data, Chunks) else found).astype(np.int32)


def _by_class(found: Any, trained: Trained, samples: int) -> np.ndarray:
    """Probabilities (samples, classes), 0 for a class that the model has not seen; BoostrunError if they are none."""
    model, classes = trained.model, len(trained.data.classes)
    seen = _numbers(_with_classes(trained).classes_, trained.data)
    found = np.asarray(found, np.float64)
    if found.shape != (samples, len(seen)):
        raise BoostrunError(
            f"{_prefix(model)}.predict_proba gave the shape {found.shape} for {samples} samples of {len(seen)} classes"
        )
    if not (np.all(found >= 0.0) and np.all(np.abs(found.sum(axis=1) - 1.0) < _SUM)):
        raise BoostrunError(f"{_prefix(model)}.predict_proba gave numbers below 0, or whose sum is not 1")
    columns = np.zeros((samples, classes))
    columns[:, seen] = found
    return columns


def _prefix(model: Any) -> str:
    return f"run.predictions=true: {type(model).__name__}"


# -- metrics -----------------------------------------------------------------------------------------------------------


def measured(found: Predictions, names: Sequence[str] = ()) -> dict[str, float]:
    """The metrics that the predictions allow, and the test part's; nothing is sorted if ``names`` do without."""
    counts = counted(found.truth, found.predicted, len(found.classes))
    values = of_counts(counts) | of_test_part(counts)
    if found.calibration is not None:
        values["log_loss"] = found.calibration.log_loss
    if found.probabilities.size and (not names or {"roc_auc", "average_precision"} & {*names}):
        values |= of_probabilities(found.truth, found.probabilities)
    return values


def _chosen(values: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """The metrics with these names alone; all, and the facts of the test part, if there are no names."""
    return {key: value for key, value in values.items() if not names or key in map(metric_key, names)}


class Counted:
    """A stream's evaluation, with balanced accuracy and macro F1 of the predictions that make its accuracy.

    Parameters
    ----------
    evaluation : Evaluation, such as :class:`boostrun.evaluation.prequential.OnStream`
    names : the metrics to measure; none for all of them

    Nothing is added to streams with hold-outs, whose accuracy is not that of these predictions. Probabilities are not
    asked for: most learners would need a call for each example. Cost: one pass over the predictions.
    """

    def __init__(self, evaluation: Any, names: Sequence[str]):
        self.evaluation, self.names = evaluation, names

    def __getattr__(self, name: str) -> Any:
        return getattr(self.evaluation, name)

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Run the evaluation, and keep its predictions."""
        own, classes = getattr(self.evaluation, "predictions", None), len(data.stream.classes)
        counts = np.zeros((3, classes + 1), np.int64)

        def predictions(learner: Any, data: Any) -> Any:
            test_then_train, waiting = learner.test_then_train, data.scored_after

            def counting(X: np.ndarray, y: np.ndarray, known: Any) -> np.ndarray:
                nonlocal counts, waiting
                said = test_then_train(X, y, known)
                inside = np.isin(said, np.arange(classes))
                numbers = np.full(len(y), classes)  # the last place: not a class
                numbers[inside] = np.asarray(said)[inside]
                counts = counts + counted(np.asarray(y)[waiting:], numbers[waiting:], classes + 1)
                waiting = max(waiting - len(y), 0)
                return said

            learner.test_then_train = counting
            try:
                return own(learner, data)  # type: ignore[misc]
            finally:
                del learner.test_then_train

        if own is not None:
            self.evaluation.predictions = predictions
        result = self.evaluation.run(model, data, seeds)
        seen = counts[:, :classes]
        if seen[0].any():
            result["metrics"] = {**result["metrics"], **_chosen(of_counts(seen) | of_test_part(seen), self.names)}
        return result


def add_metrics(trained: Trained, memory_mb: int, names: Sequence[str] = ()) -> Predictions | None:
    """Add metrics and curves of the predictions on the test part to a trial's result, and return the predictions.

    ``names`` are the metrics to add; none for all of them.

    ROC AUC and average precision need all probabilities at once; they are left out if these take more than
    ``memory_mb`` MiB in double precision. Adds nothing and returns None if the model does not predict.
    """
    result = trained.result
    stages = result["curve"].get("T") or () if "test_accuracy_pct" in result["curve"] else ()
    found = _measurable(trained, memory_mb << 19, stages)
    if found is None:
        return None
    result["metrics"] = {**result["metrics"], **_chosen(measured(found, names), names)}
    right = found.staged[:, 2].sum(axis=1)
    accuracies = result["curve"].get("test_accuracy_pct", ())
    if 0 < len(right) == len(accuracies) and np.allclose(100.0 * right / len(found.truth), accuracies, atol=_NEAR):
        values = [_chosen(of_counts(counts), names) for counts in found.staged]
        curves = {name: [one[name] for one in values] for name in CURVES if name in values[0]}
        result["curve"] = {**result["curve"], **curves}
    return found


def _measurable(trained: Trained, most_bytes: int, stages: Sequence[int]) -> Predictions | None:
    """The predictions; without probabilities if the model's are none; None if it does not predict."""
    for silent in (False, True):
        # whatever a user's class raises here, its trial is done: metrics are measured beside it
        with contextlib.suppress(Exception):
            model = copy.copy(trained.model)
            if silent:
                model.predict_proba = None
            return of(trained._replace(model=model), most_bytes, stages)
    return None


def completed(records: Iterable[Mapping[str, Any]], folder: Path) -> list[Mapping[str, Any]]:
    """The records; those without metrics get them from kept predictions, if there are any."""
    return [record if is_measured(record) else _completed(record, folder) for record in records]


def is_measured(record: Mapping[str, Any]) -> bool:
    """Whether a record has all metrics beside accuracy; those of probabilities may be absent."""
    return "majority_pct" in record["metrics"]


def _completed(record: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    kept = read(folder, [record["key"]], probabilities=True)
    return {**record, "metrics": {**record["metrics"], **measured(kept[0])}} if kept else record


# -- files -------------------------------------------------------------------------------------------------------------


def keep(folder: Path, key: str, predictions: Predictions) -> None:
    """Write the file of a trial, whole or not at all; BoostrunError if it cannot be written."""
    content = io.BytesIO()
    losses, bins = predictions.calibration or (np.empty(0), np.empty((3, 0)))
    probabilities = predictions.probabilities.astype(np.float32)
    np.savez_compressed(
        content, classes=np.array(predictions.classes), truth=predictions.truth, predicted=predictions.predicted,
        losses=losses, bins=bins,
        probabilities=probabilities if probabilities.nbytes <= MOST_BYTES else _NONE,
    )  # fmt: skip
    write_file(folder / f"{key}.npz", content.getvalue())


def read(folder: Path, keys: Sequence[str], probabilities: bool = False) -> list[Predictions]:
    """The predictions of the trials with these keys whose files are whole, with probabilities only if asked for."""
    found = []
    for key in keys:
        try:
            with np.load(folder / f"{key}.npz", allow_pickle=False) as file:
                one = Predictions(tuple(map(str, file["classes"])), file["truth"], file["predicted"])
                calibration = Calibration(file["losses"], file["bins"])
                kept = file["probabilities"] if probabilities else _NONE
        except Exception:  # a damaged file raises any of a dozen kinds
            continue
        n, k, labels = len(one.truth), len(one.classes), (one.truth, one.predicted)
        plain = all(part.dtype == np.int32 and part.ndim == 1 for part in labels)
        if not plain or n != len(one.predicted) or kept.shape not in ((0, 0), (n, k)):
            continue
        if not all(part.min(initial=0) >= 0 and part.max(initial=0) < k for part in labels):
            continue
        if calibration.losses.size == 0 == calibration.bins.size:
            found.append(one)
        elif _is_calibration(calibration, n):
            found.append(one._replace(calibration=calibration, probabilities=kept))
    return found


def _is_calibration(calibration: Calibration, samples: int) -> bool:
    losses, bins = calibration
    plain = losses.shape == (2,) and bins.shape == (3, BINS) and losses.dtype == bins.dtype == np.float64
    return plain and bool(np.isfinite(losses).all() and (bins >= 0).all()) and bins[0].sum() == samples


def scores(folder: Path, keys: Sequence[str]) -> dict[str, list[float]]:
    """Log loss and Brier score of the trials with these keys whose probabilities were measured."""
    found = [one.calibration for one in read(folder, keys) if one.calibration is not None]
    return {"log loss": [one.log_loss for one in found], "Brier": [one.brier for one in found]}


def measures(folder: Path, key: str) -> dict[str, float]:
    """``log_loss`` and ``brier`` of a trial as columns of a DataFrame; empty if its probabilities are not kept."""
    found = scores(folder, [key])
    return {"log_loss": found["log loss"][0], "brier": found["Brier"][0]} if found["Brier"] else {}


def keep_right(folder: Path, key: str, right: np.ndarray) -> None:
    """Write which test rows (n,) a trial has right, an eighth of a byte each; BoostrunError if that fails."""
    content = io.BytesIO()
    np.save(content, np.packbits(right))
    write_file(folder / f"{key}.npy", content.getvalue())


def right(folder: Path, keys: Sequence[str], rows: int) -> tuple[float, ...] | None:
    """The share of the trials with these keys that are right on each of ``rows`` test rows.

    None unless all of them kept it, by themselves or with their predictions. Reads a file for each trial.
    """
    found = [_right(folder, key, rows) for key in keys] if folder.is_dir() and rows else []
    there = [one for one in found if one is not None and len(one) == rows]
    return tuple(np.mean(there, axis=0).tolist()) if 0 < len(there) == len(keys) else None


def _right(folder: Path, key: str, rows: int) -> np.ndarray | None:
    with contextlib.suppress(OSError, ValueError, TypeError, EOFError):
        bits = np.load(folder / f"{key}.npy", allow_pickle=False)
        if len(bits) == math.ceil(rows / 8):
            return np.unpackbits(bits, count=rows).astype(bool)
    return next((one.truth == one.predicted for one in read(folder, [key])), None)


def size_line(folder: Path, keys: Sequence[str]) -> str:
    """A line that says where the files of these trials are, and their size."""
    sizes = [path.stat().st_size for key in keys if (path := folder / f"{key}.npz").is_file()]
    return f"predictions: {folder}, {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB"


def model_bytes(model: Any) -> int | None:
    """Bytes of the arrays that a saved model learned; None if it cannot be saved.

    Classes, parameters, names and bin edges, which every method needs, are left out. The model is written and read
    again, in memory if the system has such files, which takes a millisecond for a thousand stumps.
    """
    for place in (_in_memory, _in_folder)["memfd_create" not in vars(os) :]:
        with contextlib.suppress(BoostrunError, OSError), place() as path:
            learned = getattr(model, "_model", None)  # a stream learner assembles it when it is asked for
            if (save := getattr(learned, "save", None)) is None:
                return None
            with np.load(save(path), allow_pickle=False) as saved:
                return sum(saved[name].nbytes for name in saved.files if name != "format")
    return None


@contextlib.contextmanager
def _in_memory() -> Iterator[Path]:
    """A file without a name, which waits for no disk."""
    descriptor = os.memfd_create("model")
    try:
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _in_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "model"
