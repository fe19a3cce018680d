"""What a trial's model says of each sample of the test part, beside its record, with ``run.predictions=true``.

A file a trial, ``<results>/predictions/<key>.npz``: ``truth`` and ``predicted`` (n,) int32, class numbers, and
``classes`` (k,) text. A trial whose record was there before is trained once more for it, and its record stays.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.config import catalogue
from boostrun.config.compose import Settings
from boostrun.errors import BoostrunError
from boostrun.evaluation.trial import Trained
from boostrun.files import write_whole
from boostrun.methods import one_vs_all
from boostrun.runner import cluster

_NEAR = 1e-6  # percent: by how much what is kept may miss the accuracy that was measured


class Predictions(NamedTuple):
    """Of one trial: names of classes (k,), and class numbers (n,) of the test part, true and predicted."""

    classes: tuple[str, ...]
    truth: np.ndarray
    predicted: np.ndarray

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
    """What a trained model says of its test part; BoostrunError where that is not what was measured."""
    data, model = trained.data, trained.model
    chunks, staged = (
        getattr(data, "test_chunks", None),
        getattr(getattr(model, "ensemble_", None), "staged_decision", None),
    )
    inputs, predict = getattr(data, "inputs", None), getattr(model, "predict", None)
    if chunks and staged:
        truth, predicted = [], []
        for columns, labels in chunks():
            (scores,) = staged(columns, [model.ensemble_.n_rounds])
            predicted.append(one_vs_all.predict(scores, model.classes_))
            truth.append(np.array(labels))
        found = np.concatenate(truth), np.concatenate(predicted)
    elif inputs and predict:
        found = np.asarray(data.labels("test")), np.asarray(predict(inputs("test")))
    else:
        raise BoostrunError(f"run.predictions=true: {type(model).__name__} keeps no model that predicts")
    accuracy = 100.0 * float(np.mean(found[0] == found[1]))
    measured = trained.result["metrics"].get("test_accuracy_pct")
    if measured is None or abs(accuracy - measured) > _NEAR:
        raise BoostrunError(f"run.predictions=true: {type(model).__name__} does not predict what was measured of it")
    truth_, predicted_ = (np.asarray(labels, np.int32) for labels in found)
    return Predictions(tuple(map(str, data.classes)), truth_, predicted_)


def keep(folder: Path, key: str, predictions: Predictions) -> None:
    """Write the file of a trial, whole or not at all; BoostrunError where it cannot be written."""
    content = io.BytesIO()
    np.savez_compressed(
        content, classes=np.array(predictions.classes), truth=predictions.truth, predicted=predictions.predicted
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{key}.npz", content.getvalue())
    except OSError as error:
        raise BoostrunError(f"cannot write {folder}: {error.strerror or error}") from error


def read(folder: Path, keys: Sequence[str]) -> list[Predictions]:
    """Those of the trials with these keys that are kept whole."""
    found = []
    for key in keys:
        try:
            with np.load(folder / f"{key}.npz", allow_pickle=False) as file:
                one = Predictions(tuple(map(str, file["classes"])), file["truth"], file["predicted"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            continue
        k, labels = len(one.classes), (one.truth, one.predicted)
        plain = all(part.dtype == np.int32 and part.ndim == 1 for part in labels)
        whole = plain and len(one.truth) == len(one.predicted)
        if whole and all(part.min(initial=0) >= 0 and part.max(initial=0) < k for part in labels):
            found.append(one)
    return found
