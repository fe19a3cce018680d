"""A reservoir strategy: keep the samples near the boundary, and of these a set that is spread out."""

from __future__ import annotations

import numpy as np

from boostrun.config.fields import check
from boostrun.papers.reservoir.strategies import Batch, Strategy

from .keys import SmallMarginsKeys


def spread_near_boundary(points: np.ndarray, scores: np.ndarray, r: int, pool: int) -> np.ndarray:
    """r of the ``pool`` samples with the smallest |score|, chosen as k centres; ascending (r,) int64.

    Greedy farthest point (Gonzalez 1985): the sample nearest to the boundary comes first, then always the candidate
    farthest from those chosen, so that no candidate is farther from its centre than twice the least possible. Of equals
    the one nearer to the boundary is chosen, of those the one that stands first.

    Parameters: ``points`` (n, d), in which distances are Euclidean; ``scores`` (n,); 1 <= r <= pool <= n. Cost O(r pool
    d).

    >>> points = np.array([[0.0], [0.1], [5.0], [9.0], [9.1]])
    >>> spread_near_boundary(points, np.array([0.1, -0.2, 0.3, 0.2, -4.0]), r=3, pool=4).tolist()
    [0, 2, 3]
    """
    candidates = np.argsort(np.abs(scores), kind="stable")[:pool]
    at = points[candidates].astype(np.float64)
    chosen = np.zeros(len(candidates), bool)
    chosen[0] = True
    distances = np.square(at - at[0]).sum(axis=1)
    for _ in range(r - 1):
        farthest = int(np.argmax(np.where(chosen, -1.0, distances)))
        chosen[farthest] = True
        np.minimum(distances, np.square(at - at[farthest]).sum(axis=1), out=distances)
    return np.sort(candidates[chosen])


class SmallMargins(SmallMarginsKeys, Strategy):
    """Small scores first, spread by k centre: a strategy for the reservoir's loop.

    In a reservoir that several classes share, the smallest of its scores decides how near a sample is to the boundary.
    Before the first round all samples are equally near.

    Parameters
    ----------
    {parameters}
    """

    def __post_init__(self) -> None:
        check(self)

    def __call__(self, batch: Batch, r: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(kept (r,) int64 ascending, their weights (r,)); looks at the samples (n, d), scores and weights."""
        n, d = batch.samples.shape
        points = batch.samples if d <= self.columns else batch.samples[:, rng.choice(d, self.columns, replace=False)]
        scores = np.abs(batch.scores).reshape(n, -1).min(axis=1) if len(batch.scores) else np.zeros(n)
        kept = spread_near_boundary(points, scores, r, min(n, max(r, round(self.pool * r))))
        return kept, batch.weights[kept]
