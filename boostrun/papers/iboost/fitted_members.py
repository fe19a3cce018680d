"""Members of committees fitted to a window that :mod:`.kernels.bases` does not fit: logistic regressions, Hoeffding
trees, and objects of scikit-learn or river.

Members do not change after their fit, so that they can answer whole blocks of rows; the loops are :mod:`.fitted_loops`.
A window is X (n, d) float64 with class codes y (n,) int64, the oldest example first, and weights (n,) of sum 1. An
example of weight w counts n w, so that the window has the weight n.
"""

from __future__ import annotations

import functools
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels import allocating_kernel, hoeffding, kernel, part
from boostrun.papers.iboost import fitted_loops
from boostrun.papers.iboost.baselines import rules_of
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels import committee as holdout
from boostrun.papers.iboost.kernels.committee import HeldOut
from boostrun.papers.iboost.object_members import _named, _untrained


@kernel
def fit_tree(trees, j, X, y, weights, rules):
    """Train tree j from scratch by one pass over the window."""
    n = X.shape[0]
    hoeffding.forget(trees, j)
    for i in range(n):
        hoeffding.learn(trees, j, X[i], y[i], n * weights[i], rules)


@kernel
def answer_trees(trees, first, X, rules, said):
    """``said`` (m, k) gets the answers of the trees from ``first`` on to the rows of X (k, d)."""
    for j in range(said.shape[0]):
        for i in range(X.shape[0]):
            said[j, i] = hoeffding.answer(trees, first + j, X[i], rules)


@allocating_kernel
def fit_logistic(X, y, weights, n_classes, passes, rate, model):
    """Fill ``model`` (width,) with scores c + sum_r B_r x_r, in the layout of a Gaussian naive Bayes without squares.

    p = softmax(B z) over the classes with weight; z are a constant and the features, standardised in the weighted
    window (0 if constant). In ``passes`` passes over the window each coefficient moves against its gradient g_cr = n w
    (p_c - 1[c = y]) z_r by AdaGrad's step ``rate`` g / sqrt(1 + sum g^2) (Duchi, Hazan & Singer 2011). A class with all
    the weight always wins. For two classes the row holds the second score less the first. Cost O(passes n K d).
    """
    n, d = X.shape
    mass, mean, scale = np.zeros(n_classes), np.zeros(d), np.zeros(d)
    beta, squares = np.zeros((n_classes, d + 1)), np.zeros((n_classes, d + 1))
    z, share, present = np.ones(d + 1), np.empty(n_classes), 0
    for i in range(n):
        mass[y[i]] += weights[i]
    for c in range(n_classes):
        present += 1 if mass[c] > 0.0 else 0
    for r in range(d):
        lowest, highest, spread = np.inf, -np.inf, 0.0
        for i in range(n):
            if weights[i] > 0.0:
                lowest, highest = min(lowest, X[i, r]), max(highest, X[i, r])
                mean[r] += weights[i] * X[i, r]
        for i in range(n):
            spread += weights[i] * (X[i, r] - mean[r]) ** 2
        scale[r] = 1.0 / math.sqrt(spread) if highest > lowest and spread > 0.0 else 0.0
    for _ in range(passes if present > 1 else 0):
        for i in range(n):
            if not weights[i] > 0.0:
                continue
            for r in range(d):
                z[r] = (X[i, r] - mean[r]) * scale[r]
            top, total = -np.inf, 0.0
            for c in range(n_classes):
                share[c] = 0.0
                for r in range(d + 1):
                    share[c] += beta[c, r] * z[r]
                if mass[c] > 0.0:
                    top = max(top, share[c])
            for c in range(n_classes):
                share[c] = math.exp(share[c] - top) if mass[c] > 0.0 else 0.0
                total += share[c]
            for c in range(n_classes):
                if mass[c] > 0.0:
                    slope = n * weights[i] * (share[c] / total - (1.0 if c == y[i] else 0.0))
                    for r in range(d + 1):
                        gradient = slope * z[r]
                        squares[c, r] += gradient * gradient
                        beta[c, r] -= rate * gradient / math.sqrt(1.0 + squares[c, r])
    _write_scores(beta, mass, mean, scale, present, model)


@part
def _write_scores(beta, mass, mean, scale, present, model):
    """Convert coefficients (K, d + 1) of standardised features to those of the features."""
    n_classes, d = beta.shape[0], mean.shape[0]
    for i in range(model.shape[0]):
        model[i] = 0.0
    for c in range(n_classes):
        first = c * (1 + 2 * d) if n_classes > 2 else 0
        sign = 1.0 if n_classes > 2 or c == 1 else -1.0
        if mass[c] > 0.0:
            model[first] += sign * (beta[c, d] if present > 1 else 1.0)
            for r in range(d):
                slope = sign * beta[c, r] * scale[r]
                model[first] -= slope * mean[r]
                model[first + 1 + r] += slope
        elif n_classes > 2:
            model[first] = -np.inf


