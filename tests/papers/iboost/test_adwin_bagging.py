"""AdWin Bagging."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.online_ensembles import AdwinBaggingClassifier
from boostrun.papers.iboost.onlineboost import poisson
from tests.reference import drift_rivals as twins

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do


def turning(n, seed, turn):
    """Two features; the class flips after ``turn`` examples."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    signs = np.where(np.arange(n) < turn, 1, -1)
    return rng.normal((2 * y - 1)[:, None] * signs[:, None], 1.0, (n, 2)), y


@pytest.mark.parametrize(("monitor", "after"), [("error", "keep"), ("correct", "reset")])
def test_it_is_the_published_rule(monitor, after):
    X, y = turning(400, 0, 250)
    model = AdwinBaggingClassifier(budget=3, random_state=4, monitor=monitor, after=after)
    ours = model.test_then_train(X, y)
    rng = np.random.default_rng(np.random.SeedSequence(4))
    members, adwins, theirs, replaced = [twins.NaiveBayes(2) for _ in range(3)], adwin.Adwins.empty(3), [], 0
    for i, (x, label) in enumerate(zip(X, y)):
        votes = [member.answer(x) for member in members if any(member.met)]
        theirs.append(twins.winner(np.bincount(votes, minlength=2)))
        change = False
        for j, member in enumerate(members):
            count = poisson(rng, 1.0)
            if count:
                member.train(x, label, count, twins.floor(X[: i + 1], 1e-3))
            right, before = member.answer(x) == label, adwin.estimate(adwins, j)
            item = float(right if monitor == "correct" else not right)
            cut = adwin.add(adwins, j, item, 0.002, after == "reset")
            change |= cut and adwin.estimate(adwins, j) > before
        if change:
            worst = int(np.argmax([adwin.estimate(adwins, j) for j in range(3)]))
            members[worst] = twins.NaiveBayes(2)
            adwin.forget(adwins, worst)
            replaced += 1
    np.testing.assert_array_equal(ours, theirs)
    assert model.n_replaced_ == replaced
    assert replaced or monitor == "correct"


def test_errors_find_a_change_that_correctness_does_not():
    X, y = turning(6000, 1, 3000)
    right = {
        monitor: AdwinBaggingClassifier(budget=5, random_state=0, monitor=monitor).test_then_train(X, y) == y
        for monitor in ("error", "correct")
    }
    assert right["error"][3500:].mean() > right["correct"][3500:].mean() + 0.05


def test_probabilities_bad_parameters_and_a_class_met_late():
    X, y = turning(300, 2, 300)
    model = AdwinBaggingClassifier(budget=4, random_state=0, vote="proba").partial_fit(X, y)
    assert (model.predict(X) == y).mean() > 0.85
    model.partial_fit(X + 50.0, np.full(300, 2))
    assert (model.predict(X + 50.0) == 2).all()
    for wrong in ({"delta": 0.0}, {"monitor": "x"}, {"after": "x"}, {"vote": "x"}):
        with pytest.raises(BoostrunError, match=next(iter(wrong))):
            AdwinBaggingClassifier(**wrong).partial_fit(X, y)


@pytest.mark.slow
def test_fed_with_correctness_it_is_rivers_and_errors_are_better():
    """SEA with its four concepts, 20 seeds: mean prequential accuracy within two standard errors of river's class, and
    above it with ``monitor="error"``."""
    ensemble, naive_bayes = pytest.importorskip("river.ensemble"), pytest.importorskip("river.naive_bayes")
    apart, gained = [], []
    for seed in range(20):
        X = np.random.default_rng(seed).uniform(0, 10, (5000, 3))
        y = (X[:, 0] + X[:, 1] <= np.repeat([8, 9, 7, 9.5], 1250)).astype(int)
        same = {"budget": 5, "vote": "proba", "var_floor": 0.0, "random_state": seed}
        rivers = AdwinBaggingClassifier(monitor="correct", after="reset", **same).test_then_train(X, y) == y
        errors = AdwinBaggingClassifier(monitor="error", after="keep", **same).test_then_train(X, y) == y
        river, right = ensemble.ADWINBaggingClassifier(naive_bayes.GaussianNB(), n_models=5, seed=seed), 0
        for x, label in zip(X.tolist(), y.tolist()):
            row = dict(enumerate(x))
            right += river.predict_one(row) == label
            river.learn_one(row, label)
        apart.append(rivers.mean() - right / len(y))
        gained.append(errors.mean() - right / len(y))
    deviation = np.std([apart, gained], axis=1, ddof=1) / np.sqrt(20)
    assert abs(np.mean(apart)) < 2 * deviation[0]
    assert np.mean(gained) > 2 * deviation[1]
