"""New samples for a saved model, from any kind of file, a bounded piece at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.data.files import IMAGE_ENDINGS
from boostrun.errors import BoostrunError
from boostrun.methods.preparation import RawTable, check_finite
from boostrun.methods.saved import Saveable, takes_missing
from boostrun.prediction import arrays, images, tables
from boostrun.prediction.model import Samples

_PIECE = 1 << 24  # bytes of samples, or of what is computed of them, at a time
_MOST_ROWS = 1 << 15
STANDARD_INPUT = "-"


def pieces(model: Saveable, path: str) -> Iterator[Samples]:
    """The samples in a file as ``model`` takes them, in its order.

    A folder, or one image, holds images; .npz and .npy arrays; .parquet a table; "-" is standard input; all else is a
    table of text. Columns of a table are found by name where the model knows names, and go by their order where it
    does not. Raises BoostrunError with one sentence, with the row and the column, for what the model cannot take.
    """
    place = Path(path).expanduser()
    table, preparation = known_table(model), model._preparation()
    width = max(model.n_features_in_, preparation.width if preparation is not None else 0)
    rows = max(1, min(_MOST_ROWS, _PIECE // (8 * width)))
    suffix = place.suffix.lower()
    if path != STANDARD_INPUT and not place.exists():
        raise BoostrunError(f"no file or folder {path}")
    if path != STANDARD_INPUT and (place.is_dir() or suffix in IMAGE_ENDINGS):
        return images.pieces(place, _image_shape(model, path), rows)
    if suffix not in (".npz", ".npy"):
        return _of_tables(
            table, model.n_features_in_, tables.opened(path, place, table), rows, takes_missing(preparation)
        )
    if table is not None and table.categories:
        text = next(iter(table.categories))
        raise BoostrunError(f"{path}: the model's column '{text}' holds text, which an array has not; give a table")
    return _of_arrays(model, arrays.pieces(place, rows), path)


def known_table(model: Saveable) -> RawTable | None:
    """The columns that a model takes by name; None where it knows no names."""
    preparation = model._preparation()
    if preparation is not None and preparation.table is not None:
        return preparation.table
    names = getattr(model, "feature_names_in_", ())
    return RawTable(tuple(map(str, names))) if len(names) else None


def _of_tables(
    table: RawTable | None, width: int, opened: tables.Opened, rows: int, missing: bool
) -> Iterator[Samples]:
    names = opened.names
    if table is None or (not opened.named and not set(table.columns) <= set(names)):
        if table is not None and not all(name.isdigit() for name in table.columns):
            raise BoostrunError(
                f"{opened.where} has no line of names, and the model takes its columns by name: "
                f"{', '.join(table.columns[:12])}{', ...' if width > 12 else ''}"
            )
        if len(names) != width:
            raise BoostrunError(
                f"{opened.where} has {len(names)} columns and the model, which knows no names of columns, takes {width}"
            )
        table = RawTable(tuple(names)) if table is None else table.in_order(names)
    table.check(dict.fromkeys(names), opened.where)
    kept = [name for name in names if name not in table.columns]
    start = 0
    for frame in opened.frames(table, max(1, min(rows, _PIECE // (64 * len(names))))):
        yield Samples(table.numbers(frame, opened.where, start, missing), frame[kept])
        start += len(frame)
    if not start:
        raise BoostrunError(f"{opened.where} holds no rows")


def _of_arrays(model: Saveable, found: Iterator[np.ndarray], where: str) -> Iterator[Samples]:
    """Arrays as rows of the width that the model takes; finite numbers."""
    start = 0
    for block in found:
        shape = block.shape[1:]
        if math.prod(shape) != model.n_features_in_:
            preparation = model._preparation()
            if preparation is not None:
                preparation.check_width(block)
            wanted = preparation.shape if preparation is not None and preparation.shape else (model.n_features_in_,)
            raise BoostrunError(f"{where} has samples of the shape {shape}, and the model takes {tuple(wanted)}")
        rows = block.reshape(len(block), -1)
        if rows.dtype.kind == "f":
            check_finite(rows, (), where, start, takes_missing(model._preparation()))
        start += len(rows)
        yield Samples(rows)


def _image_shape(model: Saveable, path: str) -> tuple[int, ...]:
    preparation: Any = model._preparation()
    if preparation is not None and not preparation.computed:
        raise BoostrunError(
            f"this model was trained on features={preparation.kind}, which a loaded model does not compute: give those "
            f"{preparation.n_features} features of each sample as .npz, not {path}"
        )
    if preparation is None or not preparation.shape:
        raise BoostrunError(
            f"{path} holds images, and the model takes {model.n_features_in_} columns: it does not say of what shape "
            "an image is; give an array of such columns as .npz"
        )
    return preparation.shape
