"""Few features: never more than were asked for, one at a time, each the best there is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.adaptive.policies import FewFeatures, UniformNaive


def data(n=300, features=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, (n, features)).astype(np.uint8)
    return X, (X[:, 3] > 20).astype(int) + (X[:, 7] + X[:, 1] // 2 > 25)


def boosted(policy, weak_learner="stump", n_estimators=30, **given):
    given = {"depth": 3, "budget_multiplier": 12, "random_state": 0} | given
    return AdaBoostMHClassifier(policy, n_estimators=n_estimators, weak_learner=weak_learner, **given).fit(*data())


def rounds_of(model):
    """The features of each round."""
    ensemble = model.ensemble_
    if model.weak_learner == "stump":
        return [{int(feature)} for feature in ensemble.features]
    return [set(features[splits].tolist()) for features, splits in zip(ensemble.features, ensemble.splits)]


@pytest.mark.parametrize("weak_learner", ["stump", "tree"])
@settings(max_examples=15, deadline=None)
@given(few=st.integers(1, 6), wait=st.integers(1, 5), q=st.sampled_from([None, 2, 5]))
def test_features_come_one_by_one_and_no_more_than_were_asked_for(weak_learner, few, wait, q):
    model = boosted(FewFeatures(Q=q, features_used=few, rounds_a_feature=wait), weak_learner)
    had = set()
    for t, features in enumerate(rounds_of(model)):
        had |= features
        assert len(had) <= min(few, t // wait + 1)
    assert (model.feature_importances_ > 0).sum() <= few
    assert model.ledger_["selection"].max() <= 12 * 300 * (1 if weak_learner == "stump" else 3)


def test_one_that_comes_is_the_best_of_all():
    every = boosted(UniformNaive(Q=12), n_estimators=1).ensemble_.features[0]
    few = boosted(FewFeatures(features_used=3, rounds_a_feature=2), n_estimators=7)
    assert few.ensemble_.features[0] == every
    assert len(set(few.ensemble_.features[:2])) == 1 and len(set(few.ensemble_.features)) == 3


def test_without_a_bound_and_a_wait_it_is_the_search_of_everything():
    few, every = boosted(FewFeatures(rounds_a_feature=1)), boosted(UniformNaive(Q=12))
    new = [len(set(every.ensemble_.features[: t + 1])) <= t + 1 for t in range(30)]
    assert all(new) and (few.ensemble_.features == every.ensemble_.features).all()
    assert (few.staged_log10_loss_ == every.staged_log10_loss_).all()


def test_the_features_that_are_worth_something_are_found():
    model = boosted(FewFeatures(features_used=3), "tree", 60)
    assert set(np.flatnonzero(model.feature_importances_)) == {1, 3, 7}
    assert model.score(*data(500, seed=1)) > 0.95


def test_a_second_fit_begins_with_no_feature():
    policy = FewFeatures(features_used=2)
    model = AdaBoostMHClassifier(policy, n_estimators=20, budget_multiplier=12, random_state=0)
    X, y = data()
    first = set(model.fit(X, y).ensemble_.features)
    second = set(model.fit(X[:, ::-1].copy(), y).ensemble_.features)
    assert second == {11 - feature for feature in first} and not hasattr(policy, "_used")


def test_more_than_the_budget_is_refused():
    with pytest.raises(BoostrunError, match=r"Q=5 features on all 300 samples cost 1500 .* its budget is 1200"):
        boosted(FewFeatures(Q=5), budget_multiplier=4)
    with pytest.raises(BoostrunError, match=r"Q=1 features on all 300 samples cost 300 .* its budget is 150"):
        boosted(FewFeatures(), budget_multiplier=0.5)


def test_it_keeps_a_budget_of_features_and_says_how_many_it_used():
    method = catalogue.methods()["few_features"]
    words = obtain(method.keeps["features"])(3, {"n_samples": 300, "n_features": 12, "n_classes": 3})
    assert words == {"algo.features_used": 3, "algo.budget_multiplier": 12.0}
    with pytest.raises(BoostrunError, match="a split has one feature"):
        obtain(method.keeps["features"])(0.5, {"n_samples": 300, "n_features": 12, "n_classes": 3})
