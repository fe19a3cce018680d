"""One reservoir for all classes: one Filter, one batch, the classes' weights added up (specification, section 1)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from boostrun.kernels import stumps
from boostrun.methods.stump import Stump, find_stump
from boostrun.papers.reservoir.loop import MASS_RATIO
from boostrun.papers.reservoir.strategies import Batch, Strategy


class SharedReservoir:
    """The r + q samples at hand of c one-against-the-rest problems, which learn side by side.

    Parameters are those of :class:`boostrun.papers.reservoir.loop.Reservoir`; ``draws`` gives labels (n, c) of -1.0 and
    +1.0. A strategy chooses samples by their weights summed over the classes, GEEM by the classes' summed objectives
    with one inverse for all, so that a round costs one selection instead of c, and a sample one draw instead of c.
    """

    def __init__(self, draws, r: int, q: int, loss):
        self.draws, self.r, self.q, self.loss = draws, r, q, loss
        self.samples, self.labels = draws.draw(r + q)
        classes = self.labels.shape[1]
        self.scores = np.zeros((classes, r + q))
        self.masses = np.ones((r + q, classes))
        self.arrived = np.zeros(r + q, np.int64)
        self.problems: list[list[tuple[Stump, float]]] = [[] for _ in range(classes)]
        self.drawn: list[int] = []
        self.seconds: list[float] = []

    def boost(
        self, rounds: int, strategy: Strategy, coefficient: Callable, shrinkage: float, search: str,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Add ``rounds`` stumps to each problem."""
        first = len(self.drawn)
        shape = (len(self.problems), first + rounds)
        features, thresholds, steps = np.zeros(shape, np.int32), np.zeros(shape), np.zeros(shape)
        for k, learners in enumerate(self.problems):
            for t, (stump, step) in enumerate(learners):
                features[k, t], thresholds[k, t], steps[k, t] = stump.feature, stump.threshold, stump.polarity * step

        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        for t in range(first, first + rounds):
            kept, corrected = self._select(strategy, rng)
            for k, learners in enumerate(self.problems):
                labels, weights = self.labels[kept, k], corrected[:, k]
                stump, _ = find_stump(self.samples, weights * labels, kept, search)
                votes = stump(self.samples[kept])
                step = shrinkage * coefficient(labels * votes, labels * self.scores[k, kept], weights, self.loss)
                learners.append((stump, step))
                features[k, t], thresholds[k, t], steps[k, t] = stump.feature, stump.threshold, stump.polarity * step
            self._refill(kept, t + 1, features, thresholds, steps)
            self.drawn.append(self.draws.drawn)
            self.seconds.append(time.perf_counter() - begun)

    def _select(self, strategy: Strategy, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The places (r,) of the samples that stay, and the weights (r, c) that the stumps are trained with."""
        weights = self.masses * self.loss.weights(self.labels * self.scores.T)
        if hasattr(strategy, "for_all_classes"):
            kept, corrected = strategy.for_all_classes(
                Batch(self.samples, self.labels, weights, self.arrived), self.r, rng
            )
        else:
            total = weights.sum(axis=1, keepdims=True)
            kept, chosen = strategy(Batch(self.samples, self.labels, total[:, 0], self.arrived), self.r, rng)
            share = np.divide(weights[kept], total[kept], out=np.zeros_like(weights[kept]), where=total[kept] > 0.0)
            corrected = chosen[:, None] * share
        if strategy.carry_mass:
            ratio = np.divide(corrected, weights[kept], out=np.ones_like(corrected), where=weights[kept] > 0.0)
            masses = self.masses[kept] * np.clip(ratio, *MASS_RATIO)
            self.masses[kept] = masses * (self.r / masses.sum(axis=0))
        return kept, corrected

    def _refill(self, kept, t, features, thresholds, steps) -> None:
        """Score the kept samples by the newest stumps, and put q fresh ones where the discarded stood."""
        discarded = np.delete(np.arange(self.r + self.q), kept)
        self.draws.release(self.q)
        self.samples[discarded], self.labels[discarded] = self.draws.draw(self.q)
        self.scores[:, discarded] = 0.0
        self.masses[discarded] = 1.0
        self.arrived[discarded] = t
        for rows, since in ((kept, t - 1), (discarded, 0)):
            for k, scores in enumerate(self.scores):
                part = slice(since, t)
                stumps.add_scores(self.samples, rows, features[k, part], thresholds[k, part], steps[k, part], scores)
