"""Boosting on samples that stay: Fix draws r of them before training, All takes every sample of the source.

::

    A <- r calls of Filter()           (Fix; every binary problem gets the same r samples)
    for t = 1..T:
        w <- loss weights of F_{t-1} on A
        h_t <- argmax_h <h o y, w>_A
        a_t <- coefficient from A

LogitBoost's weights with ``loss="logistic"``, AdaBoost (Freund & Schapire 1997) with ``loss="exponential"`` and
``shrinkage=1``, which is what Lefakis & Fleuret (2013, Table 5) name.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from boostrun.kernels import stumps
from boostrun.methods.stump import Stump
from boostrun.methods.stump_learner import StumpLearner
from boostrun.papers.reservoir.coefficients import log_odds
from boostrun.papers.reservoir.kernels import full_data
from boostrun.papers.reservoir.subsampling import Course, CourseSettings, Everything

_SPARSE = 0.4  # a feature is read by its uncommon entries when they are fewer: an entry costs about two codes


class All:
    """Ordinary boosting on all samples of a source, every round."""

    def __init__(self, source, settings: CourseSettings, rng: np.random.Generator):
        self.settings = settings
        self.data = Everything(source, settings, rng, columns=True)
        self.binner = self.data.binner
        self.search = self._search()

    def train(self, k: int, positive, course: Course, rng: np.random.Generator) -> None:
        """One binary problem on the samples at hand. Cost a round: one pass over the codes, and O(n)."""
        settings, data = self.settings, self.data
        data.begin(positive)
        course.peak_held = data.n
        for _ in range(settings.rounds):
            weights = data.weights(settings.loss)
            hypothesis, step = self._round(weights, weights * data.y)
            course.add(hypothesis, step, data.n)

    def _search(self) -> Any:
        """What finds hypotheses on the codes of all samples; None where the learner looks at samples as they are."""
        columns, learner = self.data.columns, self.settings.learner
        if columns is None or not learner.codes:
            return None
        return ColumnSearch(columns) if isinstance(learner, StumpLearner) else learner.of_columns(columns)

    def _round(self, weights: np.ndarray, signed: np.ndarray) -> tuple[Any, float]:
        """A hypothesis and the step along it, which the scores of all samples have taken."""
        settings, data = self.settings, self.data
        if isinstance(self.search, ColumnSearch):
            stump, right, wrong = self.search(signed)
            if settings.rule is log_odds:  # the exact sums are at hand
                ends, sums = np.array([1.0, -1.0]), np.array([right, wrong])
                step = settings.shrinkage * log_odds(ends, None, sums, settings.loss)
            else:
                step = settings.step(stump(data.samples), data.y, data.scores, weights)
            data.advance(stump, step)
            return stump, step
        if self.search is not None:
            hypothesis, votes = self.search(signed)
        else:
            hypothesis = settings.learner.find(data.samples, signed)
            votes = settings.learner.votes(hypothesis, data.samples, np.arange(data.n))
        step = settings.step(votes, data.y, data.scores, weights)
        data.scores += step * votes
        return hypothesis, step


class Fix(All):
    """Ordinary boosting on r samples drawn once."""

    def __init__(self, source, settings: CourseSettings, rng: np.random.Generator):
        draws = source.open(capacity=settings.r)
        samples, labels = draws.draw(settings.r)
        super().__init__(
            SimpleNamespace(samples=samples, labels=labels, weights=getattr(draws, "weights", None)), settings, rng
        )


class ColumnSearch:
    """Search for the best stump on all samples of feature-major codes; what stays the same is found once.

    Called with signed weights w_i y_i (n,), returns the stump :func:`boostrun.methods.stump.find_stump` returns, and
    the sums of the weights that it gets right and wrong, exact up to one common factor.
    """

    def __init__(self, columns: np.ndarray):
        self.columns = columns
        self.present, self.common, others = full_data.describe_columns(columns)
        varies = self.present.sum(axis=1) > 1
        few = others <= _SPARSE * columns.shape[1]
        self.dense, self.sparse = np.flatnonzero(varies & ~few), np.flatnonzero(varies & few)
        self.entries = full_data.gather_entries(columns, self.sparse, self.common, others)

    def __call__(self, signed: np.ndarray) -> tuple[Stump, float, float]:
        weights, _ = stumps.fixed_point(signed)
        feature, left, right, edge = full_data.best_stump_of_columns(  # type: ignore[call-arg]
            self.columns, self.present, self.common, self.dense, self.sparse, *self.entries, weights
        )
        total = int(np.abs(weights).sum())
        if feature < 0:
            edge, stump = int(weights.sum()), Stump(0, 0.0, 1 if weights.sum() >= 0 else -1)
        else:
            stump = Stump(int(feature), float((left + right + 1) // 2), 1 if edge >= 0 else -1)
        agreed = (total + abs(int(edge))) // 2
        return stump, float(agreed), float(total - agreed)
