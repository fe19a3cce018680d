"""The loss of ShareBoost: its bounds, its gradient, and changes that leave it as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostrun.papers.shareboost.inner import loss_and_residuals, losses, residuals


def draw(seed, n=40, k=4, spread=3.0):
    rng = np.random.default_rng(seed)
    return rng.normal(scale=spread, size=(n, k)), rng.integers(0, k, n)


@given(seed=st.integers(0, 10_000), k=st.integers(2, 9), spread=st.sampled_from([0.0, 0.3, 5.0, 100.0]))
def test_error_hinge_loss_and_hinge_plus_log_k_are_in_order(seed, k, spread):
    scores, y = draw(seed, k=k, spread=spread)
    wrong = scores.argmax(axis=1) != y
    reach = scores + 1.0 - scores[np.arange(len(y)), y][:, None]
    reach[np.arange(len(y)), y] = 0.0
    hinge, loss = reach.max(axis=1), losses(scores, y)
    assert (wrong <= hinge).all()
    assert (hinge <= loss + 1e-12).all()
    assert (loss <= hinge + np.log(k) + 1e-12).all()


def test_the_loss_of_no_scores_is_the_logarithm_of_one_plus_the_others_times_e():
    for k in (2, 3, 10):
        assert losses(np.zeros((3, k)), np.zeros(3, np.int64)) == pytest.approx(np.log(1 + (k - 1) * np.e))


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_huge_scores_give_finite_losses(size):
    scores, y = np.array([[size, 0.0, -size]]), np.array([0])
    loss, rest = loss_and_residuals(scores, y)
    assert np.isfinite(loss)
    assert np.isfinite(rest).all()
    assert loss == pytest.approx(max(0.0, 2e4 + 1.0 if size < 0 else 0.0))


@given(seed=st.integers(0, 10_000), margin=st.sampled_from([0.0, 0.5, 1.0]))
def test_residuals_are_the_gradient_by_the_scores_and_sum_to_zero(seed, margin):
    scores, y = draw(seed, n=3)
    found, step = residuals(scores, y, margin), 1e-5
    for i, q in np.ndindex(scores.shape):
        up, down = scores.copy(), scores.copy()
        up[i, q] += step
        down[i, q] -= step
        slope = (losses(up, y, margin).sum() - losses(down, y, margin).sum()) / (2 * step)
        assert found[i, q] == pytest.approx(slope, abs=1e-8)
    assert np.abs(found.sum(axis=1)).max() < 1e-14


def test_the_same_number_added_to_all_scores_of_a_sample_changes_nothing():
    scores, y = draw(0)
    moved = scores + np.random.default_rng(1).normal(size=(len(y), 1))
    np.testing.assert_allclose(losses(moved, y), losses(scores, y), atol=1e-12)
    np.testing.assert_allclose(residuals(moved, y), residuals(scores, y), atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_at_once_are_each_alone_whatever_the_layout(order):
    scores, y = draw(2)
    loss, rest = loss_and_residuals(np.array(scores, order=order), y)
    assert loss == pytest.approx(losses(scores, y).mean(), rel=1e-14)
    np.testing.assert_allclose(rest, residuals(scores, y), atol=1e-15)


def test_inputs_are_left_as_they_were():
    scores, y = draw(3)
    before = scores.copy()
    loss_and_residuals(scores, y)
    np.testing.assert_array_equal(scores, before)


@given(
    seed=st.integers(0, 10_000), n=st.sampled_from([2, 7, 511, 512, 513, 1100]), k=st.integers(2, 19),
    margin=st.sampled_from([0.0, 1.0]), spread=st.sampled_from([0.0, 3.0, 800.0]),
)  # fmt: skip
def test_class_major_scores_give_what_arrays_give_to_the_bit(seed, n, k, margin, spread):
    scores, y = draw(seed, n, k, spread)
    scores = np.asfortranarray(scores)
    every = np.arange(n)
    terms = scores - (scores[every, y] - margin)[:, None]
    terms[every, y] = 0.0
    largest = terms.max(axis=1)
    terms = np.exp(terms - largest[:, None])
    summed = sum(terms[:, q] for q in range(k))
    np.testing.assert_array_equal(losses(scores, y, margin), largest + np.log(summed))
    terms /= summed[:, None]
    terms[every, y] -= 1.0
    found = residuals(scores, y, margin)
    np.testing.assert_array_equal(found, terms)
    assert found.flags.f_contiguous
