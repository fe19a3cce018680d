"""From settings to predictions on raw samples: the model that a run leaves, loaded, in C and in ONNX."""

import ctypes
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from boostrun import BoostrunError, ReservoirClassifier, VoteEnsemble
from boostrun.config import catalogue
from boostrun.data import load
from boostrun.export import c_source, read
from boostrun.export.parts import check
from boostrun.features import open_bank
from boostrun.features.hog import HogPipeline
from boostrun.inputs.bank import Table
from boostrun.methods import archive
from boostrun.papers.shareboost.evaluations import samples_of
from boostrun.papers.shareboost.model import cost_with_patches_once, template_costs
from boostrun.prediction import load as load_model
from boostrun.runner.execute import train_one
from boostrun.runner.plan import compose_one
from tests.export.compiled import Compiled
from tests.export.operators_in_numpy import answers, assert_same
from tests.marks import slow_but

TEMPLATES = (
    "features=templates features.patch=3 features.centres=6 features.masks=4 features.sigma=2 features.patches=500"
)
HOG = "features=hog features.cell=4 features.block=2"
ANCHORS = "features=anchors features.anchors=6 features.radii=3"
RUNS = [  # data, settings, type of x in C, or "" without a predictor
    *(("table.csv", line, x_type) for line, x_type in (
        ("algo=geem features=raw r=20 T=20", "float"), ("algo=logitboost features=raw T=9", "float"),
        ("algo=laminating features=raw T=9", "float"), ("algo=jointboost features=stumps T=9", "float"),
        ("algo=shareboost features=raw T=4", "float"),
        ("algo=shareboost features=linear T=4", "double"), ("algo=shareboost features=products T=6", "double"),
        ("algo=shareboost features=stumps features.bins=16 T=9", "float"),
        (f"algo=shareboost {ANCHORS} T=3", "double"), (f"algo=shareboost {ANCHORS} features.pca=2 T=3", "double"),
        ("algo=ovr_greedy features=products T=3", "double"),
        ("algo=mixed_norm features=linear T=4 algo.n_lambdas=6", "double"),
    )),
    ("numbers.npz", "algo=geem features=raw features.bins=16 r=20 T=9", "float"),
    ("numbers.npz", "algo=laminating features=raw features.bins=16 T=9", "float"),
    ("numbers.npz", "algo=jointboost features=stumps features.bins=16 T=9", "float"),
    ("numbers.npz", "algo=shareboost features=raw features.bins=16 T=4 train_samples=60", "float"),
    *(("times.npz", line, "double") for line in (
        "algo=laminating features=raw T=9", "algo=geem features=raw features.bins=16 r=20 T=9",
        "algo=jointboost features=stumps T=9", "algo=shareboost features=raw T=4",
    )),
    ("two.npz", "algo=laminating features=raw features.bins=16 T=9", "float"),
    ("two.npz", "algo=shareboost features=linear T=4", "double"),
    *(("images.npz", line, x_type) for line, x_type in (
        ("algo=wsam features=raw r=20 T=9", "unsigned char"),
        ("algo=wsam features=raw features.bins=8 r=20 T=9", "float"),
        ("algo=uniform_1q features=stumps T=9 Q=5", "unsigned char"),
        ("algo=shareboost features=stumps T=9", "unsigned char"), ("algo=shareboost features=linear T=9", "double"),
        (f"algo=shareboost {TEMPLATES} T=9", "unsigned char"),
        (f"algo=shareboost {TEMPLATES} T=5 algo.bias=free", "unsigned char"),
        (f"algo=ovr_greedy {TEMPLATES} T=3", "unsigned char"), (f"algo=laminating {TEMPLATES} T=9", ""),
        (f"algo=geem {HOG} r=20 T=9", ""), (f"algo=shareboost {HOG} T=6", ""), (f"algo=jointboost {HOG} T=9", ""),
        ("algo=laminating features=families19 features.only=[lbp,identity] T=9", ""),
    )),
]  # fmt: skip


