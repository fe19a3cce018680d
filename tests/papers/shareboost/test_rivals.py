"""All rivals of ShareBoost: their scores on digits, the largest score wins, no randomness."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from boostrun.papers.shareboost.jointboost import JointBoostClassifier
from boostrun.papers.shareboost.mixed_norm import MixedNormClassifier
from boostrun.papers.shareboost.neighbours import KernelSVMClassifier, KNNClassifier
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier
from tests.marks import slow_but

RIVALS = {
    "jointboost": (JointBoostClassifier(60), 88.2),
    "mixed_norm": (MixedNormClassifier(20, lambda_min_ratio=0.05), 86.6),
    "ovr_greedy": (OneVsRestGreedyClassifier(8, reg=1e-4), 85.1),
    "knn": (KNNClassifier(3), 96.5),
    "kernel_svm": (KernelSVMClassifier(random_state=0), 97.0),
}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


@pytest.mark.parametrize("name", slow_but(("jointboost", "ovr_greedy", "knn"), RIVALS))
def test_score_on_digits(name, digits):
    """One table of scores that this code gives; a change here is a change of results."""
    model, expected = RIVALS[name]
    X, y = digits
    fitted = clone(model).fit(X[:1400], y[:1400])
    assert 100 * fitted.score(X[1400:], y[1400:]) == pytest.approx(expected, abs=1.0)
    again = clone(model).fit(X[:1400], y[:1400])
    assert (fitted.predict(X) == again.predict(X)).all()


@pytest.mark.parametrize("name", ["jointboost", "mixed_norm", "ovr_greedy"])
def test_the_path_ends_in_the_prediction(name, digits):
    X, y = digits[0][:300], digits[1][:300]
    fitted = clone(RIVALS[name][0]).fit(X, y)
    (*_, scores), (*_, labels) = fitted.staged_decision_function(X), fitted.staged_predict(X)
    np.testing.assert_allclose(scores, fitted.decision_function(X), atol=1e-10)
    assert (labels == fitted.predict(X)).all() and (labels == fitted.classes_[scores.argmax(axis=1)]).all()
    two = clone(RIVALS[name][0]).fit(X, np.where(y < 5, "low", "high"))
    assert two.decision_function(X).shape == (300,)
    assert (two.predict(X) == np.where(two.decision_function(X) > 0, "low", "high")).all()
