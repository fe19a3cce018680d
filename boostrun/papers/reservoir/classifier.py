"""Reservoir boosting of several classes: one binary problem a class, and the ensemble that they make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.methods import estimator
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.estimator import StumpClassifier, component_of
from boostrun.methods.hypothesis_ensemble import HypothesisEnsemble
from boostrun.methods.vote_ensemble import StumpEnsemble
from boostrun.methods.weak_learner import LOSSES, Binner, WeakLearner, as_weak_learner
from boostrun.papers.reservoir.keys import OF_STRATEGIES, OF_WEAK_LEARNERS, ReservoirKeys
from boostrun.papers.reservoir.loop import RULES, Reservoir, SharedReservoir
from boostrun.papers.reservoir.strategies import Strategy, as_strategy


class ReservoirClassifier(ReservoirKeys, StumpClassifier):
    """Boosted weak learners, learnt from a stream of samples while holding at most r + q of them.

    Several classes are learnt one against the rest, one after the other, each with a reservoir of its own.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, quantile bins of a feature, fitted on the first r + q samples drawn.
    warm_start : bool
        Keep the reservoirs, of all classes, after ``fit``; a larger ``n_estimators`` then adds rounds instead of
        starting anew.
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : StumpEnsemble, thresholds in units of X; what the weak learner makes, where it is no stump.
    classes_ : (n_classes,) array
    samples_drawn_ : int, calls of Filter() over all binary problems.
    samples_drawn_per_problem_ : list of int
    staged_samples_drawn_, staged_train_seconds_ : (T,) arrays
        Samples drawn and training seconds, all problems together, by the end of each round.
    peak_samples_held_ : int
        Samples at hand at one time: r + q, as a reservoir is emptied before the next class begins; with ``warm_start``
        so many for each class.
    covariance_restarts_ : int, how often GEEM had to raise its ridge.

    Notes
    -----
    Fewer than r + q samples in all are handed out again in further shuffled passes. A strategy is a function or an
    object, see :mod:`boostrun.papers.reservoir.strategies`; a weak learner an object with ``find``, see
    :mod:`boostrun.methods.weak_learner`. One that is named takes from here those parameters that it has too.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = ReservoirClassifier(reservoir_size=50, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> round(clf.score(X[1400:], y[1400:]), 2)
    0.85
    >>> clf.peak_samples_held_
    100
    """

    _problems: list[tuple[Any, Strategy, np.random.Generator]]

    _model_types = (StumpEnsemble, HypothesisEnsemble, "boostrun.methods.tree:TreeEnsemble")

    def fit(self, X, y, sample_weight=None):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels. The arrays are read through a Filter().

        ``sample_weight`` (n,) are weights of at least 0, of which only ratios matter: the masses with which samples
        arrive, in place of 1.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        Cost a round and class: O((r + q) d) for "histogram", and for GEEM O((r + q)^3) more.
        """
        source, _, entropy = self._source(X, y, sample_weight)
        return self._fit(source, entropy)

    def fit_source(self, source):
        """Train on a source of samples, see :class:`boostrun.data.source.ArraySource`."""
        self.n_features_in_ = source.n_features
        return self._fit(source, self._entropy())

    def _fit(self, source, entropy: int):
        """Train; all randomness but the Filters' follows from the whole number ``entropy``."""
        self._check_parameters()
        going_on = self._problems if self.warm_start and getattr(self, "_problems", None) else None
        if going_on and self.n_estimators < self.ensemble_.n_rounds:
            raise BoostrunError(
                f"n_estimators={self.n_estimators}: warm_start cannot take back {self.ensemble_.n_rounds} rounds"
            )
        problems = []
        with threadpool_limits(1, user_api="blas"):  # the matrices are too small for threads to pay
            for reservoir, strategy, rng in going_on or self._begin(source, entropy):
                rounds = self.n_estimators - len(reservoir.drawn)
                reservoir.boost(rounds, strategy, RULES[self.coefficient], self.shrinkage, rng)
                problems.append((reservoir, strategy, rng))
                if not self.warm_start:
                    reservoir.let_go()
        self._problems = problems
        self._finish()
        return self

    def _begin(self, source, entropy: int) -> Iterator[tuple[Any, Strategy, np.random.Generator]]:
        """Open a Filter and fill a reservoir for one binary problem after the other, when its turn has come."""
        r = self.reservoir_size
        q = r if self.batch_size is None else self.batch_size
        self.classes_ = source.class_labels()
        self._binner = None
        self._learner = self._own_learner()
        positives = one_vs_all.problems(self.classes_)
        groups = [positives] if self.shared else [[positive] for positive in positives]
        seed = np.random.SeedSequence(entropy).spawn(2)[1]
        for k, (group, child) in enumerate(zip(groups, seed.spawn(len(groups)))):
            draws = _SignedFilter(self, source.open(capacity=r + q, stream=k), group)
            reservoir = self._reservoir(draws, r, q, [entropy, k])
            yield reservoir, self._own_strategy(), np.random.default_rng(child)

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        """An empty reservoir, of one binary problem or of all of them; ``numbers`` seed what it may need."""
        return (SharedReservoir if self.shared else Reservoir)(draws, r, q, LOSSES[self.loss], self._learner)

    def _finish(self) -> None:
        """Read the ensemble and the counts off the trained reservoirs."""
        reservoirs = [reservoir for reservoir, *_ in self._problems]
        learners = [learners for reservoir in reservoirs for learners in reservoir.problems]
        self.ensemble_ = self._learner.ensemble(learners, self._binner)
        self.staged_samples_drawn_ = np.sum([reservoir.drawn for reservoir in reservoirs], axis=0)
        self.staged_train_seconds_ = np.sum([reservoir.seconds for reservoir in reservoirs], axis=0)
        self.samples_drawn_per_problem_ = [reservoir.draws.drawn for reservoir in reservoirs]
        self.samples_drawn_ = sum(self.samples_drawn_per_problem_)
        held = [reservoir.draws.peak_held for reservoir in reservoirs]
        self.peak_samples_held_ = sum(held) if self.warm_start else max(held)
        self.covariance_restarts_ = sum(strategy.restarts for _, strategy, _ in self._problems)
        if not self.warm_start:
            del self._problems, self._binner, self._learner

    def _own_strategy(self) -> Strategy:
        return as_strategy(component_of(self, "strategy", OF_STRATEGIES))

    def _own_learner(self) -> WeakLearner:
        return as_weak_learner(component_of(self, "weak_learner", OF_WEAK_LEARNERS))

    def _check_parameters(self) -> None:
        fields.check(self)
        estimator.bins(self)
        if self.shared and self.balanced:
            raise BoostrunError("shared and balanced: a reservoir for all classes cannot be balanced for each of them")
        self._own_strategy().check(self.shared)
        self._own_learner()


class _SignedFilter:
    """A Filter as one reservoir sees it: labels -1 and +1, real values binned as the weak learner asks.

    Labels are (n,) for one positive class, (n, classes) for several.
    """

    def __init__(self, model: ReservoirClassifier, filter_, positives):
        self.model, self.filter, self.positives = model, filter_, np.asarray(positives)

    @property
    def drawn(self) -> int:
        return self.filter.drawn

    @property
    def peak_held(self) -> int:
        return self.filter.peak_held

    @property
    def weights(self) -> np.ndarray | None:
        return getattr(self.filter, "weights", None)

    def release(self, n: int) -> None:
        self.filter.release(n)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        if model.balanced:
            samples, labels = self.filter.draw_balanced(n, self.positives[0])
        else:
            samples, labels = self.filter.draw(n)
        if model._learner.codes and samples.dtype != np.uint8:
            if model._binner is None:  # the first r + q samples drawn set the bins of all problems
                model._binner = Binner(samples, model.max_bins)  # type: ignore[assignment]
            samples = model._binner.encode(samples)  # type: ignore[attr-defined]
        signs = np.where(labels[:, None] == self.positives, 1.0, -1.0)
        return samples, signs if model.shared else signs[:, 0]
