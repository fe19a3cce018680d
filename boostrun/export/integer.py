"""Predictors of whole numbers, for chips without floating point: their form, how it is chosen, and its twin in numpy.

A saved model becomes :class:`TreeForm` or :class:`LinearForm`, in real numbers; :func:`quantised` makes an
:class:`IntegerModel` of it: codes of 8 or 16 bits for the features that it reads, for thresholds and for leaves.
:mod:`boostrun.export.chip` writes it in C, and lays its tables out; :func:`boostrun.export.chip.size_of` counts them.

A tree is nested tuples: a leaf is an array of numbers, a split ``(feature, threshold, below, above)``; x goes ``above``
where x[feature] >= threshold.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.export.parts import Saved, rounding_to, thresholds_of
from boostrun.kernels.trees import add_leaves
from boostrun.methods.declaration import obtain
from boostrun.methods.probabilities import declared_for

Tree = Any  # nested tuples
DRAWN = 1000  # rows that are drawn if none are given
_BITS = (8, 16)
_LARGEST = 2**31 - 1
_DEEPEST = 400  # levels of a tree
_MISSING = float(np.finfo(np.float64).max)  # a threshold that no number has
_PRESENT = -_MISSING


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
    """F(x) = base + x[columns] @ weights: ``columns`` (U,) ascending, ``weights`` (U, K), ``base`` (K,)."""

    what: str
    columns: np.ndarray
    weights: np.ndarray
    base: np.ndarray


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
    if saved.inputs and "means" in saved.inputs and len(saved.missing):
        raise BoostrunError("means in place of missing values have no integer predictor: leave --integer out")
    return obtain(form)(saved)


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
    """Thresholds on raw samples, float64: infinite where all or none is above, ``_PRESENT`` where all are but missing
    values, ``_MISSING`` where only these are."""
    kind, found = thresholds_of(saved.inputs, features, thresholds)
    edges = rounding_to(found) if kind == "float" else found.astype(np.float64)
    if len(saved.missing):
        above_all = (features >= saved.raw_width) & (thresholds <= saved.inputs["edges"].shape[1]) & (found == np.inf)
        edges = np.where(found == np.finfo(found.dtype).min, _PRESENT, np.where(above_all, _MISSING, edges))
    return np.where(edges <= 0, -np.inf, np.where(edges > 255, np.inf, edges)) if kind == "unsigned char" else edges


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


# -- whole numbers -----------------------------------------------------------------------------------------------------


@dataclass
class InputCodes:
    """How a raw sample becomes codes: code = floor((x - offset) * scale), at least ``least`` and at most ``most``.

    Attributes
    ----------
    columns : (C,) raw columns that the model reads, ascending; x of the predictor has a code for each.
    offset, scale : (C,) float64.
    bits : 8 or 16.
    twins : (M,) places among ``columns`` whose missing values the model tells apart: feature C + m reads place
        twins[m] with ``most`` where it is missing. A missing value has the code 0.
    """

    columns: np.ndarray
    offset: np.ndarray
    scale: np.ndarray
    bits: int
    twins: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def most(self) -> int:
        """The largest code."""
        return 2**self.bits - 1

    @property
    def least(self) -> int:
        """The least code of a number."""
        return int(len(self.twins) > 0)

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """(n, C) int64 codes of raw ``samples`` (n, d); NaN is 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.floor((samples[:, self.columns].astype(np.float64) - self.offset) * self.scale)
        found = np.where(np.isnan(found), 0.0, np.clip(found, self.least, self.most))
        return found.astype(np.int64)

    def read(self, codes: np.ndarray):
        """A function that gives the column (n,) of a feature, of ``codes`` (n, C)."""
        columns = len(self.columns)

        def column(feature: int) -> np.ndarray:
            if feature < columns:
                return codes[:, feature]
            found = codes[:, self.twins[feature - columns]]
            return np.where(found == 0, self.most, found)

        return column


