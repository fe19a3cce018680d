"""The operators of an ONNX model in their order, and what each kind of model gives to its ONNX file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

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
