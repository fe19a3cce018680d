"""OnlineBoost of naive Bayes classifiers, and NSOnlineBoost and FLC, whose members start again."""

import numpy as np
import pytest

from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.onlineboost import FLCClassifier, NSOnlineBoostClassifier, OnlineBoostClassifier, poisson
from tests.papers.iboost.learners import flipping, noisy_sea
from tests.reference import drift_rivals as twins


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


def test_votes_of_members_worse_than_chance():
    model = OnlineBoostClassifier(budget=2, random_state=0).partial_fit(*noisy_sea(20, noise=0.0))
    model.sums_[:] = [[1, 3], [3, 1]]
    np.testing.assert_allclose(model.betas_, [0.0, np.log(3)])
    model.set_params(bad_weight=1.0)
    np.testing.assert_allclose(model.betas_, [1.0, np.log(3)])
    model.set_params(negative_votes=True)
    np.testing.assert_allclose(model.betas_, [-np.log(3), np.log(3)])


@pytest.mark.slow
def test_accuracy_is_rivers():
    """The same members, vote="proba", bad_weight=1: mean prequential accuracy within two standard errors."""
    ensemble, naive_bayes = pytest.importorskip("river.ensemble"), pytest.importorskip("river.naive_bayes")
    apart = []
    for seed in range(20):
        X, y = noisy_sea(5000, seed, 0.0)
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


def right(said, weights, members, labels):
    votes = [[sum(weights[j] for j in members if said[j, i] == c) for c in (0, 1)] for i in range(len(labels))]
    return sum(twins.winner(row) == label for row, label in zip(votes, labels))


def published_search(said, weights, old, labels):
    members, gone = list(range(len(weights))), []
    while True:
        now = right(said, weights, members, labels)
        found = [(right(said, weights, [m for m in members if m != j], labels), -j) for j in members if old[j]]
        if not found or max(found)[0] <= now:
            return gone
        gone.append(-max(found)[1])
        members.remove(gone[-1])


def pieces(seed, budget):
    draws = np.random.default_rng(np.random.SeedSequence(seed))
    members = [twins.NaiveBayes(2) for _ in range(budget)]
    return members, np.zeros((budget, 2)), lambda rate: poisson(draws, rate)


@pytest.mark.slow
def test_ns_online_boost_is_its_text():
    X, y = flipping(260, 0, 130, 1.5)
    model = NSOnlineBoostClassifier(budget=4, n_window=40, search_every=30, patience=60, random_state=3)
    ours = model.test_then_train(X, y)
    members, sums, draw = pieces(3, 4)
    order, born, theirs, replaced = list(range(4)), np.zeros(4), [], 0
    for i in range(len(y)):
        at_least = twins.floor(X[: i + 1], 1e-3)
        theirs.append(twins.vote(members, sums, X[i], 2))
        twins.boost_one(members, sums, order, np.ones(4), X[i], y[i], draw, at_least)
        if (i + 1) % 30:
            continue
        rows = range(max(0, i - 39), i + 1)
        said = np.array([[member.answer(X[k]) for k in rows] for member in members])
        weights = [twins.coefficient(*row) for row in sums]
        gone = published_search(said, weights, i + 1 - born > 60, y[rows])
        order = [j for j in order if j not in gone] + [j for j in order if j in gone]
        for j in gone:
            members[j], sums[j], born[j] = twins.NaiveBayes(2), 0.0, i + 1
        replaced += len(gone)
        learns = np.isin(range(4), gone)
        for k in rows if gone else ():
            twins.boost_one(members, sums, order, learns, X[k], y[k], draw, at_least)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.sums_, sums, rtol=1e-9)
    assert model.n_replaced_ == replaced > 0
    np.testing.assert_array_equal(model._order, order)


@pytest.mark.slow
@pytest.mark.parametrize("warm_start", [True, False])
def test_flc_is_its_text(warm_start):
    X, y = flipping(400, 1, 250, 1.5)
    model = FLCClassifier(budget=3, n_window=30, warm_start=warm_start, random_state=2)
    ours = model.test_then_train(X, y)
    members, sums, draw = pieces(2, 3)
    adwins, theirs, replaced = adwin.Adwins.empty(3), [], 0
    for i in range(len(y)):
        at_least = twins.floor(X[: i + 1], 1e-3)
        theirs.append(twins.vote(members, sums, X[i], 2))
        misses = twins.boost_one(members, sums, range(3), np.ones(3), X[i], y[i], draw, at_least)
        change = False
        for j in range(3):
            before = adwin.estimate(adwins, j)
            cut = adwin.add(adwins, j, misses[j], 0.002, False)
            change |= cut and adwin.estimate(adwins, j) > before
        if change:
            worst = int(np.argmax([adwin.estimate(adwins, j) for j in range(3)]))
            members[worst], sums[worst] = twins.NaiveBayes(2), 0.0
            adwin.forget(adwins, worst)
            replaced += 1
            for k in range(max(0, i - 29), i + 1) if warm_start else ():
                twins.boost_one(members, sums, range(3), np.arange(3) == worst, X[k], y[k], draw, at_least)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.sums_, sums, rtol=1e-9)
    assert model.n_replaced_ == replaced > 0


@pytest.mark.parametrize("large", [1e9, 1e15])
def test_a_variance_is_not_negative_where_the_mean_of_large_values_is_rounded(tmp_path, large):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = np.column_stack([large + np.spacing(large) * rng.integers(0, 3, 2000), y + rng.normal(size=2000)])
    model = OnlineBoostClassifier(base="gnb", random_state=0).partial_fit(X, y, classes=[0, 1])
    model.save(tmp_path / "m.npz")
    np.testing.assert_array_equal(OnlineBoostClassifier.load(tmp_path / "m.npz").predict(X), model.predict(X))
