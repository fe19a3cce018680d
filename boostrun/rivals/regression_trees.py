"""Regression trees that learn one example at a time, and regrow branches whose error rises: FIMT-DD.

After Ikonomovska, Gama & Dzeroski, "Learning model trees from evolving data streams" (Data Mining and Knowledge
Discovery 23, 2011), with mean leaves. An example is a pair of sums, G of gradients and H of Hessians. Its target is
-G/H with weight H, and the value of a leaf is -G/H of all its examples.

    leaf      every ``grace`` examples: the best cut of each feature, by gain; the leaf is split where
              second / first < 1 - eps,  or eps < tie,   eps = sqrt(ln(1/delta) / (2 n))
    branch    e = |target - value of the tree| / (3 standard deviations of the targets);  Page & Hinkley's test:
              m += e - mean e - alpha;  alarm if m - min m > threshold;  then an alternate tree begins there
    alternate learns what the branch learns;  Q = ln(S / S'),  S = loss + 0.995 S of the branch, S' of the alternate;
              every 150 examples it takes the branch's place if Q > 0, and goes if the mean of Q has fallen after
              10 grace examples, or after 1,500

A new leaf is empty, as in MOA, with the value 0 before its first example, or has the sums of its side of the split.

All trees of an ensemble share one pool of nodes and one of histograms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostrun.kernels import part
from boostrun.methods.archive import Array, Damaged
from boostrun.methods.stream_state import MOST, check_values
from boostrun.rivals.histograms import best_cut, insert, whole

FEATURE, LEFT, RIGHT, ALTERNATE, OBSERVER, NEXT = range(6)  # columns of ``links``
LEAF, FREE = -1, -2  # values in the column FEATURE
THRESHOLD, GRADIENT, HESSIAN, SEEN, TRIED = range(5)  # columns of ``numbers``; a branch has SEEN, too
ERRORS, RISE, LOWEST, LOSS, OTHER_LOSS, AGE, Q_SUM, Q_MEAN = range(5, 13)
NODES, FREE_NODE, OBSERVERS, FREE_OBSERVER, SPLITS, ALARMS, REPLACED = range(7)  # places in ``counts``
WEIGHT, MEAN, SCATTER = range(3)  # columns of ``targets``
NEEDED = 5  # nodes, and sets of histograms, that a tree may need for one example: two splits and an alternate
_FADING, _CHECK, _GRACES, _PATIENCE = 0.995, 150.0, 10.0, 1500.0
_TINY = 1e-300


class RegressionTrees(NamedTuple):
    """T trees on k features each, in pools of N nodes and P times k histograms of B bins.

    ``links`` (N, 6) int64: feature (-1: a leaf, -2: free), left, right, alternate tree, place of the histograms, next
    in a chain; -1 is none. ``numbers`` (N, 13) float64. ``bins`` (P, k, B, 4) float64 and ``filled`` (P, k) int64, see
    :mod:`.histograms`. ``roots`` and ``leaves`` (T,) int64, the number of leaves with those of alternates. ``columns``
    (T, k) int64, the features of each tree. ``targets`` (T, 3) float64: weight, mean and squared deviations of targets.
    ``counts`` (7,) int64.
    """

    links: np.ndarray
    numbers: np.ndarray
    bins: np.ndarray
    filled: np.ndarray
    roots: np.ndarray
    leaves: np.ndarray
    columns: np.ndarray
    targets: np.ndarray
    counts: np.ndarray

    @classmethod
    def fresh(cls, columns: np.ndarray, n_bins: int) -> RegressionTrees:
        """Trees of one empty leaf each, on the features ``columns`` (T, k)."""
        count, k = columns.shape
        room = count * (NEEDED + 1)
        links, numbers = np.full((room, 6), -1, np.int64), np.zeros((room, 13))
        links[:, FEATURE] = FREE
        links[:count, FEATURE] = LEAF
        links[:count, OBSERVER] = np.arange(count)
        counts = np.array([count, -1, count, -1, 0, 0, 0])
        return cls(
            links, numbers, np.zeros((room, k, n_bins, 4)), np.zeros((room, k), np.int64), np.arange(count),
            np.ones(count, np.int64), columns.astype(np.int64), np.zeros((count, 3)), counts,
        )  # fmt: skip

    def with_room(self, nodes: int, observers: int) -> RegressionTrees:
        """The same trees with more room, for so many nodes and sets of histograms."""
        links, filled = np.full((nodes, 6), -1, np.int64), np.zeros((observers, self.filled.shape[1]), np.int64)
        links[:, FEATURE] = FREE
        numbers, bins = np.zeros((nodes, 13)), np.zeros((observers, *self.bins.shape[1:]))
        for new, old in ((links, self.links), (numbers, self.numbers), (bins, self.bins), (filled, self.filled)):
            new[: len(old)] = old
        return self._replace(links=links, numbers=numbers, bins=bins, filled=filled)

    def mirrored(self) -> RegressionTrees:
        """The trees for gradients of the opposite sign."""
        copy = RegressionTrees(*(array.copy() for array in self))
        for sums in (copy.numbers[:, GRADIENT], copy.bins[..., 2], copy.targets[:, MEAN]):
            np.subtract(0.0, sums, out=sums)
        return copy


class TreeGrowth(NamedTuple):
    """The parameters, common to all trees, of splitting leaves and of beginning alternates."""

    grace: float
    delta: float
    tie: float
    alpha: float
    threshold: float
    max_leaves: int
    inherit: bool


@part
def has_room(trees):
    """Whether every tree has room for one more example; freed nodes are ignored, so that the test is cheap."""
    needed = NEEDED * trees.roots.shape[0]
    nodes, observers = trees.links.shape[0] - trees.counts[NODES], trees.bins.shape[0] - trees.counts[OBSERVERS]
    return nodes >= needed and observers >= needed


@part
def leaf_of(trees, node, x):
    """The leaf below ``node`` that x (d,) reaches. Cost O(depth)."""
    while trees.links[node, FEATURE] >= 0:
        node = _below(trees, node, x)
    return node


@part
def _below(trees, node, x):
    """The child of a branch that x (d,) reaches: left if x_r <= threshold; if x_r is missing, the one with more
    examples, of equals the left.
    """
    left, right = trees.links[node, LEFT], trees.links[node, RIGHT]
    value, threshold = x[trees.links[node, FEATURE]], trees.numbers[node, THRESHOLD]
    if value <= threshold:
        return left
    return right if value > threshold or _met(trees, left) < _met(trees, right) else left


@part
def _met(trees, node):
    """The examples of a leaf, or of a branch before and after its split."""
    before = trees.numbers[node, TRIED] if trees.links[node, FEATURE] >= 0 else 0.0
    return trees.numbers[node, SEEN] + before


@part
def value(trees, leaf):
    """-G/H, the weighted mean of the targets; 0 before the first example."""
    hessian = trees.numbers[leaf, HESSIAN]
    return -trees.numbers[leaf, GRADIENT] / hessian if hessian > 0.0 else 0.0


@part
def _new_leaf(trees, t, gradient, hessian):
    """A new leaf of tree t with these sums and empty histograms."""
    counts, links = trees.counts, trees.links
    node = counts[FREE_NODE]
    if node >= 0:
        counts[FREE_NODE] = links[node, NEXT]
    else:
        node = counts[NODES]
        counts[NODES] += 1
    slot = counts[FREE_OBSERVER]
    if slot >= 0:
        counts[FREE_OBSERVER] = trees.filled[slot, 0]
    else:
        slot = counts[OBSERVERS]
        counts[OBSERVERS] += 1
    for j in range(trees.filled.shape[1]):
        trees.filled[slot, j] = 0
    for j in range(6):
        links[node, j] = -1
    for j in range(trees.numbers.shape[1]):
        trees.numbers[node, j] = 0.0
    links[node, OBSERVER] = slot
    trees.numbers[node, GRADIENT], trees.numbers[node, HESSIAN] = gradient, hessian
    trees.leaves[t] += 1
    return node


@part
def _no_leaf_any_more(trees, t, node):
    """Free the histograms of a leaf."""
    slot = trees.links[node, OBSERVER]
    trees.links[node, OBSERVER] = -1
    trees.filled[slot, 0] = trees.counts[FREE_OBSERVER]
    trees.counts[FREE_OBSERVER] = slot
    trees.leaves[t] -= 1


@part
def _release(trees, t, node):
    """Free ``node`` and all nodes below it, with their alternates."""
    links = trees.links
    links[node, NEXT] = -1
    while node >= 0:
        following = links[node, NEXT]
        if links[node, FEATURE] == LEAF:
            _no_leaf_any_more(trees, t, node)
        else:
            for kind in (LEFT, RIGHT, ALTERNATE):
                below = links[node, kind]
                if below >= 0:
                    links[below, NEXT] = following
                    following = below
        links[node, FEATURE] = FREE
        links[node, NEXT] = trees.counts[FREE_NODE]
        trees.counts[FREE_NODE] = node
        node = following


@part
def _try_to_split(trees, t, leaf, growth):
    """Split a leaf if one feature is the best with confidence, or the best ones are nearly equal. Cost O(k B)."""
    numbers, slot = trees.numbers, trees.links[leaf, OBSERVER]
    first, second, feature, chosen = 0.0, 0.0, -1, -1
    threshold, gradient, hessian = 0.0, 0.0, 0.0
    for j in range(trees.columns.shape[1]):
        gain, cut, left_g, left_h = best_cut(trees.bins[slot, j], trees.filled[slot, j])
        if gain > first:
            first, second, feature, chosen = gain, first, trees.columns[t, j], j
            threshold, gradient, hessian = cut, left_g, left_h
        elif gain > second:
            second = gain
    bound = math.sqrt(-math.log(growth.delta) / (2.0 * numbers[leaf, SEEN]))
    if feature < 0 or not (second / first < 1.0 - bound or bound < growth.tie):
        return
    left_g, left_h, right_g, right_h = 0.0, 0.0, 0.0, 0.0
    if growth.inherit:
        left_g, left_h = gradient, hessian
        met, right_g, right_h = whole(trees.bins[slot, 0], trees.filled[slot, 0])
        those, its_g, its_h = whole(trees.bins[slot, chosen], trees.filled[slot, chosen])
        if those != met:  # some examples lacked one of the two features
            right_g, right_h = its_g, its_h
    _no_leaf_any_more(trees, t, leaf)
    left = _new_leaf(trees, t, left_g, left_h)
    right = _new_leaf(trees, t, right_g - left_g, right_h - left_h)
    trees.links[leaf, FEATURE], trees.links[leaf, LEFT], trees.links[leaf, RIGHT] = feature, left, right
    numbers[leaf, THRESHOLD], numbers[leaf, SEEN] = threshold, 0.0
    trees.counts[SPLITS] += 1


@part
def _teach(trees, t, leaf, x, count, gradient, hessian, growth):
    """A leaf learns ``count`` examples with x, whose gradients and Hessians have these sums.

    Histograms of features that x lacks (NaN) are not updated.
    """
    numbers, slot = trees.numbers, trees.links[leaf, OBSERVER]
    numbers[leaf, GRADIENT] += gradient
    numbers[leaf, HESSIAN] += hessian
    numbers[leaf, SEEN] += count
    for j in range(trees.columns.shape[1]):
        x_j = x[trees.columns[t, j]]
        if not math.isnan(x_j):
            trees.filled[slot, j] = insert(trees.bins[slot, j], trees.filled[slot, j], x_j, count, gradient, hessian)
    if numbers[leaf, SEEN] - numbers[leaf, TRIED] >= growth.grace:
        numbers[leaf, TRIED] = numbers[leaf, SEEN]
        if trees.leaves[t] < growth.max_leaves:
            _try_to_split(trees, t, leaf, growth)


@part
def _error(trees, t, target, said, count):
    """|target - said| in units of three standard deviations of the targets of the tree, this one included."""
    targets = trees.targets
    targets[t, WEIGHT] += count
    away = target - targets[t, MEAN]
    targets[t, MEAN] += away * (count / targets[t, WEIGHT])
    targets[t, SCATTER] += count * away * (target - targets[t, MEAN])
    deviation = math.sqrt(targets[t, SCATTER] / targets[t, WEIGHT])
    return abs(target - said) / (3.0 * deviation) if deviation > 0.0 else 0.0


@part
def _alarm(trees, node, error, count, growth):
    """The test of Page & Hinkley on the errors of a branch."""
    numbers = trees.numbers
    rise = numbers[node, RISE] + count * (error - numbers[node, ERRORS] / numbers[node, SEEN] - growth.alpha)
    numbers[node, RISE], numbers[node, LOWEST] = rise, min(numbers[node, LOWEST], rise)
    if not rise - numbers[node, LOWEST] > growth.threshold:
        return False
    numbers[node, RISE] = numbers[node, LOWEST] = 0.0
    return True


@part
def _verdict(trees, node, loss, other_loss, growth):
    """Decide on the alternate of a branch after one more example: 1 take it, -1 drop it, 0 keep trying."""
    numbers = trees.numbers
    numbers[node, LOSS] = loss + _FADING * numbers[node, LOSS]
    numbers[node, OTHER_LOSS] = other_loss + _FADING * numbers[node, OTHER_LOSS]
    numbers[node, AGE] += 1.0
    age, q = numbers[node, AGE], math.log((numbers[node, LOSS] + _TINY) / (numbers[node, OTHER_LOSS] + _TINY))
    numbers[node, Q_SUM] += q
    if age % _CHECK != 0.0:
        return 0
    if q > 0.0:
        return 1
    mean, before = numbers[node, Q_SUM] / age, numbers[node, Q_MEAN]
    numbers[node, Q_MEAN] = mean
    falls = age > _CHECK and mean < before and age >= _GRACES * growth.grace
    return -1 if falls or age >= _PATIENCE else 0


@part
def learn(trees, t, x, leaf, count, gradient, hessian, growth):
    """Tree t learns ``count`` examples with x (d,), whose gradients and Hessians have these sums; x reaches ``leaf``.

    Returns the new value of the tree for x. Cost O(depth + k B).
    """
    links, numbers = trees.links, trees.numbers
    target, said = -gradient / hessian, value(trees, leaf)
    error = _error(trees, t, target, said, count)
    node, parent, watched = trees.roots[t], -1, True
    while links[node, FEATURE] >= 0:
        numbers[node, SEEN] += count
        numbers[node, ERRORS] += count * error
        other = links[node, ALTERNATE]
        if other >= 0:
            its_leaf = leaf_of(trees, other, x)
            away, its_away = target - said, target - value(trees, its_leaf)
            verdict = _verdict(trees, node, away * away, its_away * its_away, growth)
            if verdict == 1:
                links[node, ALTERNATE] = -1
                if parent < 0:
                    trees.roots[t] = other
                elif links[parent, LEFT] == node:
                    links[parent, LEFT] = other
                else:
                    links[parent, RIGHT] = other
                _release(trees, t, node)
                trees.counts[REPLACED] += 1
                node, leaf = other, its_leaf
                continue
            if verdict == 0:
                _teach(trees, t, its_leaf, x, count, gradient, hessian, growth)
            else:
                links[node, ALTERNATE] = -1
                _release(trees, t, other)
            watched = False
        elif watched and _alarm(trees, node, error, count, growth):
            links[node, ALTERNATE] = _new_leaf(trees, t, 0.0, 0.0)
            for j in range(LOSS, Q_MEAN + 1):
                numbers[node, j] = 0.0
            trees.counts[ALARMS] += 1
            watched = False
        parent, node = node, _below(trees, node, x)
    _teach(trees, t, node, x, count, gradient, hessian, growth)
    return value(trees, leaf_of(trees, node, x))


_POOLS = {
    "links": Array("", "_ 6", -2, MOST), "filled": Array("", "_ k", -1, MOST), "roots": Array("", "M", 0, MOST),
    "leaves": Array("", "M", 0, MOST), "columns": Array("", "M k", 0, "d"), "counts": Array("", "7", -1, MOST),
}  # fmt: skip


def check_saved(learner, n_classes: int) -> None:
    """Check the trees of a saved SGBT; raises Damaged if what nodes name is not there, or is named twice.

    So no way down a tree ends in a circle.
    """
    check_values(learner, {}, {RegressionTrees: _POOLS}, {"d": learner.n_features_in_})
    for k, trees in enumerate(learner._boosters):
        _check_pools(f"state__boosters.{k}", trees, learner.n_features_in_)


def _check_pools(name: str, trees: RegressionTrees, d: int) -> None:
    counts, bins = trees.counts, trees.bins
    nodes, slots = int(counts[NODES]), int(counts[OBSERVERS])
    if not (0 <= nodes <= len(trees.links) and 0 <= slots <= len(bins)):
        raise Damaged(f"{name} has {len(trees.links)} nodes and {len(bins)} histograms, and says {nodes} and {slots}")
    used = trees.links[:nodes]
    feature = used[:, FEATURE]
    if (feature >= d).any():
        raise Damaged(f"{name}.0 looks at feature {feature.max()} of {d}")
    branches, is_free = used[feature >= 0], feature == FREE
    alternates = branches[:, ALTERNATE]
    below = np.concatenate([trees.roots, branches[:, LEFT], branches[:, RIGHT], alternates[alternates >= 0]])
    _check_named_once(f"{name}.0", below, ~is_free)
    _check_named_once(f"{name}.0", _chain(counts[FREE_NODE], used[is_free, NEXT]), is_free)
    held = used[feature == LEAF, OBSERVER]
    _check_named_once(f"{name}.0", held, np.ones(slots, bool))
    is_held = np.zeros(slots, bool)
    is_held[held] = True
    filled = trees.filled[:slots]
    _check_named_once(f"{name}.3", _chain(counts[FREE_OBSERVER], filled[~is_held, 0]), ~is_held)
    full = filled[is_held]
    if full.size and not (full.min() >= 0 and full.max() <= bins.shape[2]):
        raise Damaged(f"{name}.3 has histograms of more than {bins.shape[2]} bins")


def _chain(head, following: np.ndarray) -> np.ndarray:
    found = np.append(following, head)
    return found[found >= 0]


def _check_named_once(name: str, places: np.ndarray, allowed: np.ndarray) -> None:
    inside = places.size == 0 or (places.min() >= 0 and places.max() < len(allowed))
    if not inside or not allowed[places].all() or len(np.unique(places)) != len(places):
        raise Damaged(f"{name} names a place twice, or one that is not there")
