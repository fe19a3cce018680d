"""Checks of the numbers in saved stream learners, which compiled loops use as indices without a check.

Types and shapes are right when a check begins: they are those of a learner that has just begun
(:class:`boostrun.methods.stream_state.StreamState`). M counts members, n examples of a window, G classes that the state
knows, d features. Each check raises Damaged with one sentence.
"""

from __future__ import annotations

import numpy as np

from boostrun.kernels.hoeffding import FEATURE, FEATURES, FREE_NODES, FREE_SLOTS, LEFT, PARENT, RIGHT, SLOT
from boostrun.kernels.hoeffding import HoeffdingTrees as Trees
from boostrun.methods.archive import Array, Damaged
from boostrun.methods.stream_state import MOST, check_values
from boostrun.papers.iboost.iboost import DIRTY, SEEN, SIZE, CommitteeState
from boostrun.papers.iboost.kernels.adaptive_tree import IN_USE, AdaptiveTree, Alternates
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.iboost.kernels.bases import STUMP
from boostrun.papers.iboost.kernels.iboost_mm import ClassesState
from boostrun.papers.iboost.kernels.incremental import Learners, Spread
from boostrun.papers.iboost.kernels.logistic_members import Regressions

_COUNTS = Array("", "...", least=0, below=MOST)
_POSITIVE = Array("", "...", least=0)
_INFINITE = Array("", "...", values="infinite")
_ANY = Array("", "...", values="any")
_STATE = {
    "columns": Array("", "d n"), "labels": Array("", "n", 0, "G"), "order": Array("", "_ _", 0, "n"),
    "born": _COUNTS, "models": _INFINITE, "counts": _COUNTS,
}  # fmt: skip
_TUPLES = {
    CommitteeState: {**_STATE, "mass": _POSITIVE, "right": Array("", "M n", -1, 2)},
    ClassesState: {**_STATE, "said": Array("", "M n", 0, "G")},
    Learners: {"weight": _POSITIVE, "constant": _INFINITE, "slope": _INFINITE, "met": _POSITIVE},
    Spread: {"count": _POSITIVE},
    Regressions: {"weight": _POSITIVE, "squares": _POSITIVE},
    Trees: {
        "weight": _POSITIVE, "roots": Array("", "_", 0, "N"), "nodes": Array("", "N 6", -1, MOST),
        "classes": _POSITIVE, "looks": Array("", "S _", 0, "d"), "observed": _ANY,
        "free_nodes": Array("", "N", 0, "N"), "free_slots": Array("", "S", 0, "S"), "counts": _COUNTS,
    },
    Alternates: {
        "alternate": Array("", "_", -1, "W"), "errors": _POSITIVE, "used": Array("", "W", 0, 2), "counts": _COUNTS,
    },
    Adwins: {"counts": Array("", "...", least=0, below=2**40)},
}  # fmt: skip
_ATTRIBUTES = {
    "_counts": _COUNTS, "_watch": _COUNTS, "_removed": _COUNTS, "_met": _COUNTS, "_born": _COUNTS, "_clock": _COUNTS,
    "_share": _POSITIVE, "_threshold": _POSITIVE, "_errors": _POSITIVE, "_sums": _POSITIVE, "sums_": _POSITIVE,
    "_weights": _POSITIVE, "_models": _INFINITE, "_shares": _ANY, "_votes": _ANY, "_misses": _ANY,
    "_order": Array("", "M", 0, "M"), "_learns": Array("", "M", 0, 2),
}  # fmt: skip


