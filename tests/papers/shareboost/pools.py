"""Small pools of every kind, on the same samples."""

import numpy as np

from boostrun.config.fields import fields_of, kind_of
from boostrun.papers.shareboost.coded import CodedPool
from boostrun.papers.shareboost.keys import ShareBoostKeys
from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.papers.shareboost.pools import DensePool, GroupPool, ProductPool, WithConstant
from boostrun.papers.shareboost.stumps import BinnedStumpPool, SortedStumpPool

CLASSES = 4


def choices(key):
    """The words that a key of ShareBoost takes."""
    return kind_of(fields_of(ShareBoostKeys)[key]).choices


def samples(n=150, seed=0):
    """(n, 9) float64 in [-1, 1] and their class numbers: few distinct values, a constant column, two equal ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    x = np.clip(rng.normal(scale=0.4, size=(n, 9)) + 0.3 * rng.normal(size=(CLASSES, 9))[y], -1, 1)
    x[:, 1] = np.round(2 * x[:, 1]) / 2
    x[:, 2] = 0.5
    x[:, 3] = np.sign(x[:, 3])
    x[:, 8] = x[:, 0]
    return x, y


def pieces(x, rows=None):
    rng = np.random.default_rng(1)
    anchors, radii = x[rng.choice(len(x), 6, replace=False)], np.array([0.4, 0.9, 1.3, np.inf])
    return PiecewisePool(x, anchors, radii, np.zeros(x.shape[1]), np.eye(x.shape[1]), rows)


POOLS = {
    "dense": DensePool, "dense32": lambda x: DensePool(x.astype(np.float32)),
    "with constant": lambda x: WithConstant(DensePool(x)),
    "products with constant": lambda x: WithConstant(ProductPool(x)),
    "stumps with constant": lambda x: WithConstant(SortedStumpPool(x)),
    "coded": lambda x: CodedPool(np.ascontiguousarray(np.round((x.T + 1) * 127.5)).astype(np.uint8)),
    "groups": lambda x: GroupPool(x, [[0, 1], [2], [3, 4, 5], [8, 6], [1, 7]]), "products": ProductPool,
    "products32": lambda x: ProductPool(x.astype(np.float32)),
    "binned stumps": lambda x: BinnedStumpPool.binned(x, constant=True),
    "coded stumps": lambda x: BinnedStumpPool(np.ascontiguousarray(np.round((x.T + 1) * 9)).astype(np.uint8)),
    "sorted stumps": lambda x: SortedStumpPool(x, constant=True), "pieces": pieces,
}  # fmt: skip
