"""GEEM, greedy edge expectation maximisation (Lefakis & Fleuret 2013, section 4).

Seen over random stumps, the products H o y of a batch are Gaussian with covariance Sigma. Keeping B and dropping B'
leaves the expected edge E(B) = <h*, w_B> + <Sigma_B'B Sigma_BB^-1 h*, w_B'>; the weights that drop out live on in
the corrected weights w~_B = w_B + w_B'^T Sigma_B'B Sigma_BB^-1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.kernels import geem as kernels
from boostrun.papers.reservoir.kernels.distance import RUN
from boostrun.papers.reservoir.kernels.inverse import inversion_of
from boostrun.papers.reservoir.keys import GeemKeys, GeemLatticeKeys
from boostrun.papers.reservoir.strategies import Batch, Strategy
from boostrun.papers.reservoir.swaps import swap

_FIRST_RAISE = 1e-10  # of the mean diagonal, added when Sigma turns out not to be positive definite
_RELATIVE_FLOOR = 1e-13  # pivots below this share of the mean diagonal of Sigma^-1 mean that it is not invertible


class Selection(NamedTuple):
    """What elimination found: ``kept`` ascending, their corrected ``weights``, the ``order`` of discarding, the
    ``target`` h* o y it ended with, how often the diagonal was raised, and by how much.
    """

    kept: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    target: np.ndarray
    restarts: int
    raised: float


def covariance(codes: np.ndarray, y: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """Covariance over all stumps of the products h(x_i) y_i, by dense ranks.

    Sigma_ij = y_i y_j sum_d (2 m_d - 4 |I_i^d - I_j^d|), with I^d the dense ranks along dimension d and m_d the number
    of distinct values there less one; ``ridge * sum_d m_d`` is added on the diagonal.

    Parameters
    ----------
    codes : (n, d) array of any ordered dtype; uint8 codes take the fast path.
    y : (n,) labels -1 and +1.
    ridge : non-negative float.

    Returns (n, n) float64. Cost O(n^2 d). Raises BoostrunError when shapes or labels do not fit.

    >>> covariance(np.array([[0], [1], [2]], dtype=np.uint8), np.array([1, 1, -1]))
    array([[ 4.,  0.,  4.],
           [ 0.,  4., -0.],
           [ 4., -0.,  4.]])
    """
    codes, y = np.asarray(codes), np.asarray(y, np.float64)
    if codes.ndim != 2 or y.shape != codes.shape[:1]:
        raise BoostrunError(f"codes must be (n, d) and y (n,), not {codes.shape} and {y.shape}")
    if not np.isin(y, (-1.0, 1.0)).all():
        raise BoostrunError("y must hold -1 and +1 only")
    if not ridge >= 0.0:
        raise BoostrunError(f"ridge={ridge}: a number of at least 0 is needed")
    sigma = np.empty((len(y), len(y)))
    _Ranks(codes, y, np.arange(codes.shape[1])).covariance(ridge, sigma)
    kernels.fill_lower(sigma)
    return sigma


def select(covariance: np.ndarray, weights: np.ndarray, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Discard the q samples whose loss lowers the expected edge least, one by one.

    Parameters
    ----------
    covariance : (n, n) symmetric positive definite array, see :func:`covariance`; a ridge makes it so.
    weights : (n,) float64 loss weights.
    q : how many to discard, 0 <= q < n.

    Returns ``(kept, corrected)``: the n - q kept indices, ascending, and their corrected weights
    w~ = w_B + w_B'^T Sigma_B'B Sigma_BB^-1. Cost n^3 operations for the inverse and about q^2 n for the elimination.
    Raises BoostrunError when shapes do not fit or entries are not finite.

    >>> sigma = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
    >>> kept, corrected = select(sigma, np.array([1.0, 0.2, 0.4]), q=1)
    >>> kept.tolist(), corrected.tolist()
    ([0, 2], [1.1, 0.4])
    """
    sigma, weights = np.asarray(covariance, np.float64), np.asarray(weights, np.float64)
    if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1] or weights.shape != sigma.shape[:1]:
        raise BoostrunError(f"covariance must be (n, n) and weights (n,), not {sigma.shape} and {weights.shape}")
    if not 0 <= q < len(weights):
        raise BoostrunError(f"q={q}: of {len(weights)} samples at least one must be kept and none can be added")
    if not (np.isfinite(sigma).all() and np.isfinite(weights).all()):
        raise BoostrunError("covariance and weights must be finite")

    def fill(raised: float, out: np.ndarray) -> None:
        np.copyto(out, sigma)
        out[np.diag_indices_from(out)] += raised

    return _Elimination(len(weights), q)(fill, weights)[:2]


