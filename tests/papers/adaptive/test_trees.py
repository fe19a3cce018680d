"""AdaBoost.MH with trees: each split a step of the policy, leaves that vote, and the methods of a fitted model."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.papers.adaptive import POLICIES
from boostrun.papers.adaptive import vote_trees as kernels
from boostrun.papers.adaptive.adaboost_mh import CHARGED, SplitBoard, TreeRun, one_column_a_class
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.adaptive.policies import Pruning, UniformNaive, own_copy
from boostrun.papers.adaptive.vote_trees import TreeVoteEnsemble
from tests.marks import slow_but
from tests.reference import vote_trees as twin

pytestmark = pytest.mark.slow  # kernels that take long to compile

DIGITS = load_digits(return_X_y=True)


def data(n=80, classes=3, d=5, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, (n, d)).astype(np.uint8)
    y = (codes[:, 0] // 4 + 2 * (codes[:, 1] > 5) + (rng.random(n) < 0.2)) % classes
    return codes, y


def trees(policy=None, **parameters):
    return AdaBoostMHClassifier(policy or UniformNaive(Q=5), random_state=0, weak_learner="tree", **parameters)


def a_run(classes, depth, rounds, policy=None):
    """A run on all features, and its labels (n, K)."""
    codes, y = data(classes=classes)
    labels = one_column_a_class(y, np.arange(classes))
    board = SplitBoard(np.ascontiguousarray(codes.T), [("all", 0, 5)], 800, "weight", np.random.default_rng(0))
    policy = policy or UniformNaive(Q=5)
    policy.start(board)
    run = TreeRun(board, policy, labels, "uniform", depth)
    run.boost(rounds)
    return run, labels


@pytest.mark.parametrize("classes", [2, 3])
def test_a_tree_of_depth_two_is_the_one_of_brute_force(classes):
    run, labels = a_run(classes, 2, 4)
    scores = np.zeros(labels.shape)
    for t in range(4):
        weights = np.exp(-labels * scores)
        signed = labels * weights / weights.sum()
        paths, splits = twin.tree(run.board.codes, signed, 2)
        edge, votes = twin.edge_and_votes(paths, signed)
        alpha = 0.5 * np.log((1 + edge) / (1 - edge))
        assert run.ensemble.splits[t].sum() == splits
        assert run.ensemble.alphas[t] == pytest.approx(alpha, rel=1e-4)
        scores += alpha * votes
        found = next(run.ensemble.staged_decision(run.board.codes, [t + 1])).T
        np.testing.assert_allclose(found, scores, rtol=1e-4)
        assert run.loss[t] == pytest.approx(np.log10(np.exp(-labels * scores).mean()), abs=1e-4)


def test_of_a_nodes_weights_one_vote_for_all_earns_nothing():
    rng = np.random.default_rng(0)
    signed = np.zeros((50, 16), np.float32)
    signed[:, :3] = rng.normal(size=(50, 3))
    rows, out = np.arange(5, 40), np.empty((35, 16), np.float32)
    kernels.weights_of_node(signed, rows, out)
    np.testing.assert_allclose(out[:, :3], twin.node_weights(signed[rows, :3].astype(float)), atol=1e-6)
    np.testing.assert_allclose(out.sum(axis=0), 0.0, atol=1e-6)
    signed[:, :3] = [0.1, -0.2, 0.3]
    kernels.weights_of_node(signed, rows, out)
    assert not out.any()


def test_the_threshold_of_a_node_is_the_best_with_samples_on_both_sides():
    rng = np.random.default_rng(1)
    for classes in (1, 3):
        column, rows = rng.integers(0, 9, 60).astype(np.uint8), np.arange(0, 60, 2)
        signed = np.zeros((30, 1 if classes == 1 else 16), np.float32)
        signed[:, :classes] = rng.normal(size=(30, classes))
        threshold, edge = kernels.best_threshold(column, rows, signed)
        expected = twin.best_split(column[None, rows], signed[:, :classes].astype(float))
        assert threshold == expected[1] and edge == pytest.approx(expected[2], rel=1e-6)
    assert kernels.best_threshold(np.full(60, 7, np.uint8), rows, signed) == (0, 0.0)


@pytest.mark.parametrize("name", slow_but(("laminating", "mabsplit"), POLICIES))
def test_every_policy_grows_trees_and_pays_for_each_split_within_the_budget(name):
    X, y = DIGITS
    spent = []

    class Watched(SplitBoard):
        def end_tree(self, splits):
            spent.extend(sum(line[account] for account in CHARGED) for line in self.ledger[-splits:])
            super().end_tree(splits)

    codes = np.ascontiguousarray(X[:300].astype(np.uint8).T)
    families = [("a", 0, 20), ("b", 20, 64)]
    board = Watched(codes, families, 30 * 300, "weight", np.random.default_rng(0), X[:300].astype(np.uint8))
    policy = own_copy(name)
    policy.start(board)
    run = TreeRun(board, policy, one_column_a_class(y[:300], np.arange(10)), "uniform", 4)
    run.boost(3)
    assert len(board.ledger) == 3 and 0 < max(spent) <= 30 * 300
    assert len(spent) >= run.ensemble.splits.sum() > 12 and run.loss[2] < run.loss[0] < -0.2


def test_a_look_at_a_feature_costs_the_samples_of_the_node():
    X, y = data(n=100)
    clf = trees(UniformNaive(Q=2), n_estimators=1, depth=2).fit(X, y)
    assert clf.ledger_["selection"].tolist() == [400] and clf.evaluations_ == 400  # both levels have all samples
    assert clf.ledger_["update"].tolist() == clf.ledger_["refit"].tolist() == [200]


def test_exact_pruning_grows_the_trees_of_a_look_at_everything():
    X, y = data(n=200, classes=2)
    pruned, whole = (trees(policy(Q=5), n_estimators=10, depth=3).fit(X, y) for policy in (Pruning, UniformNaive))
    for name in ("features", "thresholds", "votes", "alphas"):
        np.testing.assert_array_equal(getattr(pruned.ensemble_, name), getattr(whole.ensemble_, name))
    assert pruned.evaluations_ < whole.evaluations_


def test_stages_end_in_the_decision_and_rounds_can_be_added():
    X, y = data()
    clf = trees(n_estimators=6, depth=2).fit(X, y)
    stages = list(clf.staged_decision_function(X))
    assert len(stages) == 6
    np.testing.assert_array_equal(stages[-1], clf.decision_function(X))
    longer = trees(n_estimators=3, depth=2, warm_start=True).fit(X, y).set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(longer.decision_function(X), clf.decision_function(X))


def test_it_is_cloned_pickled_saved_and_loaded(tmp_path):
    X, y = data()
    X = X + 0.25  # binned
    clf = trees(n_estimators=4, depth=3).fit(X, y)
    expected = clf.decision_function(X)
    np.testing.assert_array_equal(clone(clf).fit(X, y).decision_function(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).decision_function(X), expected)
    loaded = AdaBoostMHClassifier.load(clf.save(tmp_path / "model"))
    assert isinstance(loaded.ensemble_, TreeVoteEnsemble) and loaded.weak_learner == "tree" and loaded.depth == 3
    np.testing.assert_array_equal(loaded.decision_function(X), expected)
    np.testing.assert_array_equal(loaded.feature_importances_, clf.feature_importances_)


def test_samples_that_are_all_alike_leave_a_tree_of_one_leaf():
    X, y = np.full((40, 2), 7, np.uint8), np.arange(40) % 4
    clf = trees(n_estimators=2, depth=3).fit(X, y)
    assert not clf.ensemble_.splits.any() and (clf.predict(X) == 0).all()


def test_edge_gaps_are_of_stumps():
    with pytest.raises(BoostrunError, match="edge_gaps=True needs weak_learner='stump'"):
        trees(edge_gaps=True).fit(*data())


def test_splits_are_counted_by_family():
    from boostrun.papers.adaptive.classifier import _family_steps

    X, y = data()
    families = [("a", 0, 2), ("b", 2, 5)]
    clf = trees("uniform_naive", n_estimators=3, depth=2).fit_source(ArraySource(X, y, seed=0))
    found = _family_steps(clf, families, [1, 3])
    assert found["a"][1] + found["b"][1] == clf.ensemble_.splits.sum()
    first = clf.ensemble_.features[0][clf.ensemble_.splits[0]]
    assert found["a"][0] == (first < 2).sum() and found["b"][0] == (first >= 2).sum()
