"""A Hoeffding tree as its pages say it: nodes are objects, statistics are dicts, nothing is kept ready."""

import math


class Leaf:
    def __init__(self, weights=None, depth=0, max_depth=math.inf, moa=False):
        self.weights = dict(weights or {})
        self.depth, self.observes, self.moa = depth, depth < max_depth, moa
        self.values = {}  # (class, feature): [(value, weight), ...]
        self.tried_at = self.total
        self.largest_right = self.bayes_right = 0.0

    @property
    def total(self):
        return sum(self.weights.values())

    def largest(self):
        return max(sorted(self.weights), key=lambda c: self.weights[c])

    def normal(self, c, feature):
        """(weight, mean, variance); variance 0 if it is unknown."""
        pairs = self.values.get((c, feature), [])
        weight = sum(w for _, w in pairs)
        if weight == 0.0:
            return 0.0, 0.0, 0.0
        mean = sum(v * w for v, w in pairs) / weight
        scatter = sum(w * (v - mean) ** 2 for v, w in pairs)
        return weight, mean, scatter / (weight - 1) if weight > 1 and len({v for v, _ in pairs}) > 1 else 0.0

    def log_joint(self, x):
        out = {}
        for c, weight in self.weights.items():
            if weight > 0.0:
                out[c] = math.log(weight)
                for feature, value in enumerate(x):
                    met, mean, variance = self.normal(c, feature)
                    if variance > 0.0 and not math.isnan(value):
                        out[c] -= 0.5 * math.log(2 * math.pi * variance) + (value - mean) ** 2 / (2 * variance)
                    elif self.moa and not math.isnan(value) and (met == 0.0 or value != mean):
                        out[c] = -math.inf  # MOA's density is 0 there
        return out

    def by_bayes(self, x):
        joint = self.log_joint(x)
        return max(sorted({0: -math.inf} | joint), key=lambda c: joint.get(c, -math.inf))

    def sides(self, feature, threshold):
        left, right = {}, {}
        for c in {c for c, r in self.values if r == feature}:
            weight, mean, variance = self.normal(c, feature)
            inside = [v for v, _ in self.values[c, feature]]
            share = 1.0 if threshold >= max(inside) else 0.0
            if min(inside) <= threshold < max(inside) and variance > 0.0:
                share = 0.5 * (1 + math.erf((threshold - mean) / math.sqrt(2 * variance)))
            left[c], right[c] = share * weight, weight - share * weight
        return left, right


def entropy(weights):
    total = sum(weights.values())
    return -sum(w / total * math.log2(w / total) for w in weights.values() if w > 0)


class Tree:
    """``learn(x, y, w)`` and ``answer(x)``; rules as keywords, river's names being those of the kernel's Rules."""

    def __init__(self, n_features, leaf="nba", grace=200, delta=1e-7, tau=0.05, max_depth=math.inf):
        self.d, self.leaf, self.grace, self.delta, self.tau = n_features, leaf, grace, delta, tau
        self.max_depth = max_depth
        self.root = Leaf(max_depth=max_depth, moa=leaf == "moa")

    def weight(self, node):
        return node.total if isinstance(node, Leaf) else self.weight(node[2]) + self.weight(node[3])

    def path(self, x):
        node, path = self.root, []
        while not isinstance(node, Leaf):
            feature, threshold, left, right = node
            goes_right = x[feature] > threshold
            if math.isnan(x[feature]):
                goes_right = self.weight(left) < self.weight(right)
            path.append((node, 3 if goes_right else 2))
            node = right if goes_right else left
        return node, path

    def answer(self, x):
        leaf, _ = self.path(x)
        if not leaf.weights:
            return 0
        bayes = self.leaf == "nb" or (self.leaf in ("nba", "moa") and leaf.bayes_right >= leaf.largest_right)
        return leaf.by_bayes(x) if bayes and leaf.observes else leaf.largest()

    def learn(self, x, y, w=1.0):
        leaf, path = self.path(x)
        if leaf.observes:
            if not leaf.weights or leaf.largest() == y:
                leaf.largest_right += w
            if leaf.weights and leaf.by_bayes(x) == y:
                leaf.bayes_right += w
        leaf.weights[y] = leaf.weights.get(y, 0.0) + w
        if not leaf.observes:
            return
        for feature, value in enumerate(x):
            if not math.isnan(value):
                leaf.values.setdefault((y, feature), []).append((value, w))
        if leaf.total - leaf.tried_at >= self.grace:
            leaf.tried_at = leaf.total
            self.try_split(leaf, path)

    def try_split(self, leaf, path):
        met = [w for w in leaf.weights.values() if w > 0]
        if len(met) < 2:
            return
        if self.leaf != "moa" and max(met) / sum(met) > 0.99:
            leaf.values = {}
            return
        found = [(-math.inf, None, None)]  # not splitting
        for feature in range(self.d):
            found.append(max(self.candidates(leaf, feature), key=lambda one: one[0], default=found[0]))
        found.sort(key=lambda one: one[0])
        (second, *_), (best, feature, threshold) = found[-2:]
        epsilon = math.sqrt(math.log2(max(len(met), 2)) ** 2 * math.log(1 / self.delta) / (2 * sum(met)))
        if not (best - second > epsilon or epsilon < self.tau):
            return
        if feature is None:
            leaf.values = {}
            return
        children = [Leaf(s, leaf.depth + 1, self.max_depth, leaf.moa) for s in leaf.sides(feature, threshold)]
        split = [feature, threshold, *children]
        if path:
            parent, side = path[-1]
            parent[side] = split
        else:
            self.root = split

    def candidates(self, leaf, feature):
        values = [v for (_, r), pairs in leaf.values.items() if r == feature for v, _ in pairs]
        if not values:
            return
        low, high = min(values), max(values)
        for i in range(10):
            threshold = low + (high - low) / 11 * (i + 1)
            if low < threshold < high:
                sides = leaf.sides(feature, threshold)
                totals = [sum(side.values()) for side in sides]
                if min(totals) / sum(totals) > 0.01:
                    after = sum(t * entropy(s) for t, s in zip(totals, sides)) / sum(totals)
                    yield entropy(leaf.weights) - after, feature, threshold
