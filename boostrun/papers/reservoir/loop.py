"""The loop of reservoir boosting for one binary problem (Lefakis & Fleuret 2013, section 1 of the specification).

How far to step along the stump that was found (spec section 2; the paper leaves the rule open).

Every rule looks at the reservoir only: ``agreement`` (n,) = y_i h(x_i), -1 or +1, ``margins`` (n,) = y_i F(x_i)
before the step, and the corrected weights ``weights`` (n,) that the stump was trained with. Steps stay within
+-1/2 log((1 - 1e-3) / 1e-3) = +-3.45, where an error of one in a thousand would lead.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.methods.weak_learner import WeakLearner
from boostrun.papers.reservoir.strategies import Batch, Strategy, checked, others

CLIP = 1e-3
LIMIT = 0.5 * np.log((1.0 - CLIP) / CLIP)


def log_odds(agreement, margins, weights, loss) -> float:
    """a = 1/2 log((1 - e) / e), with e the weighted error clipped to [1e-3, 1 - 1e-3]; 0 when no weight is left.

    >>> round(log_odds(np.array([1.0, 1.0, -1.0]), np.zeros(3), np.ones(3), None), 6)
    0.346574
    """
    total = weights.sum()
    if not total > 0.0:  # corrected weights may be negative; their sum can vanish
        weights = np.abs(weights)
        total = weights.sum()
        if total == 0.0:
            return 0.0
    error = min(max(weights[agreement < 0].sum() / total, CLIP), 1.0 - CLIP)
    return 0.5 * float(np.log((1.0 - error) / error))


def line_search(agreement, margins, weights, loss) -> float:
    """Minimiser over the step of sum_i M_i loss(margin_i + a agreement_i), M_i = w~_i / w_i at least 0.

    M_i says how many samples the kept one stands for, so the sum is the corrected-weight loss on the reservoir.
    """
    from scipy.optimize import brentq

    pull = np.maximum(weights, 0.0) * agreement

    def slope(step: float) -> float:
        return -float(np.dot(pull, loss.weight_ratio(margins, margins + step * agreement)))

    if slope(LIMIT) <= 0.0:
        return LIMIT if pull.any() else 0.0
    if slope(-LIMIT) >= 0.0:
        return -LIMIT
    return float(brentq(slope, -LIMIT, LIMIT, xtol=1e-8))


def newton(agreement, margins, weights, loss) -> float:
    """One Newton step from 0 on the objective of :func:`line_search`."""
    weights = np.maximum(weights, 0.0)
    curvature = float(np.dot(weights, loss.bend(margins)))
    return float(np.clip(np.dot(weights, agreement) / curvature, -LIMIT, LIMIT)) if curvature > 0.0 else 0.0


RULES = {rule.__name__: rule for rule in (log_odds, line_search, newton)}


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
