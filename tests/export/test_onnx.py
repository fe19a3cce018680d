"""Every classifier that can be written as ONNX predicts there as it does in Python.

The operators are always run by NumPy; the whole file by onnxruntime too, where that is installed.
"""

import builtins
import dataclasses
import json

import numpy as np
import pytest

from boostrun import BoostrunError, ReservoirClassifier, ShareBoostClassifier, StumpEnsemble, VoteEnsemble
from boostrun.config import catalogue
from boostrun.data import load
from boostrun.export import Saved, read
from boostrun.export import onnx as onnx_model
from boostrun.export.parts import OnnxParts, Operators, check
from boostrun.methods.saved import Saveable
from boostrun.prediction import load as load_model
from boostrun.runner import keep
from boostrun.runner.compose import compose_one
from tests.export.operators_in_numpy import KINDS, run
from tests.export.test_classifiers import LINEAR, STUMPS, samples


def answers(saved, X):
    """(label, scores) of X (n, d) by the operators, and by onnxruntime where it is there; both are the same."""
    predictor = onnx_model.predictor(saved)
    label, scores = run(predictor, X)
    try:
        import onnxruntime
    except ImportError:
        return label, scores
    content = onnx_model.model_proto(saved).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_outputs()] == ["label", "scores"]
    theirs, of_theirs = session.run(None, {"X": X.astype(predictor.parts.x_type)})
    assert of_theirs.dtype == np.float64 and theirs.dtype == label.dtype
    np.testing.assert_allclose(of_theirs, scores, rtol=1e-11, atol=1e-11 * np.abs(scores).max())
    np.testing.assert_array_equal(theirs, label)
    return theirs, of_theirs


def assert_same(clf: Saveable, saved, X):
    label, scores = answers(saved, X)
    expected = clf.decision_function(X)
    assert scores.shape == (len(X), 1 if expected.ndim == 1 else expected.shape[1])
    np.testing.assert_allclose(scores, expected.reshape(scores.shape), rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_array_equal(label, clf.predict(X))


WHOLE = [name for name in LINEAR if "pieces" not in name]


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        *((name, 4) for name in (*STUMPS, *WHOLE)),
        *((name, 2) for name in ("reservoir", "votes", "vote trees", "jointboost")),
    ]
    + [(name, 2) for name in ("products", "mixed norm", "absent classes")],
)
def test_a_classifier_gives_the_same_labels_and_scores(name, classes, tmp_path):
    X, y = samples(300, classes)
    X_new, _ = samples(400, classes, seed=1)
    X_new[:50] = X[:50]  # values at thresholds and bins' edges too
    if name in WHOLE:
        X[:, 4], X_new[:, 4] = X[:, 4] / 1e6, X_new[:, 4] / 1e6
    clf = (STUMPS | LINEAR)[name].fit(X, y)
    saved = read(clf.save(tmp_path / "model.npz"))
    assert onnx_model.predictor(saved).parts.x_type == np.float64
    assert_same(clf, saved, X_new)


