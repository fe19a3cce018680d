"""Discrete AdaBoost.MH with vote-vector stumps; a policy chooses the feature of each step (Dubout & Fleuret 2014).

The estimator is :class:`boostrun.papers.adaptive.classifier.AdaBoostMHClassifier`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from boostrun.kernels import votes as kernels
from boostrun.kernels.lanes import LANES, zeros
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.vote_ensemble import VoteEnsemble
from boostrun.papers.adaptive.board import Board, search
from boostrun.papers.adaptive.policies.policy import hook

_RENEW = 100  # steps after which single-precision weights are computed anew from double-precision scores
LEAST_EDGE = 1e-6


class TrainingRun:
    """AdaBoost.MH that can be gone on with: the loop of section 1.

    Parameters: ``board`` and ``policy``; ``labels`` (n, K) of -1.0 and +1.0; ``init`` of the weights; ``look`` at all
    features too, to measure gaps; ``weights`` (n,) of the samples, None where all are alike.
    Attributes: ``ensemble``, and by the end of each step ``loss`` (log10 of it) and ``seconds``; ``gaps`` where asked.
    """

    def __init__(
        self, board: Board, policy, labels: np.ndarray, init: str, look: bool = False, weights: np.ndarray | None = None
    ):
        self.board, self.policy, self.labels, self.init, self.weights = board, policy, labels, init, weights
        self.ensemble = self._empty()
        self.loss: list[float] = []
        self.seconds: list[float] = []
        self.gaps: list[float] | None = [] if look else None
        self._scores, self._scored = np.zeros(labels.shape), 0  # after so many steps
        self._renew(0)

    def boost(self, rounds: int) -> None:
        """Add ``rounds`` weak learners."""
        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        first = self.ensemble.n_rounds
        self.ensemble = self.ensemble.extended(self._empty(rounds))
        for t in range(first, first + rounds):
            if t % _RENEW == 0:
                self._renew(t)
            self._step(t)
            self.seconds.append(time.perf_counter() - begun)

    def _empty(self, rounds: int = 0) -> VoteEnsemble:
        return VoteEnsemble.empty(self.labels.shape[1], rounds)

    def _step(self, t: int) -> None:
        self.board.begin_step(self._signed)
        feature = self.policy.choose(self.board)
        if self.gaps is not None:
            self.gaps.append(self._gap(feature))
        edge = self._add(t, feature)
        hook(self.policy, "learn")(edge)

    def _gap(self, feature: int) -> float:
        """The largest edge of all features less that of the one chosen."""
        codes = self.board.codes
        edges, _ = search(codes, np.arange(len(codes)), np.arange(self.board.n), self._signed)
        return float(edges.max() - edges[feature]) / self._total

    def _add(self, t: int, feature: int) -> float:
        """Refit the stump on all samples, add it with its true edge, and weigh the samples anew; returns the edge."""
        board, ensemble = self.board, self.ensemble
        column = board.codes[feature]
        threshold, votes, edge = kernels.best_stump(column, self._signed)
        board.charge("refit", board.n)
        edge = min(edge / self._total, 1.0 - LEAST_EDGE)
        ensemble.features[t], ensemble.thresholds[t] = feature, threshold if threshold else -np.inf
        if edge >= LEAST_EDGE:
            ensemble.votes[t] = votes[: self.labels.shape[1]]
        self._weigh(t, edge, lambda: kernels.reweigh(column, threshold, votes, edge, self._signed))
        board.charge("update", board.n)
        return edge

    def _weigh(self, t: int, edge: float, reweigh: Callable[[], float]) -> None:
        """The factor of weak learner t and the loss after it; ``reweigh`` weighs the samples anew and tells the sum."""
        loss = self.loss[-1] if self.loss else 0.0
        if edge >= LEAST_EDGE:
            self.ensemble.alphas[t] = 0.5 * math.log((1.0 + edge) / (1.0 - edge))
            self._total = reweigh()
            loss += 0.5 * math.log10((1.0 - edge) * (1.0 + edge))  # log10 of Z = sqrt(1 - e^2)
            if not self._total:  # faultless stumps have halved all weights until none was left in single precision
                self._renew(t + 1)
        self.loss.append(loss)

    def _renew(self, t: int) -> None:
        """Weights from double-precision scores of the first t steps: in single precision they would drift."""
        self._score(slice(self._scored, t))
        self._scored = t
        self._signed, self._total = signed_weights(self.labels, self._scores, self.init, self.weights), 1.0

    def _score(self, rounds: slice) -> None:
        ensemble = self.ensemble
        steps = ensemble.alphas[rounds, None] * ensemble.votes[rounds]
        kernels.add_votes(self.board.codes, ensemble.features[rounds], ensemble.thresholds[rounds], steps, self._scores)


def one_column_a_class(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """y_il of -1.0 and +1.0, (n, K): one column a class, a single one, of the second class, for two."""
    return np.where(labels[:, None] == np.array(one_vs_all.problems(classes)), 1.0, -1.0)


def signed_weights(
    labels: np.ndarray, scores: np.ndarray, init: str, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """y_il w_il (n, c) float32 with w_il proportional to exp(-y_il F_l(x_i)), summing to 1, in rows of one or 16 k.

    ``init="balanced"`` gives the true and the false classes half of the mass each before boosting; ``sample_weight``
    (n,) multiplies the rows. Cost O(n K).
    """
    n, classes = labels.shape
    weights = np.exp(-labels * scores)
    if weights.sum() < np.finfo(float).tiny:  # a factor of all does not matter: the largest becomes 1
        margins = labels * scores
        weights = np.exp(margins.min() - margins)
    own = 1.0 if sample_weight is None else sample_weight[:, None]
    weights *= own
    if init == "balanced":
        true = labels > 0
        weights[true] *= 0.5 / (own * true).sum()
        weights[~true] *= 0.5 / (own * ~true).sum()
    weights /= weights.sum()
    lanes = 1 if classes == 1 else -(-classes // LANES) * LANES
    out = zeros(n, lanes)
    out[:, :classes] = labels * weights
    return out
