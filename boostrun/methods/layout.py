"""What the arrays of a saved file must be, said once: types, shapes in named dimensions, ranges, order.

A table of :class:`Array` says it for every kind of file (:mod:`boostrun.methods.saved_layouts`);
:func:`boostrun.methods.archive.load` asks :func:`fitted` before anything else sees what a file holds. Compiled code
trusts its arrays, so that an index beyond them would be answered from foreign memory.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from boostrun.errors import BoostrunError

_KINDS = {"text": "U", "number": "biuf", "label": "biufU", "float": "f"}  # of arrays that keep the dtype they have


class Damaged(ValueError):
    """One sentence about what an array is, and what it should be."""


@dataclass(frozen=True)
class Array:
    """One array of a file.

    Attributes
    ----------
    dtype : what it becomes, from numbers of the same kind of any size and byte order; or "text", "number", "label" and
        "float" (32 or 64 bits), which keep theirs.
    shape : sizes in words, "K T" or "n 2"; a name stands for one size throughout the file, "_" for any; "..." at the
        end for any further ones; "" for a single value.
    least, below : where numbers lie, from the first to below the second, which may be a named size.
    values : "finite"; "infinite", where infinity is meant; or "any", where nothing depends on them.
    order : "" or, along the last axis, "rising" (equals allowed) or "different" (no equals).
    optional : whether it may be missing.
    """

    dtype: str
    shape: str = ""
    least: float | None = None
    below: float | str | None = None
    values: str = "finite"
    order: str = ""
    optional: bool = False


def fitted(
    layout: Mapping[str, Array], arrays: Mapping[str, np.ndarray], sizes: dict[str, int]
) -> dict[str, np.ndarray]:
    """``arrays`` as ``layout`` has them: those that it names checked and of its dtypes, the others as they are.

    ``sizes`` are the named sizes known so far, and get those that are met. A name with ``*`` stands for all that match.
    Raises Damaged with one sentence for the first that is not as it should be.

    >>> layout = {"features": Array("int32", "T", least=0, below="d"), "steps": Array("float64", "T")}
    >>> arrays = {"features": np.array([0, 7]), "steps": np.array([0.5, 1.0])}
    >>> fitted(layout, arrays, {"d": 8})["features"].dtype
    dtype('int32')
    >>> fitted(layout, arrays, {"d": 7})
    Traceback (most recent call last):
    boostrun.methods.layout.Damaged: features holds 7, which is not below d = 7
    """
    out, found = dict(arrays), []
    for pattern, array in layout.items():
        names = fnmatch.filter(arrays, pattern) if "*" in pattern else [pattern] if pattern in arrays else []
        if not names and not array.optional:
            raise Damaged(f"it has no {pattern}")
        found += [(name, array) for name in names]
    for name, array in found:
        out[name] = _typed(name, array, arrays[name])
        _bind(name, array, out[name].shape, sizes)
    for name, array in found:  # all sizes are known now
        if out[name].dtype.kind in "biuf":
            _check_values(name, array, out[name], sizes)
    return out


def _typed(name: str, array: Array, found: np.ndarray) -> np.ndarray:
    kinds = _KINDS.get(array.dtype)
    if kinds is not None:
        if found.dtype.kind not in kinds or (found.dtype.kind == "f" and found.dtype.itemsize not in (4, 8)):
            raise Damaged(f"{name} is of {found.dtype} where {array.dtype} is needed")
        return found
    wanted = np.dtype(array.dtype)
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
        if array.values == "finite" and np.isinf(found).any():
            raise Damaged(f"{name} holds infinity")
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
    """BoostrunError where ``features`` are not among ``width`` columns, or arrays ``beside`` have fewer rows.

    Compiled loops index by them without a look. Cost O(K T).

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
