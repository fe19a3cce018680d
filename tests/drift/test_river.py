"""Stream learners as river's: its own checks of an estimator."""

import pytest

from boostrun import IBoostClassifier

checks = pytest.importorskip("river.checks")


@pytest.mark.slow
@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
def test_rivers_checks(base):
    from boostrun.drift.river_learner import RiverLearner

    model = RiverLearner(IBoostClassifier(n_window=20, budget=10, base=base))
    ran = 0
    for check in checks.yield_checks(model):
        check(model.clone())
        ran += 1
    assert ran > 40
