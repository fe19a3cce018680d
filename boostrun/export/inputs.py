"""From raw attributes or an image to what a model takes, for its predictor in C.

See :mod:`boostrun.methods.preparation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.errors import BoostrunError

GIVEN = "attributes as the classifier was given them, finite numbers"
IN_UNITS = "attributes in the units of the data set, finite numbers"
PIXELS = "pixels (or attributes) from 0 to 255, row by row"
UNITS = {"double": GIVEN, "float": IN_UNITS, "unsigned char": PIXELS}  # of x, where stumps look at it


def check(algo: Mapping[str, Any], features: Mapping[str, Any]) -> None:
    """Refuse what no predictor in C computes, before it is trained; raises BoostrunError with one sentence.

    >>> check({"name": "geem"}, {"name": "hog"})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: features=hog cannot be exported: a predictor in C computes raw, linear, products, ...
    """
    name, method = features.get("pipeline") or features["name"], catalogue.method(algo)
    if name not in method.in_c:
        can = _computing(name)
        which = f"algo '{algo['name']}' on features={name}" if can else f"features={name}"
        raise BoostrunError(f"{which} cannot be exported: {can or _computed()}; --to npz keeps the model")


def kind_of(inputs: Mapping[str, np.ndarray], allowed: tuple[str, ...]) -> str:
    """The kind of inputs, "" where there are none; raises BoostrunError for one that is not among ``allowed``."""
    kind = str(inputs["kind"]) if inputs else ""
    if kind not in ("", *allowed):
        raise BoostrunError(f"this model of features={kind} cannot be exported: {_computing(kind) or _computed()}")
    return kind


def _computing(pipeline: str) -> str:
    """The methods whose predictors in C compute the features of a pipeline, for a sentence; "" where there is none."""
    found = [name for name, one in catalogue.methods().items() if "c" in one.exports and pipeline in one.in_c]
    return f"{', '.join(found)} can" if found else ""


def _computed() -> str:
    """The pipelines that any of them computes, for a sentence."""
    found = {name for one in catalogue.methods().values() if "c" in one.exports for name in one.in_c}
    return f"a predictor in C computes {', '.join(name for name in catalogue.pipelines() if name in found)}"


def thresholds_of(
    inputs: Mapping[str, np.ndarray], features: np.ndarray, thresholds: np.ndarray
) -> tuple[str, np.ndarray]:
    """(C type of x, thresholds on x in that type): x[feature] >= threshold exactly where the model's codes say so.

    ``features`` and ``thresholds`` have one shape. Thresholds of bytes are whole numbers from 0 (always) to 256
    (never); others may be infinite.
    """
    kind = kind_of(inputs, ("pixels", "edges"))
    if kind == "":
        return "double", thresholds.astype(np.float64)
    codes = np.clip(np.ceil(thresholds), 0, 256).astype(np.int64)
    if kind == "pixels":
        return "unsigned char", codes
    edges = inputs["edges"]
    found = edges[features, np.clip(codes - 1, 0, edges.shape[1] - 1)]
    found = np.where(codes > edges.shape[1], np.float32(np.inf), np.where(codes <= 0, np.float32(-np.inf), found))
    return "float", found.astype(np.float32)
