"""Predictors in ONNX: ensembles of stumps and trees as operators, and the whole model.

A stump gathers and compares a column, in a type that holds its threshold exactly; trees are walked level by level, all
at once. Scores are sums in double precision in the order of the runtime.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun import __version__
from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.export.parts import UNITS, OnnxParts, Operators, Saved, X, thresholds_of
from boostrun.methods.declaration import obtain

OPSET, FORMAT = 13, 7  # versions of the operators and of the file, which runtimes since early 2021 read
_INT64, _FLOAT64 = 7, 11  # TensorProto.INT64, TensorProto.DOUBLE


def package():
    """The package onnx; BoostrunError if it is not installed."""
    try:
        import onnx
    except ImportError:
        raise BoostrunError("--to onnx needs the package onnx: pip install 'boostrun[onnx]'") from None
    return onnx


class Predictor(NamedTuple):
    """Parts with operators for the labels: the names of ``label`` (n,) and ``scores`` (n, width), and ``labels``
    (classes,) of int64, float64, bool, or object of text.
    """

    parts: OnnxParts
    label: str
    scores: str
    width: int
    labels: np.ndarray


def predictor(saved: Saved) -> Predictor:
    """All operators of a saved model; BoostrunError, one sentence, if it cannot be written as ONNX."""
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
        if parts.n_scores > width:  # the others belong to classes without training samples
            scores = operators.add("Gather", scores, np.arange(width), axis=1)
        number = operators.add("ArgMax", scores, axis=1, keepdims=0)  # the first of equals
        if len(labels) == 2:
            first, second = (operators.add("Gather", scores, np.array([one]), axis=1) for one in (0, 1))
            scores, width = operators.add("Sub", second, first), 1
    label = operators.add("Gather", labels, number, axis=0)
    return Predictor(parts, label, operators.add("Identity", scores), width, labels)


def model_proto(saved: Saved):
    """An ``onnx.ModelProto`` from ``X`` (n, d) to ``label`` (n,) and ``scores`` (n, 1) or (n, classes) float64.

    They are those of ``predict`` and ``decision_function``. ``X`` is float32, or float64 if comparisons or sums need
    it; ``label`` has the type of the classes: int64, float64, bool or text. Scores equal those of Python up to the
    rounding of sums in the order of the runtime. The last predictor of a path is written. Raises BoostrunError, one
    sentence, if the model cannot be written, or the package onnx is not installed.
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
        raise BoostrunError(f"the class {name!r} cannot be a text in ONNX; use --to c") from None
    return np.array(saved.classes, dtype=object)


def _head(parts: OnnxParts, width: int) -> str:
    rule = "the second class where the score is at least 0" if width == 1 else "the first of the largest"
    return (
        f"A predictor written by boostrun {__version__}: {parts.what}. X is {parts.x_type} (n, {parts.x_size}): "
        f"{parts.x_text}. label is (n,), {rule}; scores are (n, {width}), double precision, without a unit."
    )


_TYPES = {"double": np.float64, "float": np.float32, "unsigned char": np.float32}


class Compared(NamedTuple):
    """``above``, the name of x[features] >= thresholds (n, *features.shape) bool; the type and the meaning of x."""

    above: str
    x_type: np.dtype
    x_text: str


class Exact(NamedTuple):
    """Thresholds ``found`` on X, which has the dtype ``x_type`` and the meaning ``x_text``."""

    found: np.ndarray
    x_type: np.dtype
    x_text: str


def exact(saved: Saved, features: np.ndarray, thresholds: np.ndarray) -> Exact:
    """Thresholds on columns of X, of the shape of ``features``, that are reached exactly if the model's codes are.

    Raises BoostrunError for kinds of inputs without such thresholds.
    """
    units, found = thresholds_of(saved.inputs, features, thresholds, "onnx")
    x_type = np.dtype(_TYPES[units])
    if units == "unsigned char":  # other numbers are rounded down and clipped to bytes
        found = np.where(found <= 0, -np.inf, np.where(found > 255, np.inf, found))
    return Exact(found.astype(x_type), x_type, saved.meaning(UNITS[units]))


def columns_of(operators: Operators, saved: Saved, x_type: np.dtype) -> str:
    """The name of X (n, width) with all columns of the model: those of raw samples, and those for missing values."""
    missing = saved.missing
    if not len(missing):
        return X
    unknown = operators.add("IsNaN", X)
    some = operators.add("Gather", unknown, missing, axis=1)
    if "means" in saved.inputs:
        first = operators.add("Where", unknown, saved.inputs["means"].astype(x_type), X)
        return operators.add("Concat", first, operators.add("Cast", some, to=_FLOAT64), axis=1)
    first = operators.add("Where", unknown, np.array(-np.inf, x_type), X)
    copies = operators.add("Gather", X, missing, axis=1)
    copies = operators.add("Where", some, np.array(np.inf, x_type), copies)
    return operators.add("Concat", first, copies, axis=1)


def compare(operators: Operators, saved: Saved, features: np.ndarray, thresholds: np.ndarray) -> Compared:
    """Compare columns of X with thresholds of the same shape, exactly as the model does; raises as :func:`exact`."""
    found, x_type, x_text = exact(saved, features, thresholds)
    columns = operators.add("Gather", columns_of(operators, saved, x_type), features.astype(np.int64), axis=1)
    return Compared(operators.add("GreaterOrEqual", columns, found), x_type, x_text)


def signs(operators: Operators, above: str) -> str:
    """+1.0 if ``above``, else -1.0."""
    return operators.add("Where", above, np.array(1.0), np.array(-1.0))


def stump_ensemble(saved: Saved) -> OnnxParts:
    """A StumpEnsemble as operators."""
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
    return OnnxParts(what, compared.x_type, saved.raw_width, compared.x_text, k, operators, scores)


def vote_ensemble(saved: Saved) -> OnnxParts:
    """A VoteEnsemble as operators."""
    model = saved.model
    steps = model.alphas[:, None] * model.votes
    return for_all_classes(saved, steps, None, f"with votes for {steps.shape[1]} scores")


def for_all_classes(saved: Saved, steps: np.ndarray, base: np.ndarray | None, how: str) -> OnnxParts:
    """Operators for base[k] + sum_t steps[t, k] phi_t(x), as :func:`boostrun.export.c.for_all_classes`."""
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
        what, compared.x_type, saved.raw_width, compared.x_text, steps.shape[1], operators, scores
    )  # fmt: skip


def _some(features: np.ndarray) -> np.ndarray:
    if not features.size:
        raise BoostrunError("the model holds no stump: there is nothing to export")
    return features


def tree_ensemble(saved: Saved) -> OnnxParts:
    """A TreeEnsemble as operators."""
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
    return OnnxParts(what, thresholds.x_type, saved.raw_width, thresholds.x_text, k, operators, scores)
