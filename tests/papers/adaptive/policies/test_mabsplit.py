"""MABSplit: intervals that hold, the best arm found, and never above the budget."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.adaboost_mh import Board
from boostrun.papers.adaptive.policies import MABSplit
from boostrun.papers.adaptive.policies import bandits as arms


def a_board(seed, features=12, n=600, classes=3, budget=4000, right=0.8, sampling="weight"):
    """The feature 3 is right about every class that often, the others are random; weights differ."""
    rng = np.random.default_rng(seed)
    side = rng.random(n) < 0.5
    labels = np.where(side[:, None], 1.0, -1.0) * np.where(rng.random((n, classes)) < right, 1.0, -1.0)
    codes = rng.integers(0, 256, (features, n)).astype(np.uint8)
    codes[3] = np.where(side, 200, 20) + rng.integers(0, 50, n)
    board = Board(codes, [("all", 0, features)], budget, sampling, np.random.default_rng(seed))
    signed = np.zeros((n, 1 if classes == 1 else 16), np.float32)
    weights = rng.exponential(size=(n, classes))
    signed[:, :classes] = labels * weights / weights.sum()
    board.begin_step(signed)
    return board


def started(policy, board):
    policy.start(board)
    return policy


@pytest.mark.parametrize("sampling", ["weight", "uniform"])
def test_the_second_moments_are_their_definition(sampling):
    signed = a_board(0).signed
    u = signed[:, :3].astype(float)
    m = np.abs(u).sum(axis=1)
    draws = u / m[:, None] if sampling == "weight" else len(u) * u
    chance = m if sampling == "weight" else np.full(len(u), 1 / len(u))
    expected = (chance[:, None, None] * draws[:, :, None] * draws[:, None, :]).sum(axis=0)
    np.testing.assert_allclose(arms.second_moments(signed, 3, sampling == "uniform"), expected, rtol=1e-5)


@pytest.mark.parametrize("classes", [1, 3])
def test_intervals_are_those_of_every_threshold_by_the_delta_method(classes):
    board = a_board(1, classes=classes)
    size, z, lanes = 50, 2.0, board.signed.shape[1]
    sample = board.sample(size)
    histograms = np.zeros((2 * 256, lanes), np.float32)
    features = np.array([3, 5])
    arms.insert(board.codes, features, np.array([1, 0]), sample.rows, sample.signed, np.float32(size), histograms)
    moments = arms.second_moments(board.signed, classes, False)
    edges, lower, upper = np.empty((3, 2))
    arms.intervals(histograms, np.array([1, 0]), size, moments, z, edges, lower, upper)
    for q, feature in enumerate(features):
        ends = []
        for b in range(256):
            side = np.where(board.codes[feature, sample.rows] >= b, 1.0, -1.0)
            e = side @ sample.signed[:, :classes].astype(float)
            v = np.where(e >= 0, 1.0, -1.0)
            half = z * np.sqrt(max(v @ (moments - np.outer(e, e)) @ v, 0.0) / size)
            ends.append((np.abs(e).sum(), np.abs(e).sum() - half, np.abs(e).sum() + half))
        np.testing.assert_allclose((edges[q], lower[q], upper[q]), np.max(ends, axis=0), atol=1e-5)


@pytest.mark.parametrize(("classes", "sampling"), [(1, "weight"), (3, "weight"), (3, "uniform")])
def test_an_interval_of_a_fixed_arm_holds_its_edge_about_as_often_as_it_says(classes, sampling):
    board = a_board(2, classes=classes, sampling=sampling)
    moments = arms.second_moments(board.signed, classes, sampling == "uniform")
    true = board.edges(np.array([3]), "refit")[0][0]
    held, size = 0, 200
    for _ in range(300):
        sample = board.sample(size)
        side = np.where(board.codes[3, sample.rows] >= 128, 1.0, -1.0)
        e = side @ sample.signed[:, :classes].astype(float)
        v = np.where(e >= 0, 1.0, -1.0)
        held += abs(np.abs(e).sum() - true) <= 1.96 * np.sqrt(v @ (moments - np.outer(e, e)) @ v / size)
    assert 0.9 <= held / 300 <= 0.99


@pytest.mark.parametrize("classes", [1, 3])
def test_a_feature_that_stands_out_is_found_for_less_than_a_look_at_all(classes):
    spent = []
    for seed in range(30):
        board = a_board(seed, classes=classes, budget=12 * 600)
        assert started(MABSplit(Q=12, batch=50), board).choose(board) == 3
        spent.append(board.ledger[-1]["selection"])
    assert np.mean(spent) < 12 * 600 / 3


def test_a_feature_that_hardly_stands_out_is_found_more_often_with_a_larger_budget():
    found = []
    for budget in (240, 2000, 12 * 600 * 4):
        boards = [a_board(seed, budget=budget, right=0.56) for seed in range(40)]
        truth = [board.edges(np.arange(12), "refit")[0].argmax() for board in boards]
        found.append(sum(started(MABSplit(Q=12, batch=20), b).choose(b) == t for b, t in zip(boards, truth)))
    assert found[0] < found[1] < found[2] and found[2] >= 38


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 99), budget=st.integers(2, 3000), batch=st.integers(1, 700), q=st.integers(2, 12) | st.none()
)
def test_it_is_never_above_the_budget(seed, budget, batch, q):
    board = a_board(seed, budget=budget)
    policy = MABSplit(Q=q, batch=batch)
    if q is not None and q > budget:
        with pytest.raises(BoostrunError, match="too small for MABSplit"):
            policy.start(board)
        return
    assert 0 <= started(policy, board).choose(board) < 12
    assert board.left >= 0


def test_samples_that_are_all_bought_at_once_are_looked_at_exactly():
    board = a_board(4, budget=12 * 600, right=0.5)
    chosen = started(MABSplit(Q=12, batch=10**6), board).choose(board)
    assert board.ledger[-1]["selection"] == 12 * 600
    assert chosen == board.edges(np.arange(12), "refit")[0].argmax()
