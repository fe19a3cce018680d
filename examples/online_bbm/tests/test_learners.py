import math
import pickle

import numpy as np
import pytest
from online_bbm.adaboost_ol import AdaBoostOL
from online_bbm.bbm import OnlineBBM, bbm_weights
from online_bbm.hyperplane import rotating_hyperplane
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks
from twins import adaboost_ol, bbm_weight, online_bbm

from boostrun.errors import BoostrunError


def stream(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (1.0, 5.0, 0.2)[:d]
    y = np.where(X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=n) > 0, 1, -1)
    return X, y


@pytest.mark.parametrize("base", ["nb", "perceptron"])
@pytest.mark.parametrize("follow", ["expert", "majority"])
def test_adaboost_ol_is_algorithm_2_written_out(base, follow):
    X, y = stream(200)
    model = AdaBoostOL(5, base=base, follow=follow, random_state=3)
    answers = model.test_then_train(X, y, classes=[-1, 1])
    draws = np.random.default_rng(np.random.SeedSequence(3)).random(len(X))
    expected, alpha, experts = adaboost_ol(X, y.astype(float), 5, base == "perceptron", draws, follow == "majority")
    assert (answers == expected).all()
    np.testing.assert_allclose(model.alpha_[0], alpha, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.expert_weights_[0], experts, rtol=1e-9)


@pytest.mark.parametrize("base", ["nb", "perceptron"])
@pytest.mark.parametrize("edge", [0.05, 0.4])
def test_online_bbm_is_algorithm_1_written_out(base, edge):
    X, y = stream(200)
    answers = OnlineBBM(7, base=base, edge=edge).test_then_train(X, y, classes=[-1, 1])
    assert (answers == online_bbm(X, y.astype(float), 7, base == "perceptron", edge)).all()


@pytest.mark.parametrize(("n_learners", "edge"), [(1, 0.1), (2, 0.1), (9, 0.3), (12, 0.9)])
def test_bbm_weights_are_the_binomial_terms_over_the_largest_that_a_learner_can_meet(n_learners, edge):
    table = bbm_weights(n_learners, edge)
    for i in range(1, n_learners + 1):
        weights = np.array([bbm_weight(n_learners, i, s, edge) for s in range(-(i - 1), i, 2)])
        np.testing.assert_allclose(table[i - 1, :i], weights / weights.max(), rtol=1e-12)
        assert (table[i - 1, i:] == 0).all()


def test_bbm_weights_are_half_the_difference_of_the_potential():
    """w_i(s) = (phi_i(s - 1) - phi_i(s + 1)) / 2, phi_N(s) = 1[s <= 0], phi_(i-1) the mean under a coin of the edge."""
    n_learners, edge = 8, 0.3
    heads = 0.5 + edge / 2

    def phi(i, s):
        return float(s <= 0) if i == n_learners else heads * phi(i + 1, s + 1) + (1 - heads) * phi(i + 1, s - 1)

    for i in range(1, n_learners + 1):
        for s in range(-(i - 1), i, 2):
            assert math.isclose(phi(i, s - 1) - phi(i, s + 1), bbm_weight(n_learners, i, s, edge), abs_tol=1e-12)


def test_weights_of_many_hundreds_of_learners_are_finite_and_reach_one():
    table = bbm_weights(1500, 0.5)
    assert np.isfinite(table).all()
    np.testing.assert_array_equal(table.max(axis=1), 1.0)


@pytest.mark.parametrize("model", [AdaBoostOL(4, random_state=1), OnlineBBM(4, max_features=2, random_state=1)])
def test_chunks_single_examples_and_one_pass_learn_the_same(model):
    X, y = stream()
    y = y + (X[:, 1] > 3)  # three classes
    whole = pickle.loads(pickle.dumps(model))
    expected = whole.test_then_train(X, y, classes=[-1, 0, 1, 2])
    parts = pickle.loads(pickle.dumps(model))
    answers = [parts.test_then_train(X[a:b], y[a:b], classes=[-1, 0, 1, 2]) for a, b in [(0, 1), (1, 90), (90, 300)]]
    assert (np.concatenate(answers) == expected).all()
    assert (parts.predict(X) == whole.predict(X)).all()
    fitted = pickle.loads(pickle.dumps(model)).fit(X[:50], y[:50])
    before = fitted.predict(X[50:51])
    assert fitted.test_then_train(X[50:51], y[50:51])[0] == before[0]


