"""Committees that are fitted to a window: AdaBoost trained again while it slides, OCB, and FLB."""

import numpy as np
import pytest

from boostrun.papers.iboost import window_committees as kernels
from boostrun.papers.iboost.kernels.bases import respond_window
from boostrun.papers.iboost.window_committees import AdaBoostWindowClassifier, FLBClassifier, OCBClassifier
from tests.papers.iboost.learners import noisy_sea
from tests.reference.iboost import best_stump

slow = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do


@slow
def test_the_rounds_are_the_equations_in_margin_form():
    X, y = noisy_sea(60)
    model = AdaBoostWindowClassifier(n_window=60, budget=12).partial_fit(X, y)
    signs = 2.0 * y - 1
    margins, betas, score = np.zeros(60), [], np.zeros(60)
    for _ in range(12):
        weights = np.exp(-margins) / np.exp(-margins).sum()
        error, answer = best_stump(X, y, weights, 2)
        votes = 2.0 * answer(X) - 1
        betas.append(0.5 * np.log((1 - error) / error))
        margins += betas[-1] * signs * votes
        score += betas[-1] * votes
        after = np.exp(-margins)
        assert after[votes != signs].sum() / after.sum() == pytest.approx(0.5)  # fact (a)
    np.testing.assert_allclose(model.betas_, betas, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), score >= 0)


@slow
def test_every_training_forgets_all_but_the_window():
    X, y = noisy_sea(130, 1)
    model = AdaBoostWindowClassifier(n_window=50, budget=8, period=7)
    predictions = model.test_then_train(X, y)
    assert (predictions[:50] == 1).all()
    for i in (50, 60, 99, 129):
        trained = 50 + (i - 50) // 7 * 7  # examples seen at the last training before row i
        newest = slice(trained - 50, trained)
        alone = AdaBoostWindowClassifier(n_window=50, budget=8).partial_fit(X[newest], y[newest])
        assert alone.predict(X[i : i + 1])[0] == predictions[i]
    np.testing.assert_allclose(model.betas_, alone.betas_, rtol=1e-9)


@slow
def test_lazy_training_ends_at_the_same_committee():
    X, y = noisy_sea(200, 2)
    eager, lazy = (AdaBoostWindowClassifier(n_window=40, budget=6, period=3, lazy=lazy) for lazy in (False, True))
    for start in range(0, 200, 20):
        part = slice(start, start + 20)
        eager.partial_fit(X[part], y[part], classes=[0, 1])
        lazy.partial_fit(X[part], y[part], classes=[0, 1])
        np.testing.assert_array_equal(eager.betas_, lazy.betas_)
        np.testing.assert_array_equal(eager.predict(X), lazy.predict(X))


@slow
def test_it_stops_at_a_perfect_classifier_and_at_one_no_better_than_chance():
    X = np.arange(10.0)[:, None]
    perfect = AdaBoostWindowClassifier(n_window=10, budget=5).partial_fit(X, X[:, 0] > 4)
    np.testing.assert_allclose(perfect.betas_, [0.5 * np.log((1 - 1e-6) / 1e-6)])
    useless = AdaBoostWindowClassifier(n_window=4, budget=5).partial_fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert not len(useless.betas_) and (useless.predict([[0.0]]) == 1).all()
    one_class = AdaBoostWindowClassifier(n_window=4, budget=5).partial_fit(
        np.zeros((4, 1)), [0, 0, 0, 0], classes=[0, 1]
    )
    assert (one_class.predict([[3.0]]) == 0).all()


@slow
def test_weights_are_left_as_exp_of_minus_the_margins():
    X, y = noisy_sea(30, 4)
    model = AdaBoostWindowClassifier(n_window=30, budget=4).partial_fit(X, y)
    weights, models, betas = np.empty(30), np.zeros_like(model._models), np.zeros(4)
    size = kernels.adaboost(model._family, *model._window, 2, 1e-3, models, betas, weights)
    out = np.empty(30, np.int64)
    margins = np.zeros(30)
    for j in range(size):
        respond_window(model._family, models[j], np.ascontiguousarray(X.T), 2, out)
        margins += betas[j] * np.where(out == y, 1.0, -1.0)
    np.testing.assert_allclose(weights, np.exp(margins.min() - margins), rtol=1e-9)


