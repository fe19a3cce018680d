"""Sums of stumps in ONNX: a row of stumps a class, or stumps with a weight for every class.

A stump is a column gathered and compared, in the type that its threshold is exact in. Scores are sums in double
precision, whose order is the runtime's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import BoostrunError
from .inputs import UNITS, thresholds_of
from .missing import columns_of, size_of, told
from .operators import OnnxParts, Operators
from .saved import Saved

_TYPES = {"double": np.float64, "float": np.float32, "unsigned char": np.float32}


class Compared(NamedTuple):
    """``above``, the name of x[features] >= thresholds, (n, *features.shape) bool; type and meaning of x."""

    above: str
    x_type: np.dtype
    x_text: str


class Exact(NamedTuple):
    """Thresholds ``found`` on X, of ``x_type``, which holds what ``x_text`` says."""

    found: np.ndarray
    x_type: np.dtype
    x_text: str


def exact(saved: Saved, features: np.ndarray, thresholds: np.ndarray) -> Exact:
    """Thresholds on columns of X, of the shape of ``features``, that hold exactly where the model's codes do.

    Raises BoostrunError for inputs that no such comparison has the codes of.
    """
    units, found = thresholds_of(saved.inputs, features, thresholds, "onnx")
    x_type = np.dtype(_TYPES[units])
    if units == "unsigned char":  # a number is taken for one: 3.7 for 3, -1 for 0, 300 for 255
        found = np.where(found <= 0, -np.inf, np.where(found > 255, np.inf, found))
    return Exact(found.astype(x_type), x_type, told(saved, UNITS[units]))


def compare(operators: Operators, saved: Saved, features: np.ndarray, thresholds: np.ndarray) -> Compared:
    """Hold columns of X against thresholds, both of one shape, exactly where the model's codes do.

    Raises BoostrunError for inputs that no such comparison has the codes of.
    """
    found, x_type, x_text = exact(saved, features, thresholds)
    columns = operators.add("Gather", columns_of(operators, saved, x_type), features.astype(np.int64), axis=1)
    return Compared(operators.add("GreaterOrEqual", columns, found), x_type, x_text)


def signs(operators: Operators, above: str) -> str:
    """+1.0 where ``above``, else -1.0."""
    return operators.add("Where", above, np.array(1.0), np.array(-1.0))


def stump_ensemble(saved: Saved) -> OnnxParts:
    """The operators of a StumpEnsemble."""
    model = saved.model
    k, rounds = _some(model.features).shape
    if k == 1:
        how = f"boosted stumps, {rounds} for one score"
        return _for_all_classes(saved, model.features[0], model.thresholds[0], model.steps.T, None, how)
    operators = Operators()
    compared = compare(operators, saved, model.features, model.thresholds)
    steps = operators.add("Where", compared.above, model.steps, -model.steps)
    scores = operators.add("ReduceSum", steps, np.array([2]), keepdims=0)
    what = f"boosted stumps, {rounds} for each of {k} scores"
    return OnnxParts(what, compared.x_type, size_of(saved), compared.x_text, k, operators, scores)


def vote_ensemble(saved: Saved) -> OnnxParts:
    """The operators of a VoteEnsemble."""
    model = saved.model
    steps = model.alphas[:, None] * model.votes
    return for_all_classes(saved, steps, None, f"with votes for {steps.shape[1]} scores")


def for_all_classes(saved: Saved, steps: np.ndarray, base: np.ndarray | None, how: str) -> OnnxParts:
    """The operators of base[k] + sum_t steps[t, k] phi_t(x), as :func:`boostrun.export.stumps.for_all_classes`."""
    model = saved.model
    what = f"{len(steps)} stumps {how}"
    return _for_all_classes(saved, _some(model.features), model.thresholds, steps, base, what)


def _for_all_classes(saved, features, thresholds, steps, base, what) -> OnnxParts:
    operators = Operators()
    compared = compare(operators, saved, features, thresholds)
    scores = operators.add("MatMul", signs(operators, compared.above), np.ascontiguousarray(steps))
    if base is not None:
        scores = operators.add("Add", scores, base)
    return OnnxParts(
        what, compared.x_type, size_of(saved), compared.x_text, steps.shape[1], operators, scores
    )  # fmt: skip


def _some(features: np.ndarray) -> np.ndarray:
    if not features.size:
        raise BoostrunError("the model holds no stump: there is nothing to export")
    return features
