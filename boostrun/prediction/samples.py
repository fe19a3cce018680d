"""New samples for a saved model, read in pieces of bounded size: images in a folder, arrays, or a table."""

from __future__ import annotations

import dataclasses
import math
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.data.columns import array_of, as_text, typed, without
from boostrun.data.deciding import Said, Seen, form_of
from boostrun.data.files import IMAGE_ENDINGS, listing, read_picture, reading
from boostrun.data.formats import source_of
from boostrun.data.table import TableSource, columns_said
from boostrun.data.text import TextTable
from boostrun.errors import BoostrunError
from boostrun.methods.preparation import RawTable, check_finite
from boostrun.methods.saved import Saveable, takes_missing

STANDARD_INPUT = "-"
_PIECE = 1 << 24  # bytes of samples, or of the features computed from them, per piece
_ROWS = 1 << 27  # bytes of an array's rows at a time, at most
_MOST_ROWS = 1 << 15
_ARRAY_NAMES = ("x", "X", "x_test")  # the array to take from an .npz that holds several: the first of these


@dataclass
class Samples:
    """Consecutive samples.

    Attributes
    ----------
    X : (n, d) array of finite numbers, raw samples for the model; NaN where a value is missing and the model allows it.
    beside : pandas frame of n rows, or None. The columns of a table that the model does not use, unchanged, or the
        names of image files.
    """

    X: np.ndarray
    beside: Any = None


