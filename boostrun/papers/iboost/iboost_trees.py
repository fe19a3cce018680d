"""IBoost of Hoeffding trees: base classifiers of river, in Python, hence for short streams and small committees."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost.holdout import above_zero
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels import iboost as kernels
from boostrun.papers.iboost.kernels.committee import vote
from boostrun.papers.iboost.kernels.margins import weigh
from boostrun.papers.iboost.keys import IBoostTreesKeys


class IBoostTreesClassifier(IBoostTreesKeys, IBoostClassifier):
    """IBoost whose classifiers are Hoeffding trees of river; needs river, ``pip install 'boostrun[streams]'``.

    A tree is fitted by one pass over the window, oldest example first, each example learnt Poisson(n w_i) times with
    its weight w_i. Then it stays as it is (frozen), or with ``grow`` learns each newcomer Poisson(n w) times too;
    what it says of the window is looked at again every ``period`` examples.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : as there.
    trees_ : list of river's classifiers, in the order of ``betas_``.

    Notes
    -----
    Raises BoostrunError where river is absent. An addition costs 2 n, an example M calls of river, some microseconds
    each; with ``grow`` n M / p more. A class met for the first time later on is one that older trees never answer with.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (600, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= 8, 1, -1)
    >>> model = IBoostTreesClassifier(n_window=100, budget=5, period=20, random_state=0)
    >>> bool((model.test_then_train(X, y) == y)[300:].mean() > 0.8)
    True
    """

    _families: ClassVar[dict[str, int]] = {"htree": bases.ELSEWHERE}
    base, var_floor, flip_bad = "htree", 1e-3, False
    scale, update_every, adds_per_event, remove, multiclass = "half", "1", 1, "smallest", "samme"

    @property
    def trees_(self) -> list:
        return [self._trees[int(ticket)] for ticket in self._state.models[: len(self.betas_), 0]]

    def decision_function(self, X) -> np.ndarray:
        """F(x), (k,), for two classes; coefficients that vote for each class, (k, K), for more."""
        check_is_fitted(self)
        votes = self._votes(self._checked(X, reset=False))
        return above_zero(votes[:, 1]) if votes.shape[1] == 2 else votes

    def members(self) -> None:
        """None: trees are no numbers."""
        return None

    def _begin(self, n_features, n_classes):
        _river()
        super()._begin(n_features, n_classes)
        self._rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(1,)))
        self._trees: dict[int, object] = {}  # a row of the committee holds the number of its tree

    def _learn(self, X, y):
        predictions = np.empty(len(X), np.int64)
        state, settings = self._state, self._settings
        classes, votes = np.empty(self.budget, np.int64), np.empty(settings.n_classes)
        sums = np.empty(self.n_window)
        for e, (sample, label) in enumerate(zip(X, y)):
            row = _named(sample)
            trees = self.trees_
            classes[: len(trees)] = [_answer(tree, row) for tree in trees]
            predictions[e] = vote(classes, state.coefficients, len(trees), votes)
            slot = self.n_seen_ % self.n_window
            if not kernels.enter(sample, label, slot, state, settings, classes, sums):
                continue
            due = (self.n_seen_ - self.n_window) % self.period == 0
            if self.grow and self.n_seen_ > self.n_window:
                self._teach(slot, row, int(label), due)
            if due:
                self._add()
            self._trees = dict(zip(state.models[: len(self.betas_), 0].astype(int).tolist(), self.trees_))
        self._check_finite(state)
        return predictions

    def _add(self) -> None:
        state = self._state
        weights = np.empty(self.n_window)
        leaver = kernels.weights_for_newcomer(state, self._settings, weights)
        tree = _river().HoeffdingTreeClassifier(
            grace_period=self.grace_period, delta=self.delta, max_depth=self.max_depth
        )  # fmt: skip
        oldest_first = (self.n_seen_ + np.arange(self.n_window)) % self.n_window
        rows, times = [_named(column) for column in state.columns.T], self._rng.poisson(self.n_window * weights)
        for slot in oldest_first[times[oldest_first] > 0]:
            tree.learn_one(rows[slot], int(state.labels[slot]), w=float(times[slot]))
        said = np.array([_answer(tree, row) for row in rows])
        ticket = self.n_seen_
        if kernels.append(state, self._settings, leaver, np.array([float(ticket)]), said, weights):
            self._trees[ticket] = tree

    def _teach(self, slot: int, row: dict, label: int, due: bool) -> None:
        """The trees meet the newcomer; where an addition is due, their answers on the window are made anew."""
        state, trees = self._state, self.trees_
        weights = np.empty(self.n_window)
        self._refresh()
        weigh(state.margins, state.mass, weights)
        for tree, times in zip(trees, self._rng.poisson(self.n_window * weights[slot], len(trees))):
            if times:
                tree.learn_one(row, label, w=float(times))
        if due:
            rows = [_named(column) for column in state.columns.T]
            for tree, right in zip(trees, state.right):
                right[:] = np.where([_answer(tree, other) == t for other, t in zip(rows, state.labels)], 1, -1)
            self._refresh()

    def _predict(self, X):
        votes = self._votes(X)
        return (votes[:, 1] >= 0.0).astype(np.int64) if votes.shape[1] == 2 else votes.argmax(axis=1)

    def _votes(self, X: np.ndarray) -> np.ndarray:
        """(k, K), as :func:`boostrun.papers.iboost.kernels.committee.vote` counts."""
        votes, trees = np.empty((len(X), self._settings.n_classes)), self.trees_
        for sample, row in zip(X, votes):
            classes = np.array([_answer(tree, _named(sample)) for tree in trees], np.int64)
            vote(classes, self._state.coefficients, len(trees), row)
        return votes

    def _grow_codes(self, n_classes):
        self._settings = self._numbers(n_classes)
        self._refresh()


def _river():
    """river's trees."""
    try:
        from river import tree
    except ImportError:
        raise BoostrunError("Hoeffding trees need river: pip install 'boostrun[streams]'") from None
    return tree


def _named(sample: np.ndarray) -> dict[int, float]:
    return dict(enumerate(sample.tolist()))


def _answer(tree, row: dict) -> int:
    return tree.predict_one(row) or 0  # None before the first example
