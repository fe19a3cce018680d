"""Oza and Chen over random stumps: how these are drawn, and that all else is as with stumps of LogitBoost."""

import numpy as np
import pytest

from boostrun.data.source import ArraySource
from boostrun.papers.reservoir.online_classifier import OnlineRivalClassifier, RandomStumpsClassifier, random_stumps

SMALL = {"n_estimators": 9, "subset_size": 40, "samples_seen": 90, "batch_size": 25}


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
def test_the_samples_are_those_of_picked_stumps_and_the_seed_decides_the_rest(method, digits):
    models = [
        RandomStumpsClassifier(method, random_state=seed, **SMALL).fit_source(ArraySource(*digits, 2))
        for seed in (3, 3, 4)
    ]
    picked = OnlineRivalClassifier(method, random_state=3, **SMALL).fit_source(ArraySource(*digits, 2))
    assert models[0].samples_drawn_per_problem_ == picked.samples_drawn_per_problem_
    assert models[0].peak_samples_held_ == picked.peak_samples_held_
    features = [model.ensemble_.features for model in models]
    assert (features[0] == features[1]).all() and (features[0] != features[2]).any()


def test_random_stumps_are_worse_than_picked_ones(digits):
    X, y = digits
    sizes = {"n_estimators": 20, "subset_size": 150, "samples_seen": 500, "random_state": 0}
    random, picked = (kind("oza", **sizes).fit(X[:1400], y[:1400]).score(X[1400:], y[1400:])
                      for kind in (RandomStumpsClassifier, OnlineRivalClassifier))  # fmt: skip
    assert random < picked - 0.05
