"""Online Coordinate Boosting."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost import window_committees as kernels
from boostrun.papers.iboost.window_committees import AdaBoostWindowClassifier, OCBClassifier


def stationary(n, stumps, seed=0):
    """Right (+1) and wrong (-1) of stumps that share something, (n, stumps)."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    return np.where(0.4 * common + rng.normal(size=(n, stumps)) + 0.15 > 0, 1.0, -1.0)


def exact(margins, smoothing=0.5):
    """Sequential 1/2 ln of the weights right and wrong over all examples."""
    weights, alphas = np.ones(len(margins)), []
    for right in (margins > 0).T:
        alphas.append(0.5 * np.log((smoothing + weights[right].sum()) / (smoothing + weights[~right].sum())))
        weights *= np.exp(-alphas[-1] * np.where(right, 1, -1))
    return np.array(alphas)


def twin(margins, order, smoothing=0.5):
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
    np.testing.assert_allclose(followed(margins, order), twin(margins, order), rtol=1e-9)


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
        target = exact(margins)
        scale = np.abs(target).mean()
        ours = np.abs(followed(margins, 14) - target).mean() / scale
        moas.append(np.abs(followed(margins, 14, sign=-1) - target).mean() / scale)
        assert ours < 0.05 and moas[-1] > 5 * ours
    assert np.mean(moas) > 0.5


def sea(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, 3))
    return X, (X[:, 0] + X[:, 1] <= 8).astype(int) ^ (rng.random(n) < 0.1)


def test_it_begins_with_adaboosts_classifiers_and_nearly_its_coefficients():
    X, y = sea(100)
    model = OCBClassifier(n_window=100, budget=8, smoothing=1e-9, order=None).partial_fit(X, y)
    adaboost = AdaBoostWindowClassifier(n_window=100, budget=8).partial_fit(X, y)
    np.testing.assert_allclose(model.betas_, adaboost.betas_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), adaboost.predict(X))
    members = model._models.copy()
    more, labels = sea(400, 1)
    model.partial_fit(more, labels)
    np.testing.assert_array_equal(model._models, members)
    assert np.abs(model.betas_ - adaboost.betas_).max() > 1e-3


def test_the_start_and_the_stream_are_one_sum():
    """The sums of the first examples, then the update by hand, are what the stream learner does."""
    X, y = sea(160)
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


def test_a_class_met_late_and_bad_parameters():
    X, y = sea(60)
    model = OCBClassifier(n_window=50, budget=5).partial_fit(X, y)
    y[30:] = 2
    assert set(model.partial_fit(X, y).predict(X)) <= {0, 1}
    for wrong in ({"order": -1}, {"signs": "mao"}, {"smoothing": 0.0}, {"n_window": 0}):
        with pytest.raises(BoostrunError, match=next(iter(wrong))):
            OCBClassifier(**wrong).partial_fit(X, y)


@pytest.mark.parametrize("base", ["stump", "gnb"])
def test_members_between_a_half_and_chance_count_for_what_they_say(base):
    """Twelve classes: every stump errs on more than half, and is better than chance by far."""
    rng = np.random.default_rng(0)
    places, y = rng.normal(0, 1.0, (12, 4)), rng.integers(12, size=900)
    X = places[y] + rng.normal(size=(900, 4))
    model = OCBClassifier(n_window=300, budget=20, base=base)
    right = model.test_then_train(X, y, classes=np.arange(12)) == y
    assert right[300:].mean() > 2 * np.bincount(y).max() / 900 and (model.betas_ > 0).mean() > 0.5
