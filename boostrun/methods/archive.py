"""Saved models as named arrays in an .npz file, without pickle, and the tables that say what the arrays must be.

A table of :class:`Array` gives the dtype, shape, range and order of each array of one kind of file. :func:`load` checks
a file against its table before anything else uses it: compiled code trusts its arrays, so an index out of range would
read foreign memory. In the tables d counts the columns that a model takes, C the classes, and ``rows`` the rows of
scores: 1 for two classes, else one for each class.
"""

from __future__ import annotations

import fnmatch
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.files import as_npz, replacing, sweep
from boostrun.methods.declaration import obtain

_MOST_BYTES = 1 << 26  # that the arrays of a small file may take; those of a larger file may take its size
_LARGEST_CODE = 0x10FFFF  # of a character
_KINDS = {"text": "U", "number": "biuf", "label": "biufU", "float": "f"}  # dtypes in words -> kinds that they allow


class Damaged(ValueError):
    """An array differs from its table; the message is one sentence with its name."""


@dataclass(frozen=True)
class Array:
    """The rules for one array of a file.

    Attributes
    ----------
    dtype : the dtype that it is converted to, from numbers of the same kind of any size and byte order. "text",
        "number", "label" and "float" (32 or 64 bits) keep the dtype of the file, "" keeps any.
    shape : sizes, "rows T" or "n 2"; a name is one size throughout the file, "_" any size, "..." at the end any more
        axes; "" is a single value.
    least, below : the range of the numbers, from ``least`` to under ``below``, which may be a named size.
    values : "finite"; "summable", if the sum of absolute values is finite too; "infinite", if infinity is allowed; or
        "any".
    order : "", or, along the last axis, "rising" (equal values allowed) or "different" (rising without equal values).
    optional : whether it may be missing.
    """

    dtype: str
    shape: str = ""
    least: float | None = None
    below: float | str | None = None
    values: str = "finite"
    order: str = ""
    optional: bool = False


Arrays = Mapping[str, np.ndarray]
Layout = Mapping[str, Array] | Callable[[Arrays, dict[str, int]], dict[str, np.ndarray]]
"""A table of arrays by name, or ``function(arrays, sizes) -> arrays`` that checks one with :func:`fitted`."""

# arrays beside a model of any kind, see boostrun.methods.saved
_BESIDE = {
    "classes": Array("label", "C", optional=True),
    "n_features_in": Array("int64", "", least=1, below=2**31, optional=True),
    "facts": Array("text", "", optional=True),
    "column_names": Array("text", "_", optional=True),
}
# how raw samples become the model's, see boostrun.methods.preparation: first for all kinds, then by kind
_INPUT = {
    "input_kind": Array("text"),
    "input_shape": Array("int64", "_", least=1, below=2**31, optional=True),
    "input_table": Array("text", "", optional=True),
}
_INPUTS = {
    "pixels": {},
    "edges": {"input_edges": Array("float", "d E", values="infinite", order="rising")},
    "scaled": {"input_shift": Array("float64", "d"), "input_factor": Array("float64", "d")},
    "projected": {"input_mean": Array("float64", "columns"), "input_axes": Array("float64", "columns d")},
    "templates": {
        "input_filters": Array("float32", "filters side side"),
        "input_masks": Array("float32", "masks _ _"),
        "input_maxima": Array("float32", "d"),
        "input_edges": Array("float", "E", values="infinite", order="rising"),
    },
}
_PIPELINE = {  # any other kind
    "input_columns": Array("int64", "used", least=0, below="d", order="different", optional=True),
    "input_edges": Array("float", "used E", values="infinite", order="rising", optional=True),
    "input_options": Array("text", "", optional=True),
    "input_values": Array("bool", "", optional=True),
}
_MISSING = {  # of a table with missing values: m of its raw columns, which have further columns at the end
    "input_missing": Array("int64", "m", least=0, below="raw", order="different", optional=True),
    "input_means": Array("float64", "raw", optional=True),
}
_ALL_COLUMNS = {"edges": "d", "scaled": "d", "projected": "columns"}  # kind of table -> size of raw and further columns
_MOST_EDGES = 255  # a code is a byte
_LARGEST_SAMPLE = 2**31  # numbers in an image


