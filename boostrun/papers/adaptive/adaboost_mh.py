"""Discrete AdaBoost.MH with vote-vector stumps; a policy chooses the feature of each step (Dubout & Fleuret 2014).

Free of scikit-learn; the estimator for arrays is :class:`boostrun.papers.adaptive.classifier.AdaBoostMHClassifier`.
"""

from __future__ import annotations

import copy
import importlib
import math
import time

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.kernels import votes as kernels
from boostrun.kernels.lanes import LANES, zeros
from boostrun.methods import one_vs_all, parameters
from boostrun.methods.binning import Binner
from boostrun.methods.vote_ensemble import VoteEnsemble
from boostrun.papers.adaptive.board import ACCOUNTS, CHARGED, Board, search

# name -> (module, class); a module is imported only when its policy is used
POLICIES = {
    "uniform_naive": ("uniform", "UniformNaive"),
    "uniform_1q": ("uniform", "Uniform1Q"),
    "uniform_q1": ("uniform", "UniformQ1"),
    "best_family": ("best_family", "BestFamily"),
    "ucb": ("ucb", "UCB"),
    "exp3p": ("exp3p", "Exp3P"),
    "eps_greedy": ("eps_greedy", "EpsGreedy"),
    "tasting_1q": ("tasting_1q", "Tasting1Q"),
    "tasting_q1": ("tasting_q1", "TastingQ1"),
    "mas_naive": ("mas_naive", "MASNaive"),
    "mas_1q": ("mas_1q", "MAS1Q"),
    "mas_q1": ("mas_q1", "MASQ1"),
    "laminating": ("laminating", "Laminating"),
    "tasting_laminating": ("tasting_laminating", "TastingLaminating"),
    "tasting_ucb": ("tasting_ucb", "TastingUCB"),
    "fixed_sample": ("fixed_sample", "FixedSample"),
}
_RENEW = 100  # steps after which single-precision weights are computed anew from double-precision scores
_BINNING_SAMPLES = 10_000
_LEAST_EDGE = 1e-6


def policy_class(name: str) -> type:
    """The class of a policy; raises BoostrunError for a name that is none.

    >>> policy_class("laminating")(Q=64)
    Laminating(Q=64)
    """
    if name not in POLICIES:
        raise BoostrunError(f"policy={name!r} is none of {', '.join(POLICIES)}{did_you_mean(name, POLICIES)}")
    module, cls = POLICIES[name]
    return getattr(importlib.import_module(f".policies.{module}", __package__), cls)


