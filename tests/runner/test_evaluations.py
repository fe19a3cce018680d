"""The evaluations that a record tells, by number of rounds."""

import numpy as np

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


def test_a_curve_of_a_reservoir_with_a_budget_counts_evaluations_over_all_its_problems():
    model = BudgetedBoosting("rand", policy="tasting_1q", Q=2, reservoir_size=20, n_estimators=3, random_state=0)
    result = evaluate_budgeted.train_and_test(model, Bank(), np.random.SeedSequence(0))
    watched = min(Tasting1Q().R, 5) + min(Tasting1Q().R, 7)
    assert result["curve"]["evaluations"] == [3 * 2 * 20 * t for t in (1, 2, 3)]  # three classes
    assert result["curve"]["all_evaluations"] == [3 * (2 + watched) * 20 * t for t in (1, 2, 3)]
