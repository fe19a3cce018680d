"""The online boosters of Table 4 on a source of samples: scores, counts, bounded memory, and the estimator's checks."""

import numpy as np
import pytest

from boostrun.data.source import ArraySource
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.online_classifier import (
    OnlineRivalClassifier,
    RandomStumpsClassifier,
    offline_logitboost,
    random_stumps,
)
from tests.papers.reservoir.test_every_method import KINDS
from tests.reference.stumps import brute_force_stump

METHODS = KINDS[OnlineRivalClassifier]
SMALL = {"n_estimators": 8, "subset_size": 40, "samples_seen": 90, "batch_size": 25, "reservoir_size": 20}
FIELDS = ("features", "thresholds", "polarities", "coefficients")


@pytest.mark.parametrize(
    ("method", "drawn", "held"),
    [("oza", 40 + 90, 40), ("osboost", 40 + 90, 40), ("ocp", 40 + 90, 40), ("bisc", 90, 25), ("leistner", 90, 25),
     ("geem_oza", 40 + 8 * 20 + 90, 40), ("geem_osboost", 40 + 8 * 20 + 90, 40), ("geem_ocp", 40 + 8 * 20 + 90, 40)],
)  # fmt: skip
def test_what_is_drawn_and_held_is_bounded_and_counted(method, drawn, held, digits):
    filters = []

    class Spy(ArraySource):
        def open(self, capacity, stream=0):
            assert stream == len(filters)
            filters.append(super().open(capacity, stream))
            return filters[-1]

    model = OnlineRivalClassifier(method, random_state=0, **SMALL).fit_source(Spy(*digits, 1))
    assert model.samples_drawn_per_problem_ == [drawn] * 10 == [filter_.drawn for filter_ in filters]
    assert model.samples_drawn_ == 10 * drawn
    assert model.peak_samples_held_ == held == max(filter_.peak_held for filter_ in filters)
    assert all(filter_.held == 0 for filter_ in filters)


def test_by_default_the_online_methods_see_what_a_reservoir_of_250_draws_or_one_pass(digits):
    for rounds, drawn in ((3, 50 + 250 + 250 + 3 * 250), (20, 50 + len(digits[1]))):
        model = OnlineRivalClassifier("osboost", n_estimators=rounds, subset_size=50, random_state=0)
        assert model.fit_source(ArraySource(*digits, 0)).samples_drawn_per_problem_ == [drawn] * 10


def test_stumps_of_geem_are_those_of_reservoir_boosting_on_the_same_stream(digits):
    source = ArraySource(*digits, 5)
    ours = OnlineRivalClassifier("geem_oza", random_state=9, **SMALL).fit_source(source).ensemble_
    geem = ReservoirClassifier("geem", reservoir_size=20, n_estimators=8, random_state=9).fit_source(source).ensemble_
    for name in FIELDS[:3]:
        assert (getattr(ours, name) == getattr(geem, name)).all()
    assert not np.allclose(ours.coefficients, geem.coefficients)


def test_offline_logitboost_is_logitboost():
    rng = np.random.default_rng(0)
    samples = rng.integers(0, 256, (60, 4), dtype=np.uint8)
    labels = np.where(samples[:, 0].astype(int) + samples[:, 1] > 256, 1.0, -1.0)
    scores = np.zeros(60)
    for stump, step in offline_logitboost(samples, labels, 10, 0.5):
        weights = 1 / (1 + np.exp(labels * scores))
        (feature, *_, polarity), edge = brute_force_stump(samples, weights * labels)
        assert (stump.feature, stump.polarity) == (feature, polarity)
        error = np.clip((1 - edge / weights.sum()) / 2, 1e-3, 1 - 1e-3)
        assert step == pytest.approx(0.25 * np.log((1 - error) / error), rel=1e-9)
        scores += step * stump(samples)


@pytest.mark.parametrize("method", METHODS)
def test_the_batch_size_decides_nothing(method, digits):
    one, other = (OnlineRivalClassifier(
        method, random_state=3, **SMALL | {"batch_size": batch},
    ).fit_source(ArraySource(*digits, 2)) for batch in (25, 7))  # fmt: skip
    assert all((getattr(one.ensemble_, name) == getattr(other.ensemble_, name)).all() for name in FIELDS)


@pytest.mark.parametrize("better", [False, True])
def test_each_stump_parts_the_samples_by_a_feature_that_varies(better):
    rng = np.random.default_rng(0)
    samples = np.column_stack([np.zeros(30), rng.integers(0, 3, 30), rng.normal(size=30)])
    labels = np.where(samples[:, 2] > 0.0, 1.0, -1.0)
    found = random_stumps(samples, labels, 200, better, rng)
    votes = np.array([stump(samples) for stump in found])
    assert (np.abs(votes.sum(axis=1)) < 30).all() and {stump.feature for stump in found} == {1, 2}
    right = (votes == labels).mean(axis=1)
    assert (right.min() >= 0.5) if better else (right.min() < 0.2 and {stump.polarity for stump in found} == {-1, 1})


def test_constant_features_give_constant_stumps_of_the_larger_side():
    stumps = random_stumps(np.ones((4, 2)), np.array([-1.0, -1.0, -1.0, 1.0]), 3, True, np.random.default_rng(0))
    assert all((stump(np.array([[7.0, 7.0]])) == -1.0).all() for stump in stumps)


@pytest.mark.parametrize("method", ["oza", "osboost"])
def test_the_samples_are_those_of_picked_stumps(method, digits):
    random, picked = (
        kind(method, random_state=3, **SMALL).fit_source(ArraySource(*digits, 2))
        for kind in (RandomStumpsClassifier, OnlineRivalClassifier)
    )
    assert random.samples_drawn_per_problem_ == picked.samples_drawn_per_problem_
    assert random.peak_samples_held_ == picked.peak_samples_held_