_PASSES, _RATE = 10, 0.5  # for logistic regression


class FittedMembers(ABC):
    """Members of ``committee``, each in a place. Their data are its ``_models`` and ``_fitted``."""

    family = bases.ELSEWHERE

    def __init__(self, committee: Any):
        self.committee = committee

    def fresh(self, places: int, n_classes: int, n_features: int) -> Any:
        """Room for members. Raises BoostrunError if the base cannot be a member."""
        return ()

    def widened(self, n_features: int) -> Any:
        """Room for more features, which the members ignore."""
        return self.committee._fitted

    @abstractmethod
    def fit(self, j: int, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        """Fit member j to a window, X (n, d), codes y (n,), oldest first, with weights (n,) of sum 1."""

    @abstractmethod
    def said(self, X: np.ndarray, first: int, last: int) -> np.ndarray:
        """Codes (last - first, k) of the rows X (k, d) by the members from ``first`` to before ``last``."""

    def loop(self, kernel: Any) -> Callable:
        """The Python loop that replaces a kernel for these members."""
        return functools.partial(getattr(fitted_loops, kernel.__name__), self)

    def voted(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes (k,) and votes (K, k) of the rows X (k, d) by the current committee."""
        size = len(self.committee.betas_)
        codes, votes = np.empty(len(X), np.int64), np.empty((self.committee._n_classes, len(X)))
        for rows in fitted_loops.parts(0, len(X)):
            codes[rows], votes[:, rows] = self.counted(self.said(X[rows], 0, size))
        return codes, votes

    def counted(self, said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes (k,) and votes (K, k) from the members' answers ``said`` (m, k)."""
        codes = np.empty(said.shape[1], np.int64)
        votes = np.empty((self.committee._n_classes, said.shape[1]))
        holdout.vote_block(said, np.arange(len(said)), self.committee._coefficients, votes, codes)
        return codes, votes

    def held(self, X: np.ndarray) -> Any:
        """A function that returns the current committee's labels of the rows of X."""
        return HeldMembers(self.committee, X)

    @property
    def codes(self) -> np.dtype:
        """Data type of the answers."""
        return np.min_scalar_type(self.committee._n_classes - 1)


class FittedRegressions(FittedMembers):
    """Logistic regressions as rows of numbers, in the layout of a Gaussian naive Bayes without squares."""

    family = bases.GNB

    def fit(self, j, X, y, weights):
        committee = self.committee
        fit_logistic(X, y, weights, committee._n_classes, _PASSES, _RATE, committee._models[j])

    def said(self, X, first, last):
        committee, columns = self.committee, np.ascontiguousarray(X.T)
        one, out = np.empty(len(X), np.int64), np.empty((last - first, len(X)), self.codes)
        for j in range(first, last):
            bases.respond_window(self.family, committee._models[j], columns, committee._n_classes, one)
            out[j - first] = one
        return out

    def held(self, X):
        return HeldOut(self.committee, X)


class _Numbered(FittedMembers):
    """Members that are not rows of numbers: the row holds the number of the fit that made the member."""

    def fresh(self, places, n_classes, n_features):
        vars(self.committee).setdefault("_fits", 0)

    def fit(self, j, X, y, weights):
        self.committee._fits += 1
        self.committee._models[j, 0] = self.committee._fits


class FittedTrees(_Numbered):
    """Hoeffding trees, each trained by one pass over the window, with the committee's ``grace_period``,
    ``split_delta``, ``tie`` and ``leaf``."""

    def fresh(self, places, n_classes, n_features):
        super().fresh(places, n_classes, n_features)
        return hoeffding.HoeffdingTrees.fresh(places, n_classes, n_features)

    def widened(self, n_features):
        return self.committee._fitted.wider(n_features)

    def fit(self, j, X, y, weights):
        super().fit(j, X, y, weights)
        committee = self.committee
        splits = min(len(y) // committee.grace_period + 1, len(y))  # at most: each needs grace_period of the weight n
        while not hoeffding.has_room(committee._fitted, splits):
            committee._fitted = committee._fitted.doubled()
        fit_tree(committee._fitted, j, X, y, weights, self._rules)

    def said(self, X, first, last):
        out = np.empty((last - first, len(X)), self.codes)
        answer_trees(self.committee._fitted, first, X, self._rules, out)
        return out

    @property
    def _rules(self) -> hoeffding.Rules:
        return rules_of(self.committee, self.committee.split_delta)


class FittedObjects:
    """The fitted objects: ``members`` (M,), each with its number of features, or None."""

    def __init__(self, count: int):
        self.members: list[tuple[Any, int] | None] = [None] * count


class Objects(_Numbered):
    """Copies of an object of scikit-learn, fitted with ``sample_weight``, or of river, trained by one pass with ``w``.

    In a pipeline the last step takes the weights. A seed of None is replaced by one from the committee's seed and the
    number of the fit. Examples without weight are left out. If all have the same class, that class is always predicted,
    without the object.
    """

    def fresh(self, places, n_classes, n_features):
        super().fresh(places, n_classes, n_features)
        _weights_of(self._base, self._rivers)  # raises the error before training starts
        return FittedObjects(places)

    def fit(self, j, X, y, weights):
        super().fit(j, X, y, weights)
        used = weights > 0.0
        shares, takes = len(y) * weights[used], _weights_of(self._base, self._rivers)
        if (y[used] == y[used][0]).all():
            model = int(y[used][0])
        elif self._rivers:
            model = _untrained(self._base, self._next_seed)
            for x, label, share in zip(X[used], y[used].tolist(), shares.tolist()):
                model.learn_one(_named(x), label, **{takes: share})
        else:
            model = _untrained(self._base, self._next_seed).fit(X[used], y[used], **{takes: shares})
        self.committee._fitted.members[j] = model, X.shape[1]

    def said(self, X, first, last):
        out = np.empty((last - first, len(X)), self.codes)
        for j in range(first, last):
            out[j - first] = self._answers(*self.committee._fitted.members[j], X)
        return out

    def _answers(self, model: Any, n_features: int, X: np.ndarray) -> np.ndarray | int:
        if isinstance(model, int) or not len(X):
            return model if len(X) else 0
        X = X[:, :n_features]
        if self._rivers:
            nothing = int(self.committee._n_classes == 2)
            said = np.array([nothing if one is None else one for one in map(model.predict_one, map(_named, X))])
        else:
            said = np.asarray(model.predict(X))
        if said.shape != (len(X),) or not np.isin(said, np.arange(self.committee._n_classes)).all():
            raise BoostrunError(f"base={self._base!r}: it must be a classifier, but its answers are not classes")
        return said

    @property
    def _next_seed(self) -> int:
        """A seed from the number of the fit, and the committee's seed if it has one."""
        entropy = getattr(self.committee, "_seed", 0), self.committee._fits
        return int(np.random.SeedSequence(entropy).generate_state(1)[0] >> 1)

    @property
    def _base(self) -> Any:
        return self.committee.base

    @property
    def _rivers(self) -> bool:
        return hasattr(self._base, "learn_one") and hasattr(self._base, "predict_one")


def _weights_of(model: Any, rivers: bool) -> str:
    """Name of the weights in the training method of an object of river or scikit-learn. BoostrunError if it takes
    none."""
    method, takes, prefix = ("learn_one", "w", "") if rivers else ("fit", "sample_weight", "")
    while isinstance(steps := getattr(model, "steps", None), (list, dict)) and steps:  # a pipeline
        name, model = [*(steps.items() if isinstance(steps, dict) else steps)][-1]
        prefix += "" if rivers else f"{name}__"
    learn = getattr(model, method, None)
    if learn is None or takes not in inspect.signature(learn).parameters:
        kind = type(model).__name__
        raise BoostrunError(f"{kind} takes no weights, which a member needs: its {method} has no {takes}")
    return prefix + takes


class HeldMembers:
    """Labels of one hold-out ``x`` (t, d), the same to the bit as ``predict``; a member, known by its fit, answers
    once."""

    def __init__(self, committee: Any, x: np.ndarray):
        self._committee, self._x = committee, np.array(x, np.float64, order="C")
        self._said: dict[tuple[int, int], np.ndarray] = {}

    def __call__(self) -> np.ndarray:
        """Labels (t,) by the current committee."""
        committee, before = self._committee, self._said
        members, fits = members_of(committee), committee._models[: len(committee.betas_), 0].astype(np.int64).tolist()
        if not fits:
            return committee.predict(self._x)
        self._said = {
            key: before[key] if key in before else members.said(self._x, j, j + 1)[0]
            for j, key in enumerate((number, committee._n_classes) for number in fits)
        }
        return committee._labels_of(members.counted(np.stack([*self._said.values()]))[0])


def members_of(committee: Any) -> FittedMembers:
    """The members that the key ``base`` of a committee names."""
    kinds: dict[str, type[FittedMembers]] = {"logistic": FittedRegressions, "hoeffding": FittedTrees}
    return (kinds[committee.base] if isinstance(committee.base, str) else Objects)(committee)
