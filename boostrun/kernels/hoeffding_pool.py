"""Where Hoeffding trees lie: many trees share one pool of nodes and one of leaves' observations.

A node is a row of ``nodes`` and ``values``, a leaf's observations are a slot of ``observed``. What a tree gives back
another one takes. Kernels cannot make arrays longer: Python does, by :meth:`HoeffdingTrees.doubled`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from boostrun.kernels.compiled import kernel, part


class Roomy(ABC):
    """A NamedTuple of arrays that has as much room as it wants so far; such types are registered here."""

    @abstractmethod
    def sized(self, arrays: Mapping[str, np.ndarray], place: str) -> Any:
        """The same with as much room as saved ones have, whose arrays have names that begin with ``place``."""


MAJORITY, BAYES, ADAPTIVE = 0, 1, 2  # what a leaf answers by

# columns of ``nodes``; a leaf has no LEFT (-1), a leaf that only counts classes and a split have no SLOT (-1)
LEFT, RIGHT, PARENT, FEATURE, DEPTH, SLOT = range(6)
# columns of ``values``: WEIGHT is that of the leaves below, the others but THRESHOLD are a leaf's
THRESHOLD, WEIGHT, TRIED_AT, LARGEST_RIGHT, BAYES_RIGHT = range(5)
FREE_NODES, FREE_SLOTS, FEATURES = 0, 1, 2  # places in ``counts``


class Rules(NamedTuple):
    """How trees grow and answer: river's numbers; ``max_depth`` of the root is 0."""

    grace: float = 200.0
    delta: float = 1e-7
    tau: float = 0.05
    leaf: int = ADAPTIVE
    max_depth: int = 2**31
    points: int = 10  # thresholds a feature
    least_branch: float = 0.01  # share of the weight that both sides of a split exceed
    most_share: float = 0.99  # of the largest class in a leaf that splits


@Roomy.register
class HoeffdingTrees(NamedTuple):
    """M trees of K classes and d features, in S slots and N = 2 S nodes.

    ``weight`` (M, K) float64, what each tree has met of each class; ``roots`` (M,) int64; ``nodes`` (N, 6) int64;
    ``values`` (N, 5) float64; ``classes`` (N, K) float64, the weight of each class in a leaf; ``looks`` (S, m) int64,
    the features that a leaf observes; ``observed`` (S, 7, K, m) float64;
    ``free_nodes`` (N,), ``free_slots`` (S,) int64, stacks, as high as ``counts`` (3,) int64 says, whose last is d;
    ``random`` (1,) uint64, from which leaves draw their m features where m < d.
    """

    weight: np.ndarray
    roots: np.ndarray
    nodes: np.ndarray
    values: np.ndarray
    classes: np.ndarray
    looks: np.ndarray
    observed: np.ndarray
    free_nodes: np.ndarray
    free_slots: np.ndarray
    counts: np.ndarray
    random: np.ndarray

    @classmethod
    def fresh(
        cls, count: int, n_classes: int, n_features: int, subspace: int | None = None, seed: int = 0
    ) -> HoeffdingTrees:
        """``count`` trees that have met nothing; each leaf observes ``subspace`` features drawn by ``seed``, or all.

        >>> trees = HoeffdingTrees.fresh(3, n_classes=2, n_features=5)
        >>> trees.observed.shape, trees.counts.tolist()
        ((5, 7, 2, 5), [7, 2, 5])
        """
        width = n_features if subspace is None else min(subspace, n_features)
        empty = cls(
            weight=np.zeros((count, n_classes)), roots=np.arange(count), nodes=np.zeros((0, 6), np.int64),
            values=np.zeros((0, 5)), classes=np.zeros((0, n_classes)), looks=np.zeros((0, width), np.int64),
            observed=np.zeros((0, 7, n_classes, width)), free_nodes=np.zeros(0, np.int64),
            free_slots=np.zeros(0, np.int64), counts=np.array([0, 0, n_features]), random=np.array([seed], np.uint64),
        )  # fmt: skip
        trees = empty.roomy(count + 2)
        plant(trees)
        return trees

    def roomy(self, slots: int) -> HoeffdingTrees:
        """The same trees with so many slots, no fewer than there are, and twice as many nodes."""
        old = len(self.free_slots)
        more, nodes = slots - old, 2 * (slots - old)
        free = self.counts + np.array([nodes, more, 0])
        return self._replace(
            nodes=_longer(self.nodes, nodes), values=_longer(self.values, nodes), classes=_longer(self.classes, nodes),
            looks=_longer(self.looks, more), observed=_longer(self.observed, more),
            # what is new lies on top in falling order, so that the lowest is taken first
            free_nodes=_stacked(self.free_nodes, self.counts[FREE_NODES], 2 * old, nodes),
            free_slots=_stacked(self.free_slots, self.counts[FREE_SLOTS], old, more), counts=free,
        )  # fmt: skip

    def doubled(self) -> HoeffdingTrees:
        """The same trees with twice the room."""
        return self.roomy(2 * len(self.free_slots))

    def grown(self, n_classes: int) -> HoeffdingTrees:
        """The same trees with room for more classes, of which they have met nothing."""
        weight = np.zeros((len(self.weight), n_classes))
        weight[:, : self.weight.shape[1]] = self.weight
        classes = np.zeros((len(self.classes), n_classes))
        classes[:, : self.classes.shape[1]] = self.classes
        observed = np.zeros((len(self.observed), 7, n_classes, self.looks.shape[1]))
        observed[:, :, : self.classes.shape[1]] = self.observed
        return self._replace(weight=weight, classes=classes, observed=observed)

    def wider(self, n_features: int) -> HoeffdingTrees:
        """The same trees with room for more features, which leaves that look at all of them observe from now on."""
        old, counts = int(self.counts[FEATURES]), self.counts.copy()
        counts[FEATURES] = n_features
        if self.looks.shape[1] < old:
            return self._replace(counts=counts)
        more = np.tile(np.arange(old, n_features), (len(self.looks), 1))
        observed = np.pad(self.observed, ((0, 0), (0, 0), (0, 0), (0, n_features - old)))
        return self._replace(counts=counts, looks=np.concatenate([self.looks, more], axis=1), observed=observed)

    def sized(self, arrays: Mapping[str, np.ndarray], place: str) -> HoeffdingTrees:
        """These trees with as much room as saved ones have, whose arrays have names that begin with ``place``."""
        free = arrays.get(f"{place}.{self._fields.index('free_slots')}")
        return self if free is None or free.ndim != 1 else self.roomy(max(len(self.free_slots), len(free)))


