"""Ensembles whose members learn one example at a time: the base class, and the kinds of members.

The kernels of the ensembles are written for naive Bayes, :mod:`.kernels.incremental`. For other members they run with
another module of the same functions in its place: compiled again for trees and regressions, as Python for objects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from boostrun.config import fields
from boostrun.kernels import hoeffding
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.baselines import rules_of
from boostrun.papers.iboost.kernels import bases, incremental
from boostrun.papers.iboost.kernels.bases import vote_samples
from boostrun.papers.iboost.kernels.incremental import Learners, Spread, vote_rows

_BLOCK = 2048  # rows predicted at a time
_RATE = 0.5  # for logistic regression
_LEAST_ROWS = 16  # trees get more room if they have room for fewer rows than this


class BayesMembers:
    """Naive Bayes members. ``ensemble`` has the keys ``budget`` and ``base``."""

    functions: ModuleType = incremental

    @property
    def absent(self) -> float:
        """The value of a feature that an example lacks: NaN if members leave it out, as in river, else 0."""
        return np.nan if self.rule else 0.0

    def __init__(self, ensemble: Any):
        self.ensemble = ensemble

    def fresh(self, n_classes: int, n_features: int) -> Any:
        """Untrained members."""
        return Learners.fresh(self.ensemble.budget, n_classes, n_features)

    def widened(self, n_features: int) -> Any:
        """The members with room for more features, which were ``absent`` so far; None if that is not possible."""
        learners = self.ensemble.learners_
        wide = bases.pad(self.fresh(learners.weight.shape[1], n_features), learners)
        if not self.rule:  # Bernoulli: the feature was 0
            wide.met[:, :, learners.met.shape[2] :] = learners.weight[:, :, None]
        return wide

    @property
    def rule(self) -> Any:
        """The additional argument of the functions of these members."""
        return self.ensemble.base == "gnb"

    def loop(self, kernel: Any) -> Callable:
        """A kernel that works with these members."""
        return kernel if self.functions is incremental else _other(kernel, self.functions, True)

    def parts(self, length: int) -> Iterator[slice]:
        """Slices of rows that are learnt without a break; members may be replaced between two slices."""
        if length:
            yield slice(0, length)

    def votes(self, X: np.ndarray, members: np.ndarray, coefficients: np.ndarray, proba: bool) -> np.ndarray:
        """(K, k) float64: votes of ``members`` (m,) for each class of the rows X (k, d); see
        :func:`boostrun.papers.iboost.kernels.incremental.vote_rows`."""
        votes = np.empty((self.ensemble.learners_.weight.shape[1], len(X)))
        for first in range(0, len(X), _BLOCK):
            part = slice(first, first + _BLOCK)
            found = np.empty((len(votes), len(X[part])))
            self._vote(X[part], members, coefficients, proba, found)
            votes[:, part] = found
        return votes

    def _vote(self, X, members, coefficients, proba, votes) -> None:
        columns = np.ascontiguousarray(X.T)
        vote_rows(self.ensemble.learners_, members, coefficients, columns, self.rule, proba, votes)


class _RowByRow(BayesMembers):
    def _vote(self, X, members, coefficients, proba, votes) -> None:
        self.loop(vote_samples)(
            self.ensemble.learners_, members, coefficients, X, self.rule, proba, np.empty(len(votes)), votes
        )


class HoeffdingMembers(_RowByRow):
    """Hoeffding trees. The ensemble has the keys ``grace_period``, ``split_delta``, ``tie`` and ``leaf``."""

    absent = np.nan

    @property
    def functions(self) -> ModuleType:  # type: ignore[override]
        from boostrun.papers.iboost.kernels import tree_members

        return tree_members

    def fresh(self, n_classes, n_features):
        return hoeffding.HoeffdingTrees.fresh(self.ensemble.budget, n_classes, n_features)

    def widened(self, n_features):
        return self.ensemble.learners_.wider(n_features)

    @property
    def rule(self):
        return rules_of(self.ensemble, self.ensemble.split_delta)

    def parts(self, length):
        first = 0
        while first < length:
            rows = hoeffding.rows_of_room(self.ensemble.learners_)
            if rows < _LEAST_ROWS:
                self.ensemble.learners_ = self.ensemble.learners_.doubled()
            else:
                yield slice(first, min(first + rows, length))
                first += rows


class OneSplitMembers(HoeffdingMembers):
    """Decision stumps: Hoeffding trees of one split, whose leaves predict their most frequent class."""

    @property
    def rule(self):
        return super().rule._replace(leaf=hoeffding.MAJORITY, max_depth=1)


class RegressionMembers(_RowByRow):
    """Logistic regressions."""

    absent = 0.0

    @property
    def functions(self) -> ModuleType:  # type: ignore[override]
        from boostrun.papers.iboost.kernels import logistic_members

        return logistic_members

    def fresh(self, n_classes, n_features):
        return self.functions.Regressions.fresh(self.ensemble.budget, n_classes, n_features)

    def widened(self, n_features):
        return self.ensemble.learners_.wider(n_features)

    rule = _RATE


class ObjectMembers(_RowByRow):
    """Copies of an object of river or scikit-learn."""

    @property
    def absent(self):
        return np.nan if hasattr(self.ensemble.base, "learn_one") else 0.0

    @property
    def functions(self) -> ModuleType:  # type: ignore[override]
        from boostrun.papers.iboost import object_members

        return object_members

    def fresh(self, n_classes, n_features):
        seeds = np.random.default_rng(np.random.SeedSequence(self.ensemble._entropy(), spawn_key=(1,)))
        return self.functions.Copies.fresh(self.ensemble.base, self.ensemble.budget, n_classes, seeds)

    def widened(self, n_features):
        return self.ensemble.learners_ if hasattr(self.ensemble.base, "learn_one") else None

    rule = None

    def loop(self, kernel):
        return _other(kernel, self.functions, False)


def members_of(ensemble: Any) -> BayesMembers:
    """The members that the key ``base`` of an ensemble names."""
    kinds: dict[str, type[BayesMembers]] = {
        "gnb": BayesMembers,
        "bnb": BayesMembers,
        "logistic": RegressionMembers,
        "hoeffding": HoeffdingMembers,
        "stump": OneSplitMembers,
    }
    return (kinds[ensemble.base] if isinstance(ensemble.base, str) else ObjectMembers)(ensemble)


@functools.cache
def rewired(kernel: Any, functions: ModuleType, compiled: bool) -> Any:
    """A kernel that calls ``functions`` instead of :mod:`.kernels.incremental`, compiled or as Python."""
    from numba import njit

    names = dict(kernel.py_func.__globals__)
    for name in kernel.py_func.__code__.co_names:
        if name in names:
            names[name] = _other(names[name], functions, compiled)
    body = FunctionType(kernel.py_func.__code__, names, kernel.py_func.__name__, kernel.py_func.__defaults__)
    body.__qualname__, body.__module__ = kernel.py_func.__qualname__, kernel.py_func.__module__
    options = {name: value for name, value in kernel.targetoptions.items() if name not in ("nopython", "boundscheck")}
    return njit(cache=True, **options)(body) if compiled else body


def _other(value: Any, functions: ModuleType, compiled: bool) -> Any:
    """The replacement for one name of a kernel; the same object if it does not call the members."""
    if value is incremental:
        return functions
    if isinstance(value, ModuleType) and value.__name__.startswith("boostrun.papers.iboost.kernels."):
        other = ModuleType(value.__name__)
        vars(other).update({name: _other(each, functions, compiled) for name, each in vars(value).items()})
        return other
    if not hasattr(value, "py_func"):
        return value
    if value.py_func.__module__ == incremental.__name__:
        return getattr(functions, value.py_func.__name__, value)
    wrapped = not value.targetoptions.get("no_cpython_wrapper", False)
    return rewired(value, functions, compiled) if _asks(value) or not (compiled or wrapped) else value


def _asks(kernel: Any) -> bool:
    """Whether a kernel, or one that it calls, calls the members."""
    names = kernel.py_func.__globals__
    found = [names[name] for name in kernel.py_func.__code__.co_names if name in names]
    found += [
        vars(module)[name]
        for module in found
        if isinstance(module, ModuleType)
        for name in kernel.py_func.__code__.co_names
        if name in vars(module)
    ]
    return incremental in found or any(
        hasattr(each, "py_func") and each is not kernel and _asks(each) for each in found
    )


class IncrementalEnsemble(StreamLearner):
    """Base of ensembles of ``budget`` members that learn one example at a time.

    ``base`` is ``gnb`` (Gaussian naive Bayes), ``bnb`` (Bernoulli, one pseudo-example of each value), ``logistic``
    regression, ``hoeffding`` trees, or an object of river or scikit-learn, which is copied. A Gaussian's variance is
    that of the weighted examples, plus ``var_floor`` times the feature's variance over the stream, plus 1e-12. State:
    ``learners_``, ``spread_``, and working memory for the votes.
    """

    def _begin(self, n_features: int, n_classes: int) -> None:
        fields.check(self)
        self.learners_ = self._members.fresh(n_classes, n_features)
        self.spread_ = Spread.fresh(n_features)
        self._rng = np.random.default_rng(np.random.SeedSequence(self._entropy()))
        self._shares, self._votes = np.zeros((2, n_classes))

    def _grow(self, n_classes: int) -> None:
        self.learners_ = self.learners_.grown(n_classes)
        self._shares, self._votes = np.zeros((2, n_classes))

    def _widen(self, n_features: int) -> bool:
        """A member uses a new feature from its next example of the class on."""
        learners = self._members.widened(n_features)
        if learners is None:
            return False
        self.learners_, self.spread_ = learners, bases.pad(Spread.fresh(n_features), self.spread_)
        return True

    def _voted(self, X: np.ndarray, members: np.ndarray, coefficients: np.ndarray, proba: bool = False) -> np.ndarray:
        """Codes (k,) of the rows X (k, d): the class with the most votes of ``members`` (m,) with ``coefficients``
        (m,). Ties go to the second of two classes, else to the first."""
        votes = self._members.votes(X, members, coefficients, proba)
        return (votes[1] >= votes[0]).astype(np.int64) if len(votes) == 2 else votes.argmax(axis=0)

    def _followed(self, loop, X: np.ndarray, y: np.ndarray, *rest) -> tuple[np.ndarray, int]:
        """The codes (k,) that ``loop(X, y, learners, *rest, out)`` writes, and the sum of its return values."""
        out, total, loop = np.empty(len(y), np.int64), 0, self._members.loop(loop)
        for part in self._members.parts(len(y)):
            total += loop(X[part], y[part], self.learners_, *rest, out[part]) or 0
        return out, total

    @property
    def _absent(self) -> float:  # type: ignore[override]
        return self._members.absent

    @property
    def _members(self) -> BayesMembers:
        return members_of(self)
