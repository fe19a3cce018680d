"""Naive Bayes that learns one example at a time, Poisson counts, and ADWIN."""

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.onlineboost import poisson


def trained(X, y, weights, gaussian, n_classes=3):
    learners = bayes.Learners.fresh(2, n_classes, X.shape[1])
    for x, label, weight in zip(X, y, weights):
        bayes.train(learners, 1, x, label, float(weight), np.full(X.shape[1], 1e-12), gaussian)
    return learners


@pytest.mark.parametrize("gaussian", [True, False])
def test_an_incremental_learner_is_the_batch_one(gaussian):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(y[:, None] * 0.7, 1.5, (200, 4)) + (1e6 if gaussian else 0.0)
    if not gaussian:
        X = (X > 0.5).astype(float)
    weights = rng.integers(1, 4, 200)
    batch = (GaussianNB(var_smoothing=0.0) if gaussian else BernoulliNB(alpha=1.0)).fit(X, y, sample_weight=weights)
    learners, share = trained(X, y, weights, gaussian), np.zeros(3)
    expected = batch.predict_proba(X)
    for x, row in zip(X, expected):
        bayes.probabilities(learners, 1, x, gaussian, share)
        np.testing.assert_allclose(share, row, atol=1e-6)
    np.testing.assert_array_equal([bayes.answer(learners, 1, x, gaussian) for x in X], batch.predict(X))


def test_a_learner_that_met_nothing_says_the_second_of_two_classes_and_never_a_class_it_did_not_meet():
    x = np.zeros(2)
    assert bayes.answer(bayes.Learners.fresh(1, 2, 2), 0, x, True) == 1
    assert bayes.answer(bayes.Learners.fresh(1, 4, 2), 0, x, True) == 0
    learners = trained(np.ones((3, 2)), [0, 0, 0], [1, 1, 1], True, n_classes=2)
    assert bayes.answer(learners, 1, x, True) == 0
    bayes.forget(learners, 1)
    assert bayes.answer(learners, 1, x, True) == 1
    assert not learners.weight.any() and not learners.scatter.any()


def test_more_classes_leave_the_learners_as_they_are():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    learners = trained(X, y, np.ones(30), True, n_classes=2)
    grown = learners.grown(4)
    for x in X:
        assert bayes.answer(grown, 1, x, True) == bayes.answer(learners, 1, x, True)


@pytest.mark.parametrize("rate", [0.2, 1.0, 45.0, 3000.0])
def test_counts_have_the_mean_and_variance_of_poisson(rate):
    rng = np.random.default_rng(3)
    counts = np.array([poisson(rng, rate) for _ in range(20_000)])
    assert abs(counts.mean() - rate) < 4 * np.sqrt(rate / 20_000)
    assert abs(counts.var() / rate - 1) < 0.06
    assert counts.min() >= 0


def watched(items, reset):
    adwins = adwin.Adwins.empty(2)
    widths, totals, cuts = np.zeros(len(items), np.int64), np.zeros(len(items)), np.zeros(len(items), bool)
    adwin.watch(adwins, 1, items, 0.002, reset, widths, totals, cuts)
    return adwins, widths, totals, cuts


def jumps(seed, n=3000):
    rng = np.random.default_rng(seed)
    return (rng.random(n) < np.repeat(rng.random(6), n // 6)).astype(float)


@pytest.mark.parametrize("seeds", [range(5), pytest.param(range(5, 50), marks=pytest.mark.slow)])
def test_adwin_is_rivers(seeds):
    drift = pytest.importorskip("river.drift")
    found = 0
    for seed in seeds:
        items = jumps(seed)
        _, widths, totals, cuts = watched(items, reset=True)
        theirs = drift.ADWIN(delta=0.002)
        for i, item in enumerate(items):
            theirs.update(item)
            assert (widths[i], cuts[i]) == (theirs.width, theirs.drift_detected)
            assert totals[i] == pytest.approx(theirs.total, abs=1e-9)
        found += cuts.sum()
    assert found > len(seeds)


def test_adwin_keeps_the_end_of_the_stream_and_its_moments():
    items = jumps(7) + np.random.default_rng(0).normal(0, 0.01, 3000)
    adwins, widths, totals, cuts = watched(items, reset=False)
    assert cuts.any() and (widths[1:][~cuts[1:]] == widths[:-1][~cuts[1:]] + 1).all()
    tail = items[len(items) - widths[-1] :]
    assert totals[-1] == pytest.approx(tail.sum())
    assert adwins.moments[1, 1] == pytest.approx(((tail - tail.mean()) ** 2).sum(), rel=1e-6)
    assert adwin.estimate(adwins, 1) == pytest.approx(tail.mean())
    assert not adwins.counts[0].any()
