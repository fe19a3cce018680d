"""Policies of later papers: early pruning is a full search, MABSplit's intervals hold, few features stay few."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.papers.adaptive.adaboost_mh import Board
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.adaptive.policies import FewFeatures, MABSplit, Pruning, UniformNaive
from boostrun.papers.adaptive.policies import bandits as arms
from boostrun.papers.adaptive.policies.laminating import edges_by_pruning
from tests.reference.votes import best_stump_of_feature


def a_board(seed, features, n, classes, codes, heavy):
    """Weights are multiples of 2^-10, so that every sum is exact and equal edges are equal."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, codes, (features, n)).astype(np.uint8)
    board = Board(table, [("all", 0, features)], features * n, "weight", np.random.default_rng(seed))
    signed = np.zeros((n, 1 if classes == 1 else 16), np.float32)
    weights = rng.integers(0, 8, (n, classes)) * np.where(rng.random((n, 1)) < heavy, 64, 1)
    signed[:, :classes] = np.where(rng.random((n, classes)) < 0.5, -1, 1) * weights / 2**10
    if classes == 1 and heavy:  # a feature that tells
        signed[:, 0] = np.abs(signed[:, 0]) * np.where(table[features // 2] >= codes // 2, 1, -1)
    board.begin_step(signed)
    return board


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), features=st.integers(1, 12), n=st.integers(1, 60), classes=st.sampled_from([1, 3, 16]),
    codes=st.sampled_from([1, 2, 5, 256]), heavy=st.sampled_from([0.0, 0.1]),
)  # fmt: skip
def test_it_chooses_as_a_full_search_ties_included_and_never_reads_more(seed, features, n, classes, codes, heavy):
    board = a_board(seed, features, n, classes, codes, heavy)
    chosen = Pruning(Q=features).choose(board)
    spent = board.ledger[-1]["selection"]
    assert 0 < spent <= features * n
    edges, _ = board.edges(np.arange(features), "refit")
    assert chosen == edges.argmax()


def test_the_edge_that_it_finds_is_that_of_all_thresholds_and_vote_vectors():
    board = a_board(3, 4, 30, 3, 6, 0.1)
    rows, signed = np.arange(30), board.signed
    cuts, weight = np.array([5, 20, 30]), np.abs(signed).sum(axis=1).astype(float)
    rest = np.array([weight[cut:].sum() for cut in cuts])
    edges, seen = np.empty(4), np.empty(4, np.int64)
    edges_by_pruning(board.codes, np.arange(4), rows, signed, cuts, rest, 0.0, edges, seen)
    twins = np.array([best_stump_of_feature(column, signed[:, :3].astype(float))[0] for column in board.codes])
    whole = np.isfinite(edges)
    assert edges[whole] == pytest.approx(twins[whole], abs=1e-12) and whole[twins.argmax()]
    assert (seen[whole] == 30).all() and (seen[~whole] < 30).all()


def test_features_are_compared_beyond_those_whose_histograms_are_kept_together(monkeypatch):
    monkeypatch.setattr("boostrun.papers.adaptive.policies.laminating._TOGETHER", 3)
    for seed in range(10):
        board = a_board(seed, 11, 300, 3, 5, 0.1)
        chosen = Pruning(Q=11).choose(board)
        assert board.ledger[-1]["selection"] <= 11 * 300
        assert chosen == board.edges(np.arange(11), "refit")[0].argmax()


def test_a_bad_feature_is_dropped_on_the_heaviest_samples():
    rng = np.random.default_rng(0)
    n, heavy = 1000, 20
    labels = rng.permutation(np.repeat([-1.0, 1.0], n // 2))
    codes = np.stack([rng.permutation(labels > 0) for _ in range(9)] + [labels > 0]).astype(np.uint8)
    signed = (labels * np.where(np.arange(n) < heavy, 1.0, 1e-4))[:, None].astype(np.float32)
    board = Board(codes, [("all", 0, 10)], 10 * n, "weight", np.random.default_rng(0))
    board.begin_step(signed)
    assert Pruning(Q=10).choose(board) == 9
    assert board.ledger[-1]["selection"] < 2 * n  # one feature whole, nine on a few samples


def a_board_that_tells(seed, features=12, n=600, classes=3, budget=4000, right=0.8, sampling="weight"):
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
    signed = a_board_that_tells(0).signed
    u = signed[:, :3].astype(float)
    m = np.abs(u).sum(axis=1)
    draws = u / m[:, None] if sampling == "weight" else len(u) * u
    chance = m if sampling == "weight" else np.full(len(u), 1 / len(u))
    expected = (chance[:, None, None] * draws[:, :, None] * draws[:, None, :]).sum(axis=0)
    np.testing.assert_allclose(arms.second_moments(signed, 3, sampling == "uniform"), expected, rtol=1e-5)


@pytest.mark.parametrize("classes", [1, 3])
def test_intervals_are_those_of_every_threshold_by_the_delta_method(classes):
    board = a_board_that_tells(1, classes=classes)
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


@pytest.mark.parametrize("classes", [1, 3])
def test_a_feature_that_stands_out_is_found_for_less_than_a_look_at_all(classes):
    spent = []
    for seed in range(30):
        board = a_board_that_tells(seed, classes=classes, budget=12 * 600)
        assert started(MABSplit(Q=12, batch=50), board).choose(board) == 3
        spent.append(board.ledger[-1]["selection"])
    assert np.mean(spent) < 12 * 600 / 3


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 99), budget=st.integers(2, 3000), batch=st.integers(1, 700), q=st.integers(2, 12) | st.none()
)
def test_it_is_never_above_the_budget(seed, budget, batch, q):
    board = a_board_that_tells(seed, budget=budget)
    policy = MABSplit(Q=q, batch=batch)
    if q is not None and q > budget:
        with pytest.raises(BoostrunError, match="too small for MABSplit"):
            policy.start(board)
        return
    assert 0 <= started(policy, board).choose(board) < 12
    assert board.left >= 0


