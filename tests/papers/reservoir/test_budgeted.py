"""A budget on features inside the reservoir loop."""

import numpy as np
import pytest

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.papers.adaptive import POLICIES
from boostrun.papers.reservoir.budgeted import BudgetedReservoirClassifier
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from tests.marks import slow_but

SIZES = {"reservoir_size": 64, "n_estimators": 12, "random_state": 0}


def source(classes=3):
    rng = np.random.default_rng(1)
    samples = rng.integers(0, 256, (500, 20)).astype(np.uint8)
    noise = rng.normal(0.0, 30.0, 500)
    labels = np.digitize(samples[:, 3] + samples[:, 11] + noise, [170, 340]) if classes == 3 else samples[:, 3] > 99
    return ArraySource(samples, labels, seed=0)


@pytest.mark.parametrize("strategy", ["rand", "wsam", "geem"])
def test_all_features_of_the_budget_are_the_search_of_all_features(strategy):
    """64 equal weights are exact in single precision: ties of the first round fall alike."""
    budgeted = BudgetedReservoirClassifier(strategy, policy="uniform_naive", Q=20, budget_multiplier=20.0, **SIZES)
    free = ReservoirClassifier(strategy, **SIZES)
    budgeted, free = (model.fit_source(source()).ensemble_ for model in (budgeted, free))
    for name in ("features", "thresholds", "polarities", "coefficients"):
        np.testing.assert_array_equal(getattr(budgeted, name), getattr(free, name))


@pytest.mark.parametrize("policy", slow_but(("uniform_naive", "tasting_1q"), POLICIES))
def test_no_policy_exceeds_the_budget_and_all_learn(policy):
    rounds = 40 if policy == "few_features" else 12  # a feature every few rounds, the best of four that are drawn
    model = BudgetedReservoirClassifier("wsam", policy=policy, Q=4, budget_multiplier=4.0, **SIZES)
    model.set_params(n_estimators=rounds).families = [("some", 0, 5), ("others", 5, 20)]
    model.fit_source(source(classes=2))
    charged = model.ledger_["selection"] + model.ledger_["pilot"]
    assert charged.shape == (rounds,) and 0 < charged.max() <= 4 * 64
    assert model.evaluations_ == charged.sum() and (model.ledger_["refit"] == 64).all()
    test = source(classes=2)
    accuracy = np.mean((model.ensemble_.decision(test.samples)[0] >= 0) == test.labels)
    assert accuracy > (0.7 if policy != "best_family" else 0.6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"policy": "laminated"}, "laminating"),
        ({"shared": True}, "reservoir for each class"),
        ({"budget_multiplier": 0}, "above 0"),
        ({"Q": 20}, "budget"),
    ],
)
def test_bad_parameters_have_their_sentence(parameters, message):
    with pytest.raises(BoostrunError, match=message):
        BudgetedReservoirClassifier("geem", **{"budget_multiplier": 10.0, **SIZES, **parameters}).fit_source(source())
