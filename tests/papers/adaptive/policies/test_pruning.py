"""Early pruning finds what a look at everything finds, and never looks at more."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from boostrun.papers.adaptive.adaboost_mh import Board
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.adaptive.policies import Pruning, UniformNaive
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


def test_boosting_with_it_is_boosting_with_a_look_at_all_samples_for_less():
    X, y = load_breast_cancer(return_X_y=True)
    pruned, whole = (
        AdaBoostMHClassifier(policy(Q=30), n_estimators=40, budget_multiplier=30, random_state=0).fit(X, y)
        for policy in (Pruning, UniformNaive)
    )
    for name in ("features", "thresholds", "votes", "alphas"):
        np.testing.assert_array_equal(getattr(pruned.ensemble_, name), getattr(whole.ensemble_, name))
    assert (pruned.ledger_["selection"] <= whole.ledger_["selection"]).all()
    assert pruned.evaluations_ < 0.9 * whole.evaluations_
