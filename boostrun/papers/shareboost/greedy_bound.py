"""What theorems allow ShareBoost beside what it needs (Shalev-Shwartz et al. 2011, Theorem 2 and Corollary 1).

With features in [-1, 1] and B = ||W||_{inf,1} the theorem says L(W_t) <= L(W) + 4 B^2 / t after every round t, against
every W at once. How much of that is used by the W that uses most is found on the path of the mixed norm: of all W with
the same B its points have the least loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.inner import mixed_norm
from boostrun.papers.shareboost.keys import MixedNormKeys
from boostrun.papers.shareboost.mixed_norm import PathSolver
from boostrun.papers.shareboost.pool import DensePool

CONSTANT = 4.0  # of the theorem
SETS, ROUNDS = 20, 40
_SAMPLES = 300
_EXACT: dict[str, Any] = {"inner_rtol": 1e-5, "inner_maxiter": 3000}
_LAMBDAS = np.geomspace(0.95, 0.003, 16)  # times the largest, the score of the first round


class Problem(NamedTuple):
    """``x`` (n, d) in [-1, 1], ``y`` (n,) codes of k classes, the ``truth`` (d, k) with r columns that made them."""

    x: np.ndarray
    y: np.ndarray
    truth: np.ndarray


class Measured(NamedTuple):
    """One problem: losses after each round (T,), the loss of the columns that decide, fitted, and their B, the largest
    share of the allowance used by them and by any W, rounds to twice their loss (T + 1: not reached) and those allowed.
    """

    losses: np.ndarray
    competitor: float
    size: float
    share: float
    share_of_any: float
    rounds: int
    allowed: float


def problem(seed: int) -> Problem:
    """A synthetic set: 20 to 120 features, 2 to 8 classes, 2 to 6 columns of +-1 that decide, a tenth of labels random.

    Every second set has features in groups that resemble each other.
    """
    rng = np.random.default_rng([7, seed])
    d, k, r = int(rng.integers(20, 121)), int(rng.integers(2, 9)), int(rng.integers(2, 7))
    x = rng.uniform(-1.0, 1.0, (_SAMPLES, d))
    if seed % 2:
        x = 0.5 * x + 0.5 * np.repeat(rng.uniform(-1.0, 1.0, (_SAMPLES, -(-d // 4))), 4, axis=1)[:, :d]
    truth = np.zeros((d, k))
    truth[rng.choice(d, r, replace=False)] = rng.choice((-1.0, 1.0), (r, k))
    y = (x @ truth).argmax(axis=1)
    y = np.where(rng.random(_SAMPLES) < 0.1, rng.integers(0, k, _SAMPLES), y)
    return Problem(x, y, truth)


def measured(one: Problem, rounds: int = ROUNDS) -> Measured:
    """ShareBoost, its inner problems solved to 1e-5 of a score, the columns that decide, and the mixed norm's path."""
    k = one.truth.shape[1]
    model = ShareBoostClassifier(rounds, **_EXACT).fit_pool(DensePool(one.x), one.y)
    losses = np.asarray(model.train_loss_)
    deciding = one.x[:, one.truth.any(axis=1)]
    fitted = ShareBoostClassifier(deciding.shape[1], **_EXACT).fit_pool(DensePool(deciding), one.y)
    competitor, size = float(fitted.train_loss_[-1]), mixed_norm(fitted.path_[-1])
    solver = PathSolver(MixedNormKeys(gap=1e-6), DensePool(one.x), one.y, k)
    path = [solver.solve(lam) for lam in _LAMBDAS * float(model.scores_[0])]
    rivals = [(point.loss, mixed_norm(point.weights)) for point in path if len(point.candidates)]
    below = np.flatnonzero(losses <= 2.0 * competitor)
    return Measured(
        losses, competitor, size, _share(losses, competitor, size),
        max(_share(losses, *rival) for rival in [*rivals, (competitor, size)]),
        int(below[0]) + 1 if len(below) else rounds + 1, CONSTANT * size**2 / competitor,
    )  # fmt: skip


def all_measured() -> Iterator[tuple[Problem, Measured]]:
    """Every problem with what was measured on it, about a second each."""
    for seed in range(SETS):
        one = problem(seed)
        yield one, measured(one)


def _share(losses: np.ndarray, competitor: float, size: float) -> float:
    """The largest share of 4 B^2 / t that L(W_t) lies above a competitor's loss."""
    rounds = np.arange(1, len(losses) + 1)
    return float(np.max((losses - competitor) * rounds / (CONSTANT * size**2)))
