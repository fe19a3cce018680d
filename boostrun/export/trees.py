"""Sums of trees in C, a row of trees a class, added in the order that Python adds them."""

from __future__ import annotations

from .parts import ProgramParts
from .saved import Saved
from .splits import split_program
from .text import table

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
    what = f"boosted trees of depth {model.depth}, {rounds} for each of {k} scores"
    return split_program(
        saved, what, _SCORES, "feature[k][t][node]", [table("leaf", model.leaves)], rounds * k * model.depth,
        "a comparison for each level of a tree, and an addition for each tree", k=k, rounds=rounds, nodes=nodes,
    )  # fmt: skip
