"""Stream learners as river's: its own checks of an estimator."""

import pytest

from boostrun import IBoostAdwinClassifier, IBoostClassifier, IBoostGeemClassifier, IBoostTreesClassifier

checks = pytest.importorskip("river.checks")


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        *(IBoostClassifier(n_window=20, budget=10, base=base) for base in ("stump", "gnb", "bnb")),
        IBoostClassifier(n_window=20, budget=10, multiclass="ovr", flip_bad=True),
        IBoostAdwinClassifier(n_window=20, n_least=5, budget=10),
        IBoostGeemClassifier(n_window=20, batch_size=5, budget=10),
        IBoostTreesClassifier(n_window=20, budget=3, random_state=0),
    ],
)
def test_rivers_checks(learner):
    from boostrun.drift.river_learner import RiverLearner

    model = RiverLearner(learner)
    ran = 0
    for check in checks.yield_checks(model):
        check(model.clone())
        ran += 1
    assert ran > 40
