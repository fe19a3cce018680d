"""Hoeffding trees (VFDT, Domingos & Hulten 2000) that learn one weighted example at a time, many side by side.

How to use it, from Python and from kernels::

    trees = HoeffdingTrees.fresh(count, n_classes, n_features)      # M trees that have met nothing
    rules = Rules(grace=200.0, delta=1e-7, tau=0.05, leaf=ADAPTIVE) # the same numbers for all trees
    if not has_room(trees, count): trees = trees.doubled()          # before each example: count trees may split
    code = answer(trees, j, x, rules)                               # class code by tree j, x (d,) float64
    probabilities(trees, j, x, rules, out)                          # out (K,) float64, zeros before the first example
    learn(trees, j, x, y, weight, rules)                            # y int64, weight float64; 0 or less learns nothing
    forget(trees, j)                                                # tree j is empty again, its nodes are free
    first = test_then_train(trees, X, y, weights, rules, first, out)  # tree 0 on rows, until a node is wanted

Kernels cannot enlarge arrays, so a loop over examples stops at a row for which :func:`has_room` is false; Python
continues there with ``trees.doubled()``. Without room a split waits. A feature that is NaN is missing: statistics and
naive Bayes leave it out, and a split on it sends the example to the side with more weight.

The trees are those of river's ``HoeffdingTreeClassifier``. For every class and feature a leaf keeps the weight, mean,
squared deviations, smallest and largest value. After every ``grace`` of weight it evaluates ten equally spaced
thresholds per feature by the information gain of normal distributions, and splits if the best feature leads the second
by

    epsilon = sqrt(R^2 ln(1 / delta) / (2 n)),   R = log2 of the classes met, at least 1,   n the weight of the leaf

or epsilon < ``tau``; a feature without a second leads, whatever its gain. If the largest class of a leaf has more than
99 %, the leaf does not split and forgets its observations. A leaf predicts its largest class, by naive Bayes, or
(adaptive) by whichever has been right for more weight; the lowest class wins ties. ``leaf=MOA`` is adaptive, with two
rules of MOA's ``HoeffdingTree``: a leaf that has not met a class, or met it with another value only, never answers this
class by naive Bayes, where river leaves such features out; and a leaf with more than 99 % of one class splits like
others. Trees then split as MOA's do; few of their answers differ.

All trees share one pool of nodes and one of observations. A node is a row of ``nodes`` and ``values``. The observations
of a leaf are a slot of ``observed`` (7, K, m) float64: for class c and the p-th feature of the leaf the weight, mean,
squared deviations, smallest and largest value, without missing values. Freed nodes and slots can be used by any tree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from boostrun.kernels import allocating_part, kernel, part, written_in


class Roomy(ABC):
    """A NamedTuple of arrays whose room grows with the stream; such types are registered here."""

    @abstractmethod
    def sized(self, arrays: Mapping[str, np.ndarray], place: str) -> Any:
        """The same with the room of saved ones, whose arrays have names that begin with ``place``."""


MAJORITY, BAYES, ADAPTIVE, MOA = 0, 1, 2, 3  # how a leaf predicts

# columns of ``nodes``; a leaf has no LEFT (-1), a leaf that only counts classes and a split have no SLOT (-1)
LEFT, RIGHT, PARENT, FEATURE, DEPTH, SLOT = range(6)
# columns of ``values``: WEIGHT is that of the leaves below, the others but THRESHOLD are a leaf's
THRESHOLD, WEIGHT, TRIED_AT, LARGEST_RIGHT, BAYES_RIGHT = range(5)
FREE_NODES, FREE_SLOTS, FEATURES = 0, 1, 2  # places in ``counts``


class Rules(NamedTuple):
    """How trees grow and predict, with the defaults of river; the root has depth 0."""

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

    ``weight`` (M, K) float64, the weight of each class in each tree; ``roots`` (M,) int64; ``nodes`` (N, 6) int64;
    ``values`` (N, 5) float64; ``classes`` (N, K) float64, the weight of each class in a leaf; ``looks`` (S, m) int64,
    the features that a leaf observes; ``observed`` (S, 7, K, m) float64; ``free_nodes`` (N,) and ``free_slots`` (S,)
    int64, stacks whose heights are the first two of ``counts`` (3,) int64, the last is d; ``random`` (1,) uint64, the
    state from which leaves draw their m features if m < d.
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
        """``count`` new trees; each leaf observes ``subspace`` features drawn by ``seed``, or all.

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
        """The same trees with more ``slots``, and twice as many nodes as slots."""
        old = len(self.free_slots)
        more, nodes = slots - old, 2 * (slots - old)
        free = self.counts + np.array([nodes, more, 0])
        return self._replace(
            nodes=_longer(self.nodes, nodes), values=_longer(self.values, nodes), classes=_longer(self.classes, nodes),
            looks=_longer(self.looks, more), observed=_longer(self.observed, more),
            # new entries lie on top in falling order, so that the lowest is taken first
            free_nodes=_stacked(self.free_nodes, self.counts[FREE_NODES], 2 * old, nodes),
            free_slots=_stacked(self.free_slots, self.counts[FREE_SLOTS], old, more), counts=free,
        )  # fmt: skip

    def doubled(self) -> HoeffdingTrees:
        """The same trees with twice the room."""
        return self.roomy(2 * len(self.free_slots))

    def grown(self, n_classes: int) -> HoeffdingTrees:
        """The same trees with room for more classes, without examples of them."""
        weight = np.zeros((len(self.weight), n_classes))
        weight[:, : self.weight.shape[1]] = self.weight
        classes = np.zeros((len(self.classes), n_classes))
        classes[:, : self.classes.shape[1]] = self.classes
        observed = np.zeros((len(self.observed), 7, n_classes, self.looks.shape[1]))
        observed[:, :, : self.classes.shape[1]] = self.observed
        return self._replace(weight=weight, classes=classes, observed=observed)

    def wider(self, n_features: int) -> HoeffdingTrees:
        """The same trees with room for more features; leaves that observe all features observe them from now on."""
        old, counts = int(self.counts[FEATURES]), self.counts.copy()
        counts[FEATURES] = n_features
        if self.looks.shape[1] < old:
            return self._replace(counts=counts)
        more = np.tile(np.arange(old, n_features), (len(self.looks), 1))
        observed = np.pad(self.observed, ((0, 0), (0, 0), (0, 0), (0, n_features - old)))
        return self._replace(counts=counts, looks=np.concatenate([self.looks, more], axis=1), observed=observed)

    def sized(self, arrays: Mapping[str, np.ndarray], place: str) -> HoeffdingTrees:
        """These trees with the room of saved ones, whose arrays have names that begin with ``place``."""
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
    """Make a leaf for the root of every tree."""
    for j in range(trees.roots.shape[0]):
        trees.roots[j] = new_leaf(trees, -1, 0, True)


