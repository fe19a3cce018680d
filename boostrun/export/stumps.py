"""Sums of stumps in C: a row of stumps a class, or stumps with a weight for every class.

Stumps are added in the order that Python adds them.
"""

from __future__ import annotations

import numpy as np

from ..errors import BoostrunError
from .parts import ProgramParts
from .saved import Saved
from .splits import split_program
from .text import table

_FOR_EACH_CLASS = """
    void scores(const @type@ *x, double *out)
    {
        for (int k = 0; k < @k@; k++) {
            double sum = 0.0;
            for (int t = 0; t < @rounds@; t++)
                sum += @value@ >= threshold[k][t] ? step[k][t] : -step[k][t];
            out[k] = sum;
        }
    }
"""
_FOR_ALL_CLASSES = """
    void scores(const @type@ *x, double *out)
    {
        for (int k = 0; k < @k@; k++)
            out[k] = base[k];
        for (int t = 0; t < @rounds@; t++) {
            const double side = @value@ >= threshold[t] ? 1.0 : -1.0;
            for (int k = 0; k < @k@; k++)
                out[k] += side * step[t][k];
        }
    }
"""


def stump_ensemble(saved: Saved) -> ProgramParts:
    """The C of a StumpEnsemble."""
    k, rounds = saved.model.features.shape
    what = f"boosted stumps, {rounds} for each of {k} scores"
    return _parts(saved, what, [table("step", saved.model.steps)], _FOR_EACH_CLASS, "feature[k][t]", rounds, k)


def vote_ensemble(saved: Saved) -> ProgramParts:
    """The C of a VoteEnsemble."""
    steps = saved.model.alphas[:, None] * saved.model.votes
    return for_all_classes(saved, steps, np.zeros(steps.shape[1]), f"with votes for {steps.shape[1]} scores")


def for_all_classes(saved: Saved, steps: np.ndarray, base: np.ndarray, how: str) -> ProgramParts:
    """The C of base[k] + sum_t steps[t, k] phi_t(x), phi_t = +1 where x[features[t]] >= thresholds[t], else -1.

    ``features`` and ``thresholds`` (T,) are those of the saved model; ``steps`` (T, k) and ``base`` (k,) are float64;
    ``how`` says in words what the stumps do for the classes. Raises BoostrunError where there is no stump.
    """
    rounds, k = steps.shape
    weights = [table("base", base), table("step", steps)]
    return _parts(saved, f"{rounds} stumps {how}", weights, _FOR_ALL_CLASSES, "feature[t]", rounds, k)


def _parts(
    saved: Saved, what: str, weights: list[str], template: str, column: str, rounds: int, k: int
) -> ProgramParts:
    if rounds == 0:
        raise BoostrunError("the model holds no stump: there is nothing to export")
    notes = "a comparison for each stump, and an addition for each stump and score"
    return split_program(saved, what, template, column, weights, rounds * k, notes, k=k, rounds=rounds)
