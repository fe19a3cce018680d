"""A budget on features inside the reservoir loop: a policy of adaptive sampling finds each round's stump.

The reservoir decides which samples are held (Lefakis & Fleuret 2013), the policy which features of them are looked at
(Dubout & Fleuret 2014).
"""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.evaluation.staged import Staged
from boostrun.methods.stumps import Stump, StumpLearner, find_stump
from boostrun.methods.weak_learner import LOSSES, WeakLearner
from boostrun.papers.adaptive.adaboost_mh import ACCOUNTS, CHARGED, Board
from boostrun.papers.adaptive.classifier import evaluations
from boostrun.papers.reservoir.classifier import Reservoir, ReservoirClassifier
from boostrun.papers.reservoir.keys import BudgetedReservoirKeys, SplitReservoirKeys


class BudgetedReservoir(Reservoir):
    """A :class:`Reservoir` whose rounds evaluate at most ``budget`` (feature, sample) pairs.

    ``policy`` chooses a feature on the samples that stay, as if they were the training set; its threshold is then the
    best one on all of them. Samples are uint8 codes. ``families`` are (name, start, stop), or None for one of all.
    """

    def __init__(
        self, draws, r: int, q: int, loss, learner: WeakLearner, policy, budget: int, families,
        rng: np.random.Generator,
    ):  # fmt: skip
        super().__init__(draws, r, q, loss, learner)
        self.policy = policy
        columns = np.ascontiguousarray(self.samples[:r].T)
        self.board = Board(columns, families or [("all", 0, len(columns))], budget, "weight", rng)
        if hasattr(policy, "start"):
            policy.start(self.board)

    def _find(self, kept: np.ndarray, signed_weights: np.ndarray) -> Stump:
        total = np.abs(signed_weights).sum() or 1.0
        self.board.codes = np.ascontiguousarray(self.samples[kept].T)
        self.board.begin_step((signed_weights / total).astype(np.float32)[:, None])
        feature = self.policy.choose(self.board)
        self.board.charge("refit", self.r)
        stump, edge = find_stump(np.ascontiguousarray(self.samples[:, [feature]]), signed_weights, kept)
        if hasattr(self.policy, "learn"):
            self.policy.learn(min(edge / total, 1.0 - 1e-6))
        return stump._replace(feature=feature)


class BudgetedReservoirClassifier(BudgetedReservoirKeys, ReservoirClassifier):
    """Reservoir boosting of stumps within a budget of evaluations.

    Parameters
    ----------
    {parameters}
    families : list of (name, start, stop) or None
        Feature families for policies; by default those of the source.
    max_bins : int from 2 to 256
    warm_start : bool, see :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`.
    random_state : int, RandomState or None

    Attributes
    ----------
    ledger_ : dict of (T,) arrays, evaluations of each round by account, over all binary problems.
    evaluations_ : int, those charged.

    The others are those of ReservoirClassifier.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.random.default_rng(0).integers(0, 256, (200, 30)).astype(np.uint8)
    >>> source = ArraySource(samples, samples[:, 3] >= 90, seed=0)
    >>> model = BudgetedReservoirClassifier("wsam", Q=5, reservoir_size=20, n_estimators=5, random_state=0)
    >>> model.fit_source(source).evaluations_, model.samples_drawn_
    (500, 140)
    """

    def _begin(self, source, entropy: int):
        self._known = self.families if self.families is not None else getattr(source, "families", None)
        if not self._known and getattr(self._own_policy(), "needs_families", False):
            name = self.policy if isinstance(self.policy, str) else type(self.policy).__name__
            raise BoostrunError(
                f"policy {name} chooses among families of features: give families=[(name, start, "
                "stop), ...]"
            )
        return super()._begin(source, entropy)

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        rng = np.random.default_rng(np.random.SeedSequence(numbers))
        budget = int(self.budget_multiplier * r)
        return BudgetedReservoir(
            draws, r, q, LOSSES[self.loss], self._learner, self._own_policy(), budget, self._known, rng
        )

    def _own_policy(self) -> Any:
        """A policy for one problem: a copy of an object, or one by name, with our Q where its own has a default."""
        if not isinstance(self.policy, str):
            return copy.deepcopy(self.policy)
        found = catalogue.part("policies", self.policy)
        own = dataclasses.fields(found) if dataclasses.is_dataclass(found) else ()
        takes_q = any(field.name == "Q" and field.default is not None for field in own)
        return found(Q=self.Q) if takes_q else found()

    def _finish(self) -> None:
        ledgers = [reservoir.board.ledger for reservoir, *_ in self._problems]
        self.ledger_ = {
            account: np.sum([[step[account] for step in ledger] for ledger in ledgers], axis=0) for account in ACCOUNTS
        }
        self.evaluations_ = int(sum(self.ledger_[account].sum() for account in CHARGED))
        super()._finish()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._own_policy()
        if self.shared or self.stump_search == "exact":
            raise BoostrunError("a budget of features needs a reservoir for each class and stump_search='histogram'")
        if not isinstance(self._own_learner(), StumpLearner):
            raise BoostrunError("a budget of features is one for stumps: weak_learner='stump' is needed")


