"""Kept answers for a hold-out change no prediction, and each member answers once."""

import numpy as np
import pytest

from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import committee
from boostrun.papers.iboost.kernels.committee import CommitteeMembers, HeldOut
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier
from boostrun.papers.iboost.window_committees import AdaBoostWindowClassifier, FLBClassifier, OCBClassifier

COMMITTEES = [
    IBoostClassifier(30, 9, 1, 5),
    IBoostClassifier(30, 9, 2, 1, update="batch", base="gnb"),
    IBoostClassifier(30, 9, 1, 5, eta=0.3),  # loses members to negative coefficients
    pytest.param(AdaBoostWindowClassifier(30, 9), marks=pytest.mark.slow),
    FLBClassifier(30, 4),  # ties of an even vote
    pytest.param(OCBClassifier(30, 9), marks=pytest.mark.slow),
]


def drifting(n_classes, n=400, d=3):
    """Attributes with few values, so that stumps and scores are often equal, and a concept that turns round."""
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 7, (n, d)).astype(float)
    y = (X[:, 0] + X[:, 1] > 6).astype(int) + (n_classes > 2) * (X[:, 2] > 3)
    y[n // 2 :] = n_classes - 1 - y[n // 2 :]
    return X, y, rng.integers(0, 7, (60, d)).astype(float)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", COMMITTEES, ids=lambda model: type(model).__name__)
def test_predictions_are_the_learners_own(model, n_classes):
    X, y, held = drifting(n_classes)
    learner, seen = type(model)(**model.get_params()), set()
    kept = learner.answers_on(held)
    for start in range(0, len(y), 5):
        learner.test_then_train(X[start : start + 5], y[start : start + 5], np.arange(n_classes))
        predicted = kept()
        np.testing.assert_array_equal(predicted, learner.predict(held))
        seen.add(tuple(predicted))
    assert len(seen) > 2


def test_a_score_of_zero_is_the_second_class_and_sums_keep_their_order():
    """1e16 - 1 - 1e16 is 0 from the left, and -1 in another order."""

    class Fixed:
        classes_ = np.array(["no", "yes"])

        def members(self):
            models = np.array([[0.0, -np.inf, c, c] for c in self.said])
            return CommitteeMembers(0, models, np.array([1e16, 1.0, 1e16]), 3, 2, True)

    fixed = Fixed()
    kept = HeldOut(fixed, np.zeros((1, 1)))
    for said, expected in ([1, 1, 0], "yes"), ([0, 0, 1], "yes"), ([0, 0, 0], "no"), ([1, 0, 0], "yes"):
        fixed.said = said
        assert (fixed.said, kept().tolist()) == (said, [expected])


def test_a_member_is_asked_once_wherever_it_moves(monkeypatch):
    asked = []
    respond = committee.respond_window
    monkeypatch.setattr(committee, "respond_window", lambda *given: (asked.append(1), respond(*given)))
    X, y, held = drifting(2)
    learner = IBoostClassifier(50, 9, 1, 5)
    kept = learner.answers_on(held)
    for start in range(len(y)):
        learner.test_then_train(X[start : start + 1], y[start : start + 1], [0, 1])
        kept()
    assert learner.n_removed_budget_ > 50  # each time the last member takes the row of the one that goes
    assert sum(asked) <= learner.n_added_


def test_a_learner_without_fixed_members_predicts_by_itself():
    class Unfixed(OnlineBoostClassifier):
        def members(self):
            return None

    X, y, held = drifting(2)
    learner = Unfixed(3, random_state=0).partial_fit(X, y)
    np.testing.assert_array_equal(HeldOut(learner, held)(), learner.predict(held))
