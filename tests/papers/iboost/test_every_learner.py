"""Every stream learner, rivals included: chunks, early ends, new classes and features, refused input."""

import contextlib
import pickle
from collections import Counter
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.utils import estimator_checks

from boostrun.errors import BoostrunError
from tests.marks import slow_but
from tests.papers.iboost.learners import EVERY, EVERY_BASE, GROW, LEARNERS, QUICK, TREES, WAITS, make

every_learner = pytest.mark.parametrize("name", EVERY)


def sea(n, turn):
    """SEA's first concept; labels are the other way round after ``turn`` examples."""
    X = np.random.default_rng(0).uniform(0, 10, (n, 3))
    y = (X[:, 0] + X[:, 1] <= 8).astype(int)
    y[turn:] ^= 1
    return X, y


def trees(n, classes=2, seed=0):
    """Classes far apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, 3)) + 6 * np.eye(3)[y], np.array(["ash", "birch", "cedar"])[y]


@every_learner
def test_chunks_do_not_matter(name):
    """Any cut of the stream gives the same predictions; predict() agrees with the prediction of the next example."""
    X, y = sea(500, 300)
    whole, model, parts = make(name, 60).test_then_train(X, y), make(name, 60), []
    for a, b in ((0, 60), (60, 61), (61, 250), (250, 500)):
        ahead = model.predict(X[a : a + 1]) if a else []
        parts.append(model.test_then_train(X[a:b], y[a:b], classes=[0, 1]))
        assert list(ahead) == list(parts[-1][: len(ahead)])
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert (whole[200:300] == y[200:300]).mean() > 0.7


@every_learner
def test_one_example_at_a_time_is_the_same_stream(name):
    """river's methods, names in any order, and scikit-learn's, on classes in sorted order."""
    X, y = trees(70)
    y[:2] = "ash", "birch"
    one, many = make(name), make(name)
    said = many.test_then_train(X, y)
    assert one.predict_one({"a": 1.0}) is None
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist())):
        guess = one.predict_one(dict(zip("cab", [x[2], x[0], x[1]])))
        assert guess == said[i] or i < 2  # the second class has not been met
        one.learn_one(dict(zip("abc", x)), label)
    np.testing.assert_array_equal(one.predict(X), many.predict(X))


@every_learner
@pytest.mark.parametrize("count", [1, 19, 20])
def test_a_stream_that_ends_early_leaves_a_model_that_predicts(name, count):
    """Methods that wait for a full window of 20 examples say the second class until then."""
    X, y = trees(count)
    model = make(name)
    said = model.test_then_train(X, y, classes=["ash", "birch"])
    assert set(model.predict(X)) <= {"ash", "birch"} and len(said) == count and said[0] == "birch"
    if name in WAITS:
        assert (said == "birch").all()
        assert count == 20 or (model.predict(X) == "birch").all()


@every_learner
def test_one_class_for_long_is_predicted_and_the_other_is_learnt_when_it_comes(name):
    """OCB's classifiers are those of the first window: a class that was not there is never predicted."""
    X, y = trees(700)
    y[:400] = "ash"
    X[:400, 1] -= 6 * (X[:400, 1] > 3)
    for classes in (["ash", "birch"], None):
        model = make(name)
        said = model.test_then_train(X[:400], y[:400], classes)
        assert (said[20:] == "ash").all() and (model.predict(X[:400]) == "ash").all()
        later = model.test_then_train(X[400:], y[400:])
        assert model.classes_.tolist() == ["ash", "birch"]
        if name == "ocb":
            assert (later == "ash").all()
        else:
            assert (later[150:] == y[550:]).mean() > 0.9


@every_learner
def test_classes_appear_during_the_stream(name):
    """Undeclared labels are added as they come; OCB leaves a class out that its first window had not."""
    X, y = trees(900, 3)
    y[:100] = "ash"
    y[100:400] = np.where(y[100:400] == "cedar", "birch", y[100:400])
    X[100:400] = X[100:400][:, [0, 2, 1]] * (y[100:400, None] == "birch") + X[100:400] * (y[100:400, None] == "ash")
    model = make(name)
    for part in (slice(0, 100), slice(100, 400), slice(400, 900)):
        said = model.test_then_train(X[part], y[part])
        assert set(said) <= set(model.classes_)
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    if name == "ocb":
        assert "cedar" not in said
    else:
        assert (said[300:] == y[700:]).mean() > 0.75


@every_learner
def test_what_is_refused_is_one_sentence_and_teaches_nothing(name):
    X, y = trees(60)
    model = make(name).partial_fit(X, y, classes=["ash", "birch"])
    before = pickle.dumps(model)
    nan, infinite = X.copy(), X.copy()
    nan[7, 1], infinite[59, 2] = np.nan, np.inf
    for data, labels, words in (
        (X[:, :2], y, "2 features, but .* expecting 3"), (np.c_[X, X], y, "6 features, but .* expecting 3"),
        (nan, y, "NaN"), (infinite, y, "infinity"), (X, y[:-1], "inconsistent numbers"), (X[:0], y[:0], "0 sample"),
        (X, np.where(np.arange(60) == 59, "oak", y), "'oak' is none of the classes"),
        (X, np.linspace(0, 1, 60), "Unknown label type"),
    ):  # fmt: skip
        for method in (model.partial_fit, model.test_then_train):
            with pytest.raises(ValueError, match=words) as error:
                method(data, labels)
            assert pickle.dumps(model) == before, error.value
    with pytest.raises(BoostrunError, match="first call declared"):
        model.partial_fit(X, y, classes=["ash", "oak"])
    assert pickle.dumps(model) == before
    again = pickle.loads(before)
    np.testing.assert_array_equal(again.test_then_train(X, y), model.test_then_train(X, y))