def test_codes_are_whole_numbers(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (200, 9), dtype=np.uint8)
    clf = ShareBoostClassifier(5, "codes", reg=1e-3).fit(X, X[:, 0] // 90)
    assert_same(clf, read(clf.save(tmp_path / "model.npz")), X)


@pytest.fixture
def folder(workplace):
    """Five numbers of which one is of ten values, and images of 6 x 5 pixels, in three classes and in two."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    numbers = rng.normal(size=(300, 5)) + 1.5 * y[:, None] * [1, -1, 0, 0, 1]
    numbers[:, 2], numbers[:, 3] = -2.0, rng.integers(0, 10, 300)
    images = rng.integers(0, 60, (300, 6, 5))
    images[np.arange(300), y, y] += 150
    for name, x in (("numbers", numbers), ("images", images.astype(np.uint8))):
        for kind, labels in (("text", np.array(["red", "green", "é"])[y]), ("two", 5 * (y > 0) - 1)):
            parts = {"x_train": x[:90], "y_train": labels[:90], "x_test": x[90:], "y_test": labels[90:]}
            np.savez(workplace / f"{name}_{kind}.npz", **parts)
    return workplace


CASES = [
    ("numbers", "algo=wsam features=raw r=20 T=9"),
    ("numbers", "algo=laminating features=raw features.bins=16 T=9"),
    ("numbers", "algo=jointboost features=stumps features.bins=16 T=9"),
    ("numbers", "algo=shareboost features=linear T=4"),
    ("numbers", "algo=shareboost features=raw features.bins=16 T=4"),
    ("numbers", "algo=shareboost features=products T=5"),
    ("numbers", "algo=shareboost features=stumps features.bins=16 T=9"),
    ("numbers", "algo=ovr_greedy features=products T=3"),
    ("numbers", "algo=mixed_norm features=linear T=4 algo.n_lambdas=6"),
    ("images", "algo=wsam features=raw r=20 T=9"),
    ("images", "algo=uniform_1q features=stumps T=9 Q=5"),
    ("images", "algo=shareboost features=stumps T=9"),
    ("images", "algo=shareboost features=raw T=9"),
]


@pytest.mark.parametrize(("data", "line", "labels"), [(*case, "text") for case in CASES] + [
    (*CASES[1], "two"), (*CASES[3], "two"), (*CASES[9], "two"),
])  # fmt: skip
def test_the_model_of_a_trial_takes_raw_samples(folder, data, line, labels):
    where = folder / f"{data}_{labels}.npz"
    settings = compose_one([*line.split(), "dataset=npz", f"dataset.path={where}", "n_jobs=1"])
    saved = read(keep.train(settings, folder / "model.npz"))
    X = load(settings.dataset, folder / "datasets").x_test.reshape(210, -1).astype(np.float64)
    if "edges" in saved.inputs:  # values that lie at an edge, below and above it
        edges = saved.inputs["edges"][:, : len(X)].T
        at = np.where(np.isfinite(edges), edges, 0).astype(np.float32)
        X = np.concatenate([X, at, np.nextafter(at, np.float32(-np.inf)), np.nextafter(at, np.float32(np.inf))])
    elif data == "images":
        X = np.concatenate([X, np.arange(-30, 270).repeat(30).reshape(-1, 30) + 0.25])
    saves, clf = onnx_model.predictor(saved).labels, load_model(folder / "model.npz")
    assert saves.dtype == (np.int64 if labels == "two" else object)
    assert_same(clf, saved, X.astype(np.float32) if "linear" not in line and "products" not in line else X)


def test_labels_have_their_type():
    model = VoteEnsemble(np.zeros(1, np.int32), np.zeros(1), np.array([[1, -1, 1]], np.int8), np.ones(1))
    for labels, dtype in (([3, 5, 9], np.int64), ([0.5, 1.5, 2.0], np.float64), ([1, "a", 2.0], object),
                          ([2**63, 2**64, 1], object), (["x", "y", "漢"], object)):  # fmt: skip
        saved = Saved(model, [str(one) for one in labels], 1, {}, "boostrun.VoteEnsemble/1", labels)
        label, _ = answers(saved, np.array([[1.0], [-1.0]]))
        expected = labels[:2] if dtype is not object else [str(one) for one in labels[:2]]
        assert label.tolist() == expected and label.dtype == dtype
    two = VoteEnsemble(np.zeros(1, np.int32), np.zeros(1), np.array([[1]], np.int8), np.ones(1))
    saved = Saved(two, ["False", "True"], 1, {}, "boostrun.VoteEnsemble/1", [False, True])
    assert answers(saved, np.array([[-1.0], [1.0]]))[0].tolist() == [False, True]


def test_ties_are_broken_as_in_python():
    steps = np.array([[1, 1, -1], [-1, -1, 1]], np.int8)
    model = VoteEnsemble(np.arange(2, dtype=np.int32), np.zeros(2), steps, np.ones(2))
    saved = Saved(model, ["a", "b", "c"], 2, {}, "boostrun.VoteEnsemble/1")
    label, scores = answers(saved, np.array([[1.0, 1.0], [1.0, -1.0]]))
    assert (scores[0] == 0).all() and scores[1, 0] == scores[1, 1] == 2 and label.tolist() == ["a", "a"]
    model = StumpEnsemble(np.array([[0, 1]], np.int32), np.zeros((1, 2)), np.array([[1, -1]], np.int8), np.ones((1, 2)))
    saved = Saved(model, ["a", "b"], 2, {}, "boostrun.StumpEnsemble/1")
    assert answers(saved, np.array([[1.0, 1.0], [-1.0, 1.0]]))[0].tolist() == ["b", "a"]


def test_what_cannot_be_written_is_one_sentence(tmp_path):
    X, y = samples(100)
    X[:, 4] /= 1e6
    stumps = VoteEnsemble(np.zeros(1, np.int32), np.zeros(1), np.array([[1, -1]], np.int8), np.ones(1))
    pieces = read(LINEAR["pieces"].fit(X, y).save(tmp_path / "pieces.npz"))
    hog = Saved(stumps, ["a", "b"], 4, {"kind": np.array("hog")}, "boostrun.VoteEnsemble/1")
    bad = Saved(stumps, ["a", "\udcff"], 4, {}, "boostrun.VoteEnsemble/1")
    none = Saved(VoteEnsemble.empty(3), ["a", "b", "c"], 4, {}, "boostrun.VoteEnsemble/1")
    for saved, said in (
        (pieces, r"pieces cannot be written as ONNX \(columns, codes, stumps, products can\)"),
        (hog, "features=hog cannot be exported: a predictor in ONNX computes raw, linear, products, stumps"),
        (bad, "cannot be a text in ONNX"),
        (none, "nothing to export"),
    ):
        with pytest.raises(BoostrunError, match=said):
            onnx_model.predictor(saved)


def test_a_method_says_whether_it_is_written_as_onnx(monkeypatch):
    theirs = dataclasses.replace(catalogue.methods()["geem"], exports=frozenset({"c", "npz"}))
    monkeypatch.setattr(catalogue, "method", lambda algo: theirs)
    check({"name": "theirs"}, {"name": "raw"})
    with pytest.raises(BoostrunError, match="algo 'theirs' is not written as ONNX; --to npz keeps the model"):
        check({"name": "theirs"}, {"name": "raw"}, "onnx")


SENTENCES = {
    "export algo=geem features=hog --to onnx": "a predictor in ONNX computes raw, linear, products, stumps",
    "export algo=shareboost features=templates -o digits.onnx": "features=templates cannot be exported",
    "export algo=shareboost features=anchors --to onnx": "features=anchors cannot be exported",
    "export algo=knn --to onnx": "algo 'knn' keeps no model of its own",
    "export model.npz --to onnx": "--to onnx needs the package onnx: pip install 'boostrun[onnx]'",
    "export model.npz -o model.onnx": "--to onnx needs the package onnx: pip install 'boostrun[onnx]'",
    "export algo=geem dataset=digits -o model.onnx": "--to onnx needs the package onnx: pip install 'boostrun[onnx]'",
}


@pytest.mark.parametrize("line", SENTENCES)
def test_without_the_package_or_operators_it_is_one_sentence(line, command, workplace, monkeypatch):
    def absent(name, *more, **named):
        if name == "onnx" or name.startswith("onnx."):
            raise ImportError("No module named 'onnx'")
        return real(name, *more, **named)

    X, y = samples(100)
    ReservoirClassifier("geem", reservoir_size=40, n_estimators=3, random_state=0).fit(X, y).save("model.npz")
    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", absent)
    before = set(workplace.iterdir())
    code, out, err = command(line)
    said = [text for text in err.splitlines() if text.startswith("boostrun: ")]
    assert code == 2 and len(said) == 1 and SENTENCES[line] in said[0] and "Traceback" not in out + err
    assert set(workplace.iterdir()) == before


def test_the_command_writes_a_file_that_says_what_it_is(command, folder):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    words = f"algo=wsam r=20 T=9 dataset=npz dataset.path={folder}/numbers_text.npz n_jobs=1"
    code, out, err = command(f"export {words} -o first.onnx")
    assert code == 0, err
    assert "label is (n,), the first of the largest" in out and out.rstrip().endswith("predictor: first.onnx")
    assert command("export first.npz --to onnx -o second.onnx")[0] == 0
    assert command("export first.npz --to onnx")[0] == 0
    assert (folder / "first.onnx").read_bytes() == (folder / "second.onnx").read_bytes()
    model = onnx.load(folder / "first.onnx")
    assert model.producer_name == "boostrun" and model.opset_import[0].version == onnx_model.OPSET
    assert {one.key: one.value for one in model.metadata_props}["kind"] == "boostrun.StumpEnsemble/1"
    session = runtime.InferenceSession(folder / "first.onnx", providers=["CPUExecutionProvider"])
    label, scores = session.run(None, {"X": np.load(folder / "numbers_text.npz")["x_test"].astype(np.float32)})
    (record,) = [json.loads(path.read_text()) for path in (folder / "results" / "runs").rglob("*.json")]
    error = 100 * np.mean(label != np.load(folder / "numbers_text.npz")["y_test"])
    assert record["metrics"]["test_error_pct"] == pytest.approx(error) and scores.shape == (210, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_has_the_operators_as_onnx_has_them(kind):
    """What the tests above rest on where there is no runtime."""
    runtime = pytest.importorskip("onnxruntime")
    values, index = np.array([[1.5, -0.5, 0.0], [2.0, -3.25, 300.0]]), np.array([2, 0])
    inputs, attributes = {
        "Gather": ((values, index), {"axis": 1}), "Cast": ((values >= 0,), {"to": 11}),
        "ReduceSum": ((values, np.array([1])), {"keepdims": 0}), "ArgMax": ((values, ), {"axis": 1, "keepdims": 0}),
        "Squeeze": ((values[:, :1], np.array([1])), {}), "Unsqueeze": ((values, np.array([2])), {}),
        "Where": ((values >= 0, np.array(1.0), values), {}), "Clip": ((values, np.array(0.0), np.array(255.0)), {}),
        "MatMul": ((values, values.T.copy()), {}), "Floor": ((values,), {}), "Identity": ((values,), {}),
    }.get(kind, ((values, values[:, ::-1].copy()), {}))  # fmt: skip
    from onnx import helper, numpy_helper

    operators = Operators()
    name = operators.add(kind, *inputs, **attributes)
    parts = OnnxParts("", np.dtype(np.float64), 3, "", 1, operators, name)
    assert parts.scores in [one.output for one in operators.found]
    constants = [numpy_helper.from_array(array, key) for key, array in operators.constants.items()]
    node = helper.make_node(kind, operators.found[0].inputs, [name], **attributes)
    graph = helper.make_graph([node], "one", [], [helper.make_empty_tensor_value_info(name)], constants)
    model = helper.make_model(
        graph, ir_version=onnx_model.FORMAT, opset_imports=[helper.make_opsetid("", onnx_model.OPSET)]
    )
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(session.run(None, {})[0], KINDS[kind](*inputs, **attributes))
