"""Probabilities follow from scores and loss; importances are shares of the sums in the learned model."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from boostrun import (
    AdaBoostMHClassifier,
    IBoostClassifier,
    JointBoostClassifier,
    MixedNormClassifier,
    ReservoirClassifier,
    ShareBoostClassifier,
)
from boostrun.config import catalogue
from boostrun.methods.declaration import obtain
from boostrun.methods.probabilities import LINKS, Link, Probabilities, margin_link, tree_importances
from boostrun.methods.tree import TreeEnsemble
from boostrun.papers.iboost.online_ensembles import AdwinBaggingClassifier, DWMClassifier
from boostrun.papers.iboost.onlineboost import FLCClassifier, OnlineBoostClassifier
from boostrun.papers.iboost.trained import iboost_link, pairwise, samme
from boostrun.papers.iboost.window_committees import AdaBoostWindowClassifier, FLBClassifier, OCBClassifier
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from boostrun.papers.reservoir.online_classifier import OnlineRivalClassifier
from boostrun.papers.shareboost.inner import losses
from boostrun.papers.shareboost.model import multinomial_probabilities
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier
from boostrun.papers.shareboost.pools import Piecewise
from tests.marks import slow_but

TOLD = {  # with two classes and with several
    "logistic": ReservoirClassifier("wsam", reservoir_size=30, n_estimators=8, random_state=0),
    "exponential": FullDataClassifier("mada", reservoir_size=30, n_estimators=8, loss="exponential", random_state=0),
    "leistner": OnlineRivalClassifier("leistner", n_estimators=6, random_state=0),
    "adaboost_mh": AdaBoostMHClassifier("uniform_naive", n_estimators=8, random_state=0),
    "shareboost": ShareBoostClassifier(3, reg=1e-3),
    "mixed norm": MixedNormClassifier(6, lambda_min_ratio=0.1, margin=0.5),
    "one against the rest": OneVsRestGreedyClassifier(3, reg=1e-3),
    "jointboost": JointBoostClassifier(8),
    "iboost": IBoostClassifier(30, 5),
    "iboost, one a class": IBoostClassifier(30, 5, multiclass="ovr"),
    "adaboost on a window": AdaBoostWindowClassifier(n_window=40, budget=5),
    "bagging": AdwinBaggingClassifier(budget=4, random_state=0),
}
OF_TWO = {  # with two classes only
    "ocb": OCBClassifier(n_window=40, budget=5),
    "online boost": OnlineBoostClassifier(budget=4, random_state=0),
    "flc": FLCClassifier(budget=4, random_state=0),
}
NOT_TOLD = {
    "balanced=True trains on other shares": ReservoirClassifier(balanced=True, reservoir_size=30, n_estimators=4),
    "init='balanced' weighs the classes": AdaBoostMHClassifier("uniform_naive", n_estimators=4, init="balanced"),
    "method='osboost' minimise no loss": OnlineRivalClassifier("osboost", n_estimators=4),
    "how often they were wrong": DWMClassifier(),
    "vote alike": FLBClassifier(),
    "votes that are shared": OnlineBoostClassifier(vote="proba"),
}


def blobs(classes, n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 4)) + 1.5 * np.eye(4)[y], np.array(["ash", "birch", "cedar", "date"])[y]


@functools.cache
def trained(name, classes):
    return clone((TOLD | OF_TWO)[name]).fit(*blobs(classes))


CASES = [(name, classes) for name in TOLD for classes in (2, 4)] + [(name, 2) for name in OF_TWO]
LONG = ("bagging", "ocb", "flc", "adaboost on a window")  # to compile
QUICK = [case for case in CASES if case[0] not in LONG]
EVERY = pytest.mark.parametrize(("name", "classes"), slow_but(QUICK, CASES))


@EVERY
def test_rows_sum_to_one_and_the_largest_is_the_class_that_is_predicted(name, classes):
    clf = trained(name, classes)
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(200, 4)) * 3
        found = clf.predict_proba(X)
        assert found.shape == (200, classes) and found.dtype == np.float64 and (found >= 0.0).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-15)
        np.testing.assert_array_equal(clf.classes_[found.argmax(axis=1)], clf.predict(X))


@pytest.mark.parametrize("reason", NOT_TOLD)
def test_scores_that_mean_no_probability_have_none_and_the_reason_is_told(reason):
    clf = NOT_TOLD[reason]
    assert not hasattr(clf, "predict_proba")
    with pytest.raises(AttributeError, match=f"{type(clf).__name__} .* has no probabilities: .*{reason}"):
        clf.predict_proba  # noqa: B018


@pytest.mark.parametrize("name", slow_but(["online boost"], OF_TWO))
def test_votes_that_tell_right_from_wrong_have_none_of_several_classes(name):
    clf = clone(OF_TWO[name]).fit(*blobs(4))
    with pytest.raises(AttributeError, match="of more than two classes"):
        clf.predict_proba  # noqa: B018


def test_a_class_of_nobodys_paper_has_none():
    with pytest.raises(AttributeError, match="none are declared for it"):
        Probabilities().predict_proba  # noqa: B018


def twin(scores, slope):
    """The formulas of the module, one sample after the other."""
    rows = []
    for row in scores:
        if np.ndim(row) == 0:
            p = 1.0 / (1.0 + np.exp(-slope * row))
            rows.append([1.0 - p, p])
        else:
            each = [1.0 / (1.0 + np.exp(-slope * one)) for one in row]
            rows.append([p / sum(each) for p in each])
    return np.array(rows)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    ("name", "slope"), [("logistic", 1), ("exponential", 2), ("adaboost_mh", 2), ("iboost, one a class", 1)]
)
def test_it_is_the_formula_of_the_loss(name, slope, classes):
    clf, (X, _) = trained(name, classes), blobs(classes, seed=3)
    np.testing.assert_allclose(clf.predict_proba(X), twin(clf.decision_function(X), slope), rtol=1e-9, atol=1e-15)


@given(arrays(float, (3, 4), elements=st.floats(-30, 30)), st.sampled_from([1.0, 2.0]))
def test_one_against_the_rest_is_the_formula_for_any_scores(scores, slope):
    np.testing.assert_allclose(margin_link(slope).of(scores), twin(scores, slope), rtol=1e-9)


@pytest.mark.parametrize("scores", [np.full((1, 3), -1e4), np.full((1, 3), 1e4), np.array([[1e4, 0.0, -1e4]])])
def test_scores_of_any_size_make_finite_probabilities(scores):
    for found in (*(link.of(scores) for link in LINKS.values()), multinomial_probabilities(
        scores, 1.0,
    ), multinomial_probabilities(scores, 900.0)):  # fmt: skip
        assert np.isfinite(found).all() and found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["logistic", "exponential"])
@pytest.mark.parametrize("score", [-1.5, 0.0, 0.7])
def test_the_score_of_a_probability_has_the_least_expected_loss(name, score):
    from boostrun.methods.weak_learner import LOSSES

    p = LINKS[name].of(np.array([score]))[0, 1]
    near = score + np.linspace(-0.1, 0.1, 21)
    expected = p * LOSSES[name].value(near) + (1.0 - p) * LOSSES[name].value(-near)
    assert expected.argmin() == 10


@settings(max_examples=30)
@given(arrays(float, 4, elements=st.floats(-4, 4)), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_the_scores_of_shareboosts_loss_are_stationary_under_their_probabilities_and_keep_their_order(scores, margin):
    p = multinomial_probabilities(scores[None], margin)[0]

    def expected(moved):
        return p @ losses(np.tile(moved, (4, 1)), np.arange(4), margin)

    slope = [(expected(scores + step) - expected(scores - step)) / 2e-4 for step in 1e-4 * np.eye(4)]
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)
    order = np.argsort(scores, kind="stable")
    assert (np.diff(p[order]) >= -1e-15).all()


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("cap", [0.5, 1.0, 2.0, np.inf])
def test_iboosts_probabilities_are_those_whose_capped_loss_is_least_at_the_votes(classes, cap):
    p = np.random.default_rng(classes).dirichlet(np.full(classes, 3.0))

    def of(u):  # up to the cap u itself, then with the slope cap / u
        return u if u <= cap else cap * (1.0 + np.log(u / cap))

    def pairs(votes):
        return sum(p[y] * of(np.exp(np.delete(votes, y) - votes[y]).sum()) for y in range(classes))

    def margins(votes):
        z = (classes * votes - votes.sum()) / (classes - 1) ** 2
        return sum(p[y] * of(np.exp(-z[y])) for y in range(classes))

    for loss, probabilities in ((pairs, pairwise), (margins, samme)):
        votes = minimize(loss, np.zeros(classes), method="BFGS", options={"gtol": 1e-10}).x
        assert probabilities(votes[None], cap)[0] == pytest.approx(p, abs=1e-4)


def test_a_cap_and_literal_coefficients_count():
    F = np.array([-1.0, 0.5, 3.0])
    for keys, slope in (
        ({}, 1.0), ({"grad_cap": None}, 2.0), ({"scale": "literal"}, 1.0),
        ({"update": "batch", "gradient": "log"}, 2.0), ({"n_steps": 0}, 2.0), ({"n_steps": 0, "scale": "literal"}, 1.0),
    ):  # fmt: skip
        for multiclass in ("samme", "ovr"):
            link = iboost_link(IBoostClassifier(multiclass=multiclass, **keys))
            np.testing.assert_allclose(link.of(F), margin_link(slope).of(F))
    filtered = FullDataClassifier("filterboost", loss="exponential")
    np.testing.assert_allclose(filtered._link().of(F), margin_link(1.0).of(F))


def test_without_a_margin_it_is_the_softmax_of_scikit_learns_logistic_regression():
    X, y = blobs(4)
    theirs = LogisticRegression(C=1e3, max_iter=1000, fit_intercept=False, tol=1e-8).fit(X, y)
    # theirs adds ||W||^2 / (2 C n) to the mean loss
    ours = ShareBoostClassifier(4, reg=0.5 / (1e3 * len(X)), margin=0.0, inner_rtol=1e-8, inner_maxiter=2000)
    np.testing.assert_allclose(ours.fit(X, y).predict_proba(X), theirs.predict_proba(X), atol=2e-4)
    np.testing.assert_allclose(
        multinomial_probabilities(theirs.decision_function(X), 0.0), theirs.predict_proba(X), rtol=1e-9
    )


def test_classes_whose_probabilities_round_to_the_same_number_are_told_apart_as_predict_does():
    class Sure(Probabilities):
        classes_ = np.array([3, 5, 7])

        def _link(self):
            return Link(margin_link(1.0).of, lambda clf, X: np.tile([50.0, -50.0, 60.0], (len(X), 1)))

        def predict(self, X):
            return np.full(len(X), 7)

    found = Sure().predict_proba(np.zeros((2, 1)))
    assert found.argmax(axis=1).tolist() == [2, 2]
    np.testing.assert_allclose(found, [[0.5, 0.0, 0.5]] * 2, atol=1e-15)


def test_a_stream_that_has_shown_one_class_is_sure_of_it():
    X, y = blobs(2)
    clf = IBoostClassifier(30, 5).partial_fit(X[y == "ash"], y[y == "ash"])
    assert clf.predict_proba(X).tolist() == [[1.0]] * len(X)


def test_before_the_window_is_full_all_classes_are_alike_and_the_prediction_stands_first():
    X, y = blobs(2)
    clf = IBoostClassifier(100, 5).partial_fit(X[:20], y[:20])
    found = clf.predict_proba(X[:3])
    assert (clf.predict(X[:3]) == "birch").all() and found.argmax(axis=1).tolist() == [1, 1, 1]
    np.testing.assert_allclose(found, 0.5)


def test_every_declared_class_is_there_and_tells_its_link_or_why_not():
    for room in ("probabilities", "importances"):
        for target, function in catalogue.parts(room).items():
            assert isinstance(obtain(target), type) and callable(obtain(function))


CHOOSING = {
    "stumps": ReservoirClassifier("wsam", reservoir_size=60, n_estimators=8, random_state=0),
    "trees": ReservoirClassifier("wsam", weak_learner="tree", reservoir_size=60, n_estimators=8, random_state=0),
    "votes": AdaBoostMHClassifier("uniform_naive", n_estimators=8, random_state=0),
    "columns": ShareBoostClassifier(2, reg=1e-3), "a free constant": ShareBoostClassifier(2, reg=1e-3, bias="free"),
    "thresholds": ShareBoostClassifier(6, "stumps", reg=1e-3),
    "products": ShareBoostClassifier(3, "products", reg=1e-3),
    "one against the rest": OneVsRestGreedyClassifier(2, reg=1e-3),
    "mixed norm": MixedNormClassifier(6, lambda_min_ratio=0.1), "jointboost": JointBoostClassifier(8),
    "iboost": IBoostClassifier(30, 5), "one committee a class": IBoostClassifier(30, 5, multiclass="ovr"),
    "adaboost on a window": AdaBoostWindowClassifier(n_window=40, budget=5),
}  # fmt: skip


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
        ReservoirClassifier(), IBoostClassifier(30, 5, base="gnb"),
        pytest.param(DWMClassifier(), marks=pytest.mark.slow),
        ShareBoostClassifier(2, Piecewise(4, 2), reg=1e-3, random_state=0),
    ],
)  # fmt: skip
def test_there_are_none_before_it_is_fitted_and_where_no_feature_is_chosen(clf):
    assert not hasattr(clf, "feature_importances_")
    if not isinstance(clf, ReservoirClassifier):
        clf.fit(*only_one_column_tells())
        with pytest.raises(AttributeError, match="has no importances of features"):
            clf.feature_importances_  # noqa: B018


@pytest.mark.parametrize("word", ["stump", "tree"])
@pytest.mark.parametrize("column", [0, 2])
def test_importances_of_columns_with_missing_values_are_those_of_the_columns(word, column):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + X[:, 1] + X[:, 2] > 0
    filled = AdaBoostMHClassifier(n_estimators=30, weak_learner=word, random_state=0).fit(X, y).feature_importances_
    X[::7, column] = np.nan
    found = AdaBoostMHClassifier(n_estimators=30, weak_learner=word, random_state=0).fit(X, y).feature_importances_
    assert found.shape == (3,) and found.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found, filled, atol=0.25)
