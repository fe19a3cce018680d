"""A model saved and loaded predicts on raw samples what the trained one predicts, and is fitted again as that one."""

import shutil
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from boostrun import (
    AdaBoostMHClassifier,
    BoostrunError,
    FullDataClassifier,
    IBoostAdwinClassifier,
    IBoostClassifier,
    IBoostGeemClassifier,
    JointBoostClassifier,
    MixedNormClassifier,
    OnlineRivalClassifier,
    ReservoirClassifier,
    ShareBoostClassifier,
)
from boostrun.methods import archive, saved
from boostrun.papers.adaptive.policies.laminating import Laminating
from boostrun.papers.adaptive.policies.tasting import TastingLaminating
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier
from boostrun.papers.shareboost.pools import ColumnProducts, ColumnStumps, Groups, Piecewise, RawColumns
from tests.marks import slow_but
from tests.papers.iboost.learners import LEARNERS, METHODS, QUICK, SLOW, make

CLASSIFIERS = {
    "reservoir": ReservoirClassifier("wsam", reservoir_size=40, n_estimators=12, shrinkage=0.3, random_state=3),
    "full data": FullDataClassifier("mada", reservoir_size=40, n_estimators=9, random_state=0),
    "trees": ReservoirClassifier(
        "wsam", weak_learner="tree", depth=2, reservoir_size=40, n_estimators=6, random_state=3
    ),
    "online": OnlineRivalClassifier("osboost", n_estimators=5, gamma=0.2, random_state=0),
    "votes": AdaBoostMHClassifier("tasting_1q", n_estimators=9, families=[("a", 0, 2), ("b", 2, 5)], random_state=0),
    "policy": AdaBoostMHClassifier(Laminating(Q=4), n_estimators=9, random_state=0),
    "policy with keys": AdaBoostMHClassifier(TastingLaminating(), n_estimators=9, random_state=0),
    "jointboost": JointBoostClassifier(12, beam=2, max_bins=32),
    "columns": ShareBoostClassifier(3, reg=1e-3, rule="column"),
    "groups": ShareBoostClassifier(2, Groups([[0, 1], (3, 4)]), reg=1e-3),
    "products": ShareBoostClassifier(4, ColumnProducts("standard"), reg=1e-3),
    "stumps": ShareBoostClassifier(9, ColumnStumps(8), reg=1e-3),
    "sorted stumps": ShareBoostClassifier(9, ColumnStumps(None), reg=1e-3),
    "pieces": ShareBoostClassifier(3, Piecewise(6, 3, pca=2), reg=1e-3, random_state=0),
    "one-vs-rest": OneVsRestGreedyClassifier(3, "products", reg=1e-3),
    "mixed norm": MixedNormClassifier(8, "products", lambda_min_ratio=0.05, debias=True),
    **{name: make(name) for name in LEARNERS if name not in SLOW},
    "iboost_adwin": IBoostAdwinClassifier(20, 5, n_least=5),
    "iboost_geem": IBoostGeemClassifier(20, 5, random_state=1),
    "iboost_ovr": IBoostClassifier(20, 5, multiclass="ovr", base="gnb", example="random", random_state=2),
}
# in a quick run: of the learners of streams, which compile long, a few
SAVED = [name for name in CLASSIFIERS if name not in METHODS or name in QUICK]
LABELS = {
    "int": np.array([3, -7, 11]), "float": np.array([4.0, 2.0, -1.0]), "bool": np.array([True, False]),
    "str": np.array(["b", "a", "ç"]), "object": np.array(["b", "a", "c"], dtype=object),
}  # fmt: skip


def table(labels, n=240):
    rng = np.random.default_rng(0)
    y = np.arange(n) % len(labels)
    X = rng.normal(size=(n, 5)) + np.outer(y, [1, -1, 0, 0, 2])
    return pd.DataFrame(X, columns=["first", "second", "third", "fourth", "fifth"]), labels[y]


def answers(clf, X):
    return clf.decision_function(X) if hasattr(clf, "decision_function") else clf.predict(X)


