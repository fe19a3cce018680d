"""Base classifiers on weighted windows: exhaustive search, scikit-learn's naive Bayes, and the sorted order."""

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels.committee import slide, start_order
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
