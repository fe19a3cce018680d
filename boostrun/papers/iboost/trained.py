"""Trained stream learners: their probabilities and feature importances, and checks of the numbers of saved ones.

Compiled loops use these numbers as indices without a check. Types and shapes are right when a check begins: they are
those of a new learner (:class:`boostrun.methods.stream_state.StreamState`). M counts members, n
examples of a window, G classes that the state knows, d features. Each check raises Damaged with one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from boostrun.errors import BoostrunError
from boostrun.export.forms import TreeForm, stump_trees
from boostrun.kernels.hoeffding import (
    FEATURE,
    FEATURES,
    FREE_NODES,
    FREE_SLOTS,
    LEFT,
    PARENT,
    RIGHT,
    SLOT,
    HoeffdingTrees,
)
from boostrun.methods.archive import Array, Damaged
from boostrun.methods.probabilities import Link, Votes, margin_link, normalised, width_of
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_state import MOST, check_values
from boostrun.papers.iboost.adaptive_forest import Forest
from boostrun.papers.iboost.iboost import DIRTY, SEEN, SIZE, CommitteeState
from boostrun.papers.iboost.kernels.adaptive_tree import IN_USE, AdaptiveTree, Alternates
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.iboost.kernels.bases import STUMP
from boostrun.papers.iboost.kernels.committee import CommitteeMembers, predicted
from boostrun.papers.iboost.kernels.iboost_mm import ClassesState
from boostrun.papers.iboost.kernels.incremental import Learners, Spread
from boostrun.papers.iboost.kernels.logistic_members import Regressions
from boostrun.papers.iboost.onlineboost import coefficient

_RIGHT_OR_WRONG = "its coefficients tell right from wrong, which says of more than two classes no probability"
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
    HoeffdingTrees: {
        "weight": _POSITIVE, "roots": Array("", "_", 0, "N"), "nodes": Array("", "N 6", -1, MOST),
        "classes": _POSITIVE, "looks": Array("", "S _", 0, "d"), "observed": _ANY,
        "free_nodes": Array("", "N", 0, "N"), "free_slots": Array("", "S", 0, "S"), "counts": _COUNTS,
    },
    Alternates: {
        "alternate": Array("", "_", -1, "W"), "errors": _POSITIVE, "used": Array("", "W", 0, 2), "counts": _COUNTS,
    },
    Forest: {
        "places": Array("", "M 2", 0, MOST), "growing": Array("", "M", 0, 2), "tallies": _POSITIVE, "counts": _COUNTS,
    },
    Adwins: {"counts": Array("", "...", least=0, below=2**40)},
}  # fmt: skip
_ATTRIBUTES = {
    "_counts": _COUNTS, "_watch": _COUNTS, "_removed": _COUNTS, "_met": _COUNTS, "_born": _COUNTS, "_clock": _COUNTS,
    "_share": _POSITIVE, "_threshold": _POSITIVE, "_errors": _POSITIVE, "_sums": _POSITIVE, "sums_": _POSITIVE,
    "_weights": _POSITIVE, "_models": _INFINITE, "_shares": _ANY, "_votes": _ANY, "_misses": _ANY,
    "_order": Array("", "M", 0, "M"), "_learns": Array("", "M", 0, 2),
}  # fmt: skip


def samme(votes: np.ndarray, cap: float = math.inf) -> np.ndarray:
    """Probabilities (n, K) from ``votes`` (n, K), the sums of the coefficients that vote for each class.

    SAMME's loss is exp(-y'f / K), f_c = v_c - (sum of the other v) / (K - 1). Its expectation is least where p is
    proportional to exp(z_c), z_c = f_c / (K - 1) = (K v_c - sum of v) / (K - 1)^2 (Zhu, Zou, Rosset & Hastie 2009). If
    its slope, exp(-z_c) for an example of class c, is at most ``cap``, all p_c min(exp(-z_c), cap) are equal there.

    >>> samme(np.array([[0.0, np.log(3.0) / 2]])).round(3).tolist()  # two classes: 1 / (1 + exp(-2 F))
    [[0.25, 0.75]]
    >>> samme(np.array([[0.0, np.log(3.0)]]), cap=1.0).round(3).tolist()  # 1 / (1 + exp(-F))
    [[0.25, 0.75]]
    """
    classes = votes.shape[1]
    z = (classes * votes - votes.sum(axis=1, keepdims=True)) / (classes - 1) ** 2
    return softmax(np.maximum(z, -math.log(cap)), axis=1)


def pairwise(votes: np.ndarray, cap: float = math.inf) -> np.ndarray:
    """Probabilities (n, K) from ``votes`` (n, K) under the loss u_y = sum of exp(v_c - v_y) over c != y.

    Where its expectation is least, p_y / exp(2 v_y) is the same for all classes. If the slope of the loss in u_y is
    min(1, ``cap`` / u_y), that is so of p_y min(1, cap / u_y) / exp(2 v_y).

    >>> pairwise(np.array([[0.0, np.log(3.0) / 2]])).round(3).tolist()  # two classes: 1 / (1 + exp(-2 F))
    [[0.25, 0.75]]
    >>> pairwise(np.array([[0.0, np.log(3.0)]]), cap=1.0).round(3).tolist()  # 1 / (1 + exp(-F))
    [[0.25, 0.75]]
    """
    if cap == math.inf:
        return softmax(2.0 * votes, axis=1)
    others = np.column_stack([logsumexp(np.delete(votes, one, axis=1), axis=1) for one in range(votes.shape[1])])
    excess = others - votes - math.log(cap)  # of u over the cap, in logarithms
    return softmax(2.0 * votes + np.maximum(excess, 0.0), axis=1)


# For each class of learners, its link from scores to probabilities, or its votes and why they are no probabilities


def iboost_link(classifier) -> Link:
    """exp(-F) for two classes and for each class against the rest, else the loss of the committee, with its cap.

    Without gradient steps, or with steps of the loss's logarithm, no slope is capped. Literal coefficients are twice
    the minimiser if no step changes them.
    """
    capped = classifier.n_steps and classifier.gradient != "log" and classifier.grad_cap is not None
    cap = float(classifier.grad_cap) if capped else math.inf
    unit = 0.5 if classifier.scale == "literal" and not classifier.n_steps else 1.0

    def probabilities(scores: np.ndarray) -> np.ndarray:
        scores = unit * scores
        if scores.ndim == 1 or classifier.multiclass == "ovr":  # p min(exp(-F), cap) = (1 - p) min(exp(F), cap)
            least = -math.log(cap)
            return margin_link(1.0).of(np.maximum(scores, least) - np.maximum(-scores, least))
        return (pairwise if classifier.loss == "mm" else samme)(scores, cap)

    return Link(probabilities)


def adaboost_link(classifier) -> Link:
    """SAMME's loss, which is the exponential one for two classes."""
    return Link(samme, _committee_votes)


