"""MABSplit: features are bandits' arms, seen on batches until their intervals part (Tiwari et al. 2022)."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels.lanes import zeros
from boostrun.papers.adaptive.kernels import arms
from boostrun.papers.adaptive.keys import MABSplitKeys
from boostrun.papers.adaptive.policies.policy import Policy

_ROUNDING = 1e-6  # histograms are summed in single precision: of features this near the first counts
_FIRST = 4  # the first batch costs at most one part in so many of the budget


class MABSplit(MABSplitKeys, Policy):
    """Successive elimination of (feature, threshold) pairs, on batches of samples that all that are left look at.

    The paper estimates an impurity from histograms that grow batch by batch, with intervals by the delta method. Here
    an arm is estimated by its edge, of samples drawn by weight (:func:`boostrun.papers.adaptive.kernels.arms.intervals`
    has the variance). After each batch an arm is out when its interval ends below the largest lower end of all, and a
    feature is out with its last arm: a batch costs as many pairs as it has samples, for each feature that is left. As
    in the paper, once as many samples were drawn as there are, those left are looked at on all of them; here only where
    the rest of the budget bears it. A budget that is spent ends the step with the best estimate.

    ``Q=None`` is as many features as leave three quarters of the budget after the first batch.

    Parameters
    ----------
    {parameters}

    References
    ----------
    .. [1] M. Tiwari, R. Kang, J. Lee, C. Piech, I. Shomorony, S. Thrun and M. J. Zhang, "MABSplit: Faster Forest
       Training Using Multi-Armed Bandits", NeurIPS 2022.
    """

    def start(self, board) -> None:
        """Fix Q for the run; raises BoostrunError when the budget does not buy a sample for each feature."""
        many = board.budget // (_FIRST * min(self.batch, board.n))
        self.q = min(self.Q if self.Q is not None else max(2, many), board.n_features)
        if board.budget < self.q:
            raise BoostrunError(f"a budget of {board.budget} a step is too small for MABSplit with Q={self.q}")
        self.z = NormalDist().inv_cdf(1.0 - self.delta / 2.0)

    def choose(self, board) -> int:
        features = board.draw(self.q)
        slots = np.arange(len(features))
        histograms = zeros(256 * len(features), board.signed.shape[1])
        classes = int(np.flatnonzero(np.abs(board.signed).max(axis=0)).max(initial=0)) + 1  # beyond them is padding
        moments = arms.second_moments(board.signed, classes, board.sampling == "uniform")
        edges = np.zeros(len(features))
        drawn = 0
        while len(features) > 1:
            size = min(self.batch, board.left // len(features))
            if size >= board.n or (drawn >= board.n and board.left >= len(features) * board.n):
                return int(features[np.argmax(board.edges(features)[0])])
            if size < 1:
                break
            sample = board.sample(size)
            board.charge("selection", len(features) * size)
            arms.insert(board.codes, features, slots, sample.rows, sample.signed, np.float32(size), histograms)
            drawn += size
            edges, lower, upper = np.empty((3, len(features)))
            arms.intervals(histograms, slots, drawn, moments, self.z, edges, lower, upper)
            left = upper >= lower.max() - _ROUNDING
            features, slots, edges = features[left], slots[left], edges[left]
        return int(features[np.argmax(edges >= edges.max() - _ROUNDING)])
