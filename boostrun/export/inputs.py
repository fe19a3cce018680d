"""From raw attributes or an image to what a model takes, for its predictor in C or ONNX.

See :mod:`boostrun.methods.preparation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import Method

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


def kind_of(inputs: Mapping[str, np.ndarray], allowed: tuple[str, ...], form: str = "c") -> str:
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
    kind = kind_of(inputs, ("pixels", "edges"), form)
    if kind == "":
        return "double", thresholds.astype(np.float64)
    codes = np.clip(np.ceil(thresholds), 0, 256).astype(np.int64)
    if kind == "pixels":
        return "unsigned char", codes
    edges = inputs["edges"]
    found = edges[features, np.clip(codes - 1, 0, edges.shape[1] - 1)]
    found = np.where(codes > edges.shape[1], np.float32(np.inf), np.where(codes <= 0, np.float32(-np.inf), found))
    return "float", found.astype(np.float32)
