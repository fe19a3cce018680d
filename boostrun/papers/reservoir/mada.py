"""Mada: sampling by MadaBoost's bounded weights, then reweighting (Lefakis & Fleuret 2013, Table 5).

MadaBoost (Domingo & Watanabe 2000) bounds a sample's weight by its initial value, p_i = min(1, exp(-y_i F(x_i))).
How the reservoir paper combines sampling and reweighting is not said; our reading: draw by p, and let each drawn
sample carry its loss weight over its expected number of draws,

    v_i = w_i / (r P_i),   P_i = p_i / sum_j p_j,

so that sum over the draws of v_i y_i h(x_i) has the expectation sum_{i<=N} w_i y_i h(x_i) for every stump h: the
estimate of each edge of the loss is unbiased. With the logistic loss w_i / p_i lies in [1/2, 1], so no draw dominates;
with the exponential loss it is 1 for samples classified right and w_i, unbounded, for the others.

::

    for t = 1..T:
        p_i <- min(1, exp(-y_i F_{t-1}(x_i))) for all N samples
        rows <- r draws with replacement, i with probability P_i
        h_t, a_t <- stump and step from those r with weights v_i
"""

from __future__ import annotations

import numpy as np

from boostrun.papers.reservoir.kernels.full_data import bounded_weights
from boostrun.papers.reservoir.subsampling import SubSampling, draw_proportionally


class Mada(SubSampling):
    """Draw by bounded weight, then weigh by loss weight over the chance of being drawn."""

    def pick(self, data, r, loss, rng):
        bounded = np.empty(data.n)
        bounded_weights(data.y, data.scores, bounded)
        if data.shares is not None:
            bounded *= data.shares
        rows = draw_proportionally(bounded, r, rng)
        weights, chances = loss.weights(data.y[rows] * data.scores[rows]), bounded[rows]
        if data.shares is not None:
            weights *= data.shares[rows]
        # as the margin grows both vanish, and their ratio tends to 1 for either loss
        ratio = np.divide(weights, chances, out=np.ones(r), where=chances > 0.0)
        total = bounded.sum()
        return rows, ratio * (total / r if total > 0.0 else 1.0)
