"""Parameters that are set on a fitted classifier are those of its next fit; bad ones are sentences before training."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from boostrun import (
    AdaBoostMHClassifier,
    FLCClassifier,
    FullDataClassifier,
    IBoostClassifier,
    IBoostFittedClassifier,
    OnlineBoostClassifier,
    ReservoirClassifier,
    StreamForestClassifier,
)
from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.online_classifier import OnlineRivalClassifier

X = np.random.default_rng(0).normal(size=(300, 4))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
CHANGES = [
    (OnlineBoostClassifier(budget=3, random_state=0), {"budget": 40}),
    (OnlineBoostClassifier(budget=3, random_state=0), {"base": "bnb"}),
    (StreamForestClassifier(budget=3, random_state=0), {"budget": 9}),
    (FLCClassifier(budget=3, random_state=0), {"budget": 9}),
    (IBoostClassifier(n_window=50, budget=10), {"period": 5, "n_window": 20, "base": "stump"}),
    (FullDataClassifier("all", n_estimators=20, random_state=0), {"loss": "exponential", "n_estimators": 5}),
]


@pytest.mark.parametrize("model, others", CHANGES)
def test_a_fitted_model_answers_and_is_saved_as_it_was_trained(model, others, tmp_path):
    model = type(model)(**model.get_params()).fit(X, Y)
    began, said, shares = model.get_params(), model.predict(X), model.predict_proba(X)
    assert model.set_params(**others) is model and model.get_params().items() >= others.items()
    assert np.array_equal(model.predict(X), said) and np.array_equal(model.predict_proba(X), shares)
    loaded = type(model).load(model.save(tmp_path / "model"))
    assert np.array_equal(loaded.predict_proba(X), shares) and loaded.get_params() == began
    anew = type(model)(**(began | others)).fit(X, Y)
    assert np.array_equal(model.fit(X, Y).predict_proba(X), anew.predict_proba(X))


@pytest.mark.parametrize("model, others", CHANGES[:5])
def test_a_stream_does_not_go_on_with_other_parameters_and_does_once_they_are_set_back(model, others):
    one, other = (type(model)(**model.get_params()).partial_fit(X, Y) for _ in range(2))
    began = {name: one.get_params()[name] for name in others}
    one.set_params(**others)
    for learn in (lambda: one.partial_fit(X, Y), lambda: one.test_then_train(X, Y)):
        with pytest.raises(BoostrunError, match=r"was set after training began with .*: fit starts again"):
            learn()
    one.set_params(**began).partial_fit(X, Y)
    assert np.array_equal(one.predict(X), other.partial_fit(X, Y).predict(X))


def test_what_is_refused_or_fails_changes_nothing():
    named = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    learner, other = (OnlineBoostClassifier(budget=5, random_state=0) for _ in range(2))
    for one in (learner, other):
        for row, label in zip(X.tolist(), Y.tolist()):
            one.learn_one(dict(zip("abc", row)), label)
    learner.set_params(budget=40)
    for refused in (lambda: learner.learn_one(named, 7), lambda: learner.learn_many(pd.DataFrame([named]), [7])):
        with pytest.raises(BoostrunError, match="budget=40 was set after training began"):
            refused()
    with pytest.raises(ValueError, match="NaN"):
        learner.fit(X * np.nan, Y)
    with pytest.raises(ValueError, match="nosuch"):
        learner.set_params(budget=2, nosuch=1)
    assert learner.predict_one(named) == other.predict_one(named) and learner.classes_.tolist() == [0, 1]
    again = other.clone({"budget": 40}, include_attributes=True)
    assert again.predict_one(named) == other.predict_one(named)
    with pytest.raises(BoostrunError, match="budget=40 was set after training began"):
        again.learn_one(named, 1)
    learner.set_params(budget=5).learn_one(named, 1)


def test_parameters_of_an_object_are_those_of_training():
    model = IBoostFittedClassifier(base=LogisticRegression(C=1.0), n_window=60).partial_fit(X, Y)
    model.set_params(base=LogisticRegression(C=1.0)).partial_fit(X, Y)  # an equal one
    with pytest.raises(BoostrunError, match=r"base=.* was set after training began"):
        model.set_params(base__C=1e-6).partial_fit(X, Y)


def test_a_reservoir_goes_on_with_more_rounds_and_with_nothing_else():
    model = ReservoirClassifier("wsam", reservoir_size=30, n_estimators=2, random_state=0)
    model.partial_fit(X[:90], Y[:90])
    with pytest.raises(BoostrunError, match="shared=True was set after training began with shared=False"):
        model.set_params(shared=True, n_estimators=4).partial_fit(X[90:], Y[90:])
    assert model.set_params(shared=False).partial_fit(X[90:150], Y[90:150]).ensemble_.n_rounds == 4
    warm = ReservoirClassifier("wsam", reservoir_size=30, n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(BoostrunError, match="max_bins=16 was set after training began with max_bins=256"):
        warm.set_params(max_bins=16, n_estimators=5).fit(X, Y)
    assert warm.set_params(max_bins=256).fit(X, Y).ensemble_.n_rounds == 5


@pytest.mark.parametrize("name, value", [
    ("max_bins", None), ("max_bins", "64"), ("max_bins", 100.5), ("max_bins", 257), ("random_state", -1),
    ("random_state", "0"), ("warm_start", "foo"), ("class_weight", np.array([1, 2])), ("n_estimators", 10**30),
])  # fmt: skip
@pytest.mark.parametrize("kind", [ReservoirClassifier, AdaBoostMHClassifier])
def test_a_bad_parameter_is_a_sentence_that_names_it(kind, name, value):
    if name in kind().get_params():
        with pytest.raises(BoostrunError, match=f"{name}=.* is needed"):
            kind(**{name: value}).fit(X, Y)


def test_a_masked_value_is_missing_and_a_missing_value_leaves_others_as_they_are():
    masked = np.ma.masked_less(X, -0.5)
    one, other = (FullDataClassifier("all", n_estimators=5, random_state=0) for _ in range(2))
    assert np.array_equal(one.fit(masked, Y).predict_proba(masked), other.fit(masked.filled(np.nan), Y).predict_proba(
        masked.filled(np.nan)))  # fmt: skip
    large = np.array([1e39, 2e39, 3e39, 4e39])[np.arange(300) % 4][:, None] * np.ones(2)
    large[0, 1] = np.nan
    assert one.fit(large, np.arange(300) % 4 >= 2).score(large, np.arange(300) % 4 >= 2) == 1.0


@pytest.mark.parametrize("kind", [IBoostClassifier, OnlineBoostClassifier, StreamForestClassifier])
def test_a_stream_learner_goes_on_from_arrays_that_are_read_only(kind, tmp_path):
    learner = kind(budget=5).partial_fit(X, Y)
    joblib.dump(learner, tmp_path / "learner")
    loaded = joblib.load(tmp_path / "learner", mmap_mode="r")
    assert np.array_equal(loaded.partial_fit(X, Y).predict(X), learner.partial_fit(X, Y).predict(X))


@pytest.mark.parametrize("model", [
    ReservoirClassifier("wsam", reservoir_size=20, n_estimators=9), OnlineRivalClassifier("oza", n_estimators=9),
    ReservoirClassifier("wsam", reservoir_size=20, n_estimators=3, warm_start=True),
])  # fmt: skip
def test_a_classifier_goes_on_from_arrays_that_are_read_only(model, tmp_path):
    def more(model):
        if getattr(model, "warm_start", False):
            return model.set_params(n_estimators=6).fit(X, Y)
        return model.partial_fit(X, Y)

    first = clone(model).set_params(random_state=0)
    first = first.fit(X, Y) if getattr(model, "warm_start", False) else first.partial_fit(X[:150], Y[:150])
    joblib.dump(first, tmp_path / "model")
    loaded = joblib.load(tmp_path / "model", mmap_mode="r")
    assert np.array_equal(more(loaded).decision_function(X), more(first).decision_function(X))


def test_an_equal_number_of_another_type_is_no_other_parameter():
    model = IBoostClassifier(budget=4).partial_fit(X, Y)
    model.set_params(budget=np.int64(4)).partial_fit(X, Y)