def stationary(n, stumps, seed=0):
    """Right (+1) and wrong (-1) of stumps that share something, (n, stumps)."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    return np.where(0.4 * common + rng.normal(size=(n, stumps)) + 0.15 > 0, 1.0, -1.0)


def exact_coefficients(margins, smoothing=0.5):
    """Sequential 1/2 ln of the weights right and wrong over all examples."""
    weights, alphas = np.ones(len(margins)), []
    for right in (margins > 0).T:
        alphas.append(0.5 * np.log((smoothing + weights[right].sum()) / (smoothing + weights[~right].sum())))
        weights *= np.exp(-alphas[-1] * np.where(right, 1, -1))
    return np.array(alphas)


def published_update(margins, order, smoothing=0.5):
    size = margins.shape[1]
    plus, minus, alpha = np.full((size, size), smoothing), np.full((size, size), smoothing), np.zeros(size)
    for m in margins:
        d, change = 1.0, np.zeros(size)
        for j in range(size):
            near = slice(max(0, j - order), j)
            q, away = plus[j, near] / plus[j, j], change[near]
            up = np.prod(q * np.exp(-away) + (1 - q) * np.exp(away))
            q = minus[j, near] / minus[j, j]
            down = np.prod(q * np.exp(away) + (1 - q) * np.exp(-away))
            for k in range(max(0, j - order), j + 1):
                plus[j, k] = plus[j, k] * up + d * (m[j] > 0) * (m[k] > 0)
                minus[j, k] = minus[j, k] * down + d * (m[j] < 0) * (m[k] < 0)
            fresh = 0.5 * np.log(plus[j, j] / minus[j, j])
            change[j] = np.clip(fresh - alpha[j], -1, 1)
            alpha[j] = fresh
            d *= np.exp(-fresh * m[j])
    return alpha


def followed(margins, order, sign=1):
    size = margins.shape[1]
    sums, alphas = np.full((2, size, order + 1), 0.5), np.zeros(size)
    for row in margins:
        kernels.update(row, *sums, alphas, size, sign, 0.0)
    return alphas


@pytest.mark.parametrize("order", [0, 1, 3, 6])
def test_the_update_is_the_published_one(order):
    margins = stationary(80, 7)
    np.testing.assert_allclose(followed(margins, order), published_update(margins, order), rtol=1e-9)


def random_stumps(seed):
    rng = np.random.default_rng(seed)
    X, noise = rng.uniform(0, 10, (2000, 3)), rng.random(2000) < 0.1
    y = np.where((X[:, 0] + X[:, 1] <= 8) ^ noise, 1.0, -1.0)
    votes = [np.where(X[:, rng.integers(0, 2)] <= rng.uniform(2, 8), 1.0, -1.0) for _ in range(15)]
    return np.array(y * votes).T.copy()


def test_full_order_follows_the_exact_coefficients_and_moas_signs_do_not():
    moas = []
    for seed in range(4):
        margins = random_stumps(seed)
        target = exact_coefficients(margins)
        scale = np.abs(target).mean()
        ours = np.abs(followed(margins, 14) - target).mean() / scale
        moas.append(np.abs(followed(margins, 14, sign=-1) - target).mean() / scale)
        assert ours < 0.05 and moas[-1] > 5 * ours
    assert np.mean(moas) > 0.5


@pytest.mark.slow  # takes seconds to compile
def test_it_begins_with_adaboosts_classifiers_and_nearly_its_coefficients():
    X, y = noisy_sea(100)
    model = OCBClassifier(n_window=100, budget=8, smoothing=1e-9, order=None).partial_fit(X, y)
    adaboost = AdaBoostWindowClassifier(n_window=100, budget=8).partial_fit(X, y)
    np.testing.assert_allclose(model.betas_, adaboost.betas_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), adaboost.predict(X))
    members = model._models.copy()
    more, labels = noisy_sea(400, 1)
    model.partial_fit(more, labels)
    np.testing.assert_array_equal(model._models, members)
    assert np.abs(model.betas_ - adaboost.betas_).max() > 1e-3


def test_the_start_and_the_stream_are_one_sum():
    """The stream learner computes the sums of the first examples, then the updates, as by hand."""
    X, y = noisy_sea(160)
    model = OCBClassifier(n_window=100, budget=5, order=2).partial_fit(X[:100], y[:100])
    sums, alphas, right = model._sums.copy(), model.betas_, []
    whole = model._models.copy()
    for j in range(5):
        model._models[:] = whole[j]
        right.append(np.where(model.predict(X[100:]) == y[100:], 1.0, -1.0))
    model._models[:] = whole
    for row in np.array(right).T.copy():
        kernels.update(row, *sums, alphas, 5, 1, 0.0)
    np.testing.assert_allclose(model.partial_fit(X[100:], y[100:]).betas_, alphas, rtol=1e-12)


@pytest.mark.parametrize("base", ["stump", "gnb"])
def test_members_between_a_half_and_chance_count_for_what_they_say(base):
    """Twelve classes: every stump errs on more than half, and is better than chance by far."""
    rng = np.random.default_rng(0)
    places, y = rng.normal(0, 1.0, (12, 4)), rng.integers(12, size=900)
    X = places[y] + rng.normal(size=(900, 4))
    model = OCBClassifier(n_window=300, budget=20, base=base)
    right = model.test_then_train(X, y, classes=np.arange(12)) == y
    assert right[300:].mean() > 2 * np.bincount(y).max() / 900 and (model.betas_ > 0).mean() > 0.5


def test_a_block_of_known_errors_has_the_published_weights():
    missed, weights = np.array([1, 0, 0, 0, 0, 0, 0, 1, 0, 0], np.uint8), np.empty(10)
    kernels.block_weights(missed, 0.2, weights)
    np.testing.assert_allclose(weights * 16, np.where(missed, 4.0, 1.0))
    kernels.block_weights(missed, 0.0, weights)
    assert weights[0] / weights[1] == pytest.approx(9.0)
    kernels.block_weights(missed, 0.7, weights)
    np.testing.assert_allclose(weights, 0.1)


def test_an_alarm_is_an_error_far_above_the_mean_of_five_blocks():
    history = np.array([0.10, 0.14, 0.08, 0.12, 0.11])
    for error, expected in ((0.17, False), (0.30, True)):
        errors = np.zeros(3)
        assert not any(kernels.alarming(errors, e, 100, 2.33) for e in history)
        np.testing.assert_allclose(errors, [5, history.mean(), 4 * history.var(ddof=1)])
        deviation = max(history.std(ddof=1), np.sqrt(history.mean() * (1 - history.mean()) / 100))
        limit = history.mean() + 2.33 * deviation
        assert (error > limit) == expected
        assert kernels.alarming(errors, limit + 1e-9 if expected else limit - 1e-9, 100, 2.33) == expected
        assert errors[0] == (0 if expected else 6)
    errors = np.zeros(3)
    assert not any(kernels.alarming(errors, e, 100, 2.33) for e in (0.0, 0.0, 0.0, 0.0, 1.0))
    errors = np.zeros(3)
    assert not any(kernels.alarming(errors, e, 100, 2.33) for e in (0.0, 0.0, 0.0, 0.0, 0.0, 0.01))
    assert kernels.alarming(errors, 0.5, 100, 2.33)


def test_a_change_of_concept_clears_the_committee_and_the_oldest_goes():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (1500, 2))
    y = (X[:, 0] <= 5).astype(int)
    model = FLBClassifier(n_window=50, budget=4).partial_fit(X[:1000], y[:1000])
    assert len(model.betas_) == 4 and model.n_alarms_ == 0
    model.partial_fit(X[1000:1050], 1 - y[1000:1050])
    assert len(model.betas_) == 1 and model.n_alarms_ == 1
    model.partial_fit(X[1050:], 1 - y[1050:])
    assert (model.predict(X) == 1 - y).mean() > 0.95


def test_the_vote_is_the_majority_of_the_newest_blocks():
    rng = np.random.default_rng(1)
    X, y = rng.uniform(0, 10, (240, 3)), rng.integers(0, 3, 240)
    model = FLBClassifier(n_window=30, budget=3, z=100.0, base="gnb").partial_fit(X, y)
    alone = []
    whole = model._models.copy()
    for j in range(3):
        model._models[:] = whole[j]
        alone.append(model.predict(X))
    model._models[:] = whole
    counts = np.array([[(votes == c).sum() for c in range(3)] for votes in np.array(alone).T])
    np.testing.assert_array_equal(model.predict(X), counts.argmax(1))


def test_a_class_met_late_begins_a_committee():
    X = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0)
    model = FLBClassifier(n_window=10, budget=5).partial_fit(X[:40], X[:40, 0].astype(int))
    assert len(model.betas_) == 4
    model.partial_fit(X[40:], X[40:, 0].astype(int))
    assert len(model.betas_) == 2 and model.predict([[2.0]])[0] == 2
