"""What a trial's model says of each sample of the test part, beside its record, with ``run.predictions=true``.

A file a trial, ``<results>/predictions/<key>.npz``: ``truth`` and ``predicted`` (n,) int32, class numbers; ``classes``
(k,) text; ``probabilities`` (n, k) float32 where the model has them and they take at most 32 MiB unpacked; ``losses``
and ``bins``, log loss, Brier score and reliability of all samples, measured before rounding
(:mod:`boostrun.evaluation.measures`). What a model has not, or what was left out, has no rows.
A trial whose record was there before is trained once more for it, and its record stays.
"""

from __future__ import annotations

import contextlib
import copy
import io
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.config import catalogue
from boostrun.config.settings import Settings
from boostrun.errors import BoostrunError
from boostrun.evaluation.measures import BINS, Calibration, Trained, measure, together
from boostrun.files import write_whole
from boostrun.inputs.bank import Table
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.runner import cluster

MOST_BYTES = 32 << 20
"""Of a trial's probabilities on the disk, before they are packed."""

_NEAR = 1e-6  # percent: by how much what is kept may miss the accuracy that was measured
_SUM = 1e-3  # by how much the sum of a sample's probabilities may miss 1
_NONE = np.empty((0, 0), np.float32)


class Predictions(NamedTuple):
    """Of one trial: names of classes (k,), and class numbers (n,) of the test part, true and predicted; how good the
    probabilities are, None where the model has none, and the (n, k) float32 themselves, (0, 0) where they are not kept.
    """

    classes: tuple[str, ...]
    truth: np.ndarray
    predicted: np.ndarray
    calibration: Calibration | None = None
    probabilities: np.ndarray = _NONE

    @property
    def confusion(self) -> np.ndarray:
        """(k, k) int64: how many samples of each true class (row) were taken for which (column).

        >>> Predictions(("a", "b"), np.array([0, 0, 1]), np.array([0, 1, 1])).confusion.tolist()
        [[1, 1], [0, 1]]
        """
        k = len(self.classes)
        return np.bincount(self.truth.astype(np.int64) * k + self.predicted, minlength=k * k).reshape(k, k)


def folder_of(settings: Settings) -> Path:
    """Where the predictions of these settings' trials are kept."""
    return Path(settings.root["results"]).absolute() / "predictions"


def check(settings: Settings) -> None:
    """Raise BoostrunError where predictions are asked for that nobody can keep."""
    if not settings.run["predictions"]:
        return
    name = settings.dataset["name"]
    if catalogue.dataset(settings.dataset).gives == "stream":
        raise BoostrunError(f"run.predictions=true: dataset={name} has no test part, it is predicted as it is learnt")
    if settings.run["backend"] in cluster.NAMES:
        raise BoostrunError(f"run.predictions=true: workers of run.backend={settings.run['backend']} cannot keep them")


def of(trained: Trained) -> Predictions:
    """What a trained model says of its test part; BoostrunError where that is not what was measured, or where its
    probabilities are none."""
    classes = tuple(map(str, trained.data.classes))
    truth, predicted, measured, kept = [], [], [], []
    room = MOST_BYTES
    for labels, said, found in _answers(trained):
        truth.append(labels.astype(np.int32))
        predicted.append(said.astype(np.int32))
        if found is None:
            continue
        columns = _by_class(found, trained.model, len(labels), len(classes))
        measured.append(measure(columns, truth[-1], predicted[-1]))
        room -= columns.size * _NONE.itemsize
        if room >= 0:
            kept.append(columns.astype(np.float32))
    one = Predictions(classes, np.concatenate(truth), np.concatenate(predicted))
    accuracy = 100.0 * float(np.mean(one.truth == one.predicted))
    known = trained.result["metrics"].get("test_accuracy_pct")
    if known is None or abs(accuracy - known) > _NEAR:
        raise BoostrunError(f"{_asked(trained.model)} does not predict what was measured of it")
    if not measured:
        return one
    return one._replace(
        calibration=together(measured), probabilities=np.concatenate(kept) if room >= 0 else _NONE,
    )  # fmt: skip


def _answers(trained: Trained) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
    """True labels (m,), those that the model says, and its probabilities or None, of one part of the test set after the
    other."""
    from boostrun.methods.probabilities import probabilities_of_rows  # loads scipy.special, which a plan can do without

    data, model = trained.data, _with_classes(trained)
    chunks, staged = (
        getattr(data, "test_chunks", None),
        getattr(getattr(model, "ensemble_", None), "staged_decision", None),
    )
    predict = getattr(model, "predict", None)
    if chunks and staged:
        for columns, labels in chunks():
            (scores,) = staged(columns, [model.ensemble_.n_rounds])
            said = one_vs_all.predict(scores, model.classes_)
            yield np.asarray(labels), said, probabilities_of_rows(model, scores, said)
    elif isinstance(data, Table) and predict:
        X, predict_proba = _test(data), getattr(model, "predict_proba", None)
        yield np.asarray(data.labels("test")), np.asarray(predict(X)), predict_proba(X) if predict_proba else None
    else:
        raise BoostrunError(f"{_asked(model)} keeps no model that predicts")


