"""The classifier in a model file, the columns of the table it was trained on, and its predictions as csv."""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun import __version__
from boostrun.config import catalogue
from boostrun.data.dataset import Parts
from boostrun.data.table import parts_of_rows
from boostrun.errors import BoostrunError
from boostrun.files import is_device, replacing
from boostrun.methods.archive import kind_of, text_of
from boostrun.methods.declaration import obtain
from boostrun.methods.preparation import RawTable
from boostrun.methods.saved import Saveable, kinds
from boostrun.prediction.samples import Opened, Samples, opened


def load(path: str | Path) -> Saveable:
    """The classifier that was saved to ``path``, loaded by its own class, which the file names.

    Raises BoostrunError with one sentence if there is no such file, it is not a saved model, another version has
    written it, or its class is not installed.
    """
    kind, classes = kind_of(path), _classes()
    written = _written_by(path)
    if written:
        target = next((classes[name] for name in written if name in classes), None)
        if target is None:
            raise BoostrunError(
                f"{path} holds a model of {written[0]}, which is none of the classifiers of boostrun {__version__} and "
                f"the papers beside it (--config-dir DIR names a folder of your own){catalogue.missing(written[0])}"
            )
        try:
            cls = obtain(target)
        except (Exception, SystemExit) as error:
            raise BoostrunError(
                f"{path} holds a model of {target}, which cannot be imported: {catalogue.describe_error(error)}"
            ) from error
        if kind not in _kinds(cls):
            raise _unknown(path, kind)
        return cls.load(path)
    for target in classes.values():  # a file of an older version: all classes that load it predict the same
        try:
            cls = obtain(target)
        except (Exception, SystemExit):  # a plug-in that cannot be imported
            continue
        if kind in _kinds(cls):
            return cls.load(path)
    raise _unknown(path, kind)


def _classes() -> dict[str, str]:
    """Class name -> "module:Class" of every known classifier."""
    found = {name: f"{module}:{name}" for name, module in catalogue.public()}
    targets: dict[str, str] = {}
    for method in catalogue.methods().values():
        targets.setdefault(method.target.partition(":")[2], method.target)  # those of boostrun come first
    return targets | found


def _kinds(cls: Any) -> list[str]:
    """The kinds of files that ``cls`` can load; empty if its models cannot be saved."""
    return [*kinds(cls)] if isinstance(cls, type) and issubclass(cls, Saveable) else []


def _written_by(path: str | Path) -> list[str]:
    try:
        names = json.loads(text_of(path, "facts") or "{}").get("written_by", [])
        return [name for name in names if isinstance(name, str)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, BoostrunError):
            raise
        raise BoostrunError(f"{path} is not a model saved by boostrun ({error})") from None


def _unknown(path: str | Path, kind: str) -> BoostrunError:
    return BoostrunError(
        f"{path} holds {kind[:80]}, which boostrun {__version__} does not know: it was written by another version, or "
        "is no classifier; train and save it again"
    )


_ROWS = 1 << 14
_NONE = -1  # the code of a missing value
_COMPARED = 1 << 12  # training samples whose categories are compared with the file


def columns_of(path: Path, parts: Parts, options: Mapping[str, Any]) -> tuple[RawTable, bool]:
    """The columns of the file that ``parts`` were read from, and whether its labels are numbers.

    Columns of text come with the categories of the training part. ``options`` are those of the data set. Raises
    BoostrunError if the categories in the file are not those of the samples.
    """
    found = opened(str(path), path, None)
    features = parts.columns or ()
    label = next(name for name in (options.get("label"), found.names[-1]) if name is not None)
    table = RawTable(features, str(label))
    no_numbers = _text(found, (*features, table.label))
    numbered = table.label not in no_numbers
    text = [name for name in no_numbers if name != table.label]
    if not text:
        return table, numbered
    group = options.get("group")
    codes, known = _codes(found, [*text, table.label, *([] if group is None else [str(group)])])
    train = np.arange(len(codes))
    if not options.get("test_path"):
        labels = _in_order(codes[:, len(text)], known[table.label])
        train, _ = parts_of_rows(options, labels, None if group is None else codes[:, -1])
    categories = {}
    for position, name in enumerate(text):
        words = np.array(known[name])
        present = words[np.setdiff1d(codes[train, position], _NONE)]
        if not _all_numbers(present):
            categories[name] = tuple(sorted(present.tolist()))
            seen = codes[train[:_COMPARED], position]
            values = np.where(seen < 0, np.nan, np.searchsorted(categories[name], words[seen]))
            if not np.array_equal(values, parts.x_train[:_COMPARED, features.index(name)], equal_nan=True):
                raise BoostrunError(f"the categories of column '{name}' of {path} are not those that were trained on")
    return RawTable(features, table.label, categories), numbered


