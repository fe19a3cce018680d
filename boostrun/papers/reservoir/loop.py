"""The loop of reservoir boosting for one binary problem (Lefakis & Fleuret 2013, section 1 of the specification)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from boostrun.kernels import stumps
from boostrun.methods.stump import Stump, find_stump
from boostrun.papers.reservoir.strategies import Batch, Strategy

MASS_RATIO = (0.05, 20.0)  # how much a kept sample's mass may change in one round


class Reservoir:
    """The r + q samples at hand and what is known of them; one binary problem.

    Parameters
    ----------
    draws : the paper's Filter(): ``draw(n) -> (samples (n, d), labels (n,) of -1.0 and +1.0)``, ``release(n)`` when
        samples are let go, and the count ``drawn``.
    r, q : sizes of the reservoir and of the fresh batch.
    loss : a loss of :mod:`boostrun.methods.losses`.

    The scores of kept samples are carried along and grow by one stump a round; only fresh samples are scored by the
    whole ensemble, O(q t).
    """

    def __init__(self, draws, r: int, q: int, loss):
        self.draws, self.r, self.q, self.loss = draws, r, q, loss
        self.samples, self.labels = draws.draw(r + q)
        self.scores = np.zeros(r + q)
        self.masses = np.ones(r + q)
        self.arrived = np.zeros(r + q, np.int64)
        self.learners: list[tuple[Stump, float]] = []
        self.problems = [self.learners]  # one binary problem
        self.drawn: list[int] = []  # samples drawn by the end of each round
        self.seconds: list[float] = []  # training time by the end of each round

    def boost(
        self, rounds: int, strategy: Strategy, coefficient: Callable, shrinkage: float, search: str,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Add ``rounds`` stumps to ``learners``."""
        first = len(self.learners)
        features = np.zeros(first + rounds, np.int32)
        thresholds = np.zeros(first + rounds)
        steps = np.zeros(first + rounds)
        for t, (stump, step) in enumerate(self.learners):
            features[t], thresholds[t], steps[t] = stump.feature, stump.threshold, stump.polarity * step

        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        for t in range(first, first + rounds):
            kept, corrected = self._select(strategy, rng)
            labels = self.labels[kept]
            stump = self._find_stump(kept, corrected * labels, search)
            above = self.samples[kept, stump.feature] >= stump.threshold
            votes = np.where(above, stump.polarity, -stump.polarity)
            step = shrinkage * coefficient(labels * votes, labels * self.scores[kept], corrected, self.loss)
            self.learners.append((stump, step))
            features[t], thresholds[t], steps[t] = stump.feature, stump.threshold, stump.polarity * step

            stumps.add_scores(
                self.samples, kept, features[t : t + 1], thresholds[t : t + 1], steps[t : t + 1], self.scores
            )
            self._refill(kept, t + 1, features, thresholds, steps)
            self.drawn.append(self.draws.drawn)
            self.seconds.append(time.perf_counter() - begun)

    def _select(self, strategy: Strategy, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The places of the samples that stay, and the weights (r,) that the stump is trained with."""
        weights = self.masses * self.loss.weights(self.labels * self.scores)
        kept, corrected = strategy(Batch(self.samples, self.labels, weights, self.arrived), self.r, rng)
        if strategy.carry_mass:
            self._carry_mass(kept, corrected, weights[kept])
        return kept, corrected

    def _find_stump(self, kept: np.ndarray, signed_weights: np.ndarray, search: str) -> Stump:
        """The stump with the largest edge on the samples that stay."""
        return find_stump(self.samples, signed_weights, kept, search)[0]

    def _carry_mass(self, kept, corrected, weights) -> None:
        """c_j *= w~_j / w_j, clipped, then scaled so that the reservoir's masses sum to r."""
        ratio = np.divide(corrected, weights, out=np.ones_like(weights), where=weights > 0.0)
        masses = self.masses[kept] * np.clip(ratio, *MASS_RATIO)
        self.masses[kept] = masses * (self.r / masses.sum())

    def _refill(self, kept, t, features, thresholds, steps) -> None:
        """Put q fresh samples where the discarded ones stood, and score them by the t stumps so far."""
        discarded = np.delete(np.arange(self.r + self.q), kept)
        self.draws.release(self.q)
        self.samples[discarded], self.labels[discarded] = self.draws.draw(self.q)
        self.scores[discarded] = 0.0
        self.masses[discarded] = 1.0
        self.arrived[discarded] = t
        stumps.add_scores(self.samples, discarded, features[:t], thresholds[:t], steps[:t], self.scores)
