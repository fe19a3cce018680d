"""A budget on features inside the reservoir loop: a policy of adaptive sampling finds each round's stump.

The reservoir decides which samples are held (Lefakis & Fleuret 2013), the policy which features of them are looked at
(Dubout & Fleuret 2014).
"""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.losses import LOSSES
from boostrun.methods.stump import Stump, find_stump
from boostrun.papers.adaptive.adaboost_mh import policy_class
from boostrun.papers.adaptive.board import ACCOUNTS, CHARGED, Board
from boostrun.papers.reservoir.boosting import ReservoirBoosting
from boostrun.papers.reservoir.loop import Reservoir


class BudgetedReservoir(Reservoir):
    """A :class:`boostrun.papers.reservoir.loop.Reservoir` whose rounds evaluate at most ``budget`` (feature, sample)
    pairs.

    ``policy`` chooses a feature on the samples that stay, as if they were the training set; its threshold is then the
    best one on all of them. Samples are uint8 codes. ``families`` are (name, start, stop), or None for one of all.
    """

    def __init__(self, draws, r: int, q: int, loss, policy, budget: int, families, rng: np.random.Generator):
        super().__init__(draws, r, q, loss)
        self.policy = policy
        columns = np.ascontiguousarray(self.samples[:r].T)
        self.board = Board(columns, families or [("all", 0, len(columns))], budget, "weight", rng)
        if hasattr(policy, "start"):
            policy.start(self.board)

    def _find_stump(self, kept: np.ndarray, signed_weights: np.ndarray, search: str) -> Stump:
        total = np.abs(signed_weights).sum() or 1.0
        self.board.codes = np.ascontiguousarray(self.samples[kept].T)
        self.board.begin_step((signed_weights / total).astype(np.float32)[:, None])
        feature = self.policy.choose(self.board)
        self.board.charge("refit", self.r)
        stump, edge = find_stump(np.ascontiguousarray(self.samples[:, [feature]]), signed_weights, kept)
        if hasattr(self.policy, "learn"):
            self.policy.learn(min(edge / total, 1.0 - 1e-6))
        return stump._replace(feature=feature)


class BudgetedBoosting(ReservoirBoosting):
    """Reservoir boosting within a budget of evaluations; parameters are those of ReservoirBoosting and three more.

    ``policy`` is the name of a policy of :mod:`boostrun.papers.adaptive`, ``Q`` the features a round of those that have
    a Q (laminating sets its own); a round may evaluate ``budget_multiplier`` times r pairs. ``families``, a list of
    (name, start, stop), may be set before training. ``ledger_`` counts the evaluations of each round by account over
    all binary problems, ``evaluations_`` those charged.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.random.default_rng(0).integers(0, 256, (200, 30)).astype(np.uint8)
    >>> source = ArraySource(samples, samples[:, 3] >= 90, seed=0)
    >>> model = BudgetedBoosting("wsam", policy="uniform_naive", Q=5, reservoir_size=20, n_estimators=5, random_state=0)
    >>> model.fit_source(source).evaluations_, model.samples_drawn_
    (500, 140)
    """

    families = None

    def __init__(self, strategy="geem", *, policy="uniform_naive", Q=10, budget_multiplier=10.0, **parameters):
        super().__init__(strategy, **parameters)
        self.policy, self.Q, self.budget_multiplier = policy, Q, budget_multiplier

    def _reservoir(self, draws, r: int, q: int):
        cls = policy_class(self.policy)
        its_q = cls.__dataclass_fields__.get("Q")  # type: ignore[attr-defined]
        policy = cls(Q=self.Q) if its_q is not None and its_q.default is not None else cls()
        rng = np.random.default_rng(np.random.SeedSequence([self._entropy(), len(self._problems)]))
        budget = int(self.budget_multiplier * r)
        return BudgetedReservoir(draws, r, q, LOSSES[self.loss], policy, budget, self.families, rng)

    def _finish(self) -> None:
        ledgers = [reservoir.board.ledger for reservoir, *_ in self._problems]
        self.ledger_ = {
            account: np.sum([[step[account] for step in ledger] for ledger in ledgers], axis=0) for account in ACCOUNTS
        }
        self.evaluations_ = int(sum(self.ledger_[account].sum() for account in CHARGED))
        super()._finish()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        policy_class(self.policy)
        if self.shared or self.stump_search == "exact":
            raise BoostrunError("a budget of features needs a reservoir for each class and stump_search='histogram'")
        if not 0 < self.budget_multiplier < np.inf:
            raise BoostrunError(f"budget_multiplier={self.budget_multiplier!r}: a finite number above 0 is needed")
