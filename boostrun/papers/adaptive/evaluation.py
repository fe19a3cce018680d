"""Train AdaBoost.MH on a feature bank and measure it: what a record of adaptive sampling holds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.data.source import ArraySource
from boostrun.evaluation.staged import accuracy_pct, checkpoints
from boostrun.methods import one_vs_all


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """Fit ``model`` on the training part of ``bank``, with its families, and score it on the test part.

    Returns ``{"metrics", "cost", "curve"}``: ``log10_loss`` on the training part, ``test_error_pct`` and
    ``test_accuracy_pct``; the same by number of rounds, seconds, charged evaluations and all evaluations that found
    stumps, and how many of those rounds chose a feature of each family; with ``edge_gaps`` of the model those too, in
    percent, by round, and their mean.
    """
    begun = time.perf_counter()
    source = ArraySource(bank.samples("train"), bank.labels("train"), filter_seed, columns=bank.codes("train"))
    source.families = bank.families  # type: ignore[attr-defined]
    model.fit_source(source)
    trained = time.perf_counter()
    truth, marks = bank.labels("test"), checkpoints(model.ensemble_.n_rounds)
    if model.edge_gaps:
        marks = list(range(1, model.ensemble_.n_rounds + 1))
    charged, all_ = evaluations(model.ledger_)
    curve: dict[str, list] = {"T": marks, "log10_loss": [], "test_error_pct": [], "test_accuracy_pct": []}
    curve["train_seconds"] = [float(model.staged_train_seconds_[t - 1]) for t in marks]
    curve["evaluations"] = [int(charged[t - 1]) for t in marks]
    curve["all_evaluations"] = [int(all_[t - 1]) for t in marks]
    curve["log10_loss"] = [float(model.staged_log10_loss_[t - 1]) for t in marks]
    for scores in model.ensemble_.staged_decision(bank.codes("test"), marks):
        curve["test_accuracy_pct"].append(accuracy_pct(one_vs_all.predict(scores, model.classes_), truth))
    curve["test_error_pct"] = [100.0 - accuracy for accuracy in curve["test_accuracy_pct"]]
    curve["family_steps"] = _family_steps(model.ensemble_.features, bank.families, marks)  # type: ignore[assignment]
    metrics = {name: curve[name][-1] for name in ("test_accuracy_pct", "test_error_pct", "log10_loss")}
    if model.edge_gaps:
        curve["edge_gap_pct"] = [100.0 * float(gap) for gap in model.staged_edge_gap_]
        metrics["edge_gap_pct"] = 100.0 * float(model.staged_edge_gap_.mean())
    cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
    cost |= {f"evaluations_{account}": int(spent.sum()) for account, spent in model.ledger_.items()}
    return {"metrics": metrics, "cost": cost | {"evaluations": int(charged[-1])}, "curve": curve}


def evaluations(ledger: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations by the end of each step (T,): those charged, and all that were made to find stumps, tasting's too."""
    charged = np.cumsum(ledger["selection"] + ledger["pilot"])
    return charged, charged + np.cumsum(ledger["tasting"])


def _family_steps(features: np.ndarray, families, marks: list[int]) -> dict[str, list[int]]:
    """By family, how many of the first stumps have a feature of it, at each mark."""
    family = np.searchsorted([start for _, start, _ in families], features, side="right") - 1
    at = np.array(marks) - 1
    return {name: np.cumsum(family == k)[at].tolist() for k, (name, _, _) in enumerate(families)}
