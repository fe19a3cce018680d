"""Saved models as trees or linear forms in real numbers; predictors of whole numbers are made of them.

A tree is nested tuples: a leaf is an array of numbers, a split ``(feature, threshold, below, above)``; x goes ``above``
where x[feature] >= threshold. :mod:`boostrun.export.integer` rounds these forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.data.dataset import filled
from boostrun.errors import BoostrunError
from boostrun.export.parts import Saved, rounding_to, thresholds_of
from boostrun.kernels.trees import add_leaves
from boostrun.methods.declaration import obtain
from boostrun.methods.probabilities import declared_for

Tree = Any  # nested tuples
PRESENT = float(np.finfo(np.float64).min)  # a threshold that all numbers reach, and missing values do not
_MISSING = -PRESENT  # one that only missing values reach, in the copy of a column
_DEEPEST = 400  # levels of a tree


@dataclass
class TreeForm:
    """F_k(x) = base[k] + sum over the trees of row k, or of all trees, of the leaf that x reaches.

    Attributes: ``trees``; ``rows``, the score of each, -1 where leaves have a number for each of them; ``base`` (K,).
    """

    what: str
    trees: list[Tree]
    rows: list[int]
    base: np.ndarray


@dataclass
class LinearForm:
    """F(x) = base + x[columns] @ weights: ``columns`` (U,) ascending, ``weights`` (U, K), ``base`` (K,).

    With ``means`` (d,) columns are those of :func:`boostrun.data.dataset.filled`: raw ones with means for missing
    values, then 1 where a value is missing.
    """

    what: str
    columns: np.ndarray
    weights: np.ndarray
    base: np.ndarray
    means: np.ndarray | None = None


def stump_trees(features, thresholds, below, above) -> list[Tree]:
    """Trees of one split each, from (T,) features and thresholds and (T, W) leaves."""
    parts = zip(features.tolist(), thresholds.tolist(), below, above)
    return [(feature, threshold, low, high) for feature, threshold, low, high in parts]


def heap_trees(features, thresholds, leaves) -> list[Tree]:
    """Complete trees from (T, 2^D - 1) splits in the order of a heap and (T, 2^D, W) leaves."""
    inner = features.shape[1]

    def at(tree: int, place: int) -> Tree:
        if place >= inner:
            return leaves[tree, place - inner]
        threshold = float(thresholds[tree, place])
        if threshold == np.inf:  # no split
            return at(tree, 2 * place + 1)
        return int(features[tree, place]), threshold, at(tree, 2 * place + 1), at(tree, 2 * place + 2)

    return [at(tree, 0) for tree in range(len(features))]


def real_form(saved: Saved) -> TreeForm | LinearForm:
    """The model in real numbers, thresholds on raw samples; BoostrunError for a kind that has no integer predictor."""
    form = catalogue.models()[saved.kind].integer
    if not form:
        raise BoostrunError(f"a model of the kind {saved.kind} has no integer predictor: leave --integer out")
    found = obtain(form)(saved)
    if len(saved.missing):
        means = saved.inputs.get("means")
        if isinstance(found, LinearForm):
            found.means = means
        else:
            found.trees = [_turned(tree, saved) if means is None else _unfilled(tree, saved) for tree in found.trees]
    return found


def _turned(tree: Tree, saved: Saved) -> Tree:
    """The tree with splits of columns in place of those that only missing values pass in a copy."""
    if is_leaf(tree):
        return tree
    feature, threshold, below, above = tree
    below, above = _turned(below, saved), _turned(above, saved)
    if threshold == _MISSING:
        return int(saved.missing[feature - saved.raw_width]), PRESENT, above, below
    return feature, threshold, below, above


def _unfilled(tree: Tree, saved: Saved) -> Tree:
    """The tree without means in place of missing values: they go where the mean goes, by a copy if that is above."""
    if is_leaf(tree):
        return tree
    feature, threshold, below, above = tree
    below, above = _unfilled(below, saved), _unfilled(above, saved)
    if feature >= saved.raw_width:  # 1 where a value is missing
        column = int(saved.missing[feature - saved.raw_width])
        return (column, PRESENT, above, below) if 0.0 < threshold <= 1.0 else above if threshold <= 0.0 else below
    if feature in saved.missing and saved.inputs["means"][feature] >= threshold:
        feature = saved.raw_width + int(np.searchsorted(saved.missing, feature))
    return feature, threshold, below, above


def saved_of(classifier: Any, kind: str) -> tuple[Saved, TreeForm | LinearForm]:
    """A loaded classifier whose file is of no kind that is exported, and its form; BoostrunError if it has none."""
    make = declared_for(classifier, "integer")
    if make is None:
        raise BoostrunError(f"a model of {type(classifier).__name__} has no integer predictor: leave --integer out")
    labels = classifier.classes_.tolist()
    return Saved(classifier, list(map(str, labels)), classifier.n_features_in_, {}, kind, labels), make(classifier)


def of_stumps(saved: Saved) -> TreeForm:
    """The form of a StumpEnsemble: a row of stumps for each class."""
    model, k = saved.model, saved.model.n_problems
    edges = raw_thresholds(saved, model.features, model.thresholds).ravel()
    steps = model.steps.reshape(-1, 1)
    trees = stump_trees(model.features.ravel(), edges, -steps, steps)
    what = f"boosted stumps, {model.n_rounds} for each of {k} scores"
    return TreeForm(what, trees, np.repeat(np.arange(k), model.n_rounds).tolist(), np.zeros(k))


def of_steps(saved: Saved, steps: np.ndarray, base: np.ndarray, how: str) -> TreeForm:
    """The form of stumps with ``steps`` (T, K) for all scores, on the features and thresholds of the saved model."""
    model = saved.model
    trees = stump_trees(model.features, raw_thresholds(saved, model.features, model.thresholds), -steps, steps)
    return TreeForm(f"{len(steps)} stumps {how}", trees, [-1] * len(trees), np.asarray(base, np.float64))


def of_votes(saved: Saved) -> TreeForm:
    """The form of a VoteEnsemble."""
    steps = saved.model.alphas[:, None] * saved.model.votes
    return of_steps(saved, steps, np.zeros(steps.shape[1]), f"with votes for {steps.shape[1]} scores")


def of_trees(saved: Saved) -> TreeForm:
    """The form of a TreeEnsemble."""
    model = saved.model
    k, rounds, inner = model.features.shape
    edges = raw_thresholds(saved, model.features, model.thresholds).reshape(-1, inner)
    trees = heap_trees(model.features.reshape(-1, inner), edges, model.leaves.reshape(k * rounds, -1, 1))
    what = f"boosted trees of depth {model.depth}, {rounds} for each of {k} scores"
    return TreeForm(what, trees, np.repeat(np.arange(k), rounds).tolist(), np.zeros(k))


def of_vote_trees(saved: Saved) -> TreeForm:
    """The form of a TreeVoteEnsemble, whose leaves vote for all scores."""
    model = saved.model
    trees = heap_trees(model.features, raw_thresholds(saved, model.features, model.thresholds), model.steps)
    what = f"{len(trees)} trees of depth {model.depth} with votes for {model.n_problems} scores"
    return TreeForm(what, trees, [-1] * len(trees), np.zeros(model.n_problems))


def of_branches(saved: Saved) -> TreeForm:
    """The form of BranchingTrees, the trees of other libraries."""
    model = saved.model
    edges, children = raw_thresholds(saved, model.features, model.thresholds).tolist(), model.children.tolist()
    features, made = model.features.tolist(), dict[int, Tree]()
    deep = [1] * len(edges)
    for node in reversed(range(len(edges))):  # a split comes before its children
        deep[node] += max(deep[at] if at >= 0 else 0 for at in children[node])
        if deep[node] > _DEEPEST:
            raise BoostrunError(f"a tree is deeper than {_DEEPEST}: it has no integer predictor")
        below, above = (made.pop(at) if at >= 0 else model.leaves[~at] for at in children[node])
        made[node] = (features[node], edges[node], below, above)
    trees = [made[root] if root >= 0 else model.leaves[~root] for root in model.roots.tolist()]
    wide = model.leaves.shape[1] > 1 or len(model.base) == 1
    rows = [-1 if wide and len(model.base) > 1 else row for row in model.rows.tolist()]
    return TreeForm(f"{len(trees)} trees of {len(edges)} splits", trees, rows, model.base)


def raw_thresholds(saved: Saved, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Thresholds on raw samples, float64. Infinite ones separate no values. ``PRESENT`` separates missing values, which
    are below, from all others. Its negative does so in a copy of the column, which has missing values above."""
    kind, found = thresholds_of(saved.inputs, features, thresholds)
    edges = rounding_to(found) if kind == "float" else found.astype(np.float64)
    if len(saved.missing) and "edges" in saved.inputs:
        above_all = (features >= saved.raw_width) & (thresholds <= saved.inputs["edges"].shape[1]) & (found == np.inf)
        below_all = np.isfinite(found) & (found <= np.finfo(np.float32).min)  # of a column in double precision too
        edges = np.where(below_all, PRESENT, np.where(above_all, _MISSING, edges))
    return np.where(edges <= 0, -np.inf, np.where(edges > 255, np.inf, edges)) if kind == "unsigned char" else edges


