"""A Hoeffding adaptive tree as its pages say it: recursion, and a note beside every node."""

import math

from boostrun.papers.iboost.kernels import adwin
from tests.reference.hoeffding import Leaf, Tree


class Note:
    def __init__(self):
        self.met = self.wrong = 0
        self.window, self.alternate = adwin.Adwins.empty(1), None

    def mean(self):
        return self.wrong / self.met


class AdaptiveTree:
    """``answer(x)`` and ``learn(x, y)``; ``delta``, ``least`` and ``significance`` are those of the kernel's Watch."""

    def __init__(self, n_classes, delta, least, significance, *rules):
        self.K, self.delta, self.least, self.significance, self.rules = n_classes, delta, least, significance, rules
        self.tree, self.notes, self.taken = Tree(*rules), {}, 0

    def note(self, node):
        """The node is kept too, so that no other one gets its number."""
        return self.notes.setdefault(id(node), (node, Note()))[1]

    def answer(self, x):
        votes = [0.0] * self.K
        splits = [split for split, _ in self.tree.path(x)[1]]
        for tree in [self.tree] + [self.note(split).alternate for split in splits if self.note(split).alternate]:
            leaf, _ = tree.path(x)
            note = self.note(leaf)
            for c, p in self.probabilities(tree, leaf, x).items():
                votes[c] += p / (note.mean() ** 2 if note.wrong else 1.0)
        return votes.index(max(votes)) if max(votes) > 0 or self.K > 2 else 1

    def probabilities(self, tree, leaf, x):
        if not leaf.weights:
            return {}
        out = leaf.weights
        if leaf.observes and (tree.leaf == "nb" or (tree.leaf == "nba" and leaf.bayes_right >= leaf.largest_right)):
            joint = leaf.log_joint(x)
            out = {c: math.exp(v - max(joint.values())) for c, v in joint.items()}
        return {c: p / sum(out.values()) for c, p in out.items()}

    def learn(self, x, y, tree=None):
        tree = tree or self.tree
        leaf, path = tree.path(x)
        error = float(not leaf.weights or tree.answer(x) != y)
        self.count(leaf, error)
        for place, (split, _) in enumerate(path):
            self.count(split, error)
            if self.replaced(tree, path[:place], split, error):
                break
            if self.note(split).alternate:
                self.learn(x, y, self.note(split).alternate)
        leaf, path = tree.path(x)
        tree.learn(x, y)
        now = path[-1][0][path[-1][1]] if path else tree.root
        if not isinstance(now, Leaf):
            self.note(now).met, self.note(now).wrong = self.note(leaf).met, self.note(leaf).wrong

    def count(self, node, error):
        self.note(node).met += 1
        self.note(node).wrong += error

    def replaced(self, tree, above, split, error):
        note = self.note(split)
        before = adwin.estimate(note.window, 0)
        if adwin.add(note.window, 0, error, self.delta, True):
            note.met = note.wrong = 0
            if adwin.estimate(note.window, 0) > before:
                note.alternate = Tree(*self.rules)
            return False
        if note.alternate is None:
            return False
        other = self.note(note.alternate.root)
        if min(note.met, other.met) <= self.least:
            return False
        u = note.mean()
        bound = math.sqrt(2 * u * (1 - u) * math.log(2 / self.significance) * (1 / note.met + 1 / other.met))
        if u - other.mean() > bound:
            self.taken += 1
            if above:
                parent, side = above[-1]
                parent[side] = note.alternate.root
            else:
                tree.root = note.alternate.root
            return True
        if other.mean() - u > bound:
            note.alternate = None
        return False