@pytest.mark.parametrize("name", slow_but(SAVED, CLASSIFIERS))
def test_a_classifier_comes_back_whole(name, tmp_path):
    X, y = table(LABELS["str"])
    clf = clone(CLASSIFIERS[name]).fit(X, y)
    loaded = type(clf).load(clf.save(tmp_path / "model"))
    np.testing.assert_array_equal(answers(loaded, X), answers(clf, X))
    assert repr(loaded.get_params()) == repr(clf.get_params())
    assert loaded.feature_names_in_.tolist() == X.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X[X.columns[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        loaded.predict(X.to_numpy())
    fresh = clone(clf).fit(X, y)
    np.testing.assert_array_equal(answers(loaded.fit(X, y), X), answers(fresh, X))


@pytest.mark.parametrize(
    ("features", "word"),
    [(RawColumns(), "Raw"), (ColumnProducts("standard"), "Products"), (ColumnStumps(None), "Stumps")],
)
def test_a_file_calls_candidates_as_it_always_did(features, word):
    written = saved.encode("features", features)
    assert written == {"object": word, "keys": vars(features)}
    assert saved.decode("features", written) == features


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", ["reservoir", "votes", "jointboost", "columns", "one-vs-rest", "iboost_batch"])
def test_labels_keep_their_type(kind, name, tmp_path):
    X, y = table(LABELS[kind])
    clf = clone(CLASSIFIERS[name]).fit(X, y)
    loaded = type(clf).load(clf.save(tmp_path / "model"))
    assert loaded.classes_.dtype == clf.classes_.dtype and loaded.predict(X).dtype == clf.predict(X).dtype
    assert [(type(a), a) for a in loaded.predict(X).tolist()] == [(type(a), a) for a in clf.predict(X).tolist()]


@pytest.mark.parametrize(
    "name", slow_but(SAVED, [name for name in CLASSIFIERS if hasattr(CLASSIFIERS[name], "test_then_train")])
)
@pytest.mark.parametrize("declared", [True, False])
def test_a_loaded_stream_learner_goes_on_as_the_saved_one(name, declared, tmp_path):
    X, y = (array.to_numpy() if hasattr(array, "to_numpy") else array for array in table(LABELS["int"]))
    clf = clone(CLASSIFIERS[name])
    clf.partial_fit(X[:1], y[:1], classes=np.unique(y) if declared else None).partial_fit(X[1:120], y[1:120])
    loaded = type(clf).load(clf.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.test_then_train(X[120:], y[120:]), clf.test_then_train(X[120:], y[120:]))
    np.testing.assert_array_equal(answers(loaded, X), answers(clf, X))


def test_a_learner_of_named_examples_knows_their_names(tmp_path):
    clf = IBoostClassifier(20, 5)
    rows = [{"b": float(i % 7), "a": float(i % 3)} for i in range(90)]
    for i, row in enumerate(rows):
        clf.learn_one(row, "even" if i % 3 else "odd")
    loaded = IBoostClassifier.load(clf.save(tmp_path / "model"))
    assert [loaded.predict_one(row) for row in rows] == [clf.predict_one(row) for row in rows]


def test_parameters_that_a_file_does_not_keep_are_named(tmp_path):
    X, y = table(LABELS["int"])
    clf = ReservoirClassifier("rand", reservoir_size=20, n_estimators=5, random_state=np.random.RandomState(0))
    with pytest.warns(UserWarning, match="random_state is a RandomState, which a saved model does not keep"):
        path = clf.fit(X, y).save(tmp_path / "model")
    with pytest.warns(UserWarning, match="random_state was not kept"):
        loaded = ReservoirClassifier.load(path)
    assert loaded.random_state is None and loaded.strategy == "rand"
    assert np.array_equal(loaded.predict(X), clf.predict(X))


def test_the_wrong_class_is_one_sentence(tmp_path):
    X, y = table(LABELS["int"])
    paths = {}
    for name in ("reservoir", "full data", "votes", "columns", "one-vs-rest", "iboost_batch"):
        clf = clone(CLASSIFIERS[name]).fit(X, y)
        paths[type(clf)] = clf.save(tmp_path / name.replace(" ", "_"))
    for cls in paths:
        for other, path in paths.items():
            if cls is other:
                assert type(cls.load(path)) is cls
            else:
                with pytest.raises(BoostrunError, match=f"{path} holds .*, which {cls.__name__} cannot load"):
                    cls.load(path)


def test_files_of_older_versions_are_read(tmp_path):
    X, y = table(LABELS["str"])
    for name in ("reservoir", "votes", "jointboost", "products", "one-vs-rest", "mixed norm"):
        clf = clone(CLASSIFIERS[name]).fit(X.to_numpy(), y)
        path = clf._model.save(tmp_path / "old", classes=clf.classes_, n_features_in=np.array(5))
        loaded = type(clf).load(path)
        np.testing.assert_array_equal(answers(loaded, X.to_numpy()), answers(clf, X.to_numpy()))


def test_a_damaged_fact_is_one_sentence(tmp_path):
    X, y = table(LABELS["int"])
    path = clone(CLASSIFIERS["reservoir"]).fit(X, y).save(tmp_path / "model")
    with np.load(path) as arrays:
        kept = dict(arrays.items())
    kept.pop("format")
    for facts in ("{", "[]", '{"parameters": {"strategy": {"object": "Laminating", "keys": {}}}}', '{"parameters": 3}'):
        archive.save(path, "boostrun.StumpEnsemble/1", kept | {"facts": np.array(facts)})
        with pytest.raises(BoostrunError, match="is not a model saved by boostrun"):
            ReservoirClassifier.load(path)


def test_saving_warns_of_nothing_else(tmp_path):
    X, y = table(LABELS["str"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for clf in (CLASSIFIERS["policy"], CLASSIFIERS["groups"]):
            fitted = clone(clf).fit(X, y)
            again = type(clf).load(fitted.save(tmp_path / "model"))
            assert (again.predict(X) == fitted.predict(X)).all()
    shutil.rmtree(tmp_path)
