"""Laminating among equals."""

from types import SimpleNamespace

import numpy as np

from boostrun.papers.adaptive.policies.laminating import laminate


def board(edges):
    return SimpleNamespace(sample=lambda size: size, sampled_edges=lambda features, size: edges[features])


def test_of_equal_edges_the_first_wins_on_every_processor():
    rng = np.random.default_rng(0)
    for q in (2, 8, 64, 1024):
        features = np.sort(rng.permutation(4 * q)[:q])
        assert laminate(board(np.zeros(4 * q)), features, 8) == features[0]
        few = rng.integers(3, size=4 * q) / 2.0  # as edges of small samples of codes are
        assert laminate(board(few), features, 8) == features[few[features].argmax()]


def test_the_best_edge_wins_where_edges_stay_what_they_are():
    edges = np.random.default_rng(1).random(256)
    assert laminate(board(edges), np.arange(256), 4) == edges.argmax()