def _longer(array: np.ndarray, more: int) -> np.ndarray:
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])


def _stacked(stack: np.ndarray, height: int, first: int, more: int) -> np.ndarray:
    out = _longer(stack, more)
    out[height : height + more] = np.arange(first + more - 1, first - 1, -1)
    return out


@kernel
def plant(trees):
    """A leaf for every root, in trees that have none."""
    for j in range(trees.roots.shape[0]):
        trees.roots[j] = new_leaf(trees, -1, 0, True)


@part
def new_leaf(trees, parent, depth, observes):
    """A leaf that has met nothing."""
    trees.counts[FREE_NODES] -= 1
    node = trees.free_nodes[trees.counts[FREE_NODES]]
    nodes, values = trees.nodes[node], trees.values[node]
    nodes[LEFT] = nodes[RIGHT] = nodes[FEATURE] = nodes[SLOT] = -1
    nodes[PARENT], nodes[DEPTH] = parent, depth
    values[:] = 0.0
    trees.classes[node, :] = 0.0
    if observes:
        trees.counts[FREE_SLOTS] -= 1
        slot = trees.free_slots[trees.counts[FREE_SLOTS]]
        nodes[SLOT] = slot
        empty(trees, slot)
    return node


@part
def empty(trees, slot):
    """A slot that has observed nothing, of features that are drawn where not all are looked at."""
    trees.observed[slot, :, :, :] = 0.0
    looks = trees.looks[slot]
    width, n_features = looks.shape[0], trees.counts[FEATURES]
    if width == n_features:
        for p in range(width):
            looks[p] = p
        return
    for p in range(width):  # the p-th of those that are left, which ``looks`` keeps in rising order
        at = _draw(trees.random, n_features - p)
        place = 0
        while place < p and looks[place] <= at:
            place += 1
            at += 1
        for q in range(p, place, -1):
            looks[q] = looks[q - 1]
        looks[place] = at


@part
def _draw(random, n):
    """A whole number below n, uniform; ``random`` (1,) uint64 is the state of splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int((z >> np.uint64(11)) * (1.0 / 9007199254740992.0) * n)
