"""Train a reservoir with a budget of features on a bank, with its families, and count its evaluations."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.evaluation import staged as evaluate
from boostrun.papers.adaptive import evaluation as evaluate_votes


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """As :func:`boostrun.evaluation.staged.train_and_test`, with the evaluations in cost and curve."""
    model.families = bank.families
    result = evaluate.train_and_test(model, bank, filter_seed)
    for name, spent in zip(("evaluations", "all_evaluations"), evaluate_votes.evaluations(model.ledger_)):
        result["curve"][name] = [int(spent[t - 1]) for t in result["curve"]["T"]]
    result["cost"] |= {f"evaluations_{account}": int(spent.sum()) for account, spent in model.ledger_.items()}
    result["cost"]["evaluations"] = model.evaluations_
    return result