def test_dicts_of_river_learn_as_arrays_do():
    X, y = stream(60)
    by_name, by_place = AdaBoostOL(3, random_state=0), AdaBoostOL(3, random_state=0)
    expected = by_place.test_then_train(X, y)
    for t, (x, label) in enumerate(zip(X, y)):
        row = dict(zip("abc", x))
        if t > 2:
            assert by_name.predict_one(row) == expected[t]
        by_name.learn_one(row, label)
    assert by_name.predict_one(dict(zip("abc", X[0]))) == by_place.predict(X[:1])[0]


@pytest.mark.parametrize("base", ["nb", "perceptron"])
@pytest.mark.parametrize("kind", [AdaBoostOL, OnlineBBM])
def test_a_third_class_leaves_what_was_learnt_of_two(kind, base):
    X, y = stream()
    model = kind(5, base=base, random_state=0)
    model.partial_fit(X, y)
    before = model.decision_function(X)
    model._grow(3)
    low, high = model.decision_function(X).T[:2]
    np.testing.assert_allclose(low, -high, atol=1e-12)
    assert (np.sign(high) == np.sign(before)).mean() > 0.95  # votes became margins
    model = kind(5, base=base, random_state=0).partial_fit(X, y)
    model.partial_fit(X + 50.0, np.full(len(X), 7))
    assert (model.predict(X[:5] + 50.0) == 7).all()


@pytest.mark.parametrize("kind", [AdaBoostOL, OnlineBBM])
def test_the_last_stage_of_bbm_is_its_answer_and_stages_are_labels(kind):
    X, y = load_digits(return_X_y=True)
    model = kind(6, max_features=16, random_state=0).fit(X[:600], y[:600])
    stages = list(model.staged_predict(X[600:]))
    assert len(stages) == 6
    assert set(np.unique(stages)) <= set(range(10))
    assert (stages[-1] == y[600:]).mean() > (stages[0] == y[600:]).mean() + 0.05
    if kind is OnlineBBM:
        assert (stages[-1] == model.predict(X[600:])).all()


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (AdaBoostOL(20, max_features=8, random_state=0), 0.80),
        (OnlineBBM(20, edge=0.3, random_state=0), 0.80),
        (OnlineBBM(20, base="perceptron", random_state=0), 0.80),
    ],
)
def test_digits_are_told_apart_after_one_pass(model, least):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:1200], order[1200:]
    assert model.fit(X[train].astype(np.uint8), y[train]).score(X[test], y[test]) > least


@pytest.mark.parametrize("kind", [AdaBoostOL, OnlineBBM])
def test_more_learners_follow_a_hyperplane_better_than_one(kind):
    stream = rotating_hyperplane(50_000, np.random.default_rng(0), noise=0.0)
    one, many = ((kind(n, random_state=0).test_then_train(stream.x, stream.y) == stream.y).mean() for n in (1, 20))
    assert many > one + 0.01
    assert many > 0.9


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AdaBoostOL(0), "n_learners=0: a whole number of at least 1"),
        (AdaBoostOL(base="tree"), "base='tree': one of nb, perceptron is needed"),
        (AdaBoostOL(follow="all"), "follow='all': one of expert, majority is needed"),
        (OnlineBBM(max_features=0), "max_features=0: a whole number"),
        (OnlineBBM(edge=1.0), "edge=1.0: a number above 0 and below 1 is needed"),
        (OnlineBBM(var_floor=-1.0), "var_floor=-1.0: a number of at least 0"),
    ],
)
def test_a_parameter_that_does_not_fit_is_named(model, words):
    with pytest.raises(BoostrunError, match=words):
        model.fit(*stream(20))


@parametrize_with_checks([AdaBoostOL(5), OnlineBBM(5, edge=0.3)])
def test_scikit_learn_accepts_both(estimator, check):
    check(estimator)