@dataclass
class IntegerModel:
    """A predictor of whole numbers; its methods are the twin of the C, number by number.

    Attributes
    ----------
    codes : :class:`InputCodes`.
    trees, rows : as in :class:`TreeForm`, of whole numbers, features being places in x; empty for a linear model.
    weights : (C, K) int64 of a linear model, else (0, K).
    base : (K,) int64.
    leaf_bits : 8 or 16, of leaves or weights.
    classes : names; names of columns : ``names``.
    rows_seen, lost : calibration rows, and how many have another label than the model in real numbers gives them.
    given : whether the rows were given, not drawn.
    """

    what: str
    codes: InputCodes
    trees: list[Tree]
    rows: list[int]
    weights: np.ndarray
    base: np.ndarray
    leaf_bits: int
    classes: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rows_seen: int = 0
    lost: int = 0
    given: bool = False

    @property
    def bound(self) -> int:
        """No sum on the way to a score is larger in size than this."""
        bounds = np.abs(self.base) + np.abs(self.weights).sum(axis=0) * self.codes.most
        for tree, row in zip(self.trees, self.rows):
            largest = np.abs(np.array(leaves_of(tree))).max(axis=0)
            bounds[slice(None) if row < 0 else row] += largest if row < 0 else largest[0]
        return int(bounds.max())

    def scores(self, codes: np.ndarray) -> np.ndarray:
        """(n, K) int64 scores of ``codes`` (n, C)."""
        if len(self.weights):
            return self.base + codes @ self.weights
        return sums_of(self.trees, self.rows, self.base, self.codes.read(codes), len(codes))

    def predict(self, codes: np.ndarray) -> np.ndarray:
        """(n,) int64 class numbers of ``codes`` (n, C)."""
        return decided(self.scores(codes))


def decided(scores: np.ndarray) -> np.ndarray:
    """(n,) class numbers of (n, K) scores: 1 where the only score is at least 0, else the first of the largest."""
    return (scores[:, 0] >= 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)


class CalibrationRows(NamedTuple):
    """Raw rows (n, d) on which bits are chosen, the class numbers (n,) that the model gives them, or None, and whether
    they were given."""

    samples: np.ndarray
    labels: np.ndarray | None = None
    given: bool = True


def quantised(
    saved: Saved, calibration: np.ndarray | None = None, labels: np.ndarray | None = None,
    bits: tuple[int, int] | None = None, names: Sequence[str] = (), form: TreeForm | LinearForm | None = None,
    fits: Callable[[IntegerModel], bool] = lambda model: True,
) -> IntegerModel:  # fmt: skip
    """The predictor of whole numbers of a saved model.

    Parameters
    ----------
    calibration : (n, d) raw rows; without them 1,000 are drawn around the thresholds of trees, and a linear model is
        refused.
    labels : (n,) class numbers that the model gives them; by default computed from its form in real numbers.
    bits : of codes and thresholds, and of leaves or weights. By default the fewest that lose no label of the rows, else
        those that lose the fewest.
    names : of all raw columns.
    form : the model in real numbers, by default :func:`real_form` of ``saved``.
    fits : whether a predictor is small enough; bits for which it is not are chosen only if it is for none.

    Raises BoostrunError, one sentence, for a kind that has no integer predictor.
    """
    form = real_form(saved) if form is None else form
    missing = saved.missing
    if isinstance(form, LinearForm):
        if calibration is None:
            raise BoostrunError(
                "a linear model is scaled by the range of its features: give rows too, export m.npz rows.csv --integer"
            )
    else:
        trees, rows = merged([pruned(tree) for tree in form.trees], form.rows)
        form = TreeForm(form.what, *without_leaves(trees, rows, np.asarray(form.base, np.float64)))
        trees = form.trees
        if not any(map(splits_of, trees)):
            raise BoostrunError("the model holds no split: there is nothing to export")
    rows_of = CalibrationRows(calibration, labels) if calibration is not None else _drawn(form, saved)
    if rows_of.labels is None:
        rows_of = rows_of._replace(labels=decided(real_scores(form, rows_of.samples, missing)))
    best: tuple[tuple[bool, int], IntegerModel] | None = None
    for code_bits, leaf_bits in [bits] if bits else itertools.product(_BITS, _BITS):
        if isinstance(form, LinearForm):
            found = _linear(form, rows_of, code_bits, leaf_bits)
        else:
            found = _of_trees(form, saved, rows_of, code_bits, leaf_bits)
        lost = int((found.predict(found.codes(rows_of.samples)) != rows_of.labels).sum())
        large = not ((found.trees or len(found.weights)) and fits(found))
        if best is None or (large, lost) < best[0]:
            best = (large, lost), found
        if not large and not lost:
            break
    assert best is not None
    (_, lost), found = best
    if not len(found.weights) and not found.trees:
        raise BoostrunError("in whole numbers the model gives every row the same class: there is nothing to export")
    found.lost, found.rows_seen, found.given = lost, len(rows_of.samples), rows_of.given
    found.classes = saved.classes if len(found.base) == 1 else saved.classes[: len(found.base)]
    found.names = [names[column] if column < len(names) else f"column {column}" for column in found.codes.columns]
    return found


