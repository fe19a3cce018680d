"""State and votes of both online boosters (Beygelzimer, Kale & Luo 2015).

There is one problem of two classes, or one for each class against the rest. In problem k the label of an example of
class c is y = +1 if c = k (with two classes: if c = 1), else -1. h_i is the vote of learner i, -1.0 or +1.0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from .bases import Bases, Spread, looked_at, margin


class Booster(NamedTuple):
    """State of K problems with N learners each.

    bases, spread : the learners, and statistics of the features.
    alpha : (K, N) float64, coefficients of AdaBoost.OL.
    log_experts : (K, N) float64, ln v_i less its maximum over i; expert i is the first i learners' weighted vote.
    expert : (K,) int64, the expert that the next example is answered by, counted from 0.
    seen : (K,) int64, examples met by each problem.
    """

    bases: Bases
    spread: Spread
    alpha: np.ndarray
    log_experts: np.ndarray
    expert: np.ndarray
    seen: np.ndarray

    @classmethod
    def fresh(cls, problems: int, columns: np.ndarray, n_features: int, perceptron: bool) -> Booster:
        """Nothing learnt."""
        shape = (problems, len(columns))
        return cls(
            Bases.fresh(problems, columns, perceptron), Spread.fresh(n_features), np.zeros(shape), np.zeros(shape),
            np.zeros(problems, np.int64), np.zeros(problems, np.int64),
        )  # fmt: skip

    def with_class(self, perceptron: bool) -> Booster:
        """The state with one more class, as a new problem without examples.

        One problem of two classes becomes three: it stands for the second class, mirrored for the first.
        """
        new = Booster.fresh(1, self.bases.columns, len(self.spread.mean), perceptron)
        mirrored = [self._replace(bases=self.bases.mirrored())] if len(self.alpha) == 1 else []
        boosters = [*mirrored, self, new]
        bases = Bases(self.bases.columns, *map(np.concatenate, zip(*(booster.bases[1:] for booster in boosters))))
        return Booster(bases, self.spread, *map(np.concatenate, zip(*(booster[2:] for booster in boosters))))


@njit(cache=True)
def sign(value):
    return 1.0 if value >= 0.0 else -1.0


@njit(cache=True)
def belongs(label, k, problems):
    """Whether an example of the class ``label`` is a positive one of problem k: of two classes the second, else k."""
    return label == (1 if problems == 1 else k)


@njit(cache=True)
def said_by(booster, perceptron, k, x, votes):
    """Margins (N,) of the learners of problem k into ``votes``."""
    for i in range(len(votes)):
        votes[i] = margin(booster.bases, perceptron, k, i, x)


@njit(cache=True)
def code(scores):
    """The class: of two the second for a score of at least 0, of more the largest, of equals the lowest."""
    return int(scores[0] >= 0.0) if len(scores) == 1 else int(np.argmax(scores))


@njit(cache=True)
def margins(booster, X, perceptron):
    """Margins (K, n, N) of all learners on the rows of X (n, d), without learning."""
    K, N = booster.alpha.shape
    out, z = np.empty((K, len(X), N)), np.empty(X.shape[1])
    for t in range(len(X)):
        x = looked_at(booster.spread, perceptron, X[t], z)
        for k in range(K):
            said_by(booster, perceptron, k, x, out[k, t])
    return out
