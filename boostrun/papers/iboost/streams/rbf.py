"""Random radial basis functions that move: MOA's `RandomRBFGeneratorDrift`, river's `RandomRBFDrift`.

Their definition, with random numbers of our own: only distributions can be compared, never rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.config import defaults
from boostrun.data.streams.drift_stream import DriftStream
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "rbf")
_SHARES = (0.35, 0.65)
_BLOCK = 100_000  # examples made at once


class Centroids(NamedTuple):
    """Where examples come from.

    centres (c, d) in [0, 1]; labels (c,) int64, 0 or 1; sds (c,) and weights (c,) in [0, 1]; velocities (v, d) of the
    first v centroids, of length 1.
    """

    centres: np.ndarray
    labels: np.ndarray
    sds: np.ndarray
    weights: np.ndarray
    velocities: np.ndarray

    @property
    def positive_share(self) -> float:
        """Probability of class 1."""
        return float(self.weights @ self.labels / self.weights.sum())


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """None: the stream is generated."""
    return {}


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "generated, no file is needed"


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """A stream without hold-out, whose centroids move all the time.

    ``model_seed`` null: seeds are drawn until the share of class 1 lies in [0.35, 0.65]; ``facts`` say which it was.
    """
    c, v = options["n_centroids"], options["n_drift_centroids"]
    if v > c:
        raise BoostrunError(f"dataset.n_drift_centroids={v}: only {c} centroids are there to drift (n_centroids)")
    seed, centroids = options["model_seed"], None
    while centroids is None or (
        options["model_seed"] is None and not _SHARES[0] <= centroids.positive_share <= _SHARES[1]
    ):
        seed = int(rng.integers(2**31)) if options["model_seed"] is None else seed
        centroids = draw_centroids(seed, options["n_features"], c, v)
    x, y = examples(centroids, options["speed"], options["n_samples"], rng)
    facts = {"model_seed": seed, "positive_share": centroids.positive_share}
    return DriftStream("rbf", x, y, ("-1", "1"), np.array([], np.int64), facts=facts)


def draw_centroids(seed: int, n_features: int, n_centroids: int, n_drift: int) -> Centroids:
    """Centroid by centroid a centre, a label, a standard deviation and a weight; velocities of a second generator with
    the same seed, so that the first is parallel to the first centre, and all start out positive.
    """
    rng = np.random.default_rng(seed)
    centres, labels = np.empty((n_centroids, n_features)), np.empty(n_centroids, np.int64)
    sds, weights = np.empty(n_centroids), np.empty(n_centroids)
    for i in range(n_centroids):
        centres[i], labels[i], sds[i], weights[i] = rng.random(n_features), rng.integers(2), rng.random(), rng.random()
    velocities = np.random.default_rng(seed).random((n_drift, n_features))
    velocities /= np.linalg.norm(velocities, axis=1, keepdims=True)
    return Centroids(centres, labels, sds, weights, velocities)


def examples(centroids: Centroids, speed: float, n: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """x (n, d) float64 and y (n,) int64: a centroid by weight, and a point around it.

    The point lies in a direction whose coordinates are uniform on [-1, 1], at a distance |N(0, 1)| times the centroid's
    standard deviation. The centroids move before each example; the ones given stay as they are.
    """
    from boostrun.papers.iboost.kernels.bases import add_moving_centres

    d = centroids.centres.shape[1]
    centres, velocities = centroids.centres.copy(), centroids.velocities.copy()
    upto = np.cumsum(centroids.weights)
    x, y = np.empty((n, d)), np.empty(n, np.int64)
    for start in range(0, n, _BLOCK):
        block = x[start : start + _BLOCK]
        of = np.searchsorted(upto[:-1], rng.random(len(block)) * upto[-1], side="right")
        block[:] = rng.uniform(-1.0, 1.0, block.shape)
        block *= (rng.standard_normal(len(block)) * centroids.sds[of] / np.linalg.norm(block, axis=1))[:, None]
        add_moving_centres(block, of, centres, velocities, speed)
        y[start : start + _BLOCK] = centroids.labels[of]
    return x, y