def _text(found: Opened, names: tuple[str, ...]) -> list[str]:
    """Those of the columns ``names`` that hold text; bools count as numbers, with or without missing values."""
    import pandas.api.types as kinds

    text: dict[str, None] = {}
    for frame in found.frames(RawTable(tuple(found.names)), _ROWS):
        odd = (name for name in names if not kinds.is_numeric_dtype(frame[name]))
        text |= {name: None for name in odd if not kinds.is_bool_dtype(frame[name].dropna().infer_objects())}
    return list(text)


def _codes(found: Opened, names: list[str]) -> tuple[np.ndarray, dict[str, list[str]]]:
    """Codes (rows, columns) int32 of the columns ``names``, -1 where missing, and the texts that they stand for."""
    known: dict[str, dict[str, int]] = {name: {} for name in names}
    blocks = []
    for frame in found.frames(RawTable(tuple(found.names), "", dict.fromkeys(names, ())), _ROWS):
        block = np.empty((len(frame), len(names)), np.int32)
        for position, name in enumerate(names):
            places = known[name]
            missing = frame[name].isna()
            words = frame[name][~missing].astype(str).tolist()
            block[:, position] = _NONE
            block[~missing.to_numpy(), position] = [places.setdefault(word, len(places)) for word in words]
        blocks.append(block)
    return np.concatenate(blocks), {name: list(places) for name, places in known.items()}


def _in_order(codes: np.ndarray, words: list[str]) -> np.ndarray:
    """Labels (n,) as numbers if all words are numbers, else as text."""
    numbers = _all_numbers(words)
    return np.array([float(word) for word in words] if numbers else words)[codes]


def _all_numbers(words) -> bool:
    try:
        return all(float(word) is not None for word in words)
    except ValueError:
        return False


PREDICTION = "prediction"
_COPIED = 1 << 16  # characters written at a time


def answer_columns(model: Saveable, proba: bool) -> list[str]:
    """The names of the columns that are written: the label and, with ``proba``, a probability for each class.

    Raises BoostrunError, with the reason, if ``model`` has no probabilities.
    """
    if not proba:
        return [PREDICTION]
    try:
        _ = model.predict_proba  # the lookup raises with the reason
    except AttributeError as error:
        raise BoostrunError(f"--proba: {error}; leave --proba out") from None
    return [PREDICTION, *(f"probability_{label}" for label in model.classes_.tolist())]


def write(model: Saveable, pieces: Iterable[Samples], output: str | None, proba: bool = False) -> Counter:
    """Predict every piece, write csv to the file ``output`` or to standard output, and count the labels.

    Each line holds one sample: its other columns, its label and, with ``proba``, a probability for each class. Nothing
    is written before the last sample is predicted. Raises the pieces' BoostrunError, and OSError.
    """
    names, found = answer_columns(model, proba), Counter[Any]()
    model.__dict__.pop("feature_names_in_", None)  # rows are arrays in its order
    if output is not None and not is_device(output):
        with replacing(Path(output)) as file:
            _fill(file, model, pieces, names, found)
        return found
    with tempfile.TemporaryFile() as whole:
        _fill(whole, model, pieces, names, found)
        whole.seek(0)
        if output is not None:
            with open(output, "wb") as device:
                shutil.copyfileobj(whole, device)
        else:
            text = io.TextIOWrapper(whole, "utf-8", "surrogateescape", newline="")
            while part := text.read(_COPIED):
                sys.stdout.write(part)
            text.detach()
            sys.stdout.flush()
    return found


def _fill(file: Any, model: Saveable, pieces: Iterable[Samples], names: list[str], found: Counter) -> None:
    import pandas

    for number, piece in enumerate(pieces):
        labels = model.predict(piece.X)  # type: ignore[attr-defined]
        frame = pandas.DataFrame({PREDICTION: labels})
        if len(names) > 1:
            frame[names[1:]] = model.predict_proba(piece.X)
        if piece.beside is not None:
            beside = piece.beside.reset_index(drop=True)
            frame = pandas.concat([beside[[name for name in beside.columns if name not in names]], frame], axis=1)
        found.update(labels.tolist())
        file.write(frame.to_csv(index=False, header=not number, lineterminator="\n").encode("utf-8", "surrogateescape"))
