"""Hoeffding adaptive trees: splits that watch their errors, and subtrees that replace them (Bifet & Gavaldà 2009).

Tree 0 of a pool of :class:`boostrun.kernels.hoeffding.HoeffdingTrees` predicts; the others are alternates of its
splits, and of each other's. Every split on the path of an example learns whether its tree was right::

    on (x, y):  e = 1 if the leaf of x predicts another class than y, else 0
      at each split on the path, from the root on:
          ADWIN of the split += e, and so does its mean error since the last cut
          if the ADWIN is cut and its mean has risen:  the split gets a new alternate, one empty leaf
          else with an alternate, each with more than ``least`` examples:
              bound = sqrt(2 u (1 - u) ln(2 / significance) (1 / n + 1 / n_a))      u the split's mean error
              u - u_a > bound:  the alternate replaces the split
              u_a - u > bound:  the alternate is deleted
          the alternate learns (x, y) as the tree does, with splits and alternates of its own
      the leaf learns (x, y)
    predict:  the largest sum of p / u^2 over the leaves of x in the tree and in each alternate of a split on the path,
      p the leaf's probabilities, u its mean error

MOA and river do the same, except that there an alternate that splits replaces the split at once, better or not. To
exchange subtrees only their roots change; nothing is copied.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from boostrun.kernels import allocating_kernel, allocating_part, hoeffding, kernel, part
from boostrun.kernels.hoeffding import DEPTH, FEATURE, LEFT, PARENT, RIGHT, THRESHOLD, WEIGHT, Roomy, plant
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.kernels.adwin import Adwins

SPARE = 8  # least number of unused trees before an example
MET, WRONG = 0, 1  # columns of ``errors``
IN_USE, ADDED, TAKEN, DROPPED = range(4)  # places in ``counts``


class Watch(NamedTuple):
    """When a split is replaced: ``delta`` of the ADWINs, ``least`` examples, ``significance`` of a difference."""

    delta: float = 0.002
    least: float = 300.0
    significance: float = 0.05


@Roomy.register
class Alternates(NamedTuple):
    """Additional data of N nodes and M trees.

    ``alternate`` (N,) int64, a split's alternate or -1; ``errors`` (N, 2) float64, examples and errors since the last
    change; ``used`` (M,) int64, 1 for the tree and for alternates in use; ``counts`` (4,) int64: alternates in use,
    started, that replaced a split, and that were deleted for being worse; ``adwins``, N windows.
    """

    alternate: np.ndarray
    errors: np.ndarray
    used: np.ndarray
    counts: np.ndarray
    adwins: Adwins

    @classmethod
    def fresh(cls, trees: hoeffding.HoeffdingTrees) -> Alternates:
        """For untrained trees."""
        nodes, used = len(trees.nodes), np.zeros(len(trees.roots), np.int64)
        used[0] = 1
        return cls(np.full(nodes, -1), np.zeros((nodes, 2)), used, np.zeros(4, np.int64), Adwins.empty(nodes))

    def roomy(self, nodes: int, trees: int) -> Alternates:
        """The same with room for more nodes and trees."""
        more = nodes - len(self.alternate)
        adwins = [np.concatenate([old, new]) for old, new in zip(self.adwins, Adwins.empty(more))]
        return Alternates(
            np.concatenate([self.alternate, np.full(more, -1)]), np.concatenate([self.errors, np.zeros((more, 2))]),
            np.concatenate([self.used, np.zeros(trees - len(self.used), np.int64)]), self.counts, Adwins(*adwins),
        )  # fmt: skip

    def sized(self, arrays: Mapping[str, np.ndarray], place: str) -> Alternates:
        """The same with as much room as the saved arrays whose names begin with ``place``."""
        nodes, used = arrays.get(f"{place}.0"), arrays.get(f"{place}.2")
        if nodes is None or used is None or nodes.ndim != 1 or used.ndim != 1:
            return self
        return self.roomy(max(len(self.alternate), len(nodes)), max(len(self.used), len(used)))


@Roomy.register
class AdaptiveTree(NamedTuple):
    """Tree 0 of ``trees`` with its alternates, and the additional data of their nodes."""

    trees: hoeffding.HoeffdingTrees
    watched: Alternates

    @classmethod
    def fresh(cls, n_classes: int, n_features: int) -> AdaptiveTree:
        """An untrained tree.

        >>> AdaptiveTree.fresh(2, 5).watched.used.tolist()
        [1, 0, 0, 0, 0, 0, 0, 0, 0]
        """
        trees = hoeffding.HoeffdingTrees.fresh(1 + SPARE, n_classes, n_features)
        return cls(trees, Alternates.fresh(trees)).roomier()

    def roomier(self) -> AdaptiveTree:
        """The same with enough room to go on."""
        trees, watched = self
        if len(watched.used) - 1 - watched.counts[IN_USE] < SPARE:
            trees = with_trees(trees, 2 * len(watched.used))
        while not hoeffding.has_room(trees, watched.counts[IN_USE] + SPARE):
            trees = trees.doubled()
        return AdaptiveTree(trees, watched.roomy(len(trees.nodes), len(trees.roots)))

    def grown(self, n_classes: int) -> AdaptiveTree:
        """The same with room for more classes."""
        return self._replace(trees=self.trees.grown(n_classes))

    def wider(self, n_features: int) -> AdaptiveTree:
        """The same with room for more features."""
        return self._replace(trees=self.trees.wider(n_features))

    def sized(self, arrays: Mapping[str, np.ndarray], place: str) -> AdaptiveTree:
        """The same with as much room as the saved arrays whose names begin with ``place``."""
        roots = arrays.get(f"{place}.0.1")
        trees, watched = self
        if roots is not None and roots.ndim == 1:
            trees = with_trees(trees, max(len(trees.roots), len(roots)))
        return AdaptiveTree(trees.sized(arrays, f"{place}.0"), watched.sized(arrays, f"{place}.1"))


def with_trees(trees: hoeffding.HoeffdingTrees, count: int) -> hoeffding.HoeffdingTrees:
    """The same trees, and empty ones up to ``count``."""
    more = count - len(trees.roots)
    while not hoeffding.has_room(trees, more):
        trees = trees.doubled()
    planted = trees._replace(roots=np.zeros(more, np.int64), counts=trees.counts.copy())
    plant(planted)
    weight = np.concatenate([trees.weight, np.zeros((more, trees.weight.shape[1]))])
    return planted._replace(roots=np.concatenate([trees.roots, planted.roots]), weight=weight)


@kernel
def has_room(trees, watched):
    """Whether every tree can split, and enough alternates can begin."""
    spare = watched.used.shape[0] - 1 - watched.counts[IN_USE]
    return spare >= SPARE and hoeffding.has_room(trees, watched.counts[IN_USE] + SPARE)


@allocating_kernel
def test_then_train(trees, watched, X, y, rules, watch, first, out):
    """Predict the rows of X (k, d) from ``first`` on, ``out`` (k,) int64, each before it is learnt. Returns k, or
    the first row without enough room. Cost a row: that of a tree and O(depth) windows, for the tree and each
    alternate on the path."""
    waiting = np.empty(watched.used.shape[0], np.int64)
    shares, votes = np.empty(trees.weight.shape[1]), np.empty(trees.weight.shape[1])
    for i in range(first, X.shape[0]):
        if not has_room(trees, watched):
            return i
        out[i] = answer(trees, watched, X[i], rules, shares, votes)
        waiting[0] = 0
        count = 1
        while count > 0:
            count = learn(trees, watched, waiting, count - 1, X[i], y[i], rules, watch)
    return X.shape[0]


@allocating_kernel
def answers(trees, watched, X, rules, out):
    """``out`` (k,) int64 gets the predictions for the rows of X (k, d); an untrained tree predicts the second of two
    classes."""
    shares, votes = np.empty(trees.weight.shape[1]), np.empty(trees.weight.shape[1])
    for i in range(X.shape[0]):
        out[i] = answer(trees, watched, X[i], rules, shares, votes)


@allocating_kernel
def vote(trees, watched, X, rules, votes):
    """``votes`` (k, K) of the tree and of the alternates on the path, for the rows of X (k, d)."""
    shares = np.empty(votes.shape[1])
    for i in range(X.shape[0]):
        vote_one(trees, watched, X[i], rules, shares, votes[i])


@part
def answer(trees, watched, x, rules, shares, votes):
    """The class with most votes for x (d,), the lowest of equals; an untrained tree predicts the second of two
    classes."""
    vote_one(trees, watched, x, rules, shares, votes)
    best = 0
    for c in range(1, votes.shape[0]):
        if votes[c] > votes[best]:
            best = c
    return 1 if votes.shape[0] == 2 and votes[best] == 0.0 else best


@part
def vote_one(trees, watched, x, rules, shares, votes):
    """:func:`vote` (K,) for one row x (d,); ``shares`` (K,) is scratch."""
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    add_share(trees, watched, 0, x, rules, shares, votes)
    node = trees.roots[0]
    while trees.nodes[node, LEFT] >= 0:
        if watched.alternate[node] >= 0:
            add_share(trees, watched, watched.alternate[node], x, rules, shares, votes)
        node = below(trees, node, x)


@part
def add_share(trees, watched, j, x, rules, shares, votes):
    """Add a tree's probabilities for x, divided by the squared mean error of its leaf if that is not 0."""
    hoeffding.probabilities(trees, j, x, rules, shares)
    leaf = hoeffding.leaf_of(trees, j, x)
    met, wrong = watched.errors[leaf, MET], watched.errors[leaf, WRONG]
    square = (wrong / met) ** 2 if wrong > 0.0 else 1.0
    for c in range(votes.shape[0]):
        votes[c] += shares[c] / square


