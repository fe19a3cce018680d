"""The layouts of stream learners' states: windows, committees, naive Bayes learners, windows of errors.

A learner that has just begun says which arrays there are, their types and shapes (``StreamState.into``); here stands
what their numbers must be, so that compiled code finds its way: places in a window, class codes, how many there are.
M counts members, n examples of a window, G classes that the state knows, d features.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from boostrun.methods.layout import Array, Damaged, fitted
from boostrun.methods.tree_pool_layouts import has_trees, pooled

_MOST = 2**53  # of what is counted
_MOST_ITEMS = 2**40  # of a window of errors
# as boostrun.papers.iboost.kernels.bases has them: stump, Gaussian, Bernoulli
_STUMP, _GAUSSIAN, _FAMILIES = 0, 1, (0, 1, 2)
_NUMBERS = {"numbers": Array("text")}
_ADWINS = {
    "state__adwins.0": Array("int64", "_ 43", least=0, below=_MOST_ITEMS, optional=True),
    "state__adwins.1": Array("float64", "_ 2", optional=True),
    "state__adwins.2": Array("float64", "_ 40 6 2", optional=True),
    "state__watch": Array("int64", "4", least=0, below=_MOST, optional=True),
}
# boostrun.papers.iboost.iboost.State, one or one a class
_BOOSTED = {
    "state__states.*.0": Array("float64", "d n"),
    "state__states.*.1": Array("int64", "n", least=0, below="G"),
    "state__states.*.2": Array("int32", "_ _", least=0, below="n"),
    "state__states.*.3": Array("float64", "n", least=0),
    "state__states.*.4": Array("int8", "M n", least=-1, below=2),
    "state__states.*.5": Array("float64", "n"),
    "state__states.*.6": Array("float64", "M"),
    "state__states.*.7": Array("int64", "M", least=0, below=_MOST),
    "state__states.*.8": Array("float64", "M _", values="infinite"),
    "state__states.*.9": Array("int64", "6", least=0, below=_MOST),
    "state__states.*.10": Array("uint64", "1"),
    "state__share": Array("float64", "1", least=0, optional=True),
    "state__removed": Array("int64", "1", least=0, below=_MOST, optional=True),
    "state__threshold": Array("float64", "1", least=0, optional=True),
    "state__met": Array("int64", "1", least=0, below=_MOST, optional=True),
    **_ADWINS,
}
# boostrun.papers.iboost.kernels.iboost_mm.ClassesState
_OF_CLASSES = {
    "state__states.0.0": Array("float64", "d n"),
    "state__states.0.1": Array("int64", "n", least=0, below="G"),
    "state__states.0.2": Array("int32", "_ _", least=0, below="n"),
    "state__states.0.3": Array("int16", "M n", least=0, below="G"),
    "state__states.0.4": Array("float64", "n G"),
    "state__states.0.5": Array("float64", "M"),
    "state__states.0.6": Array("int64", "M", least=0, below=_MOST),
    "state__states.0.7": Array("float64", "M _", values="infinite"),
    "state__states.0.8": Array("int64", "6", least=0, below=_MOST),
    "state__states.0.9": Array("uint64", "1"),
}
# boostrun.papers.iboost.window_committees.Committee
_COMMITTEE = {
    "state__counts": Array("int64", "_", least=0, below=_MOST),
    "state__models": Array("float64", "M _", values="infinite"),
    "state__coefficients": Array("float64", "M"),
    "state__window.0": Array("float64", "d n"),
    "state__window.1": Array("int32", "d n", least=0, below="n"),
    "state__window.2": Array("int64", "n", least=0, below="G"),
    "state__errors": Array("float64", "3", least=0, optional=True),
    "state__sums": Array("float64", "2 M _", least=0, optional=True),
}
# boostrun.papers.iboost.members.IncrementalEnsemble
_INCREMENTAL = {
    "state_learners_.0": Array("float64", "M G", least=0),
    "state_learners_.1": Array("float64", "M G", values="infinite"),
    "state_learners_.2": Array("float64", "M G d"),
    "state_learners_.3": Array("float64", "M G d"),
    "state_learners_.4": Array("float64", "M G d", values="infinite"),
    "state_learners_.5": Array("float64", "M G d", least=0),
    "state_spread_.0": Array("float64", "d", least=0),
    "state_spread_.1": Array("float64", "d"),
    "state_spread_.2": Array("float64", "d"),
    "state_spread_.3": Array("float64", "d"),
    "state__shares": Array("float64", "G", values="any"),
    "state__votes": Array("float64", "G", values="any"),
    "state_sums_": Array("float64", "M 2", least=0, optional=True),
    "state__weights": Array("float64", "M", least=0, optional=True),
    "state__order": Array("int64", "M", least=0, below="M", optional=True),
    "state__learns": Array("uint8", "M", below=2, optional=True),
    "state__misses": Array("float64", "M", values="any", optional=True),
    "state__born": Array("int64", "M", least=0, below=_MOST, optional=True),
    "state__counts": Array("int64", "_", least=0, below=_MOST, optional=True),
    "state__window.0": Array("float64", "n d", values="any", optional=True),
    "state__window.1": Array("int64", "n", least=0, below="G", optional=True),
    **_ADWINS,
}
# boostrun.kernels.hoeffding.HoeffdingTrees: S slots, 2 S nodes, leaves look at m features
_TREES = {
    "state_learners_.0": Array("float64", "M G", least=0),
    "state_learners_.1": Array("int64", "M", least=0, below="N"),
    "state_learners_.2": Array("int64", "N 6", least=-1, below=_MOST),
    "state_learners_.3": Array("float64", "N 5"),
    "state_learners_.4": Array("float64", "N G", least=0),
    "state_learners_.5": Array("int64", "S m", least=0, below="d"),
    "state_learners_.6": Array("float64", "S 7 G m", values="any"),
    "state_learners_.7": Array("int64", "N", least=0, below="N"),
    "state_learners_.8": Array("int64", "S", least=0, below="S"),
    "state_learners_.9": Array("int64", "3", least=0, below=_MOST),
    "state_learners_.10": Array("uint64", "1"),
}
# boostrun.papers.iboost.kernels.logistic_members.Regressions
_REGRESSIONS = {
    "state_learners_.0": Array("float64", "M G", least=0),
    "state_learners_.1": Array("float64", "M 2 d"),
    "state_learners_.2": Array("float64", "M G _"),
    "state_learners_.3": Array("float64", "M G _", least=0),
}
# the same as members of IBoost, one more than there are members: boostrun.papers.iboost.iboost_fitted
_MEMBER_TREES = {
    name.replace("state_learners_", "state__trees"): replace(array, shape=array.shape.replace("M", "W"))
    for name, array in _TREES.items()
}
# regressions as members, one more than there are members
_MEMBER_ROWS = {"state__models": Array("float64", "W _", values="infinite")}
# the same as members of a committee: boostrun.papers.iboost.fitted_members
_FITTED_TREES = {name.replace("state_learners_", "state__fitted"): array for name, array in _TREES.items()}
# boostrun.papers.iboost.kernels.adaptive_tree.AdaptiveTree: W trees, N nodes
_ADAPTIVE = {
    name.replace("state_learners_", "state_learners_.0"): replace(array, shape=array.shape.replace("M", "W"))
    for name, array in _TREES.items()
} | {
    "state_learners_.1.0": Array("int64", "N", least=-1, below="W"),
    "state_learners_.1.1": Array("float64", "N 2", least=0),
    "state_learners_.1.2": Array("int64", "W", least=0, below=2),
    "state_learners_.1.3": Array("int64", "4", least=0, below=_MOST),
    "state_learners_.1.4.0": Array("int64", "N 43", least=0, below=_MOST_ITEMS),
    "state_learners_.1.4.1": Array("float64", "N 2"),
    "state_learners_.1.4.2": Array("float64", "N 40 6 2"),
}
_ROOM = ("budget", "n_window", "batch_size")  # parameters that a learner makes room for


def stream(arrays: Mapping[str, np.ndarray], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a saved state as they must be; see :func:`boostrun.methods.saved_layouts.checked`.

    Those of a learner of somebody else's, whose places have other names, are as they are: types and shapes are held
    against a learner that has just begun, and what its numbers mean it knows itself.
    """
    out = fitted(_NUMBERS, arrays, sizes)
    numbers = json.loads(str(out["numbers"]))
    if not isinstance(numbers, dict):
        raise Damaged("numbers is no object")
    if sizes.get("C", 1) < 1:
        raise Damaged("classes is empty")
    _check_names(numbers, sizes)
    _check_room(out)
    if any(name.startswith("state__states.") for name in out):
        out = _boosted(out, numbers, sizes)
    elif "state__models" in out:
        out = _committee(out, numbers, sizes)
    elif "state_learners_.0.0" in out:
        out = fitted(_ADAPTIVE, out, sizes)
        _check_trees(out, "state_learners_.0")
        _check_alternates(out, sizes)
    elif "state_learners_.0" in out:
        out = _incremental(out, sizes)
    elif has_trees(out):
        out = pooled(out, sizes)
    if "state__adwins.0" in out:
        _check_adwins(out["state__adwins.0"], "state__adwins.0")
    return out


