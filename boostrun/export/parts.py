"""Saved models to export, and the parts of a predictor in C or ONNX that the writer of a kind of model returns.

A writer takes a :class:`Saved` model and returns :class:`ProgramParts` for C, or :class:`OnnxParts` for ONNX.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.methods.archive import kind_of
from boostrun.methods.declaration import Method, obtain
from boostrun.methods.saved import facts_of

GIVEN = "attributes as the classifier was given them, finite numbers"
IN_UNITS = "attributes in the units of the data set, finite numbers"
PIXELS = "pixels (or attributes) from 0 to 255, row by row"
UNITS = {"double": GIVEN, "float": IN_UNITS, "unsigned char": PIXELS}  # C type of x that stumps compare -> meaning
LANGUAGES = {"c": "C", "onnx": "ONNX"}  # value of --to -> name
X = "X"  # name of the samples (n, d) in ONNX


@dataclass
class Saved:
    """The content of a model file.

    Attributes
    ----------
    model : object that the class of its kind has loaded
    classes : list of str, the name of each class number.
    n_features : int, columns that the model itself takes.
    inputs : dict of arrays by name, see :func:`boostrun.methods.preparation.bank_inputs`; empty if the model takes raw
        samples.
    kind : str, kind of the file, one of the ``models`` that papers declare.
    labels : list, the classes in their type: numbers, bools or text; empty if only their names are known.
    """

    model: Any
    classes: list[str]
    n_features: int
    inputs: Mapping[str, np.ndarray]
    kind: str
    labels: list[Any] = field(default_factory=list)

    @property
    def missing(self) -> np.ndarray:
        """(m,) int64, raw columns that may have missing values; the model has a second column for each."""
        return self.inputs.get("missing", np.empty(0, np.int64)) if self.inputs else np.empty(0, np.int64)

    @property
    def raw_width(self) -> int:
        """Columns of a raw sample, if the model takes each of them, and second columns for missing values."""
        return self.n_features - len(self.missing)

    @property
    def of_pixels(self) -> bool:
        """Whether the samples are bytes."""
        return bool(self.inputs) and str(self.inputs["kind"]) == "pixels"

    def meaning(self, text: str) -> str:
        """``text``, the meaning of x, with NaN for missing values if the model has seen any."""
        more = ", or NaN where one is missing" if len(self.missing) else ""
        return text.replace("finite numbers", f"finite numbers{more}")


def read(path: str | Path) -> Saved:
    """Read a file that a classifier's ``save``, or ``boostrun export ... --to npz``, has written. Never unpickles.

    Raises BoostrunError if there is no such file, it is not a saved model, or it lacks the classes.
    """
    kind = kind_of(path)
    declared = catalogue.models().get(kind)
    if declared is None:
        missing = catalogue.missing(kind)
        raise BoostrunError(
            f"{path} holds {kind}, which is no model that can be exported{missing}"
            + (": --integer exports an IBoost committee, no other stream learner" if "StreamState" in kind else "")
        )
    model, extra = obtain(declared.target).load(path)
    facts = facts_of(extra, path)
    labels = facts.classes.tolist()
    return Saved(model, [str(label) for label in labels], facts.n_features, facts.inputs, kind, labels)


@dataclass
class ProgramParts:
    """The parts of a predictor in C.

    Attributes
    ----------
    what : str, a description of the model.
    x_type, x_size, x_text : str, int, str: C type, length and meaning of the array x.
    n_scores : int, length of the array of scores.
    code : str, tables and static functions, and ``void scores(const x_type *x, double *out)``.
    counted : int, multiply-adds of a prediction as counted in records.
    runs : int, the most multiply-adds that the code does.
    notes : str, the contents of these numbers.
    in_blocks : bool, whether ``code`` has ``scores_of`` for several samples too, see :func:`.c.split_program`.
    """

    what: str
    x_type: str
    x_size: int
    x_text: str
    n_scores: int
    code: str
    counted: int
    runs: int
    notes: str
    in_blocks: bool = False


class Operator(NamedTuple):
    """An operator of ONNX: its ``kind``, the names of its inputs and of its output, and its attributes."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


class Operators:
    """A list of operators, each after those whose outputs it takes.

    Attributes: ``found``, list of :class:`Operator`; ``constants``, arrays by name.

    >>> operators = Operators()
    >>> operators.add("Gather", X, np.array([3, 1]), axis=1)
    'gather_0'
    >>> operators.add("MatMul", "gather_0", np.ones((2, 4)))
    'matmul_1'
    >>> operators.found[1].inputs, operators.constants["constant_1"].shape
    (('gather_0', 'constant_1'), (2, 4))
    """

    def __init__(self) -> None:
        self.found: list[Operator] = []
        self.constants: dict[str, np.ndarray] = {}

    def add(self, kind: str, *inputs: str | np.ndarray, **attributes: Any) -> str:
        """Add an operator and return the name of its output; arrays among ``inputs`` become constants."""
        names = tuple(one if isinstance(one, str) else self._constant(one) for one in inputs)
        output = f"{kind.lower()}_{len(self.found)}"
        self.found.append(Operator(kind, names, output, attributes))
        return output

    def _constant(self, array: np.ndarray) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = array
        return name