def real_scores(form: TreeForm | LinearForm, samples: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Scores (n, rows of the form) float64 of a form in real numbers, for ``samples`` (n, d) float64 of raw columns.

    ``missing`` (m,) int64 are the columns that may lack values. Feature j < d of the form reads column j with NaN as
    -inf, feature d + i reads column ``missing[i]`` with NaN as +inf. Cost O(n) for each split or weight.
    """
    if isinstance(form, LinearForm):
        return form.base + columns_of(form, samples, missing) @ form.weights
    width = samples.shape[1]

    def read(feature: int) -> np.ndarray:
        column = samples[:, feature if feature < width else missing[feature - width]]
        if not len(missing):
            return column
        return np.where(np.isnan(column), -np.inf if feature < width else np.inf, column)

    return sums_of(form.trees, form.rows, form.base, read, len(samples))


def columns_of(form: LinearForm, samples: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """The columns (n, U) float64 of raw ``samples`` (n, d) that a linear form weighs."""
    read = samples if form.means is None else filled(samples, missing, form.means)
    return read[:, form.columns].astype(np.float64)


# -- trees -------------------------------------------------------------------------------------------------------------


def is_leaf(tree: Tree) -> bool:
    """Whether a tree is a leaf."""
    return not isinstance(tree, tuple)


def pruned(tree: Tree, known: dict[int, tuple[float, float]] | None = None) -> Tree:
    """The tree without splits that decide nothing: those that a split above has decided, and those of equal leaves.

    >>> leaf = lambda *numbers: np.array(numbers)
    >>> pruned((0, 3.0, (0, 5.0, leaf(1), leaf(2)), (1, -np.inf, leaf(3), leaf(4))))
    (0, 3.0, array([1]), array([4]))
    """
    if is_leaf(tree):
        return tree
    known = known or {}
    feature, threshold, below, above = tree
    low, high = known.get(feature, (-np.inf, np.inf))
    if threshold <= low:
        return pruned(above, known)
    if threshold >= high:
        return pruned(below, known)
    left = pruned(below, {**known, feature: (low, threshold)})
    right = pruned(above, {**known, feature: (threshold, high)})
    if is_leaf(left) and is_leaf(right) and np.array_equal(left, right):
        return left
    return feature, threshold, left, right


def splits_of(tree: Tree) -> list[tuple[int, float]]:
    """(feature, threshold) of the splits of a tree, each before those below, these before those above."""
    return [one[:2] for one in _nodes(tree) if not is_leaf(one)]


def leaves_of(tree: Tree) -> list[np.ndarray]:
    """The leaves of a tree from below to above."""
    return [one for one in _nodes(tree) if is_leaf(one)]


def _nodes(tree: Tree) -> Iterator[Tree]:
    """The tree and its parts, each split before those below, these before those above."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        yield one
        if not is_leaf(one):
            waiting += one[3], one[2]


def renamed(tree: Tree, split, leaf) -> Tree:
    """The tree with ``split(feature, threshold)`` in place of both, and ``leaf(numbers)`` in place of a leaf."""
    if is_leaf(tree):
        return leaf(tree)
    return (*split(*tree[:2]), renamed(tree[2], split, leaf), renamed(tree[3], split, leaf))


def sums_of(trees: Sequence[Tree], rows: Sequence[int], base: np.ndarray, read, n: int) -> np.ndarray:
    """(n, K) scores of n samples; ``read(feature)`` is the column (n,) that a split reads. Cost O(n T depth)."""
    wide = any(row < 0 for row in rows)
    features, thresholds, children, leaves = list[int](), list[float](), list[Any](), list[np.ndarray]()

    def placed(tree: Tree, row: int) -> int:
        if is_leaf(tree):
            leaves.append(np.where(np.arange(len(base)) == row, tree[0], 0) if wide and row >= 0 else tree)
            return -len(leaves)
        at = len(features)
        features.append(tree[0])
        thresholds.append(tree[1])
        children.append(None)
        children[at] = placed(tree[2], row), placed(tree[3], row)
        return at

    roots = np.array([placed(tree, row) for tree, row in zip(trees, rows)], np.int32)
    scores = np.tile(np.asarray(base, np.float64), (n, 1))  # exact: whole numbers of a predictor have 32 bits
    if len(roots):
        known, place = np.unique(np.array(features, np.int64), return_inverse=True)
        columns = np.column_stack([read(feature) for feature in known.tolist()]) if len(known) else np.zeros((n, 1))
        add_leaves(
            np.ascontiguousarray(columns), place.astype(np.int32), np.array(thresholds, np.float64),
            np.array(children, np.int32).reshape(-1, 2), roots, np.maximum(np.array(rows, np.int32), 0),
            np.array(leaves, np.float64), scores,
        )  # fmt: skip
    return scores.astype(base.dtype)


def of_one_size(tree: Tree) -> bool:
    """Whether all numbers of a tree's leaves are one number or its negative, as votes are."""
    return len(np.unique(np.abs(np.array(leaves_of(tree))))) == 1


def merged(trees: Sequence[Tree], rows: Sequence[int]) -> tuple[list[Tree], list[int]]:
    """The trees by their row, stumps of the same row, feature and threshold added up, those without a split too.

    Votes for several scores stay as they are: a vote is kept as a bit.
    """
    if all(row < 0 for row in rows) and all(map(of_one_size, trees)):
        return list(trees), list(rows)
    stumps, rest = dict[tuple, Tree](), []
    for tree, row in zip(trees, rows):
        if not is_leaf(tree) and (not is_leaf(tree[2]) or not is_leaf(tree[3])):
            rest.append((row, tree))
            continue
        key = (row, tree[0], tree[1]) if not is_leaf(tree) else (row, -1, 0.0)
        held = stumps.get(key)
        if held is None:
            stumps[key] = tree
        else:
            stumps[key] = held + tree if is_leaf(tree) else (*tree[:2], held[2] + tree[2], held[3] + tree[3])
    found = [(key[0], tree) for key, tree in sorted(stumps.items(), key=lambda one: one[0])] + rest
    found.sort(key=lambda one: one[0])
    return [tree for _, tree in found], [row for row, _ in found]


def without_leaves(
    trees: Sequence[Tree], rows: Sequence[int], base: np.ndarray
) -> tuple[list[Tree], list[int], np.ndarray]:
    """The trees that split, their rows, and ``base`` (K,) with those that are only a leaf."""
    both = [(tree, row) for tree, row in zip(trees, rows) if not is_leaf(tree)]
    for tree, row in zip(trees, rows):
        if is_leaf(tree):
            base = base + (tree if row < 0 else np.where(np.arange(len(base)) == row, tree[0], 0))
    return [tree for tree, _ in both], [row for _, row in both], base
