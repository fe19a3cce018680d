"""Sums of stumps in ONNX: a row of stumps a class, or stumps with a weight for every class.

A stump is a column gathered and compared, in the type that its threshold is exact in. Scores are sums in double
precision, whose order is the runtime's.

Sums of trees in ONNX: all trees go down a level at a time, in the type that thresholds are exact in.

Scores are sums in double precision, whose order is the runtime's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun import __version__
from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.export.c import columns_of, size_of, told
from boostrun.export.parts import UNITS, OnnxParts, Operators, Saved, X, thresholds_of
from boostrun.methods.declaration import obtain

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


_TYPES = {"double": np.float64, "float": np.float32, "unsigned char": np.float32}


class Compared(NamedTuple):
    """``above``, the name of x[features] >= thresholds, (n, *features.shape) bool; type and meaning of x."""

    above: str
    x_type: np.dtype
    x_text: str


class Exact(NamedTuple):
    """Thresholds ``found`` on X, of ``x_type``, which holds what ``x_text`` says."""

    found: np.ndarray
    x_type: np.dtype
    x_text: str


def exact(saved: Saved, features: np.ndarray, thresholds: np.ndarray) -> Exact:
    """Thresholds on columns of X, of the shape of ``features``, that hold exactly where the model's codes do.

    Raises BoostrunError for inputs that no such comparison has the codes of.
    """
    units, found = thresholds_of(saved.inputs, features, thresholds, "onnx")
    x_type = np.dtype(_TYPES[units])
    if units == "unsigned char":  # a number is taken for one: 3.7 for 3, -1 for 0, 300 for 255
        found = np.where(found <= 0, -np.inf, np.where(found > 255, np.inf, found))
    return Exact(found.astype(x_type), x_type, told(saved, UNITS[units]))


def compare(operators: Operators, saved: Saved, features: np.ndarray, thresholds: np.ndarray) -> Compared:
    """Hold columns of X against thresholds, both of one shape, exactly where the model's codes do.

    Raises BoostrunError for inputs that no such comparison has the codes of.
    """
    found, x_type, x_text = exact(saved, features, thresholds)
    columns = operators.add("Gather", columns_of(operators, saved, x_type), features.astype(np.int64), axis=1)
    return Compared(operators.add("GreaterOrEqual", columns, found), x_type, x_text)


def signs(operators: Operators, above: str) -> str:
    """+1.0 where ``above``, else -1.0."""
    return operators.add("Where", above, np.array(1.0), np.array(-1.0))


def stump_ensemble(saved: Saved) -> OnnxParts:
    """The operators of a StumpEnsemble."""
    model = saved.model
    k, rounds = _some(model.features).shape
    if k == 1:
        how = f"boosted stumps, {rounds} for one score"
        return _for_all_classes(saved, model.features[0], model.thresholds[0], model.steps.T, None, how)
    operators = Operators()
    compared = compare(operators, saved, model.features, model.thresholds)
    steps = operators.add("Where", compared.above, model.steps, -model.steps)
    scores = operators.add("ReduceSum", steps, np.array([2]), keepdims=0)
    what = f"boosted stumps, {rounds} for each of {k} scores"
    return OnnxParts(what, compared.x_type, size_of(saved), compared.x_text, k, operators, scores)


def vote_ensemble(saved: Saved) -> OnnxParts:
    """The operators of a VoteEnsemble."""
    model = saved.model
    steps = model.alphas[:, None] * model.votes
    return for_all_classes(saved, steps, None, f"with votes for {steps.shape[1]} scores")


def for_all_classes(saved: Saved, steps: np.ndarray, base: np.ndarray | None, how: str) -> OnnxParts:
    """The operators of base[k] + sum_t steps[t, k] phi_t(x), as :func:`boostrun.export.c.for_all_classes`."""
    model = saved.model
    what = f"{len(steps)} stumps {how}"
    return _for_all_classes(saved, _some(model.features), model.thresholds, steps, base, what)


def _for_all_classes(saved, features, thresholds, steps, base, what) -> OnnxParts:
    operators = Operators()
    compared = compare(operators, saved, features, thresholds)
    scores = operators.add("MatMul", signs(operators, compared.above), np.ascontiguousarray(steps))
    if base is not None:
        scores = operators.add("Add", scores, base)
    return OnnxParts(
        what, compared.x_type, size_of(saved), compared.x_text, steps.shape[1], operators, scores
    )  # fmt: skip


def _some(features: np.ndarray) -> np.ndarray:
    if not features.size:
        raise BoostrunError("the model holds no stump: there is nothing to export")
    return features


def tree_ensemble(saved: Saved) -> OnnxParts:
    """The operators of a TreeEnsemble."""
    model = saved.model
    k, rounds, nodes = model.features.shape
    thresholds = exact(saved, model.features, model.thresholds)
    features, bounds = model.features.reshape(-1).astype(np.int64), thresholds.found.reshape(-1)
    first, one = np.arange(k * rounds, dtype=np.int64), np.array(1, np.int64)
    operators = Operators()
    columns = columns_of(operators, saved, thresholds.x_type)
    asked = operators.add("Gather", columns, features[first * nodes], axis=1)
    above = operators.add("GreaterOrEqual", asked, bounds[first * nodes])
    node = operators.add("Add", operators.add("Cast", above, to=_INT64), one)
    for _ in range(model.depth - 1):
        place = operators.add("Add", node, first * nodes)
        asked = operators.add("GatherElements", columns, operators.add("Gather", features, place, axis=0), axis=1)
        above = operators.add("GreaterOrEqual", asked, operators.add("Gather", bounds, place, axis=0))
        child = operators.add("Add", operators.add("Cast", above, to=_INT64), one)
        node = operators.add("Add", operators.add("Mul", node, np.array(2, np.int64)), child)
    leaf = operators.add("Add", node, first * (nodes + 1) - nodes)
    values = operators.add("Gather", model.leaves.reshape(-1), leaf, axis=0)
    scores = operators.add("MatMul", values, np.repeat(np.eye(k), rounds, axis=0))
    what = f"boosted trees of depth {model.depth}, {rounds} for each of {k} scores"
    return OnnxParts(what, thresholds.x_type, size_of(saved), thresholds.x_text, k, operators, scores)
