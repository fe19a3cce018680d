"""Discrete AdaBoost.MH with vote-vector stumps or trees; a policy chooses the feature of each step or split.

Stumps are the paper's (Dubout & Fleuret 2014); trees extend it. The estimator is
:class:`boostrun.papers.adaptive.classifier.AdaBoostMHClassifier`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels import votes as kernels
from boostrun.kernels.lanes import LANES, empty, zeros
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.stumps import VoteEnsemble
from boostrun.papers.adaptive import policies as draws
from boostrun.papers.adaptive import vote_trees
from boostrun.papers.adaptive.policies import hook
from boostrun.papers.adaptive.vote_trees import TreeVoteEnsemble

ACCOUNTS = ("selection", "pilot", "tasting", "refit", "update")
CHARGED = ("selection", "pilot")
_LINE = 64  # bytes that come from memory together


class Sample(NamedTuple):
    """S = ``size`` drawn samples: ``rows`` (at most S,) int64 ascending, and their signed class vectors (., c) float32.

    A sample drawn several times may be there once, with its vector that many times as large.
    """

    rows: np.ndarray
    signed: np.ndarray
    size: int


def check_families(families, n_features: int) -> None:
    """Raise BoostrunError unless ``families`` are (name, start, stop) with features ``start`` to ``stop - 1`` of d.

    >>> check_families([("edges", 0, 20), ("corners", 20, 20)], 64)
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: family 'corners' holds no feature: it is said to go from 20 to 20, of 64 features
    """
    try:
        plain = [(str(name), int(start), int(stop)) for name, start, stop in families]
    except (TypeError, ValueError):
        raise BoostrunError(
            f"families={families!r}: a list of (name, start, stop) is needed, features start to stop - 1 of each"
        ) from None
    if not plain:
        raise BoostrunError("families=[]: at least one family of features is needed")
    for name, start, stop in plain:
        if not 0 <= start <= stop <= n_features:
            raise BoostrunError(f"family {name!r} is said to go from {start} to {stop}, of {n_features} features")
        if start == stop:
            raise BoostrunError(
                f"family {name!r} holds no feature: it is said to go from {start} to {stop}, of {n_features} features"
            )


def search(codes, features, rows, signed) -> tuple[np.ndarray, np.ndarray]:
    """Edges and thresholds (Q,) of the best stumps on some features; see :func:`boostrun.kernels.votes.best_votes`."""
    edges, thresholds = np.empty(len(features)), np.empty(len(features), np.int64)
    kernels.best_votes(codes, features, rows, signed, edges, thresholds)
    return edges, thresholds


class Board:
    """The training set as a policy sees it: features by family, edges for a price.

    Parameters
    ----------
    codes : (d, n) uint8, feature-major.
    samples : (n, d) uint8 or None, the same codes sample-major if available: faster for small samples.
    families : list of (name, start, stop), which features belong together.
    budget : int, C: evaluated (feature, sample) pairs a step that may be charged.
    sampling : "weight" or "uniform", how :meth:`sample` draws.
    rng : Generator of the policy.

    ``signed`` (n, c) float32, the signed weights, is set by the booster. Evaluations of a step are charged to accounts;
    ``ledger`` is a list of one dict a step. The charged ones, selection and pilot, may not exceed the budget: asking
    for more raises BoostrunError, whatever policy asks, and so do families without features or beyond them.
    """

    def __init__(self, codes, families, budget: int, sampling: str, rng: np.random.Generator, samples=None):
        self.families, self.budget, self.sampling, self.rng = families, budget, sampling, rng
        # memory maps as plain arrays: compiled functions are called quicker on them
        self.codes, self.samples = np.asarray(codes), None if samples is None else np.asarray(samples)
        self.n_features, self.n = codes.shape
        check_families(families, self.n_features)
        self.ledger: list[dict[str, int]] = []
        self.signed: np.ndarray | None = None
        self._family_starts = np.array([start for _, start, _ in families])
        self.family_sizes = np.array([stop for _, _, stop in families]) - self._family_starts
        self._taken = np.zeros(self.n_features, np.uint8)
        self._every = np.arange(self.n)
        # of the samples' weights, made when a step first draws
        self._sums = draws.empty_sums(self.n)
        self._summed = False
        self._kappa: float | None = None

    def begin_step(self, signed: np.ndarray) -> None:
        """A new step with these signed weights (n, c)."""
        self.signed, self._summed, self._kappa = signed, False, None
        self.ledger.append(dict.fromkeys(ACCOUNTS, 0))

    @property
    def left(self) -> int:
        """The part of the budget that this step has left."""
        return self.budget - sum(self.ledger[-1][account] for account in CHARGED)

    def charge(self, account: str, pairs: int) -> None:
        """Book ``pairs`` evaluations; raises BoostrunError when the charged ones exceed the budget of the step."""
        self.ledger[-1][account] += int(pairs)
        if account in CHARGED and self.left < 0:
            raise BoostrunError(
                f"step {len(self.ledger)}: the policy asked for {self.budget - self.left} evaluated features where its "
                f"budget is {self.budget}"
            )

    def draw(self, q: int, family: int | None = None) -> np.ndarray:
        """``q`` features drawn uniformly without replacement, of all or of one family, ascending; all when fewer.

        Cost O(q) for small shares of the features, O(their number) otherwise.
        """
        start, stop = (0, self.n_features) if family is None else self.families[family][1:]
        size = stop - start
        if q >= size:
            return np.arange(start, stop)
        return start + np.sort(self.rng.choice(size, q, replace=False, shuffle=False))

    def draw_each(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``counts`` (M,) features of every family, drawn uniformly without replacement; all of a family when fewer.

        Returns ``(features, counts)``: int64, family by family and ascending within, and how many of each. Cost O(d).
        """
        counts = np.minimum(counts, self.family_sizes)
        features = np.empty(counts.sum(), np.int64)
        draws.without_replacement(
            self._family_starts, self.family_sizes, counts, self.rng.random(len(features)), self._taken, features
        )
        return features, counts

    def edges(
        self, features: np.ndarray, account: str = "selection", codes: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Exact edges (Q,) of the best stumps on ``features`` (Q,), over all samples, and their thresholds (Q,).

        ``features`` are rows of ``codes`` (R, n) uint8 where a policy has copied some for itself.
        """
        self.charge(account, len(features) * self.n)
        return search(self.codes if codes is None else codes, features, self._every, self.signed)

    def sample(self, size: int) -> Sample:
        """``size`` samples drawn with replacement in proportion to w_i = sum_l w_il, or all when they are not fewer.

        Each draw carries u_l = y_il w_il / (m_i S), so that the edge of a fixed stump is estimated without bias.
        With ``sampling="uniform"`` draws are uniform and carry their weights times n / S. Cost O(n c) once a step,
        then O(S c).
        """
        if size >= self.n:
            return Sample(self._every, self.signed, self.n)  # type: ignore[arg-type]
        if self.sampling == "uniform":
            rows = np.sort(self.rng.integers(self.n, size=size))
            return Sample(rows, self.signed[rows] * np.float32(self.n / size), size)  # type: ignore[index]
        if not self._summed:
            draws.running_weights(self.signed, *self._sums)
            self._summed = True
        rows, times, signed = np.empty(size, np.int64), np.empty(size, np.int32), empty(size, self.signed.shape[1])  # type: ignore[union-attr]
        spacings = self.rng.standard_exponential(size + 1)
        distinct = draws.sample_by_weight(self.signed, *self._sums, spacings, rows, times, signed)
        return Sample(rows[:distinct], signed[:distinct], size)

    def sampled_edges(self, features: np.ndarray, sample: Sample, account: str = "selection") -> np.ndarray:
        """Estimated edges (Q,) of the best stumps on ``features`` (Q,), from a sample."""
        self.charge(account, len(features) * sample.size)
        q, size = len(features), len(sample.rows)
        by_sample, by_feature = size * min(q, self.n_features // _LINE), q * min(size, self.n // _LINE)
        if self.samples is None or q <= size or by_sample > by_feature:
            return search(self.codes, features, sample.rows, sample.signed)[0]
        picked = np.empty((q, size), np.uint8)
        kernels.pick_by_sample(self.samples, features, sample.rows, picked)
        picked.setflags(write=self.codes.flags.writeable)  # to the compiler, other arrays are another type
        return search(picked, np.arange(q), self._every[:size], sample.signed)[0]

    @property
    def kappa(self) -> float:
        """S times the variance of an estimated edge, 1 in the paper: the second moment of a draw for independent votes.

        sum_il w_il^2 / m_i by weight, from 1/K to 1, and n sum_il w_il^2 of uniform draws (section 2). Cost O(n c) once
        a step.
        """
        if self.sampling == "uniform":
            return float(self.n * np.square(self.signed).sum(dtype=np.float64))  # type: ignore[arg-type]
        if self._kappa is None:
            self._kappa = draws.second_moment(self.signed)
        return self._kappa


_RENEW = 100  # steps after which single-precision weights are recomputed from double-precision scores
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
        """Refit the stump on all samples, add it with its true edge, and reweight the samples; returns the edge."""
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
        """The factor of weak learner t and the loss after it; ``reweigh`` reweights the samples and returns the sum."""
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
    margins = labels * scores
    with np.errstate(over="ignore"):
        weights = np.exp(-margins)
        summed = weights.sum()
    # a factor of all weights does not matter: if their sum vanishes, or those of samples might make it infinite, the
    # largest becomes 1
    if not np.finfo(float).tiny <= summed < 1e290:
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


class SplitBoard(Board):
    """The samples of one node as a policy sees them: a split is a step, with the budget of a step.

    ``n`` is their number and ``signed`` (n, c) their weights, which :func:`boostrun.papers.adaptive.vote_trees.
    weights_of_node` makes: the gain of one vote for the whole node is subtracted, so that an edge is that of the split.
    A look at a feature costs a pair for each sample of the node.
    """

    def begin_split(self, rows: np.ndarray, signed: np.ndarray) -> float:
        """A new step on the samples ``rows`` (k,) int64, ascending, of the signed weights ``signed`` (n, c) of all;
        returns their weight.
        """
        self.rows, self.n = rows, len(rows)
        self._every, self._sums = np.arange(self.n), draws.empty_sums(self.n)
        node = empty(self.n, signed.shape[1])
        weight = vote_trees.weights_of_node(signed, rows, node)
        self.begin_step(node)
        return weight

    def end_tree(self, splits: int) -> None:
        """One line of the ledger for the tree, of those of its last ``splits``."""
        lines = self.ledger[len(self.ledger) - splits :]
        self.ledger[len(self.ledger) - splits :] = [{name: sum(line[name] for line in lines) for name in lines[0]}]

    def edges(
        self, features: np.ndarray, account: str = "selection", codes: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Like :meth:`Board.edges`, over the samples of the node."""
        self.charge(account, len(features) * self.n)
        return search(self.codes if codes is None else codes, features, self.rows, self.signed)

    def sample(self, size: int) -> Sample:
        """Like :meth:`Board.sample`, of the samples of the node."""
        drawn = super().sample(size)
        return Sample(self.rows[drawn.rows], drawn.signed, drawn.size)


class TreeRun(TrainingRun):
    """AdaBoost.MH with trees of ``depth``, on a :class:`SplitBoard`.

    A round grows a tree place by place, each level before the next. At a node the policy chooses a feature, with the
    budget of a step, on the node's samples; its threshold is the one that parts them best, in double precision. Nodes
    of which no sample differs in that feature, or whose samples all say the same, are leaves. With S the sums of signed
    weights, leaves vote by their sign, and the tree's edge is defined as the stump's::

        v_{leaf l} = sign(S_{leaf l}),   e = sum_leaf sum_l |S_{leaf l}|,   alpha = 1/2 log((1 + e) / (1 - e))

    The ledger has a line a tree. A policy learns from the edge of each split, on the node's weights.
    """

    board: SplitBoard
    ensemble: TreeVoteEnsemble  # type: ignore[assignment]

    def __init__(
        self, board: SplitBoard, policy, labels: np.ndarray, init: str, depth: int, weights: np.ndarray | None = None
    ):
        self.depth = depth
        super().__init__(board, policy, labels, init, weights=weights)

    def _empty(self, rounds: int = 0) -> TreeVoteEnsemble:  # type: ignore[override]
        return TreeVoteEnsemble.empty(self.labels.shape[1], self.depth, rounds)

    def _step(self, t: int) -> None:
        ensemble, classes = self.ensemble, self.labels.shape[1]
        leaves = self._grow(t)
        sums = np.zeros((ensemble.votes.shape[1], self._signed.shape[1]))
        vote_trees.sums_of_leaves(leaves, self._signed, sums)
        edge = min(float(np.abs(sums).sum()) / self._total, 1.0 - LEAST_EDGE)
        votes = np.where(sums >= 0.0, np.float32(1.0), np.float32(-1.0))
        if edge >= LEAST_EDGE:
            ensemble.votes[t] = votes[:, :classes]
        self._weigh(t, edge, lambda: vote_trees.reweigh(leaves, votes, edge, self._signed))

    def _grow(self, t: int) -> np.ndarray:
        """Split the places of tree t; returns the leaf of each sample (n,) int64."""
        board, ensemble = self.board, self.ensemble
        inner, splits = ensemble.features.shape[1], 0
        leaves = np.empty(len(self.labels), np.int64)
        waiting = {0: np.arange(len(self.labels))}
        while waiting:
            place, rows = min(waiting), waiting.pop(min(waiting))
            if place >= inner:
                leaves[rows] = place - inner
                continue
            weight = board.begin_split(rows, self._signed)
            splits += 1
            split = self._split(rows) if board.signed.any() else None  # type: ignore[union-attr]
            if split is None:
                waiting[2 * place + 2] = rows
                continue
            feature, threshold, edge = split
            ensemble.features[t, place], ensemble.thresholds[t, place] = feature, threshold
            ensemble.gains[t, place] = edge * weight
            above = board.codes[feature, rows] >= threshold
            board.charge("update", len(rows))
            waiting[2 * place + 1], waiting[2 * place + 2] = rows[~above], rows[above]
        board.end_tree(splits)
        return leaves

    def _split(self, rows: np.ndarray) -> tuple[int, int, float] | None:
        """(feature, threshold, edge) of the policy's choice; None where it parts nothing."""
        board = self.board
        feature = self.policy.choose(board)
        threshold, edge = vote_trees.best_threshold(board.codes[feature], rows, board.signed)
        board.charge("refit", len(rows))
        hook(self.policy, "learn")(min(edge, 1.0 - LEAST_EDGE))
        return (feature, threshold, edge) if threshold else None

    def _score(self, rounds: slice) -> None:
        self.ensemble.add_to(self._scores, self.board.codes, rounds)
