"""A hyperplane that turns (Hulten, Spencer & Domingos, KDD 2001): the concept drifts a little with every example.

``files``, ``places`` and ``draw`` are the functions of a stream's loader, see :mod:`boostrun.data.streams`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostrun.data.streams.drift_stream import DriftStream
from boostrun.errors import BoostrunError

_OF_MEASURING = ("name", "window", "fading", "curve_every")  # keys of the data set that make no difference to it


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """None: the stream is generated."""
    return {}


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "generated, no file is needed"


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """The stream with its keys; it has no concept that stays, so that it is tested example by example."""
    chosen = {key: value for key, value in options.items() if key not in _OF_MEASURING}
    made = rotating_hyperplane(chosen.pop("n_samples"), rng, **chosen)
    facts = {"turned_degrees": float(np.degrees(np.arccos(min(1.0, cosine(made.weights[0], made.weights[-1])))))}
    return DriftStream("hyperplane", made.x, made.y, ("below", "above"), np.array([], np.int64), (), facts)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """The cosine of the angle between two vectors."""
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@dataclass(frozen=True)
class RotatingHyperplane:
    """A stream of points of the unit cube, and the concept that each was labelled by.

    Attributes
    ----------
    x : ndarray (n, d) float64, uniform in [0, 1)
    y : ndarray (n,) int64, 1 where sum_i w_i x_i >= 1/2 sum_i w_i, else 0; a share of noise is exchanged
    weights : ndarray (n, d) float64, w as it was when each example came
    """

    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def holdout(self, examples: int, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """New points (size, d) and their labels (size,) without noise, of the concept of the last of so many examples.

        Raises BoostrunError unless 1 <= examples <= n.
        """
        if not 1 <= examples <= len(self):
            raise BoostrunError(f"examples={examples}: a number from 1 to {len(self)} is needed")
        x = rng.random((size, self.x.shape[1]))
        return x, labels(x, self.weights[examples - 1])


def labels(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """1 where sum_i w_i x_i >= 1/2 sum_i w_i, else 0, (n,) int64; ``weights`` (d,), or (n, d) for a concept a row.

    >>> labels(np.array([[0.9, 0.2], [0.1, 0.3]]), np.array([1.0, 1.0])).tolist()
    [1, 0]
    """
    return (((x - 0.5) * weights).sum(axis=1) >= 0.0).astype(np.int64)


def rotating_hyperplane(
    n_samples: int,
    rng: np.random.Generator,
    *,
    n_features: int = 10,
    n_drifting: int = 2,
    magnitude: float = 0.001,
    flip: float = 0.1,
    noise: float = 0.05,
) -> RotatingHyperplane:
    """A stream of n_samples examples.

    Weights start uniform in [0, 1). After each example the first ``n_drifting`` weights move by ``magnitude``, all
    upwards to begin with, and each then reverses its direction with probability ``flip``, as MOA's generator does. The
    threshold, half the sum of the weights, keeps the classes balanced. A label is exchanged with probability ``noise``.

    Raises BoostrunError for a parameter out of its range.

    >>> stream = rotating_hyperplane(1000, np.random.default_rng(0), noise=0.0)
    >>> stream.x.shape, bool((stream.y == labels(stream.x, stream.weights)).all())
    ((1000, 10), True)
    """
    if n_samples < 1 or n_features < 1:
        raise BoostrunError(f"n_samples={n_samples} and n_features={n_features}: at least 1 of both is needed")
    if not 0 <= n_drifting <= n_features:
        raise BoostrunError(f"n_drifting={n_drifting}: a number from 0 to n_features={n_features} is needed")
    if not 0.0 <= magnitude < np.inf:
        raise BoostrunError(f"magnitude={magnitude}: a finite number of at least 0 is needed")
    for key, share in (("flip", flip), ("noise", noise)):
        if not 0.0 <= share <= 1.0:
            raise BoostrunError(f"{key}={share}: a probability is needed")
    first = rng.random(n_features)
    x = rng.random((n_samples, n_features))
    reversed_ = rng.random((n_samples - 1, n_drifting)) < flip
    steps = np.where(np.cumsum(reversed_, axis=0) - reversed_ & 1, -magnitude, magnitude)  # reversed before the step
    weights = np.tile(first, (n_samples, 1))
    weights[1:, :n_drifting] += np.cumsum(steps, axis=0)
    y = labels(x, weights) ^ (rng.random(n_samples) < noise)
    return RotatingHyperplane(x, y, weights)
