"""What a policy may look at in one step, and the ledger that counts it (Dubout & Fleuret 2014, sections 2 and 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import BoostrunError
from ..kernels import votes as kernels

ACCOUNTS = ("selection", "pilot", "tasting", "refit", "update")
CHARGED = ("selection", "pilot")


class Sample(NamedTuple):
    """Samples drawn by weight: ``rows`` (S,) int64 ascending, and their signed class vectors (S, c) float32."""

    rows: np.ndarray
    signed: np.ndarray

    @property
    def size(self) -> int:
        """S."""
        return len(self.rows)


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


class Board:
    """The training set as a policy sees it: features by family, edges for a price.

    Parameters
    ----------
    codes : (d, n) uint8, feature-major.
    families : list of (name, start, stop), which features belong together.
    budget : int, C: evaluated (feature, sample) pairs a step that may be charged.
    sampling : "weight" or "uniform", how :meth:`sample` draws.
    rng : Generator of the policy.

    ``signed`` (n, c) float32, the signed weights, is set by the booster. Evaluations of a step are charged to accounts;
    ``ledger`` is a list of one dict a step. The charged ones, selection and pilot, may not exceed the budget: asking
    for more raises BoostrunError, whatever policy asks, and so do families without features or beyond them.
    """

    def __init__(self, codes, families, budget: int, sampling: str, rng: np.random.Generator):
        self.codes, self.families, self.budget, self.sampling, self.rng = codes, families, budget, sampling, rng
        self.n_features, self.n = codes.shape
        check_families(families, self.n_features)
        self.ledger: list[dict[str, int]] = []
        self.signed: np.ndarray | None = None
        self._running = np.empty(self.n)  # running sums of the samples' weights, made when a step first draws
        self._current = False

    def begin_step(self, signed: np.ndarray) -> None:
        """A new step with these signed weights (n, c)."""
        self.signed, self._current = signed, False
        self.ledger.append(dict.fromkeys(ACCOUNTS, 0))

    @property
    def left(self) -> int:
        """What of the budget this step has not spent."""
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
        """``q`` features drawn uniformly without replacement, of all or of one family; all of them when fewer.

        Cost O(q) for small shares of the features, O(their number) otherwise.
        """
        start, stop = (0, self.n_features) if family is None else self.families[family][1:]
        size = stop - start
        if q >= size:
            return np.arange(start, stop)
        return start + self.rng.choice(size, q, replace=False, shuffle=False)

    def edges(
        self, features: np.ndarray, account: str = "selection", codes: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Exact edges (Q,) of the best stumps on ``features`` (Q,), over all samples, and their thresholds (Q,).

        ``features`` are rows of ``codes`` (R, n) uint8 where a policy has copied some for itself.
        """
        self.charge(account, len(features) * self.n)
        edges, thresholds = np.empty(len(features)), np.empty(len(features), np.int64)
        kernels.best_votes(self.codes if codes is None else codes, features, self.signed, edges, thresholds)
        return edges, thresholds

    def sample(self, size: int) -> Sample:
        """``size`` samples drawn with replacement in proportion to w_i = sum_l w_il, or all when they are not fewer.

        Each draw carries u_l = y_il w_il / (m_i S), so that the edge of a fixed stump is estimated without bias.
        With ``sampling="uniform"`` draws are uniform and carry their weights times n / S. Cost O(n c) once a step,
        then O(min(n, S log n) + S c).
        """
        if size >= self.n:
            return Sample(np.arange(self.n), self.signed)
        if self.sampling == "uniform":
            rows = np.sort(self.rng.integers(self.n, size=size))
            return Sample(rows, self.signed[rows] * np.float32(self.n / size))
        if not self._current:
            kernels.marginals_of(self.signed, self._running)
            self._current = True
        rows, signed = np.empty(size, np.int64), np.empty((size, self.signed.shape[1]), np.float32)
        kernels.sample_by_weight(self.signed, self._running, self.rng.standard_exponential(size + 1), rows, signed)
        return Sample(rows, signed)

    def sampled_edges(self, features: np.ndarray, sample: Sample, account: str = "selection") -> np.ndarray:
        """Estimated edges (Q,) of the best stumps on ``features`` (Q,), from a sample."""
        self.charge(account, len(features) * sample.size)
        edges, thresholds = np.empty(len(features)), np.empty(len(features), np.int64)
        kernels.best_votes_on_sample(self.codes, features, sample.rows, sample.signed, edges, thresholds)
        return edges