def _with_classes(trained: Trained) -> Any:
    """The model; one that was fitted to class numbers and was not told what they are called is told so."""
    if getattr(trained.model, "classes_", None) is not None:
        return trained.model
    model = copy.copy(trained.model)
    model.classes_ = np.arange(len(trained.data.classes))
    return model


def _test(data: Table) -> np.ndarray:
    """The test part, of values wherever there are any: products and distances are made of them by the model."""
    from boostrun.features.build import ValueBank

    return data.values("test") if isinstance(data.bank, ValueBank) else data.inputs("test")


def _by_class(found: Any, model: Any, samples: int, classes: int) -> np.ndarray:
    """Probabilities (samples, classes), 0 of a class that the model has not seen; BoostrunError where they are none."""
    seen = np.asarray(getattr(model, "classes_", np.arange(classes)))
    found = np.asarray(found, np.float64)
    if found.shape != (samples, len(seen)):
        raise BoostrunError(
            f"{_asked(model)}.predict_proba gave the shape {found.shape} for {samples} samples of {len(seen)} classes"
        )
    if not (np.all(found >= 0.0) and np.all(np.abs(found.sum(axis=1) - 1.0) < _SUM)):
        raise BoostrunError(f"{_asked(model)}.predict_proba gave numbers below 0, or whose sum is not 1")
    columns = np.zeros((samples, classes))
    columns[:, seen] = found
    return columns


def _asked(model: Any) -> str:
    return f"run.predictions=true: {type(model).__name__}"


def keep(folder: Path, key: str, predictions: Predictions) -> None:
    """Write the file of a trial, whole or not at all; BoostrunError where it cannot be written."""
    content = io.BytesIO()
    losses, bins = predictions.calibration or (np.empty(0), np.empty((3, 0)))
    np.savez_compressed(
        content, classes=np.array(predictions.classes), truth=predictions.truth, predicted=predictions.predicted,
        losses=losses, bins=bins, probabilities=predictions.probabilities,
    )  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{key}.npz", content.getvalue())
    except OSError as error:
        raise BoostrunError(f"cannot write {folder}: {error.strerror or error}") from error


def read(folder: Path, keys: Sequence[str], probabilities: bool = False) -> list[Predictions]:
    """Those of the trials with these keys that are kept whole, with their probabilities where these are asked for;
    files of before there were any count as absent."""
    found = []
    for key in keys:
        try:
            with np.load(folder / f"{key}.npz", allow_pickle=False) as file:
                one = Predictions(tuple(map(str, file["classes"])), file["truth"], file["predicted"])
                calibration = Calibration(file["losses"], file["bins"])
                kept = file["probabilities"] if probabilities else _NONE
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            continue
        k, labels = len(one.classes), (one.truth, one.predicted)
        plain = all(part.dtype == np.int32 and part.ndim == 1 for part in labels)
        whole = plain and len(one.truth) == len(one.predicted) and kept.shape in ((0, 0), (len(one.truth), k))
        if not whole or not all(part.min(initial=0) >= 0 and part.max(initial=0) < k for part in labels):
            continue
        if calibration.losses.size == 0 == calibration.bins.size:
            found.append(one)
        elif _measured(calibration, len(one.truth)):
            found.append(one._replace(calibration=calibration, probabilities=kept))
    return found


def _measured(calibration: Calibration, samples: int) -> bool:
    losses, bins = calibration
    plain = losses.shape == (2,) and bins.shape == (3, BINS) and losses.dtype == bins.dtype == np.float64
    return plain and bool(np.isfinite(losses).all() and (bins >= 0).all()) and bins[0].sum() == samples


def scores(folder: Path, keys: Sequence[str]) -> dict[str, list[float]]:
    """Log loss and Brier score of the trials with these keys whose probabilities were measured."""
    found = [one.calibration for one in read(folder, keys) if one.calibration is not None]
    return {"log loss": [one.log_loss for one in found], "Brier": [one.brier for one in found]}


def measures(folder: Path, key: str) -> dict[str, float]:
    """``log_loss`` and ``brier`` of a trial, columns of a DataFrame; nothing where its probabilities are not kept."""
    found = [one.calibration for one in read(folder, [key]) if one.calibration is not None]
    return {"log_loss": found[0].log_loss, "brier": found[0].brier} if found else {}


def told(folder: Path, keys: Sequence[str]) -> str:
    """One line: where the files of these trials are, and how much of the disk they take."""
    sizes = [path.stat().st_size for key in keys if (path := folder / f"{key}.npz").is_file()]
    return f"predictions: {folder}, {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB"


def model_bytes(model: Any) -> int | None:
    """Bytes of the arrays that a saved model has of what it learned; None where it cannot be saved.

    Classes, parameters, names and the edges of bins, which any method needs alike, are left out. It is written to a
    temporary folder and read again, some milliseconds for a thousand trees.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(BoostrunError, OSError):
        learned = getattr(model, "_model", None)  # of a stream learner it is put together as it is asked for
        if (save := getattr(learned, "save", None)) is not None:
            with np.load(save(Path(folder) / "model"), allow_pickle=False) as saved:
                return sum(saved[name].nbytes for name in saved.files if name != "format")
    return None
