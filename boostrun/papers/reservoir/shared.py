"""One reservoir for all classes: one Filter, one batch, the classes' weights added up (specification, section 1)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from boostrun.methods.weak_learner import WeakLearner
from boostrun.papers.reservoir.loop import MASS_RATIO, arrival_masses
from boostrun.papers.reservoir.strategies import Batch, Strategy, checked, others


class SharedReservoir:
    """The r + q samples at hand of c one-against-the-rest problems, which learn side by side.

    Parameters are those of :class:`boostrun.papers.reservoir.loop.Reservoir`; ``draws`` gives labels (n, c) of -1.0 and
    +1.0. A strategy chooses samples by their weights summed over the classes, GEEM by the classes' summed objectives
    with one inverse for all, so that a round costs one selection instead of c, and a sample one draw instead of c.
    """

    def __init__(self, draws, r: int, q: int, loss, learner: WeakLearner):
        self.draws, self.r, self.q, self.loss, self.learner = draws, r, q, loss, learner
        self.samples, self.labels = draws.draw(r + q)
        classes = self.labels.shape[1]
        self.scores = np.zeros((classes, r + q))
        self.masses = np.repeat(arrival_masses(draws, r + q)[:, None], classes, axis=1)
        self.arrived = np.zeros(r + q, np.int64)
        self.members = [learner.members() for _ in range(classes)]
        self.problems = [members.learners for members in self.members]
        self.drawn: list[int] = []
        self.seconds: list[float] = []

    def boost(
        self, rounds: int, strategy: Strategy, coefficient: Callable, shrinkage: float, rng: np.random.Generator
    ) -> None:
        """Add ``rounds`` hypotheses to each problem."""
        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        first = len(self.drawn)
        for t in range(first, first + rounds):
            kept, corrected = self._select(strategy, rng)
            for k, members in enumerate(self.members):
                labels, weights = self.labels[kept, k], corrected[:, k]
                hypothesis = self.learner.find_among(self.samples, kept, weights * labels)
                votes = self.learner.votes(hypothesis, self.samples, kept)
                margins = labels * self.scores[k, kept]
                step = shrinkage * self.learner.step(coefficient, labels * votes, margins, weights, self.loss)
                members.add(hypothesis, step)
            self._refill(kept, t + 1)
            self.drawn.append(self.draws.drawn)
            self.seconds.append(time.perf_counter() - begun)

    def let_go(self) -> None:
        """Give the samples at hand back; no hypothesis can be added then."""
        self.draws.release(self.r + self.q)
        del self.samples, self.labels, self.scores, self.masses, self.arrived

    def _select(self, strategy: Strategy, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The places (r,) of the samples that stay, and the weights (r, c) that weak learners are trained with."""
        weights = self.masses * self.loss.weights(self.labels * self.scores.T)
        batch = Batch(self.samples, self.labels, weights, self.arrived, self.scores.T, self.masses)
        answer = strategy.for_all_classes(batch, self.r, rng)
        kept, corrected = checked(answer, (self.r, weights.shape[1]), self.r + self.q)
        if strategy.carry_mass:
            ratio = np.divide(corrected, weights[kept], out=np.ones_like(corrected), where=weights[kept] > 0.0)
            masses = self.masses[kept] * np.clip(ratio, *MASS_RATIO)
            self.masses[kept] = masses * (self.r / masses.sum(axis=0))
        return kept, corrected

    def _refill(self, kept, t) -> None:
        """Score the kept samples by the newest hypotheses, and put q fresh ones where the discarded stood."""
        discarded = others(kept, self.r + self.q)
        self.draws.release(self.q)
        self.samples[discarded], self.labels[discarded] = self.draws.draw(self.q)
        self.scores[:, discarded] = 0.0
        self.masses[discarded] = arrival_masses(self.draws, self.q)[:, None]
        self.arrived[discarded] = t
        for rows, since in ((kept, t - 1), (discarded, 0)):
            for members, scores in zip(self.members, self.scores):
                members.add_scores(self.samples, rows, since, scores)
