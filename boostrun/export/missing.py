"""Missing values, NaN, in what a predictor is given: the columns that a model takes of them, in C and in ONNX.

See :mod:`boostrun.data.missing` for what they are. A model that has seen no missing value in training takes finite
numbers here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .operators import Operators, X
from .saved import Saved
from .text import block, table

_FLOAT64 = 11  # TensorProto.DOUBLE
_CODES = """
    /* A column as the model counts them: NaN, missing, is below all numbers, and above them in the copies. */
    static @type@ given(const @type@ *x, int column)
    {
        const @type@ value = x[column < @d@ ? column : missing[column - @d@]];
        return value == value ? value : column < @d@ ? -INFINITY : INFINITY;
    }
"""
_NUMBERS = """
    /* A column as the model counts them: means for NaN, missing, and at the end 1 where a column is. */
    static @type@ given(const @type@ *x, int column)
    {
        const @type@ value = x[column < @d@ ? column : missing[column - @d@]];
        if (column >= @d@)
            return value != value;
        return value == value ? value : filling[column];
    }
"""


class Reading(NamedTuple):
    """How C reads what a model takes.

    Attributes: ``tables``, pieces of C that come first, none where x is read as it is; ``value``, C of a column, to be
    formatted with its number; ``size``, length of x.
    """

    tables: list[str]
    value: str
    size: int


def missing_of(saved: Saved) -> np.ndarray:
    """(m,) the columns of raw samples that the model has further columns of."""
    return saved.inputs.get("missing", np.empty(0, np.int64)) if saved.inputs else np.empty(0, np.int64)


def size_of(saved: Saved) -> int:
    """Columns of a raw sample, for a model that takes one column of each, and further ones for missing values."""
    return saved.n_features - len(missing_of(saved))


def reading(saved: Saved, x_type: str, width: int | None = None) -> Reading:
    """How C reads the columns of a model whose x is of ``x_type``; ``width``, columns before any projection."""
    missing = missing_of(saved)
    size = (saved.n_features if width is None else width) - len(missing)
    if not len(missing):
        return Reading([], "x[{}]", size)
    tables = [table("missing", missing)]
    if "means" in saved.inputs:
        tables.append(table("filling", saved.inputs["means"]))
    template = _NUMBERS if "means" in saved.inputs else _CODES
    return Reading([*tables, block(template, type=x_type, d=size)], "given(x, {})", size)


def columns_of(operators: Operators, saved: Saved, x_type: np.dtype) -> str:
    """The name of X (n, width) with the columns that the model takes."""
    missing = missing_of(saved)
    if not len(missing):
        return X
    unknown = operators.add("IsNaN", X)
    some = operators.add("Gather", unknown, missing, axis=1)
    if "means" in saved.inputs:
        first = operators.add("Where", unknown, saved.inputs["means"].astype(x_type), X)
        return operators.add("Concat", first, operators.add("Cast", some, to=_FLOAT64), axis=1)
    first = operators.add("Where", unknown, np.array(-np.inf, x_type), X)
    copies = operators.add("Gather", X, missing, axis=1)
    copies = operators.add("Where", some, np.array(np.inf, x_type), copies)
    return operators.add("Concat", first, copies, axis=1)


def told(saved: Saved, text: str) -> str:
    """``text`` about x, with what NaN is."""
    more = ", or NaN where one is missing" if len(missing_of(saved)) else ""
    return text.replace("finite numbers", f"finite numbers{more}")
