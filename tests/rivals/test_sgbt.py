"""SGBT as a stream learner: what is special to it; the rest is asked of every learner of streams."""

import pickle

import numpy as np
import pytest

from boostrun import SGBTClassifier
from boostrun.errors import BoostrunError
from boostrun.methods import archive

pytestmark = pytest.mark.slow  # kernels that take long to compile

QUICK = {"budget": 6, "learning_rate": 0.2, "random_state": 0}


def moving(n, classes=2, seed=0):
    """A concept of so many classes that is another one in the second half."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 4))
    y = np.minimum((X[:, 0] * classes).astype(int), classes - 1)
    y[n // 2 :] = (y[n // 2 :] + 1) % classes
    return X, y


@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_model_goes_on_as_it_was_though_its_trees_have_grown(classes, tmp_path):
    X, y = moving(900, classes)
    model = SGBTClassifier(skip=3, **QUICK).partial_fit(X[:600], y[:600], classes=range(classes))
    again = SGBTClassifier.load(model.save(tmp_path / "model"))
    assert len(again._boosters[0].links) > 6 * len(again._boosters[0].roots)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.test_then_train(X[600:], y[600:]), model.test_then_train(X[600:], y[600:]))
    assert np.array_equal(again.decision_function(X), model.decision_function(X)) and again.n_splits_ == model.n_splits_


def test_a_branch_that_a_drift_has_made_useless_is_replaced_and_the_new_concept_learnt():
    X, y = moving(4000)
    model = SGBTClassifier(drift_threshold=10.0, **QUICK)
    said = model.test_then_train(X, y)
    assert (said == y)[1000:2000].mean() > 0.95 and (said == y)[3000:].mean() > 0.95
    assert model.n_alarms_ >= model.n_replaced_ > 0
    fixed = SGBTClassifier(drift_threshold=float("inf"), **QUICK).partial_fit(X, y)
    assert fixed.n_alarms_ == 0 and (said == y)[2000:2500].mean() > 0.6


def test_a_third_class_leaves_the_first_two_as_they_were_and_is_learnt():
    X, y = moving(1200, 3)
    model = SGBTClassifier(**QUICK).partial_fit(X[:300], np.minimum(y[:300], 1))
    before, seen = model.decision_function(X), model.n_seen_
    model._grow(3)
    first, second, third = (model._scores(X)[k] for k in range(3))
    assert np.array_equal(second, np.where(before == np.nextafter(0.0, 1.0), 0.0, before)) and seen == 300
    assert np.array_equal(first, -second) and (third < np.maximum(first, second)).all()
    late = SGBTClassifier(**QUICK).partial_fit(X[:300], np.minimum(y[:300], 1))
    said = late.test_then_train(X[300:600], y[300:600])
    assert late.classes_.tolist() == [0, 1, 2] and (said == y[300:600])[150:].mean() > 0.8
    assert (late.predict_proba(X).argmax(axis=1) == late.predict(X)).all()


@pytest.mark.parametrize("keys", [{}, {"weights": "one"}, {"repeats": 10}, {"learning_rate": 1.0, "budget": 40}])
def test_no_stream_makes_a_score_that_is_no_number(keys):
    """Constant and huge features, one class for long, labels that say nothing."""
    rng = np.random.default_rng(1)
    X = np.column_stack([np.full(600, 7.0), rng.normal(size=600) * 1e300, rng.integers(0, 2, 600)])
    for y in (np.zeros(600, int), np.arange(600) % 2, (np.arange(600) > 500).astype(int)):
        model = SGBTClassifier(**{**QUICK, **keys}).partial_fit(X, y, classes=[0, 1])
        assert np.isfinite(model.decision_function(X)).all() and np.isfinite(model.predict_proba(X)).all()
    constant = SGBTClassifier(**QUICK).partial_fit(np.ones((700, 3)), np.arange(700) % 2)
    assert constant.n_splits_ == 0


def test_each_tree_looks_at_its_share_of_the_features():
    X, y = moving(50)
    for share, expected in ((0.75, 3), (0.1, 2), (1.0, 4)):
        columns = SGBTClassifier(feature_fraction=share, **QUICK).partial_fit(X, y)._boosters[0].columns
        assert columns.shape == (6, expected) and all(len(set(each)) == expected for each in columns.tolist())
    assert SGBTClassifier(**QUICK).partial_fit(X[:, :1], y)._boosters[0].columns.tolist() == [[0]] * 6


def test_a_feature_that_an_example_lacks_is_in_no_histogram():
    """And at a split on it the side with more examples is taken."""
    X, y = moving(300)
    model = SGBTClassifier(budget=2, feature_fraction=1.0, grace_period=150, random_state=0)
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist())):
        model.learn_one(dict(zip("abc", x)) if i % 3 == 0 else dict(zip("ab", x)), label)
        if i == 100:
            filled, bins = model._boosters[0].filled[0], model._boosters[0].bins[0]
            assert [bins[j, : filled[j], 1].sum() for j in range(3)] == [101.0, 101.0, 34.0]
    assert model.n_splits_ > 0 and sum(model.predict_proba_one({}).values()) == pytest.approx(1.0)


def test_one_example_in_skip_is_not_learnt():
    X, y = moving(2000)
    learnt = [SGBTClassifier(skip=skip, **QUICK).partial_fit(X, y)._boosters[0].targets[0, 0] for skip in (1, 2, 10)]
    assert learnt[0] == 2000 and abs(learnt[1] - 1000) < 100 and abs(learnt[2] - 1800) < 60


def test_trees_stop_at_their_leaves_and_take_no_more_memory():
    X, y = moving(3000)
    model = SGBTClassifier(max_leaves=4, **QUICK).partial_fit(X[:1500], y[:1500])
    size = len(pickle.dumps(model))
    assert abs(len(pickle.dumps(model.partial_fit(X[1500:], y[1500:]))) - size) < 0.5 * size
    assert model._boosters[0].leaves.max() <= 6  # with those of an alternate that had begun


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a["state__boosters.0.0"].__setitem__((0, 1), 0),  # a branch below itself
        lambda a: a["state__boosters.0.0"].__setitem__((0, 2), 10**6),
        lambda a: a["state__boosters.0.0"].__setitem__((0, 0), 4),
        lambda a: a["state__boosters.0.3"].__setitem__(slice(None), 99),
        lambda a: a["state__boosters.0.4"].__setitem__(0, a["state__boosters.0.4"][1]),
        lambda a: a["state__boosters.0.6"].__setitem__((0, 0), 4),
        lambda a: a["state__boosters.0.8"].__setitem__(0, 10**6),
        lambda a: a["state__boosters.0.1"].__setitem__((0, 0), np.nan),
        lambda a: a.pop("state__boosters.0.7"),
    ],
)
def test_a_damaged_file_is_refused(change, tmp_path):
    X, y = moving(500)
    path = SGBTClassifier(**QUICK).partial_fit(X, y).save(tmp_path / "model")
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    kind = arrays.pop("format")
    assert arrays["state__boosters.0.0"][0, 0] >= 0  # a branch
    change(arrays)
    archive.save(path, str(kind).strip('"'), arrays)
    with pytest.raises(BoostrunError, match="not a model saved by boostrun"):
        SGBTClassifier.load(path)
