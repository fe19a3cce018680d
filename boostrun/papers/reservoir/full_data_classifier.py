"""The reservoir's rivals, which may look at all data or sample them otherwise (Lefakis & Fleuret 2013, Table 5)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.config import fields
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods import parameters
from boostrun.methods.components import component_of
from boostrun.methods.ensemble import StumpEnsemble
from boostrun.methods.estimator import StumpClassifier
from boostrun.methods.hypothesis_ensemble import HypothesisEnsemble
from boostrun.methods.weak_learner import LOSSES, as_weak_learner
from boostrun.papers.reservoir.coefficients import RULES
from boostrun.papers.reservoir.filterboost import FilterBoost
from boostrun.papers.reservoir.fix import All, Fix
from boostrun.papers.reservoir.keys import OF_WEAK_LEARNERS, FullDataKeys
from boostrun.papers.reservoir.mada import Mada
from boostrun.papers.reservoir.subsampling import Course, CourseSettings
from boostrun.papers.reservoir.wss import Wss


class FullDataClassifier(FullDataKeys, StumpClassifier):
    """Boosted weak learners by the methods that reservoir boosting is compared with (Lefakis & Fleuret 2013, Table 5).

    Several classes are learnt one against the rest, one after the other.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, quantile bins of a feature, fitted on at most 10,000 samples (``fix`` and
        ``filterboost``: the first drawn).
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : StumpEnsemble, thresholds in units of X; what the weak learner makes, where it is no stump.
    classes_ : (n_classes,) array
    samples_drawn_ : int, calls of Filter() over all binary problems; all N a problem for ``wss``, ``mada``, ``all``.
    samples_drawn_per_problem_ : list of int
    staged_samples_drawn_, staged_train_seconds_ : (T,) arrays
        Samples drawn and training seconds, all problems together, by the end of each round.
    peak_samples_held_ : int; N for ``wss``, ``mada``, ``all``, r for ``fix``, at most 2 r for ``filterboost``.
    rounds_trained_ : list of int, below T for problems whose filter ran dry.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.
    .. [2] C. Domingo and O. Watanabe, "MadaBoost: A Modification of AdaBoost", COLT 2000.
    .. [3] J. Bradley and R. Schapire, "FilterBoost: Regression and Classification on Large Datasets", NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = FullDataClassifier("mada", reservoir_size=50, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> clf.score(X[1400:], y[1400:]) > 0.8
    True
    """

    _model_types = (StumpEnsemble, HypothesisEnsemble, "boostrun.methods.tree:TreeEnsemble")

    def fit(self, X, y, sample_weight=None):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        ``sample_weight`` (n,) are weights of at least 0, of which only ratios matter: they multiply those of the loss.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        Cost a round and class: O(r d), and O(n) for ``wss`` and ``mada``; O(n d) for ``all``.
        """
        source, _, entropy = self._source(X, y, sample_weight)
        return self._fit(source, entropy)

    def fit_source(self, source):
        """Train on a source of samples. ``wss``, ``mada`` and ``all`` read ``source.samples`` and ``source.labels``,
        and ``source.columns`` (d, n) if it has them; ``fix`` and ``filterboost`` only draw from a Filter.
        """
        self.n_features_in_ = source.n_features
        return self._fit(source, self._entropy())

    def _fit(self, source, entropy: int):
        """Train; all randomness but the Filters' follows from the whole number ``entropy``."""
        fields.check(self)
        parameters.bins(self)
        self.classes_ = source.class_labels()
        learner = as_weak_learner(component_of(self, "weak_learner", OF_WEAK_LEARNERS))
        settings = CourseSettings(
            self.reservoir_size, self.n_estimators, LOSSES[self.loss], RULES[self.coefficient], self.shrinkage,
            self.max_rejections, learner, self.max_bins,
        )  # fmt: skip
        positives = one_vs_all.problems(self.classes_)
        bins_seed, *seeds = np.random.SeedSequence(entropy).spawn(2)[1].spawn(len(positives) + 1)
        begun = time.perf_counter()
        with threadpool_limits(1, user_api="blas"):
            made: Any = {"wss": Wss, "mada": Mada, "fix": Fix, "all": All, "filterboost": FilterBoost}[self.method]
            method = made(source, settings, np.random.default_rng(bins_seed))
            courses = []
            for k, (positive, child) in enumerate(zip(positives, seeds)):
                courses.append(Course(begun))
                method.train(k, positive, courses[-1], np.random.default_rng(child))
                begun = time.perf_counter()
        self.ensemble_ = learner.ensemble([course.learners for course in courses], method.binner)
        self._finish(courses)
        return self

    def _finish(self, courses) -> None:
        """Read the counts off the trained problems."""
        self.staged_samples_drawn_ = np.sum([course.drawn for course in courses], axis=0)
        self.staged_train_seconds_ = np.sum([course.seconds for course in courses], axis=0)
        self.samples_drawn_per_problem_ = [course.drawn[-1] for course in courses]
        self.samples_drawn_ = sum(self.samples_drawn_per_problem_)
        self.peak_samples_held_ = max(course.peak_held for course in courses)
        self.rounds_trained_ = [course.rounds_trained for course in courses]