@pytest.fixture
def folder(workplace):
    """90 training and 210 test samples of five numbers, and of images of 12 x 10 pixels, in three classes, or two."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    numbers = rng.normal(size=(300, 5)) * [1, 100, 1, 1, 0.01] + 1.5 * y[:, None] * [1, -100, 0, 0, 0.01]
    numbers[:, 2], numbers[:, 3] = -2.0, rng.integers(0, 10, 300)
    images = rng.integers(0, 60, (300, 12, 10))
    for image, label in zip(images, y):
        image[3 * label : 3 * label + 4, 2:7] += 150
    times = np.column_stack([1.7e12 + np.rint(9 * numbers[:, 0]), numbers[:, 4], 2.0**53 + numbers[:, 1]])
    for name, x, labels in (
        ("numbers", numbers, y + 5), ("times", times, y + 5), ("two", numbers, 5 * (y > 0) - 1),
        ("images", images.astype(np.uint8), y + 5),
    ):  # fmt: skip
        parts = {"x_train": x[:90], "y_train": labels[:90], "x_test": x[90:], "y_test": labels[90:]}
        np.savez(workplace / f"{name}.npz", **parts)
    frame = pd.DataFrame(numbers, columns=list("abcde"))
    frame.assign(label=np.array(["red", "green", "*/"])[y]).to_csv(workplace / "table.csv", index=False)
    return workplace


def trained(folder, data, line):
    """(settings, file of the model, its scores (n, k) on the bank, raw test samples)."""
    words = [*line.split(), f"dataset={data.partition('.')[2]}", f"dataset.path={folder / data}", "n_jobs=1"]
    settings, root = compose_one(words), folder / "datasets"
    written = train_one(settings, folder / "model.npz")
    model = read(written).model
    kind = catalogue.pipeline(settings.features).gives
    bank = Table(open_bank(settings.dataset, settings.features, root, root), kind)
    if hasattr(model, "decision"):
        scores = model.decision(bank.samples("test"))
        scores = scores if hasattr(model, "subsets") else scores.T
    else:
        scores = model.scores(samples_of(bank, "test"))
    return settings, written, scores, load(settings.dataset, root)


def numbers_of(scores):
    return (scores[:, 0] >= 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


@pytest.mark.parametrize(("data", "line", "x_type"), slow_but(RUNS[::4], RUNS))
def test_the_model_of_a_run_takes_raw_samples_when_loaded_in_c_and_in_onnx(folder, data, line, x_type):
    settings, written, expected, raw = trained(folder, data, line)
    X, numbers, saved = raw.x_test.reshape(len(raw.x_test), -1), numbers_of(expected), read(written)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = load_model(written)
    named = loaded.__dict__.pop("feature_names_in_", None)  # arrays have no names
    assert (named is not None) == (data == "table.csv") and (named is None or list(named) == list("abcde"))
    names = {"table.csv": ["*/", "green", "red"], "two.npz": [-1, 4]}.get(data, [5, 6, 7])
    assert loaded.classes_.tolist() == names and len(set(numbers)) == len(names)
    assert loaded.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(loaded.predict(X), loaded.classes_[numbers])
    np.testing.assert_array_equal(list(loaded.staged_predict(X))[-1], loaded.predict(X))
    again = type(loaded).load(loaded.save(folder / "again"))
    assert np.array_equal(again.predict(X), loaded.predict(X)) and again.get_params() == loaded.get_params()
    if data == "images.npz":
        np.testing.assert_array_equal(loaded.predict(raw.x_test), loaded.predict(X))
        np.testing.assert_array_equal(loaded.predict(X.astype(np.float64)), loaded.predict(X))
    (record,) = [json.loads(path.read_text()) for path in (folder / "results" / "runs").rglob("*.json")]
    assert record["metrics"]["test_error_pct"] == pytest.approx(100 * np.mean(numbers != raw.y_test))
    if not x_type:
        with pytest.raises(BoostrunError, match="cannot be exported"):
            check(settings.algo, settings.features)
        return
    compiled = Compiled(c_source(saved), folder / "c")
    found, scores = compiled(raw.x_test)
    same = np.isclose(scores, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()).all(axis=1)
    assert same.mean() > 0.97 if "templates" in line else same.all()  # a response may lie on the edge of two codes
    np.testing.assert_array_equal(found[same], numbers[same])
    assert compiled.type == x_type and saved.classes == [str(name) for name in names]
    if "multiply_adds" in record["metrics"]:
        assert compiled.counted == record["metrics"]["multiply_adds"]
    if "templates" in line or "anchors" in line:
        with pytest.raises(BoostrunError, match="cannot be exported"):
            check(settings.algo, settings.features, "onnx")
        return
    X = X.astype(np.float64)
    if "edges" in saved.inputs:  # values that lie at an edge, below and above it
        edges = saved.inputs["edges"][:, : len(X)].T
        at, infinity = np.where(np.isfinite(edges), edges, 0).astype(edges.dtype), edges.dtype.type(np.inf)
        X = np.concatenate([X, at, np.nextafter(at, -infinity), np.nextafter(at, infinity)])
    elif data == "images.npz":
        X = np.concatenate([X, np.arange(-30, 270).repeat(120).reshape(-1, 120) + 0.25])
    assert_same(loaded, saved, X if x_type == "double" else X.astype(np.float32))


def test_a_table_is_taken_as_a_frame_by_its_names_and_fitted_again_with_the_parameters_of_the_run(folder):
    _, written, scores, raw = trained(folder, "table.csv", "algo=wsam features=raw r=20 T=7 algo.shrinkage=0.25")
    loaded = ReservoirClassifier.load(written)
    frame = pd.DataFrame(raw.x_test, columns=list("abcde"))
    assert np.array_equal(loaded.predict(frame), loaded.classes_[scores.argmax(axis=1)])
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[list("edcba")])
    assert (loaded.strategy, loaded.reservoir_size, loaded.n_estimators) == ("wsam", 20, 7)
    assert loaded.shrinkage == 0.25 and isinstance(loaded.random_state, int)
    fresh = clone(loaded).fit(raw.x_train, raw.y_train)
    loaded.fit(raw.x_train, raw.y_train)
    assert np.array_equal(loaded.decision_function(raw.x_test), fresh.decision_function(raw.x_test))


def test_features_that_cannot_be_computed_and_samples_that_are_no_pixels_are_one_sentence(folder):
    _, written, _, raw = trained(folder, "images.npz", f"algo=geem {HOG} r=20 T=9")
    with np.load(written) as arrays:
        kept = {name: array for name, array in arrays.items() if name not in ("input_options", "input_shape", "format")}
    for kind in ("strange", "hog", "coates_ng"):
        kept["input_kind"] = np.array(kind)
        archive.save(folder / "other.npz", "boostrun.StumpEnsemble/1", kept)
        loaded = ReservoirClassifier.load(folder / "other.npz")
        for X in (raw.x_test, raw.x_test.reshape(210, -1)):
            with pytest.raises(BoostrunError, match=f"on features={kind}, which a loaded model does not compute"):
                loaded.predict(X)
        features = HogPipeline({"orientations": 9, "cell": 4, "block": 2})(raw.x_test)
        np.testing.assert_array_equal(loaded.predict(features), ReservoirClassifier.load(written).predict(raw.x_test))
    with pytest.raises(BoostrunError, match="whole numbers from 0 to 255"):
        ReservoirClassifier.load(written).predict(raw.x_test.reshape(210, -1) / 255.0)


def test_a_file_of_a_run_of_an_older_version_is_read(folder):
    _, written, scores, raw = trained(folder, "table.csv", "algo=geem features=raw r=20 T=9")
    with np.load(written) as arrays:
        kept = {name: array for name, array in arrays.items() if name not in ("facts", "column_names", "format")}
    archive.save(folder / "run.npz", "boostrun.StumpEnsemble/1", kept)
    loaded = ReservoirClassifier.load(folder / "run.npz")
    numbers = scores.argmax(axis=1)
    assert np.array_equal(loaded.predict(raw.x_test), loaded.classes_[numbers]) and loaded.n_estimators == 9
    old = {name: array for name, array in kept.items() if name not in ("input_edges", "input_missing")}
    old["input_kind"] = np.array("hog")
    archive.save(folder / "hog.npz", "boostrun.StumpEnsemble/1", old)
    with pytest.raises(BoostrunError, match="saved without the edges of its codes"):
        ReservoirClassifier.load(folder / "hog.npz").predict(raw.x_test)


_ADDITIONS = {"out[j] += ": 3, "const float masked = ": 1, "out[k] += ": 1}  # a row of a window: 3 pixels


def test_the_operations_on_templates_that_run_are_those_that_are_counted(folder):
    settings, written, _, raw = trained(folder, "images.npz", f"algo=shareboost {TEMPLATES} T=9 algo.reg=1e-3")
    saved = read(written)
    source = c_source(saved).replace("#include <math.h>", "int done;")
    for addition, count in _ADDITIONS.items():
        assert source.count(addition) == 1
        source = re.sub(rf"( *)({re.escape(addition)}[^;]*;)", rf"\1done += {count};\n\1\2", source)
    source = re.sub(r"(for \([^)]*\))\n( *done [^;]*;\n[^;]*;)", r"\1 {\n\2 }", source)
    compiled = Compiled(source, folder / "c")
    done = ctypes.c_int.in_dll(compiled.shared, "done")
    root = folder / "datasets"
    chosen, fitted = saved.model.selected, open_bank(settings.dataset, settings.features, root, root).fitted()
    for image in raw.x_test[:3]:
        before = done.value
        compiled(image[None])
        assert done.value - before == 3 * compiled.runs  # scores by itself, for predict and for predict_many
    assert compiled.runs == cost_with_patches_once(fitted, chosen) + 3 * 9
    assert compiled.counted == template_costs(fitted)[chosen].sum() + 3 * 9
    assert compiled.runs < compiled.counted  # some patch is chosen under two masks


@pytest.fixture
def gaps(workplace):
    """120 training and 90 test samples in three classes, whose label decides which values are missing; others are
    missing only in the test part.
    """
    rng = np.random.default_rng(0)
    y = np.arange(210) % 3
    x = rng.normal(size=(210, 4))
    x[rng.random(210) < 0.2 + 0.35 * (y == 0), 0] = np.nan
    x[rng.random(210) < 0.2 + 0.35 * (y == 2), 2] = np.nan
    x[150:155, 1] = np.nan
    labels = np.array(["red", "green", "blue"])[y]
    np.savez(workplace / "gaps.npz", x_train=x[:120], y_train=labels[:120], x_test=x[120:], y_test=labels[120:])
    return workplace


GAPS = [
    "algo=wsam features=raw r=20 T=9", "algo=shareboost features=linear T=6",
    "algo=laminating features=raw features.bins=16 T=9", "algo=jointboost features=stumps features.bins=16 T=9",
    "algo=shareboost features=stumps T=9", "algo=shareboost features=raw features.bins=16 T=4",
    f"algo=shareboost {ANCHORS} features.pca=2 T=3", f"algo=shareboost {ANCHORS} features.pca=0 T=3",
    "algo=ovr_greedy features=products T=4",
]  # fmt: skip


@pytest.mark.parametrize("line", slow_but(GAPS[:2], GAPS))
def test_all_forms_of_a_model_say_the_same_of_missing_values(gaps, line):
    _, written, expected, raw = trained(gaps, "gaps.npz", line)
    assert np.isnan(raw.x_test).any(axis=0).tolist() == [True, True, True, False]
    saved, loaded, numbers = read(written), load_model(written), expected.argmax(axis=1)
    assert len(set(numbers)) == 3 and loaded.n_features_in_ == 4
    assert (loaded.predict(raw.x_test) == np.array(saved.classes)[numbers]).all()
    found, scores = Compiled(c_source(saved), gaps / "c")(raw.x_test)
    assert (found == numbers).all()
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)
    if "anchors" not in line:
        labels, scores = answers(saved, raw.x_test)
        assert (labels == np.array(saved.classes)[numbers]).all()
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)
    if "wsam" in line:  # importances of a column include those of its second column
        assert saved.n_features == 6 and saved.inputs["missing"].tolist() == [0, 2]
        each = np.bincount(saved.model.features.ravel(), np.abs(saved.model.coefficients).ravel(), 6)
        whole = each[:4] + np.array([each[4], 0, each[5], 0])
        np.testing.assert_allclose(loaded.feature_importances_, whole / whole.sum())


DAMAGES = [
    ("missing", np.array([0, 4])), ("missing", np.array([2, 0])), ("missing", np.array([-1, 2])),
    ("missing", np.array([0.0, 2.0])), ("missing", np.arange(6)), ("missing", np.array([0])), ("means", np.zeros(3)),
    ("means", np.full(4, np.nan)), ("means", None), ("missing", None), ("kind", np.array("pixels")),
]  # fmt: skip


def test_a_damaged_file_of_missing_values_is_one_sentence(gaps):
    _, written, _, _ = trained(gaps, "gaps.npz", "algo=shareboost features=linear T=2")
    with np.load(written) as found:
        whole = dict(found)
    for name, array in DAMAGES:
        arrays = {**whole, f"input_{name}": array}
        np.savez(gaps / "damaged.npz", **{key: value for key, value in arrays.items() if value is not None})
        with pytest.raises(BoostrunError, match=r"damaged\.npz is not an ensemble saved by boostrun \("):
            load_model(gaps / "damaged.npz")


def test_the_command_makes_a_predictor_of_settings_and_of_a_file(command, folder):
    words = f"dataset=npz dataset.path={folder}/images.npz n_jobs=1"
    code, out, err = command(f"export algo=shareboost {TEMPLATES} T=3 {words} -o first.c")
    assert code == 0, err
    assert "unsigned char[120]" in out and out.splitlines()[-2:] != []
    assert (folder / "first.npz").is_file()
    code, out, _ = command("export first.npz --to c --output=second.c")
    assert code == 0 and (folder / "first.c").read_text() == (folder / "second.c").read_text()
    assert command("export first.npz")[0] == 0  # beside the model, as first.c
    assert command(f"export algo=laminating features=raw T=2 {words} --to npz")[0] == 0
    assert read(folder / "model.npz").inputs["kind"] == "pixels" and not (folder / "predictor.c").exists()
    records = [json.loads(path.read_text()) for path in (folder / "results" / "runs").rglob("*.json")]
    assert sorted(record["cell"]["algo"]["name"] for record in records) == ["laminating", "shareboost"]
    code, out, _ = command(f"algo=shareboost {TEMPLATES} T=3 {words}")
    assert code == 0 and len(list((folder / "results" / "runs").rglob("*.json"))) == 2  # the run finds its record


SENTENCES = {
    "export": "export needs a model file or the settings of one", "export absent.npz": "no ensemble at absent.npz",
    "export numbers.npz": "numbers.npz is not an ensemble saved by boostrun",
    "export bare.npz": "bare.npz holds a model but no classes",
    "export other.npz": "other.npz holds something else, which is no model that can be exported",
    "export hog.npz": "this model of features=hog cannot be exported: a predictor in C computes raw, linear",
    "export bare.npz algo=geem": "algo=geem: a saved model has its settings, and rows are for --integer",
    "export bare.npz -o bare.npz": "bare.npz is also the input: name another file",
    "export algo=geem dataset=bare.npz -o bare.c": "bare.npz is also the input: name another file",
    "export algo=geem --to c -o y.npz": "-o y.npz: the model is written to this file",
    "export bare.npz more.npz": "cannot read 'more.npz'",
    "export bare.npz --to onx": "--to onx: one of c, onnx, npz is needed",
    "export bare.npz --to npz": "bare.npz is a saved model already",
    "export bare.npz --to": "--to needs c, onnx or npz", "export bare.npz -o": "-o needs a file name",
    "export bare.npz -o nowhere/p.c": "-o nowhere/p.c: there is no such folder",
    "ls algo -o p.c": "-o is an option of export", "export algo=knn": "algo 'knn' keeps no model of its own",
    "export algo=geem trials=3": "leave trials out", "export algo=geem features=hog": "features=hog cannot be exported",
    "export algo=geem features=templates": "algo 'geem' on features=templates cannot be exported: shareboost",
    "export algo=geem r=1,2": "lists several values",
    "export algo=geem dataset=stream dataset.path=x.npy dataset.test_path=y.npy": "a model of dataset=stream is not",
    "export algo=geem dataset=digits r=5": "r must be at least 10",
    "export algo=geem dataset=cifar10 features=raw": "cifar10.npz",
}  # fmt: skip


def test_models_and_settings_that_cannot_be_exported_are_one_sentence(command, folder):
    model = VoteEnsemble.empty(3, 2)
    model.save("bare.npz")
    model.save("hog.npz", classes=np.arange(3), n_features_in=np.array(4), input_kind=np.array("hog"))
    archive.save("other.npz", "something else", {})
    for line, sentence in SENTENCES.items():
        code, out, err = command(line)
        said = [text for text in err.splitlines() if text.startswith("boostrun: ")]
        assert code == 2 and len(said) == 1 and sentence in said[0] and "Traceback" not in out + err, line
    assert not list(folder.glob("*.c"))
