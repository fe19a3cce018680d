"""Pieces of piece-wise linear predictors as candidates: balls around anchors, a linear map in each (section 5)."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.lanes import zeros
from boostrun.papers.shareboost.kernels.pieces import CLASSES, WIDTH, piece_scores, piece_squares
from boostrun.papers.shareboost.local_design import LocalDesign, squared_distances
from boostrun.papers.shareboost.padding import padded
from boostrun.papers.shareboost.pools.pool import Pool, checksum
from boostrun.papers.shareboost.threads import side_by_side

_SAMPLES = 4096  # whose distances are computed together
_ANCHORS = 8  # scored in one piece of work
_LEAST_LEVEL = 0.02  # the quantile of the smallest radius
_MEASURED = 2000  # samples whose distances the quantiles are taken of


class PiecewisePool(Pool):
    """1[||v - a_j|| < r_b] (v, 1): a group of D + 1 columns for every anchor j and radius b, numbered j B + b.

    Parameters
    ----------
    points : (n, D) float64, v on the training samples.
    anchors : (J, D); ``radii`` (B,) ascending, at most 255, the last may be infinite.
    mean, axes : (d,) and (d, D): v = (x - mean) axes, kept for new samples.
    rows : int64 or None, the samples that candidates are scored on; None: all.

    Distances are coded once in J n bytes. A scoring pass costs n J D c multiply-adds for all radii together, D and
    c filled up to multiples of 32 and 5.
    """

    kind = "pieces"
    rounding = 1e-6

    def __init__(self, points, anchors, radii, mean, axes, rows: np.ndarray | None = None):
        self.anchors, self.radii, self.mean, self.axes, self.rows = anchors, radii, mean, axes, rows
        self.points = np.column_stack([points, np.ones(len(points))])
        self.n_samples, self.n_candidates = len(points), len(anchors) * len(radii)
        self.unit_starts = np.arange(len(anchors) + 1) * len(radii)
        self.codes = np.empty((len(anchors), len(points)), np.uint8)
        for start in range(0, len(points), _SAMPLES):
            distances = squared_distances(points[start : start + _SAMPLES], anchors)
            self.codes[:, start : start + _SAMPLES] = np.searchsorted(np.square(radii), distances, side="right").T
        self._scored_codes = self.codes if rows is None else np.ascontiguousarray(self.codes[:, rows])
        scored = self.points if rows is None else self.points[rows]
        self._scored_points = zeros(len(scored), -(-scored.shape[1] // WIDTH) * WIDTH)
        self._scored_points[:, : scored.shape[1]] = scored
        self._inverse_squares = np.empty((0, 0, 0))

    @classmethod
    def fitted(cls, samples, n_anchors: int, n_radii: int, pca: int | None, score_samples: int | None, rng):
        """The pool of ``samples`` (n, d): v the principal components divided by their largest absolute coordinate.

        Anchors are the k-means centres of v; radii are quantiles, levels evenly spaced from 0.02 to 1, of the distances
        between anchors and samples, the last infinite. ``rng`` draws k-means' beginning and the ``score_samples``.
        """
        mean, axes = projection(samples, pca, rng)
        points = (samples.astype(np.float64) - mean) @ axes
        anchors = centres(points, min(n_anchors, len(points)), rng)
        radii = quantile_radii(points, anchors, n_radii, rng)
        rows = None
        if score_samples is not None and score_samples < len(points):
            rows = np.sort(rng.choice(len(points), score_samples, replace=False))
        return cls(points, anchors, radii, mean, axes, rows)

    def scores(self, residuals, units=None, normalised=False):
        sides = residuals if self.rows is None else residuals[self.rows]
        filled, d, k = padded(sides, CLASSES), self.points.shape[1], sides.shape[1]
        anchors = np.arange(len(self.anchors)) if units is None else units.astype(np.int64)
        out = np.empty((len(anchors), len(self.radii)))
        inverse = self._inverses() if normalised else np.empty((0, 0, 0))

        def some(first):
            part = slice(first, first + _ANCHORS)
            piece_scores(
                self._scored_codes, anchors[part], self._scored_points, filled, d, k, inverse, out[part]
            )  # fmt: skip

        side_by_side(some, range(0, len(anchors), _ANCHORS))
        return out.ravel()

    def _inverses(self) -> np.ndarray:
        """n / ||X_r||^2 of every column of every candidate, 0 where the column is 0."""
        if not len(self._inverse_squares):
            squares = np.zeros((len(self.anchors), len(self.radii), self.points.shape[1]))
            piece_squares(self._scored_codes, self._scored_points, squares)
            squares = np.cumsum(squares, axis=1) / len(self._scored_points)
            self._inverse_squares = np.divide(1.0, squares, out=np.zeros(squares.shape), where=squares > 0.0)
        return self._inverse_squares

    def inside(self, candidate: int) -> np.ndarray:
        """(n,) bool: the samples nearer to the anchor than the radius."""
        anchor, radius = divmod(candidate, len(self.radii))
        return self.codes[anchor] <= radius

    def columns(self, candidate):
        return self.points * self.inside(candidate)[:, None]

    def feature(self, candidate):
        anchor, radius = divmod(candidate, len(self.radii))
        return {"anchor": self.anchors[[anchor]], "radius": self.radii[[radius]]}

    def common(self):
        return {"mean": self.mean, "axes": self.axes}

    def describe(self, candidate):
        anchor, radius = divmod(candidate, len(self.radii))
        return f"within {self.radii[radius]:.4g} of anchor {anchor}"

    def reaches(self):
        share = 1.0 if self.rows is None else self.n_samples / len(self.rows)
        return np.full(self.n_candidates, share * np.abs(self.points).max(axis=0).sum())

    def cost(self, candidate):
        return self.anchors.shape[1]  # the distance; the projection, common to all pieces, is not counted

    def fingerprint(self):
        rows = np.empty(0, np.int64) if self.rows is None else self.rows
        return checksum(self.points, self.anchors, self.radii, rows)

    def design(self):
        return LocalDesign(self.points.astype(np.float32))

    def extend(self, design, candidate):
        design.add(self.inside(candidate))


def projection(samples: np.ndarray, components: int | None, rng: np.random.Generator):
    """(mean (d,), axes (d, D)) of v = (x - mean) axes whose largest absolute coordinate on ``samples`` is 1.

    ``components``: principal components, None for the attributes themselves, not centred.
    """
    samples = samples.astype(np.float64)
    mean, axes = np.zeros(samples.shape[1]), np.eye(samples.shape[1])
    if components is not None:
        from sklearn.decomposition import PCA

        found = PCA(min(components, *samples.shape), random_state=int(rng.integers(2**31))).fit(samples)
        mean, axes = found.mean_, found.components_.T.copy()
    largest = np.abs((samples - mean) @ axes).max()
    return mean, axes / (largest if largest > 0.0 else 1.0)


def centres(points: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, D) k-means centres of ``points`` (n, D)."""
    from sklearn.cluster import KMeans

    return KMeans(count, n_init=1, random_state=int(rng.integers(2**31))).fit(points).cluster_centers_


def quantile_radii(points: np.ndarray, anchors: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count,) ascending radii common to all anchors; the last is infinite.

    Quantiles of the distances of at most 2,000 points, drawn without replacement.
    """
    some = points if len(points) <= _MEASURED else points[rng.choice(len(points), _MEASURED, replace=False)]
    radii = np.quantile(np.sqrt(squared_distances(some, anchors)), np.linspace(_LEAST_LEVEL, 1.0, count))
    radii[-1] = np.inf
    return radii