@part
def learn(trees, watched, waiting, count, x, y, rules, watch):
    """Tree ``waiting[count]`` learns an example; alternates on its path are appended to ``waiting``. Returns the new
    count."""
    j = waiting[count]
    leaf, node = hoeffding.leaf_of(trees, j, x), trees.roots[j]
    unmet = trees.values[leaf, WEIGHT] == 0.0
    error = 1.0 if unmet or hoeffding.answer(trees, j, x, rules) != y else 0.0
    watched.errors[leaf, MET] += 1.0
    watched.errors[leaf, WRONG] += error
    while trees.nodes[node, LEFT] >= 0:
        watched.errors[node, MET] += 1.0
        watched.errors[node, WRONG] += error
        if replaced(trees, watched, node, error, watch):
            leaf = hoeffding.leaf_of(trees, j, x)
            break
        if watched.alternate[node] >= 0:
            waiting[count] = watched.alternate[node]
            count += 1
        node = below(trees, node, x)
    hoeffding.learn(trees, j, x, y, 1.0, rules)
    if trees.nodes[leaf, LEFT] >= 0:  # it has split; it keeps its mean error
        begin(watched, leaf)
        for child in (trees.nodes[leaf, LEFT], trees.nodes[leaf, RIGHT]):
            begin(watched, child)
            watched.errors[child, MET] = watched.errors[child, WRONG] = 0.0
    return count


