"""The reservoir's rivals, which may look at all data or sample them otherwise (Lefakis & Fleuret 2013, Table 5).

Free of scikit-learn, as :mod:`boostrun.papers.reservoir.boosting` is; the estimator for arrays is
:class:`boostrun.papers.reservoir.full_data_classifier.FullDataClassifier`.
"""

from __future__ import annotations

import importlib
import time

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.methods import one_vs_all, parameters
from boostrun.methods.ensemble import StumpEnsemble
from boostrun.methods.losses import LOSSES
from boostrun.methods.stump import SEARCHES
from boostrun.papers.reservoir.coefficients import RULES
from boostrun.papers.reservoir.subsampling import Course, Settings

# name -> (module, class); a module is imported only when its method is used
METHODS = {
    "wss": ("wss", "Wss"),
    "mada": ("mada", "Mada"),
    "fix": ("fix", "Fix"),
    "all": ("fix", "All"),
    "filterboost": ("filterboost", "FilterBoost"),
}


class FullDataBoosting:
    """Sub-sampling and full-data boosting; parameters and attributes are those of FullDataClassifier.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] >= 90, seed=0)
    >>> model = FullDataBoosting("fix", reservoir_size=20, n_estimators=5, random_state=0).fit_source(source)
    >>> model.peak_samples_held_, model.samples_drawn_
    (20, 20)
    """

    def __init__(
        self, method="wss", *, reservoir_size=250, n_estimators=250, loss="logistic", coefficient="log_odds",
        shrinkage=0.5, max_rejections=1000, stump_search="histogram", max_bins=256, random_state=None,
    ):  # fmt: skip
        self.method = method
        self.reservoir_size = reservoir_size
        self.n_estimators = n_estimators
        self.loss = loss
        self.coefficient = coefficient
        self.shrinkage = shrinkage
        self.max_rejections = max_rejections
        self.stump_search = stump_search
        self.max_bins = max_bins
        self.random_state = random_state

    def fit_source(self, source):
        """Train on a source of samples. ``wss``, ``mada`` and ``all`` read ``source.samples`` and ``source.labels``,
        and ``source.columns`` (d, n) if it has them; ``fix`` and ``filterboost`` only draw from a Filter.
        """
        self.n_features_in_ = source.n_features
        return self._fit(source, np.random.SeedSequence(self._entropy()).spawn(2)[1])

    def _entropy(self) -> int:
        """The whole number that all randomness follows from."""
        return int(self.random_state)

    def _fit(self, source, seed):
        self._check_parameters()
        self.classes_ = source.class_labels()
        settings = Settings(
            self.reservoir_size, self.n_estimators, LOSSES[self.loss], RULES[self.coefficient], self.shrinkage,
            self.max_rejections, self.stump_search, self.max_bins,
        )  # fmt: skip
        positives = one_vs_all.problems(self.classes_)
        begun = time.perf_counter()
        bins_seed, *seeds = seed.spawn(len(positives) + 1)
        with threadpool_limits(1, user_api="blas"):
            method = self._make_method()(source, settings, np.random.default_rng(bins_seed))
            courses = []
            for k, (positive, child) in enumerate(zip(positives, seeds)):
                courses.append(Course(begun))
                method.train(k, positive, courses[-1], np.random.default_rng(child))
                begun = time.perf_counter()
        self._finish(courses, method.binner)
        return self

    def _finish(self, courses, binner) -> None:
        """Read the ensemble and the counts off the trained problems."""
        ensemble = StumpEnsemble.of([course.learners for course in courses])
        if binner is not None:
            ensemble.thresholds = binner.thresholds(ensemble.features, ensemble.thresholds)
        self.ensemble_ = ensemble
        self.staged_samples_drawn_ = np.sum([course.drawn for course in courses], axis=0)
        self.staged_train_seconds_ = np.sum([course.seconds for course in courses], axis=0)
        self.samples_drawn_per_problem_ = [course.drawn[-1] for course in courses]
        self.samples_drawn_ = sum(self.samples_drawn_per_problem_)
        self.peak_samples_held_ = max(course.peak_held for course in courses)
        self.rounds_trained_ = [course.rounds_trained for course in courses]

    def _make_method(self):
        module, name = METHODS[self.method]
        return getattr(importlib.import_module(f".{module}", __package__), name)

    def _check_parameters(self) -> None:
        parameters.choice(self, "method", METHODS)
        parameters.choice(self, "loss", LOSSES)
        parameters.choice(self, "coefficient", RULES)
        parameters.choice(self, "stump_search", SEARCHES)
        parameters.whole(self, "reservoir_size", "n_estimators", "max_rejections")
        parameters.share(self, "shrinkage")
        parameters.bins(self)
