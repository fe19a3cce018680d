"""Which features and samples to look at: policies, each reading like its pseudocode.

This module has the base class, the uniform policies and shared code; other policies are imported on first use.
The uniform policies look at Q features, on all samples (Dubout & Fleuret 2014, section 4): ``uniform_naive`` draws them
from all features, ``uniform_1q`` from one family drawn uniformly, ``uniform_q1`` one from each of Q families drawn
uniformly.

The kernels at the end draw samples in proportion to their weights (section 3, equations 1 and 2). Signed weights
s_il = w_il y_il are laid out as in :mod:`boostrun.kernels.votes`; a sample's weight is m_i = sum_l w_il.

>>> from boostrun.papers.adaptive.policies import Laminating
>>> Laminating(Q=64)
Laminating(Q=64)
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from boostrun.config.fields import fields_of
from boostrun.errors import BoostrunError
from boostrun.kernels.lanes import LANES, at_most, empty, fetch, load, spread, store, total
from boostrun.papers.adaptive.keys import FewFeaturesKeys, FixedSampleKeys, OnAllSamplesKeys, PolicyKeys


class Policy(PolicyKeys):
    """Base of our policies. Yours need not inherit from it: any object with ``choose(board)`` is a policy.

    The booster copies a policy before it uses it, so that an object can be given to several runs. On its copy it calls
    ``start(board)`` once, where a policy has it, then for each step ``choose(board)``, which returns a feature, and
    ``learn(edge)``, where a policy has it, with the true edge of the stump added on that feature. The board is a
    :class:`boostrun.papers.adaptive.adaboost_mh.Board`.

    Parameters are fields of :mod:`boostrun.config.fields` in a class of keys, checked when they are given:
    BoostrunError with one sentence for one that does not fit. Policies with equal parameters are equal.

    >>> from boostrun.config.fields import integer, keys
    >>> @keys
    ... class First(Policy):
    ...     Q: int = integer(10, help="features that a step looks at")
    ...
    ...     def choose(self, board):
    ...         return int(board.edges(np.arange(self.Q))[0].argmax())
    >>> First(Q=3), First(3) == First(Q=3), First() == First(3)
    (First(Q=3), True, False)
    """

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"{type(self).__qualname__}({given})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy) or type(other) is not type(self):
            return NotImplemented
        return self._parameters() == other._parameters()

    __hash__ = None  # type: ignore[assignment]  # equal policies may change

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in fields_of(type(self))}


def own_copy(policy: Any) -> Any:
    """A policy for one run, which changes it: a copy of an object, or the policy of that name with its defaults.

    Raises BoostrunError for a name that is none.

    >>> own_copy("fixed_sample")
    FixedSample(Q=10)
    """
    if not isinstance(policy, str):
        return copy.deepcopy(policy)
    from boostrun.config import catalogue

    return catalogue.part("policies", policy)()


def hook(policy: Any, name: str) -> Callable[[Any], None]:
    """``start`` or ``learn`` of a policy, or a function that does nothing."""
    return getattr(policy, name, _nothing)


def _nothing(_: Any) -> None:
    pass


def random_argmax(values: np.ndarray, rng: np.random.Generator, tolerance: float = 0.0) -> int:
    """The place of the largest of ``values`` (M,), a random one of those within ``tolerance`` of it."""
    best = np.flatnonzero(values >= values.max() - tolerance)
    return int(best[rng.integers(len(best))])


class FewFeatures(FewFeaturesKeys, Policy):
    """The best of those features that boosting has, one of which is new every few rounds, until there are k::

        J = {};  for each round t = 1, 2, ...:
            every rounds_a_feature rounds, while |J| < k:  one more may come
            for the stump of the round, or each split of its tree:
                C = Q of all features if one more may come, else Q of J
                j = the feature of C with the largest edge;  J = J + {j}

    Shalev-Shwartz et al. (2011) choose so for a linear model, which they train to its optimum before the next feature
    comes; here a few rounds of boosting take the place of that. All classes share J. Draws are uniform, and
    Q n evaluations are charged a step. ``Q=None`` is as many as its budget buys: where it buys all features
    (``budget_multiplier`` of at least their number), nothing is drawn.

    Parameters
    ----------
    {parameters}

    >>> from sklearn.datasets import load_digits
    >>> from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> policy = FewFeatures(features_used=8)
    >>> clf = AdaBoostMHClassifier(policy, n_estimators=60, weak_learner="tree", depth=4, budget_multiplier=64)
    >>> clf = clf.fit(X[:1400], y[:1400])
    >>> int((clf.feature_importances_ > 0).sum()), clf.score(X[1400:], y[1400:]) > 0.75
    (8, True)

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Wexler and A. Shashua, "ShareBoost: Efficient multiclass learning with feature
       sharing", NIPS 2011.
    """

    def start(self, board) -> None:
        """Forget all features; raises BoostrunError when the budget of a step does not buy Q of them, or one."""
        self._all = board.n
        self._q = min(board.budget // board.n if self.Q is None else self.Q, board.n_features)
        if not 1 <= self._q <= board.budget // board.n:
            raise BoostrunError(
                f"Q={self._q or 1} features on all {board.n} samples cost {(self._q or 1) * board.n} evaluations a "
                f"step, and its budget is {board.budget}; raise budget_multiplier"
            )
        self._few = board.n_features if self.features_used is None else self.features_used
        self._used = np.zeros(board.n_features, bool)
        self._rounds = 0

    def choose(self, board) -> int:
        if board.n == self._all:  # the whole tree, or the stump: a new round
            self._may_use = min(self._few, self._rounds // self.rounds_a_feature + 1)
            self._rounds += 1
        features = self._candidates(board)
        best = int(features[np.argmax(board.edges(features)[0])])
        self._used[best] = True
        return best

    def _candidates(self, board) -> np.ndarray:
        if self._used.sum() < self._may_use:
            return board.draw(self._q)
        used = np.flatnonzero(self._used)
        return used if len(used) <= self._q else np.sort(board.rng.choice(used, self._q, replace=False))


class FixedSample(FixedSampleKeys, Policy):
    """Q of all features on one sample of S = budget / Q, drawn by weight afresh in every step; the best of them.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Raises BoostrunError when the budget does not buy a sample for each feature."""
        self.size = board.budget // min(self.Q, board.n_features)
        if self.size < 1:
            raise BoostrunError(f"a budget of {board.budget} a step is too small for Q={self.Q} features")

    def choose(self, board) -> int:
        """The feature with the largest estimated edge."""
        features = board.draw(self.Q)
        return int(features[np.argmax(board.sampled_edges(features, board.sample(self.size)))])


class OnAllSamples(OnAllSamplesKeys, Policy, ABC):
    """Base of these policies. The cost of a step is Q n, less if there are fewer than Q features to look at."""

    def start(self, board) -> None:
        """Raises BoostrunError when Q features on all samples are more than the budget of a step."""
        cost = min(self.Q, board.n_features) * board.n
        if cost > board.budget:
            raise BoostrunError(
                f"Q={self.Q} features on all {board.n} samples cost {cost} evaluations a step, and its budget is "
                f"{board.budget}; lower Q, or raise budget_multiplier"
            )

    @abstractmethod
    def choose(self, board) -> int:
        """The feature of this step."""


class BestCandidate(OnAllSamples):
    """Base of policies that take the best of the features they look at: a subclass has ``candidates(board)``."""

    def choose(self, board) -> int:
        """The feature with the largest edge among those looked at."""
        features = self.candidates(board)
        return int(features[np.argmax(board.edges(features)[0])])

    @abstractmethod
    def candidates(self, board) -> np.ndarray:
        """The features to look at, (at most Q,) int64."""


class UniformNaive(BestCandidate):
    """Q of all features.

    Parameters
    ----------
    {parameters}
    """

    def candidates(self, board):
        return board.draw(self.Q)


class Uniform1Q(BestCandidate):
    """Q of one family drawn uniformly.

    Parameters
    ----------
    {parameters}
    """

    def candidates(self, board):
        return board.draw(self.Q, family=int(board.rng.integers(len(board.families))))


class UniformQ1(BestCandidate):
    """One of each of Q families, drawn without replacement unless there are fewer than Q.

    Parameters
    ----------
    {parameters}
    """

    def candidates(self, board):
        families = len(board.families)
        chosen = board.rng.choice(families, self.Q, replace=families < self.Q)
        return np.unique([board.draw(1, family=int(k))[0] for k in chosen])


_BELOW = np.float32(1.0 - 2.0**-24)  # times this, a number of single precision is the one before it


def empty_sums(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Room for :func:`running_weights` of n samples: (blocks + 1,) float64 and (blocks, 16) float32."""
    blocks = -(-n // LANES)
    return np.empty(blocks + 1), empty(blocks, LANES)


@njit(cache=True)
def running_weights(signed, coarse, fine):
    """Running sums of the samples' weights, in blocks of 16 samples.

    Parameters: ``signed`` (n, c) float32; of :func:`empty_sums`, ``coarse`` is filled with the sum of all blocks before
    each, and of all, ``fine`` with running sums of each block's own; beyond the last sample they stay level. Cost
    O(n c), one pass.
    """
    n, lanes = signed.shape
    coarse[0] = 0.0
    for block in range(fine.shape[0]):
        so_far = np.float32(0.0)
        for k in range(LANES):
            i = block * LANES + k
            if i < n:
                so_far += abs(signed[i, 0]) if lanes == 1 else _weight(signed, i)
            fine[block, k] = so_far
        coarse[block + 1] = coarse[block] + np.float64(so_far)


@njit(cache=True)
def _weight(signed, i):
    """m_i = sum_l |s_il|."""
    part = abs(load(signed, i, 0))
    for first in range(LANES, signed.shape[1], LANES):
        part = part + abs(load(signed, i, first))
    return total(part)


@njit(cache=True)
def second_moment(signed):
    """kappa = sum_il w_il^2 / m_i (section 2) of ``signed`` (n, c) float32. Cost O(n c), one pass."""
    n, lanes = signed.shape
    kappa = 0.0
    for start in range(0, n, LANES):  # summed in single precision
        shared = spread(np.float32(0.0))
        for i in range(start, min(start + LANES, n)):
            if lanes == 1:
                kappa += np.float64(abs(signed[i, 0]))
                continue
            row = load(signed, i, 0)
            part, square = abs(row), row * row
            for first in range(LANES, lanes, LANES):
                row = load(signed, i, first)
                part, square = part + abs(row), square + row * row
            shared = shared + square * spread(np.float32(1.0) / max(total(part), np.float32(1e-30)))
        kappa += np.float64(total(shared))
    return kappa


@njit(cache=True)
def sample_by_weight(signed, coarse, fine, spacings, rows, times, sample):
    """S rows drawn with replacement in proportion to their weights, and their signed class vectors.

    Parameters: ``signed`` (n, c) float32; ``coarse`` and ``fine`` of :func:`running_weights`; ``spacings`` (S + 1,)
    float64 standard exponential, whose running sums over their total are sorted uniforms. Returns the number of
    different rows drawn. That many entries are filled: of ``rows`` (S,) int64 the rows, ascending; of ``times`` (S,)
    int32 how often each was drawn; of ``sample`` (S, c) float32 times u_l, with u_l = s_il / (m_i S).

    Cost O(S c + n / 16).
    """
    n, lanes = signed.shape
    size = rows.shape[0]
    length = 0.0
    for s in range(size + 1):
        length += spacings[s]
    whole = coarse[coarse.shape[0] - 1]
    unit, most = whole / length, whole * (1.0 - 1e-15)  # below the whole, rounding or not
    one, block, last, count, reached = np.uint64(1), np.uint64(0), np.uint64(n), np.uint64(0), 0.0
    for s in range(size):
        reached += spacings[s]
        wanted = reached * unit
        wanted = wanted if wanted < most else most
        while coarse[block + one] <= wanted:
            block += one
        rest, most_of_it = np.float32(wanted - coarse[block]), fine[block, np.uint64(LANES - 1)] * _BELOW
        rest = rest if rest < most_of_it else most_of_it
        at = block * np.uint64(LANES) + at_most(load(fine, block, 0), rest)
        fetch(signed, at, 0)
        count += np.uint64(at != last)
        last = at
        rows[count - one], times[count - one] = at, s
    before = np.int32(-1)
    for s in range(count):
        at = np.uint64(rows[s])
        before, times[s] = times[s], times[s] - before
        if lanes == 1:
            sample[s, 0] = signed[at, 0] * (np.float32(times[s]) / (abs(signed[at, 0]) * np.float32(size)))
            continue
        factor = np.float32(times[s]) / (_weight(signed, at) * np.float32(size))
        for part in range(0, lanes, LANES):
            store(sample, s, part, load(signed, at, part) * spread(factor))
    return np.int64(count)


@njit(cache=True)
def without_replacement(starts, sizes, counts, uniforms, taken, out):
    """Features of several families, drawn uniformly without replacement (Floyd's algorithm).

    Parameters: ``starts``, ``sizes``, ``counts`` (M,) int64, of which ``counts`` at most ``sizes``; ``uniforms`` (sum
    of counts,) float64 in [0, 1); ``out`` (sum of counts,) int64 is filled family by family, ascending within;
    ``taken`` (d,) uint8 of zeros, left so. Cost O(sum of the sizes of families with counts).
    """
    used = at = 0
    for k in range(starts.shape[0]):
        if counts[k] == 0:
            continue
        for last in range(starts[k] + sizes[k] - counts[k], starts[k] + sizes[k]):
            feature = starts[k] + int(uniforms[used] * (last + 1 - starts[k]))
            taken[last if taken[feature] else feature] = 1
            used += 1
        for feature in range(starts[k], starts[k] + sizes[k]):
            if taken[feature]:
                out[at] = feature
                at += 1
                taken[feature] = 0


def __getattr__(name: str):
    from boostrun.methods.declaration import obtain
    from boostrun.papers.adaptive import POLICIES

    for where in POLICIES.values():
        if where.endswith(f":{name}"):
            return obtain(where)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
