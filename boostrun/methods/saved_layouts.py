"""The layouts of saved models: of the core's kinds, and of what stands beside a model of any kind.

K, rows of scores, is 1 for two classes and else one a class; T counts rounds, d the columns that a model takes, C the
classes. Of a file that says neither classes nor columns only its own arrays are held against each other. A paper
declares the layouts of its kinds (:class:`boostrun.methods.paper.SavedModel`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate

import numpy as np

from boostrun.methods.declaration import obtain
from boostrun.methods.layout import Array, Damaged, fitted
from boostrun.methods.stream_layouts import stream

_Arrays = Mapping[str, np.ndarray]
Layout = Callable[[_Arrays, dict[str, int]], dict[str, np.ndarray]]  # with the sizes known so far

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
_SHAPE = {
    "input_kind": Array("text"),
    "input_shape": Array("int64", "_", least=1, below=2**31, optional=True),
    "input_table": Array("text", "", optional=True),
}
# of a table with missing values: m of the columns that it has before others follow for these
_MISSING = {
    "input_missing": Array("int64", "m", least=0, below="raw", order="different", optional=True),
    "input_means": Array("float64", "raw", optional=True),
}
_OF_TABLES = {"edges": "d", "scaled": "d", "projected": "columns"}  # by kind, the size of both together
_MOST_EDGES = 255  # a code is a byte
_MOST_NODES = 2**10
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
_TREES = {
    "features": Array("int32", "K T N", least=0, below="d"),
    "thresholds": Array("float64", "K T N", values="infinite"),
    "leaves": Array("float64", "K T L"),
}
# what a hypothesis of somebody's calls so is columns, and a negative one would be answered from the end
_OF_COLUMNS = ("feature", "features", "column", "columns", "*_feature", "*_column")
_HYPOTHESES = {
    "kind": Array("text"),
    "coefficients": Array("float64", "K T"),
    "hypothesis_*": Array("number", "K T ..."),
    **{f"hypothesis_{name}": Array("number", "K T ...", least=0, below="d", optional=True) for name in _OF_COLUMNS},
    "edges": Array("float", "d E", values="infinite", order="rising", optional=True),
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
    check = _KINDS.get(kind) or _of_papers(kind)
    return check(out, sizes) if check else out


def _of_papers(kind: str) -> Layout | None:
    from boostrun.config import catalogue

    model = catalogue.models().get(kind)
    return obtain(model.layout) if model is not None and model.layout else None


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
    out = _missing(kind, out, sizes)
    made = sizes.get("filters", 0) * sizes.get("masks", 0)
    if kind == "templates" and made != sizes["d"]:
        raise Damaged(f"input_masks and input_filters make {made} features, not {sizes['d']}")
    return out


def _missing(kind: str, arrays: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """What is said of missing values: their columns, and for features that are numbers the means of all columns."""
    given = [name for name in _MISSING if name in arrays]
    if not given:
        return arrays
    needed = [] if kind not in _OF_TABLES else ["input_missing"] if kind == "edges" else [*_MISSING]
    if given != needed:
        raise Damaged(f"it has {', '.join(given)}, where features={kind} have {', '.join(needed) or 'no such thing'}")
    raw = sizes[_OF_TABLES[kind]] - arrays["input_missing"].size
    if raw < 1:
        raise Damaged(f"input_missing has {arrays['input_missing'].size} columns, which leaves {raw} that they are of")
    return fitted(_MISSING, arrays, {"raw": raw})


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


def _trees(arrays: _Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Ensembles of complete trees, of one depth."""
    out = _stump_sums(_TREES, ("leaves",))(arrays, sizes)
    nodes, leaves = sizes["N"], sizes["L"]
    if leaves != nodes + 1 or leaves & nodes or not 0 < nodes < _MOST_NODES or not sizes["T"]:
        raise Damaged(f"features and leaves have {nodes} nodes and {leaves} leaves a tree, which is no complete tree")
    return out


def _rows_of_scores(sizes: dict[str, int]) -> None:
    rows, classes = sizes["K"], sizes.get("C")
    if rows < 1 or (classes is not None and (classes < 2 or rows > classes or (rows == 1) != (classes == 2))):
        raise Damaged(f"it has scores for {rows} problems and {classes} classes")


_KINDS: dict[str, Layout] = {
    "boostrun.StumpEnsemble/1": _stump_sums(_STUMPS, ("coefficients",)),
    "boostrun.VoteEnsemble/1": _stump_sums(_VOTES, ("alphas",)),
    "boostrun.TreeEnsemble/1": _trees,
    "boostrun.HypothesisEnsemble/1": _stump_sums(_HYPOTHESES, ("coefficients",)),
    "boostrun.StreamState/1": stream,
}