class AdaBoostMH:
    """AdaBoost.MH from a source of resident samples; see the classifier for parameters and attributes.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] // 50, seed=0)
    >>> model = AdaBoostMH("uniform_naive", n_estimators=20, random_state=0).fit_source(source)
    >>> bool(model.staged_log10_loss_[-1] < -0.5), int(model.ledger_["selection"][0])
    (True, 200)
    """

    def __init__(
        self, policy="laminating", *, n_estimators=1000, budget_multiplier=10.0, sampling="weight", init="uniform",
        families=None, max_bins=256, edge_gaps=False, warm_start=False, random_state=None,
    ):  # fmt: skip
        self.policy = policy
        self.n_estimators = n_estimators
        self.budget_multiplier = budget_multiplier
        self.sampling = sampling
        self.init = init
        self.families = families
        self.max_bins = max_bins
        self.edge_gaps = edge_gaps
        self.warm_start = warm_start
        self.random_state = random_state

    def fit_source(self, source):
        """Train on ``source.columns`` (d, n) or ``source.samples`` (n, d), ``source.labels`` (n,), and
        ``source.families`` [(name, start, stop)] where it has them and none are given as a parameter.
        """
        self.n_features_in_ = source.n_features
        return self._fit(source, np.random.default_rng(np.random.SeedSequence(self._entropy())))

    def _entropy(self) -> int:
        """The whole number that all randomness follows from."""
        return int(self.random_state)

    def _fit(self, source, rng: np.random.Generator):
        self._check_parameters()
        if not (self.warm_start and getattr(self, "_course", None)):
            self.classes_ = source.class_labels()
            self._course = self._begin(source, rng)
        elif self.n_estimators < self._course.ensemble.n_rounds:
            raise BoostrunError(
                f"n_estimators={self.n_estimators}: warm_start cannot take back {self._course.ensemble.n_rounds} rounds"
            )
        else:
            self._check_same_samples(source)
        course = self._course
        with threadpool_limits(1, user_api="blas"):
            course.boost(self.n_estimators - course.ensemble.n_rounds)
        self.ensemble_ = course.ensemble if self._binner is None else course.ensemble.in_units_of(self._binner)
        self.staged_log10_loss_ = np.array(course.loss)
        self.staged_train_seconds_ = np.array(course.seconds)
        if self.edge_gaps:
            self.staged_edge_gap_ = np.array(course.gaps)
        self.ledger_ = {account: np.array([step[account] for step in course.board.ledger]) for account in ACCOUNTS}
        self.evaluations_ = int(sum(self.ledger_[account].sum() for account in CHARGED))
        if not self.warm_start:
            del self._course, self._binner
        return self

    def _begin(self, source, rng: np.random.Generator) -> Course:
        codes, samples, self._binner = self._codes(source, rng)
        labels = one_column_a_class(np.asarray(source.labels), self.classes_)
        board, policy = self.set_up(codes, getattr(source, "families", None), rng, samples)
        return Course(board, policy, labels, self.init, self.edge_gaps)

    def _check_same_samples(self, source) -> None:
        """Going on needs the samples that training began with; their labels and number are looked at."""
        unseen = np.setdiff1d(source.class_labels(), self.classes_)
        if len(unseen):
            raise BoostrunError(f"warm_start: the class {unseen[0]!r} was not there when training began")
        known = self._course.labels
        labels = one_column_a_class(np.asarray(source.labels), self.classes_)
        if source.n_features != self._course.board.n_features or not np.array_equal(labels, known):
            raise BoostrunError(
                f"warm_start goes on with the {len(known)} samples of {self._course.board.n_features} features that "
                "training began with; these are others"
            )

    def _codes(self, source, rng: np.random.Generator):
        """Feature-major codes (d, n), the same sample-major, and the binner where values were not codes already."""
        columns = getattr(source, "columns", None)
        if columns is not None and columns.dtype == np.uint8:
            return columns, source.samples, None
        samples, binner = source.samples, None
        if samples.dtype != np.uint8:
            some = np.sort(rng.permutation(len(samples))[:_BINNING_SAMPLES])
            binner = Binner(samples[some], self.max_bins)
            samples = binner.encode(samples)
        return np.ascontiguousarray(samples.T), samples, binner

    def set_up(self, codes: np.ndarray, families, rng: np.random.Generator, samples: np.ndarray | None = None):
        """The board of ``codes`` (d, n) uint8, and the same as ``samples`` (n, d), and a policy started on it.

        Raises BoostrunError for families or a budget with which the policy cannot start.
        """
        families = self.families if self.families is not None else families or [("all", 0, len(codes))]
        board = Board(codes, families, int(self.budget_multiplier * codes.shape[1]), self.sampling, rng, samples)
        policy = self._own_policy()
        if hasattr(policy, "start"):
            policy.start(board)
        return board, policy

    def _own_policy(self):
        """A policy for one run: runs change it, so that the parameter is copied."""
        return policy_class(self.policy)() if isinstance(self.policy, str) else copy.deepcopy(self.policy)

    def _check_parameters(self) -> None:
        if isinstance(self.policy, str):
            policy_class(self.policy)
        elif isinstance(self.policy, type) or not hasattr(self.policy, "choose"):
            raise BoostrunError(
                f"policy={self.policy!r}: a name ({', '.join(POLICIES)}) or a policy object, as in "
                "Laminating(Q=64), is needed"
            )
        parameters.choice(self, "sampling", ("weight", "uniform"))
        parameters.choice(self, "init", ("uniform", "balanced"))
        parameters.whole(self, "n_estimators")
        parameters.bins(self)
        if not 0 < self.budget_multiplier < np.inf:
            raise BoostrunError(f"budget_multiplier={self.budget_multiplier!r}: a finite number above 0 is needed")