def ocb_link(classifier) -> Link | Votes:
    """exp(-F) for two classes."""
    if _has_several_classes(classifier):
        return Votes(_RIGHT_OR_WRONG, _without_negatives(_committee_votes))
    return Link(samme, _committee_votes)


def online_boost_link(classifier) -> Link | Votes:
    """exp(-F) for two classes, F half the difference of the votes, whose coefficients are twice AdaBoost's."""
    votes = _without_negatives(_boosted_votes)
    if _has_several_classes(classifier):
        return Votes(_RIGHT_OR_WRONG, votes)
    if classifier.vote != "hard" or classifier.bad_weight:
        return Votes(
            "votes that are shared, or of members worse than chance, minimise no loss with probabilities", votes
        )
    return Link(lambda votes: margin_link(1.0).of(votes[:, 1] - votes[:, 0]), _boosted_votes)


def bagging_link(classifier) -> Link:
    """The share of the members that predict a class, or the mean of their probabilities (Breiman 1996)."""
    return Link(normalised, _bagged_votes)


def smooth_boost_link(classifier) -> Votes:
    """None: SmoothBoost's weights belong to a loss that is constant where it is right."""
    return Votes("its members' votes minimise no loss with probabilities", _uniform_votes)


def weighted_majority_link(classifier) -> Votes:
    """None: weights decrease with errors."""
    return Votes("its experts' weights show how often they were wrong lately, and minimise no loss", _expert_votes)


def blocks_link(classifier) -> Votes:
    """None: an unweighted vote."""
    return Votes("its members vote alike, without a common loss", _committee_votes)


def frequencies_link(classifier) -> Link:
    """The share of each class among the examples so far."""
    return Link(normalised, _frequencies)


def _has_several_classes(classifier) -> bool:
    return len(getattr(classifier, "classes_", ())) > 2


# Share of the votes of each class, (n, K) float64


