"""WSam that carries mass: the same choice, and each kept sample stands for an equal share of the weight."""

import numpy as np

from boostrun import ReservoirClassifier
from boostrun.papers.reservoir.strategies import Batch, WSam, WSamMass


def batch(weights):
    n = len(weights)
    return Batch(np.zeros((n, 1)), np.ones(n), weights, np.zeros(n, int))


def test_it_keeps_what_wsam_keeps_and_all_of_the_weight():
    for seed in range(20):
        at_hand = batch(np.random.default_rng(seed).random(30))
        kept, weights = WSamMass()(at_hand, 10, np.random.default_rng(seed))
        wanted, _ = WSam()(at_hand, 10, np.random.default_rng(seed))
        assert kept.tolist() == wanted.tolist()
        assert np.ptp(weights) == 0.0 and np.isclose(weights.sum(), at_hand.weights.sum())


def test_masses_are_those_of_importance_sampling_and_add_up_to_r():
    x = np.random.default_rng(0).random((400, 3))
    model = ReservoirClassifier(
        "wsam_mass", reservoir_size=20, n_estimators=1, shrinkage=1.0, random_state=0, warm_start=True
    ).fit(x, x[:, 0] > 0.3)
    (reservoir, _, _) = model._problems[0]
    assert np.isclose(reservoir.masses.sum(), 40.0)  # those of the fresh ones are 1
    model.set_params(n_estimators=30).fit(x, x[:, 0] > 0.3)
    old = reservoir.arrived < reservoir.arrived.max()
    assert np.isclose(reservoir.masses[old].sum(), 20.0)
    margins = (reservoir.labels * reservoir.scores)[old]
    assert reservoir.masses[old][margins > 1.0].mean() > reservoir.masses[old][margins < 0.0].mean()
