"""FIMT-DD with mean leaves, and SGBT of such trees, in the plainest words: nodes are objects, bins are lists."""

import math


class Histogram:
    """Bins [centre, examples, G, H] by rising centres, at most ``room`` of them."""

    def __init__(self, room):
        self.room, self.bins = room, []

    def insert(self, x, count, g, h):
        for each in self.bins:
            if each[0] == x:
                _join(each, [x, count, g, h])
                return
        self.bins = sorted([*self.bins, [x, count, g, h]])
        if len(self.bins) > self.room:
            new = next(i for i, each in enumerate(self.bins) if each[0] == x)
            pairs = list(range(len(self.bins) - 1))
            pairs.sort(key=lambda i: i not in (new - 1, new))  # of equals, those with the newcomer first
            at = min(pairs, key=lambda i: _cost(self.bins[i], self.bins[i + 1]))
            right = self.bins.pop(at + 1)
            if at + 1 == new or at != new:
                _join(self.bins[at], right)
            else:  # the newcomer joins the bin on its right
                _join(right, self.bins[at])
                self.bins[at] = right

    def best_cut(self):
        n, g, h = (_sum(each[i] for each in self.bins) for i in (1, 2, 3))
        best = (0.0, 0.0, 0.0, 0.0)
        left = [0.0, 0.0, 0.0]
        for one, other in zip(self.bins, self.bins[1:]):
            left = [sum_ + each for sum_, each in zip(left, one[1:])]
            if left[0] >= 5 and n - left[0] >= 5:
                both = left[1] * left[1] / left[2] + (g - left[1]) * (g - left[1]) / (h - left[2])
                gain = both - g * g / h
                if gain > best[0] and gain > 1e-10 * both:
                    best = (gain, 0.5 * one[0] + 0.5 * other[0], left[1], left[2])
        return best


def _join(one, other):
    one[1] += other[1]
    one[0] += (other[0] - one[0]) * (other[1] / one[1])
    one[2] += other[2]
    one[3] += other[3]


def _cost(one, other):
    gap = other[0] - one[0]
    return one[1] * other[1] / (one[1] + other[1]) * gap * gap


def _sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


class Node:
    """A leaf, until it has children."""

    def __init__(self, tree, g=0.0, h=0.0):
        self.g, self.h, self.seen, self.tried = g, h, 0.0, 0.0
        self.histograms = [Histogram(tree.bins) for _ in tree.columns]
        self.children = self.alternate = None
        self.errors = self.rise = self.lowest = 0.0

    def value(self):
        return -self.g / self.h if self.h > 0 else 0.0

    def leaf(self, x):
        return self if self.children is None else self.child(x).leaf(x)

    def child(self, x):
        if math.isnan(x[self.feature]):
            return max(self.children, key=Node.met)  # the first of equals
        return self.children[1] if x[self.feature] > self.threshold else self.children[0]

    def met(self):
        return self.seen if self.children is None else self.seen + self.tried

    def leaves(self):
        below = [] if self.children is None else [*self.children, *([self.alternate] if self.alternate else [])]
        return sum(each.leaves() for each in below) if below else 1


