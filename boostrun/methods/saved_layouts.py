"""The layouts of all files that we save: models of every kind, what stands beside them, and a checkpoint's rounds.

K, rows of scores, is 1 for two classes and else one a class; T counts rounds, d the columns that a model takes, C the
classes, U the columns that a linear model uses. Of a file that says neither classes nor columns only its own arrays are
held against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate

import numpy as np

from boostrun.methods.layout import Array, Damaged, fitted
from boostrun.methods.stream_layouts import stream

_Arrays = Mapping[str, np.ndarray]

# beside any model: see boostrun.methods.saved
_BESIDE = {
    "classes": Array("label", "C", optional=True),
    "n_features_in": Array("int64", "", least=1, below=2**31, optional=True),
    "facts": Array("text", "", optional=True),
    "column_names": Array("text", "_", optional=True),
}
# by the kind of input: see boostrun.methods.preparation; all that are not here are pipelines
_PIPELINE = {
    "input_columns": Array("int64", "used", least=0, below="d", order="different", optional=True),
    "input_edges": Array("float", "used E", values="infinite", order="rising", optional=True),
    "input_options": Array("text", "", optional=True),
    "input_values": Array("bool", "", optional=True),
}
_INPUTS = {
    "pixels": {},
    "edges": {"input_edges": Array("float", "d E", values="infinite", order="rising")},
    "scaled": {"input_shift": Array("float64", "d"), "input_factor": Array("float64", "d")},
    "projected": {"input_mean": Array("float64", "columns"), "input_axes": Array("float64", "columns d")},
    "templates": {
        "input_filters": Array("float32", "filters side side"),
        "input_masks": Array("float32", "masks _ _"),
        "input_maxima": Array("float32", "d"),
        "input_edges": Array("float", "E", values="infinite", order="rising"),
    },
}
_SHAPE = {"input_kind": Array("text"), "input_shape": Array("int64", "_", least=1, below=2**31, optional=True)}
_MOST_EDGES = 255  # a code is a byte
_LARGEST_SAMPLE = 2**31  # numbers in an image

_STUMPS = {
    "features": Array("int32", "K T", least=0, below="d"),
    "thresholds": Array("float64", "K T", values="infinite"),
    "polarities": Array("int8", "K T", least=-1, below=2),
    "coefficients": Array("float64", "K T"),
}
_VOTES = {
    "features": Array("int32", "T", least=0, below="d"),
    "thresholds": Array("float64", "T", values="infinite"),
    "votes": Array("int8", "T K", least=-1, below=2),
    "alphas": Array("float64", "T"),
}
_SHARED = {
    "features": Array("int32", "T", least=0, below="d"),
    "thresholds": Array("float64", "T", values="infinite"),
    "subsets": Array("bool", "T K"),
    "above": Array("float64", "T"),
    "below": Array("float64", "T"),
    "constants": Array("float64", "T K"),
}
_HYPOTHESES = {
    "kind": Array("text"),
    "coefficients": Array("float64", "K T"),
    "hypothesis_*": Array("number", "K T ..."),
    "edges": Array("float", "d E", values="infinite", order="rising", optional=True),
}
# what the columns of a linear model are computed from: see boostrun.papers.shareboost.evaluate
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
_ROUND = {
    "identity": Array("text"),
    "candidate": Array("int64", "", least=0),
    "weights": Array("float64", "_ _"),
    **{name: Array("float64", values="any") for name in ("score", "loss", "objective", "residual")},
    "iterations": Array("int64", "", least=0),
    "scored": Array("int64", "", least=0),
    **{name: Array("float64", values="any") for name in ("seconds_select", "seconds_optimise")},
}


def checked(kind: str, arrays: _Arrays) -> dict[str, np.ndarray]:
    """The arrays of a file of ``kind`` as its layout has them; files of a kind that is none of ours as they are.

    Raises :class:`boostrun.methods.layout.Damaged` with one sentence for what is not as it should be.
    """
    sizes: dict[str, int] = {}
    out = fitted(_BESIDE, arrays, sizes)
    if "n_features_in" in out:
        sizes["d"] = int(out["n_features_in"])
    if any(name.startswith("input_") for name in out):
        out = _inputs(out, sizes)
    return _KINDS[kind](out, sizes) if kind in _KINDS else out


def _inputs(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    out = fitted(_SHAPE, arrays, sizes)
    kind = str(out["input_kind"])
    out = fitted(_INPUTS.get(kind, _PIPELINE), out, sizes)
    if sizes.get("E", 1) not in range(1, _MOST_EDGES + 1):
        raise Damaged(f"input_edges has {sizes['E']} edges a column: a code is a byte")
    if kind not in _INPUTS and ("input_edges" in out) != ("input_columns" in out):
        raise Damaged("it has input_edges or input_columns, not both")
    shape = [int(size) for size in out.get("input_shape", np.ones(2))]
    if len(shape) not in (2, 3) or list(accumulate(shape, int.__mul__))[-1] >= _LARGEST_SAMPLE:
        raise Damaged(f"input_shape is {shape}, which is no image")
    made = sizes.get("filters", 0) * sizes.get("masks", 0)
    if kind == "templates" and made != sizes["d"]:
        raise Damaged(f"input_masks and input_filters make {made} features, not {sizes['d']}")
    return out


def _stump_sums(layout: Mapping[str, Array], numbers: tuple[str, ...]) -> Callable:
    """Ensembles whose score is a sum of ``numbers``, which must not overflow."""

    def check(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
        out = fitted(layout, arrays, sizes)
        _rows_of_scores(sizes)
        with np.errstate(over="ignore"):
            for name in numbers:
                if not np.isfinite(np.abs(out[name]).sum()):
                    raise Damaged(f"{name} adds up to infinity")
        return out

    return check


def _rows_of_scores(sizes: dict[str, int]) -> None:
    rows, classes = sizes["K"], sizes.get("C")
    if rows < 1 or (classes is not None and (classes < 2 or rows > classes or (rows == 1) != (classes == 2))):
        raise Damaged(f"it has scores for {rows} problems and {classes} classes")


def _shared(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
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


def _path(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
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


def _one_vs_rest(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    out = _columns(fitted(_ONE_VS_REST, arrays, sizes), sizes)
    lengths = out["lengths"]
    if sizes["K"] < 2 or sizes["K"] > sizes.get("C", sizes["K"]) or not lengths.any():
        raise Damaged(f"lengths is {lengths.tolist()}, and there are {sizes.get('C')} classes")
    _count("positions", out["positions"], int(lengths.sum()))
    _count("weights", out["weights"], int((lengths * (lengths + 1) // 2).sum()))
    return out


def _mixed_norm(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
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


_KINDS: dict[str, Callable[[_Arrays, dict[str, int]], dict[str, np.ndarray]]] = {
    "boostrun.StumpEnsemble/1": _stump_sums(_STUMPS, ("coefficients",)),
    "boostrun.VoteEnsemble/1": _stump_sums(_VOTES, ("alphas",)),
    "boostrun.HypothesisEnsemble/1": _stump_sums(_HYPOTHESES, ("coefficients",)),
    "boostrun.SharedStumps/1": _shared,
    "boostrun.SharedFeatures/1": _path,
    "boostrun.OneVsRestPath/1": _one_vs_rest,
    "boostrun.MixedNormPath/1": _mixed_norm,
    "boostrun.StreamState/1": stream,
    "boostrun.ShareBoostRound/1": lambda arrays, sizes: fitted(_ROUND, arrays, sizes),
}
