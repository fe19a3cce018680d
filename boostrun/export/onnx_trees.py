"""Sums of trees in ONNX: all trees go down a level at a time, in the type that thresholds are exact in.

Scores are sums in double precision, whose order is the runtime's.
"""

from __future__ import annotations

import numpy as np

from .missing import columns_of, size_of
from .onnx_stumps import exact
from .operators import OnnxParts, Operators
from .saved import Saved

_INT64 = 7  # TensorProto


def tree_ensemble(saved: Saved) -> OnnxParts:
    """The operators of a TreeEnsemble."""
    model = saved.model
    k, rounds, nodes = model.features.shape
    thresholds = exact(saved, model.features, model.thresholds)
    features, bounds = model.features.reshape(-1).astype(np.int64), thresholds.found.reshape(-1)
    first, one = np.arange(k * rounds, dtype=np.int64), np.array(1, np.int64)
    operators = Operators()
    columns = columns_of(operators, saved, thresholds.x_type)
    asked = operators.add("Gather", columns, features[first * nodes], axis=1)
    above = operators.add("GreaterOrEqual", asked, bounds[first * nodes])
    node = operators.add("Add", operators.add("Cast", above, to=_INT64), one)
    for _ in range(model.depth - 1):
        place = operators.add("Add", node, first * nodes)
        asked = operators.add("GatherElements", columns, operators.add("Gather", features, place, axis=0), axis=1)
        above = operators.add("GreaterOrEqual", asked, operators.add("Gather", bounds, place, axis=0))
        child = operators.add("Add", operators.add("Cast", above, to=_INT64), one)
        node = operators.add("Add", operators.add("Mul", node, np.array(2, np.int64)), child)
    leaf = operators.add("Add", node, first * (nodes + 1) - nodes)
    values = operators.add("Gather", model.leaves.reshape(-1), leaf, axis=0)
    scores = operators.add("MatMul", values, np.repeat(np.eye(k), rounds, axis=0))
    what = f"boosted trees of depth {model.depth}, {rounds} for each of {k} scores"
    return OnnxParts(what, thresholds.x_type, size_of(saved), thresholds.x_text, k, operators, scores)
