"""OnlineBoost of naive Bayes classifiers."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier, poisson
from tests.reference import drift_rivals as twins


def sea(n, seed, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, 3))
    return X, (X[:, 0] + X[:, 1] <= 8).astype(int) ^ (rng.random(n) < noise)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_published_rule(n_classes):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, 150)
    X = rng.normal(y[:, None], 1.0, (150, 2))
    model = OnlineBoostClassifier(budget=4, random_state=5)
    ours = model.test_then_train(X, y, classes=range(n_classes))
    draws = np.random.default_rng(np.random.SeedSequence(5))
    theirs, sums = twins.online_boost(X, y, 4, n_classes, 1e-3, lambda rate: poisson(draws, rate))
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.sums_, sums, rtol=1e-9)
    np.testing.assert_allclose(model.betas_, [twins.coefficient(*row) for row in sums], rtol=1e-9)


def test_a_stream_may_be_cut_anywhere_and_seeds_repeat():
    X, y = sea(700, 0)
    whole = OnlineBoostClassifier(budget=3, random_state=1).test_then_train(X, y)
    model = OnlineBoostClassifier(budget=3, random_state=1)
    parts = [model.test_then_train(X[a:b], y[a:b], classes=[0, 1]) for a, b in ((0, 1), (1, 300), (300, 700))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    one_by_one = OnlineBoostClassifier(budget=3, random_state=1)
    for x, label in zip(X[:50], y[:50]):
        one_by_one.learn_one(dict(enumerate(x)), label)
    again = OnlineBoostClassifier(budget=3, random_state=1).partial_fit(X[:50], y[:50])
    np.testing.assert_allclose(one_by_one.sums_, again.sums_)


def test_votes_of_members_worse_than_chance():
    model = OnlineBoostClassifier(budget=2, random_state=0).partial_fit(*sea(20, 0))
    model.sums_[:] = [[1, 3], [3, 1]]
    np.testing.assert_allclose(model.betas_, [0.0, np.log(3)])
    model.set_params(bad_weight=1.0)
    np.testing.assert_allclose(model.betas_, [1.0, np.log(3)])
    model.set_params(negative_votes=True)
    np.testing.assert_allclose(model.betas_, [-np.log(3), np.log(3)])


def test_bad_parameters_are_named():
    X, y = sea(20, 0)
    for wrong in ({"budget": 0}, {"base": "tree"}, {"vote": "soft"}, {"var_floor": -1.0}):
        with pytest.raises(BoostrunError, match=next(iter(wrong))):
            OnlineBoostClassifier(**wrong).partial_fit(X, y)


@pytest.mark.slow
def test_accuracy_is_rivers():
    """The same members, vote="proba", bad_weight=1: mean prequential accuracy within two standard errors."""
    ensemble, naive_bayes = pytest.importorskip("river.ensemble"), pytest.importorskip("river.naive_bayes")
    apart = []
    for seed in range(20):
        X, y = sea(5000, seed)
        model = OnlineBoostClassifier(budget=3, vote="proba", bad_weight=1.0, random_state=seed)
        ours = (model.test_then_train(X, y) == y).mean()
        river, right = ensemble.AdaBoostClassifier(naive_bayes.GaussianNB(), n_models=3, seed=seed), 0
        for x, label in zip(X, y.tolist()):
            row = dict(enumerate(x.tolist()))
            right += river.predict_one(row) == label
            river.learn_one(row, label)
        apart.append(ours - right / len(y))
    assert abs(np.mean(apart)) < 2 * np.std(apart, ddof=1) / np.sqrt(len(apart)) + 1e-4


def test_of_many_classes_the_best_member_speaks_where_none_is_better_than_a_half():
    rng = np.random.default_rng(0)
    places, y = rng.normal(0, 0.5, (30, 6)), rng.integers(30, size=1500)
    X = places[y] + rng.normal(size=(1500, 6))
    model = OnlineBoostClassifier(budget=5, random_state=0)
    right = model.test_then_train(X, y, classes=np.arange(30)) == y
    assert (model.betas_ == 0).all() and right[700:].mean() > 1.5 * np.bincount(y).max() / 1500
    assert (model.predict(X[:50]) == [model.predict(row[None])[0] for row in X[:50]]).all()
    assert len(set(model.predict(X))) > 5
