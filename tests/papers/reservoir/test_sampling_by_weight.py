"""How WSS, Mada and FilterBoost draw: frequencies, unbiased estimates, counts."""

import numpy as np
import pytest

from boostrun.data.source import ArraySource
from boostrun.methods.stumps import Stump, StumpLearner
from boostrun.methods.weak_learner import LOSSES
from boostrun.papers.reservoir import full_data as kernels
from boostrun.papers.reservoir.classifier import RULES
from boostrun.papers.reservoir.full_data import CourseSettings, Everything, Mada, Wss, draw_proportionally
from boostrun.papers.reservoir.full_data_classifier import FilterBoost, FullDataClassifier, WeightFilter
from tests.reference import full_data as reference

# --- drawing in proportion to weights


def test_draws_equal_the_twin():
    rng = np.random.default_rng(0)
    for n, r in ((1, 5), (7, 1), (40, 200), (1000, 50)):
        weights, gaps = rng.random(n) * (rng.random(n) < 0.7), rng.standard_exponential(r + 1)
        weights[rng.integers(n)] = 1.0
        assert (kernels.draw_by_gaps(weights, gaps) == reference.draw_proportionally(weights, gaps)).all()


def test_rows_without_weight_are_never_drawn_and_no_weight_at_all_means_uniformly():
    rng = np.random.default_rng(0)
    weights = np.array([0.0, 2.0, 0.0, 1.0, 0.0])
    assert set(draw_proportionally(weights, 1000, rng)) == {1, 3}
    counts = np.bincount(draw_proportionally(np.zeros(5), 5000, rng), minlength=5)
    np.testing.assert_allclose(counts, 1000, atol=5 * np.sqrt(800))


