"""Patch templates under masks in C: only chosen templates, only cells where a mask is not 0, equal patches once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.export.c import block, table
from boostrun.papers.shareboost.export.columns import CODE_OF, Columns
from boostrun.papers.shareboost.model import cost_with_patches_once, template_costs

_RESPOND = """
    /* A filter's products with the windows that begin at `count` neighbouring pixels. */
    static void respond(const float *image, const float *filter, int count, float *restrict out)
    {
        for (int j = 0; j < count; j++)
            out[j] = 0.0f;
        for (int a = 0; a < @side@; a++, filter += @side@, image += @columns@)
            for (int j = 0; j < count; j++)
                out[j] += @row@;
    }
"""
_COMPUTE = """
    static void compute(const unsigned char *x, double *value)
    {
        float image[@pixels@], response[@cells@];
        for (int i = 0; i < @pixels@; i++)
            image[i] = (float)x[i] * (1.0f / 255.0f);
        for (int f = 0; f < @filters@; f++) {
            for (int i = filter_begin[f]; i < filter_begin[f + 1]; i++) {
                const int row = filter_run[i][0], column = filter_run[i][1], count = filter_run[i][2];
                respond(image + row * @columns@ + column, filter[f], count, response + row * @across@ + column);
            }
            for (int t = template_begin[f]; t < template_begin[f + 1]; t++) {
                const int m = template_mask[t];
                float best[@across@] = {0.0f}, largest = 0.0f;
                for (int i = mask_begin[m]; i < mask_begin[m + 1]; i++) {
                    const int column = mask_run[i][1], first = mask_run[i][0] * @across@ + column;
                    for (int j = 0; j < mask_run[i][2]; j++) {
                        const float masked = response[first + j] * mask[m][first + j];
                        best[column + j] = masked > best[column + j] ? masked : best[column + j];
                    }
                }
                for (int j = 0; j < @across@; j++)
                    largest = best[j] > largest ? best[j] : largest;
                value[template_place[t]] = code_of(largest * template_factor[t], edge, @edges@);
            }
        }
    }
"""


def find_runs(cells: np.ndarray) -> np.ndarray:
    """(runs, 3) int64: row, first column and length of each run of neighbouring True ``cells`` (h, w).

    >>> find_runs(np.array([[True, True, False], [False, False, True]])).tolist()
    [[0, 0, 2], [1, 2, 1]]
    """
    framed = np.pad(cells.astype(np.int64), ((0, 0), (1, 1)))
    steps = np.diff(framed, axis=1)
    rows, first = np.nonzero(steps == 1)
    _, after = np.nonzero(steps == -1)
    return np.column_stack([rows, first, after - first])


def template_columns(inputs: Mapping[str, np.ndarray], chosen: np.ndarray) -> Columns:
    """The C of the features ``chosen``, numbered as the bank numbers them; values are codes from 0 to 255."""
    count, side = inputs["filters"].shape[:2]
    down, across = inputs["masks"].shape[1:]
    rows, columns = down + side - 1, across + side - 1
    mask_of, filter_of = np.divmod(chosen, count)
    filters, which = np.unique(filter_of, return_inverse=True)
    masks, under = np.unique(mask_of, return_inverse=True)
    support = inputs["masks"][masks] > 0
    order = np.lexsort((under, which))
    unions = [find_runs(support[under[which == f]].any(axis=0)) for f in range(len(filters))]
    own = [find_runs(cells) for cells in support]
    maxima = inputs["maxima"][chosen]
    factor = np.divide(1, maxima, out=np.zeros_like(maxima), where=maxima > 0)
    tables = [
        table("filter", inputs["filters"][filters].reshape(len(filters), -1)),
        table("filter_begin", _starts(unions)), table("filter_run", np.concatenate(unions)),
        table("mask", inputs["masks"][masks].reshape(len(masks), -1)),
        table("mask_begin", _starts(own)), table("mask_run", np.concatenate(own)),
        table("template_begin", np.searchsorted(which[order], np.arange(len(filters) + 1))),
        table("template_mask", under[order]), table("template_place", order), table("template_factor", factor[order]),
        table("edge", inputs["edges"]),
    ]  # fmt: skip
    sizes = {"side": side, "columns": columns, "across": across}
    row = "\n                    + ".join(f"filter[{b}] * image[j + {b}]" for b in range(side))
    functions = [CODE_OF, block(_RESPOND, row=row, **sizes)]
    functions.append(block(
        _COMPUTE, pixels=rows * columns, cells=down * across, filters=len(filters), edges=len(inputs["edges"]), **sizes
    ))  # fmt: skip
    once = cost_with_patches_once(inputs, chosen)
    return Columns(
        what=f"largest responses of {len(filters)} patches of {side} x {side} pixels under {len(masks)} masks",
        x_type="unsigned char",
        x_size=rows * columns,
        x_text=f"the pixels of a grey image of {rows} x {columns}, from 0 to 255, row by row",
        code="\n\n".join([*tables, *functions]),
        factor=np.full(len(chosen), 1 / 255),
        runs=once,
        notes=f"{once} for responses under masks, each patch's response at a cell computed once for all masks that it "
        f"is chosen under ({int(template_costs(inputs)[chosen].sum())} when each template computes its own, "
        "which is what is counted); cells where a mask is 0 are never looked at; responses are single precision, as in "
        "training, and one within rounding of the edge between two codes may get the other code",
    )


def _starts(runs: list[np.ndarray]) -> np.ndarray:
    return np.cumsum([0, *map(len, runs)])
