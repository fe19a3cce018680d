"""The operators of an ONNX model as NumPy has them: those that our writers use, no more."""

import numpy as np

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
