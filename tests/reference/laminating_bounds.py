"""How often laminating loses a good feature, at most (Dubout & Fleuret 2014, lemma and theorem of section 4).

Edges are means of S products of -1 and +1, variables of range 2, for which Hoeffding gives the lemma's constant 8. The
paper prints the theorem with 69, which belongs to variables of range 1; with +-1 products that cannot hold.
"""

from __future__ import annotations

import numpy as np

#: sum_k sqrt(k / 2^(k-1)): shares of delta over the rounds k = 1, 2, ... that make each round as sure as the first
ROUNDS = float(np.sum([np.sqrt(k / 2.0 ** (k - 1)) for k in range(1, 200)]))


def round_failure(delta, samples, scope: float = 2.0):
    """4 exp(-delta^2 S / (2 range^2)): all survivors of a round are worse than its best feature by ``delta``, at most
    that often.

    Edges are estimated on S = ``samples``; ``scope`` is the range of the products. Arrays broadcast.

    >>> round(float(round_failure(0.5, 200)), 6)
    0.007722
    """
    return 4.0 * np.exp(-np.square(delta) * samples / (2.0 * scope**2))


def failure(delta, samples, scope: float = 2.0):
    """4 / (exp(delta^2 S / c) - 1): the feature that laminating ends with is worse than its best by ``delta``, at most
    that often, whatever Q. The first round has S = ``samples``; c = 2 range^2 (sum_k sqrt(k / 2^(k-1)))^2 = 274.9.

    >>> round(2 * 2.0**2 * ROUNDS**2, 1), round(2 * 1.0**2 * ROUNDS**2, 1)
    (274.9, 68.7)
    """
    return 4.0 / np.expm1(np.square(delta) * samples / (2.0 * scope**2 * ROUNDS**2))