class Course:
    """A run of AdaBoost.MH that can be gone on with: the loop of section 1.

    Parameters: ``board`` and ``policy``; ``labels`` (n, K) of -1.0 and +1.0; ``init`` of the weights; ``look`` at all
    features too, to measure gaps.
    Attributes: ``ensemble``, and by the end of each step ``loss`` (log10 of it) and ``seconds``; ``gaps`` where asked.
    """

    def __init__(self, board: Board, policy, labels: np.ndarray, init: str, look: bool = False):
        self.board, self.policy, self.labels, self.init = board, policy, labels, init
        self.ensemble = VoteEnsemble.empty(labels.shape[1])
        self.loss: list[float] = []
        self.seconds: list[float] = []
        self.gaps: list[float] | None = [] if look else None
        self._scores = np.zeros(labels.shape)
        self._renew(0)

    def boost(self, rounds: int) -> None:
        """Add ``rounds`` stumps."""
        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        first = self.ensemble.n_rounds
        self.ensemble = self.ensemble.extended(VoteEnsemble.empty(self.labels.shape[1], rounds))
        for t in range(first, first + rounds):
            if t % _RENEW == 0:
                self._renew(t)
            self.board.begin_step(self._signed)
            feature = self.policy.choose(self.board)
            if self.gaps is not None:
                self.gaps.append(self._gap(feature))
            edge = self._add(t, feature)
            if hasattr(self.policy, "learn"):
                self.policy.learn(edge)
            self.seconds.append(time.perf_counter() - begun)

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
        edge = min(edge / self._total, 1.0 - _LEAST_EDGE)  # type: ignore[has-type]
        ensemble.features[t], ensemble.thresholds[t] = feature, threshold if threshold else -np.inf
        loss = self.loss[-1] if self.loss else 0.0
        if edge >= _LEAST_EDGE:
            ensemble.votes[t] = votes[: self.labels.shape[1]]
            ensemble.alphas[t] = 0.5 * math.log((1.0 + edge) / (1.0 - edge))
            self._total = kernels.reweigh(column, threshold, votes, edge, self._signed)
            loss += 0.5 * math.log10((1.0 - edge) * (1.0 + edge))  # log10 of Z = sqrt(1 - e^2)
        self.loss.append(loss)
        board.charge("update", board.n)
        return edge

    def _renew(self, t: int) -> None:
        """Weights from double-precision scores: in single precision they would drift."""
        part = slice(max(0, t - _RENEW), t)
        ensemble = self.ensemble
        steps = ensemble.alphas[part, None] * ensemble.votes[part]
        kernels.add_votes(self.board.codes, ensemble.features[part], ensemble.thresholds[part], steps, self._scores)
        self._signed, self._total = signed_weights(self.labels, self._scores, self.init), 1.0


def one_column_a_class(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """y_il of -1.0 and +1.0, (n, K): one column a class, a single one, of the second class, for two."""
    return np.where(labels[:, None] == np.array(one_vs_all.problems(classes)), 1.0, -1.0)


def signed_weights(labels: np.ndarray, scores: np.ndarray, init: str) -> np.ndarray:
    """y_il w_il (n, c) float32 with w_il proportional to exp(-y_il F_l(x_i)), summing to 1, in rows of one or 16 k.

    ``init="balanced"`` gives the true and the false classes half of the mass each before boosting. Cost O(n K).
    """
    n, classes = labels.shape
    weights = np.exp(-labels * scores)
    if init == "balanced":
        true = labels > 0
        weights[true] *= 0.5 / true.sum()
        weights[~true] *= 0.5 / (~true).sum()
    weights /= weights.sum()
    lanes = 1 if classes == 1 else -(-classes // LANES) * LANES
    out = zeros(n, lanes)
    out[:, :classes] = labels * weights
    return out
