"""Sums of trees in C, a row of trees a class, added in the order that Python adds them."""

from __future__ import annotations

import numpy as np

from .inputs import UNITS, thresholds_of
from .missing import reading, told
from .parts import ProgramParts
from .saved import Saved
from .text import block, table

_SCORES = """
    void scores(const @type@ *x, double *out)
    {
        for (int k = 0; k < @k@; k++) {
            double sum = 0.0;
            for (int t = 0; t < @rounds@; t++) {
                int node = 0;
                while (node < @nodes@)
                    node = 2 * node + 1 + (@value@ >= threshold[k][t][node]);
                sum += leaf[k][t][node - @nodes@];
            }
            out[k] = sum;
        }
    }
"""


def tree_ensemble(saved: Saved) -> ProgramParts:
    """The C of a TreeEnsemble."""
    model = saved.model
    k, rounds, nodes = model.features.shape
    x_type, thresholds = thresholds_of(saved.inputs, model.features, model.thresholds)
    read = reading(saved, x_type)
    tables = [
        table("feature", model.features.astype(np.int64)), table("threshold", thresholds), table("leaf", model.leaves),
    ]  # fmt: skip
    value = read.value.format("feature[k][t][node]")
    body = block(_SCORES, type=x_type, k=k, rounds=rounds, nodes=nodes, value=value)
    return ProgramParts(
        what=f"boosted trees of depth {model.depth}, {rounds} for each of {k} scores",
        x_type=x_type,
        x_size=read.size,
        x_text=told(saved, UNITS[x_type]),
        n_scores=k,
        code="\n\n".join([*tables, *read.tables, body]),
        counted=rounds * k * model.depth,
        runs=rounds * k * model.depth,
        notes="a comparison for each level of a tree, and an addition for each tree",
    )
