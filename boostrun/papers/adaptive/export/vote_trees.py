"""A TreeVoteEnsemble in C and in ONNX.

In C a sample walks down each tree. In ONNX all splits are compared at once, and a leaf is where as many of them as the
tree is deep lead.
"""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.export.c import size_of, split_program, table
from boostrun.export.onnx import compare
from boostrun.export.parts import OnnxParts, Operators, ProgramParts, Saved

_WALK = """
    void scores(const @type@ *x, double *out)
    {
        for (int k = 0; k < @k@; k++)
            out[k] = 0.0;
        for (int t = 0; t < @rounds@; t++) {
            int place = 0;
            while (place < @inner@)
                place = 2 * place + (@value@ >= threshold[t][place] ? 2 : 1);
            for (int k = 0; k < @k@; k++)
                out[k] += step[t] * vote[t][place - @inner@][k];
        }
    }
"""


def in_c(saved: Saved) -> ProgramParts:
    """The C of a TreeVoteEnsemble; the scores are those of Python to the bit."""
    model, rounds = saved.model, _some(saved)
    inner, k = model.features.shape[1], model.n_problems
    weights = [table("step", model.alphas), table("vote", model.votes.astype(np.int64))]
    notes = f"{model.depth} comparisons for each tree, and an addition for each tree and score"
    return split_program(
        saved, _what(model), _WALK, "feature[t][place]", weights, rounds * k, notes, k=k, rounds=rounds, inner=inner
    )


def in_onnx(saved: Saved) -> OnnxParts:
    """The operators of a TreeVoteEnsemble: a tree of P splits costs P (P + 1) multiply-adds."""
    model, rounds = saved.model, _some(saved)
    inner, k = model.features.shape[1], model.n_problems
    operators = Operators()
    compared = compare(operators, saved, model.features, model.thresholds)
    signs = operators.add("Where", compared.above, np.array(1.0, np.float32), np.array(-1.0, np.float32))
    agreed = operators.add("MatMul", signs, _ways(inner))  # (n, T, leaves): D where all splits on the way lead there
    there = operators.add("GreaterOrEqual", agreed, np.array(model.depth - 0.5, np.float32))
    one = operators.add("Where", there, np.array(1.0), np.array(0.0))
    every = operators.add("Reshape", one, np.array([-1, rounds * (inner + 1)]))
    scores = operators.add("MatMul", every, np.ascontiguousarray(model.steps.reshape(-1, k)))
    return OnnxParts(_what(model), compared.x_type, size_of(saved), compared.x_text, k, operators, scores)


def _ways(inner: int) -> np.ndarray:
    """(P, P + 1) float32: +1 where a leaf is above a split, -1 where it is below it, 0 where the split is elsewhere."""
    ways = np.zeros((inner, inner + 1), np.float32)
    for leaf in range(inner + 1):
        place = leaf + inner
        while place:
            parent = (place - 1) // 2
            ways[parent, leaf] = 1.0 if place == 2 * parent + 2 else -1.0
            place = parent
    return ways


def _what(model) -> str:
    return f"{model.n_rounds} trees of depth {model.depth} with votes for {model.n_problems} scores"


def _some(saved: Saved) -> int:
    if not saved.model.n_rounds:
        raise BoostrunError("the model holds no tree: there is nothing to export")
    return saved.model.n_rounds