def check_iboost(learner, n_classes: int) -> None:
    """Check windows and committees of IBoost: one, or one for each class."""
    settings, d = learner._settings, learner.n_features_in_
    check_values(learner, _ATTRIBUTES, _TUPLES, {"G": settings.n_classes, "d": d})
    trees, rows = vars(learner).get("_trees"), vars(learner).get("_models")
    if trees is not None:
        _check_trees("_trees", trees, d)
    places = len(trees.roots) if trees is not None else len(rows) if rows is not None else 0
    for k, state in enumerate(learner._states):
        size, place = int(state.counts[SIZE]), f"_states.{k}."
        if size > len(state.coefficients) or state.counts[DIRTY] > 1:
            raise Damaged(f"state_{place}counts says {size} members, and there is room for {len(state.coefficients)}")
        if places:
            _check_places(f"{place}models", state.models[:size, 0], places)
        elif settings.family == STUMP:
            _check_stumps(f"{place}models", state.models, settings.n_classes, d)
        if settings.family == STUMP and state.counts[SEEN] >= settings.start:
            _check_order(f"{place}order", state.order, state.columns)
    _check_adwins(learner)
    watch = vars(learner).get("_watch")
    if watch is not None and watch[0] > len(learner._states[0].labels):
        raise Damaged(f"state__watch says {watch[0]} examples of {len(learner._states[0].labels)}")


def check_committee(learner, n_classes: int) -> None:
    """Check a window and the committee that is fitted to it."""
    columns, order, labels = learner._window
    sizes = {"G": learner._n_classes, "n": len(labels), "d": learner.n_features_in_}
    windows = {"_window.1": Array("", "_ n", 0, "n"), "_window.2": Array("", "n", 0, "G")}
    check_values(learner, {**_ATTRIBUTES, **windows}, _TUPLES, sizes)
    counts, with_sums = learner._counts, "_sums" in vars(learner)
    if counts[1] > len(learner._coefficients):
        raise Damaged(f"state__counts says {counts[1]} members, and there is room for {len(learner._coefficients)}")
    filled = counts[0] >= len(labels)
    if learner._n_classes != max(2, n_classes) and not (with_sums and filled):  # then it never answers with later ones
        raise Damaged(f"numbers says {learner._n_classes} classes, and there are {n_classes}")
    if isinstance(learner._fitted, Trees):
        _check_trees("_fitted", learner._fitted, learner.n_features_in_)
    if learner._family == STUMP:
        _check_stumps("_models", learner._models, learner._n_classes, learner.n_features_in_)
        if filled and not with_sums and "_errors" not in vars(learner):  # its window slides
            _check_order("_window.1", order, columns)


def check_incremental(learner, n_classes: int) -> None:
    """Check members that learn one example at a time, and what weighs them."""
    windows = {"_window.0": _ANY, "_window.1": Array("", "n", 0, "G")}
    d, own = learner.n_features_in_, vars(learner)
    check_values(learner, {**_ATTRIBUTES, **windows}, _TUPLES, {"G": max(2, n_classes), "d": d})
    if isinstance(learner.learners_, Trees):
        _check_trees("learners_", learner.learners_, d)
    order, counts = own.get("_order"), own.get("_counts")
    if order is not None and len(np.unique(order)) != len(order):
        raise Damaged("state__order has a member twice")
    if counts is not None and "_weights" in own and counts[0] > len(learner._weights):
        raise Damaged(f"state__counts says {counts[0]} members, and there is room for {len(learner._weights)}")
    _check_adwins(learner)


def check_tree(learner, n_classes: int) -> None:
    """Check a Hoeffding tree, or an adaptive one with its alternates."""
    check_values(learner, {}, _TUPLES, {"d": learner.n_features_in_})
    if isinstance(learner.learners_, AdaptiveTree):
        _check_trees("learners_.0", learner.learners_.trees, learner.n_features_in_)
        _check_alternates(*learner.learners_)
    else:
        _check_trees("learners_", learner.learners_, learner.n_features_in_)


