"""The classifier in a model file, the columns of the table it was trained on, and its predictions as csv."""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from boostrun import __version__
from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.files import is_device, replacing
from boostrun.methods.archive import kind_of, text_of
from boostrun.methods.declaration import obtain
from boostrun.methods.saved import Saveable, kinds
from boostrun.prediction.samples import Samples


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


def _free(name: str, taken: Collection[str]) -> str:
    """A name that is not taken."""
    return _free(f"{name}_given", taken) if name in taken else name


def _fill(file: Any, model: Saveable, pieces: Iterable[Samples], names: list[str], found: Counter) -> None:
    import pandas

    for number, piece in enumerate(pieces):
        labels = model.predict(piece.X)  # type: ignore[attr-defined]
        frame = pandas.DataFrame({PREDICTION: labels})
        if len(names) > 1:
            frame[names[1:]] = model.predict_proba(piece.X)
        if piece.beside is not None:
            beside = piece.beside.reset_index(drop=True)
            given = {name: _free(f"{name}_given", beside.columns) for name in names if name in beside.columns}
            if given and not number:
                shown = ", ".join(f"'{name}' is written as '{new}'" for name, new in given.items())
                print(f"boostrun: your column {shown}", file=sys.stderr)
            frame = pandas.concat([beside.rename(columns=given), frame], axis=1)
        found.update(labels.tolist())
        file.write(frame.to_csv(index=False, header=not number, lineterminator="\n").encode("utf-8", "surrogateescape"))
