"""The layout of saved regression trees that share a pool of nodes and one of histograms.

Compiled code follows what nodes name: each must be named once at most, so that no way down a tree ends in a circle.
M counts trees, k features of each, d all of them; a pool of nodes and one of histograms have sizes of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.methods.layout import Array, Damaged, fitted

_MOST = 2**53  # of what is counted
_PLACE = "state__boosters"
_ARRAYS = {
    f"{_PLACE}.*.0": Array("int64", "_ 6", least=-2, below=_MOST),
    f"{_PLACE}.*.1": Array("float64", "_ 13"),
    f"{_PLACE}.*.2": Array("float64", "_ k _ 4"),
    f"{_PLACE}.*.3": Array("int64", "_ k", least=-1, below=_MOST),
    f"{_PLACE}.*.4": Array("int64", "M", least=0, below=_MOST),
    f"{_PLACE}.*.5": Array("int64", "M", least=0, below=_MOST),
    f"{_PLACE}.*.6": Array("int64", "M k", least=0, below="d"),
    f"{_PLACE}.*.7": Array("float64", "M 3"),
    f"{_PLACE}.*.8": Array("int64", "7", least=-1, below=_MOST),
}
_FEATURE, _LEFT, _RIGHT, _ALTERNATE, _OBSERVER, _NEXT = range(6)
_LEAF, _FREE = -1, -2


def has_trees(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether a saved state holds such trees."""
    return any(name.startswith(f"{_PLACE}.") for name in arrays)


def pooled(arrays: Mapping[str, np.ndarray], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of one pool, or of one a class; raises Damaged where they are not as compiled code needs them."""
    out = fitted(_ARRAYS, arrays, sizes)
    count = sum(name.startswith(f"{_PLACE}.") and name.endswith(".8") for name in out)
    classes = sizes.get("C", count)
    if count != (1 if classes <= 2 else classes):
        raise Damaged(f"it has {count} ensembles of trees, and there are {classes} classes")
    for k in range(count):
        names = [f"{_PLACE}.{k}.{place}" for place in range(9)]
        if not out.keys() >= set(names):
            raise Damaged(f"it has not all of {_PLACE}.{k}")
        _check(f"{_PLACE}.{k}", [out[name] for name in names], sizes["d"])
    return out


def _check(name: str, pool: list[np.ndarray], d: int) -> None:
    links, numbers, bins, filled, roots, _, _, _, counts = pool
    nodes, slots = int(counts[0]), int(counts[2])
    if not (0 <= nodes <= len(links) == len(numbers) and 0 <= slots <= len(bins) == len(filled)):
        raise Damaged(f"{name} has {len(links)} nodes and {len(bins)} histograms, and says {nodes} and {slots}")
    used = links[:nodes]
    feature = used[:, _FEATURE]
    if (feature >= d).any():
        raise Damaged(f"{name}.0 looks at feature {feature.max()} of {d}")
    branches, is_leaf, is_free = used[feature >= 0], feature == _LEAF, feature == _FREE
    alternates = branches[:, _ALTERNATE]
    below = np.concatenate([roots, branches[:, _LEFT], branches[:, _RIGHT], alternates[alternates >= 0]])
    _named_once(f"{name}.0", below, ~is_free)
    _named_once(f"{name}.0", _chain(counts[1], used[is_free, _NEXT]), is_free)
    held = used[is_leaf, _OBSERVER]
    _named_once(f"{name}.0", held, np.ones(slots, bool))
    is_held = np.zeros(slots, bool)
    is_held[held] = True
    _named_once(f"{name}.3", _chain(counts[3], filled[:slots][~is_held, 0]), ~is_held)
    full = filled[:slots][is_held]
    if full.size and not (full.min() >= 0 and full.max() <= bins.shape[2]):
        raise Damaged(f"{name}.3 has histograms of more than {bins.shape[2]} bins")


def _chain(head, following: np.ndarray) -> np.ndarray:
    found = np.append(following, head)
    return found[found >= 0]


def _named_once(name: str, places: np.ndarray, allowed: np.ndarray) -> None:
    """Each place is one that is allowed, and is there once."""
    inside = places.size == 0 or (places.min() >= 0 and places.max() < len(allowed))
    if not inside or not allowed[places].all() or len(np.unique(places)) != len(places):
        raise Damaged(f"{name} names a place twice, or one that is not there")
