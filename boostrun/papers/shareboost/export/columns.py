"""Features that are each computed from one or two attributes, in C."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.export.c import block, reading, table, told
from boostrun.export.parts import GIVEN, IN_UNITS, PIXELS, UNITS, Saved, thresholds_of
from boostrun.export.parts import kind_of_input as kind_of

CODE_OF = block("""
    /* How many of the ascending edges are not above the value. */
    static int code_of(float value, const float *edges, int count)
    {
        int low = 0, high = count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (edges[middle] <= value)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
""")
_COLUMN = r"x\[(column(?:\[\w+\])+)\]"  # of what the model takes, in C
_COMPUTE_COLUMNS = """
    static void compute(const @type@ *x, double *value)
    {
        for (int r = 0; r < @u@; r++)
            value[r] = @value@;
    }
"""


@dataclass
class Columns:
    """C that computes features: ``static void compute(const x_type *x, double *value)``.

    Attributes: ``what``, ``x_type``, ``x_size``, ``x_text`` and ``notes`` as in :class:`ProgramParts`; ``code``;
    ``runs``, multiply-adds of all features; ``factor`` (U,), what each value has still to be multiplied by.
    """

    what: str
    x_type: str
    x_size: int
    x_text: str
    code: str
    factor: np.ndarray
    runs: int
    notes: str


def c_columns(kind: str, features: Mapping[str, np.ndarray], saved: Saved) -> Columns:
    """The C of features that :mod:`boostrun.papers.shareboost.model` calls columns, codes, stumps or products."""
    makers = {"columns": _c_attributes, "codes": _c_codes, "stumps": _c_stumps, "products": _c_products}
    if kind not in makers:
        raise BoostrunError(f"features of the kind '{kind}' cannot be exported ({', '.join(makers)}, pieces can)")
    return makers[kind](features, saved)


def _make_columns(x_type: str, text: str, saved: Saved, tables, value: str, count: int, **rest) -> Columns:
    read = reading(saved, x_type)
    body = block(
        _COMPUTE_COLUMNS, type=x_type, u=count, value=re.sub(_COLUMN, lambda one: read.value.format(one[1]), value)
    )
    code = "\n\n".join([*tables, *read.tables, body])
    return Columns(x_type=x_type, x_size=read.size, x_text=told(saved, text), code=code, **rest)


def _c_attributes(features, saved) -> Columns:
    index = features["index"]
    tables, value, text, runs = [table("column", index)], "x[column[r]]", GIVEN, 0
    notes = "attributes are used as they are"
    if kind_of(saved.inputs, ("scaled",)):
        tables += [table(name, saved.inputs[name][index]) for name in ("shift", "factor")]
        value, text, runs = "(x[column[r]] - shift[r]) * factor[r]", IN_UNITS, len(index)
        notes = f"{runs} for scaling attributes, which the count leaves out"
    return _make_columns(
        "double", text, saved, tables, value, len(index), what="attributes", factor=np.ones(len(index)), runs=runs,
        notes=notes,
    )  # fmt: skip


def _c_codes(features, saved) -> Columns:
    index = features["index"]
    rest = {"factor": np.full(len(index), 1 / 255), "runs": 0, "what": "codes divided by 255"}
    column = table("column", index)
    if kind_of(saved.inputs, ("pixels", "edges")) != "edges":
        return _make_columns(
            "unsigned char", PIXELS, saved, [column], "x[column[r]]", len(index), **rest,
            notes="1/255 is part of the weights",
        )  # fmt: skip
    edges = saved.inputs["edges"][index]
    tables = [column, table("edge", edges), CODE_OF]
    value = f"code_of(x[column[r]], edge[r], {edges.shape[1]})"
    return _make_columns(
        "float", IN_UNITS, saved, tables, value, len(index), **rest,
        notes="1/255 is part of the weights; a code is found by 8 comparisons, which are not counted",
    )  # fmt: skip


def _c_stumps(features, saved) -> Columns:
    index = features["index"]
    x_type, thresholds = thresholds_of(saved.inputs, index, features["threshold"])
    return _make_columns(
        x_type, UNITS[x_type], saved, [table("column", index), table("threshold", thresholds)],
        "x[column[r]] >= threshold[r] ? 1.0 : -1.0", len(index), what="thresholds of attributes",
        factor=np.ones(len(index)), runs=0, notes="a comparison for each feature is not counted",
    )  # fmt: skip


def _c_products(features, saved) -> Columns:
    pair = features["pair"]
    tables = [table("column", pair)]
    tables += [table(name, features[name]) for name in ("slope", "offset")]
    attribute, text, runs, notes = "x[column[r][{0}]]", GIVEN, 3 * len(pair), "3 for each product"
    if kind_of(saved.inputs, ("scaled",)):
        tables += [table(name, saved.inputs[name][pair]) for name in ("shift", "factor")]
        attribute = "(x[column[r][{0}]] - shift[r][{0}]) * factor[r][{0}]"
        text, runs = IN_UNITS, 5 * len(pair)
        notes = "5 for each product: the count has 3 and leaves the scaling to the training range out"
    sides = [f"(slope[r][{side}] * ({attribute.format(side)}) + offset[r][{side}])" for side in (0, 1)]
    return _make_columns(
        "double", text, saved, tables, f"\n                {sides[0]}\n                * {sides[1]}", len(pair),
        what="products of two attributes", factor=features["scale"], runs=runs, notes=notes,
    )  # fmt: skip
