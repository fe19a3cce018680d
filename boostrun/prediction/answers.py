"""What a model says of new samples, as a table of text that is written whole or not at all."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.files import is_device, replacing
from boostrun.methods.saved import Saveable
from boostrun.prediction.given import Samples

PREDICTION = "prediction"
_COPIED = 1 << 16  # characters at a time


def columns_of(model: Saveable, proba: bool) -> list[str]:
    """The columns of the answers; BoostrunError where probabilities are asked for and ``model`` has none."""
    if not proba:
        return [PREDICTION]
    try:
        _ = model.predict_proba  # looking it up tells why there is none
    except AttributeError as error:
        raise BoostrunError(f"--proba: {error}; leave --proba out") from None
    return [PREDICTION, *(f"probability_{label}" for label in model.classes_.tolist())]


def write(model: Saveable, pieces: Iterable[Samples], output: str | None, proba: bool = False) -> Counter:
    """Predict every piece and write it as csv to the file ``output``, or to standard output; how often each class.

    A line a sample, in their order: what stands beside the sample, then the class, then with ``proba`` a probability
    for each class. Nothing is written before the last sample is answered. Raises BoostrunError of the pieces, OSError.
    """
    names, found = columns_of(model, proba), Counter[Any]()
    model.__dict__.pop("feature_names_in_", None)  # rows are in its order, and have no names
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