@part
def below(trees, node, x):
    """The child of a split on the path of x (d,); see :func:`boostrun.kernels.hoeffding.leaf_of`."""
    left, right = trees.nodes[node, LEFT], trees.nodes[node, RIGHT]
    value, threshold = x[trees.nodes[node, FEATURE]], trees.values[node, THRESHOLD]
    if value <= threshold:
        return left
    if value > threshold:
        return right
    return right if trees.values[left, WEIGHT] < trees.values[right, WEIGHT] else left


@part
def begin(watched, node):
    """A new node starts to watch its errors."""
    watched.alternate[node] = -1
    adwin.forget(watched.adwins, node)


@part
def replaced(trees, watched, node, error, watch):
    """Give an error to the window of a split and act on it; True if the split was replaced."""
    before = adwin.estimate(watched.adwins, node)
    cut = adwin.add(watched.adwins, node, error, watch.delta, True)
    alternate = watched.alternate[node]
    if cut:
        watched.errors[node, MET] = watched.errors[node, WRONG] = 0.0
        if adwin.estimate(watched.adwins, node) > before:
            if alternate >= 0:
                give_back(trees, watched, alternate)
            begin_alternate(trees, watched, node)
        return False
    if alternate < 0:
        return False
    root = trees.roots[alternate]
    met, met_there = watched.errors[node, MET], watched.errors[root, MET]
    if not (met > watch.least and met_there > watch.least):
        return False
    mean, there = watched.errors[node, WRONG] / met, watched.errors[root, WRONG] / met_there
    bound = math.sqrt(2.0 * mean * (1.0 - mean) * math.log(2.0 / watch.significance) * (1.0 / met + 1.0 / met_there))
    if mean - there > bound:
        watched.counts[TAKEN] += 1
        take_place(trees, watched, node, alternate)
        return True
    if there - mean > bound:
        watched.counts[DROPPED] += 1
        watched.alternate[node] = -1
        give_back(trees, watched, alternate)
    return False


