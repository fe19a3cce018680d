"""The evaluations that a record tells, by number of rounds."""

import numpy as np
import pytest

from boostrun.papers.adaptive import evaluation as evaluate_votes
from boostrun.papers.adaptive.adaboost_mh import AdaBoostMH
from boostrun.papers.adaptive.policies import Tasting1Q
from boostrun.papers.reservoir import budgeted_evaluation as evaluate_budgeted
from boostrun.papers.reservoir.budgeted import BudgetedBoosting


class Bank:
    """120 samples of two families of features, for training and for testing."""

    families = (("some", 0, 5), ("others", 5, 12))

    def samples(self, part):
        return np.random.default_rng(0).integers(0, 256, (120, 12)).astype(np.uint8)

    def codes(self, part):
        return np.ascontiguousarray(self.samples(part).T)

    def labels(self, part):
        return self.samples(part)[:, 3] // 100


@pytest.mark.parametrize("policy", ["uniform_naive", "tasting_1q", "tasting_ucb", "mas_naive", "tasting_laminating"])
def test_a_curve_counts_what_is_charged_and_all_that_finds_stumps(policy):
    model = AdaBoostMH(policy, n_estimators=7, random_state=0)
    result = evaluate_votes.train_and_test(model, Bank(), np.random.SeedSequence(0))
    curve, ledger = result["curve"], model.ledger_
    for t, charged, all_ in zip(curve["T"], curve["evaluations"], curve["all_evaluations"]):
        assert charged == sum(ledger["selection"][:t]) + sum(ledger["pilot"][:t])
        assert all_ == charged + sum(ledger["tasting"][:t])
    assert charged == result["cost"]["evaluations"] and all_ - charged == result["cost"]["evaluations_tasting"]
    assert (all_ > charged) == policy.startswith(("tasting_1q", "tasting_ucb"))


def test_so_does_that_of_a_reservoir_with_a_budget_over_all_its_problems():
    model = BudgetedBoosting("rand", policy="tasting_1q", Q=2, reservoir_size=20, n_estimators=3, random_state=0)
    result = evaluate_budgeted.train_and_test(model, Bank(), np.random.SeedSequence(0))
    watched = min(Tasting1Q().R, 5) + min(Tasting1Q().R, 7)
    assert result["curve"]["evaluations"] == [3 * 2 * 20 * t for t in (1, 2, 3)]  # three classes
    assert result["curve"]["all_evaluations"] == [3 * (2 + watched) * 20 * t for t in (1, 2, 3)]
