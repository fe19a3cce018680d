"""Hoeffding trees in place of the naive Bayes of :mod:`.incremental`: the same functions by the same names.

:class:`boostrun.kernels.hoeffding.Rules` take the place of ``gaussian``.
"""

from __future__ import annotations

from boostrun.kernels import hoeffding, kernel, part, written_in
from boostrun.papers.iboost.kernels.incremental import winner

__all__ = ["answer", "forget", "probabilities", "see", "train", "winner"]

probabilities, forget = hoeffding.probabilities, hoeffding.forget


@written_in
def see(spread, x, share):
    """Does nothing: trees do not use the features' spread."""


@part
def train(learners, j, x, y, weight, floor, rules):
    """Tree j learns (x, class y) with a weight."""
    hoeffding.learn(learners, j, x, y, weight, rules)


@kernel
def answer(learners, j, x, rules):
    """Class of x (d,) by tree j; an untrained one predicts the second of two classes, else the first."""
    if learners.weight.shape[1] == 2 and learners.weight[j, 0] == 0.0 and learners.weight[j, 1] == 0.0:
        return 1
    return hoeffding.answer(learners, j, x, rules)
