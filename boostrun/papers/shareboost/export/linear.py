"""Linear predictors on few features in C: columns, codes, stumps, products of attributes, patch templates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.export.c import block, table
from boostrun.export.parts import ProgramParts, Saved
from boostrun.papers.shareboost.export.columns import c_columns
from boostrun.papers.shareboost.export.pieces import c_pieces
from boostrun.papers.shareboost.export.templates import template_columns


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


def shared_features_predictor(model) -> LinearPredictor:
    """The end of the path of SharedFeatures that are no pieces."""
    weights = model.path[-1] if model.n_rounds else np.zeros((0, model.n_classes))
    base = weights[0] if model.free and len(weights) else np.zeros(model.n_classes)
    weights = weights[int(model.free) :]
    base = base + weights[model.constants].sum(axis=0)
    return LinearPredictor(
        f"{model.n_rounds} features shared by {model.n_classes} classes", model.kind, model.features,
        np.delete(weights, model.constants, axis=0), base, False,
        int(model.multiply_adds[-1]) if model.n_rounds else 0,
    )  # fmt: skip


def one_vs_rest_predictor(model) -> LinearPredictor:
    """The end of a OneVsRestPath."""
    weights, k = np.zeros((len(model.used), model.n_classes)), model.n_classes
    for number in range(k):
        places, own = model.point(number, model.n_rounds)
        weights[places, number] = own
    what = f"{len(model.used)} features, each of {k} classes with weights for {model.n_rounds} of its own"
    cost = int(model.multiply_adds[-1])
    return LinearPredictor(what, model.kind, model.features, weights, np.zeros(k), True, cost)


def mixed_norm_predictor(model) -> LinearPredictor:
    """The end of a MixedNormPath."""
    candidates, weights = model.point(len(model.lambdas) - 1, len(model.debiased) > 0)
    rows = np.searchsorted(model.used, candidates)
    return LinearPredictor(
        f"{len(rows)} features shared by {model.n_classes} classes, by a mixed norm", model.kind,
        {name: array[rows] for name, array in model.features.items()}, weights, np.zeros(model.n_classes), False,
        int(model.multiply_adds[-1]),
    )  # fmt: skip


def c_shared_features(saved: Saved) -> ProgramParts:
    """The C of SharedFeatures, at the end of its path."""
    return c_pieces(saved) if saved.model.kind == "pieces" else _c_parts(saved, shared_features_predictor(saved.model))


def c_one_vs_rest(saved: Saved) -> ProgramParts:
    """The C of a OneVsRestPath, at its end."""
    return _c_parts(saved, one_vs_rest_predictor(saved.model))


def c_mixed_norm(saved: Saved) -> ProgramParts:
    """The C of a MixedNormPath, at its end."""
    return _c_parts(saved, mixed_norm_predictor(saved.model))


def _c_parts(saved: Saved, linear: LinearPredictor) -> ProgramParts:
    u, k = linear.weights.shape
    if u == 0:
        raise BoostrunError("the model holds no feature: there is nothing to export")
    if linear.kind == "codes" and saved.inputs and str(saved.inputs["kind"]) == "templates":
        columns = template_columns(saved.inputs, linear.features["index"])
    else:
        columns = c_columns(linear.kind, linear.features, saved)
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
