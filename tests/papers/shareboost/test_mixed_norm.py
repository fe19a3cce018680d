"""The mixed norm: its proximal map, the certificate, the path with its working set, the classifier."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.inner import loss_and_residuals
from boostrun.papers.shareboost.mixed_norm import (
    MixedNormClassifier,
    certificate,
    largest_column,
    mixed_norm,
    prox,
)  # fmt: skip
from boostrun.papers.shareboost.pools import DensePool
from tests.reference import mixed_norm as twin

SMALL = {"n_lambdas": 12, "lambda_min_ratio": 0.01}


def problem(seed, n=60, d=8, k=3):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (n, d)), rng.permutation(np.arange(n) % k)


def with_a_pattern(seed, n=200, d=30, k=4):
    """Labels decided by a few of the columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, (X[:, :4] @ rng.normal(size=(4, k)) * 4 + rng.gumbel(size=(n, k))).argmax(axis=1)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


# --- the proximal map

rows = st.lists(st.floats(-5, 5).map(lambda v: round(v, 3)), min_size=1, max_size=6)


@given(rows, st.floats(0.0, 12.0))
@settings(max_examples=100)
def test_moreau_the_prox_is_what_the_projection_on_the_dual_ball_leaves(row, step):
    values = np.array([row])
    found = prox(values, step)
    np.testing.assert_allclose(found[0], values[0] - twin.project_on_l1_ball(values[0], step), atol=1e-9)
    if np.abs(values).sum() <= step:
        assert (found == 0.0).all()


def test_rows_are_independent_and_ties_share_the_cut():
    values = np.array([[2.0, -2.0, 0.5], [0.2, 0.1, 0.0], [5.0, 0.0, 0.0]])
    np.testing.assert_allclose(prox(values, 1.0), [[1.5, -1.5, 0.5], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0]])
    np.testing.assert_array_equal(prox(values, 0.0), values)
    assert mixed_norm(values) == 7.2 and largest_column(values) == 5.0
    assert mixed_norm(values[:0]) == 0.0 == largest_column(values[:0])


# --- the certificate and the solver