@part
def begin_alternate(trees, watched, node):
    """Make an unused tree the alternate of a split; if there is none, the split waits for its next change."""
    watched.alternate[node] = -1
    for k in range(1, watched.used.shape[0]):
        if watched.used[k] == 0:
            watched.used[k] = 1
            watched.counts[IN_USE] += 1
            watched.counts[ADDED] += 1
            watched.alternate[node] = k
            trees.nodes[trees.roots[k], DEPTH] = trees.nodes[node, DEPTH]
            begin(watched, trees.roots[k])
            watched.errors[trees.roots[k], MET] = watched.errors[trees.roots[k], WRONG] = 0.0
            break


@part
def take_place(trees, watched, node, alternate):
    """Exchange the subtrees, and delete the one that was below ``node``."""
    root, parent = trees.roots[alternate], trees.nodes[node, PARENT]
    watched.alternate[node] = -1
    trees.roots[alternate] = node
    trees.nodes[node, PARENT] = -1
    trees.nodes[root, PARENT] = parent
    change = trees.values[root, WEIGHT] - trees.values[node, WEIGHT]
    if parent >= 0:
        side = LEFT if trees.nodes[parent, LEFT] == node else RIGHT
        trees.nodes[parent, side] = root
    else:
        for k in range(trees.roots.shape[0]):
            if k != alternate and trees.roots[k] == node:
                trees.roots[k] = root
    while parent >= 0:
        trees.values[parent, WEIGHT] += change
        parent = trees.nodes[parent, PARENT]
    give_back(trees, watched, alternate)


@allocating_part
def give_back(trees, watched, alternate):
    """Empty an alternate, and the alternates of its splits, for later use."""
    waiting = np.empty(watched.used.shape[0], np.int64)
    waiting[0] = alternate
    count = 1
    while count > 0:
        count -= 1
        k = waiting[count]
        node = trees.roots[k]
        while node >= 0:  # every node below, parents first
            if trees.nodes[node, LEFT] >= 0:
                if watched.alternate[node] >= 0:
                    waiting[count] = watched.alternate[node]
                    watched.alternate[node] = -1
                    count += 1
                node = trees.nodes[node, LEFT]
            else:
                while node >= 0 and (
                    trees.nodes[node, PARENT] < 0 or trees.nodes[trees.nodes[node, PARENT], RIGHT] == node
                ):
                    node = trees.nodes[node, PARENT]
                if node >= 0:
                    node = trees.nodes[trees.nodes[node, PARENT], RIGHT]
        hoeffding.forget(trees, k)
        watched.used[k] = 0
        watched.counts[IN_USE] -= 1
