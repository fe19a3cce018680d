"""Features of new samples from what a fitted model holds of them, kind by kind, without the pool they came from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.methods.layout import check_features
from boostrun.papers.shareboost.design import DenseDesign
from boostrun.papers.shareboost.local_design import LocalScores


def columns(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """samples[:, index], of (m, d) samples of any layout: (m, number of features) float64."""
    return samples[:, features["index"]].astype(np.float64)


def codes(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """samples[:, index] / 255 of uint8 codes."""
    return samples[:, features["index"]] / 255.0


def products(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """scale z_i z_j with z = slope x + offset, for pairs (i, j) of attributes."""
    out = features["scale"].copy()
    for side in (0, 1):
        attributes = samples[:, features["pair"][:, side]].astype(np.float64)
        out = out * (attributes * features["slope"][:, side] + features["offset"][:, side])
    return out


def stumps(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """+1 where samples[:, index] >= threshold, else -1."""
    return np.where(samples[:, features["index"]] >= features["threshold"], 1.0, -1.0)


def coordinates(features: Mapping[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """v = (x - mean) axes: (m, D)."""
    return (samples.astype(np.float64) - features["mean"]) @ features["axes"]


def inside(features: Mapping[str, np.ndarray], points: np.ndarray) -> np.ndarray:
    """(m, J) bool: which points (m, D) lie nearer to anchor j than its radius."""
    return squared_distances(points, features["anchor"]) < np.square(features["radius"])


def squared_distances(points: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """||v_i - a_j||^2, (m, J), through one matrix product; never negative."""
    out = points @ (-2.0 * anchors.T)
    out += np.einsum("id,id->i", points, points)[:, None]
    out += np.einsum("jd,jd->j", anchors, anchors)
    return np.maximum(out, 0.0, out=out)


KINDS = {"columns": columns, "codes": codes, "products": products, "stumps": stumps, "pieces": None}
_LOOKED_AT = ("index", "pair")  # arrays of attributes


def design(kind: str, features: Mapping[str, np.ndarray], samples: np.ndarray, constants: np.ndarray, free: bool):
    """The columns of a model on ``samples`` (m, d) as a design.

    Parameters: ``features``, the model's arrays; ``constants``, positions among all columns, ascending, of constant
    ones; ``free``: one more constant in front of all. Raises BoostrunError where the model looks at an attribute that
    the samples have not.
    """
    for name in _LOOKED_AT:
        if name in features:
            check_features(features[name], samples.shape[1])
    if kind == "pieces":
        points = coordinates(features, samples)
        return LocalScores(np.column_stack([points, np.ones(len(points))]), inside(features, points))
    found = KINDS[kind](features, samples) if features else np.empty((len(samples), 0))  # type: ignore[misc]
    found = np.insert(found, constants - np.arange(len(constants)), 1.0, axis=1)
    out = DenseDesign(len(samples))
    if free:
        out.add(np.ones((len(samples), 1)))
    out.add(found)
    return out