@given(st.integers(0, 10**6), st.floats(0.02, 0.9), st.floats(0.0, 2.0))
@settings(max_examples=15)
def test_the_certificate_is_at_least_the_true_gap(seed, share, size):
    X, y = problem(seed, n=40, d=4)
    gradient = X.T @ loss_and_residuals(np.zeros((40, 3)), y)[1] / 40
    lam = share * largest_column(gradient)
    _, least = twin.mixed_norm_minimum(X, y, 3, lam)
    weights = size * np.random.default_rng(seed).normal(size=(4, 3))
    loss, residuals = loss_and_residuals(X @ weights, y)
    gradient = X.T @ residuals / 40
    bound = certificate(loss, weights, gradient, lam, largest_column(gradient))
    assert bound >= loss + lam * mixed_norm(weights) - least - 1e-9


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_every_point_of_the_path_is_optimal(shift):
    """Also where one direction dominates all columns, which a rule on the step's length would take for the end."""
    X, y = with_a_pattern(0)
    X = (X + shift) / (1.0 + shift)
    model = MixedNormClassifier(15, lambda_min_ratio=0.02, gap=1e-7).fit_pool(DensePool(X), y)
    assert (model.gap_ <= 1e-7 * model.objective_).all()
    for number, lam in enumerate(model.lambdas_):
        candidates, weights = model.model_.point(number)
        loss, residuals = loss_and_residuals(X[:, candidates] @ weights, y)
        gradient = X.T @ residuals / len(X)
        sizes = np.abs(gradient).sum(axis=1)
        assert loss == pytest.approx(model.train_loss_[number]) and (sizes <= lam * 1.01).all()
        np.testing.assert_allclose(sizes[candidates], lam, rtol=0.01)
        slopes = (gradient[candidates] * weights).sum(axis=1)
        np.testing.assert_allclose(slopes, -lam * np.abs(weights).max(axis=1), rtol=0.02, atol=1e-4)
        assert np.abs(weights.sum(axis=1)).max(initial=0.0) <= 2 * np.abs(weights).max(initial=0.0)
    assert model.n_columns_[0] == 0 and model.n_columns_[-1] > 4 and (np.diff(model.objective_) <= 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_first_column_of_the_path_is_shareboosts_first(seed):
    X, y = with_a_pattern(seed)
    path = MixedNormClassifier(40, lambda_min_ratio=0.8).fit_pool(DensePool(X), y).model_
    greedy = ShareBoostClassifier(1).fit(X, y)
    first = int(np.flatnonzero(path.counts)[0])
    assert path.counts[first] == 1 and path.point(first)[0][0] == greedy.selected_[0]
    assert path.lambdas[0] == pytest.approx(greedy.scores_[0])


# --- the classifier


def test_scores_along_the_path_and_at_its_end(digits):
    X, y = digits
    clf = MixedNormClassifier(15, lambda_min_ratio=0.1).fit(X, y)
    for number, (scores, labels) in enumerate(zip(clf.staged_decision_function(X), clf.staged_predict(X))):
        candidates, weights = clf.model_.point(number)
        np.testing.assert_allclose(scores, X[:, candidates] @ weights, atol=1e-12)
        assert (labels == clf.classes_[scores.argmax(axis=1)]).all()
        assert clf.model_.multiply_adds[number] == 10 * len(candidates)
    np.testing.assert_array_equal(clf.decision_function(X), scores)
    assert clf.score(X, y) > 0.85 and (clf.seconds_ > 0).all()


def test_debiased_weights_have_the_columns_and_a_smaller_loss(digits):
    X, y = digits
    plain = MixedNormClassifier(8, lambda_min_ratio=0.2).fit(X, y)
    clf = MixedNormClassifier(8, lambda_min_ratio=0.2, debias=True).fit(X, y)
    for number, scores in enumerate(clf.staged_decision_function(X)):
        np.testing.assert_array_equal(clf.model_.point(number)[1], plain.model_.point(number)[1])
        loss = loss_and_residuals(scores, y)[0]
        assert loss <= clf.train_loss_[number] and (number == 0 or loss < clf.train_loss_[number])


@pytest.mark.parametrize("most", [1, 10])
def test_the_path_ends_before_it_takes_more_columns_than_allowed(digits, most):
    clf, whole = (MixedNormClassifier(60, max_columns=upto).fit(*digits) for upto in (most, 30))
    there = len(clf.lambdas_)
    assert there < 30 and clf.n_columns_.max() == clf.n_learners_ <= most < whole.n_columns_[there]
    np.testing.assert_array_equal(clf.n_columns_, whole.n_columns_[:there])


def test_more_classes_than_there_are_labels_still_add_to_the_loss():
    X, y = with_a_pattern(0, n=80)
    clf = MixedNormClassifier(3, lambda_min_ratio=0.5, n_classes=6).fit(X, y)
    assert clf.train_loss_[0] == pytest.approx(np.log(1 + 5 * np.e)) and clf.decision_function(X).shape == (80, 4)


def test_columns_of_zeros_give_an_empty_path():
    clf = MixedNormClassifier(3).fit(np.zeros((6, 2)), [0, 1, 2, 0, 1, 2])
    assert (clf.n_columns_ == 0).all() and (clf.gap_ == 0).all() and (clf.predict(np.ones((2, 2))) == 0).all()


# --- odd data


def four_points(offset=0.0, scale=1.0):
    return np.tile(np.random.default_rng(0).normal(size=(4, 2)), (50, 1)) * scale + offset, np.arange(200) % 4


def test_columns_far_from_zero_end_after_a_bounded_number_of_iterations_with_a_warning():
    """Sixty solves of 20,000 iterations each took minutes: rounding hides what each of them could still gain."""
    X, y = four_points(offset=1e9)
    with pytest.warns(UserWarning, match="centre and scale the columns"):
        model = MixedNormClassifier().fit(X, y)
    assert model.iterations_.sum() <= 10_000 and len(model.lambdas_) == 60


def test_a_path_that_comes_to_its_certificates_says_nothing(recwarn):
    MixedNormClassifier().fit(*four_points())
    assert not recwarn.list


@pytest.mark.parametrize("scale", [1e300, 1e-160])
def test_values_whose_squares_are_no_numbers_are_a_sentence(scale):
    with pytest.raises(BoostrunError, match=r"too large or too small.*scale the columns"):
        MixedNormClassifier().fit(*four_points(scale=scale))