@dataclass
class OnnxParts:
    """The parts of a predictor in ONNX.

    Attributes
    ----------
    what : str, a description of the model.
    x_type : dtype of the samples X: float32, or float64 if that changes predictions.
    x_size, x_text : int, str: columns of X and their meaning.
    n_scores : int, columns of the scores.
    operators : Operators that compute the scores.
    scores : str, the name of their output with the scores (n, n_scores), float64.
    """

    what: str
    x_type: np.dtype
    x_size: int
    x_text: str
    n_scores: int
    operators: Operators
    scores: str


def check(algo: Mapping[str, Any], features: Mapping[str, Any], form: str = "c") -> None:
    """Raise BoostrunError with one sentence, before training, for settings whose model has no predictor in ``form``.

    >>> check({"name": "geem"}, {"name": "hog"})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: features=hog cannot be exported: a predictor in C computes raw, linear, products, ...
    """
    name, method = features.get("pipeline") or features["name"], catalogue.method(algo)
    if form not in method.exports:
        raise BoostrunError(f"algo '{algo['name']}' is not written as {LANGUAGES[form]}; --to npz keeps the model")
    if name not in _pipelines(method, form):
        can = _methods_on(name, form)
        which = f"algo '{algo['name']}' on features={name}" if can else f"features={name}"
        raise BoostrunError(f"{which} cannot be exported: {can or _all_pipelines(form)}; --to npz keeps the model")


def kind_of_input(inputs: Mapping[str, np.ndarray], allowed: tuple[str, ...], form: str = "c") -> str:
    """The kind of inputs, "" for raw numbers; raises BoostrunError for a kind that is not ``allowed``."""
    kind = str(inputs["kind"]) if inputs else ""
    if kind == "numbers":
        return ""
    if kind not in ("", *allowed):
        can = _methods_on(kind, form) or _all_pipelines(form)
        raise BoostrunError(f"this model of features={kind} cannot be exported: {can}")
    return kind


def _pipelines(method: Method, form: str) -> frozenset[str]:
    return (method.in_c if form == "c" else method.in_onnx) if form in method.exports else frozenset()


_SHOWN = 5  # methods in a sentence


def _methods_on(pipeline: str, form: str) -> str:
    """The methods whose predictors compute a pipeline, for a sentence; "" if there are none."""
    found = [name for name, one in catalogue.methods().items() if pipeline in _pipelines(one, form)]
    more = [f"{len(found) - _SHOWN} others"] * (len(found) > _SHOWN + 1)
    return f"{', '.join([*found[: _SHOWN if more else None], *more])} can" if found else ""


def _all_pipelines(form: str) -> str:
    """The pipelines that predictors compute, for a sentence."""
    found = {name for one in catalogue.methods().values() for name in _pipelines(one, form)}
    names = ", ".join(name for name in catalogue.pipelines() if name in found)
    return f"a predictor in {LANGUAGES[form]} computes {names}"


def thresholds_of(
    inputs: Mapping[str, np.ndarray], features: np.ndarray, thresholds: np.ndarray, form: str = "c"
) -> tuple[str, np.ndarray]:
    """(C type of x, thresholds on x in that type) with x[feature] >= threshold exactly if the model's codes say so.

    ``features`` and ``thresholds`` have one shape. Thresholds on bytes are whole numbers from 0 (always) to 256
    (never); others may be infinite.
    """
    filled = bool(inputs) and str(inputs["kind"]) == "scaled"  # with means in place of missing values
    as_given = filled and (inputs["factor"] == 1).all() and not inputs["shift"].any()
    kind = "" if as_given else kind_of_input(inputs, ("pixels", "edges"), form)
    if kind == "":
        return "double", thresholds.astype(np.float64)
    codes = np.clip(np.ceil(thresholds), 0, 256).astype(np.int64)
    if kind == "pixels":
        return "unsigned char", codes
    edges = inputs["edges"]
    found = edges[features, np.clip(codes - 1, 0, edges.shape[1] - 1)]
    found = np.where(codes > edges.shape[1], np.inf, np.where(codes <= 0, -np.inf, found))
    return ("double" if edges.dtype == np.float64 else "float"), found.astype(edges.dtype)


def rounding_to(thresholds: np.ndarray) -> np.ndarray:
    """The least double that rounds to at least each single-precision threshold.

    >>> edge = rounding_to(np.array([0.1], np.float32))
    >>> np.float32(edge) >= np.float32(0.1), np.float32(np.nextafter(edge, 0.0)) >= np.float32(0.1)
    (array([ True]), array([False]))
    """
    exact = np.asarray(thresholds, np.float32)
    with np.errstate(over="ignore"):  # below the least number is -inf
        below = np.nextafter(exact, np.float32(-np.inf))
    middle = (below.astype(np.float64) + exact.astype(np.float64)) / 2.0
    return np.where(middle.astype(np.float32) >= exact, middle, np.nextafter(middle, np.inf))
