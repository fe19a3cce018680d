"""WSS, weighted sub-sampling of all data (Lefakis & Fleuret 2013, Table 5).

::

    for t = 1..T:
        w_i <- loss weight of F_{t-1} on sample i, for all N samples
        rows <- r draws with replacement, i with probability w_i / sum_j w_j
        h_t, a_t <- stump and step from those r, unweighted: the draw has done the weighting
"""

from __future__ import annotations

import numpy as np

from boostrun.papers.reservoir.subsampling import SubSampling, draw_proportionally


class Wss(SubSampling):
    """Draw by weight, train without."""

    def pick(self, data, r, loss, rng):
        return draw_proportionally(data.weights(loss), r, rng), np.ones(r)
