"""AdaBoost on a window, and trained anew while it slides."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost import window_committees as kernels
from boostrun.papers.iboost.kernels.bases import respond_window
from boostrun.papers.iboost.window_committees import AdaBoostWindowClassifier

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do


def sea(n, seed, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, 3))
    return X, (X[:, 0] + X[:, 1] <= 8).astype(int) ^ (rng.random(n) < noise)


def best_stump(X, y, weights):
    """By brute force, y of -1 and +1: votes (n,) of the stump with the least error; the constant first."""
    signed = weights * y
    best = np.full(len(y), 1.0 if signed.sum() >= 0 else -1.0)
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for threshold in (values[:-1] + values[1:]) / 2:
            votes = np.where(X[:, feature] > threshold, 1.0, -1.0)
            votes = votes if signed @ votes >= 0 else -votes
            if signed @ votes > signed @ best + 1e-12:
                best = votes
    return best


def test_the_rounds_are_the_equations_in_margin_form():
    X, y = sea(60, 0)
    model = AdaBoostWindowClassifier(n_window=60, budget=12).partial_fit(X, y)
    signs = 2.0 * y - 1
    margins, betas, score = np.zeros(60), [], np.zeros(60)
    for _ in range(12):
        weights = np.exp(-margins) / np.exp(-margins).sum()
        votes = best_stump(X, signs, weights)
        error = weights[votes != signs].sum()
        betas.append(0.5 * np.log((1 - error) / error))
        margins += betas[-1] * signs * votes
        score += betas[-1] * votes
        after = np.exp(-margins)
        assert after[votes != signs].sum() / after.sum() == pytest.approx(0.5)  # fact (a)
    np.testing.assert_allclose(model.betas_, betas, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), score >= 0)


def test_every_training_forgets_all_but_the_window():
    X, y = sea(130, 1)
    model = AdaBoostWindowClassifier(n_window=50, budget=8, period=7)
    predictions = model.test_then_train(X, y)
    assert (predictions[:50] == 1).all()
    for i in (50, 60, 99, 129):
        trained = 50 + (i - 50) // 7 * 7  # examples seen at the last training before row i
        alone = AdaBoostWindowClassifier(n_window=50, budget=8).partial_fit(
            X[trained - 50 : trained], y[trained - 50 : trained]
        )
        assert alone.predict(X[i : i + 1])[0] == predictions[i]
    trained = 50 + 80 // 7 * 7
    alone = AdaBoostWindowClassifier(n_window=50, budget=8).partial_fit(
        X[trained - 50 : trained], y[trained - 50 : trained]
    )
    np.testing.assert_allclose(model.betas_, alone.betas_, rtol=1e-9)


def test_lazy_training_ends_at_the_same_committee():
    X, y = sea(200, 2)
    eager, lazy = (AdaBoostWindowClassifier(n_window=40, budget=6, period=3, lazy=lazy) for lazy in (False, True))
    for start in range(0, 200, 20):
        part = slice(start, start + 20)
        eager.partial_fit(X[part], y[part], classes=[0, 1])
        lazy.partial_fit(X[part], y[part], classes=[0, 1])
        np.testing.assert_array_equal(eager.betas_, lazy.betas_)
        np.testing.assert_array_equal(eager.predict(X), lazy.predict(X))


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


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
def test_several_classes_and_one_met_late(base):
    rng = np.random.default_rng(3)
    y = np.concatenate([rng.integers(0, 2, 100), rng.integers(0, 3, 150)])
    X = rng.normal(np.eye(3)[y] * 3.0, 1.0)
    X = (X > 1.0).astype(float) if base == "bnb" else X
    model = AdaBoostWindowClassifier(n_window=80, budget=10, period=5, base=base)
    model.partial_fit(X[:100], y[:100])
    predictions = model.test_then_train(X[100:], y[100:])
    assert (predictions[100:] == y[200:]).mean() > 0.75
    assert set(model.classes_) == {0, 1, 2} and model.n_seen_ == 250


def test_weights_are_left_as_exp_of_minus_the_margins():
    X, y = sea(30, 4)
    model = AdaBoostWindowClassifier(n_window=30, budget=4).partial_fit(X, y)
    weights, models, betas = np.empty(30), np.zeros_like(model._models), np.zeros(4)
    size = kernels.adaboost(model._family, *model._window, 2, 1e-3, models, betas, weights)
    out = np.empty(30, np.int64)
    margins = np.zeros(30)
    for j in range(size):
        respond_window(model._family, models[j], np.ascontiguousarray(X.T), 2, out)
        margins += betas[j] * np.where(out == y, 1.0, -1.0)
    np.testing.assert_allclose(weights, np.exp(margins.min() - margins), rtol=1e-9)


def test_bad_parameters_are_named():
    for wrong in ({"budget": 0}, {"n_window": 0}, {"period": 1.5}, {"base": "tree"}, {"var_floor": np.nan}):
        with pytest.raises(BoostrunError, match=next(iter(wrong))):
            AdaBoostWindowClassifier(**wrong).partial_fit(*sea(5, 0))
