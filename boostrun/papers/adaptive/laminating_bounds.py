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
    that often, whatever Q. The first round has S = ``samples``; c is that of :func:`constant`. Arrays broadcast.

    >>> round(float(failure(0.5, 10_000)), 6)
    0.000449
    """
    return 4.0 / np.expm1(np.square(delta) * samples / constant(scope))


def constant(scope: float = 2.0) -> float:
    """2 range^2 (sum_k sqrt(k / 2^(k-1)))^2, the theorem's constant for products of a range.

    >>> round(constant(), 1), round(constant(1.0), 1)
    (274.9, 68.7)
    """
    return 2.0 * scope**2 * ROUNDS**2


def simulated_failures(q: int, samples: int, delta: float, shared: bool, runs: int, rng: np.random.Generator) -> float:
    """How often, of ``runs`` rounds, the best of q features with edge delta / 2 is not among the half that survives,
    when all others have -delta / 2; ``shared``: all are judged on the same samples. Ties are broken at random.

    Cost O(runs q), with shared samples O(runs q S) in blocks of a hundred rounds.
    """
    right = (1.0 + np.where(np.arange(q) == 0, delta, -delta) / 2.0) / 2.0
    lost = 0
    for start in range(0, runs, 100):
        block = min(100, runs - start)
        if shared:  # as dependent as can be: one uniform number a sample, shifted from feature to feature
            draws = (rng.random((block, 1, samples)) + rng.random((1, q, 1))) % 1.0
            counts = (draws < right[:, None]).sum(axis=2)
        else:
            counts = rng.binomial(samples, right, (block, q))
        survivors = np.argsort(-counts - 0.5 * rng.random((block, q)), axis=1)[:, : q // 2]
        lost += int((survivors != 0).all(axis=1).sum())
    return lost / runs
