"""AdaBoost.MH on a feature bank, measured: what a record of adaptive sampling holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.staged import Staged


class StagedVotes(Staged):
    """For :class:`boostrun.papers.adaptive.classifier.AdaBoostMHClassifier`, with any policy.

    To the curve of :class:`boostrun.evaluation.staged.Staged` come the error, ``log10_loss`` on the training part,
    ``evaluations`` charged and ``all_evaluations`` that found stumps, and ``family_steps``: how many of those rounds
    chose a feature of each family, or how many splits of their trees; with ``edge_gaps`` of the model those too, in
    percent, by round, and their mean.
    """

    def check(self, model: Any, data: Any) -> None:
        """Start the policy on the training part, without boosting.

        Raises BoostrunError where a trial could not start: a budget too small, a family that is not there.
        """
        model.set_up(data.codes("train"), data.families, np.random.default_rng(0))

    def marks(self, model: Any) -> list[int]:
        """As they are, or every round where edge gaps are measured."""
        return list(range(1, model.ensemble_.n_rounds + 1)) if model.edge_gaps else super().marks(model)

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on the training part of ``data``, with its families, and score it on the test part."""
        result = super().run(model, data, seeds)
        metrics, cost, curve = result["metrics"], result["cost"], result["curve"]
        marks = curve["T"]
        charged, every = evaluations(model.ledger_)
        curve["test_error_pct"] = [100.0 - accuracy for accuracy in curve["test_accuracy_pct"]]
        curve["log10_loss"] = [float(model.staged_log10_loss_[t - 1]) for t in marks]
        curve["evaluations"] = [int(charged[t - 1]) for t in marks]
        curve["all_evaluations"] = [int(every[t - 1]) for t in marks]
        curve["family_steps"] = _family_steps(model, data.families, marks)
        metrics["log10_loss"] = curve["log10_loss"][-1]
        if model.edge_gaps:
            curve["edge_gap_pct"] = [100.0 * float(gap) for gap in model.staged_edge_gap_]
            metrics["edge_gap_pct"] = 100.0 * float(model.staged_edge_gap_.mean())
        cost |= {f"evaluations_{account}": int(spent.sum()) for account, spent in model.ledger_.items()}
        return {"metrics": metrics, "cost": cost, "curve": curve}


def evaluations(ledger: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations by the end of each step (T,): those charged, and all that were made to find stumps, tasting's too."""
    charged = np.cumsum(ledger["selection"] + ledger["pilot"])
    return charged, charged + np.cumsum(ledger["tasting"])


def _family_steps(model: Any, families: Sequence, marks: Sequence[int]) -> dict[str, list[int]]:
    """By family, how many of the first stumps, or of the splits of the first trees, have a feature of it, by mark."""
    ensemble, at = model.ensemble_, np.array(marks) - 1
    family = np.searchsorted([start for _, start, _ in families], ensemble.features, side="right") - 1
    if model.weak_learner == "tree":
        family[~ensemble.splits] = -1
    found = {}
    for k, (name, _, _) in enumerate(families):
        in_round = (family == k).reshape(len(family), -1).sum(axis=1)
        found[name] = np.cumsum(in_round)[at].tolist()
    return found
