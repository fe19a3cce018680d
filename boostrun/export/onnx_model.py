"""The whole ONNX file of a saved model: samples ``X`` to ``label`` and ``scores``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain

from .. import __version__
from .operators import OnnxParts, X
from .saved import Saved

OPSET, FORMAT = 13, 7  # of the operators and of the file: what runtimes read since early 2021
_INT64 = 7  # TensorProto.INT64


def package():
    """The package onnx; BoostrunError where it is not installed."""
    try:
        import onnx
    except ImportError:
        raise BoostrunError("--to onnx needs the package onnx: pip install 'boostrun[onnx]'") from None
    return onnx


class Predictor(NamedTuple):
    """Parts whose operators give the answers too: names of ``label`` (n,) and of ``scores`` (n, width), and ``labels``,
    (classes,) int64, float64, bool, or object of text.
    """

    parts: OnnxParts
    label: str
    scores: str
    width: int
    labels: np.ndarray


def predictor(saved: Saved) -> Predictor:
    """All operators of a saved model; BoostrunError, one sentence, for what cannot be written as ONNX."""
    writer = catalogue.models()[saved.kind].onnx
    if not writer:
        can = ", ".join(kind for kind, model in catalogue.models().items() if model.onnx)
        raise BoostrunError(f"{saved.kind} cannot be written as ONNX ({can} can); --to c makes a predictor of it")
    parts: OnnxParts = obtain(writer)(saved)
    operators, scores, labels = parts.operators, parts.scores, _labels(saved)
    width = min(parts.n_scores, len(labels))
    if parts.n_scores == 1:
        number = operators.add("Cast", operators.add("GreaterOrEqual", scores, np.array(0.0)), to=_INT64)
        number = operators.add("Squeeze", number, np.array([1]))
    else:
        if parts.n_scores > width:  # those of classes that had no training sample
            scores = operators.add("Gather", scores, np.arange(width), axis=1)
        number = operators.add("ArgMax", scores, axis=1, keepdims=0)  # the first of equals
        if len(labels) == 2:
            first, second = (operators.add("Gather", scores, np.array([one]), axis=1) for one in (0, 1))
            scores, width = operators.add("Sub", second, first), 1
    label = operators.add("Gather", labels, number, axis=0)
    return Predictor(parts, label, operators.add("Identity", scores), width, labels)


def of(saved: Saved):
    """``onnx.ModelProto`` that takes ``X`` (n, d) and gives ``label`` (n,) and ``scores``, as ``predict`` and
    ``decision_function`` do: (n, 1) where the latter is (n,), (n, classes) otherwise, float64.

    ``X`` is float32, or float64 where comparisons or sums are of float64; ``label`` has the type of the classes: int64,
    float64, bool or text. Scores equal those of Python but for the rounding of sums, whose order is the runtime's. Of a
    path the last predictor is written. Raises BoostrunError, one sentence, for what cannot be written, or where the
    package onnx is not installed.
    """
    parts, label, scores, width, labels = predictor(saved)
    onnx = package()
    make, number = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype
    called = {label: "label", scores: "scores"}
    nodes = [
        make.make_node(one.kind, one.inputs, [called.get(one.output, one.output)], **one.attributes)
        for one in parts.operators.found
    ]
    describe = make.make_tensor_value_info
    graph = make.make_graph(
        nodes, "predictor", [describe(X, number(parts.x_type), ["n", parts.x_size], parts.x_text)],
        [describe("label", number(labels.dtype), ["n"]), describe("scores", number(np.dtype(float)), ["n", width])],
        [onnx.numpy_helper.from_array(array, name) for name, array in parts.operators.constants.items()],
    )  # fmt: skip
    model = make.make_model(
        graph, ir_version=FORMAT, opset_imports=[make.make_opsetid("", OPSET)], producer_name="boostrun",
        producer_version=__version__, doc_string=_head(parts, width),
    )  # fmt: skip
    inputs = str(saved.inputs["kind"]) if saved.inputs else "as given"
    make.set_model_props(model, {"boostrun": __version__, "kind": saved.kind, "inputs": inputs})
    onnx.checker.check_model(model)
    return model


def _labels(saved: Saved) -> np.ndarray:
    """(n_classes,) int64, float64, bool, or object of str."""
    found = np.array(saved.labels) if len(saved.labels) else np.array(saved.classes)
    if len({type(one) for one in saved.labels}) <= 1:
        if found.dtype.kind == "b":
            return found
        if found.dtype.kind in "iu" and np.array_equal(found.astype(np.int64), found):
            return found.astype(np.int64)
        if found.dtype.kind == "f":
            return found.astype(np.float64)
    try:
        for name in saved.classes:
            name.encode()
    except UnicodeEncodeError:
        raise BoostrunError(f"the class {name!r} is no text that ONNX can hold; --to c can") from None
    return np.array(saved.classes, dtype=object)


def _head(parts: OnnxParts, width: int) -> str:
    rule = "the second class where the score is at least 0" if width == 1 else "the first of the largest"
    return (
        f"A predictor written by boostrun {__version__}: {parts.what}. X is {parts.x_type} (n, {parts.x_size}): "
        f"{parts.x_text}. label is (n,), {rule}; scores are (n, {width}), double precision, without a unit."
    )