@part
def new_leaf(trees, parent, depth, observes):
    """A new leaf without examples."""
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
    """Empty a slot of observations, and draw its features if it does not observe all."""
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
    """A uniform random whole number below n; ``random`` (1,) uint64 is the state of splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int((z >> np.uint64(11)) * (1.0 / 9007199254740992.0) * n)


# rows of a slot of ``observed``; the last two follow from the first three: 1 / (2 v) and ln(2 pi v) / 2
COUNT, MEAN, SCATTER, LEAST, MOST, SLOPE, LEVEL = range(7)
_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


@written_in
def observe(observed, looks, x, y, weight):
    """Update mean and squared deviations (Welford), smallest and largest value of each feature for class y."""
    for p in range(looks.shape[0]):
        value = x[looks[p]]
        if math.isnan(value):
            continue
        if observed[COUNT, y, p] == 0.0:
            observed[LEAST, y, p] = observed[MOST, y, p] = value
        observed[LEAST, y, p] = min(observed[LEAST, y, p], value)
        observed[MOST, y, p] = max(observed[MOST, y, p], value)
        observed[COUNT, y, p] += weight
        away = value - observed[MEAN, y, p]
        observed[MEAN, y, p] += weight / observed[COUNT, y, p] * away
        observed[SCATTER, y, p] += weight * away * (value - observed[MEAN, y, p])
        variance = variance_of(observed, y, p)
        known = 0.0 < variance < np.inf
        observed[SLOPE, y, p] = 0.5 / variance if known else 0.0
        observed[LEVEL, y, p] = _HALF_LOG_TAU + 0.5 * math.log(variance) if known else 0.0


@written_in
def variance_of(observed, c, p):
    """The unbiased variance; 0 if the weight is at most 1."""
    above = observed[COUNT, c, p] - 1.0
    return observed[SCATTER, c, p] / above if above > 0.0 else 0.0


@part
def best_threshold(observed, p, before, rules, sides):
    """The largest information gain of thresholds on feature p, and the first threshold that has it.

    The gain is -inf if no threshold leaves enough weight on both sides.
    """
    low, high = np.inf, -np.inf
    for c in range(observed.shape[1]):
        if observed[COUNT, c, p] > 0.0:
            low, high = min(low, observed[LEAST, c, p]), max(high, observed[MOST, c, p])
    best, threshold = -np.inf, 0.0
    step = (high - low) / (rules.points + 1.0)
    for i in range(rules.points if high > low else 0):
        value = low + step * (i + 1)
        if low < value < high:
            sides_of(observed, p, value, sides)
            left, right = sides[0].sum(), sides[1].sum()
            whole = left + right
            if left / whole > rules.least_branch and right / whole > rules.least_branch:
                after = (entropy_terms(sides[0], left) + entropy_terms(sides[1], right)) / whole
                if before - after > best:
                    best, threshold = before - after, value
    return best, threshold


@part
def sides_of(observed, p, threshold, sides):
    """Fill ``sides`` (2, K): the weight of each class up to the threshold and above it.

    A class with values on both sides is split by its normal distribution.
    """
    for c in range(sides.shape[1]):
        count, share = observed[COUNT, c, p], 0.0
        if threshold >= observed[MOST, c, p]:
            share = 1.0
        elif threshold >= observed[LEAST, c, p]:
            variance = variance_of(observed, c, p)
            if variance > 0.0:
                share = 0.5 * (1.0 + math.erf((threshold - observed[MEAN, c, p]) / math.sqrt(2.0 * variance)))
        sides[0, c] = share * count
        sides[1, c] = count - sides[0, c]


@part
def entropy_terms(weights, total):
    """The entropy in bits of weights with the sum ``total``, times the total."""
    out = total * math.log2(total)
    for c in range(weights.shape[0]):
        if weights[c] > 0.0:
            out -= weights[c] * math.log2(weights[c])
    return out


_FARTHEST = 1e100  # of a value from a class, as the logarithm of its density: sums stay finite


@written_in
def has_room(trees, count):
    """Whether there is room to split ``count`` leaves: two nodes and a slot for each."""
    return trees.counts[FREE_NODES] >= 2 * count and trees.counts[FREE_SLOTS] >= count


@kernel
def forget(trees, j):
    """Empty tree j and free its nodes. Cost O(nodes of the tree)."""
    root = trees.roots[j]
    node = root
    while True:
        nodes = trees.nodes[node]
        if nodes[LEFT] >= 0:
            child, nodes[LEFT] = nodes[LEFT], -1
            node = child
        elif nodes[RIGHT] >= 0:
            child, nodes[RIGHT] = nodes[RIGHT], -1
            node = child
        else:
            if nodes[SLOT] >= 0:
                trees.free_slots[trees.counts[FREE_SLOTS]] = nodes[SLOT]
                trees.counts[FREE_SLOTS] += 1
            trees.free_nodes[trees.counts[FREE_NODES]] = node
            trees.counts[FREE_NODES] += 1
            if node == root:
                break
            node = nodes[PARENT]
    trees.roots[j] = new_leaf(trees, -1, 0, True)
    trees.weight[j, :] = 0.0


@written_in
def leaf_of(trees, j, x):
    """The leaf of tree j that x (d,) reaches; a missing feature goes to the side with more weight, of equals the left.

    Cost O(depth).
    """
    node = trees.roots[j]
    while trees.nodes[node, LEFT] >= 0:
        left, right = trees.nodes[node, LEFT], trees.nodes[node, RIGHT]
        value, threshold = x[trees.nodes[node, FEATURE]], trees.values[node, THRESHOLD]
        if value <= threshold:
            node = left
        elif value > threshold:
            node = right
        else:
            node = right if trees.values[left, WEIGHT] < trees.values[right, WEIGHT] else left
    return node


@written_in
def _largest(trees, node):
    best = 0
    for c in range(1, trees.classes.shape[1]):
        if trees.classes[node, c] > trees.classes[node, best]:
            best = c
    return best


@written_in
def log_joint(trees, node, c, x, rules):
    """The log of the weight of class c in a leaf times the densities of x; -inf for a class without weight.

    A feature of unknown variance is left out; with MOA's rules the answer is -inf unless x has the mean. Cost O(m).
    """
    if not trees.classes[node, c] > 0.0:
        return -np.inf
    slot = trees.nodes[node, SLOT]
    looks, mean = trees.looks[slot], trees.observed[slot, MEAN, c]
    slope, level = trees.observed[slot, SLOPE, c], trees.observed[slot, LEVEL, c]
    out = math.log(trees.classes[node, c])
    for p in range(looks.shape[0]):
        away = x[looks[p]] - mean[p]
        term = level[p] + slope[p] * away * away
        if not math.isnan(term):  # as where x is missing
            out -= min(term, _FARTHEST)
            if rules.leaf == MOA and slope[p] == 0.0 and (away != 0.0 or trees.observed[slot, COUNT, c, p] == 0.0):
                return -np.inf
    return out


@written_in
def _by_bayes(trees, node, x, rules):
    """The class with the largest joint probability, the lowest of equals."""
    best, highest = 0, -np.inf
    for c in range(trees.classes.shape[1]):
        here = log_joint(trees, node, c, x, rules)
        if here > highest:
            best, highest = c, here
    return best


@written_in
def _asks_bayes(trees, node, rules):
    if rules.leaf == MAJORITY or trees.nodes[node, SLOT] < 0:
        return False
    return rules.leaf == BAYES or trees.values[node, BAYES_RIGHT] >= trees.values[node, LARGEST_RIGHT]


@written_in
def answer(trees, j, x, rules):
    """The class code that tree j predicts for x (d,). Cost O(depth + K m)."""
    node = leaf_of(trees, j, x)
    return _by_bayes(trees, node, x, rules) if _asks_bayes(trees, node, rules) else _largest(trees, node)


@kernel
def probabilities(trees, j, x, rules, out):
    """Fill in the probabilities (K,) of tree j for x (d,); zeros before its first example."""
    node = leaf_of(trees, j, x)
    total, bayes = 0.0, _asks_bayes(trees, node, rules)
    highest = -np.inf
    for c in range(out.shape[0]):
        out[c] = log_joint(trees, node, c, x, rules) if bayes else trees.classes[node, c]
        highest = max(highest, out[c])
    for c in range(out.shape[0]):
        if bayes:
            out[c] = math.exp(out[c] - highest) if highest > -np.inf else 0.0
        total += out[c]
    for c in range(out.shape[0]):
        out[c] = out[c] / total if total > 0.0 else 0.0


@written_in
def learn(trees, j, x, y, weight, rules):
    """Tree j learns the example (x, class y) with a weight; without room (:func:`has_room`) a split waits.

    Cost O(depth + K m), and a search of O(10 K m) normal distributions every ``grace`` of weight in a leaf.
    """
    if not weight > 0.0:
        return
    node = leaf_of(trees, j, x)
    values, slot = trees.values[node], trees.nodes[node, SLOT]
    if slot >= 0 and rules.leaf >= ADAPTIVE:
        met = values[WEIGHT] > 0.0
        if not met or _largest(trees, node) == y:
            values[LARGEST_RIGHT] += weight
        if met and _by_bayes(trees, node, x, rules) == y:
            values[BAYES_RIGHT] += weight
    trees.weight[j, y] += weight
    trees.classes[node, y] += weight
    at = node
    while at >= 0:
        trees.values[at, WEIGHT] += weight
        at = trees.nodes[at, PARENT]
    if slot >= 0:
        observe(trees.observed[slot], trees.looks[slot], x, y, weight)
        if values[WEIGHT] - values[TRIED_AT] >= rules.grace and has_room(trees, 1):
            values[TRIED_AT] = values[WEIGHT]
            _try_split(trees, node, rules)


@allocating_part
def _try_split(trees, node, rules):
    """Split a leaf, empty its observations, or leave it unchanged."""
    weights, slot = trees.classes[node], trees.nodes[node, SLOT]
    n_classes = weights.shape[0]
    met, total, largest = 0, 0.0, 0.0
    for c in range(n_classes):
        met += 1 if weights[c] > 0.0 else 0
        total += weights[c]
        largest = max(largest, weights[c])
    if met < 2:
        return
    if rules.leaf != MOA and largest / total > rules.most_share:
        empty(trees, slot)
        return
    before = entropy_terms(weights, total) / total
    best, second, at, threshold = -np.inf, -np.inf, -1, 0.0
    sides = np.empty((2, n_classes))
    for p in range(trees.looks.shape[1]):
        merit, value = best_threshold(trees.observed[slot], p, before, rules, sides)
        if merit >= best:
            best, second = merit, best
            if merit > -np.inf:
                at, threshold = p, value
        elif merit > second:
            second = merit
    span = math.log2(max(met, 2.0))
    epsilon = math.sqrt(span * span * math.log(1.0 / rules.delta) / (2.0 * total))
    if not (best - second > epsilon or epsilon < rules.tau):
        return
    if at < 0:
        empty(trees, slot)
    else:
        _split(trees, node, at, threshold, sides, rules)


@part
def _split(trees, node, p, threshold, sides, rules):
    """Split the leaf on its p-th feature; its children begin with the class weights that the normal distributions give.
    """
    nodes, values, slot = trees.nodes[node], trees.values[node], trees.nodes[node, SLOT]
    feature = trees.looks[slot, p]
    sides_of(trees.observed[slot], p, threshold, sides)
    depth, grows = nodes[DEPTH] + 1, nodes[DEPTH] + 1 < rules.max_depth
    nodes[SLOT] = -1
    trees.free_slots[trees.counts[FREE_SLOTS]] = slot
    trees.counts[FREE_SLOTS] += 1
    weight = 0.0
    for side in range(2):
        child = new_leaf(trees, node, depth, grows)
        nodes[LEFT + side] = child
        here = 0.0
        for c in range(sides.shape[1]):
            trees.classes[child, c] = sides[side, c]
            here += sides[side, c]
        trees.values[child, WEIGHT] = trees.values[child, TRIED_AT] = here
        weight += here
    nodes[FEATURE] = feature
    change = weight - values[WEIGHT]
    values[THRESHOLD] = threshold
    at = node
    while at >= 0:
        trees.values[at, WEIGHT] += change
        at = trees.nodes[at, PARENT]


def rows_of_room(trees: HoeffdingTrees) -> int:
    """The number of examples that all trees can learn before room may run out.

    >>> rows_of_room(HoeffdingTrees.fresh(3, n_classes=2, n_features=5).doubled())
    2
    """
    count = len(trees.roots)
    return int(min(trees.counts[FREE_NODES] // (2 * count), trees.counts[FREE_SLOTS] // count))


@written_in
def _answer_of_first(trees, x, rules):
    unmet = trees.values[trees.roots[0], WEIGHT] == 0.0
    return 1 if unmet and trees.weight.shape[1] == 2 else answer(trees, 0, x, rules)


@kernel
def answers(trees, X, rules, out):
    """Fill ``out`` (k,) int64 with predictions of tree 0 for X (k, d); before any example the second of two classes."""
    for i in range(X.shape[0]):
        out[i] = _answer_of_first(trees, X[i], rules)


@kernel
def test_then_train(trees, X, y, weights, rules, first, out):
    """Predict each row of X (k, d) from ``first`` on with tree 0 into ``out`` (k,) int64, then learn y (k,) with
    ``weights`` (k,). Returns k, or the row at which room ran out.
    """
    for i in range(first, X.shape[0]):
        if not has_room(trees, 1):
            return i
        out[i] = _answer_of_first(trees, X[i], rules)
        learn(trees, 0, X[i], y[i], weights[i], rules)
    return X.shape[0]
