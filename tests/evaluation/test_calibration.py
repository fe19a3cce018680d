"""Log loss, Brier score and reliability: scikit-learn's figures, in parts or at once."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from boostrun.evaluation.measures import BINS, measure, together


def made(classes, samples=200, seed=0):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(classes, 0.3), samples)
    return probabilities, rng.integers(0, classes, samples), probabilities.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_log_loss_and_brier_score_are_those_of_scikit_learn(classes):
    probabilities, truth, predicted = made(classes)
    found = measure(probabilities, truth, predicted)
    assert found.log_loss == pytest.approx(log_loss(truth, probabilities, labels=range(classes)), rel=1e-12)
    theirs = brier_score_loss(truth, probabilities[:, 1] if classes == 2 else probabilities, labels=range(classes))
    assert found.brier == pytest.approx(theirs, rel=1e-12)


def test_a_probability_of_zero_costs_much_and_not_everything():
    sure = np.array([[1.0, 0.0], [1.0, 0.0]])
    found = measure(sure, np.array([0, 1]), np.array([0, 0]))
    assert found.log_loss == pytest.approx(log_loss([0, 1], sure), rel=1e-6) and 18.0 < found.log_loss < 18.1


def test_parts_of_a_test_set_add_up_to_the_whole():
    probabilities, truth, predicted = made(4)
    whole = measure(probabilities, truth, predicted)
    parts = [
        measure(*(each[part] for each in (probabilities, truth, predicted))) for part in (slice(70), slice(70, 200))
    ]
    both = together(parts)
    assert both.log_loss == pytest.approx(whole.log_loss) and both.brier == pytest.approx(whole.brier)
    assert np.allclose(both.bins, whole.bins) and both.bins.shape == (3, BINS)


def test_bins_count_every_sample_once_and_say_how_many_are_right():
    probabilities, truth, predicted = made(3)
    probabilities[0] = 1.0, 0.0, 0.0  # the upper end is in the last bin
    counts, sums, right = measure(probabilities, truth, predicted).bins
    assert counts.sum() == 200 and counts[-1] > 0 and right.sum() == np.sum(predicted == truth)
    filled = counts > 0
    means = sums[filled] / counts[filled]
    low = np.arange(BINS)[filled] / BINS
    assert np.all(means >= low) and np.all(means <= low + 1 / BINS)
