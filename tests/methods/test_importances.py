"""What features count for: shares of what the learned model adds up."""

import numpy as np
import pytest

from boostrun import (
    AdaBoostMHClassifier,
    IBoostClassifier,
    JointBoostClassifier,
    MixedNormClassifier,
    ReservoirClassifier,
    ShareBoostClassifier,
)
from boostrun.methods.probabilities import tree_importances
from boostrun.methods.tree import TreeEnsemble
from boostrun.papers.iboost.online_ensembles import DWMClassifier
from boostrun.papers.iboost.window_committees import AdaBoostWindowClassifier
from boostrun.papers.shareboost.features import Piecewise
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier

CHOOSING = {
    "stumps": ReservoirClassifier("wsam", reservoir_size=60, n_estimators=8, random_state=0),
    "trees": ReservoirClassifier("wsam", weak_learner="tree", reservoir_size=60, n_estimators=8, random_state=0),
    "votes": AdaBoostMHClassifier("uniform_naive", n_estimators=8, random_state=0),
    "columns": ShareBoostClassifier(2, reg=1e-3),
    "a free constant": ShareBoostClassifier(2, reg=1e-3, bias="free"),
    "thresholds": ShareBoostClassifier(6, "stumps", reg=1e-3),
    "products": ShareBoostClassifier(3, "products", reg=1e-3),
    "one against the rest": OneVsRestGreedyClassifier(2, reg=1e-3),
    "mixed norm": MixedNormClassifier(6, lambda_min_ratio=0.1),
    "jointboost": JointBoostClassifier(8),
    "iboost": IBoostClassifier(30, 5),
    "one committee a class": IBoostClassifier(30, 5, multiclass="ovr"),
    "adaboost on a window": AdaBoostWindowClassifier(n_window=40, budget=5),
}


def only_one_column_tells(n=200):
    X = np.random.default_rng(0).normal(size=(n, 5))
    return X, np.digitize(X[:, 3], [-0.5, 0.5])


@pytest.mark.parametrize("name", CHOOSING)
def test_importances_are_shares_and_the_column_that_tells_has_the_largest(name, tmp_path):
    clf = CHOOSING[name].fit(*only_one_column_tells())
    found = clf.feature_importances_
    assert found.shape == (5,) and (found >= 0.0).all() and found.sum() == pytest.approx(1.0)
    assert found.argmax() == 3
    loaded = type(clf).load(clf.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.feature_importances_, found)


def test_of_stumps_it_is_the_sum_of_coefficients():
    clf = ReservoirClassifier("wsam", reservoir_size=60, n_estimators=8, random_state=0).fit(*only_one_column_tells())
    expected = np.zeros(5)
    for features, coefficients in zip(clf.ensemble_.features, clf.ensemble_.coefficients):
        for feature, coefficient in zip(features, coefficients):
            expected[feature] += abs(coefficient)
    np.testing.assert_allclose(clf.feature_importances_, expected / expected.sum(), rtol=1e-12)


def test_of_trees_it_is_what_splits_decide():
    features = np.array([[[3, 1, 0]]], np.int32)
    ensemble = TreeEnsemble(features, np.array([[[0.0, 1.0, np.inf]]]), np.array([[[0.0, 4.0, 1.0, 9.0]]]))
    root, below = abs((0.0 + 4.0) / 2 - 1.0) / 2, (4.0 - 0.0) / 2 / 2  # the third node splits nothing: all go left
    np.testing.assert_allclose(tree_importances(ensemble, 5), [0.0, below, 0.0, root, 0.0])


def test_of_shared_weights_it_is_their_norm():
    clf = ShareBoostClassifier(3, reg=1e-3, bias="free").fit(*only_one_column_tells())
    expected = np.zeros(5)
    for column, row in zip(clf.selected_, clf.path_[-1][1:]):
        expected[column] = np.sqrt((row**2).sum())
    np.testing.assert_allclose(clf.feature_importances_, expected / expected.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    "clf",
    [
        ReservoirClassifier(), DWMClassifier(), IBoostClassifier(30, 5, base="gnb"),
        ShareBoostClassifier(2, Piecewise(4, 2), reg=1e-3, random_state=0),
    ],
)  # fmt: skip
def test_there_are_none_before_it_is_fitted_and_where_no_feature_is_chosen(clf):
    assert not hasattr(clf, "feature_importances_")
    if not isinstance(clf, ReservoirClassifier):
        clf.fit(*only_one_column_tells())
        with pytest.raises(AttributeError, match="has no importances of features"):
            clf.feature_importances_  # noqa: B018
