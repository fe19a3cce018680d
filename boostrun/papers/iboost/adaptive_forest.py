"""ARF: an adaptive random forest for evolving streams (Gomes, Bifet, Read et al., Machine Learning 106, 2017)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostrun.config import fields
from boostrun.kernels import allocating_kernel, hoeffding, kernel, part
from boostrun.kernels.hoeffding import HoeffdingTrees
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.methods.stream_state import StreamState
from boostrun.papers.iboost.baselines import rules_of
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.iboost.kernels.incremental import winner
from boostrun.papers.iboost.keys import StreamForestKeys
from boostrun.papers.iboost.onlineboost import poisson

TREE, BACKGROUND = 0, 1  # columns of ``places``
MET, RIGHT = 0, 1  # columns of ``tallies``
WARNINGS, DRIFTS, EXCHANGED = range(3)  # places in ``counts``


class Forest(NamedTuple):
    """M members, each with a tree and a background tree in a pool of 2 M trees.

    ``places`` (M, 2) int64: where in the pool a member's tree and background tree are; ``growing`` (M,) int64, 1 if
    the background tree learns; ``tallies`` (M, 2) float64: examples that a tree predicted since it began, and right
    ones; ``counts`` (3,) int64: warnings, drifts, and drifts after which a background tree took over; ``adwins``: 2 M
    windows of errors, those of drifts, then those of warnings.
    """

    places: np.ndarray
    growing: np.ndarray
    tallies: np.ndarray
    counts: np.ndarray
    adwins: Adwins

    @classmethod
    def fresh(cls, members: int) -> Forest:
        """Members whose trees have met nothing.

        >>> Forest.fresh(2).places.tolist()
        [[0, 2], [1, 3]]
        """
        places = np.arange(2 * members).reshape(2, members).T.copy()
        growing, counts = np.zeros(members, np.int64), np.zeros(3, np.int64)
        return cls(places, growing, np.zeros((members, 2)), counts, Adwins.empty(2 * members))


class ForestRules(NamedTuple):
    """``rate`` of the Poisson weights; confidence of the ADWINs for ``warning`` and ``drift``; whether votes are
    ``weighted`` by accuracy; how ``trees`` grow."""

    rate: float
    warning: float
    drift: float
    weighted: bool
    trees: hoeffding.Rules


@part
def vote(trees, forest, x, rules, shares, votes, said):
    """The class of x (d,): the largest sum of the trees' probabilities, each times its accuracy since it began.

    ``said`` (M,) int64 gets the class of each tree; ``votes`` (K,) the sums; ``shares`` (K,) is scratch. An untrained
    tree does not vote. Cost O(M (depth + K m)).
    """
    votes[:] = 0.0
    for j in range(said.shape[0]):
        hoeffding.probabilities(trees, forest.places[j, TREE], x, rules.trees, shares)
        right, weight, best = forest.tallies[j, RIGHT], 1.0, 0
        if rules.weighted and right > 0.0:
            weight = right / forest.tallies[j, MET]
        for c in range(votes.shape[0]):
            votes[c] += weight * shares[c]
            if shares[c] > shares[best]:
                best = c
        said[j] = best
    return winner(votes)


@part
def rises(adwins, j, error, delta):
    """Whether window j is cut by the next error, and its mean is larger than before."""
    before = adwin.estimate(adwins, j)
    return adwin.add(adwins, j, error, delta, False) and adwin.estimate(adwins, j) > before


@part
def learn_one(trees, forest, x, y, rules, rng, said):
    """Every member learns (x, y) as in :class:`StreamForestClassifier`; ``said`` are the trees' classes."""
    members = said.shape[0]
    for j in range(members):
        error = 0.0 if said[j] == y else 1.0
        forest.tallies[j, MET] += 1.0
        forest.tallies[j, RIGHT] += 1.0 - error
        count = poisson(rng, rules.rate)
        if count == 0:
            continue
        tree, background = forest.places[j, TREE], forest.places[j, BACKGROUND]
        hoeffding.learn(trees, tree, x, y, float(count), rules.trees)
        if forest.growing[j]:
            hoeffding.learn(trees, background, x, y, float(count), rules.trees)
        if rises(forest.adwins, members + j, error, rules.warning):
            forest.counts[WARNINGS] += 1
            hoeffding.forget(trees, background)
            forest.growing[j] = 1
            adwin.forget(forest.adwins, members + j)
        if rises(forest.adwins, j, error, rules.drift):
            forest.counts[DRIFTS] += 1
            forest.counts[EXCHANGED] += forest.growing[j]
            hoeffding.forget(trees, tree)
            if forest.growing[j]:
                forest.places[j, TREE], forest.places[j, BACKGROUND] = background, tree
            forest.growing[j] = 0
            forest.tallies[j, :] = 0.0
            adwin.forget(forest.adwins, j)
            adwin.forget(forest.adwins, members + j)


@allocating_kernel
def test_then_train(trees, forest, X, y, rules, rng, first, out):
    """Predict each row of X (k, d) from ``first`` on into ``out`` (k,) int64, then learn its class y (k,).

    Returns k, or the row at which the pool of trees has no more room.
    """
    members = forest.growing.shape[0]
    shares, votes = np.empty(trees.weight.shape[1]), np.empty(trees.weight.shape[1])
    said = np.empty(members, np.int64)
    for i in range(first, X.shape[0]):
        if not hoeffding.has_room(trees, 2 * members):
            return i
        out[i] = vote(trees, forest, X[i], rules, shares, votes, said)
        learn_one(trees, forest, X[i], y[i], rules, rng, said)
    return X.shape[0]