class Geem(GeemKeys, Strategy):
    """Keep the r samples that hold the largest expected edge; the rule h* o y = (1, ..., 1).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    restarts : int, how often the ridge had to be raised.
    swaps : int, kept samples exchanged.
    """

    swaps = 0
    _memory: _Elimination | None = None

    def __call__(self, batch: Batch, r: int, rng: np.random.Generator):
        memory, fill = self._prepare(batch, batch.labels, r, rng)
        selection = memory(fill, batch.weights, lambda factor: self._targets(factor, rng))
        self.restarts += selection.restarts
        if self.swap_rounds:
            sigma = np.empty((len(batch.samples),) * 2)
            fill(selection.raised, sigma)
            kernels.fill_lower(sigma)
            kept, weights, made = swap(sigma, batch.weights, selection.target, selection.kept, self.swap_rounds)
            self.swaps += made
            return kept, weights
        return selection.kept, selection.weights

    def for_all_classes(self, batch: Batch, r: int, rng: np.random.Generator):
        """As a call, for ``batch.labels`` and ``batch.weights`` (n, c) of c binary problems: one choice for all."""
        memory, fill = self._prepare(batch, np.ones(len(batch.samples)), r, rng)
        labels = np.ascontiguousarray(batch.labels.T)
        selection = memory(fill, labels * batch.weights.T, lambda factor: labels)
        self.restarts += selection.restarts
        return selection.kept, selection.weights.T * batch.labels[selection.kept]

    def check(self, shared: bool) -> None:
        fields.check(self)
        if shared and self.swap_rounds:
            raise BoostrunError("swap_rounds has no form for a reservoir shared by all classes")

    def _prepare(self, batch: Batch, labels: np.ndarray, r: int, rng: np.random.Generator):
        n, d = batch.samples.shape
        ranks = _Ranks(batch.samples, labels, self._dimensions(n, d, rng))
        if self._memory is None or self._memory.columns.shape != (n - r, n):
            self._memory = _Elimination(n, n - r)
        return self._memory, lambda raised, out: ranks.covariance(self.ridge, out, raised)

    def _dimensions(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        wanted = {"auto": n, "all": d}.get(self.covariance_dims, self.covariance_dims)  # type: ignore[arg-type]
        return np.arange(d) if wanted >= d else np.sort(rng.permutation(d)[:wanted])

    def _targets(self, factor: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """h* o y, candidate vectors (k, n) of -1 and +1, given a lower triangular V with Sigma^-1 = V^T V."""
        return np.ones((1, len(factor)))


class GeemLattice(GeemLatticeKeys, Geem):
    """GEEM with h* o y chosen among ``lattice_size`` sign vectors of Gaussian samples from N(0, Sigma) (spec 4.4).

    Parameters
    ----------
    {parameters}
    """

    def check(self, shared: bool) -> None:
        super().check(shared)
        if shared:
            raise BoostrunError("geem_lattice has no form for a reservoir shared by all classes")

    def _targets(self, factor, rng):
        normal = rng.standard_normal((self.lattice_size, len(factor)))
        gaussian = blas.dtrsm(1.0, factor, normal, side=1, lower=1, trans_a=1)  # z V^-T has covariance Sigma
        return np.where(gaussian >= 0.0, 1.0, -1.0)


class _Ranks:
    """Dense ranks of a batch along some dimensions, and the covariance they give."""

    def __init__(self, codes: np.ndarray, y: np.ndarray, dims: np.ndarray):
        self.y = y
        if codes.dtype == np.uint8:
            ranks = np.zeros((len(codes), _whole_runs(len(dims))), np.uint8)  # columns of zeros change no distance
            used, self.thresholds = kernels.dense_ranks_of_codes(codes, dims, ranks)
            self.ranks = ranks[:, : _whole_runs(used)]
        else:
            self.ranks, self.thresholds = kernels.dense_ranks_of_values(codes, dims)

    def covariance(self, ridge: float, out: np.ndarray, raised: float = 0.0) -> None:
        """Fill the upper triangle of ``out`` with Sigma + (ridge * thresholds + raised) I."""
        fill = kernels.covariance_from_byte_ranks if self.ranks.dtype == np.uint8 else kernels.covariance_from_ranks
        fill(self.ranks, self.y, self.thresholds, ridge * self.thresholds + raised, out)


def _whole_runs(dims: int) -> int:
    return -(-dims // RUN) * RUN


class _Elimination:
    """Inverse of Sigma and greedy elimination in memory that is used again every round.

    Where Sigma is not positive definite, or a pivot vanishes, its diagonal is raised tenfold and all starts again.
    """

    def __init__(self, n: int, q: int):
        self.inversion, self.columns = inversion_of(n), np.empty((q, n))

    def __call__(self, fill: Callable, weights: np.ndarray, targets: Callable | None = None) -> Selection:
        """Keep n - q samples for ``fill(raised, out)``, which fills the upper triangle of Sigma with ``raised`` added
        on its diagonal, the ``weights`` (n,) and the candidates (k, n) that ``targets(factor)`` gives, (1, ..., 1)
        unless told otherwise.

        Weights (c, n), y o w of c problems, with targets (c, n), y o h* o y: Sigma is that of labels +1, because
        labels only flip signs, Sigma_p^-1 = Y_p M Y_p, and the problems' losses are added up.
        """
        q, n = self.columns.shape
        rows, matrix = np.atleast_2d(weights), self.inversion.matrix.T
        restarts, raised = 0, 0.0
        while True:
            fill(raised, matrix)
            size = np.trace(matrix) / n
            try:
                factor = self.inversion.factor()
                target = np.ones((1, n)) if targets is None else targets(factor)
                self.inversion.inverse()
                kernels.fill_lower(matrix)
                floor = _RELATIVE_FLOOR * np.trace(matrix) / n
                corrected, alive = rows.copy(), np.arange(n)
                terms = target * rows if len(rows) == 1 else np.zeros((1, n))
                steps, chosen = kernels.eliminate(matrix, target @ matrix, corrected, terms, floor, alive, self.columns)
            except np.linalg.LinAlgError:
                steps = -1
            if steps == q:
                break
            restarts, raised = restarts + 1, 10.0 * raised or _FIRST_RAISE * max(size, _FIRST_RAISE)
        kept, order = alive[: n - q], alive[n - q :][::-1]
        places = np.argsort(kept)
        corrected = corrected[:, places].reshape((*weights.shape[:-1], n - q))
        return Selection(kept[places], corrected, order, target[chosen], restarts, raised)
