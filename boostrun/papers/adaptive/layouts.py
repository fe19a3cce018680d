"""The layout of a saved TreeVoteEnsemble: T trees of P splits and L = P + 1 leaves, K rows of scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.methods.layout import Array, Damaged, fitted

_TREES = {
    "features": Array("int32", "T P", least=0, below="d"),
    "thresholds": Array("float64", "T P", values="infinite"),
    "votes": Array("int8", "T L K", least=-1, below=2),
    "alphas": Array("float64", "T"),
    "gains": Array("float64", "T P", least=0),
}


def vote_trees(arrays: Mapping[str, np.ndarray], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a TreeVoteEnsemble; Damaged where one is not as it should be."""
    out = fitted(_TREES, arrays, sizes)
    rows, classes, leaves = sizes["K"], sizes.get("C"), sizes["L"]
    if leaves < 2 or leaves & (leaves - 1) or sizes["P"] != leaves - 1:
        raise Damaged(f"it has trees of {sizes['P']} splits and {leaves} leaves")
    if rows < 1 or (classes is not None and (classes < 2 or rows > classes or (rows == 1) != (classes == 2))):
        raise Damaged(f"it has scores for {rows} problems and {classes} classes")
    with np.errstate(over="ignore"):
        for name in ("alphas", "gains"):
            if not np.isfinite(np.abs(out[name]).sum()):
                raise Damaged(f"{name} adds up to infinity")
    return out