def _check_trees(place: str, trees: Trees, d: int) -> None:
    """Every node is in one tree, once, or free, and so is every slot: a walk down or up a tree comes to an end."""
    nodes, n, slots = trees.nodes, len(trees.nodes), len(trees.looks)
    wrong = Damaged(f"state_{place}.{trees._fields.index('nodes')} has nodes that make no trees")
    counts, highest = trees.counts, nodes.max(axis=0)[[LEFT, RIGHT, PARENT, SLOT]]
    if 2 * slots != n or (highest >= (n, n, n, slots)).any():
        raise wrong
    if counts[FREE_NODES] > n or counts[FREE_SLOTS] > slots or counts[FEATURES] != d:
        raise wrong
    seen, held, at = np.zeros(n, np.int64), np.zeros(slots, np.int64), trees.roots
    np.add.at(seen, trees.free_nodes[: counts[FREE_NODES]], 1)
    np.add.at(held, trees.free_slots[: counts[FREE_SLOTS]], 1)
    if (nodes[at, PARENT] != -1).any():
        raise wrong
    while len(at) and (seen <= 1).all():
        np.add.at(seen, at, 1)
        leaves, splits = at[nodes[at, LEFT] < 0], at[nodes[at, LEFT] >= 0]
        observing = nodes[leaves, SLOT]
        np.add.at(held, observing[observing >= 0], 1)
        features, right = nodes[splits, FEATURE], nodes[splits, RIGHT]
        at = np.concatenate([nodes[splits, LEFT], right])
        fits = (right >= 0) & (features >= 0) & (features < d)
        if not fits.all() or (nodes[at, PARENT] != np.concatenate([splits, splits])).any():
            raise wrong
    if (seen != 1).any() or (held != 1).any():
        raise wrong


def _check_alternates(trees: Trees, watched: Alternates) -> None:
    """Every tree in use but the first is the alternate of one split of a tree in use: the first leads to each once."""
    reached, at = [0], [int(trees.roots[0])]
    while at and len(reached) <= len(watched.used):
        node = at.pop()
        if trees.nodes[node, LEFT] >= 0:
            at += trees.nodes[node, [LEFT, RIGHT]].tolist()
            alternate = int(watched.alternate[node])
            if alternate >= 0:
                reached.append(alternate)
                at.append(int(trees.roots[alternate]))
    if sorted(reached) != np.flatnonzero(watched.used).tolist() or watched.counts[IN_USE] != watched.used.sum() - 1:
        raise Damaged("state_learners_.1.0 has alternates that are no trees of their own")
    _check_buckets("learners_.1.4.0", watched.adwins)


def _check_places(place: str, numbers: np.ndarray, places: int) -> None:
    """Members say in which place they are, each in another one."""
    whole = (numbers >= 0) & (numbers < places) & (numbers == np.floor(numbers))
    if not whole.all() or len(np.unique(numbers)) != len(numbers):
        raise Damaged(f"state_{place} does not say which of {places} classifiers are the {len(numbers)} members")


def _check_stumps(place: str, models: np.ndarray, n_classes: int, d: int) -> None:
    for column, below in ((0, d), (2, n_classes), (3, n_classes)):
        codes = models[:, column]
        if not ((codes >= 0) & (codes < below) & (codes == np.floor(codes))).all():
            raise Damaged(f"state_{place} has stumps whose column {column} is no whole number from 0 to {below - 1}")


def _check_order(place: str, order: np.ndarray, columns: np.ndarray) -> None:
    """The examples of a window are sorted by each feature: a new one is found by halves."""
    if not np.array_equal(order, np.argsort(columns, axis=1, kind="stable")):
        raise Damaged(f"state_{place} is not the order of the window")


def _check_adwins(learner) -> None:
    if "_adwins" in vars(learner):
        _check_buckets("_adwins.0", learner._adwins)


def _check_buckets(place: str, adwins: Adwins) -> None:
    """In row r there are at most five buckets of 2^r examples, and they add up to the width."""
    filled = adwins.counts[:, 3:]
    if (filled > 5).any() or (adwins.counts[:, 2] > 1).any():
        raise Damaged(f"state_{place} has more buckets than there is room for")
    if ((filled * 2 ** np.arange(filled.shape[1])).sum(axis=1) != adwins.counts[:, 0]).any():
        raise Damaged(f"state_{place} has buckets that do not add up to its width")
