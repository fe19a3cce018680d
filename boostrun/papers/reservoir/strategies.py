"""Which r of the r + q samples at hand to keep: the paper's simple strategies (section 3).

A strategy is called once a round with the :class:`Batch` at hand and returns the places of the kept samples,
ascending, and the weights that the stump is trained with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Batch:
    """A = R u Q: ``samples`` (n, d), ``labels`` (n,) of -1.0 and +1.0, ``weights`` (n,) >= 0, ``arrived`` (n,) int."""

    samples: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    arrived: np.ndarray


class Strategy(Protocol):
    """What the loop asks of a strategy."""

    carry_mass: bool

    def __call__(self, batch: Batch, r: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(kept (r,) int64 ascending, corrected weights (r,) float64)."""
        ...


class Rand:
    """Keep r samples uniformly at random."""

    carry_mass = False

    def __call__(self, batch, r, rng):
        kept = np.sort(rng.permutation(len(batch.weights))[:r])
        return kept, batch.weights[kept]


class Max:
    """Keep the r largest weights; of equals, those that stand first."""

    carry_mass = False

    def __call__(self, batch, r, rng):
        kept = np.sort(np.argsort(-batch.weights, kind="stable")[:r])
        return kept, batch.weights[kept]


class Window:
    """Keep the newest r samples: the sliding window of the drift literature."""

    carry_mass = False

    def __call__(self, batch, r, rng):
        kept = np.sort(np.argsort(-batch.arrived, kind="stable")[:r])
        return kept, batch.weights[kept]


class WSam:
    """Keep r samples drawn without replacement with probability proportional to the weights.

    ``stump_weights``: "uniform" (the sampling did the weighting) or "w" (the weights count once more).
    Successive sampling is done in one step by exponential races: the r smallest of E_i / w_i, E_i standard
    exponential (Efraimidis & Spirakis 2006).
    """

    carry_mass = False

    def __init__(self, stump_weights: str = "uniform"):
        self.stump_weights = stump_weights

    def __call__(self, batch, r, rng):
        # a weight of zero is kept only when nothing else is left
        race = rng.standard_exponential(len(batch.weights)) / np.maximum(batch.weights, 1e-300)
        kept = np.sort(np.argpartition(race, r - 1)[:r])
        return kept, np.ones(r) if self.stump_weights == "uniform" else batch.weights[kept]
