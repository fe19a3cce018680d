"""NSOnlineBoost and FLC: OnlineBoost whose members begin anew."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost import onlineboost as kernels
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.onlineboost import FLCClassifier, NSOnlineBoostClassifier, OnlineBoostClassifier, poisson
from tests.reference import drift_rivals as twins

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do


def turning(n, seed, turn):
    """Two features; the class flips after ``turn`` examples."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    signs = np.where(np.arange(n) < turn, 1, -1)
    return rng.normal((2 * y - 1)[:, None] * signs[:, None], 1.5, (n, 2)), y


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


def test_the_search_is_the_greedy_one():
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        said, labels = rng.integers(0, 2, (6, 30)), rng.integers(0, 2, 30)
        weights, old, removed = rng.uniform(0.1, 2, 6), (rng.random(6) < 0.8).astype(np.uint8), np.ones(6, np.uint8)
        kernels.search_backwards(said, weights, old, labels, np.zeros(2), removed)
        gone = published_search(said, weights, old, labels)
        assert set(np.flatnonzero(removed)) == set(gone)
        found += len(gone)
    assert found >= 5


def pieces(seed, budget):
    draws = np.random.default_rng(np.random.SeedSequence(seed))
    members = [twins.NaiveBayes(2) for _ in range(budget)]
    return members, np.zeros((budget, 2)), lambda rate: poisson(draws, rate)


def test_ns_online_boost_is_its_text():
    X, y = turning(260, 0, 130)
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


@pytest.mark.parametrize("warm_start", [True, False])
def test_flc_is_its_text(warm_start):
    X, y = turning(400, 1, 250)
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


@pytest.mark.parametrize("method", [NSOnlineBoostClassifier, FLCClassifier])
def test_they_recover_from_a_change_faster_than_online_boost(method):
    X, y = turning(2300, 2, 2000)
    ours = method(budget=10, random_state=0).test_then_train(X, y) == y
    online = OnlineBoostClassifier(budget=10, random_state=0).test_then_train(X, y) == y
    assert ours[2000:].mean() > online[2000:].mean() + 0.05


def test_bad_parameters_are_named():
    X, y = turning(20, 0, 10)
    for method, wrong in (
        (NSOnlineBoostClassifier, {"search_every": 0}),
        (NSOnlineBoostClassifier, {"patience": -1}),
        (FLCClassifier, {"delta": 1.0}),
        (FLCClassifier, {"n_window": 0}),
    ):
        with pytest.raises(BoostrunError, match=next(iter(wrong))):
            method(**wrong).partial_fit(X, y)
