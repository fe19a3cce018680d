"""Kinds of candidate features, given by name or as an object with keys; each makes a pool from an array of samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boostrun.errors import BoostrunError, did_you_mean


class Features:
    """A kind of candidates. Two are equal if their keys are.

    ``pool(samples, bias, rng)`` makes the pool of ``samples`` (n, d); ``default_bias`` is the bias for ``bias="auto"``.
    """

    default_bias = "none"

    def __repr__(self):
        keys = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({keys})"

    def __eq__(self, other):
        return type(self) is type(other) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]


class RawColumns(Features):
    """The columns of X as they are; the guarantees need |x| <= 1."""

    def pool(self, samples: np.ndarray, bias: str, rng: np.random.Generator):
        from boostrun.papers.shareboost.pools import DensePool

        return DensePool(samples)


class Codes(Features):
    """The columns of a uint8 X, a code c meaning c/255."""

    def pool(self, samples, bias, rng):
        from boostrun.papers.shareboost.coded import CodedPool

        if samples.dtype != np.uint8:
            raise BoostrunError(f"features='codes' needs X of dtype uint8, not {samples.dtype}")
        return CodedPool(np.ascontiguousarray(samples.T))


class Groups(Features):
    """Groups of columns of X, taken together: ``groups``, lists of column numbers."""

    def __init__(self, groups: Sequence[Sequence[int]]):
        self.groups = groups

    def pool(self, samples, bias, rng):
        from boostrun.papers.shareboost.pools import GroupPool

        return GroupPool(samples, self.groups)


class ColumnProducts(Features):
    """All x_i x_j, i < j, never stored; ``scale`` of the attributes is "minmax", "max01" or "standard"."""

    def __init__(self, scale: str = "minmax"):
        self.scale = scale

    def pool(self, samples, bias, rng):
        from boostrun.papers.shareboost.pools import ProductPool

        return ProductPool(samples, self.scale)


class ColumnStumps(Features):
    """+1 where x >= theta, else -1; thetas are the edges of ``max_bins`` bins per column, or all thresholds if None."""

    default_bias = "pool"

    def __init__(self, max_bins: int | None = 256):
        self.max_bins = max_bins

    def pool(self, samples, bias, rng):
        from boostrun.papers.shareboost.stumps import BinnedStumpPool, SortedStumpPool

        if self.max_bins is None:
            return SortedStumpPool(samples, constant=bias == "pool")
        return BinnedStumpPool.binned(samples, self.max_bins, constant=bias == "pool")


class Piecewise(Features):
    """1[||v - a|| < r] (v, 1) for anchors a and radii r; v are the ``pca`` principal components of x (None: x itself).

    ``anchors`` is the number of k-means centres, ``radii`` the number of quantiles of the distances. Candidates are
    scored on ``score_samples`` samples, drawn once (None: on all).
    """

    def __init__(self, anchors: int = 100, radii: int = 12, pca: int | None = None, score_samples: int | None = None):
        self.anchors, self.radii, self.pca, self.score_samples = anchors, radii, pca, score_samples

    def pool(self, samples, bias, rng):
        from boostrun.papers.shareboost.pieces import PiecewisePool

        if bias != "none":
            raise BoostrunError(
                f"bias={bias!r} does not work with pieces, which have constants already; use bias='none'"
            )
        return PiecewisePool.fitted(samples, self.anchors, self.radii, self.pca, self.score_samples, rng)


FEATURES = {
    "raw": RawColumns, "codes": Codes, "products": ColumnProducts, "stumps": ColumnStumps, "piecewise": Piecewise,
}  # fmt: skip
# names of these classes in saved models
SAVED_AS = {"Raw": RawColumns, "Products": ColumnProducts, "Stumps": ColumnStumps}
__all__ = [
    "FEATURES", "SAVED_AS", "Codes", "ColumnProducts", "ColumnStumps", "Groups", "Piecewise", "RawColumns",
    "features_of",
]  # fmt: skip


def features_of(given):
    """The features that a name stands for, with default keys, or ``given`` itself if it is an object.

    Raises BoostrunError for anything else.

    >>> features_of("stumps")
    ColumnStumps(max_bins=256)
    """
    if isinstance(given, str):
        if given not in FEATURES:
            raise BoostrunError(
                f"features={given!r} is not one of {', '.join(FEATURES)}{did_you_mean(given, FEATURES)}"
            )
        return FEATURES[given]()
    if isinstance(given, type) or not hasattr(given, "pool"):
        raise BoostrunError(
            f"features={given!r} is neither a name ({', '.join(FEATURES)}) nor an object of "
            "boostrun.papers.shareboost.features"
        )
    return given
