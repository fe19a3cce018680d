"""A model saved and loaded predicts on raw samples what the trained one predicts, and is fitted again as that one."""

import json
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from boostrun import (
    ActiveReservoirClassifier,
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
    SplitReservoirClassifier,
)
from boostrun.config import catalogue
from boostrun.data import load
from boostrun.export import c_source, read
from boostrun.features import open_bank
from boostrun.inputs.bank import Table
from boostrun.methods import archive, saved
from boostrun.papers.adaptive.policies.laminating import Laminating
from boostrun.papers.adaptive.policies.tasting import TastingLaminating
from boostrun.papers.shareboost.evaluations import samples_of
from boostrun.papers.shareboost.features import ColumnProducts, ColumnStumps, Groups, Piecewise, RawColumns
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier
from boostrun.runner import keep
from boostrun.runner.compose import compose_one
from tests.export.compiled import COMPILER, Compiled
from tests.marks import slow_but
from tests.papers.iboost.learners import LEARNERS, METHODS, QUICK, SLOW, make


@pytest.fixture
def folder(workplace):
    """90 training and 210 test samples of five numbers, and of images of 12 x 10 pixels, in three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    numbers = rng.normal(size=(300, 5)) * [1, 100, 1, 1, 0.01] + 1.5 * y[:, None] * [1, -100, 0, 0, 0.01]
    numbers[:, 2] = -2.0
    images = rng.integers(0, 60, (300, 12, 10))
    for image, label in zip(images, y):
        image[3 * label : 3 * label + 4, 2:7] += 150
    for name, x in (("numbers", numbers), ("images", images.astype(np.uint8))):
        np.savez(workplace / f"{name}.npz", x_train=x[:90], y_train=y[:90] + 5, x_test=x[90:], y_test=y[90:] + 5)
    frame = pd.DataFrame(numbers, columns=list("abcde"))
    frame.assign(label=np.array(["red", "green", "blue"])[y]).to_csv(workplace / "table.csv", index=False)
    return workplace


TEMPLATES = (
    "features=templates features.patch=3 features.centres=6 features.masks=4 features.sigma=2 features.patches=500"
)
HOG = "features=hog features.cell=4 features.block=2"
RUNS = [
    *(("table.csv", line, cls) for line, cls in (
        ("algo=geem features=raw r=20 T=20", ReservoirClassifier),
        ("algo=geem_split features=raw r=20 T=8", SplitReservoirClassifier),
        ("algo=wsam_active features=raw r=20 T=8", ActiveReservoirClassifier),
        ("algo=logitboost features=raw T=9", FullDataClassifier),
        ("algo=oza features=raw T=9", OnlineRivalClassifier),
        ("algo=laminating features=raw T=9", AdaBoostMHClassifier),
        ("algo=jointboost features=stumps T=9", JointBoostClassifier),
        ("algo=shareboost features=raw T=4", ShareBoostClassifier),
        ("algo=shareboost features=linear T=4", ShareBoostClassifier),
        ("algo=shareboost features=products T=6", ShareBoostClassifier),
        ("algo=shareboost features=stumps features.bins=16 T=9", ShareBoostClassifier),
        ("algo=shareboost features=anchors features.anchors=6 features.radii=3 T=3", ShareBoostClassifier),
        ("algo=ovr_greedy features=products T=3", OneVsRestGreedyClassifier),
        ("algo=mixed_norm features=linear T=4 algo.n_lambdas=6", MixedNormClassifier),
    )),
    ("numbers.npz", "algo=geem features=raw features.bins=16 r=20 T=9", ReservoirClassifier),
    ("numbers.npz", "algo=shareboost features=raw T=4 train_samples=60", ShareBoostClassifier),
    *(("images.npz", line, cls) for line, cls in (
        ("algo=wsam features=raw r=20 T=9", ReservoirClassifier),
        ("algo=wsam features=raw features.bins=8 r=20 T=9", ReservoirClassifier),
        ("algo=uniform_1q features=stumps T=9 Q=5", AdaBoostMHClassifier),
        ("algo=shareboost features=raw T=9", ShareBoostClassifier),
        ("algo=shareboost features=linear T=9", ShareBoostClassifier),
        (f"algo=shareboost {TEMPLATES} T=9", ShareBoostClassifier),
        (f"algo=ovr_greedy {TEMPLATES} T=3", OneVsRestGreedyClassifier),
        (f"algo=laminating {TEMPLATES} T=9", AdaBoostMHClassifier),
        (f"algo=geem {HOG} r=20 T=9", ReservoirClassifier),
        (f"algo=shareboost {HOG} T=6", ShareBoostClassifier),
        ("algo=laminating features=families19 features.only=[lbp,identity] T=9", AdaBoostMHClassifier),
        (f"algo=jointboost {HOG} T=9", JointBoostClassifier),
    )),
]  # fmt: skip


def run(folder, data, line):
    """(file of the model, the model's own answers on the codes of its bank, raw test samples)."""
    path = folder / data
    words = [*line.split(), f"dataset={path.suffix[1:]}", f"dataset.path={path}", "n_jobs=1"]
    settings, root = compose_one(words), folder / "datasets"
    written = keep.train(settings, folder / "model.npz")
    model = read(written).model
    bank = Table(
        open_bank(settings.dataset, settings.features, root, root), catalogue.pipeline(settings.features).gives
    )
    if hasattr(model, "decision"):
        scores = model.decision(bank.samples("test"))
        scores = scores if hasattr(model, "subsets") else scores.T
    else:
        scores = model.scores(samples_of(bank, "test"))
    return written, scores.argmax(axis=1), load(settings.dataset, root)


@pytest.mark.parametrize(("data", "line", "cls"), slow_but(RUNS[::3], RUNS))
def test_the_model_of_a_run_takes_raw_samples(folder, data, line, cls):
    written, numbers, raw = run(folder, data, line)
    X = raw.x_test.reshape(len(raw.x_test), -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = cls.load(written)
    named = loaded.__dict__.pop("feature_names_in_", None)  # arrays have no names
    assert (named is not None) == (data == "table.csv") and (named is None or list(named) == list("abcde"))
    np.testing.assert_array_equal(loaded.predict(X), loaded.classes_[numbers])
    np.testing.assert_array_equal(list(loaded.staged_predict(X))[-1], loaded.predict(X))
    assert len(set(numbers)) == 3 and loaded.n_features_in_ == X.shape[1]
    names = ["blue", "green", "red"] if data == "table.csv" else [5, 6, 7]
    assert loaded.classes_.tolist() == names
    (record,) = [json.loads(path.read_text()) for path in (folder / "results" / "runs").rglob("*.json")]
    error = 100 * np.mean(numbers != raw.y_test)
    assert record["metrics"]["test_error_pct"] == pytest.approx(error)
    again = cls.load(loaded.save(folder / "again"))
    assert np.array_equal(again.predict(X), loaded.predict(X)) and again.get_params() == loaded.get_params()
    if data == "images.npz":
        np.testing.assert_array_equal(loaded.predict(raw.x_test), loaded.predict(X))
        np.testing.assert_array_equal(loaded.predict(X.astype(np.float64)), loaded.predict(X))
    if COMPILER and "hog" not in line and "families" not in line and f"laminating {TEMPLATES}" not in line:
        found, _ = Compiled(c_source(read(written)), folder / "c")(raw.x_test)
        assert np.mean(found == numbers) > (0.97 if "templates" in line else 0.999)


def test_a_table_is_taken_as_a_frame_by_its_names(folder):
    written, numbers, raw = run(folder, "table.csv", "algo=geem features=raw r=20 T=9")
    loaded = ReservoirClassifier.load(written)
    frame = pd.DataFrame(raw.x_test, columns=list("abcde"))
    assert np.array_equal(loaded.predict(frame), loaded.classes_[numbers])
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[list("edcba")])


def test_a_runs_model_is_fitted_again_with_the_runs_parameters(folder):
    written, _, raw = run(folder, "table.csv", "algo=wsam features=raw r=20 T=7 algo.shrinkage=0.25")
    loaded = ReservoirClassifier.load(written)
    assert (loaded.strategy, loaded.reservoir_size, loaded.n_estimators) == ("wsam", 20, 7)
    assert loaded.shrinkage == 0.25 and isinstance(loaded.random_state, int)
    fresh = clone(loaded).fit(raw.x_train, raw.y_train)
    loaded.fit(raw.x_train, raw.y_train)
    assert np.array_equal(loaded.decision_function(raw.x_test), fresh.decision_function(raw.x_test))


@pytest.mark.parametrize("kind", ["strange", "hog", "coates_ng"])
def test_features_that_cannot_be_computed_are_one_sentence(kind, folder):
    written, _, raw = run(folder, "images.npz", f"algo=geem {HOG} r=20 T=9")
    with np.load(written) as arrays:
        kept = {name: array for name, array in arrays.items() if name not in ("input_options", "input_shape", "format")}
    kept["input_kind"] = np.array(kind)
    archive.save(folder / "other.npz", "boostrun.StumpEnsemble/1", kept)
    loaded = ReservoirClassifier.load(folder / "other.npz")
    for X in (raw.x_test, raw.x_test.reshape(210, -1)):
        with pytest.raises(BoostrunError, match=f"trained on features={kind}, which a loaded model does not compute"):
            loaded.predict(X)
    from boostrun.features.hog import HogPipeline

    features = HogPipeline({"orientations": 9, "cell": 4, "block": 2})(raw.x_test)
    np.testing.assert_array_equal(loaded.predict(features), ReservoirClassifier.load(written).predict(raw.x_test))


def test_what_is_no_pixel_is_one_sentence(folder):
    written, _, raw = run(folder, "images.npz", f"algo=geem {HOG} r=20 T=9")
    with pytest.raises(BoostrunError, match="whole numbers from 0 to 255"):
        ReservoirClassifier.load(written).predict(raw.x_test.reshape(210, -1) / 255.0)


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
    "name", slow_but(SAVED, [name for name in CLASSIFIERS if hasattr(CLASSIFIERS[name], "partial_fit")])
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
    for name in ("reservoir", "full data", "votes", "jointboost", "columns", "one-vs-rest", "mixed norm", "flb",
                 "iboost_batch", "iboost_adwin"):  # fmt: skip
        clf = clone(CLASSIFIERS[name]).fit(X, y)
        paths[type(clf)] = clf.save(tmp_path / name.replace(" ", "_"))
    for cls in paths:
        for other, path in paths.items():
            if cls is other:
                assert type(cls.load(path)) is cls
            else:
                with pytest.raises(BoostrunError, match=f"{path} holds .*, which {cls.__name__} cannot load"):
                    cls.load(path)


def test_files_of_older_versions_are_read(folder):
    X, y = table(LABELS["str"])
    for name in ("reservoir", "votes", "jointboost", "products", "one-vs-rest", "mixed norm"):
        clf = clone(CLASSIFIERS[name]).fit(X.to_numpy(), y)
        path = clf._model.save(folder / "old", classes=clf.classes_, n_features_in=np.array(5))
        loaded = type(clf).load(path)
        np.testing.assert_array_equal(answers(loaded, X.to_numpy()), answers(clf, X.to_numpy()))
    written, numbers, raw = run(folder, "table.csv", "algo=geem features=raw r=20 T=9")
    with np.load(written) as arrays:
        kept = {name: array for name, array in arrays.items() if name not in ("facts", "column_names", "format")}
    archive.save(folder / "run.npz", "boostrun.StumpEnsemble/1", kept)
    loaded = ReservoirClassifier.load(folder / "run.npz")
    assert np.array_equal(loaded.predict(raw.x_test), loaded.classes_[numbers]) and loaded.n_estimators == 9
    old = {name: array for name, array in kept.items() if name not in ("input_edges", "input_missing")}
    old["input_kind"] = np.array("hog")
    archive.save(folder / "hog.npz", "boostrun.StumpEnsemble/1", old)
    with pytest.raises(BoostrunError, match="saved without the edges of its codes"):
        ReservoirClassifier.load(folder / "hog.npz").predict(raw.x_test)


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
