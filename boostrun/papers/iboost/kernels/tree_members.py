"""Hoeffding trees in place of the naive Bayes classifiers of :mod:`.incremental`: the same functions by the same names.

Where those take ``gaussian`` these take :class:`boostrun.kernels.hoeffding.Rules`.
"""

from __future__ import annotations

from boostrun.kernels import hoeffding
from boostrun.kernels.plain import kernel, part, written_in
from boostrun.papers.iboost.kernels.incremental import winner

__all__ = ["answer", "forget", "probabilities", "see", "train", "winner"]

probabilities, forget = hoeffding.probabilities, hoeffding.forget


@written_in
def see(spread, x, share):
    """What all examples say of a feature: trees do not ask."""


@part
def train(learners, j, x, y, weight, floor, rules):
    """Tree j meets the example (x, class y) with a weight."""
    hoeffding.learn(learners, j, x, y, weight, rules)


@kernel
def answer(learners, j, x, rules):
    """Class that tree j gives x (d,); before its first example the second of two classes, else the lowest."""
    if learners.weight.shape[1] == 2 and learners.weight[j, 0] == 0.0 and learners.weight[j, 1] == 0.0:
        return 1
    return hoeffding.answer(learners, j, x, rules)