def everything(scores, loss="logistic", seed=0):
    """N samples with given scores, labels at random, and r = 20 to draw."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 256, (len(scores), 3)).astype(np.uint8)
    settings_ = CourseSettings(20, 5, LOSSES[loss], RULES["log_odds"], 0.5, 100, StumpLearner(), 256)
    data = Everything(ArraySource(samples, rng.integers(0, 2, len(scores))), settings_, rng)
    data.begin(1)
    data.scores[:] = scores
    return data


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_wss_includes_samples_as_often_as_their_weights_say(loss):
    data, rng, trials, r = everything(np.linspace(-2, 2, 30), loss), np.random.default_rng(1), 4000, 20
    weights = LOSSES[loss].weights(data.y * data.scores)
    pick, drawn, included = Wss.pick, np.zeros(30), np.zeros(30)
    for _ in range(trials):
        rows, uniform = pick(None, data, r, LOSSES[loss], rng)
        assert (uniform == 1).all()
        drawn += np.bincount(rows, minlength=30)
        included[np.unique(rows)] += 1
    p = weights / weights.sum()
    assert (abs(drawn / (trials * r) - p) < 4.5 * np.sqrt(p * (1 - p) / (trials * r))).all()
    p = reference.chance_of_being_drawn(weights, r)
    assert (abs(included / trials - p) < 4.5 * np.sqrt(p * (1 - p) / trials)).all()


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_madas_estimate_of_every_edge_is_unbiased(loss):
    """The mean over many draws is the full-data edge within its standard error, for stumps of every feature."""
    data, rng, trials, r = everything(np.linspace(-2, 2, 60), loss), np.random.default_rng(2), 6000, 20
    weights = LOSSES[loss].weights(data.y * data.scores)
    votes = np.where(data.samples >= np.array([60, 128, 200]), 1.0, -1.0)
    estimates = np.empty((trials, 4))
    for t in range(trials):
        rows, v = Mada.pick(None, data, r, LOSSES[loss], rng)
        estimates[t, :3] = (v * data.y[rows]) @ votes[rows]
        estimates[t, 3] = v.sum()
    full = np.append((weights * data.y) @ votes, weights.sum())
    error = estimates.std(axis=0, ddof=1) / np.sqrt(trials)
    assert (abs(estimates.mean(axis=0) - full) < 4.5 * error).all() and (error < 0.02 * weights.sum()).all()


def test_madas_weights_stay_finite_when_all_margins_are_large():
    data = everything(np.zeros(30))
    data.scores[:] = 2000 * data.y
    for loss in LOSSES.values():
        _, weights = Mada.pick(None, data, 20, loss, np.random.default_rng(0))
        assert np.isfinite(weights).all() and (weights > 0).all()


# --- FilterBoost


def weight_filter(loss="logistic", r=40, n=30, max_rejections=1000, seed=0):
    """A filter whose ensemble of three stumps gives the n samples of a source scores of several sizes."""
    rng = np.random.default_rng(seed)
    samples = np.arange(n, dtype=np.uint8)[:, None]
    source = ArraySource(samples, rng.integers(0, 2, n), seed)
    settings_ = CourseSettings(r, 500, LOSSES[loss], RULES["log_odds"], 0.5, max_rejections, StumpLearner(), 256)
    filter_ = WeightFilter(
        FilterBoost(source, settings_, rng), source.open(capacity=2 * r), 1, np.random.default_rng(seed)
    )
    for threshold, step in [(5.0, 0.8), (12.0, -1.3), (20.0, 0.6)]:
        filter_.members.add(Stump(0, threshold, 1), step)
    scores = sum(np.where(samples[:, 0] >= a, s, -s) for a, s in [(5, 0.8), (12, -1.3), (20, 0.6)])
    return filter_, np.where(source.labels == 1, 1.0, -1.0), scores


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_accepted_samples_follow_the_weights_and_every_call_is_counted(loss):
    filter_, y, scores = weight_filter(loss)
    weights = np.minimum(1.0, LOSSES[loss].weights(y * scores))
    counts, rounds = np.zeros(30), 400
    for _ in range(rounds):
        samples, labels, found = filter_.accept()
        rows = samples[:, 0].astype(int)
        assert (labels == y[rows]).all()
        np.testing.assert_allclose(found, scores[rows])
        counts += np.bincount(rows, minlength=30)
        assert filter_.accepted + filter_.rejected + filter_.waiting == filter_.draws.drawn
        assert filter_.draws.held == filter_.waiting < 40
    assert filter_.accepted == counts.sum() == rounds * 40 and filter_.draws.peak_held <= 80
    p = weights / weights.sum()
    assert (abs(counts / counts.sum() - p) < 4.5 * np.sqrt(p * (1 - p) / counts.sum())).all()
    assert filter_.accepted / (filter_.accepted + filter_.rejected) == pytest.approx(weights.mean(), rel=0.03)


def test_a_filter_that_runs_dry_ends_its_problem_and_fills_it_with_rounds_without_effect():
    samples = np.arange(200, dtype=np.uint8)[:, None]
    source = ArraySource(samples, (samples[:, 0] >= 100).astype(int), 0)
    parameters = {"reservoir_size": 20, "n_estimators": 60, "shrinkage": 1.0, "random_state": 0}
    short = FullDataClassifier("filterboost", max_rejections=50, **parameters).fit_source(source)
    (trained,) = short.rounds_trained_
    assert 1 < trained < 60
    assert (short.ensemble_.coefficients[0, :trained] != 0).all()
    assert (short.ensemble_.coefficients[0, trained:] == 0).all()
    drawn = short.staged_samples_drawn_
    assert (np.diff(drawn[:trained]) >= 0).all() and (drawn[trained:] == short.samples_drawn_).all()
    assert 50 * 20 <= short.samples_drawn_ - drawn[trained - 1] <= 51 * 20 + 20
    longer = FullDataClassifier("filterboost", max_rejections=500, **parameters).fit_source(source)
    assert longer.rounds_trained_[0] > trained
    assert (longer.ensemble_.coefficients[0, :trained] == short.ensemble_.coefficients[0, :trained]).all()
