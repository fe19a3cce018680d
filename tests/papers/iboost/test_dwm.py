"""Dynamic weighted majority."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost import online_ensembles as kernels
from boostrun.papers.iboost.online_ensembles import DWMClassifier
from tests.reference import drift_rivals as twins

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do


def test_a_hand_worked_trace_of_three_experts():
    """Experts that always say 0, 1, 1 with weights 1, 0.5, 0.25; the example is of class 0.

    Wrong ones are halved: 1, 0.25, 0.125; the vote is 0, right: nobody is added. An example of class 1 then: 0.5, 0.25,
    0.125; the vote 0.5 against 0.375 is 0, wrong; scaled 1, 0.5, 0.25; a fresh one takes the weakest one's place.
    """
    model = DWMClassifier(budget=3, period=1).partial_fit(np.zeros((1, 1)), [0], classes=[0, 1])
    for slot, c in enumerate((0, 1, 1)):
        model.learners_.weight[slot] = np.eye(2)[c]
        model.learners_.constant[slot] = np.where(np.eye(2)[c], 0.0, -np.inf)
    model._weights[:], model._order[:], model._counts[kernels.ALIVE] = [1.0, 0.5, 0.25], [0, 1, 2], 3
    state = model.learners_, model._weights, model._order, model._counts
    kernels.judge(*state, np.zeros(1), 0, True, 0.5, 0.01, np.zeros(2))
    np.testing.assert_allclose(model.betas_, [1.0, 0.25, 0.125])
    kernels.judge(*state, np.zeros(1), 1, True, 0.5, 0.01, np.zeros(2))
    np.testing.assert_allclose(model.betas_, [1.0, 0.5, 1.0])
    assert not model.learners_.weight[2].any() and model.n_removed_ == 1
    kernels.judge(*state, np.zeros(1), 1, True, 0.5, 0.6, np.zeros(2))  # below theta: expert 0 at 0.5 of the largest
    np.testing.assert_allclose(model.betas_, [1.0])


def published(X, y, budget, period, beta=0.5, theta=0.01):
    experts, out = [[twins.NaiveBayes(2), 1.0]], []
    for t in range(1, len(y) + 1):
        x, label = X[t - 1], y[t - 1]
        said = np.array([expert.answer(x) for expert, _ in experts])
        weigh = lambda: twins.winner(np.bincount(said, [w for _, w in experts], 2))  # noqa: B023, E731
        out.append(weigh())
        if t % period == 0:
            for row, s in zip(experts, said):
                row[1] *= 1.0 if s == label else beta
            wrong = weigh() != label
            most = max(w for _, w in experts)
            experts = [[e, w / most] for e, w in experts if w / most >= theta]
            if wrong:
                if len(experts) == budget:
                    experts.pop(int(np.argmin([w for _, w in experts])))
                experts.append([twins.NaiveBayes(2), 1.0])
        for expert, _ in experts:
            expert.train(x, label, 1, twins.floor(X[:t], 1e-3))
    return out, [w for _, w in experts]


@pytest.mark.parametrize(("budget", "period"), [(3, 1), (4, 7), (1, 2)])
def test_it_is_the_published_rule(budget, period):
    rng = np.random.default_rng(budget)
    y = rng.integers(0, 2, 120)
    X = rng.normal(y[:, None] * np.where(np.arange(120) < 60, 1.5, -1.5)[:, None], 1.0, (120, 2))
    model = DWMClassifier(budget=budget, period=period)
    ours = model.test_then_train(X, y, classes=[0, 1])
    theirs, weights = published(X, y, budget, period)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.betas_, weights)
    assert model.n_added_ - model.n_removed_ == len(weights) and model.n_added_ > 1


def test_a_class_met_late_and_bad_parameters():
    X = np.repeat([[0.0], [5.0], [10.0]], 60, axis=0) + np.random.default_rng(0).normal(size=(180, 1))
    y = np.repeat([0, 1, 2], 60)
    model = DWMClassifier(period=5).partial_fit(X[:120], y[:120]).partial_fit(X[120:], y[120:])
    assert (model.predict(X) == y).mean() > 0.95
    for wrong in ({"beta": 1.0}, {"theta": 0.0}, {"period": 0}, {"budget": 0}):
        with pytest.raises(BoostrunError, match=next(iter(wrong))):
            DWMClassifier(**wrong).partial_fit(X, y)
