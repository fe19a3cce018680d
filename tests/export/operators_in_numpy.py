"""The operators of an ONNX model in NumPy: those that our writers use, no more; and answers by them."""

import numpy as np

from boostrun.export.onnx import model_proto, predictor
from boostrun.export.parts import X

_TYPES = {7: np.int64, 11: np.float64}  # TensorProto.INT64, DOUBLE
KINDS = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "MatMul": np.matmul, "Floor": np.floor,
    "GreaterOrEqual": np.greater_equal, "Where": np.where, "Clip": np.clip, "Identity": np.asarray,
    "Gather": np.take, "GatherElements": np.take_along_axis,
    "Cast": lambda data, to: data.astype(_TYPES[to]),
    "ReduceSum": lambda data, axes, keepdims: data.sum(axis=tuple(axes), keepdims=bool(keepdims)),
    "ArgMax": lambda data, axis, keepdims: data.argmax(axis=axis, keepdims=bool(keepdims)),
    "Squeeze": lambda data, axes: np.squeeze(data, tuple(axes)),
    "IsNaN": np.isnan,
    "Reshape": np.reshape,
    "Concat": lambda *parts, axis: np.concatenate(parts, axis=axis),
    "Unsqueeze": lambda data, axes: np.expand_dims(data, tuple(axes)),
}  # fmt: skip


def run(predictor, samples):
    """(label, scores) of samples (n, d)."""
    values = {X: samples.astype(predictor.parts.x_type), **predictor.parts.operators.constants}
    for one in predictor.parts.operators.found:
        taken = [values[name] for name in one.inputs]
        if one.kind not in ("Gather", "GatherElements", "Cast", "Where"):  # ONNX converts nothing
            assert len({value.dtype for value in taken if value.dtype != np.int64}) <= 1, one
        values[one.output] = KINDS[one.kind](*taken, **one.attributes)
    return values[predictor.label], values[predictor.scores]


def answers(saved, samples):
    """(label, scores) of samples (n, d) by the operators, and by onnxruntime if it is installed; both are the same."""
    made = predictor(saved)
    label, scores = run(made, samples)
    try:
        import onnxruntime
    except ImportError:
        return label, scores
    session = onnxruntime.InferenceSession(model_proto(saved).SerializeToString(), providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_outputs()] == ["label", "scores"]
    theirs, of_theirs = session.run(None, {X: samples.astype(made.parts.x_type)})
    assert of_theirs.dtype == np.float64 and theirs.dtype == label.dtype
    np.testing.assert_allclose(of_theirs, scores, rtol=1e-11, atol=1e-11 * np.abs(scores).max())
    np.testing.assert_array_equal(theirs, label)
    return theirs, of_theirs


def assert_same(clf, saved, samples):
    """The operators of a saved model give the labels and scores of a classifier."""
    label, scores = answers(saved, samples)
    expected = clf.decision_function(samples)
    assert scores.shape == (len(samples), 1 if expected.ndim == 1 else expected.shape[1])
    np.testing.assert_allclose(scores, expected.reshape(scores.shape), rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_array_equal(label, clf.predict(samples))