@kernel
def vote_rows(trees, forest, X, rules, shares, said, votes):
    """Fill ``votes`` (k, K) for the rows of X (k, d), see :func:`vote`."""
    for i in range(X.shape[0]):
        vote(trees, forest, X[i], rules, shares, votes[i], said)


class StreamForestClassifier(StreamForestKeys, StreamLearner):
    """A forest of ``budget`` Hoeffding trees, each of which starts again when its errors rise::

        on (x, y):  for each member:
            acc = share of the examples since its tree began that the tree predicted right, this one included
            k ~ Poisson(lambda);  if k > 0:
                its tree learns (x, y) with weight k, and so does its background tree if there is one
                e = 1 if the tree predicted another class than y before it learned, else 0
                ADWIN with warning_delta gets e;  if it is cut and its mean rises: a new background tree starts
                ADWIN with drift_delta gets e;    if it is cut and its mean rises: the background tree, or a new tree,
                                                  replaces the tree;  acc and both ADWINs start again
        predict:  argmax_c sum over the trees of acc p_c(x)

    A leaf observes m of the d features, drawn when it begins; m is the square root of d, rounded, plus 1, or
    ``feature_fraction`` of d. With lambda = 6 (leveraging bagging) most members learn most examples. river gives ADWIN
    the same errors and starts a tree again on any change, MOA on a rise, as here; MOA counts the errors after learning.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of all random draws.

    Attributes
    ----------
    classes_ : labels.
    n_warnings_, n_drifts_ : int, warnings and drifts so far, over all members.
    n_exchanged_ : int, drifts after which a background tree took over.

    Cost O(M (depth + K m)) per example for K classes, twice that while background trees grow.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (4000, 3))
    >>> y = (X[:, 0] + X[:, 1] <= 8) ^ (np.arange(4000) >= 2000)  # the classes change places
    >>> model = StreamForestClassifier(budget=5, random_state=0)
    >>> bool((model.test_then_train(X, y) == y)[3000:].mean() > 0.9), model.n_drifts_ >= 5
    (True, True)
    """

    uses_change_detector = True
    updates_base_online = True
    adds_and_removes = True
    keeps_window = True  # the ADWINs
    _draws_weights = True
    _absent = np.nan

    def _begin(self, n_features: int, n_classes: int) -> None:
        fields.check(self)
        share = self.feature_fraction
        m = round(math.sqrt(n_features)) + 1 if share is None else max(1, round(share * n_features))
        grown, drawn = np.random.SeedSequence(self._entropy()).spawn(2)
        self.learners_ = HoeffdingTrees.fresh(
            2 * self.budget, n_classes, n_features, m, int(grown.generate_state(1, np.uint64)[0])
        )
        self._forest = Forest.fresh(self.budget)
        self._rng = np.random.default_rng(drawn)

    def _hold(self, state: StreamState) -> None:
        # looks (S, m), the features that each leaf observes: m follows from d only if no feature came late
        share, width = self.feature_fraction, state.arrays["learners_.5"].shape[-1]
        self.feature_fraction = width / self.n_features_in_
        try:
            super()._hold(state)
        finally:
            self.feature_fraction = share

    def _grow(self, n_classes: int) -> None:
        self.learners_ = self.learners_.grown(n_classes)

    def _widen(self, n_features: int) -> bool:
        """New leaves may observe the feature from now on."""
        self.learners_ = self.learners_.wider(n_features)
        return True

    @property
    def n_warnings_(self) -> int:
        return int(self._forest.counts[WARNINGS])

    @property
    def n_drifts_(self) -> int:
        return int(self._forest.counts[DRIFTS])

    @property
    def n_exchanged_(self) -> int:
        return int(self._forest.counts[EXCHANGED])

    @property
    def _rules(self) -> ForestRules:
        return ForestRules(
            float(self.lam), float(self.warning_delta), float(self.drift_delta), self.vote == "weighted",
            rules_of(self, self.split_delta),
        )  # fmt: skip

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        out, first, rules = np.empty(len(y), np.int64), 0, self._rules
        while (first := test_then_train(self.learners_, self._forest, X, y, rules, self._rng, first, out)) < len(y):
            self.learners_ = self.learners_.doubled()
        return out

    def _votes_of(self, X: np.ndarray) -> np.ndarray:
        votes = np.empty((len(X), self.learners_.weight.shape[1]))
        scratch = np.empty(votes.shape[1]), np.empty(self.budget, np.int64)
        vote_rows(self.learners_, self._forest, X, self._rules, *scratch, votes)
        return votes

    def _predict(self, X: np.ndarray) -> np.ndarray:
        votes = self._votes_of(X)
        return (votes[:, 1] >= votes[:, 0]).astype(np.int64) if votes.shape[1] == 2 else votes.argmax(axis=1)

    def predict_proba(self, X) -> np.ndarray:
        """(k, K) float64 for X (k, d): the mean of the trees' probabilities, weighted as their votes are; shares of 1/K
        before the first example."""
        check_is_fitted(self)
        votes = self._votes_of(self._checked(X, reset=False))[:, : len(self.classes_)]
        total = votes.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, votes / np.where(total > 0.0, total, 1.0), 1.0 / len(self.classes_))