def real_scores(form: TreeForm | LinearForm, samples: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Scores (n, rows of the form) float64 of a form in real numbers, for ``samples`` (n, d) float64 of raw columns.

    ``missing`` (m,) int64 are the columns that may lack values. Feature j < d of the form reads column j with NaN as
    -inf, feature d + i reads column ``missing[i]`` with NaN as +inf. Cost O(n) for each split or weight.
    """
    if isinstance(form, LinearForm):
        return form.base + samples[:, form.columns] @ form.weights
    width = samples.shape[1]

    def read(feature: int) -> np.ndarray:
        column = samples[:, feature if feature < width else missing[feature - width]]
        if not len(missing):
            return column
        return np.where(np.isnan(column), -np.inf if feature < width else np.inf, column)

    return sums_of(form.trees, form.rows, form.base, read, len(samples))


def _drawn(form: TreeForm | LinearForm, saved: Saved) -> CalibrationRows:
    """1,000 rows, each value in one of the intervals between the thresholds on its column."""
    assert isinstance(form, TreeForm)
    last = max(feature for tree in form.trees for feature, _ in splits_of(tree))
    rng, samples = np.random.default_rng(0), np.zeros((DRAWN, max(saved.raw_width, last + 1)))
    for column, edges in _thresholds(form.trees, saved.raw_width, saved.missing).items():
        gaps = np.diff(edges) if len(edges) > 1 else np.ones(1)
        ends = np.concatenate([edges[:1] - gaps.mean(), edges, edges[-1:] + gaps.mean()]) if len(edges) else np.zeros(2)
        place = rng.integers(0, len(ends) - 1, DRAWN)
        samples[:, column] = ends[place] + rng.random(DRAWN) * (ends[place + 1] - ends[place])
    return CalibrationRows(np.floor(samples) if saved.of_pixels else samples, None, False)


def _thresholds(trees: Sequence[Tree], width: int, missing: np.ndarray) -> dict[int, np.ndarray]:
    """Raw column -> its thresholds, ascending, those of its copy for missing values too."""
    found: dict[int, set[float]] = {}
    for tree in trees:
        for feature, threshold in splits_of(tree):
            column = int(feature if feature < width or not len(missing) else missing[feature - width])
            found.setdefault(column, set()).update({threshold} - {_PRESENT, _MISSING})
    return {column: np.array(sorted(edges)) for column, edges in sorted(found.items())}


def _of_trees(form: TreeForm, saved: Saved, rows: CalibrationRows, code_bits: int, leaf_bits: int) -> IntegerModel:
    missing, width = saved.missing, saved.raw_width if len(saved.missing) else 2**31
    edges = _thresholds(form.trees, width, missing)
    columns = np.array(list(edges), np.int64)
    place = {column: number for number, column in enumerate(edges)}
    twins = [place[int(column)] for column in missing if int(column) in place]
    codes = InputCodes(columns, np.zeros(len(columns)), np.ones(len(columns)), code_bits, np.array(twins, np.int64))
    named = {width + m: len(columns) + twins.index(place[int(c)]) for m, c in enumerate(missing) if int(c) in place}
    coded, ends = dict[tuple[int, float], int](), {_PRESENT: codes.least, _MISSING: codes.most}
    for number, (column, found) in enumerate(edges.items()):
        values = rows.samples[:, column].astype(np.float64)
        values = np.sort(values[~np.isnan(values)])
        whole = (rows.given or saved.of_pixels) and bool(np.all(values == np.floor(values)))
        codes.offset[number], codes.scale[number] = _scaling(found, values, whole, codes)
        for threshold, code in zip(found.tolist(), _coded(found, values, number, codes)):
            coded[column, threshold] = code
    largest = max(float(np.abs(np.array(leaves_of(tree))).max()) for tree in form.trees)
    sums = np.abs(form.base).astype(np.float64)
    for tree, row in zip(form.trees, form.rows):
        one = np.abs(np.array(leaves_of(tree))).max(axis=0)
        sums[slice(None) if row < 0 else row] += one if row < 0 else one[0]
    scale = min((2 ** (leaf_bits - 1) - 1) / largest, (_LARGEST - len(form.trees) - 1) / sums.max()) if largest else 1.0

    def split(feature: int, threshold: float) -> tuple[int, int]:
        column = int(feature if feature < width else missing[feature - width])
        code = ends[threshold] if threshold in ends else coded[column, threshold]
        return named[feature] if feature >= width else place[column], code

    trees = [pruned(renamed(tree, split, lambda leaf: np.rint(leaf * scale).astype(np.int64))) for tree in form.trees]
    base = np.rint(form.base * scale).astype(np.int64)
    kept, kept_rows, base = without_leaves(*merged(trees, form.rows), base)
    weights = np.zeros((0, len(base)), np.int64)
    return IntegerModel(form.what, codes, kept, kept_rows, weights, base, leaf_bits)


def _scaling(edges: np.ndarray, values: np.ndarray, whole: bool, codes: InputCodes) -> tuple[float, float]:
    """(offset, scale) of a column: itself where whole numbers fit, else thresholds from the second code to the last but
    one."""
    if not len(edges):
        return 0.0, 1.0
    low, high, first = edges[0], edges[-1], codes.least + 1
    if whole and np.ceil(high) - np.floor(low) <= codes.most - first:
        fits = len(values) and values[0] >= codes.least and np.ceil(high) <= codes.most and low > codes.least
        return (0.0 if fits else float(np.ceil(low)) - first), 1.0
    if high == low:
        return float(low) - first, 1.0
    scale = (codes.most - 1 - first) / (high - low)  # above the last threshold one code is left
    return float(low - first / scale), float(scale)


def _coded(edges: np.ndarray, values: np.ndarray, number: int, codes: InputCodes) -> list[int]:
    """The code of each threshold, such that the rows' ``values``, ascending, fall on the sides where they did."""
    offset, scale = codes.offset[number], codes.scale[number]
    natural = np.clip(np.ceil(np.round((edges - offset) * scale, 6)), codes.least + 1, codes.most).astype(np.int64)
    if not len(values):
        return natural.tolist()
    of_rows = np.clip(np.floor((values - offset) * scale), codes.least, codes.most).astype(np.int64)
    out = []
    for edge, plain in zip(edges, natural.tolist()):
        at = int(np.searchsorted(values, edge))
        below = int(of_rows[at - 1]) if at else -1
        above = int(of_rows[at]) if at < len(values) else codes.most + 1
        if below < above:
            code = min(max(plain, below + 1), above, codes.most)
        else:  # both sides share a code: the smaller part is lost
            first, last = np.searchsorted(of_rows, above), np.searchsorted(of_rows, above, side="right")
            code = min(above if at - first <= last - at else above + 1, codes.most)
        out.append(max(code, codes.least + 1))
    return out


def _linear(form: LinearForm, rows: CalibrationRows, code_bits: int, weight_bits: int) -> IntegerModel:
    samples = rows.samples[:, form.columns].astype(np.float64)
    low, high = samples.min(axis=0), samples.max(axis=0)
    codes = InputCodes(form.columns, low, np.ones(len(low)), code_bits)
    whole = np.all(samples == np.floor(samples), axis=0)
    codes.offset[whole & (low >= 0) & (high <= codes.most)] = 0.0
    wide = np.where(high > codes.offset, high - codes.offset, 1.0)
    fits = whole & (wide <= codes.most)
    codes.scale[:] = np.where(fits, np.floor(codes.most / wide), codes.most / wide)  # all weights alike in size
    weights = form.weights / codes.scale[:, None]
    middle = np.where(fits, 0.0, 0.5)  # of the values that share a code
    base = form.base + (codes.offset + middle / codes.scale) @ form.weights
    sums = (np.abs(weights).sum(axis=0) * codes.most + np.abs(base)).max()
    largest = np.abs(weights).max()
    room = _LARGEST - (len(weights) + 1) * codes.most
    scale = min((2 ** (weight_bits - 1) - 1) / largest, room / sums) if largest else 1.0
    rounded = np.rint(weights * scale).astype(np.int64)
    return IntegerModel(
        form.what, codes, [], [], rounded, np.rint(base * scale).astype(np.int64), weight_bits,
    )  # fmt: skip