class Tree:
    """One tree on ``columns``; ``growth`` is a dict with the fields of TreeGrowth of the compiled trees."""

    def __init__(self, columns, bins, growth):
        self.columns, self.bins, self.growth = list(columns), bins, growth
        self.root = Node(self)
        self.weight = self.mean = self.scatter = 0.0
        self.splits = self.alarms = self.replaced = 0

    def value(self, x):
        return self.root.leaf(x).value()

    def learn(self, x, count, g, h):
        target, said = -g / h, self.value(x)
        self.weight += count
        away = target - self.mean
        self.mean += away * (count / self.weight)
        self.scatter += count * away * (target - self.mean)
        deviation = math.sqrt(self.scatter / self.weight)
        error = abs(target - said) / (3.0 * deviation) if deviation > 0 else 0.0
        node, put, watched = self.root, self._put_root, True
        while node.children is not None:
            node.seen += count
            node.errors += count * error
            if node.alternate is not None:
                its_leaf, verdict = node.alternate.leaf(x), self._verdict(node, target, said, x)
                if verdict == "taken":
                    put(node.alternate)
                    self.replaced += 1
                    node = node.alternate
                    continue
                if verdict == "gone":
                    node.alternate = None
                else:
                    self._teach(its_leaf, x, count, g, h)
                watched = False
            elif watched and self._alarm(node, error, count):
                node.alternate = Node(self)
                node.loss = node.other_loss = node.q_sum = node.q_mean = 0.0
                node.age = 0
                self.alarms += 1
                watched = False
            parent, node = node, node.child(x)
            place = parent.children.index(node)
            put = lambda new, parent=parent, place=place: parent.children.__setitem__(place, new)  # noqa: E731
        self._teach(node, x, count, g, h)
        return self.value(x)

    def _put_root(self, new):
        self.root = new

    def _alarm(self, node, error, count):
        node.rise += count * (error - node.errors / node.seen - self.growth["alpha"])
        node.lowest = min(node.lowest, node.rise)
        if node.rise - node.lowest <= self.growth["threshold"]:
            return False
        node.rise = node.lowest = 0.0
        return True

    def _verdict(self, node, target, said, x):
        node.loss = (target - said) ** 2 + 0.995 * node.loss
        node.other_loss = (target - node.alternate.leaf(x).value()) ** 2 + 0.995 * node.other_loss
        node.age += 1
        q = math.log((node.loss + 1e-300) / (node.other_loss + 1e-300))
        node.q_sum += q
        if node.age % 150:
            return "tried"
        if q > 0:
            return "taken"
        before, node.q_mean = node.q_mean, node.q_sum / node.age
        falls = node.age > 150 and node.q_mean < before and node.age >= 10 * self.growth["grace"]
        return "gone" if falls or node.age >= 1500 else "tried"

    def _teach(self, leaf, x, count, g, h):
        leaf.g += g
        leaf.h += h
        leaf.seen += count
        for histogram, column in zip(leaf.histograms, self.columns):
            if not math.isnan(x[column]):
                histogram.insert(x[column], count, g, h)
        if leaf.seen - leaf.tried >= self.growth["grace"]:
            leaf.tried = leaf.seen
            if self.root.leaves() < self.growth["max_leaves"]:
                self._try_to_split(leaf)

    def _try_to_split(self, leaf):
        cuts = [(*histogram.best_cut(), column) for histogram, column in zip(leaf.histograms, self.columns)]
        ranked = sorted(cuts, key=lambda cut: -cut[0])
        first, second = ranked[0], ranked[1][0] if len(ranked) > 1 else 0.0
        bound = math.sqrt(-math.log(self.growth["delta"]) / (2 * leaf.seen))
        if first[0] > 0 and (second / first[0] < 1 - bound or bound < self.growth["tie"]):
            left, right = (0.0, 0.0), (0.0, 0.0)
            if self.growth["inherit"]:
                chosen = leaf.histograms[self.columns.index(first[4])].bins
                met, g, h = (_sum(each[i] for each in leaf.histograms[0].bins) for i in (1, 2, 3))
                if met != _sum(each[1] for each in chosen):
                    g, h = (_sum(each[i] for each in chosen) for i in (2, 3))
                left, right = first[2:4], (g - first[2], h - first[3])
            leaf.threshold, leaf.feature = first[1], first[4]
            leaf.children = [Node(self, *left), Node(self, *right)]
            leaf.seen = 0.0
            self.splits += 1


def boost(trees, x, label, rate, by_hessian=True, repeats=1):
    """The trees learn (x, label); returns the score before."""
    before = rate * _sum(tree.value(x) for tree in trees)
    raw = 0.0
    for tree in trees:
        p = 1.0 / (1.0 + math.exp(-raw))
        g, h = p - label, max(p * (1.0 - p), 1e-16)
        times = math.ceil(repeats * h) if repeats > 1 else 1.0
        if by_hessian and repeats == 1:
            raw += rate * tree.learn(x, times, times * g, times * h)
        else:
            raw += rate * tree.learn(x, times, times * (g / h), times)
    return before
