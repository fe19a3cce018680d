"""From a table to candidates: the pool of its training part, and the samples that a fitted model scores."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost.coded import CodedPool
from boostrun.papers.shareboost.model import template_costs, template_names
from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.papers.shareboost.pool import DensePool, Pool, ProductPool
from boostrun.papers.shareboost.stumps import BinnedStumpPool

NUMBERS = frozenset({"values", "products", "anchors"})  # kinds of features that are no codes
_SEED = 20111212  # of the samples that pieces are scored on


def pool_of(data, constant: bool = False) -> Pool:
    """The candidates on the training part of a table; ``constant``: among thresholds, the one below all values too."""
    kind = data.kind
    if kind == "values":
        return DensePool(np.array(data.values("train")))
    if kind == "products":
        return ProductPool(np.array(data.values("train")), data.meta["features"]["scale"])
    if kind == "stumps":
        return BinnedStumpPool(data.codes("train"), constant=constant)
    fitted = data.fitted()
    if kind == "anchors":
        points = np.array(data.values("train"))
        width, count = points.shape[1], data.meta["features"]["score_samples"]
        rows = None
        if count is not None and count < len(points):
            rows = np.sort(np.random.default_rng(_SEED).choice(len(points), count, replace=False))
        return PiecewisePool(points, fitted["anchors"], fitted["radii"], np.zeros(width), np.eye(width), rows)
    if "filters" in fitted:
        return CodedPool(data.codes("train"), template_costs(fitted), template_names(fitted))
    return CodedPool(data.codes("train"))


def samples_of(data, split: str) -> np.ndarray:
    """(n, d) samples of one part as the models of :func:`pool_of` take them; of codes, a view of the table."""
    return data.values(split) if data.kind in NUMBERS else data.codes(split).T
