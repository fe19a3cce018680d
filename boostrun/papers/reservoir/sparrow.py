"""Sparrow (Alafate & Freund 2019): a sample in memory that is replaced when too few of its weights count.

::

    S <- {}
    for t = 1..T:
        v_i <- w(y_i F_{t-1}(x_i)) / w at the acceptance of i     for i in S
        if (sum_i v_i)^2 / sum_i v_i^2 < ess |S|:                   (the effective number of samples)
            S <- r samples accepted from Filter() in proportion to w(y F_{t-1}(x)), each with v = 1
        h_t, a_t <- weak learner and step on S with the weights v

Weights w are those of the loss, for several classes their sum. Samples are accepted by systematic sampling (Kitagawa
1996): in the order of arrival, whenever the running sum of w / top passes a whole number, with a random start, and so
often as it passes one; top is the largest weight of the first batch. This is the paper's minimal variance sampling.

Two parts of the paper are left out. It keeps all data on disk in strata of similar weight, so that at least half of the
samples it reads are accepted; here light samples are read and rejected, which gives a sample of the same distribution
and costs reads. And its weak learner stops to scan S as soon as an edge is certain; here it reads all of S.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.methods.weak_learner import LOSSES
from boostrun.papers.reservoir.classifier import ReservoirClassifier, arrival_masses
from boostrun.papers.reservoir.keys import SparrowKeys
from boostrun.papers.reservoir.strategies import Rand, Strategy


class SparrowReservoir:
    """S, with at most r samples, for c one-against-the-rest problems that learn side by side.

    Parameters
    ----------
    draws : the Filter(): ``draw(n) -> (samples (n, d), labels (n, c) of -1.0 and +1.0)``, ``release(n)``, ``drawn``.
    classes : c.
    model : SparrowClassifier, whose parameters it follows.
    """

    def __init__(self, draws, classes: int, model: SparrowClassifier):
        self.draws, self.model, self.loss, self.learner = draws, model, LOSSES[model.loss], model._learner
        self.r = model.reservoir_size
        self.q = model.batch_size or self.r
        self.members = [self.learner.members() for _ in range(classes)]
        self.problems = [members.learners for members in self.members]
        self.samples: Any = None
        self.labels = np.empty((0, classes))
        self.scores, self.accepted_at = np.empty((classes, 0)), np.empty(0)
        self.held = self.replaced = 0
        self.drawn: list[int] = []  # samples drawn by the end of each round
        self.seconds: list[float] = []  # training time by the end of each round

    def boost(self, rounds: int, strategy: Any, coefficient, shrinkage: float, rng: np.random.Generator) -> None:
        """Add ``rounds`` hypotheses to each problem. Cost a round: c searches on S."""
        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        first = len(self.drawn)
        for t in range(first, first + rounds):
            weights = self._weights()
            if effective(weights.sum(axis=1)) < self.model.ess * len(weights) or not len(weights):
                self._replace(rng)
                weights = self._weights()
            everyone = np.arange(len(weights))
            for k, members in enumerate(self.members):
                labels, own = self.labels[:, k], np.ascontiguousarray(weights[:, k])
                hypothesis = self.learner.find_among(self.samples, everyone, own * labels)
                agreement = labels * self.learner.votes(hypothesis, self.samples, everyone)
                step = self.learner.step(coefficient, agreement, labels * self.scores[k], own, self.loss)
                members.add(hypothesis, shrinkage * step)
                members.add_scores(self.samples, everyone, t, self.scores[k])
            self.drawn.append(self.draws.drawn)
            self.seconds.append(time.perf_counter() - begun)

    def let_go(self) -> None:
        """Give the samples back; no hypothesis can be added then."""
        self.draws.release(self.held)
        del self.samples, self.labels, self.scores, self.accepted_at

    def _weights(self) -> np.ndarray:
        """v (n, c): weights now over those, summed over classes, at acceptance."""
        return self.loss.weights(self.labels * self.scores.T) / self.accepted_at[:, None]

    def _replace(self, rng: np.random.Generator) -> None:
        """Let S go and accept r samples, fewer if ``max_rejections`` is reached. Cost O(c t) for each sample drawn."""
        r, n, start, top = self.r, 0, rng.random(), 0.0
        self.draws.release(self.held)
        self.held, self.samples, begun = 0, None, self.draws.drawn
        labels, scores = np.empty((r, len(self.members))), np.empty((len(self.members), r))
        accepted_at = np.empty(r)
        while n < r and self.draws.drawn - begun <= self.model.max_rejections * r:
            fresh, signs = self.draws.draw(self.q)
            if self.samples is None:
                self.samples = np.empty((r, fresh.shape[1]), fresh.dtype)
            everyone, found = np.arange(len(fresh)), np.zeros((len(self.members), len(fresh)))
            for members, one in zip(self.members, found):
                members.add_scores(fresh, everyone, 0, one)
            total = np.maximum(self.loss.weights(signs * found.T).sum(axis=1), 1e-300)
            chances = total * arrival_masses(self.draws, len(fresh))
            top = top or float(chances.max())
            copies, start = systematic(chances / top if top else chances, start)
            rows = np.repeat(everyone, copies)[: r - n]
            place = slice(n, n + len(rows))
            self.samples[place], labels[place], accepted_at[place] = fresh[rows], signs[rows], total[rows]
            scores[:, place] = found[:, rows]
            n += len(rows)
            kept = len(np.unique(rows))
            self.draws.release(len(fresh) - kept)
            self.held += kept
        self.samples, self.labels, self.accepted_at = self.samples[:n], labels[:n], accepted_at[:n]
        self.scores = np.ascontiguousarray(scores[:, :n])
        self.replaced += 1


def effective(weights: np.ndarray) -> float:
    """(sum v)^2 / sum v^2 of weights (n,) of at least 0: n if all are equal, 1 if a single one counts, 0 if none does.

    >>> effective(np.array([2.0, 2.0, 0.0]))
    2.0
    """
    squares = float(np.dot(weights, weights))
    return float(weights.sum()) ** 2 / squares if squares > 0.0 else 0.0


def systematic(chances: np.ndarray, start: float) -> tuple[np.ndarray, float]:
    """How often each sample is taken (n,) int64, and where the next batch starts.

    A sample is taken as often as the running sum of ``chances`` (n,), from ``start`` in [0, 1), passes a whole number
    with it. If ``start`` is uniform, the expected count is its chance, and differs from it by less than 1.

    >>> systematic(np.array([0.5, 0.25, 2.5]), 0.5)
    (array([1, 0, 2]), 0.75)
    """
    upto = start + np.cumsum(chances)
    return np.diff(np.floor(upto).astype(np.int64), prepend=0), float(upto[-1] % 1.0) if len(upto) else start


class SparrowClassifier(SparrowKeys, ReservoirClassifier):
    """Sparrow (Alafate & Freund 2019): boosting on a sample that is replaced when its effective size has fallen.

    All classes share the sample, and learn one against the rest. It holds at most r + q samples, and draws only when it
    replaces them.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, quantile bins of a feature, fitted on the first q samples drawn.
    warm_start : bool, see :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`.
    random_state : int, RandomState or None

    Attributes
    ----------
    replacements_ : int, how often the sample was filled, the first time included.

    The others are those of ReservoirClassifier.

    References
    ----------
    .. [1] J. Alafate and Y. Freund, "Faster Boosting with Smaller Memory", NeurIPS 2019.
    .. [2] G. Kitagawa, "Monte Carlo Filter and Smoother for Non-Gaussian Nonlinear State Space Models", Journal of
       Computational and Graphical Statistics 5, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = SparrowClassifier(reservoir_size=200, n_estimators=60, random_state=0).fit(X[:1400], y[:1400])
    >>> clf.score(X[1400:], y[1400:]) > 0.85, clf.peak_samples_held_ <= 400, clf.replacements_ < 60
    (True, True, True)
    """

    shared, balanced = True, False  # no parameters: one sample for all classes

    def _own_strategy(self) -> Strategy:
        return Rand()  # never called: samples are accepted by weight

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        return SparrowReservoir(draws, len(draws.positives), self)

    def _finish(self) -> None:
        self.replacements_ = sum(reservoir.replaced for reservoir, *_ in self._problems)
        super()._finish()
