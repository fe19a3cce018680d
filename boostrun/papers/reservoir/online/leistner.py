"""On-line GradientBoost by selectors over a shared pool of learners (Leistner, Saffari, Roth & Bischof 2009)."""

from __future__ import annotations

from boostrun.papers.reservoir.kernels import online as kernels
from boostrun.papers.reservoir.online.bisc import Bisc


class Leistner(Bisc):
    """:class:`Bisc` with the weights of the logistic loss in place of lambda::

        for each sample (x, y):
            train every learner of the pool on (x, y)
            F = 0
            for each selector k:
                w = -l'(y F) = 1 / (1 + exp(y F))
                add w to the selector's counts of every learner, and take the best free one, as Bisc does
                F += a_k h_k(x)
            give the worst free learner a fresh random feature

    Weights stay within [0, 1], so that a mislabelled sample cannot carry the selectors away.
    """

    _kernel = staticmethod(kernels.gradient_boost_selectors)
