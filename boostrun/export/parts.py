"""What each kind of model gives to its C file.

From raw attributes or an image to what a model takes, for its predictor in C or ONNX.

See :mod:`boostrun.methods.preparation`.
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


@dataclass
class Saved:
    """What a model file holds.

    Attributes
    ----------
    model : what the class that its kind names has loaded
    classes : list of str, the name of each class number that is predicted.
    n_features : int, columns that the model itself takes.
    inputs : dict of arrays by name, as :func:`boostrun.methods.preparation.bank_inputs` made them; empty if the model
        takes raw samples.
    kind : str, what the file says that it holds: one of the ``models`` that papers declare.
    labels : list, the classes as they were given in training: numbers, bools or text; empty where only their names are
        known.
    """

    model: Any
    classes: list[str]
    n_features: int
    inputs: Mapping[str, np.ndarray]
    kind: str
    labels: list[Any] = field(default_factory=list)


def read(path: str | Path) -> Saved:
    """Read what any classifier's ``save``, or ``boostrun export ... --to npz``, has written. Never unpickles.

    Raises BoostrunError where there is no such file, it is none of ours, or it does not say what its classes are.
    """
    kind = kind_of(path)
    declared = catalogue.models().get(kind)
    if declared is None:
        missing = catalogue.missing(kind)
        raise BoostrunError(f"{path} holds {kind}, which is no model that can be exported{missing}")
    model, extra = obtain(declared.target).load(path)
    facts = facts_of(extra, path)
    labels = facts.classes.tolist()
    return Saved(model, [str(label) for label in labels], facts.n_features, facts.inputs, kind, labels)


@dataclass
class ProgramParts:
    """The inside of a predictor.

    Attributes
    ----------
    what : str, the model in words.
    x_type, x_size, x_text : str, int, str: type, length and meaning of the array that is predicted.
    n_scores : int, length of the array of scores.
    code : str, tables and static functions, and ``void scores(const x_type *x, double *out)``.
    counted : int, multiply-adds of a prediction as the project's records count them.
    runs : int, multiply-adds that the code does, at most.
    notes : str, what those numbers hold and leave out.
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


GIVEN = "attributes as the classifier was given them, finite numbers"
IN_UNITS = "attributes in the units of the data set, finite numbers"
PIXELS = "pixels (or attributes) from 0 to 255, row by row"
LANGUAGES = {"c": "C", "onnx": "ONNX"}  # by the word of --to
UNITS = {"double": GIVEN, "float": IN_UNITS, "unsigned char": PIXELS}  # of x, where stumps look at it


def check(algo: Mapping[str, Any], features: Mapping[str, Any], form: str = "c") -> None:
    """Refuse what no predictor in C, or ONNX, computes, before it is trained; raises BoostrunError with one sentence.

    >>> check({"name": "geem"}, {"name": "hog"})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: features=hog cannot be exported: a predictor in C computes raw, linear, products, ...
    """
    name, method = features.get("pipeline") or features["name"], catalogue.method(algo)
    if form not in method.exports:
        raise BoostrunError(f"algo '{algo['name']}' is not written as {LANGUAGES[form]}; --to npz keeps the model")
    if name not in _pipelines(method, form):
        can = _computing(name, form)
        which = f"algo '{algo['name']}' on features={name}" if can else f"features={name}"
        raise BoostrunError(f"{which} cannot be exported: {can or _computed(form)}; --to npz keeps the model")


def kind_of_input(inputs: Mapping[str, np.ndarray], allowed: tuple[str, ...], form: str = "c") -> str:
    """The kind of inputs, "" where there are none; raises BoostrunError for one that is not among ``allowed``."""
    kind = str(inputs["kind"]) if inputs else ""
    if kind not in ("", *allowed):
        raise BoostrunError(
            f"this model of features={kind} cannot be exported: {_computing(kind, form) or _computed(form)}"
        )
    return kind


def _pipelines(method: Method, form: str) -> frozenset[str]:
    return (method.in_c if form == "c" else method.in_onnx) if form in method.exports else frozenset()


def _computing(pipeline: str, form: str) -> str:
    """The methods whose predictors compute the features of a pipeline, for a sentence; "" where there is none."""
    found = [name for name, one in catalogue.methods().items() if pipeline in _pipelines(one, form)]
    return f"{', '.join(found)} can" if found else ""


def _computed(form: str) -> str:
    """The pipelines that any of them computes, for a sentence."""
    found = {name for one in catalogue.methods().values() for name in _pipelines(one, form)}
    names = ", ".join(name for name in catalogue.pipelines() if name in found)
    return f"a predictor in {LANGUAGES[form]} computes {names}"


def thresholds_of(
    inputs: Mapping[str, np.ndarray], features: np.ndarray, thresholds: np.ndarray, form: str = "c"
) -> tuple[str, np.ndarray]:
    """(C type of x, thresholds on x in that type): x[feature] >= threshold exactly where the model's codes say so.

    ``features`` and ``thresholds`` have one shape. Thresholds of bytes are whole numbers from 0 (always) to 256
    (never); others may be infinite.
    """
    kind = kind_of_input(inputs, ("pixels", "edges"), form)
    if kind == "":
        return "double", thresholds.astype(np.float64)
    codes = np.clip(np.ceil(thresholds), 0, 256).astype(np.int64)
    if kind == "pixels":
        return "unsigned char", codes
    edges = inputs["edges"]
    found = edges[features, np.clip(codes - 1, 0, edges.shape[1] - 1)]
    found = np.where(codes > edges.shape[1], np.float32(np.inf), np.where(codes <= 0, np.float32(-np.inf), found))
    return "float", found.astype(np.float32)


X = "X"  # what a model is given: samples (n, d)


class Operator(NamedTuple):
    """``kind`` as ONNX calls it; names of what it takes and of what it gives."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


class Operators:
    """Operators, each after those whose results it takes.

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
        """One more operator; the name of its result. An array among ``inputs`` becomes a constant."""
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
    """The inside of a predictor in ONNX.

    Attributes
    ----------
    what : str, the model in words.
    x_type : dtype of the samples X: float32, or float64 where that decides a prediction.
    x_size, x_text : int, str: columns of X and what they mean.
    n_scores : int, columns of the scores.
    operators : Operators, that compute the scores.
    scores : str, the name of the scores (n, n_scores) among their results: float64.
    """

    what: str
    x_type: np.dtype
    x_size: int
    x_text: str
    n_scores: int
    operators: Operators
    scores: str
