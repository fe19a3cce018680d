"""Models in ONNX: labels, ties, models that cannot be written, the file of the command, and the operators in NumPy."""

import builtins
import dataclasses
import json

import numpy as np
import pytest

from boostrun import BoostrunError, ReservoirClassifier, StumpEnsemble, VoteEnsemble
from boostrun.config import catalogue
from boostrun.export import Saved, read
from boostrun.export import onnx as onnx_model
from boostrun.export.parts import OnnxParts, Operators, check
from tests.export.operators_in_numpy import KINDS, answers
from tests.export.test_classifiers import LINEAR, samples


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


def test_without_the_package_or_operators_it_is_one_sentence(command, workplace, monkeypatch):
    def absent(name, *more, **named):
        if name == "onnx" or name.startswith("onnx."):
            raise ImportError("No module named 'onnx'")
        return real(name, *more, **named)

    X, y = samples(100)
    ReservoirClassifier("geem", reservoir_size=40, n_estimators=3, random_state=0).fit(X, y).save("model.npz")
    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", absent)
    before = set(workplace.iterdir())
    for line, sentence in SENTENCES.items():
        code, out, err = command(line)
        said = [text for text in err.splitlines() if text.startswith("boostrun: ")]
        assert code == 2 and len(said) == 1 and sentence in said[0] and "Traceback" not in out + err, line
        assert set(workplace.iterdir()) == before


@pytest.fixture
def numbers(workplace):
    """90 training and 210 test samples of five numbers in three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    x, labels = rng.normal(size=(300, 5)) + 1.5 * y[:, None] * [1, -1, 0, 0, 1], np.array(["red", "green", "é"])[y]
    np.savez("numbers.npz", x_train=x[:90], y_train=labels[:90], x_test=x[90:], y_test=labels[90:])
    return workplace


def test_the_command_writes_a_file_that_says_what_it_is(command, numbers):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    words = "algo=wsam r=20 T=9 dataset=npz dataset.path=numbers.npz n_jobs=1"
    code, out, err = command(f"export {words} -o first.onnx")
    assert code == 0, err
    assert "label is (n,), the first of the largest" in out and out.rstrip().endswith("predictor: first.onnx")
    assert command("export first.npz --to onnx -o second.onnx")[0] == 0
    assert command("export first.npz --to onnx")[0] == 0
    assert (numbers / "first.onnx").read_bytes() == (numbers / "second.onnx").read_bytes()
    model = onnx.load(numbers / "first.onnx")
    assert model.producer_name == "boostrun" and model.opset_import[0].version == onnx_model.OPSET
    assert {one.key: one.value for one in model.metadata_props}["kind"] == "boostrun.StumpEnsemble/1"
    session = runtime.InferenceSession(numbers / "first.onnx", providers=["CPUExecutionProvider"])
    label, scores = session.run(None, {"X": np.load("numbers.npz")["x_test"].astype(np.float32)})
    (record,) = [json.loads(path.read_text()) for path in (numbers / "results" / "runs").rglob("*.json")]
    error = 100 * np.mean(label != np.load("numbers.npz")["y_test"])
    assert record["metrics"]["test_error_pct"] == pytest.approx(error) and scores.shape == (210, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_has_the_operators_as_onnx_has_them(kind):
    """Check the operators in NumPy, on which the tests above rely if no runtime is installed."""
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
