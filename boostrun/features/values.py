"""Value banks of pixels or columns: scaled numbers, factors of products, and principal components with anchors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.data.options import in_range
from boostrun.errors import BoostrunError
from boostrun.features.build import subset

VALUES = True
MISSING = True
SCALES = ("minmax", "max01", "standard")


class Linear:
    """Flattened pixels or the columns of a table, shifted and scaled by statistics of the training part.

    `scale` is "minmax" (the training range becomes [-1, 1]), "max01" (division by the largest magnitude) or "standard"
    (mean 0, variance 1). A column that is constant in the training part becomes 0, except with "max01". Test samples
    may go beyond the range.

    Parameters
    ----------
    options : mapping with scale

    Attributes
    ----------
    fitted : dict with shift and factor, (d,) float64, after `fit`; a value x becomes (x - shift) * factor

    >>> Linear({"scale": "minmax"}).fit(np.array([[1.0], [3.0]]))(np.array([[1.0], [2.0], [4.0]])).tolist()
    [[-1.0], [0.0], [2.0]]
    """

    name = "linear"

    def __init__(self, options: Mapping):
        if options["scale"] not in SCALES:
            raise BoostrunError(f"features.scale must be one of {', '.join(SCALES)}, not {options['scale']!r}")
        self.scale = options["scale"]

    def fit(self, x: np.ndarray) -> Linear:
        """Learn shift and factor from training samples (n, ...), numbers."""
        x = _flat(x)
        low, high = x.min(axis=0), x.max(axis=0)
        if self.scale == "minmax":
            shift, spread = (low + high) / 2, (high - low) / 2
        elif self.scale == "max01":
            shift, spread = np.zeros(x.shape[1]), np.maximum(np.abs(low), np.abs(high))
        else:
            shift, spread = x.mean(axis=0), x.std(axis=0)
            spread[high == low] = 0  # not the rounding of the mean
        self.fitted = {"shift": shift, "factor": np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)}
        return self

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(n, ...) numbers -> (n, d) float64."""
        return (_flat(x) - self.fitted["shift"]) * self.fitted["factor"]

    def describe(self) -> str:
        return f"pixels or columns, scaled by {self.scale}"


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), -1).astype(np.float64)


class Products(Linear):
    """Like `boostrun.features.values.Linear`; learners form the d (d - 1) / 2 products themselves."""

    name = "products"

    def describe(self) -> str:
        return f"products of two {super().describe()}"


_LEAST_LEVEL = 0.02  # the quantile that is the smallest radius
_MEASURED = 10_000  # training samples whose distances the quantiles are taken of
_ROWS = 4096  # samples whose distances to all anchors are held together


class Anchors:
    """v = (x - mean) axes: principal components of pixels or columns, divided by the largest training coordinate.

    `fit` also finds anchors, the centres of k-means on v, and radii common to all of them: quantiles of the distances
    between anchors and training samples, levels linspace(0.02, 1), the last infinite. The bank holds v (n, D); anchors
    and radii are in `fitted`.

    Parameters
    ----------
    options : mapping with anchors (J), radii (B), pca (D at most; 0: the columns as they are, not
        centred), score_samples (for who trains on the bank), seed

    Attributes
    ----------
    fitted : dict with mean (d,), axes (d, D), anchors (J, D), radii (B,), all float64, after `fit`

    Cost of `fit`: n d^2 for the components, and n J D multiply-adds a step of k-means; one thread, so that the result
    does not depend on how many there are.

    >>> fitted = Anchors({"anchors": 2, "radii": 3, "pca": 0, "seed": 0}).fit(np.array([[0.0], [1.0], [4.0]])).fitted
    >>> sorted(fitted["anchors"].ravel().tolist()), fitted["radii"].max().item()
    ([0.125, 1.0], inf)
    """

    name = "anchors"

    def __init__(self, options: Mapping):
        in_range(options, "features", "anchors", 1)
        in_range(options, "features", "radii", 1, 255)
        self.options = dict(options)

    def fit(self, x: np.ndarray) -> Anchors:
        """Learn components, anchors and radii from training samples (n, ...), numbers."""
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        o = self.options
        if len(x) < o["anchors"]:
            raise BoostrunError(f"features.anchors={o['anchors']} is more than the {len(x)} training samples")
        with threadpool_limits(1):
            self._project(_flat(x))
            points = self(x)
            means = KMeans(o["anchors"], n_init=1, random_state=o["seed"]).fit(points)
            anchors = means.cluster_centers_
            radii = _radii(points[subset(len(points), _MEASURED)], anchors, o["radii"])
        self.fitted |= {"anchors": anchors, "radii": radii}
        return self

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(n, ...) numbers -> (n, D) float64, at most 1 in magnitude on the training part."""
        return (_flat(x) - self.fitted["mean"]) @ self.fitted["axes"]

    def describe(self) -> str:
        o = self.options
        of = "columns" if not o["pca"] else f"{o['pca']} principal components"
        return f"{of}, with {o['anchors']} anchors and {o['radii']} radii"

    def _project(self, x: np.ndarray) -> None:
        mean, axes = np.zeros(x.shape[1]), np.eye(x.shape[1])
        if self.options["pca"]:
            mean = x.mean(axis=0)
            _, vectors = np.linalg.eigh((x - mean).T @ (x - mean))
            axes = vectors[:, ::-1][:, : self.options["pca"]]
            axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])  # else up to the library
        largest = np.abs((x - mean) @ axes).max()
        self.fitted = {"mean": mean, "axes": axes / (largest if largest > 0 else 1.0)}


def _radii(points: np.ndarray, anchors: np.ndarray, count: int) -> np.ndarray:
    squares = (anchors**2).sum(axis=1)
    distances = np.empty((len(points), len(anchors)), np.float32)
    for start in range(0, len(points), _ROWS):
        part = points[start : start + _ROWS]
        found = (part**2).sum(axis=1)[:, None] - 2 * part @ anchors.T + squares
        distances[start : start + len(part)] = np.sqrt(np.maximum(found, 0))
    radii = np.quantile(distances, np.linspace(_LEAST_LEVEL, 1.0, count)).astype(np.float64)
    radii[-1] = np.inf
    return radii
