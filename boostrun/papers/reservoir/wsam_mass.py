"""WSam with the mass that GEEM carries: what of GEEM's lead is its choice of samples, and what the mass?"""

from __future__ import annotations

import numpy as np

from boostrun.papers.reservoir.strategies import Strategy, WSam


class WSamMass(Strategy):
    """WSam whose kept samples stand for those dropped, from round to round: each for an equal share of all weight.

    A sample that is kept in proportion to its weight w stands for 1 / w of it (importance sampling), so that all r
    weigh W / r alike, with W the sum of the weights. The paper carries a mass for GEEM only. Cost O(r + q).

    Examples
    --------
    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> weights = np.array([1.0, 0.0, 3.0])
    >>> batch = Batch(np.zeros((3, 1)), np.ones(3), weights, np.zeros(3, int))
    >>> WSamMass()(batch, 2, np.random.default_rng(0))
    (array([0, 2]), array([2., 2.]))
    """

    carry_mass = True

    def __call__(self, batch, r, rng):
        kept, _ = WSam()(batch, r, rng)
        return kept, np.full(r, batch.weights.sum() / r)
