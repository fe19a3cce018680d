"""GEEM for trees: the covariance is one over random trees, in place of the thresholds that stumps have.

A tree of D random questions x_d >= theta whose 2^D leaves vote +1 or -1 at random gives two samples the same vote for
certain where they share a leaf, and by a coin where not. So E[h(x_i) h(x_j)] is the share of trees in which they share
one, the kernel of totally random trees (Davies & Ghahramani 2014), and

    Sigma_ij = y_i y_j (leaves shared of M) / M + ridge [i = j].
"""

from __future__ import annotations

import numpy as np

from boostrun.papers.reservoir.geem import Geem, _Elimination
from boostrun.papers.reservoir.kernels.forest import shared_leaves
from boostrun.papers.reservoir.keys import GeemTreesKeys
from boostrun.papers.reservoir.strategies import Batch


class GeemTrees(GeemTreesKeys, Geem):
    """Keep the r samples that hold the largest expected edge of random trees, drawn anew each round.

    ``covariance_dims`` has no effect: trees ask features at random.

    Parameters
    ----------
    {parameters}

    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> codes = np.array([[0, 3], [0, 3], [200, 90]], dtype=np.uint8)  # the first two are alike: one is enough
    >>> batch = Batch(codes, np.ones(3), np.array([1.0, 0.9, 0.8]), np.zeros(3, int))
    >>> kept, weights = GeemTrees(ridge=0.01)(batch, 2, np.random.default_rng(0))
    >>> kept.tolist()
    [0, 2]
    """

    def _prepare(self, batch: Batch, labels: np.ndarray, r: int, rng: np.random.Generator):
        n = len(batch.samples)
        leaves = self._leaves(batch.samples, rng)
        if self._memory is None or self._memory.columns.shape != (n - r, n):
            self._memory = _Elimination(n, n - r)
        return self._memory, lambda raised, out: shared_leaves(leaves, labels, self.ridge + raised, out)

    def _leaves(self, samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(n, M) uint8: the leaf of each sample in each tree; a question is a value of a sample that some are below."""
        varied = np.flatnonzero((samples != samples[0]).any(axis=0))
        if not len(varied):
            return np.zeros((len(samples), 1), np.uint8)
        features = rng.choice(varied, (self.covariance_depth, self.covariance_trees))
        asked = samples[:, features]
        thresholds = np.take_along_axis(asked, rng.integers(0, len(samples), (1, *features.shape)), axis=0)
        lowest = asked.min(axis=0)
        above = np.where(thresholds > lowest, asked >= thresholds, asked > lowest)
        bits = np.left_shift(np.uint8(1), np.arange(self.covariance_depth, dtype=np.uint8))
        return (above * bits[:, None]).sum(axis=1, dtype=np.uint8)
