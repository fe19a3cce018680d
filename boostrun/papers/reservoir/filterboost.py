"""FilterBoost (Bradley & Schapire 2007): every round trains on r fresh samples that passed a filter by weight.

::

    for t = 1..T:
        A <- {}
        while |A| < r:
            x, y <- Filter() ; put it into A with probability w(y F_{t-1}(x)) = 1 / (1 + exp(y F_{t-1}(x)))
            if max_rejections * r samples were rejected this round: return F_{t-1}
        h_t, a_t <- stump and step from A, unweighted: the filter has done the weighting

Their filter runs dry when F's loss weights are small nearly everywhere, and then their algorithm returns what it has;
so do we: a problem that needs more than ``max_rejections`` rejections a sample wanted (1000: weights below 0.1 % on
average) stops, the samples of its unfinished round are not used, its remaining rounds hold stumps with coefficient 0,
and no further calls are made. The limit is looked at between batches of r calls, so a round may pass it by r - 1.
Theirs estimates the edge on a second accepted set and sizes both sets by its confidence; here both are the same r.
Where samples have weights of their own, the probability is multiplied by theirs over the largest.
With ``loss="exponential"`` the probability is min(1, exp(-y F)), the filter of MadaBoost (Domingo & Watanabe 2000).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.papers.reservoir.subsampling import Course, CourseSettings


class FilterBoost:
    """Rejection by weight, with at most 2 r samples at hand: those accepted, and a batch that waits to be looked at."""

    def __init__(self, source, settings: CourseSettings, rng: np.random.Generator):
        self.source, self.settings = source, settings
        self.binner = None

    def train(self, k: int, positive, course: Course, rng: np.random.Generator) -> None:
        """One binary problem. Cost a round: O(r d) for a stump, O(t) for each call of Filter()."""
        settings = self.settings
        filter_ = WeightFilter(self, self.source.open(capacity=2 * settings.r, stream=k), positive, rng)
        everyone, uniform = np.arange(settings.r), np.ones(settings.r)
        for _ in range(settings.rounds):
            accepted = filter_.accept()
            if accepted is None:
                break
            samples, y, scores = accepted
            hypothesis = settings.learner.find_among(samples, everyone, y)
            step = settings.step(settings.learner.votes(hypothesis, samples, everyone), y, scores, uniform)
            filter_.members.add(hypothesis, step)
            course.add(hypothesis, step, filter_.draws.drawn)
        if course.rounds_trained < settings.rounds:
            course.fill(settings.rounds, filter_.draws.drawn, settings.learner.idle(filter_.batch))
        course.peak_held = filter_.draws.peak_held


class WeightFilter:
    """Accepted samples of one binary problem. ``accepted``, ``rejected``: counts over all rounds; with ``waiting``
    samples not looked at yet they add up to the samples drawn.
    """

    def __init__(self, method: FilterBoost, draws, positive, rng: np.random.Generator):
        self.method, self.draws, self.positive, self.rng = method, draws, positive, rng
        self.members = method.settings.learner.members()  # the ensemble that weighs samples
        self.accepted = self.rejected = self.waiting = 0
        self.batch: Any = None
        self._labels: Any = None
        self._shares: Any = None  # of the heaviest sample's weight, where samples have weights

    def accept(self):
        """r samples that passed the filter of the ensemble so far: ``(samples, y, scores)``; None when it ran dry."""
        settings = self.method.settings
        r, rejected_before = settings.r, self.rejected
        samples = y = scores = None
        n = 0
        while n < r:
            if self.rejected - rejected_before >= settings.max_rejections * r:
                self.draws.release(n)
                return None
            batch, labels, margins_scores = self._look()
            chances = np.minimum(settings.loss.weights(labels * margins_scores), 1.0)
            if self._shares is not None:
                chances *= self._shares[-self.waiting :]
            passed = np.flatnonzero(self.rng.random(len(labels)) < chances)[: r - n]
            looked_at = int(passed[-1]) + 1 if len(passed) == r - n else len(labels)
            if samples is None:
                samples, y, scores = np.empty((r, batch.shape[1]), batch.dtype), np.empty(r), np.empty(r)
            place = slice(n, n + len(passed))
            samples[place], y[place], scores[place] = batch[passed], labels[passed], margins_scores[passed]
            n += len(passed)
            self.accepted += len(passed)
            self.rejected += looked_at - len(passed)
            self.draws.release(looked_at - len(passed))
            self.waiting -= looked_at
        self.draws.release(r)  # let go at the end of the round, after the stump; no draw comes before
        return samples, y, scores

    def _look(self):
        """The samples that wait, or else r fresh ones, scored by the ensemble."""
        if self.waiting == 0:
            values, labels = self.draws.draw(self.method.settings.r)
            self.batch, self._labels = self._codes(values), np.where(labels == self.positive, 1.0, -1.0)
            self.waiting = len(labels)
            if (weights := getattr(self.draws, "weights", None)) is not None:
                self._shares = weights / self.method.source.weights.max()
        batch, labels = self.batch[-self.waiting :], self._labels[-self.waiting :]
        scores = np.zeros(self.waiting)
        self.members.add_scores(batch, np.arange(self.waiting), 0, scores)
        return batch, labels, scores

    def _codes(self, values: np.ndarray) -> np.ndarray:
        method = self.method
        if method.binner is None:  # the first r samples drawn set the bins of all problems
            method.binner = method.settings.binner_for(values)  # type: ignore[assignment]
        return values if method.binner is None else method.binner.encode(values)