def save(path: str | Path, kind: str, arrays: Arrays) -> Path:
    """Write an .npz file of ``kind`` completely or not at all, and return its path; ``.npz`` is added if it lacks.

    A device or a pipe is written to directly. Raises BoostrunError if it cannot be written.
    """
    path = as_npz(Path(path))
    try:
        sweep(path.parent)
        with replacing(path) as file:
            np.savez(file, format=np.array(json.dumps(kind)), **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise BoostrunError(f"cannot write the ensemble to {path}: {error.strerror or error}") from None
    return path


def load(
    path: str | Path, kind: str, fields: tuple[str, ...], layout: Layout | None = None
) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """The arrays ``fields`` that :func:`save` wrote as ``kind``, and all other arrays by name.

    All are checked against ``layout``, or the one that a paper declares for this kind. Never unpickles, and takes no
    more memory than the file's size, or 64 MiB. Raises BoostrunError, one sentence with the file and the array, if
    there is no such file, it is of another kind, or it is damaged.
    """
    try:
        arrays = _read(path)
        if json.loads(str(arrays.pop("format"))) != kind:
            raise ValueError("unknown format")
        arrays = checked(arrays, _declared(kind) if layout is None else layout)
        missing = [name for name in fields if name not in arrays]
        if missing:
            raise ValueError(f"it has no {missing[0]}")
        return [arrays.pop(name) for name in fields], arrays
    except FileNotFoundError:
        raise BoostrunError(f"no ensemble at {path}") from None
    except Exception as error:  # a damaged archive raises a dozen types
        raise _refused(path, error) from None


def kind_of(path: str | Path) -> str:
    """The kind that :func:`save` wrote into a file; raises BoostrunError if there is no such file, or it has none."""
    try:
        return str(json.loads(str(_read(path, ("format",))["format"])))
    except FileNotFoundError:
        raise BoostrunError(f"no ensemble at {path}") from None
    except Exception as error:
        raise _refused(path, error) from None


def text_of(path: str | Path, name: str) -> str:
    """One text of a file, "" if it has none of this name; raises as :func:`kind_of`."""
    kind_of(path)
    try:
        return str(_read(path, (name,)).get(name, ""))
    except Exception as error:
        raise _refused(path, error) from None


def _refused(path: str | Path, error: Exception) -> BoostrunError:
    said = " ".join(str(error).split())[:300] or type(error).__name__
    return BoostrunError(f"{path} is not an ensemble saved by boostrun ({said})")


def _read(path: str | Path, wanted: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
    """All arrays of an .npz file, or those ``wanted``; sizes in headers are checked before memory is taken."""
    arrays: dict[str, np.ndarray] = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        most = max(_MOST_BYTES, os.path.getsize(path))
        if sum(member.file_size for member in members) > most:
            raise ValueError(f"its arrays would take more than {most >> 20} MiB")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise ValueError(f"it has {name} twice")
            if wanted is None or name in wanted:
                arrays[name] = _array(archive, member, name)
    return arrays


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> np.ndarray:
    """One array, in the machine's byte order."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ValueError(f"{name} is an array of the unknown version {version}")
        shape, by_columns, dtype = readers[version](file)
        if dtype.hasobject or dtype.names or not dtype.itemsize or dtype.kind not in "biufcUS":
            raise ValueError(f"{name} is of {dtype}: neither numbers nor text")
        claimed, there = math.prod(shape) * dtype.itemsize, member.file_size - file.tell()
        if min(shape, default=0) < 0 or claimed != there:
            raise ValueError(f"{name} claims the shape {shape} of {dtype}, and has {there} bytes")
        array = np.frombuffer(bytearray(file.read(there)), dtype)
    array = array.astype(dtype.newbyteorder("="), copy=False)
    if dtype.kind == "U" and array.size and array.view(np.uint32).max() > _LARGEST_CODE:
        raise ValueError(f"{name} holds what is no text")
    return array.reshape(shape, order="F" if by_columns else "C")


def _declared(kind: str) -> Layout:
    from boostrun.config import catalogue

    model = catalogue.models().get(kind)
    return obtain(model.layout) if model is not None and model.layout else {}


def checked(arrays: Arrays, layout: Layout) -> dict[str, np.ndarray]:
    """The arrays of a file of any kind in the dtypes of their tables; raises :class:`Damaged` if one is malformed."""
    sizes: dict[str, int] = {}
    out = fitted(_BESIDE, arrays, sizes)
    if "n_features_in" in out:
        sizes["d"] = int(out["n_features_in"])
    if any(name.startswith("input_") for name in out):
        out = _inputs(out, sizes)
    out = layout(out, sizes) if callable(layout) else fitted(layout, out, sizes)
    rows, classes = sizes.get("rows"), sizes.get("C")
    wrong = classes is not None and rows is not None and (
        classes < 2 or rows > classes or (rows == 1) != (classes == 2)
    )
    if wrong or rows == 0:
        raise Damaged(f"it has scores for {rows} problems and {classes} classes")
    return out


def _inputs(arrays: Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    out = fitted(_INPUT, arrays, sizes)
    kind = str(out["input_kind"])
    out = fitted(_INPUTS.get(kind, _PIPELINE), out, sizes)
    if sizes.get("E", 1) not in range(1, _MOST_EDGES + 1):
        raise Damaged(f"input_edges has {sizes['E']} edges a column: a code is a byte")
    if kind not in _INPUTS and ("input_edges" in out) != ("input_columns" in out):
        raise Damaged("it has input_edges or input_columns, not both")
    shape = [int(size) for size in out.get("input_shape", np.ones(2))]
    if len(shape) not in (2, 3) or list(accumulate(shape, int.__mul__))[-1] >= _LARGEST_SAMPLE:
        raise Damaged(f"input_shape is {shape}, which is no image")
    given = [name for name in _MISSING if name in out]
    if given:
        needed = [] if kind not in _ALL_COLUMNS else ["input_missing"] if kind == "edges" else [*_MISSING]
        if given != needed:
            raise Damaged(f"it has {', '.join(given)}; features={kind} need {', '.join(needed) or 'none of them'}")
        raw = sizes[_ALL_COLUMNS[kind]] - out["input_missing"].size
        if raw < 1:
            raise Damaged(f"input_missing has {out['input_missing'].size} columns, which leaves {raw} raw columns")
        out = fitted(_MISSING, out, {"raw": raw})
    made = sizes.get("filters", 0) * sizes.get("masks", 0)
    if kind == "templates" and made != sizes["d"]:
        raise Damaged(f"input_masks and input_filters make {made} features, not {sizes['d']}")
    return out


def fitted(layout: Mapping[str, Array], arrays: Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """``arrays`` in the dtypes of ``layout``, checked; arrays that it does not name are returned unchanged.

    ``sizes`` holds the named sizes that are known, and those of the arrays are added. A name with ``*`` stands for all
    names that match. Raises Damaged with one sentence for the first array that is malformed.

    >>> layout = {"features": Array("int32", "T", least=0, below="d"), "steps": Array("float64", "T")}
    >>> arrays = {"features": np.array([0, 7]), "steps": np.array([0.5, 1.0])}
    >>> fitted(layout, arrays, {"d": 8})["features"].dtype
    dtype('int32')
    >>> fitted(layout, arrays, {"d": 7})
    Traceback (most recent call last):
    boostrun.methods.archive.Damaged: features holds 7, which is not below d = 7
    """
    out, found = dict(arrays), []
    for pattern, array in layout.items():
        names = fnmatch.filter(arrays, pattern) if "*" in pattern else [pattern] if pattern in arrays else []
        if not names and not array.optional:
            raise Damaged(f"it has no {pattern}")
        found += [(name, array) for name in names]
    for name, array in found:
        out[name] = converted(name, array.dtype, arrays[name])
        _bind(name, array, out[name].shape, sizes)
    for name, array in found:  # all sizes are known now
        if out[name].dtype.kind in "biuf":
            _check_values(name, array, out[name], sizes)
    return out


def converted(name: str, dtype: str, found: np.ndarray) -> np.ndarray:
    """An array of a file in C order in the dtype that :class:`Array` describes, without loss; else raises Damaged."""
    kinds = _KINDS.get(dtype)
    if kinds is not None:
        if found.dtype.kind not in kinds or (found.dtype.kind == "f" and found.dtype.itemsize not in (4, 8)):
            raise Damaged(f"{name} is of {found.dtype} where {dtype} is needed")
        return found
    wanted = np.dtype(dtype) if dtype else found.dtype
    alike = found.dtype.kind == wanted.kind or {found.dtype.kind, wanted.kind} == {"i", "u"}
    if not alike or found.dtype.itemsize > 8:
        raise Damaged(f"{name} is of {found.dtype} where {wanted} is needed")
    if wanted.kind in "iu" and found.size:
        for value in (int(found.min()), int(found.max())):
            if not np.iinfo(wanted).min <= value <= np.iinfo(wanted).max:
                raise Damaged(f"{name} holds {value}, which is no {wanted}")
    return found.astype(wanted, order="C")


def _bind(name: str, array: Array, shape: tuple[int, ...], sizes: dict[str, int]) -> None:
    words = array.shape.split()
    further = words[-1:] == ["..."]
    words = words[:-1] if further else words
    if len(shape) < len(words) or (len(shape) > len(words) and not further):
        raise Damaged(f"{name} has the shape {shape} where ({', '.join(array.shape.split())}) is needed")
    for word, size in zip(words, shape):
        known = int(word) if word.isdigit() else size if word == "_" else sizes.setdefault(word, size)
        if known != size:
            what = word if word.isdigit() else f"{word} = {known}"
            raise Damaged(f"{name} has the shape {shape} where {what} is needed")


def _check_values(name: str, array: Array, found: np.ndarray, sizes: Mapping[str, int]) -> None:
    if array.values == "any" or not found.size:
        return
    if found.dtype.kind == "f":
        if np.isnan(found).any():
            raise Damaged(f"{name} holds NaN")
        if array.values != "infinite" and np.isinf(found).any():
            raise Damaged(f"{name} holds infinity")
        with np.errstate(over="ignore"):
            if array.values == "summable" and not np.isfinite(np.abs(found).sum()):
                raise Damaged(f"{name} adds up to infinity")
    if array.least is not None and found.min() < array.least:
        raise Damaged(f"{name} holds {found.min()}, which is less than {array.least:g}")
    below = sizes.get(array.below) if isinstance(array.below, str) else array.below
    if below is not None and found.max() >= below:
        named = f"{array.below} = " if isinstance(array.below, str) else ""
        raise Damaged(f"{name} holds {found.max()}, which is not below {named}{below}")
    if array.order:
        first, second = found[..., :-1], found[..., 1:]
        if not (first <= second if array.order == "rising" else first < second).all():
            raise Damaged(f"{name} is not in rising order")


def check_features(features: np.ndarray, width: int, *beside: np.ndarray) -> None:
    """Raise BoostrunError unless ``features`` are among ``width`` columns, and arrays ``beside`` have as many rows.

    Compiled loops index by them unchecked. Cost O(K T).

    >>> check_features(np.array([0, 5]), 4)
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: the model looks at feature 5 of samples that have 4
    """
    for array in beside:
        if array.shape[: features.ndim] != features.shape:
            raise BoostrunError(f"the model has features of the shape {features.shape} beside an array {array.shape}")
    if features.size and not (features.min() >= 0 and features.max() < width):
        odd = features.max() if features.min() >= 0 else features.min()
        raise BoostrunError(f"the model looks at feature {odd} of samples that have {width}")
