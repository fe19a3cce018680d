"""Linear predictors on few features in C: columns, codes, stumps, products of attributes, patch templates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostrun.papers.shareboost.mixed_norm_path import MixedNormPath
from boostrun.papers.shareboost.model import SharedFeatures
from boostrun.papers.shareboost.ovr_path import OneVsRestPath

from ..errors import BoostrunError
from . import templates
from .columns import columns_of
from .parts import ProgramParts
from .saved import Saved
from .text import block, table


@dataclass
class LinearPredictor:
    """s(x) = base + W' phi(x) over features phi by the arrays that they are computed from.

    Attributes: ``what``; ``features``, arrays with a row a feature; ``weights`` (U, k); ``base`` (k,); ``sparse``,
    whether each class has features of its own; ``counted``, multiply-adds as the records count them.
    """

    what: str
    kind: str
    features: dict[str, np.ndarray]
    weights: np.ndarray
    base: np.ndarray
    sparse: bool
    counted: int


def linear_of(model) -> LinearPredictor:
    """The last predictor of a path."""
    if isinstance(model, SharedFeatures):
        weights = model.path[-1] if model.n_rounds else np.zeros((0, model.n_classes))
        base = weights[0] if model.free and len(weights) else np.zeros(model.n_classes)
        weights = weights[int(model.free) :]
        base = base + weights[model.constants].sum(axis=0)
        return LinearPredictor(
            f"{model.n_rounds} features shared by {model.n_classes} classes", model.kind, model.features,
            np.delete(weights, model.constants, axis=0), base, False,
            int(model.multiply_adds[-1]) if model.n_rounds else 0,
        )  # fmt: skip
    if isinstance(model, OneVsRestPath):
        weights, k = np.zeros((len(model.used), model.n_classes)), model.n_classes
        for number in range(k):
            places, own = model.point(number, model.n_rounds)
            weights[places, number] = own
        what = f"{len(model.used)} features, each of {k} classes with weights for {model.n_rounds} of its own"
        return LinearPredictor(
            what, model.kind, model.features, weights, np.zeros(k), True, int(model.multiply_adds[-1])
        )
    return _mixed(model)


def _mixed(model: MixedNormPath) -> LinearPredictor:
    candidates, weights = model.point(len(model.lambdas) - 1, len(model.debiased) > 0)
    rows = np.searchsorted(model.used, candidates)
    return LinearPredictor(
        f"{len(rows)} features shared by {model.n_classes} classes, by a mixed norm", model.kind,
        {name: array[rows] for name, array in model.features.items()}, weights, np.zeros(model.n_classes), False,
        int(model.multiply_adds[-1]),
    )  # fmt: skip


_DENSE = """
    void scores(const @type@ *x, double *out)
    {
        double value[@u@];
        compute(x, value);
        for (int k = 0; k < @k@; k++)
            out[k] = base[k];
        for (int r = 0; r < @u@; r++)
            for (int k = 0; k < @k@; k++)
                out[k] += weight[r][k] * value[r];
    }
"""
_SPARSE = """
    void scores(const @type@ *x, double *out)
    {
        double value[@u@];
        compute(x, value);
        for (int k = 0; k < @k@; k++) {
            double sum = base[k];
            for (int i = begin[k]; i < begin[k + 1]; i++)
                sum += weight[i] * value[place[i]];
            out[k] = sum;
        }
    }
"""


def parts(saved: Saved) -> ProgramParts:
    """The C of SharedFeatures (but for pieces), a OneVsRestPath or a MixedNormPath, at the end of its path."""
    linear = linear_of(saved.model)
    u, k = linear.weights.shape
    if u == 0:
        raise BoostrunError("the model holds no feature: there is nothing to export")
    if linear.kind == "codes" and saved.inputs and str(saved.inputs["kind"]) == "templates":
        columns = templates.columns_of(saved.inputs, linear.features["index"])
    else:
        columns = columns_of(linear.kind, linear.features, saved)
    weights = linear.weights * columns.factor[:, None]
    tables = [table("base", linear.base)]
    numbers, places = np.nonzero(linear.weights.T)
    sparse = linear.sparse and len(places) > 0
    if sparse:
        begin = np.searchsorted(numbers, np.arange(k + 1))
        tables += [table("begin", begin), table("place", places), table("weight", weights.T[numbers, places])]
        multiplied = len(places)
    else:
        tables.append(table("weight", weights))
        multiplied = u * k
    body = block(_SPARSE if sparse else _DENSE, type=columns.x_type, u=u, k=k)
    return ProgramParts(
        what=f"{linear.what}: {columns.what}",
        x_type=columns.x_type,
        x_size=columns.x_size,
        x_text=columns.x_text,
        n_scores=k,
        code="\n\n".join([columns.code, *tables, body]),
        counted=linear.counted,
        runs=columns.runs + multiplied,
        notes=f"{multiplied} of them for weights; {columns.notes}",
    )
