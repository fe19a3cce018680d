"""Measure a reservoir with a budget of features: its evaluations are counted besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boostrun.evaluation.staged import Staged
from boostrun.papers.adaptive.evaluation import evaluations


class BudgetedStaged(Staged):
    """As :class:`boostrun.evaluation.staged.Staged`, with the evaluations in cost and curve."""

    def curve(self, model: Any, data: Any, marks: Sequence[int]) -> dict[str, Any]:
        """Evaluations charged, and all that found stumps, by the end of each number of rounds."""
        charged, all_ = evaluations(model.ledger_)
        return {
            "evaluations": [int(charged[t - 1]) for t in marks],
            "all_evaluations": [int(all_[t - 1]) for t in marks],
        }

    def extra(self, model: Any, data: Any, curve: dict[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
        """Evaluations by account, over all rounds."""
        cost: dict[str, Any] = {f"evaluations_{account}": int(spent.sum()) for account, spent in model.ledger_.items()}
        return {}, cost | {"evaluations": model.evaluations_}
