"""The layouts of ShareBoost's saved models: shared stumps, and linear models of few columns.

K, k count classes; T rounds, d the columns that a model takes, C the classes that a file names, U the columns in use.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.methods.layout import Array, Damaged, fitted

_Arrays = Mapping[str, np.ndarray]

_SHARED = {
    "features": Array("int32", "T", least=0, below="d"),
    "thresholds": Array("float64", "T", values="infinite"),
    "subsets": Array("bool", "T K"),
    "above": Array("float64", "T"),
    "below": Array("float64", "T"),
    "constants": Array("float64", "T K"),
}
# what the columns of a linear model are computed from: see boostrun.papers.shareboost.model
_INDEX = Array("int64", "U", least=0, below="d")
_FEATURES = {
    "columns": {"feature_index": _INDEX},
    "codes": {"feature_index": _INDEX},
    "stumps": {"feature_index": _INDEX, "feature_threshold": Array("float64", "U", values="infinite")},
    "products": {
        "feature_pair": Array("int64", "U 2", least=0, below="d"),
        "feature_slope": Array("float64", "U 2"),
        "feature_offset": Array("float64", "U 2"),
        "feature_scale": Array("float64", "U"),
    },
}
_PIECES = {
    "feature_mean": Array("float64", "d"),
    "feature_axes": Array("float64", "d D"),
    "feature_anchor": Array("float64", "T D"),
    "feature_radius": Array("float64", "T", least=0, values="infinite"),
}
_PATH = {
    "kind": Array("text"),
    "n_classes": Array("int64", "", least=2, below=2**31),
    "free": Array("bool"),
    "selected": Array("int64", "T", least=0),
    "widths": Array("int64", "T", least=1, below=2**31),
    "constants": Array("int64", "_", least=0, order="different"),
    "costs": Array("int64", "T", least=0),
    "weights": Array("float64", "_"),
}
_ONE_VS_REST = {
    "kind": Array("text"),
    "used": Array("int64", "U", least=0, order="different"),
    "costs": Array("int64", "U", least=0),
    "lengths": Array("int64", "K", least=0, below=2**31),
    "positions": Array("int64", "P", least=0, below="U"),
    "weights": Array("float64", "_"),
}
_MIXED_NORM = {
    "kind": Array("text"),
    "n_classes": Array("int64", "", least=2, below=2**31),
    "lambdas": Array("float64", "L", least=0),
    "used": Array("int64", "U", least=0, order="different"),
    "costs": Array("int64", "U", least=0),
    "counts": Array("int64", "L", least=0, below=2**31),
    "positions": Array("int64", "P", least=0, below="U"),
    "weights": Array("float64", "P k"),
    "debiased": Array("float64", "_ k"),
}


def shared_stumps(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a SharedStumps; Damaged where one is not as it should be."""
    out = fitted(_SHARED, arrays, sizes)
    if sizes["K"] < 2 or sizes.get("C", sizes["K"]) != sizes["K"]:
        raise Damaged(f"it has scores for {sizes['K']} classes, and {sizes.get('C')} classes")
    with np.errstate(over="ignore"):
        largest = np.abs(out["above"]).sum() + np.abs(out["below"]).sum() + np.abs(out["constants"]).sum()
    if not np.isfinite(largest):
        raise Damaged("above, below and constants add up to infinity")
    return out


def _columns(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The features of a linear model of U columns."""
    kind = str(arrays["kind"])
    if kind not in _FEATURES:
        raise Damaged(f"its kind of features is {kind!r}, which is none of {', '.join([*_FEATURES, 'pieces'])}")
    if not sizes["U"] and not any(name.startswith("feature_") for name in arrays):
        return dict(arrays)
    return fitted(_FEATURES[kind], arrays, sizes)


def shared_features(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Those of a SharedFeatures."""
    out = fitted(_PATH, arrays, sizes)
    widths, constants = out["widths"], out["constants"]
    if constants.size and constants.max() >= widths.sum():
        raise Damaged(f"constants holds {constants.max()}, and there are {widths.sum()} columns")
    sizes["U"] = int(widths.sum()) - len(constants)
    if str(out["kind"]) == "pieces":
        if sizes["T"]:
            out = fitted(_PIECES, out, sizes)
        if out["free"] or len(constants) or (widths != sizes.get("D", 0) + 1).any():
            raise Damaged("widths, constants and free are not those of pieces")
    else:
        out = _columns(out, sizes)
    rows = int(np.cumsum(widths).sum()) + int(out["free"]) * sizes["T"]
    _count("weights", out["weights"], rows * int(out["n_classes"]))
    _at_least_classes(int(out["n_classes"]), sizes)
    return out


def one_vs_rest(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Those of an OneVsRestPath."""
    out = _columns(fitted(_ONE_VS_REST, arrays, sizes), sizes)
    lengths = out["lengths"]
    if sizes["K"] < 2 or sizes["K"] > sizes.get("C", sizes["K"]) or not lengths.any():
        raise Damaged(f"lengths is {lengths.tolist()}, and there are {sizes.get('C')} classes")
    _count("positions", out["positions"], int(lengths.sum()))
    _count("weights", out["weights"], int((lengths * (lengths + 1) // 2).sum()))
    return out


def mixed_norm(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Those of a MixedNormPath."""
    out = _columns(fitted(_MIXED_NORM, arrays, sizes), sizes)
    if not sizes["L"]:
        raise Damaged("lambdas is empty")
    _count("positions", out["positions"], int(out["counts"].sum()))
    if sizes["k"] != out["n_classes"] or len(out["debiased"]) not in (0, sizes["P"]):
        raise Damaged(f"debiased has the shape {out['debiased'].shape}, and weights {out['weights'].shape}")
    _at_least_classes(sizes["k"], sizes)
    return out


def _at_least_classes(rows: int, sizes: dict[str, int]) -> None:
    """Classes without a sample have scores, but no name; the last ones may have no scores where they had no sample."""
    if sizes.get("C", 2) < 2:
        raise Damaged(f"it has scores for {rows} classes, and {sizes['C']} classes")


def _count(name: str, array: np.ndarray, wanted: int) -> None:
    if len(array) != wanted:
        raise Damaged(f"{name} has {len(array)} numbers where {wanted} are needed")
