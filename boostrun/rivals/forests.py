"""The base of rivals made of trees, with their budgets of evaluations, features and bytes; forests of scikit-learn
They also have trees on fresh chunks, and pasting.

Evaluations are pairs of a feature and a sample that a search for splits reads. The histogram of a node is read from its
samples, and that of the larger child is a difference. So a tree of L leaves on n samples reads each feature at most
n (1 + log2(L) / 2) times: at a split, the share of the smaller child is at most half of the entropy of the split.
Binning the features once is not counted.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from boostrun.errors import BoostrunError
from boostrun.rivals.keys import ForestChunksKeys, ForestKeys, PastingKeys
from boostrun.rivals.rival import ByChunks, ByRounds

_ROUNDS = 10  # a budget of bytes reduces the number of leaves until so many rounds fit


class Share(NamedTuple):
    """The samples and features that a tree may look at, in each round."""

    rounds: int
    samples: int
    features: int


def passes(leaves: float) -> float:
    """The most often that a tree with histograms reads each feature of its samples.

    >>> passes(4)
    2.0
    """
    return 1.0 + math.log2(max(leaves, 2.0)) / 2.0


class Trees(ByRounds):
    """Base of rivals made of trees, with the keys of :class:`boostrun.rivals.keys.TreesKeys`."""

    n_estimators: int
    evaluations: int | None = None
    columns_drawn: int | None = None
    features_used: int | None
    model_bytes: int | None
    leaf_bytes = 100
    """Of the model, a leaf, about: how many leaves are possible before it is known."""

    def refuse(self, n: int, d: int, k: int) -> None:
        """Raise BoostrunError also if ``evaluations`` are too few for a round."""
        super().refuse(n, d, k)
        probe = copy.copy(self)
        probe.classes_ = np.arange(k)
        probe._share(self.samples_held or n, min(d, self.columns_drawn or d))

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.evaluations_, self.columns_ = 0, self._drawn(X.shape[1])
        X = self._chosen(X)
        self._grow(X, y)
        if self.features_used is not None and np.count_nonzero(self._importances()) > self.features_used:
            best = np.sort(np.argsort(-self._importances(), kind="stable")[: self.features_used])
            self.columns_ = best if self.columns_ is None else self.columns_[best]
            self._grow(X[:, best], y)
        if self.model_bytes is not None:
            self._cut_to(self.model_bytes)
        self.n_features_used_ = int(np.count_nonzero(self._importances()))
        self.model_bytes_ = self._bytes(self.n_rounds_)

    def _drawn(self, d: int) -> np.ndarray | None:
        """The columns of d that are trained on, in rising order; None for all."""
        if self.columns_drawn is None or self.columns_drawn >= d:
            return None
        return np.sort(np.random.default_rng(self._seed()).permutation(d)[: self.columns_drawn])

    def _grow(self, X: np.ndarray, y: np.ndarray) -> None:
        share = self._share(*X.shape)
        self._train(X, y, share, self._leaves_that_fit(share.rounds))
        self.evaluations_ += self._evaluated(share)

    @abstractmethod
    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        """Train on X (n, d) with class numbers y (n,), each tree on a ``share`` and with at most ``leaves`` leaves."""

    @abstractmethod
    def _evaluated(self, share: Share) -> int:
        """The pairs that the trained trees have read, or an upper bound."""

    @abstractmethod
    def _importances(self) -> np.ndarray:
        """(d,) importances of the training features, 0 for a feature without a split."""

    @abstractmethod
    def _bytes(self, rounds: int) -> int:
        """The size of the model of the first ``rounds``."""

    @abstractmethod
    def _cut(self, rounds: int) -> None:
        """Keep only the first ``rounds``."""

    @property
    def _trees_a_round(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    @property
    @abstractmethod
    def _most_leaves(self) -> int | None:
        """The most leaves that the keys allow; None without a limit."""

    @property
    def _smallest_bag(self) -> int:
        """The fewest samples for a tree."""
        return 2

    @abstractmethod
    def _features_of(self, d: int) -> int:
        """The number of features, of d, that a tree or a split looks at with the given keys."""

    def _reads(self, samples: int) -> float:
        """A bound of the reads of a feature per sample in a round on ``samples``, over all trees of the round."""
        return self._trees_a_round * passes(self._most_leaves or samples)

    def _share(self, n: int, d: int) -> Share:
        """The share of each tree: all samples and the features of the keys; with a small budget fewer features, samples
        and rounds, in this order.
        """
        features, samples, rounds = self._features_of(d), n, self.n_estimators
        if self.evaluations is None:
            return Share(rounds, samples, features)
        cost = lambda samples, features: samples * features * self._reads(samples)  # noqa: E731
        least = min(n, max(self._smallest_bag, 10 * len(self.classes_)))
        few = min(features, max(2, round(math.sqrt(d))))
        features = min(features, max(few, int(self._budget / rounds / cost(samples, 1))))
        if cost(samples, features) * rounds > self._budget:
            samples = _largest(lambda count: cost(count, features) * rounds <= self._budget, least, samples)
        rounds = min(rounds, int(self._budget / cost(samples, features)))
        if rounds == 0:
            raise self._too_little(cost(samples, features), Share(1, samples, features))
        return Share(rounds, samples, features)

    @property
    def _budget(self) -> float:
        """Evaluations for one training; with a selection of features there are two trainings."""
        return (self.evaluations or math.inf) / (1 if self.features_used is None else 2)

    def _too_little(self, cost: float, share: Share) -> BoostrunError:
        return BoostrunError(
            f"evaluations={self.evaluations}: one round of {share.samples} samples and {share.features} features may "
            f"take {cost:,.0f}"
        )

    def _leaves_that_fit(self, rounds: int) -> int | None:
        if self.model_bytes is None:
            return self._most_leaves
        trees = min(rounds, _ROUNDS) * self._trees_a_round
        fitting = max(2, int(self.model_bytes / (self.leaf_bytes * trees)))
        return fitting if self._most_leaves is None else min(fitting, self._most_leaves)

    def _cut_to(self, size: int) -> None:
        if self._bytes(1) > size:
            raise BoostrunError(f"model_bytes={size}: the smallest model has {self._bytes(1)}")
        self._cut(_largest(lambda rounds: self._bytes(rounds) <= size, 1, self.n_rounds_))

    def _chosen(self, X: np.ndarray) -> np.ndarray:
        """The columns of X that were trained on."""
        return X if self.columns_ is None else np.ascontiguousarray(X[:, self.columns_])


def _largest(holds: Callable[[int], bool], least: int, most: int) -> int:
    """The largest whole number from ``least`` to ``most`` that holds; ``least`` if none does.

    If a number does not hold, no larger one does.
    """
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if holds(middle) else (least, middle - 1)
    return least


class _Forest(ForestKeys, Trees):
    """Base of both forests; ``_name`` is their class in ``sklearn.ensemble``.

    Every node reads its samples. With a budget of evaluations the depth is limited, and trees are grown as long as the
    deepest possible tree would fit.
    """

    package, _name = "sklearn.ensemble", ""

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        from sklearn import ensemble

        bag: dict[str, Any] = {"bootstrap": True, "max_samples": share.samples}
        self.forest_: Any = getattr(ensemble, self._name)(
            max_leaf_nodes=leaves, min_samples_leaf=self.min_samples_leaf, max_features=share.features,
            max_depth=None if self.evaluations is None else _depth(share.samples), random_state=self._seed(), n_jobs=1,
            warm_start=True, **(bag if share.samples < len(X) else {}),
        )  # fmt: skip
        trees = 0
        while more := min(share.rounds - trees, self._affordable(share, trees)):
            trees += more
            self.forest_.set_params(n_estimators=trees).fit(X, y)

    def _affordable(self, share: Share, trees: int) -> int:
        """The number of further trees that fit into the budget, however deep they grow."""
        if self.evaluations is None:
            return share.rounds
        left = self._budget - (self._evaluated(share) if trees else 0)
        return int(left // (share.samples * share.features * _depth(share.samples)))

    def _share(self, n: int, d: int) -> Share:
        share = super()._share(n, d)
        if not self._affordable(share, 0):
            raise self._too_little(share.samples * share.features * _depth(share.samples), share)
        return share

    def _evaluated(self, share: Share) -> int:
        return share.features * sum(
            int(tree.tree_.n_node_samples[tree.tree_.children_left >= 0].sum()) for tree in self.forest_.estimators_
        )

    def _importances(self) -> np.ndarray:
        used = np.zeros(self.forest_.n_features_in_)
        for tree in self.forest_.estimators_:
            used[tree.tree_.feature[tree.tree_.feature >= 0]] = np.finfo(float).tiny
        return np.where(used > 0.0, np.maximum(self.forest_.feature_importances_, used), 0.0)

    def _bytes(self, rounds: int) -> int:
        trees = [tree.tree_ for tree in self.forest_.estimators_[:rounds]]
        return sum(tree.__getstate__()["nodes"].nbytes + tree.value.nbytes for tree in trees)

    def _cut(self, rounds: int) -> None:
        self.forest_.estimators_ = self.forest_.estimators_[:rounds]
        self.forest_.n_estimators = rounds

    def _reads(self, samples: int) -> float:
        return math.log2(max(samples, 2))  # a typical number; the upper bound is compared with the budget left

    @property
    def _trees_a_round(self) -> int:
        return 1

    @property
    def leaf_bytes(self) -> int:  # type: ignore[override]
        """A leaf, and the split above it, have a value for each class."""
        return 2 * (64 + 8 * len(self.classes_))

    @property
    def _most_leaves(self) -> int | None:
        return self.leaves

    def _features_of(self, d: int) -> int:
        share = math.sqrt(d) if self.feature_fraction is None else self.feature_fraction * d
        return max(1, int(share))  # as the library rounds it

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self.forest_.predict_proba(self._chosen(X))

    @property
    def n_rounds_(self) -> int:
        """Trees of the fitted model."""
        return len(self.forest_.estimators_)

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        X, total = np.ascontiguousarray(self._chosen(X), np.float32), np.zeros((len(X), len(self.classes_)))
        for count, tree in enumerate(self.forest_.estimators_, start=1):
            total += tree.predict_proba(X)
            if count in rounds:
                yield total


class RivalForestClassifier(_Forest):
    """A random forest of scikit-learn, deterministic for a seed; its bytes are those of its nodes and their values.

    Parameters
    ----------
    {parameters}
    """

    _name = "RandomForestClassifier"


class RivalExtraTreesClassifier(_Forest):
    """Extremely randomised trees of scikit-learn, deterministic for a seed; bytes as for a random forest.

    Parameters
    ----------
    {parameters}
    """

    _name = "ExtraTreesClassifier"


def _depth(samples: int) -> int:
    """The depth of a tree that can separate so many samples."""
    return math.ceil(math.log2(max(samples, 2))) + 4


# -- more trees on fresh chunks


class MoreTrees(ByChunks):
    """Base of models made of trees that go on from chunk to chunk, ``rounds`` at a time."""

    rounds: int
    most_rounds: int
    columns_: np.ndarray | None = None

    @property
    def _most_chunks(self) -> int:
        return max(1, self.most_rounds // self.rounds)

    def _state(self) -> int:
        return self.n_rounds_

    def predict_after(self, X, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        """Predictions after each of these numbers of chunks; a chunk may have added no tree."""
        X, counts = self._checked(X), [self._stages[chunk] for chunk in rounds]
        different = sorted(set(counts))
        said = {count: self._labels(scores) for count, scores in zip(different, self._staged_scores(X, different))}
        yield from (self.predict(X) if chunk == self.n_chunks_ else said[count] for chunk, count in zip(rounds, counts))

    def _finish(self) -> None:
        trees: Any = self
        self.evaluations_ = trees._evaluated(Share(self.rounds, self.batch_size, trees._features_of(self._d)))
        self.n_features_used_ = int(np.count_nonzero(trees._importances()))
        self.model_bytes_ = trees._bytes(self.n_rounds_)


class ForestChunksClassifier(ForestChunksKeys, MoreTrees, _Forest):
    """A forest of scikit-learn that grows with ``warm_start``: some trees on each fresh chunk.

    Parameters
    ----------
    {parameters}
    """

    def _begin(self) -> None:
        from sklearn import ensemble

        kind = ensemble.ExtraTreesClassifier if self.extra else ensemble.RandomForestClassifier
        self.forest_ = kind(
            0, max_leaf_nodes=self.leaves, min_samples_leaf=self.min_samples_leaf,
            max_features=self._features_of(self._d), random_state=self._first_seed, n_jobs=1, warm_start=True,
        )  # fmt: skip

    def _take(self, X: np.ndarray, y: np.ndarray, chunk: int) -> int:
        absent = np.setdiff1d(np.arange(len(self.classes_)), y)
        weights = None
        if len(absent):  # the library wants every class each time: a row of weight 0 is none to a tree
            weights = np.repeat([1.0, 0.0], [len(y), len(absent)])
            X, y = np.concatenate([X, np.repeat(X[:1], len(absent), axis=0)]), np.concatenate([y, absent])
        self.forest_.set_params(n_estimators=self.forest_.n_estimators + self.rounds).fit(X, y, sample_weight=weights)
        return len(y) - len(absent)


class PastingClassifier(PastingKeys, MoreTrees):
    """Pasting small votes by importance (Breiman, Machine Learning 36, 1999): a tree on each bite of hard samples.

    A fresh sample that the trees so far get wrong joins the bite, any other with the probability e / (1 - e), where e
    is the error on fresh samples, smoothed: e <- p e + (1 - p) error since the last bite. A full bite grows a tree
    without pruning and is dropped; the trees vote. Only trees that have not learnt a sample judge it (out of bag); 8
    bytes of each learnt sample remain for this. A bite that is not full when all samples are drawn is left out.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    trees_ : decision trees of scikit-learn
    error_ : float, e after the last bite
    """

    package = "sklearn.tree"
    rounds, most_rounds = 1, np.iinfo(np.int64).max

    @property
    def _kept(self) -> int:
        return self.bite_size

    @property
    def n_rounds_(self) -> int:
        """Trees of the fitted model."""
        return len(self.trees_)

    def refuse(self, n: int, d: int, k: int) -> None:
        """Raise BoostrunError also if the samples that are drawn do not fill one bite."""
        super().refuse(n, d, k)
        to_draw = self.samples_drawn or self.epochs * n
        if self.bite_size > to_draw // min(self.batch_size, to_draw) * min(self.batch_size, to_draw):
            raise BoostrunError(f"r={self.bite_size}: {to_draw} samples are drawn in all, and fill no bite")

    def _begin(self) -> None:
        self.trees_: list[Any] = []
        self._nodes, self._roots = np.empty(1024, _NODE), [0]  # of all trees, and where each tree begins
        self._learnt: dict[int, list[int]] = defaultdict(list)  # mark of a sample -> trees that learnt it
        self._rng = np.random.default_rng(self._first_seed)
        self._factors = self._rng.integers(0, 2**64, self._d, np.uint64, endpoint=False)
        self._bite: list[tuple[np.ndarray, np.ndarray]] = []
        self.error_, self._seen, self._wrong = 0.5, 0, 0

    def _take(self, X: np.ndarray, y: np.ndarray, chunk: int) -> int:
        held = sum(len(labels) for _, labels in self._bite)
        before, at = held + len(y), 0
        votes = self._out_of_bag(X, 0)
        while at < len(y):
            judged: np.ndarray = np.any(votes[at:] > 0, axis=1)
            wrong = judged & (votes[at:].argmax(axis=1) != y[at:])
            chance = min(1.0, self.error_ / max(1.0 - self.error_, 1e-12))
            takes = np.flatnonzero(wrong | ~judged | (self._rng.random(len(wrong)) < chance))[: self.bite_size - held]
            held += len(takes)
            full = held == self.bite_size
            looked = int(takes[-1]) + 1 if full else len(y) - at
            self._seen += int(judged[:looked].sum())
            self._wrong += int(wrong[:looked].sum())
            self._bite.append((X[at + takes], y[at + takes]))
            at += looked
            if full:
                self._grow_tree()
                held = 0
                votes += self._out_of_bag(X, len(self.trees_) - 1)
        return before - held

    def _grow_tree(self) -> None:
        """Grow a tree on the bite, and drop the bite."""
        from sklearn.tree import DecisionTreeClassifier

        X, y = (np.concatenate(part) for part in zip(*self._bite))
        tree = DecisionTreeClassifier(
            min_samples_leaf=self.min_samples_leaf, max_features=max(1, int(self.feature_fraction * self._d)),
            random_state=self._seed_of(len(self.trees_)),
        ).fit(X.astype(np.float32), y)  # fmt: skip
        for mark in self._marks(X):
            self._learnt[mark].append(len(self.trees_))
        self.trees_.append(tree)
        self._append(tree.tree_, tree.classes_[tree.tree_.value[:, 0].argmax(axis=1)])
        if self._seen:
            self.error_ = self.smoothing * self.error_ + (1.0 - self.smoothing) * self._wrong / self._seen
        self._bite, self._seen, self._wrong = [], 0, 0

    def _marks(self, X: np.ndarray) -> list[int]:
        """A number (8 bytes) for each sample of X (n, d), the same for equal samples."""
        bits = np.ascontiguousarray(X).view(f"u{X.dtype.itemsize}").astype(np.uint64)
        return (bits @ self._factors).tolist()

    def _append(self, tree: Any, labels: np.ndarray) -> None:
        """Copy the nodes of a tree, with the class number of each node, behind those of the trees before."""
        first, end = self._roots[-1], self._roots[-1] + tree.node_count
        if end > len(self._nodes):
            self._nodes = np.resize(self._nodes, 2 * end)
        nodes = self._nodes[first:end]
        nodes["threshold"], nodes["feature"], nodes["label"] = tree.threshold, tree.feature, labels
        nodes["left"], nodes["right"] = tree.children_left, tree.children_right
        self._roots.append(end)

    def _votes(self, X: np.ndarray, first: int, end: int) -> np.ndarray:
        """The votes (n, k) of the trees from ``first`` to before ``end`` for X (n, d) float32."""
        votes = np.zeros((len(X), len(self.classes_)), np.int64)
        _vote(X, self._nodes, np.array(self._roots[first:end], np.int64), votes)
        return votes

    def _out_of_bag(self, X: np.ndarray, first: int) -> np.ndarray:
        """The votes (n, k) of the trees from ``first`` on for X (n, d), without those trees that learnt a sample."""
        floats = X.astype(np.float32)
        votes = self._votes(floats, first, len(self.trees_))
        for row, mark in enumerate(self._marks(X)):
            for tree in set(self._learnt.get(mark, ())):
                if tree >= first:
                    votes[row] -= self._votes(floats[row : row + 1], tree, tree + 1)[0]
        return votes

    def _finish(self) -> None:
        grown = [tree.tree_ for tree in self.trees_]
        reads = sum(int(tree.n_node_samples[tree.children_left >= 0].sum()) for tree in grown)
        self.evaluations_ = reads * max(1, int(self.feature_fraction * self._d))
        self.n_features_used_ = len({int(one) for tree in grown for one in tree.feature[tree.feature >= 0]})
        self.model_bytes_ = sum(tree.__getstate__()["nodes"].nbytes + tree.value.nbytes for tree in grown)
        del self._learnt, self._bite

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return next(self._staged_scores(X, [len(self.trees_)]))

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        floats, votes, done = X.astype(np.float32), np.zeros((len(X), len(self.classes_))), 0
        for count in rounds:
            votes += self._votes(floats, done, count)
            done = count
            yield votes / max(count, 1)


_NODE = np.dtype([("threshold", "f8"), ("feature", "i4"), ("left", "i4"), ("right", "i4"), ("label", "i4")])


@njit(cache=True)
def _vote(X, nodes, roots, votes):
    """Add a vote of each tree to ``votes`` (n, k) int64 for X (n, d) float32; a tree begins at a root in ``nodes``."""
    for root in roots:
        for row in range(len(X)):
            node = root
            while nodes[node].left >= 0:
                below = X[row, nodes[node].feature] <= nodes[node].threshold
                node = root + (nodes[node].left if below else nodes[node].right)
            votes[row, nodes[node].label] += 1
