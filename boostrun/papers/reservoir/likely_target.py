"""GEEM whose target is the most probable h*, by the theory of extreme values (Lefakis & Fleuret 2013, section 6).

The products H o y of a random stump are Gaussian, N(0, Sigma), and the stump to come, h*, is the best of N of them: its
edge <h o y, w> is the largest. The density of the best of N at h is proportional to

    exp(-h^T Sigma^-1 h / 2) Phi(<h, w> / s)^(N - 1),    s^2 = w^T Sigma w,

which is largest where Sigma^-1 h is parallel to w: the most probable h* o y is Sigma w times the edge to be expected of
the best of N over s^2. N only scales it, and with it GEEM's objective; so it need not be known. The objective becomes
w~^T Sigma_BB w~, the variance of the edge that the samples kept explain.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.geem import Geem
from boostrun.papers.reservoir.strategies import Batch


class GeemLikely(Geem):
    """GEEM with h* o y = Sigma w, the most probable best stump, scaled to an absolute mean of one.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> codes = np.array([[0], [9], [10]], dtype=np.uint8)
    >>> batch = Batch(codes, np.ones(3), np.array([1.0, 1.0, 0.9]), np.zeros(3, int))
    >>> kept, weights = GeemLikely(ridge=0.1)(batch, 2, np.random.default_rng(0))
    >>> kept.tolist()
    [0, 1]
    """

    def __call__(self, batch: Batch, r: int, rng: np.random.Generator):
        self._weights = batch.weights
        try:
            return super().__call__(batch, r, rng)
        finally:
            del self._weights

    def check(self, shared: bool) -> None:
        """Raises BoostrunError for a reservoir shared by all classes, whose weights are not one vector."""
        super().check(shared)
        if shared:
            raise BoostrunError("geem_likely has no form for a reservoir shared by all classes")

    def _targets(self, factor, rng):
        return likely_target(factor, self._weights)[None]


def likely_target(factor: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sigma w, scaled to an absolute mean of one, for a lower triangular V with Sigma^-1 = V^T V.

    ``factor`` (n, n), ``weights`` (n,) float64; zeros where all weights are. Cost O(n^2).

    >>> likely_target(np.eye(2) / 3.0, np.array([1.0, 3.0]))
    array([0.5, 1.5])
    """
    target = blas.dtrsv(factor, blas.dtrsv(factor, weights, lower=1, trans=1), lower=1)
    size = np.abs(target).mean()
    return target / size if size > 0.0 else target
