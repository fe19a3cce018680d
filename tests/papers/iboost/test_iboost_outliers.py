"""IBoost without outliers: against its twin, against plain IBoost, and what it is for."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun import IBoostClassifier, IBoostOutliersClassifier
from boostrun.errors import BoostrunError
from tests.papers.iboost.test_iboost_adwin import jumps
from tests.reference.iboost import IBoostOutliers, gaussian

pytestmark = pytest.mark.slow  # the kernel takes seconds to compile
SWITCHES = {
    "stochastic": ({}, {}),
    "batch": ({"update": "batch"}, {"batch": True, "eta": 1e-3}),
    "naive Bayes": ({"base": "gnb", "eps_min": 0.137}, {"fit": gaussian, "eps_min": 0.137}),
    "three classes": ({"n_steps": 0, "eps_min": 0.137}, {"n_classes": 3, "b": 0, "eps_min": 0.137}),
}


def mislabelled(X, y, share=0.1):
    return np.where(np.random.default_rng(7).random(len(y)) < share, y.max() - y, y)


@pytest.mark.parametrize("switch", SWITCHES)
def test_the_kernel_is_its_twin(switch):
    keys, words = SWITCHES[switch]
    X, y = jumps(260, 1000, classes=words.get("n_classes", 2))
    y = mislabelled(X, y)
    y[180:] = y.max() - y[180:]  # the concept turns around
    ours = {"n_window": 40, "budget": 5, "n_steps": 2} | keys
    twin = IBoostOutliers(**({"n": 40, "M": 5, "p": 1, "b": 2, "limit": 0.25, "most": 0.3} | words))
    model = IBoostOutliersClassifier(**ours)
    assert (model.test_then_train(X, y, classes=np.unique(y)) == [twin.learn(x, t) for x, t in zip(X, y)]).all()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)
    assert (model._state.mass == twin.mass).all() and model.n_outliers_ == twin.outliers > 0 and twin.taken_back > 0


@pytest.mark.parametrize(
    "keys", [{}, {"update": "batch", "period": 5}, {"example": "random"}, {"base": "gnb"}],
    ids=["newest", "batch", "random", "gnb"],
)  # fmt: skip
def test_without_outliers_it_is_plain_iboost_to_the_bit(keys):
    X, y = jumps(700, 350)
    y = mislabelled(X, y)
    plain, wary = IBoostClassifier(100, 20, random_state=3, **keys), None
    said = plain.test_then_train(X, y)
    for unused in ({"outlier_margin": None}, {"outlier_margin": 1e300}):
        wary = IBoostOutliersClassifier(100, 20, random_state=3, **keys, **unused)
        assert (wary.test_then_train(X, y) == said).all() and (wary.betas_ == plain.betas_).all()
        assert wary.n_outliers_ == 0


def test_wrong_labels_are_found_and_cost_less():
    X, y = jumps(3000, 10_000)
    wrong = mislabelled(X, y) != y
    plain, wary = IBoostClassifier(200, 50), IBoostOutliersClassifier(200, 50)
    gains = (wary.test_then_train(X, y ^ wrong) == y).mean() - (plain.test_then_train(X, y ^ wrong) == y).mean()
    out = wary._state.mass == 0.0
    newest = np.arange(2800, 3000)  # example k is in slot k mod 200, which is the window as it stands
    assert gains > 0.05 and wrong[newest][out].mean() > 0.8 and out[wrong[newest]].mean() > 0.5


def test_a_concept_that_turns_around_is_followed():
    """Most new examples are contradicted; where that counts for nothing, it takes longer."""
    X, y = jumps(3000, 10_000)
    y[1500:] ^= 1
    said = IBoostOutliersClassifier(200, 50).test_then_train(X, y)
    deaf = IBoostOutliersClassifier(200, 50, change_share=1.0).test_then_train(X, y)
    assert (said == y)[2000:].mean() > 0.93 and (said == y)[1500:2100].mean() > (deaf == y)[1500:2100].mean() + 0.1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"outlier_margin": -1.0}, "outlier_margin=-1.0"), ({"change_share": 2}, "change_share=2")],
)
def test_bad_parameters_get_a_sentence(parameters, words):
    with pytest.raises(BoostrunError, match=words):
        IBoostOutliersClassifier(**parameters).fit(*jumps(30, 30))


@parametrize_with_checks([IBoostOutliersClassifier(20, 10), IBoostOutliersClassifier(20, 10, base="gnb")])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