class BudgetedStaged(Staged):
    """As :class:`boostrun.evaluation.staged.Staged`, with the evaluations in cost and curve."""

    def curve(self, model: Any, data: Any, marks: Sequence[int]) -> dict[str, Any]:
        """Evaluations charged, and all that found stumps, by the end of each number of rounds."""
        charged, all_ = evaluations(model.ledger_)
        return {
            "evaluations": [int(charged[t - 1]) for t in marks],
            "all_evaluations": [int(all_[t - 1]) for t in marks],
        }

    def extra(self, model: Any, data: Any, curve: dict[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
        """Evaluations by account, over all rounds."""
        cost: dict[str, Any] = {f"evaluations_{account}": int(spent.sum()) for account, spent in model.ledger_.items()}
        return {}, cost | {"evaluations": model.evaluations_}


class SplitReservoirClassifier(SplitReservoirKeys, ReservoirClassifier):
    """``parts`` learners, each with its own reservoir of r samples and its own part of the data.

    The parts are disjoint, of equal size and drawn at random; the learners never meet before their scores are averaged,
    so that each could run on a machine of its own: here they run one after the other. The ensemble has ``parts`` times
    T weak learners a class, whose round t holds the t-th of every learner, and ``staged_train_seconds_`` are those of
    the slowest learner. Every part needs samples of every class: there are no more parts than samples of the rarest
    class, which a warning says. Other attributes are those of
    :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256
    warm_start : bool, of no effect.
    random_state : int, RandomState or None

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] >= 90, seed=0)
    >>> model = SplitReservoirClassifier("wsam", parts=2, reservoir_size=20, n_estimators=5, random_state=0)
    >>> model.fit_source(source).ensemble_.n_rounds, model.peak_samples_held_, model.samples_drawn_
    (10, 40, 280)
    """

    def _fit(self, source, entropy: int):
        """Train on a source that can be divided, see :meth:`boostrun.data.source.ArraySource.split`."""
        self._check_parameters()
        if not callable(getattr(source, "split", None)):
            raise BoostrunError(f"a {type(source).__name__} cannot be split among workers")
        self.classes_, counts = np.unique(source.labels, return_counts=True)
        parts = min(self.parts, int(counts.min()))
        if parts < self.parts:
            warnings.warn(
                f"parts={self.parts}, but the rarest class has {parts} samples: the data are split into {parts}",
                UserWarning,
                stacklevel=3,
            )
        seeds = np.random.SeedSequence(entropy).spawn(parts)
        workers = []
        for part, seed in zip(source.split(parts), seeds):
            parameters = {name: getattr(self, name) for name in ReservoirClassifier._get_param_names()}
            parameters |= {"random_state": int(seed.generate_state(1)[0]), "warm_start": False}
            workers.append(ReservoirClassifier(**parameters).fit_source(part))
        ensembles = [worker.ensemble_ for worker in workers]
        self.ensemble_ = type(ensembles[0]).average(ensembles)
        rounds = np.repeat(np.arange(self.n_estimators), parts)
        self.staged_samples_drawn_ = np.sum([worker.staged_samples_drawn_ for worker in workers], axis=0)[rounds]
        self.staged_train_seconds_ = np.max([worker.staged_train_seconds_ for worker in workers], axis=0)[rounds]
        self.samples_drawn_per_problem_ = [n for worker in workers for n in worker.samples_drawn_per_problem_]
        self.samples_drawn_ = sum(worker.samples_drawn_ for worker in workers)
        self.peak_samples_held_ = max(worker.peak_samples_held_ for worker in workers)
        self.covariance_restarts_ = sum(worker.covariance_restarts_ for worker in workers)
        return self