def pieces(model: Saveable, path: str, written: Mapping[str, Any] | None = None) -> Iterator[Samples]:
    """Yield the samples of a file in order, as raw samples for ``model``.

    A folder or an image file holds images, .npz and .npy hold arrays, .parquet holds a table; "-" is standard input;
    any other file is a table of text. Columns of a table are matched by name if the model knows names, else by order.
    ``written`` are keys of :class:`boostrun.data.keys.TableDatasetKeys` that say how a table is written. Raises
    BoostrunError, one sentence with the row and the column, for samples that the model cannot take.
    """
    place = Path(path).expanduser()
    table, preparation = known_table(model), model._preparation()
    width = max(model.n_features_in_, preparation.width if preparation is not None else 0)
    rows = max(1, min(_MOST_ROWS, _PIECE // (8 * width)))
    suffix, written = place.suffix.lower(), written or {}
    if path != STANDARD_INPUT and not place.exists():
        raise BoostrunError(f"no file or folder {path}")
    images = path != STANDARD_INPUT and (place.is_dir() or suffix in IMAGE_ENDINGS)
    if written and (images or suffix in (".npz", ".npy")):
        raise BoostrunError(f"dataset.{next(iter(written))} is for tables, and {path} holds no table")
    if images:
        return _from_images(place, _image_shape(model, path), rows)
    if suffix not in (".npz", ".npy"):
        source = opened(path, place, table, written)
        return _from_table(table, model.n_features_in_, source, rows, takes_missing(preparation), written)
    if table is not None and table.categories:
        text = next(iter(table.categories))
        raise BoostrunError(f"{path}: the model's column '{text}' holds text, which an array cannot hold; give a table")
    return _from_arrays(model, read_arrays(place, rows), path)


def first_rows(model: Saveable, path: str, most: int, written: Mapping[str, Any] | None = None) -> np.ndarray:
    """The first raw samples (n, d) of a file, at most ``most`` of them; see :func:`pieces`."""
    found: list[np.ndarray] = []
    for piece in pieces(model, path, written):
        found.append(piece.X[: most - sum(map(len, found))])
        if sum(map(len, found)) == most:
            break
    return np.concatenate(found)


def known_table(model: Saveable) -> RawTable | None:
    """The columns that a model knows by name, or None if it knows no names."""
    preparation = model._preparation()
    if preparation is not None and preparation.table is not None:
        return preparation.table
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(model, "_names", None) or ()  # of dicts, in the order in which they came
    return RawTable(tuple(map(str, names))) if len(names) else None


# -- images


def _from_images(place: Path, shape: tuple[int, ...], rows: int) -> Iterator[Samples]:
    """The images of a folder and its subfolders, sorted by name, or one image file; resized to ``shape``.

    Images are converted to gray if ``shape`` has no colours. Raises BoostrunError if there is no image, or if one
    cannot be read.
    """
    import pandas
    from PIL import Image

    found = [place] if place.is_file() else list(_images_below(place))
    if not found:
        raise BoostrunError(f"{place} holds no images ({', '.join(IMAGE_ENDINGS)})")
    root = place.parent if place.is_file() else place
    for start in range(0, len(found), rows):
        some = found[start : start + rows]
        X = np.empty((len(some), math.prod(shape)), np.uint8)
        for row, path in zip(X, some):
            colours = read_picture(path, (shape[0], shape[1]))
            image = colours if len(shape) == 3 else np.asarray(Image.fromarray(colours).convert("L"))
            row[:] = image.ravel()
        yield Samples(X, pandas.DataFrame({"file": [path.relative_to(root).as_posix() for path in some]}))


def _images_below(folder: Path) -> Iterator[Path]:
    for path in listing(folder):
        if path.is_dir() and not path.is_symlink():
            yield from _images_below(path)
        elif path.suffix.lower() in IMAGE_ENDINGS and path.is_file():
            yield path


def _image_shape(model: Saveable, path: str) -> tuple[int, ...]:
    preparation = model._preparation()
    if preparation is not None and not preparation.computed:
        raise BoostrunError(
            f"this model was trained on features={preparation.kind}, which a loaded model does not compute: give those "
            f"{preparation.n_features} features of each sample as .npz, not {path}"
        )
    if preparation is None or not preparation.shape:
        raise BoostrunError(
            f"{path} holds images, and the model takes {model.n_features_in_} columns: the shape of an image is not "
            "known; give an array of such columns as .npz"
        )
    return preparation.shape


# -- arrays


def _from_arrays(model: Saveable, blocks: Iterator[np.ndarray], where: str) -> Iterator[Samples]:
    """Blocks of samples as rows of the model's width; numbers must be finite."""
    start, preparation = 0, model._preparation()
    for given in blocks:
        block = given if preparation is None else preparation.flat(given)
        shape = block.shape[1:]
        if math.prod(shape) != model.n_features_in_:
            if preparation is not None:
                preparation.check_width(block)
            wanted = preparation.shape if preparation is not None and preparation.shape else (model.n_features_in_,)
            raise BoostrunError(f"{where} has samples of the shape {shape}, and the model takes {tuple(wanted)}")
        rows = block.reshape(len(block), -1)
        if rows.dtype.kind == "f":
            check_finite(rows, (), where, start, takes_missing(preparation))
        start += len(rows)
        yield Samples(rows)


def read_arrays(path: Path, rows: int) -> Iterator[np.ndarray]:
    """Yield arrays of at most ``rows`` samples, in order: tables as uint8, float32 or float64, images as uint8.

    From an .npz it takes the array "x", else "X", else "x_test", else the only one. An array in Fortran order is read
    as a whole. Raises BoostrunError for other files, pickled objects, and images that are not whole numbers up to 255.
    """
    with reading(path, "an array"), _array_bytes(path) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        if dtype.kind not in "biuf":
            raise BoostrunError(f"{path} holds values of the type {dtype}; numbers are expected")
        if len(shape) == 4 and shape[3] == 1:  # gray images as Keras stores them
            shape = shape[:3]
        if len(shape) not in (2, 3, 4) or 0 in shape[1:]:
            raise BoostrunError(f"{path} has the shape {shape}; samples are rows (n, d) or images (n, h, w[, 3])")
        if not shape[0]:
            raise BoostrunError(f"{path} holds no sample")
        row_bytes = math.prod(shape[1:]) * dtype.itemsize
        step = shape[0] if by_columns else max(1, min(rows, _ROWS // row_bytes))
        for start in range(0, shape[0], step):
            count = min(step, shape[0] - start)
            content = bytearray(file.read(count * row_bytes))  # writable, as the kernels are compiled for
            if len(content) < count * row_bytes:
                raise BoostrunError(f"{path} ends after {start + len(content) // row_bytes} of its {shape[0]} samples")
            block = np.frombuffer(content, dtype).reshape((count, *shape[1:]), order="F" if by_columns else "C")
            yield _as_loaded(block, path)


@contextmanager
def _array_bytes(path: Path) -> Iterator[Any]:
    """The bytes of the array, header first."""
    with open(path, "rb") as file:
        if not file.read(1):
            raise BoostrunError(f"{path} is empty; an array of samples is expected")
        file.seek(0)
        if path.suffix.lower() == ".npy":
            yield file
            return
        with zipfile.ZipFile(file) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            chosen = next((name for name in _ARRAY_NAMES if name in names), names[0] if len(names) == 1 else None)
            if chosen is None:
                raise BoostrunError(f"{path} has the arrays {', '.join(names) or '(none)'}; the samples are to be 'x'")
            with archive.open(f"{chosen}.npy") as member:
                yield member


def _as_loaded(block: np.ndarray, path: Path) -> np.ndarray:
    """The dtype that the same array has when it is loaded as a data set."""
    if block.dtype == np.uint8:
        return block
    if block.ndim > 2:
        if block.dtype.kind == "f" or block.min() < 0 or block.max() > 255:
            raise BoostrunError(f"{path} has images of the type {block.dtype}; whole numbers from 0 to 255 are needed")
        return block.astype(np.uint8)
    return block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)


# -- tables


def _from_table(
    table: RawTable | None, width: int, source: TableSource, rows: int, missing: bool, written: Mapping[str, Any]
) -> Iterator[Samples]:
    names, named = source.names, getattr(source, "named", True)
    if table is None or (not named and not set(table.columns) <= set(names)):
        if table is not None and not all(name.isdigit() for name in table.columns):
            raise BoostrunError(
                f"{source.where} has no line of names, and the model takes its columns by name: "
                f"{', '.join(table.columns[:12])}{', ...' if width > 12 else ''}"
            )
        if len(names) != width:
            raise BoostrunError(
                f"{source.where} has {len(names)} columns and the model, which knows no names of columns, takes {width}"
            )
        table = RawTable(tuple(names)) if table is None else table.in_order(names)
    table.check(dict.fromkeys(names), source.where)
    table, dropped = as_written(table, source, written)
    kept = [name for name in names if name not in table.columns and name not in dropped]
    start, rows = 0, max(1, min(rows, _PIECE // (64 * len(names))))
    for whole in source.pieces():
        for first in range(0, len(whole), rows):
            piece = whole.slice(first, rows)
            beside = piece.select(kept).to_pandas(types_mapper=_whole)
            yield Samples(table.numbers(piece, source.where, start, missing), beside)
            start += len(piece)
    if not start:
        raise BoostrunError(f"{source.where} holds no rows")


def _whole(kind: Any) -> Any:
    """A pandas type for whole numbers of which some may be missing; otherwise they would become doubles."""
    from pandas.api.types import pandas_dtype
    from pyarrow import types

    return pandas_dtype(str(kind).title().replace("Ui", "UI")) if types.is_integer(kind) else None


def opened(path: str, place: Path, table: RawTable | None, written: Mapping[str, Any]) -> TableSource:
    """The table at ``place``, or on standard input if ``path`` is "-", which is ``written`` as these keys say.

    The column names in the model's ``table`` help to tell a line of names from a line of values. Raises BoostrunError
    if the table is empty or cannot be read.
    """
    wanted = [name for name in table.columns if not name.isdigit()] if table is not None else []
    given = path == STANDARD_INPUT
    return source_of("standard input" if given else path, None if given else place, written, wanted=wanted)


def as_written(table: RawTable, source: TableSource, written: Mapping[str, Any]) -> tuple[RawTable, set[str]]:
    """A model's table with the forms that columns have in ``source``, as these keys say, and the columns to leave out.

    Raises BoostrunError for a column that is not there, and for a kind of values that the model does not take.
    """
    if written.get("na") is not None:
        table = dataclasses.replace(table, missing=("", *written["na"]))
    dropped, types = columns_said(source, "", written)
    if taken := next((name for name in table.columns if name in dropped), ""):
        raise BoostrunError(f"dataset.drop leaves out '{taken}', which the model takes")
    said = Said(decimal=written.get("decimal"))
    numbers = [name for name in table.columns if said.decimal and table.form(name).kind == "number"]
    forms = dict(table.forms)
    for name in dict.fromkeys([*numbers, *(name for name in types if name in table.columns)]):
        kind, taken = types.get(name), table.form(name).kind
        if kind is not None and kind.partition("_")[0] != taken:
            raise BoostrunError(f"dataset.types says that '{name}' is a {kind}, and the model takes a {taken}")
        if taken != "category" and (words := first_words(source, name, table.missing)):
            seen = Seen({word: (1, row) for row, word in enumerate(words)}, len(words))
            forms[name] = form_of(name, source.where, seen, said._replace(kind=kind or taken))
    points = isinstance(source, TextTable) and source.layout.separator == ","
    return dataclasses.replace(table, forms=forms, plain=not (numbers or types), points=points), dropped


def first_words(source: TableSource, name: str, missing: Collection[str]) -> list[str]:
    """The texts in a column's first rows that are no missing values; none if it holds no text."""
    if isinstance(source, TextTable):
        return [word for word in source.sample()[name] if word not in missing]
    column = array_of(next(iter(source.pieces())), name)
    return [] if typed(column) is not None else without(as_text(column), [*missing]).drop_null().to_pylist()