WRONG = {
    "iboost_adwin": {"n_least": [0], "delta": [1.0], "eta": [-1.0]},
    "iboost_active": {"label_budget": [0.0], "ask": ["never"]},
    "iboost_outliers": {"outlier_margin": [-1.0], "change_share": [2]},
    "iboost_geem": {"batch_size": [0], "half_life": [0.0], "ridge": [0.0], "covariance_dims": ["some"]},
    "iboost_trees": {"split_delta": [1.0], "max_depth": [0]},
    "adaboost": {"budget": [0], "n_window": [0], "period": [1.5], "base": ["tree"], "var_floor": [np.nan]},
    "ocb": {"order": [-1], "signs": ["mao"], "smoothing": [0.0], "n_window": [0]},
    "flb": {"z": [-1]},
    "onlineboost": {"budget": [0], "base": ["oak", object()], "vote": ["soft"], "var_floor": [-1.0]},
    "nsoboost": {"search_every": [0], "patience": [-1]},
    "flc": {"delta": [1.0], "n_window": [0]},
    "adwinbag": {"delta": [0.0], "monitor": ["x"], "after": ["x"], "vote": ["x"]},
    "dwm": {"beta": [1.0], "theta": [0.0], "period": [0], "budget": [0]},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_parameter_is_named_with_its_value(name):
    for key, values in WRONG[name].items():
        for value in values:
            with pytest.raises(BoostrunError, match=f"{key}="):
                make(name, **{key: value}).partial_fit(*sea(30, 20))


@every_learner
def test_features_of_dicts_come_and_go(name):
    """Absent is 0 or left out, unknown is passed over in a prediction; a value that is no finite number is refused."""
    X, y = trees(60)
    X[:, 2] = 0.0
    plain, gaps = make(name), make(name)
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist())):
        plain.learn_one(dict(zip("abc", x)), label)
        gaps.learn_one(dict(zip("abc", x)) if i == 0 else {"b": x[1], "a": x[0]}, label)
    np.testing.assert_array_equal(gaps.predict(X), plain.predict(X))
    if plain._absent == 0.0:
        assert gaps.predict_one({"e": 1.0}) == plain.predict_one({"a": 0.0, "b": 0.0, "c": 0.0})
    assert gaps.predict_one({"e": 1.0}) in plain.classes_ and sum(gaps.predict_proba_one({}).values()) == pytest.approx(
        1.0
    )
    before = pickle.dumps(plain)
    for value in (float("nan"), float("inf"), "red", None):
        with pytest.raises(BoostrunError, match="finite"):
            plain.learn_one({"a": value}, "ash")
    with pytest.raises(BoostrunError, match="no feature"):
        make(name).learn_one({}, "ash")
    assert pickle.dumps(plain) == before


@pytest.mark.parametrize("name", slow_but(QUICK, [name for name in LEARNERS if name not in (*GROW, *TREES)]))
def test_memory_is_constant_whatever_the_length_of_the_stream(name):
    X, y = sea(2100, 1500)
    model = make(name).partial_fit(X[:600], y[:600])
    size = len(pickle.dumps(model))
    assert abs(len(pickle.dumps(model.partial_fit(X[600:], y[600:]))) - size) <= 8  # digits of a counter


QUICK = {
    "check_estimators_unfitted", "check_estimators_overwrite_params", "check_estimators_nan_inf", "check_n_features_in",
    "check_estimators_partial_fit_n_features", "check_classifiers_one_label", "check_classifiers_classes",
    "check_supervised_y_2d", "check_readonly_memmap_input", "check_fit2d_1sample",
    "check_parameters_default_constructible",
}  # fmt: skip


def checks(name, **keys):
    """scikit-learn's checks of a learner: (name, call). Windows of 5 examples are those that the checks' data fill."""
    for estimator, check in estimator_checks.estimator_checks_generator(make(name, 5, **keys)):
        yield check.func.__name__, lambda estimator=estimator, check=check: check(estimator)


@every_learner
def test_scikit_learns_checks_in_short(name):
    ran = Counter()
    for check, call in checks(name):
        if check in QUICK:
            call()
            ran[check] += 1
    assert ran.keys() == QUICK


@pytest.mark.slow
@pytest.mark.parametrize(("name", "keys"), EVERY_BASE)
def test_scikit_learns_checks(name, keys):
    """All of them; that of accuracy is left to the methods that do not wait for a full window: the newest five
    examples are not the whole set. Stumps and Bernoulli's naive Bayes cannot tell its three blobs."""
    ran = 0
    for check, call in checks(name, **keys):
        if check == "check_classifiers_train" and (name in WAITS or keys.get("base") in ("stump", "bnb")):
            continue
        with contextlib.suppress(SkipTest):  # a library is not installed
            call()
            ran += 1
    assert ran > 40
