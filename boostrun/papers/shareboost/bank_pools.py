"""From a bank to candidates: the pool of its training part, and the samples that a fitted model scores."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost import template_costs
from boostrun.papers.shareboost.pools.coded import CodedPool
from boostrun.papers.shareboost.pools.dense import DensePool
from boostrun.papers.shareboost.pools.piecewise import PiecewisePool
from boostrun.papers.shareboost.pools.pool import Pool
from boostrun.papers.shareboost.pools.products import ProductPool
from boostrun.papers.shareboost.pools.stumps import BinnedStumpPool

# feature pipeline -> what it makes, where that is no uint8 codes; the schemas say the same, but every key there would
# count to the code that a record was made with
POOLS = {"stumps": "stumps", "linear": "values", "products": "products", "anchors": "anchors"}
_SEED = 20111212  # of the samples that pieces are scored on


def kind_of(bank) -> str:
    """What the features of ``bank`` are to a learner: "codes", "values", "products", "stumps" or "anchors"."""
    return POOLS.get(bank.meta["features"]["name"], "codes")


def pool_of(bank, constant: bool = False) -> Pool:
    """The candidates on the training part of a bank; ``constant``: among thresholds, the one below all values too."""
    kind = kind_of(bank)
    if kind == "values":
        return DensePool(np.array(bank.values("train")))
    if kind == "products":
        return ProductPool(np.array(bank.values("train")), bank.meta["features"]["scale"])
    if kind == "stumps":
        return BinnedStumpPool(bank.codes("train"), constant=constant)
    fitted = bank.fitted()
    if kind == "anchors":
        points = np.array(bank.values("train"))
        width, count = points.shape[1], bank.meta["features"]["score_samples"]
        rows = None
        if count is not None and count < len(points):
            rows = np.sort(np.random.default_rng(_SEED).choice(len(points), count, replace=False))
        return PiecewisePool(points, fitted["anchors"], fitted["radii"], np.zeros(width), np.eye(width), rows)
    if "filters" in fitted:
        return CodedPool(bank.codes("train"), template_costs.of_each(fitted), template_costs.names(fitted))
    return CodedPool(bank.codes("train"))


def samples_of(bank, split: str) -> np.ndarray:
    """(n, d) samples of one part as the models of :func:`pool_of` take them; of codes, a view of the bank."""
    return bank.values(split) if kind_of(bank) in ("values", "products", "anchors") else bank.codes(split).T
