"""Stream learners as estimators of scikit-learn and of river: weights, frames, classes and names that come and go."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun.errors import BoostrunError
from boostrun.methods.stream_learner import CheckedRows, RiverKind
from boostrun.streams import IBoostClassifier, OnlineBoostClassifier
from tests.marks import slow_but
from tests.papers.iboost.learners import EVERY, EVERY_BASE, LEARNERS, QUICK, make

SMALL = {"n_window": 20, "budget": 10}


@pytest.mark.slow
@parametrize_with_checks([IBoostClassifier(multiclass="ovr", flip_bad=True, **SMALL)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def blobs(count, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, count)
    return rng.normal(size=(count, 3)) + 4 * np.eye(3)[y % 3] - 2, np.array(["ash", "birch", "cedar", "date"])[y]


every_learner = pytest.mark.parametrize("name", EVERY)
TREES = np.array(["ash", "birch", "cedar"])


def examples(n, classes=3, seed=0, gaps=True):
    """Dicts of features "a" to "c", "c" unknown until half of them are over and absent in every third one, labels."""
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, rng.integers(0, classes, n - 2)]
    X = (rng.normal(size=(n, 3)) + 4 * np.eye(3)[y]).round(3)
    rows = [dict(zip("abc", x)) for x in X.tolist()]
    for i, row in enumerate(rows):
        if gaps and (i < n // 2 or i % 3 == 0):
            del row["c"]
    return rows, TREES[y].tolist()


def takes_late(model):
    """Whether there is room for a name that comes late; if not, it is passed over."""
    return type(model)._widen is not RiverKind._widen


def state(model):
    """The learned state, without parameters."""
    own = {name: value for name, value in vars(model).items() if name not in model.get_params()}
    return pickle.dumps(own)


@every_learner
def test_a_name_never_seen_before_is_learnt_from_then_on(name):
    """New classes get room, learning continues, no score is NaN; parts that only labels decide do not change."""
    rows, labels = examples(90)
    model = make(name)
    for x, label in zip(rows[:45], labels):
        model.learn_one(x, label)
    before = [model.predict_one(x) for x in rows[:20]]
    model.learn_one(rows[46], labels[46])
    names = ["a", "b", "c"] if takes_late(model) else ["a", "b"]
    assert model._names == names and model.n_features_in_ == len(names)
    for x, label in zip(rows[47:], labels[47:]):
        shares = model.predict_proba_one(x)
        assert math.isclose(sum(shares.values()), 1.0) and all(value >= 0.0 for value in shares.values())
        model.learn_one(x, label)
    assert len(before) == 20 and model.predict_one({}) in TREES


@pytest.mark.parametrize("name", ["iboost_stochastic", "iboost_batch", "adaboost", "flb"])
def test_stumps_learn_a_late_name_as_if_it_had_been_0(name):
    """To the bit, where the window begins after the name has come, and before."""
    rows, labels = examples(120)
    late, early = make(name), make(name)
    for i, (x, label) in enumerate(zip(rows, labels)):
        late.learn_one(x, label)
        early.learn_one(x if i else {**x, "c": 0.0}, label)
    assert late._names == early._names and late.betas_.tolist() == early.betas_.tolist()
    assert [late.predict_one(x) for x in rows] == [early.predict_one(x) for x in rows]


@pytest.mark.parametrize(("name", "base"), [("iboost_stochastic", "gnb"), ("adaboost", "bnb"), ("iboost_batch", "bnb")])
@pytest.mark.parametrize("classes", [2, 3])
def test_what_was_fitted_answers_as_before_when_a_name_comes(name, base, classes):
    rows, labels = examples(60, classes, gaps=False)
    model = make(name, base=base)
    for x, label in zip(rows, labels):
        model.learn_one({"a": x["a"], "b": x["b"]}, label)
    before = [model.predict_proba_one(x) for x in rows]
    model._meet({"c": 1.0, "d": -2.0}, np.array(["ash"]))
    assert model.n_features_in_ == 4 and [model.predict_proba_one(x) for x in rows] == before


@every_learner
def test_many_at_once_are_the_same_as_one_by_one(name):
    """Frames whose columns come and go, classes that come late, whole weights, an order that is not sorted."""
    rows, labels = examples(60, gaps=False)
    one, many = make(name), make(name)
    for first, names in ((0, ["b", "a"]), (20, ["c", "b", "a"]), (40, ["c"])):
        part = slice(first, first + 20)
        weights = np.arange(20) % 3
        for x, label, w in zip(rows[part], labels[part], weights.tolist()):
            one.learn_one({name: x[name] for name in names}, label, w=w)
        many.learn_many(pd.DataFrame(rows[part])[names], pd.Series(labels[part]), w=weights)
    assert one.classes_.tolist() == many.classes_.tolist()
    frame = pd.DataFrame(rows, index=range(100, 160))
    said, shares = many.predict_many(frame), many.predict_proba_many(frame)
    assert said.index[0] == 100 and said.tolist() == [one.predict_one(x) for x in rows]
    for i in (0, 25, 59):
        assert shares.loc[100 + i].to_dict() == pytest.approx(one.predict_proba_one(rows[i]))


@every_learner
def test_a_weight_is_how_many_times_an_example_is_learnt(name):
    rows, labels = examples(40)
    weighted, repeated = make(name), make(name)
    for i, (x, label) in enumerate(zip(rows, labels)):
        weighted.learn_one(x, label, w=i % 4)
        for _ in range(i % 4):
            repeated.learn_one(x, label)
    shares = [[model.predict_proba_one(x) for x in rows] for model in (weighted, repeated)]
    assert shares[0] == shares[1]


@every_learner
def test_a_fraction_is_drawn_or_refused(name):
    """Learners whose training is drawn learn it so often in the mean; the others say what a weight is."""
    rows, labels = examples(30)
    model = make(name)
    model.learn_one(rows[0], labels[0])
    before = state(model)
    for w in (-1, float("nan"), float("inf"), "1", True, 1j, None, [1]):
        with pytest.raises(BoostrunError, match="of at least 0 is needed"):
            model.learn_one(rows[1], labels[1], w=w)
    if not model._draws_weights:
        with pytest.raises(BoostrunError, match=r"w=0\.5: a weight of .* is how many times"):
            model.learn_one(rows[1], labels[1], w=0.5)
        with pytest.raises(BoostrunError, match="a whole number"):
            model.learn_many(pd.DataFrame(rows[:2]).fillna(0.0), labels[:2], w=[1, 0.5])
        assert state(model) == before
    else:
        seen = learnt(model)
        for _ in range(400):
            model.learn_one(rows[1], labels[1], w=1.25)
        assert learnt(model) - seen == pytest.approx(500, abs=45)  # five standard deviations


def learnt(model):
    """How many examples a learner whose training is drawn has met."""
    return model._forest.tallies[0, 0] if hasattr(model, "_forest") else model.spread_.count[0]


@every_learner
def test_labels_that_are_none_are_refused_and_teach_nothing(name):
    rows, labels = examples(30)
    model = make(name)
    for bad in (None, float("nan"), 0.5, ("ash",)):
        with pytest.raises(BoostrunError, match="cannot be a label: text, a whole number or a truth value"):
            model.learn_one(rows[0], bad)
    assert model.predict_one(rows[0]) is None and model.predict_proba_one(rows[0]) == {}
    for x, label in zip(rows, labels):
        model.learn_one(x, label)
    before = state(model)
    with pytest.raises(BoostrunError, match="labels so far are text"):
        model.learn_one(rows[0], 1)
    with pytest.raises(BoostrunError, match="of two kinds"):
        model.learn_many(pd.DataFrame(rows[:2]).fillna(0.0), ["ash", 1])
    with pytest.raises(BoostrunError, match="of two kinds"):
        model.learn_many(pd.DataFrame(rows[:2]).fillna(0.0), [True, 5])
    assert state(model) == before
    model.learn_one(rows[0], "a label longer than all")
    assert model.classes_.tolist()[-1] == "a label longer than all"
    assert set(model.predict_proba_one(rows[0])) == set(model.classes_.tolist())


@pytest.mark.parametrize(("first", "then", "kind"), [(True, 5, "truth values"), (5, True, "numbers")])
def test_truth_values_are_no_numbers_among_labels(first, then, kind):
    model = IBoostClassifier(n_window=5, budget=3)
    model.learn_one({"a": 1.0}, first)
    with pytest.raises(BoostrunError, match=f"the label {then} is of another kind: labels so far are {kind}"):
        model.learn_one({"a": 2.0}, then)
    with pytest.raises(BoostrunError, match=f"the label {then} is of another kind"):
        model.partial_fit([[2.0]], [then])
    model.learn_one({"a": 2.0}, not first if first is True else 7)
    assert [type(label) for label in model.classes_.tolist()] == [type(first)] * 2


@every_learner
def test_the_largest_share_is_that_of_the_label_that_is_said(name):
    for classes in (2, 3):
        rows, labels = examples(80, classes)
        model = make(name)
        for x, label in zip(rows, labels):
            shares = model.predict_proba_one(x)
            assert model.predict_one(x) == (max(shares, key=shares.get) if shares else None)
            model.learn_one(x, label)


@pytest.mark.parametrize(("frame", "words"), [
    ([[1.0]], "not a list"),
    (pd.DataFrame({"a": [1.0, None]}), r"column 'a' has nan in row 1 .* is not a finite number"),
    (pd.DataFrame({"b": [1.0, 2.0], "a": [math.inf, 1.0]}), r"column 'a' has inf in row 0 .* not a finite number"),
    (pd.DataFrame({"a": [1.0, "blue"]}), r"column 'a' has 'blue' in row 1 .* is not a finite number"),
    (pd.DataFrame({"a": [1, 10**400]}), r"column 'a' has 10+ in row 1 .* is not a finite number"),
    (pd.DataFrame([[1.0, 2.0]] * 2, columns=["a", "a"]), "two columns of the same name"),
    (pd.DataFrame(index=[0, 1]), "has no feature"), (pd.DataFrame({"a": [1.0]}), "1 rows, y 2 labels"),
])  # fmt: skip
def test_a_bad_frame_gets_a_sentence(frame, words):
    model = make("majority_so_far") if "majority_so_far" in LEARNERS else IBoostClassifier(n_window=5, budget=3)
    with pytest.raises(BoostrunError, match=words):
        model.learn_many(frame, ["ash", "birch"])
    assert model.predict_many(pd.DataFrame({"a": [1.0]})).tolist() == [None]


@every_learner
def test_constant_features_and_labels_leave_no_nan(name):
    """Streams of one value, of one class, and of very different values."""
    for value in (0.0, 1e12, -1e12):
        model = make(name)
        for i in range(30):
            model.learn_one({"a": value, "b": 7.0}, bool(i % 2) if i > 20 else True)
        shares = model.predict_proba_one({"a": value, "b": 7.0})
        assert set(shares) == {False, True} and math.isclose(sum(shares.values()), 1.0), name


def test_names_of_a_frame_that_arrays_came_in_are_names_of_dicts():
    rows, labels = examples(40, gaps=False)
    model = IBoostClassifier(n_window=10, budget=5).partial_fit(pd.DataFrame(rows), labels)
    assert model.predict_one(rows[0]) == model.predict(pd.DataFrame(rows[:1]))[0]
    model.learn_one({**rows[0], "d": 1.0}, labels[0])
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    arrays = IBoostClassifier(n_window=10, budget=5).partial_fit(pd.DataFrame(rows).to_numpy(), labels)
    for asked in (lambda: arrays.learn_one(rows[0], labels[0]), lambda: arrays.predict_one(rows[0])):
        with pytest.raises(BoostrunError, match="places, not names"):
            asked()


def test_a_clone_takes_a_seed_and_leaves_what_was_learnt():
    rows, labels = examples(20)
    model = OnlineBoostClassifier(budget=3)
    for x, label in zip(rows, labels):
        model.learn_one(x, label)
    fresh = model.clone({"seed": 4, "budget": 2})
    assert (fresh.random_state, fresh.budget, fresh.predict_one(rows[0])) == (4, 2, None)
    assert model._get_params()["seed"] is None and model.clone(fresh._get_params()).random_state == 4
    whole = model.clone(include_attributes=True)
    assert whole.predict_proba_one(rows[0]) == model.predict_proba_one(rows[0])
    with pytest.raises(BoostrunError, match="no parameter 'trees'"):
        model.clone({"trees": 3})


@pytest.mark.parametrize(("name", "keys"), slow_but([(name, {}) for name in QUICK], EVERY_BASE))
def test_save_and_load_keep_features_and_classes_that_came_late(name, keys, tmp_path):
    rows, labels = examples(90, gaps=False)
    model = make(name, **keys)
    for i, (x, label) in enumerate(zip(rows, labels)):
        model.learn_one(x if i < 60 else {**x, "later": 1.0}, label if i < 75 else "newest")
    again = type(model).load(model.save(tmp_path / f"{name}.npz"))
    for x, label in zip(rows, labels):
        assert again.predict_one(x) == model.predict_one(x)
        again.learn_one(x, label)
        model.learn_one(x, label)
    assert again.predict_proba_one(rows[0]) == model.predict_proba_one(rows[0])


def test_checked_rows_answer_as_arrays_do():
    rows, labels = examples(40, gaps=False)
    model = IBoostClassifier(n_window=10, budget=5).partial_fit(X := pd.DataFrame(rows).to_numpy(), labels)
    np.testing.assert_array_equal(model.predict(X.view(CheckedRows)), model.predict(X))


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
def test_a_class_that_comes_leaves_what_was_learnt(base):
    X, y = blobs(600)
    model = IBoostClassifier(base=base, **SMALL).partial_fit(X, np.where(y == "cedar", "birch", y))
    state, before = model._state.counts.copy(), model.predict(X)
    model._grow(3)
    assert (model._state.counts[:4] == state[:4]).all() and (model.predict(X) == before).mean() > 0.99


def test_text_of_any_type_is_text():
    X, text = np.arange(40.0)[:, None], np.array(["a", "b"])[np.arange(40) % 2]
    model = IBoostClassifier(n_window=10, budget=3)
    for labels in (text, pd.Series(text, dtype=object), pd.Series(text, dtype="category"), text.tolist()):
        model.partial_fit(X, labels)
    assert model.classes_.tolist() == ["a", "b"] and model.n_seen_ == 160
