"""Sums of stumps in C: ensembles with a row of stumps a class, with votes for all classes, and with shared subsets."""

from __future__ import annotations

import numpy as np

from boostrun.methods.ensemble import StumpEnsemble
from boostrun.papers.shareboost.shared_stumps import SharedStumps

from ..errors import BoostrunError
from .inputs import UNITS, thresholds_of
from .parts import ProgramParts
from .saved import Saved
from .text import block, table

_FOR_EACH_CLASS = """
    void scores(const @type@ *x, double *out)
    {
        for (int k = 0; k < @k@; k++) {
            double sum = 0.0;
            for (int t = 0; t < @rounds@; t++)
                sum += x[feature[k][t]] >= threshold[k][t] ? step[k][t] : -step[k][t];
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
            const double side = x[feature[t]] >= threshold[t] ? 1.0 : -1.0;
            for (int k = 0; k < @k@; k++)
                out[k] += side * step[t][k];
        }
    }
"""


def parts(saved: Saved) -> ProgramParts:
    """The C of a StumpEnsemble, VoteEnsemble or SharedStumps; stumps are added in the order that Python adds them."""
    model = saved.model
    x_type, thresholds = thresholds_of(saved.inputs, model.features, model.thresholds)
    tables = [table("feature", model.features.astype(np.int64)), table("threshold", thresholds)]
    if isinstance(model, StumpEnsemble):
        k, rounds = model.features.shape
        what, template = f"boosted stumps, {rounds} for each of {k} scores", _FOR_EACH_CLASS
        tables.append(table("step", model.steps))
    else:
        template = _FOR_ALL_CLASSES
        if isinstance(model, SharedStumps):
            steps, shared = 0.5 * model.columns, "shared by subsets of {} classes"
            base = (model.biases + steps).sum(axis=0)
        else:
            steps, shared = model.alphas[:, None] * model.votes, "with votes for {} scores"
            base = np.zeros(steps.shape[1])
        rounds, k = steps.shape
        what = f"{rounds} stumps {shared.format(k)}"
        tables += [table("base", base), table("step", steps)]
    if rounds == 0:
        raise BoostrunError("the model holds no stump: there is nothing to export")
    return ProgramParts(
        what=what,
        x_type=x_type,
        x_size=saved.n_features,
        x_text=UNITS[x_type],
        n_scores=k,
        code="\n\n".join([*tables, block(template, type=x_type, k=k, rounds=rounds)]),
        counted=rounds * k,
        runs=rounds * k,
        notes="a comparison for each stump, and an addition for each stump and score",
    )
