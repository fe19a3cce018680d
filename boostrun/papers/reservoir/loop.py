"""The loop of reservoir boosting for one binary problem (Lefakis & Fleuret 2013, section 1 of the specification)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.methods.weak_learner import WeakLearner
from boostrun.papers.reservoir.strategies import Batch, Strategy, checked, others

MASS_RATIO = (0.05, 20.0)  # how much a kept sample's mass may change in one round


def arrival_masses(draws, n: int) -> np.ndarray:
    """The masses (n,) of the samples drawn last: their weights where ``draws`` tell any, else 1."""
    weights = getattr(draws, "weights", None)
    return np.ones(n) if weights is None else weights


class Reservoir:
    """The r + q samples at hand and what is known of them; one binary problem.

    Parameters
    ----------
    draws : the paper's Filter(): ``draw(n) -> (samples (n, d), labels (n,) of -1.0 and +1.0)``, ``release(n)`` when
        samples are let go, and the count ``drawn``; it may tell ``weights`` (n,) of the samples drawn last.
    r, q : sizes of the reservoir and of the fresh batch.
    loss : a loss of :mod:`boostrun.methods.weak_learner`.
    learner : what is boosted.

    The scores of kept samples are carried along and grow by one hypothesis a round; only fresh samples are scored by
    the whole ensemble, O(q t).
    """

    def __init__(self, draws, r: int, q: int, loss, learner: WeakLearner):
        self.draws, self.r, self.q, self.loss, self.learner = draws, r, q, loss, learner
        self.samples, self.labels = draws.draw(r + q)
        self.scores = np.zeros(r + q)
        self.masses = arrival_masses(draws, r + q)
        self.arrived = np.zeros(r + q, np.int64)
        self.members = learner.members()
        self.problems = [self.members.learners]  # one binary problem
        self.drawn: list[int] = []  # samples drawn by the end of each round
        self.seconds: list[float] = []  # training time by the end of each round

    def boost(
        self, rounds: int, strategy: Strategy, coefficient: Callable, shrinkage: float, rng: np.random.Generator
    ) -> None:
        """Add ``rounds`` hypotheses to ``members``."""
        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        first = len(self.members.learners)
        for t in range(first, first + rounds):
            kept, corrected = self._select(strategy, rng)
            labels = self.labels[kept]
            hypothesis = self._find(kept, corrected * labels)
            votes = self.learner.votes(hypothesis, self.samples, kept)
            margins = labels * self.scores[kept]
            step = shrinkage * self.learner.step(coefficient, labels * votes, margins, corrected, self.loss)
            self.members.add(hypothesis, step)
            self.members.add_scores(self.samples, kept, t, self.scores)
            self._refill(kept, t + 1)
            self.drawn.append(self.draws.drawn)
            self.seconds.append(time.perf_counter() - begun)

    def let_go(self) -> None:
        """Give the samples at hand back; no hypothesis can be added then."""
        self.draws.release(self.r + self.q)
        del self.samples, self.labels, self.scores, self.masses, self.arrived

    def _select(self, strategy: Strategy, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The places of the samples that stay, and the weights (r,) that the weak learner is trained with."""
        weights = self.masses * self.loss.weights(self.labels * self.scores)
        batch = Batch(self.samples, self.labels, weights, self.arrived, self.scores, self.masses)
        kept, corrected = checked(strategy(batch, self.r, rng), (self.r,), self.r + self.q)
        if strategy.carry_mass:
            self._carry_mass(kept, corrected, weights[kept])
        return kept, corrected

    def _find(self, kept: np.ndarray, signed_weights: np.ndarray) -> Any:
        """The hypothesis with the largest edge on the samples that stay."""
        return self.learner.find_among(self.samples, kept, signed_weights)

    def _carry_mass(self, kept, corrected, weights) -> None:
        """c_j *= w~_j / w_j, clipped, then scaled so that the reservoir's masses sum to r."""
        ratio = np.divide(corrected, weights, out=np.ones_like(weights), where=weights > 0.0)
        masses = self.masses[kept] * np.clip(ratio, *MASS_RATIO)
        self.masses[kept] = masses * (self.r / masses.sum())

    def _refill(self, kept, t) -> None:
        """Put q fresh samples where the discarded ones stood, and score them by the t hypotheses so far."""
        discarded = others(kept, self.r + self.q)
        self.draws.release(self.q)
        self.samples[discarded], self.labels[discarded] = self.draws.draw(self.q)
        self.scores[discarded] = 0.0
        self.masses[discarded] = arrival_masses(self.draws, self.q)
        self.arrived[discarded] = t
        self.members.add_scores(self.samples, discarded, 0, self.scores)
