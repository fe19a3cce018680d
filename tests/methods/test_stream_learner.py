"""Stream learners as estimators: scikit-learn's checks, river's methods, classes and features that change."""

import pickle

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun import IBoostClassifier
from boostrun.errors import BoostrunError

SMALL = {"n_window": 20, "budget": 10}


@pytest.mark.slow
@parametrize_with_checks([
    IBoostClassifier(**SMALL), IBoostClassifier(20, 20, update="batch"), IBoostClassifier(base="gnb", **SMALL),
    IBoostClassifier(multiclass="ovr", flip_bad=True, **SMALL),
])  # fmt: skip
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def blobs(count, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, count)
    return rng.normal(size=(count, 3)) + 4 * np.eye(3)[y % 3] - 2, np.array(["ash", "birch", "cedar", "date"])[y]


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
def test_river_and_scikit_learn_paths_are_one(base):
    """Classes in sorted order on both sides: then one example at a time is the same as a chunk."""
    X, y = blobs(150)
    y[:3] = ["ash", "birch", "cedar"]
    one, many = (IBoostClassifier(base=base, n_steps=2, **SMALL) for _ in range(2))
    said = many.test_then_train(X, y)
    for x, label, expected in zip(X, y, said):
        row = dict(zip("abc", x.tolist()))
        guess = one.predict_one(row)
        assert guess == expected or getattr(one, "n_seen_", 0) < 20  # classes are still coming in
        one.learn_one(row, label)
    assert (one.betas_ == many.betas_).all()
    assert (said[50:] == y[50:]).mean() > 0.7


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
def test_classes_appear_during_the_stream(base):
    """Undeclared ones are added and learnt; the committee so far goes on as it was for the old ones."""
    X, y = blobs(900)
    y[:300] = "ash"
    y[300:600] = np.where(y[300:600] == "cedar", "birch", y[300:600])
    model = IBoostClassifier(base=base, **SMALL)
    assert (model.test_then_train(X[:300], y[:300]) == "ash").all()
    model.partial_fit(X[300:600], y[300:600])
    state = model._state.counts.copy()
    before = model.predict(X)
    model._grow(3)
    assert (model._state.counts[:4] == state[:4]).all() and (model.predict(X) == before).mean() > 0.99
    said = model.test_then_train(X[600:], y[600:])
    assert model.classes_.tolist() == ["ash", "birch", "cedar"] and (said[150:] == y[750:]).mean() > 0.7


def test_names_are_refused_after_arrays():
    model = IBoostClassifier(**SMALL).partial_fit(*blobs(60, 2))
    with pytest.raises(BoostrunError, match="places, not names"):
        model.predict_one({"a": 1.0})


def test_a_pickled_learner_goes_on_as_the_original():
    X, y = blobs(200)
    model = IBoostClassifier(example="random", random_state=3, **SMALL).partial_fit(X[:100], y[:100])
    again = pickle.loads(pickle.dumps(model))
    assert (again.test_then_train(X[100:], y[100:]) == model.test_then_train(X[100:], y[100:])).all()
    assert (again.betas_ == model.betas_).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_window": 0}, "n_window=0"),
        ({"budget": 2.5}, "budget=2.5"),
        ({"period": 0}, "period=0"),
        ({"n_steps": -1}, "n_steps=-1"),
        ({"update": "bacth"}, "did you mean 'batch'"),
        ({"base": "tree"}, "base='tree': one of stump, gnb, bnb is needed"),
        ({"gradient": "log"}, "needs update='batch'"),
        ({"eta": 0.0}, "eta=0.0"),
        ({"grad_cap": float("nan")}, "grad_cap"),
        ({"eps_min": 0.5}, "eps_min=0.5"),
        ({"var_floor": 0.0}, "var_floor"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, words):
    with pytest.raises(BoostrunError, match=words):
        IBoostClassifier(**parameters).fit(*blobs(30))
