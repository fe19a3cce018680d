"""Base classifiers: on weighted windows, one example at a time; the sorted order; Poisson counts; ADWIN."""

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from boostrun.papers.iboost.kernels import adwin, bases
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.kernels.committee import slide, start_order
from boostrun.papers.iboost.onlineboost import poisson
from tests.reference.iboost import best_stump


def window(seed, n, d, classes, values=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if values is None else rng.integers(0, values, (n, d)).astype(float)
    return X, rng.integers(0, classes, n), rng.dirichlet(np.ones(n))


def fitted(family, X, y, w, classes, var_floor=1e-3):
    """(numbers of the classifier, its answers on the window)."""
    columns = np.ascontiguousarray(X.T)
    order = np.empty(columns.shape, np.int32)
    start_order(columns, order)
    model, said = np.empty(bases.width(family, X.shape[1], classes)), np.empty(len(y), np.int64)
    bases.fit(family, columns, order, y, w, classes, var_floor, model)
    bases.respond_window(family, model, columns, classes, said)
    return model, said


@pytest.mark.parametrize("classes", [2, 3])
def test_the_stump_is_the_best_of_all(classes):
    for seed in range(60):
        X, y, w = window(seed, 1 + seed % 23, 3, classes, values=[None, 2, 5][seed % 3])
        error, answer = best_stump(X, y, w, classes)
        _, said = fitted(bases.STUMP, X, y, w, classes)
        assert w[said != y].sum() == pytest.approx(error, abs=1e-12)
        assert (said == answer(X)).all()


def test_neighbouring_floats_are_told_apart():
    low = 1.0
    X = np.array([[low], [np.nextafter(low, 2.0)]])
    for pair in (X, X[::-1]):
        assert (fitted(bases.STUMP, pair, np.array([0, 1]), np.full(2, 0.5), 2)[1] == [0, 1]).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_naive_bayes_is_scikit_learns(classes):
    """The same scores, with the smoothing of both turned off."""
    X, y, w = window(7, 80, 4, classes)
    X += y[:, None] * [1.0, 0.0, -0.5, 0.2]
    signs = (X > 0).astype(float)
    for family, data, theirs in (
        (bases.GNB, X, GaussianNB(var_smoothing=1e-15).fit(X, y, w)),
        (bases.BNB, signs, BernoulliNB(alpha=1 / 80).fit(signs, y, w)),
    ):
        model, said = fitted(family, data, y, w, classes, var_floor=1e-15)
        assert (said == theirs.predict(data)).all()
        expected = theirs.predict_joint_log_proba(data)
        parts = np.c_[np.ones(80), data, data**2] if family == bases.GNB else np.c_[np.ones(80), data]
        ours = parts @ model.reshape(-1, parts.shape[1]).T
        if classes == 2:
            np.testing.assert_allclose(ours[:, 0], expected[:, 1] - expected[:, 0], rtol=1e-7, atol=1e-7)
        else:
            np.testing.assert_allclose(ours - ours[:, :1], expected - expected[:, :1], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("family", [bases.STUMP, bases.GNB, bases.BNB])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_with_all_the_weight_is_a_constant(family, classes):
    for only in range(classes):
        X, y, w = window(3, 20, 2, classes)
        w = np.where(y == only, w, 0.0)
        assert (fitted(family, X, y, w / w.sum(), classes)[1] == only).all()


def test_the_order_is_the_argsort_of_every_window():
    rng = np.random.default_rng(2)
    columns = rng.integers(0, 4, (3, 15)).astype(float)
    order = np.empty(columns.shape, np.int32)
    start_order(columns, order)
    for k in range(60):
        sample = rng.integers(0, 4, 3).astype(float)
        slide(columns, order, k % 15, sample)
        assert (columns[:, k % 15] == sample).all()
        assert (order == np.argsort(columns, axis=1, kind="stable")).all()


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
