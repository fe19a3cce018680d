"""Piece-wise linear predictors in C."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.export.c import block, reading, table, told
from boostrun.export.parts import GIVEN, IN_UNITS, ProgramParts, Saved
from boostrun.export.parts import kind_of_input as kind_of

_PROJECT = """
    static void project(const double *x, double *v)
    {
        for (int a = 0; a < @D@; a++)
            v[a] = 0.0;
        for (int i = 0; i < @d@; i++) {
            const double centred = @x@ - mean[i];
            for (int a = 0; a < @D@; a++)
                v[a] += centred * axes[i][a];
        }
    }
"""
_SCALE = """
    static void project(const double *x, double *v)
    {
        for (int a = 0; a < @D@; a++)
            v[a] = (@x@ - mean[a]) * axes[a];
    }
"""
_PIECE_SCORES = """
    void scores(const double *x, double *out)
    {
        double v[@D@];
        project(x, v);
        for (int k = 0; k < @k@; k++)
            out[k] = base[k];
        for (int j = 0; j < @J@; j++) {
            double distance = 0.0;
            for (int a = 0; a < @D@; a++)
                distance += (v[a] - anchor[j][a]) * (v[a] - anchor[j][a]);
            if (distance >= squared_radius[j])
                continue;
            for (int a = 0; a < @D@; a++)
                for (int k = 0; k < @k@; k++)
                    out[k] += weight[j][a][k] * v[a];
            for (int k = 0; k < @k@; k++)
                out[k] += weight[j][@D@][k];
        }
    }
"""


def c_pieces(saved: Saved) -> ProgramParts:
    """The C of SharedFeatures of the kind "pieces", at the end of its path."""
    model = saved.model
    if model.n_rounds == 0:
        raise BoostrunError("the model holds no piece: there is nothing to export")
    projected = kind_of(saved.inputs, ("projected",))
    mean, axes = ((saved.inputs if projected else model.features)[name] for name in ("mean", "axes"))
    d, width = axes.shape
    diagonal = d == width and np.count_nonzero(axes - np.diag(np.diag(axes))) == 0
    pieces, k = len(model.features["anchor"]), model.n_classes
    tables = [
        table("mean", mean), table("axes", np.diag(axes) if diagonal else axes),
        table("anchor", model.features["anchor"]), table("squared_radius", np.square(model.features["radius"])),
        table("base", np.zeros(k)), table("weight", model.path[-1].reshape(pieces, width + 1, k)),
    ]  # fmt: skip
    projecting = width if diagonal else d * width
    counted = int(model.multiply_adds[-1])
    read = reading(saved, "double", d)
    words = {"d": d, "D": width, "k": k, "J": pieces, "x": read.value.format("a" if diagonal else "i")}
    projection = block(_SCALE if diagonal else _PROJECT, **words)
    return ProgramParts(
        what=f"{pieces} pieces with a linear map each, shared by {k} classes",
        x_type="double",
        x_size=read.size,
        x_text=told(saved, IN_UNITS if projected else GIVEN),
        n_scores=k,
        code="\n\n".join([*tables, *read.tables, projection, block(_PIECE_SCORES, **words)]),
        counted=counted,
        runs=counted + projecting,
        notes=f"{projecting} of them for the projection, which the count leaves out; pieces that x is not in cost "
        f"{width} in place of {width + (width + 1) * k}",
    )