def _frequencies(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    return np.tile(classifier._seen.astype(np.float64), (len(classifier._checked(X, reset=False)), 1))


def _committee_votes(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    X, members = classifier._checked(X, reset=False), classifier.members()
    votes = (classifier._others.voted(X) if members is None else predicted(members, X))[1].T
    # OCB never votes for a class that appeared after its first window
    new = max(2, len(classifier.classes_)) - votes.shape[1]
    return np.hstack([votes, np.tile(np.minimum(votes.min(axis=1, keepdims=True), 0.0), new)]) if new else votes


def _boosted_votes(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    rule = float(classifier.bad_weight), bool(classifier.negative_votes)
    coefficients = np.array([coefficient(classifier.sums_, j, *rule) for j in range(classifier.budget)])
    return _votes(classifier, X, coefficients, classifier.vote == "proba")


def _expert_votes(classifier, X) -> np.ndarray:
    weights = np.zeros(classifier.budget)
    weights[classifier._order[: len(classifier.betas_)]] = classifier.betas_
    return _votes(classifier, X, weights)


def _uniform_votes(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    return _votes(classifier, X, classifier.betas_)


def _bagged_votes(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    has_say = (classifier.learners_.weight.sum(axis=1) > 0.0).astype(np.float64)
    return _votes(classifier, X, has_say, classifier.vote == "proba")


def _votes(classifier, X, coefficients: np.ndarray, proba: bool = False) -> np.ndarray:
    X = classifier._checked(X, reset=False)
    return classifier._members.votes(X, np.arange(len(coefficients)), coefficients, proba).T


def _without_negatives(votes_of: Callable) -> Callable:
    """Votes shifted to be at least 0: a negative coefficient votes against a class."""

    def votes(classifier, X) -> np.ndarray:
        found = votes_of(classifier, X)
        return found - np.minimum(found.min(axis=1, keepdims=True), 0.0)

    return votes


# Importances (d,) of features: sums of |coefficient|, or the reason why there are none


def committee_importances(classifier) -> np.ndarray | str:
    """Over the stumps of one committee."""
    return _stump_importances(classifier, lambda: [classifier.members()])


def iboost_importances(classifier) -> np.ndarray | str:
    """Over the stumps of one committee, or of one for each class."""
    return _stump_importances(classifier, classifier._committees)


def iboost_integer(classifier) -> TreeForm:
    """The current committee's stumps for a predictor of whole numbers; BoostrunError for other base classifiers."""
    if classifier.base != "stump":
        raise BoostrunError(f"a classifier with base={classifier.base!r} has no integer predictor: stumps have")
    committees = classifier._committees()
    k = len(committees) if len(committees) > 1 else committees[0].n_classes if committees[0].n_classes > 2 else 1
    trees, rows = list[Any](), list[int]()
    for row, members in enumerate(committees):
        models, weights = members.models[: members.size], members.coefficients[: members.size, None]
        said = np.eye(max(k, 2))[models[:, 2:4].astype(np.int64)]  # (m, 2, classes), below and above
        if members.n_classes == 2:
            said = 2.0 * models[:, 2:4, None] - 1.0
        edges = np.nextafter(models[:, 1], np.inf)  # x > t is x at least this
        trees += stump_trees(models[:, 0].astype(np.int64), edges, weights * said[:, 0], weights * said[:, 1])
        rows += [row if members.n_classes == 2 else -1] * members.size
    return TreeForm(f"a committee of {len(trees)} stumps for {k} scores", trees, rows, np.zeros(k))


def _stump_importances(classifier, committees: Callable[[], Iterable[CommitteeMembers]]) -> np.ndarray | str:
    if classifier.base != "stump":
        return f"a classifier with base={classifier.base!r} uses all features"
    out = np.zeros(width_of(classifier))
    for members in committees():
        features = members.models[: members.size, 0].astype(np.int64)
        out += np.bincount(features, np.abs(members.coefficients[: members.size]), len(out))
    return out


def tree_importances(classifier) -> np.ndarray | str:
    """Over the splits of trees; a split counts half as much as the one above it."""
    out = np.zeros(classifier.n_features_in_)
    made: Iterable[CommitteeMembers] = classifier._committees()
    for members in made:
        for model, weight in zip(members.models[: members.size], members.coefficients):
            _add_splits(classifier._trees, int(classifier._trees.roots[int(model[0])]), abs(weight), out)
    return out


def _add_splits(trees: HoeffdingTrees, node: int, share: float, out: np.ndarray) -> None:
    """Add ``share`` to the feature of a split, and half of it to those of the splits below."""
    waiting = [(node, share)]
    while waiting:
        node, share = waiting.pop()
        if trees.nodes[node, LEFT] >= 0:
            out[trees.nodes[node, FEATURE]] += share
            waiting += [(int(trees.nodes[node, side]), share / 2) for side in (LEFT, RIGHT)]


# -- checks of saved learners ------------------------------------------------------------------------------------------


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
    if isinstance(learner._fitted, HoeffdingTrees):
        _check_trees("_fitted", learner._fitted, learner.n_features_in_)
    if learner._family == STUMP:
        _check_stumps("_models", learner._models, learner._n_classes, learner.n_features_in_)
        if filled and not with_sums and "_errors" not in vars(learner):  # its window slides
            _check_order("_window.1", order, columns)


def check_incremental(learner, n_classes: int) -> None:
    """Check members that learn one example at a time, and their weights."""
    windows = {"_window.0": _ANY, "_window.1": Array("", "n", 0, "G")}
    d, own = learner.n_features_in_, vars(learner)
    check_values(learner, {**_ATTRIBUTES, **windows}, _TUPLES, {"G": max(2, n_classes), "d": d})
    if isinstance(learner.learners_, HoeffdingTrees):
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


def check_forest(learner, n_classes: int) -> None:
    """Check an adaptive random forest: every tree of the pool is in one place."""
    check_values(learner, {}, _TUPLES, {"d": learner.n_features_in_})
    _check_trees("learners_", learner.learners_, learner.n_features_in_)
    _check_buckets("_forest.4.0", learner._forest.adwins)
    if not np.array_equal(np.sort(learner._forest.places, axis=None), np.arange(len(learner.learners_.roots))):
        raise Damaged("state__forest.0 does not have every tree in one place")


def _check_trees(place: str, trees: HoeffdingTrees, d: int) -> None:
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


def _check_alternates(trees: HoeffdingTrees, watched: Alternates) -> None:
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
