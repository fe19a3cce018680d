"""The evaluations that a record of a reservoir with a budget of features tells, by number of rounds."""

from types import SimpleNamespace

import numpy as np

from boostrun.inputs.bank import Table
from boostrun.papers.adaptive.policies import Tasting1Q
from boostrun.papers.reservoir.budgeted import BudgetedReservoirClassifier, BudgetedStaged

SEEDS = SimpleNamespace(filter=np.random.SeedSequence(0))


class Bank:
    """120 samples of two families of features, for training and for testing."""

    families = (("some", 0, 5), ("others", 5, 12))
    classes, meta = ("0", "1", "2"), {}

    def samples(self, part):
        return np.random.default_rng(0).integers(0, 256, (120, 12)).astype(np.uint8)

    def codes(self, part):
        return np.ascontiguousarray(self.samples(part).T)

    def labels(self, part):
        return self.samples(part)[:, 3] // 100


def test_a_curve_counts_evaluations_over_all_problems_and_the_policy_sees_both_families():
    sizes = {"reservoir_size": 20, "n_estimators": 3, "random_state": 0}
    model = BudgetedReservoirClassifier("rand", policy="tasting_1q", Q=2, **sizes)
    result = BudgetedStaged().run(model, Table(Bank()), SEEDS)
    watched = min(Tasting1Q().R, 5) + min(Tasting1Q().R, 7)
    assert result["curve"]["evaluations"] == [3 * 2 * 20 * t for t in (1, 2, 3)]  # three classes
    assert result["curve"]["all_evaluations"] == [3 * (2 + watched) * 20 * t for t in (1, 2, 3)]
    assert result["cost"]["evaluations"] == model.evaluations_ == result["curve"]["evaluations"][-1]
    assert result["cost"]["evaluations_tasting"] == model.ledger_["tasting"].sum() > 0
    assert result["metrics"]["test_accuracy_pct"] == result["curve"]["test_accuracy_pct"][-1]


def test_its_warm_up_trains_a_small_one():
    small = BudgetedReservoirClassifier(reservoir_size=3, n_estimators=3, budget_multiplier=100.0, random_state=0)
    BudgetedStaged().warm_up(small, Table(Bank()))
    assert small.ensemble_.n_rounds == 3