def test_samples_that_are_all_bought_at_once_are_looked_at_exactly():
    board = a_board_that_tells(4, budget=12 * 600, right=0.5)
    chosen = started(MABSplit(Q=12, batch=10**6), board).choose(board)
    assert board.ledger[-1]["selection"] == 12 * 600
    assert chosen == board.edges(np.arange(12), "refit")[0].argmax()


def data(n=300, features=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, (n, features)).astype(np.uint8)
    return X, (X[:, 3] > 20).astype(int) + (X[:, 7] + X[:, 1] // 2 > 25)


def boosted(policy, weak_learner="stump", n_estimators=30, **given):
    given = {"depth": 3, "budget_multiplier": 12, "random_state": 0} | given
    return AdaBoostMHClassifier(policy, n_estimators=n_estimators, weak_learner=weak_learner, **given).fit(*data())


def rounds_of(model):
    """The features of each round."""
    ensemble = model.ensemble_
    if model.weak_learner == "stump":
        return [{int(feature)} for feature in ensemble.features]
    return [set(features[splits].tolist()) for features, splits in zip(ensemble.features, ensemble.splits)]


@pytest.mark.parametrize("weak_learner", ["stump", "tree"])
@settings(max_examples=15, deadline=None)
@given(few=st.integers(1, 6), wait=st.integers(1, 5), q=st.sampled_from([None, 2, 5]))
def test_features_come_one_by_one_and_no_more_than_were_asked_for(weak_learner, few, wait, q):
    model = boosted(FewFeatures(Q=q, features_used=few, rounds_a_feature=wait), weak_learner)
    had = set()
    for t, features in enumerate(rounds_of(model)):
        had |= features
        assert len(had) <= min(few, t // wait + 1)
    assert (model.feature_importances_ > 0).sum() <= few
    assert model.ledger_["selection"].max() <= 12 * 300 * (1 if weak_learner == "stump" else 3)


def test_one_that_comes_is_the_best_of_all():
    every = boosted(UniformNaive(Q=12), n_estimators=1).ensemble_.features[0]
    few = boosted(FewFeatures(features_used=3, rounds_a_feature=2), n_estimators=7)
    assert few.ensemble_.features[0] == every
    assert len(set(few.ensemble_.features[:2])) == 1 and len(set(few.ensemble_.features)) == 3


def test_without_a_bound_and_a_wait_it_is_the_search_of_everything():
    few, every = boosted(FewFeatures(rounds_a_feature=1)), boosted(UniformNaive(Q=12))
    new = [len(set(every.ensemble_.features[: t + 1])) <= t + 1 for t in range(30)]
    assert all(new) and (few.ensemble_.features == every.ensemble_.features).all()
    assert (few.staged_log10_loss_ == every.staged_log10_loss_).all()


def test_a_second_fit_begins_with_no_feature():
    policy = FewFeatures(features_used=2)
    model = AdaBoostMHClassifier(policy, n_estimators=20, budget_multiplier=12, random_state=0)
    X, y = data()
    first = set(model.fit(X, y).ensemble_.features)
    second = set(model.fit(X[:, ::-1].copy(), y).ensemble_.features)
    assert second == {11 - feature for feature in first} and not hasattr(policy, "_used")


def test_more_than_the_budget_is_refused():
    with pytest.raises(BoostrunError, match=r"Q=5 features on all 300 samples cost 1500 .* its budget is 1200"):
        boosted(FewFeatures(Q=5), budget_multiplier=4)
    with pytest.raises(BoostrunError, match=r"Q=1 features on all 300 samples cost 300 .* its budget is 150"):
        boosted(FewFeatures(), budget_multiplier=0.5)


def test_it_keeps_a_budget_of_features_and_says_how_many_it_used():
    method = catalogue.methods()["few_features"]
    words = obtain(method.keeps["features"])(3, {"n_samples": 300, "n_features": 12, "n_classes": 3})
    assert words == {"algo.features_used": 3, "algo.budget_multiplier": 12.0}
    with pytest.raises(BoostrunError, match="a split has one feature"):
        obtain(method.keeps["features"])(0.5, {"n_samples": 300, "n_features": 12, "n_classes": 3})
