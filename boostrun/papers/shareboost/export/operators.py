"""ShareBoost's saved models, and its rivals', in ONNX: features of one or two columns, then a matrix product."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.export.c import columns_of, size_of, told
from boostrun.export.onnx import compare, for_all_classes, signs
from boostrun.export.parts import GIVEN, IN_UNITS, PIXELS, OnnxParts, Operators, Saved
from boostrun.export.parts import kind_of_input as kind_of
from boostrun.papers.shareboost.export.linear import (
    LinearPredictor,
    mixed_norm_predictor,
    one_vs_rest_predictor,
    shared_features_predictor,
)
from boostrun.papers.shareboost.export.shared_stumps import matrix_form

_FLOAT64 = 11  # TensorProto.DOUBLE
_BYTE = (np.array(0, np.float32), np.array(255, np.float32))
_Features = Mapping[str, np.ndarray]
_Computed = tuple[str, type, str]  # the name of the features (n, U) float64; type and meaning of X


def onnx_shared_features(saved: Saved) -> OnnxParts:
    """The operators of SharedFeatures, at the end of its path."""
    if saved.model.kind == "pieces":
        raise BoostrunError(
            f"pieces cannot be written as ONNX ({', '.join(_ONNX_MAKERS)} can); --to c makes a predictor"
        )
    return _onnx_parts(saved, shared_features_predictor(saved.model))


def onnx_one_vs_rest(saved: Saved) -> OnnxParts:
    """The operators of a OneVsRestPath, at its end."""
    return _onnx_parts(saved, one_vs_rest_predictor(saved.model))


def onnx_mixed_norm(saved: Saved) -> OnnxParts:
    """The operators of a MixedNormPath, at its end."""
    return _onnx_parts(saved, mixed_norm_predictor(saved.model))


def onnx_shared_stumps(saved: Saved) -> OnnxParts:
    """The operators of SharedStumps."""
    return for_all_classes(saved, *matrix_form(saved.model))


def _onnx_parts(saved: Saved, predictor: LinearPredictor) -> OnnxParts:
    if not len(predictor.weights):
        raise BoostrunError("the model holds no feature: there is nothing to export")
    operators = Operators()
    features, x_type, x_text = _ONNX_MAKERS[predictor.kind](operators, predictor.features, saved)
    scores = operators.add("MatMul", features, np.ascontiguousarray(predictor.weights))
    scores = operators.add("Add", scores, predictor.base)
    k = predictor.weights.shape[1]
    return OnnxParts(predictor.what, np.dtype(x_type), size_of(saved), x_text, k, operators, scores)


def _onnx_columns(operators: Operators, features: _Features, saved: Saved) -> _Computed:
    scaled, text = _onnx_attributes(operators, features["index"], saved)
    return scaled, np.float64, text


def _onnx_attributes(operators: Operators, index: np.ndarray, saved: Saved) -> tuple[str, str]:
    """X[:, index] float64 as the model takes them, and what they mean."""
    out = operators.add("Gather", columns_of(operators, saved, np.dtype(np.float64)), index, axis=1)
    if not kind_of(saved.inputs, ("scaled",), "onnx"):
        return out, GIVEN
    out = operators.add("Sub", out, saved.inputs["shift"][index])
    return operators.add("Mul", out, saved.inputs["factor"][index]), told(saved, IN_UNITS)


def _onnx_codes(operators: Operators, features: _Features, saved: Saved) -> _Computed:
    index, text = features["index"], PIXELS
    out = operators.add("Gather", columns_of(operators, saved, np.dtype(np.float32)), index, axis=1)
    if kind_of(saved.inputs, ("pixels", "edges"), "onnx") == "edges":
        text = told(saved, IN_UNITS)
        out = operators.add("Unsqueeze", out, np.array([2]))
        out = operators.add("GreaterOrEqual", out, saved.inputs["edges"][index].astype(np.float32))
        out = operators.add("ReduceSum", operators.add("Cast", out, to=_FLOAT64), np.array([2]), keepdims=0)
    else:
        out = operators.add("Clip", operators.add("Floor", out), *_BYTE)
        out = operators.add("Cast", out, to=_FLOAT64)
    return operators.add("Div", out, np.array(255.0)), np.float32, text


def _onnx_stumps(operators: Operators, features: _Features, saved: Saved) -> _Computed:
    compared = compare(operators, saved, features["index"], features["threshold"])
    return signs(operators, compared.above), compared.x_type.type, compared.x_text


def _onnx_products(operators: Operators, features: _Features, saved: Saved) -> _Computed:
    out: str | np.ndarray = features["scale"]
    for side in (0, 1):
        attributes, text = _onnx_attributes(operators, features["pair"][:, side], saved)
        attributes = operators.add("Mul", attributes, features["slope"][:, side])
        out = operators.add("Mul", out, operators.add("Add", attributes, features["offset"][:, side]))
    return str(out), np.float64, text


_ONNX_MAKERS = {"columns": _onnx_columns, "codes": _onnx_codes, "stumps": _onnx_stumps, "products": _onnx_products}
