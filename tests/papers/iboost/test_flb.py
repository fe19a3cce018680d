"""Fast and light boosting."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost import window_committees as kernels
from boostrun.papers.iboost.window_committees import FLBClassifier


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
    with pytest.raises(BoostrunError, match="z="):
        FLBClassifier(z=-1).partial_fit(X, X[:, 0].astype(int))