def _boosted(arrays, numbers: dict, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    n_classes, family = _whole(numbers, "_settings.0", 2), _whole(numbers, "_settings.1", 0)
    start = _whole(numbers, "_settings.2", 1)
    _whole(numbers, "_seed", 0, None)
    sizes["G"] = n_classes
    of_classes = n_classes > 2 and "state__states.0.10" not in arrays
    out = fitted(_OF_CLASSES if of_classes else _BOOSTED, arrays, sizes)
    if "state__trees.0" in out:
        out = fitted(_MEMBER_TREES, out, sizes)
        _check_trees(out, "state__trees")
    if "state__models" in out:
        out = fitted(_MEMBER_ROWS, out, sizes)
        _check_models("state__models", out["state__models"], _GAUSSIAN, n_classes, sizes["d"])
    counted, models = (".8", 7) if of_classes else (".9", 8)
    count = sum(name.startswith("state__states.") and name.endswith(counted) for name in out)
    wanted = max(2, sizes.get("C", n_classes))
    if (count, n_classes) not in ((1, wanted), (wanted, 2)):
        raise Damaged(f"numbers says {n_classes} classes, and there are {sizes.get('C')}")
    for name, counts in out.items():
        if not (name.startswith("state__states.") and name.endswith(counted)):
            continue
        place = name.removesuffix(counted[1:])
        if f"{place}0" not in out:
            raise Damaged(f"it has no {place}0")
        if counts[1] > sizes["M"] or counts[2] > 1:
            raise Damaged(f"{name} says {counts[1]} members, and there is room for {sizes['M']}")
        if "W" in sizes:
            _check_numbers(f"{place}{models}", out[f"{place}{models}"], counts[1], sizes)
        else:
            _check_models(f"{place}{models}", out[f"{place}{models}"], family, n_classes, sizes["d"])
        if family == _STUMP:
            _check_order(f"{place}2", out[f"{place}2"], out[f"{place}0"], counts[0] >= start)
    if "state__watch" in out and out["state__watch"][0] > sizes["n"]:
        raise Damaged(f"state__watch says {out['state__watch'][0]} examples of {sizes['n']}")
    return out


def _committee(arrays, numbers: dict, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    family, n_classes = _whole(numbers, "_family", 0), _whole(numbers, "_n_classes", 2)
    sizes["G"] = n_classes
    out = fitted(_COMMITTEE, arrays, sizes)
    counts = out["state__counts"]
    if len(counts) < 2 or counts[1] > sizes["M"]:
        raise Damaged(f"state__counts says {counts[1:2]} members, and there is room for {sizes['M']}")
    filled, wanted = counts[0] >= sizes["n"], max(2, sizes.get("C", n_classes))
    late = "state__sums" in out and filled and n_classes < wanted  # it never answers with a class met after that
    if _whole(numbers, "_n_features", 1) != sizes["d"] or not (n_classes == wanted or late):
        raise Damaged(f"numbers says {numbers['_n_features']} features and {n_classes} classes")
    if "state__fitted.0" in out:
        out = fitted(_FITTED_TREES, out, sizes)
        _check_trees(out, "state__fitted")
        if out["state__models"].shape[1] != 1:
            raise Damaged(f"state__models has the shape {out['state__models'].shape}, and its members are trees")
    else:
        _check_models("state__models", out["state__models"], family, n_classes, sizes["d"])
    if family == _STUMP:
        slides = filled and "state__sums" not in out and "state__errors" not in out
        _check_order("state__window.1", out["state__window.1"], out["state__window.0"], slides)
    return out


def _incremental(arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    members = _INCREMENTAL
    if "state_learners_.10" in arrays and "state_spread_.0" not in arrays:  # one tree
        members = _TREES
    elif "state_learners_.4" not in arrays:
        none = Array("float64", "_", optional=True)
        members = members | {"state_learners_.4": none, "state_learners_.5": none} | _REGRESSIONS
    elif "state_learners_.10" in arrays:
        members = members | _TREES
    out = fitted(members, arrays, sizes)
    if "state_learners_.10" in members:
        _check_trees(out, "state_learners_")
    if sizes["G"] != max(2, sizes.get("C", sizes["G"])):
        raise Damaged(f"state_learners_.0 has {sizes['G']} classes, and there are {sizes.get('C')}")
    order = out.get("state__order")
    if order is not None and len(np.unique(order)) != sizes["M"]:
        raise Damaged("state__order has a member twice")
    counts = out.get("state__counts")
    if counts is not None and (not len(counts) or ("state__weights" in out and counts[0] > sizes["M"])):
        raise Damaged(f"state__counts says {counts[:1]} members, and there is room for {sizes['M']}")
    return out


def _check_trees(arrays: Mapping[str, np.ndarray], place: str) -> None:
    """Every node is in one tree, once, or free, and so is every slot: a loop down or up a tree comes to an end."""
    roots, nodes, free, counts = (arrays[f"{place}.{i}"] for i in (1, 2, 7, 9))
    slots, free_slots = arrays[f"{place}.5"], arrays[f"{place}.8"]
    left, right, parent, feature, _, slot = nodes.T
    n, wrong = len(nodes), Damaged(f"{place}.2 has nodes that make no trees")
    if 2 * len(slots) != n or (nodes.max(axis=0)[[0, 1, 2, 5]] >= (n, n, n, len(slots))).any():
        raise wrong
    if counts[0] > n or counts[1] > len(slots):
        raise wrong
    seen, held, at = np.zeros(n, np.int64), np.zeros(len(slots), np.int64), roots
    np.add.at(seen, free[: counts[0]], 1)
    np.add.at(held, free_slots[: counts[1]], 1)
    if (parent[roots] != -1).any():
        raise wrong
    while len(at) and (seen <= 1).all():
        np.add.at(seen, at, 1)
        leaves, splits = at[left[at] < 0], at[left[at] >= 0]
        np.add.at(held, slot[leaves][slot[leaves] >= 0], 1)
        fits = (right[splits] >= 0) & (feature[splits] >= 0) & (feature[splits] < counts[2])
        at = np.concatenate([left[splits], right[splits]])
        if not fits.all() or (parent[at] != np.concatenate([splits, splits])).any():
            raise wrong
    if (seen != 1).any() or (held != 1).any():
        raise wrong


def _check_alternates(arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> None:
    """Every tree that is in use but the first is the alternate of one split of a tree that is in use, not of its own:
    from the first tree one comes to each of them, once."""
    roots, nodes, (alternate, used, counts) = (
        arrays["state_learners_.0.1"], arrays["state_learners_.0.2"],
        (arrays[f"state_learners_.1.{i}"] for i in (0, 2, 3)),
    )  # fmt: skip
    reached, at = [0], [int(roots[0])]
    while at and len(reached) <= len(used):
        node = at.pop()
        if nodes[node, 0] >= 0:
            at += nodes[node, :2].tolist()
            if alternate[node] >= 0:
                reached.append(int(alternate[node]))
                at.append(int(roots[alternate[node]]))
    if sizes["G"] != max(2, sizes.get("C", sizes["G"])):
        raise Damaged(f"state_learners_.0.0 has {sizes['G']} classes, and there are {sizes.get('C')}")
    if sorted(reached) != np.flatnonzero(used).tolist() or counts[0] != used.sum() - 1:
        raise Damaged("state_learners_.1.0 has alternates that are no trees of their own")
    _check_adwins(arrays["state_learners_.1.4.0"], "state_learners_.1.4.0")


def _whole(numbers: dict[str, Any], place: str, least: int, below: int | None = _MOST) -> int:
    value = numbers.get(place)
    if type(value) is not int or value < least or (below is not None and value >= below):
        raise Damaged(f"numbers has {place} = {value!r}: a whole number of at least {least} is needed")
    return value


def _check_names(numbers: dict[str, Any], sizes: dict[str, int]) -> None:
    names = numbers.get("_names")
    if names is not None and (not isinstance(names, list) or len(names) != sizes.get("d", len(names))):
        raise Damaged(f"numbers has other names than those of {sizes.get('d')} features")


def _check_room(arrays: Mapping[str, np.ndarray]) -> None:
    """Room that the parameters ask for must be there: a learner makes it before it is compared."""
    room = max((size for name, array in arrays.items() if name.startswith("state_") for size in array.shape), default=0)
    facts = json.loads(str(arrays["facts"])) if "facts" in arrays else {}
    parameters = facts.get("parameters") if isinstance(facts, dict) else None
    for name in _ROOM:
        value = parameters.get(name) if isinstance(parameters, dict) else None
        if isinstance(value, (int, float)) and not value <= room:
            raise Damaged(f"facts has {name} = {value!r}, and the state has room for {room}")


def _check_models(name: str, models: np.ndarray, family: int, n_classes: int, d: int) -> None:
    """Rows of numbers as boostrun.papers.iboost.kernels.bases has them."""
    scores = 1 if n_classes == 2 else n_classes
    widths = (4, scores * (1 + 2 * d), scores * (1 + d))
    if family not in _FAMILIES or models.shape[1] != widths[family]:
        raise Damaged(f"{name} has the shape {models.shape}, which is none of family {family}")
    if family == _STUMP:
        for column, below in ((0, d), (2, n_classes), (3, n_classes)):
            codes = models[:, column]
            if not ((codes >= 0) & (codes < below) & (codes == np.floor(codes))).all():
                raise Damaged(f"{name} has stumps whose column {column} is no whole number from 0 to {below - 1}")


def _check_numbers(name: str, models: np.ndarray, size: int, sizes: Mapping[str, int]) -> None:
    """Members say in which place they are, each in another one, and one place is left for the next."""
    numbers = models[:size, 0]
    whole = ((numbers >= 0) & (numbers < sizes["W"]) & (numbers == np.floor(numbers))).all()
    if models.shape[1] != 1 or sizes["W"] != sizes["M"] + 1 or not whole or len(np.unique(numbers)) != size:
        raise Damaged(f"{name} does not say which of {sizes['W']} classifiers are the {size} members")


def _check_order(name: str, order: np.ndarray, columns: np.ndarray, filled: bool) -> None:
    """Slots of a window by their values: a slide searches them, and would leave the window where they are not so."""
    if order.shape != columns.shape:
        raise Damaged(f"{name} has the shape {order.shape} where {columns.shape} is needed")
    if filled and not np.array_equal(order, np.argsort(columns, axis=1, kind="stable")):
        raise Damaged(f"{name} is not the order of the window")


def _check_adwins(counts: np.ndarray, name: str) -> None:
    """Five buckets of 2^r items at most in row r, which add up to the width."""
    filled = counts[:, 3:]
    if (filled > 5).any() or (counts[:, 2] > 1).any():
        raise Damaged(f"{name} has more buckets than there is room for")
    if ((filled * 2 ** np.arange(filled.shape[1])).sum(axis=1) != counts[:, 0]).any():
        raise Damaged(f"{name} has buckets that do not add up to its width")
