"""GEEM, greedy edge expectation maximisation (Lefakis & Fleuret 2013, section 4).

Seen over random stumps, the products H o y of a batch are Gaussian with covariance Sigma. Keeping B and dropping B'
leaves the expected edge E(B) = <h*, w_B> + <Sigma_B'B Sigma_BB^-1 h*, w_B'>; the weights that drop out live on in
the corrected weights w~_B = w_B + w_B'^T Sigma_B'B Sigma_BB^-1.

GEEM whose target is the most probable h*, by the theory of extreme values (Lefakis & Fleuret 2013, section 6).

The products H o y of a random stump are Gaussian, N(0, Sigma), and the stump to come, h*, is the best of N of them: its
edge <h o y, w> is the largest. The density of the best of N at h is proportional to

    exp(-h^T Sigma^-1 h / 2) Phi(<h, w> / s)^(N - 1),    s^2 = w^T Sigma w,

which is largest where Sigma^-1 h is parallel to w: the most probable h* o y is Sigma w times the edge to be expected of
the best of N over s^2. N only scales it, and with it GEEM's objective; so it need not be known. The objective becomes
w~^T Sigma_BB w~, the variance of the edge that the samples kept explain.

GEEM for trees: the covariance is one over random trees, in place of the thresholds that stumps have.

A tree of D random questions x_d >= theta whose 2^D leaves vote +1 or -1 at random gives two samples the same vote for
certain where they share a leaf, and by a coin where not. So E[h(x_i) h(x_j)] is the share of trees in which they share
one, the kernel of totally random trees (Davies & Ghahramani 2014), and

    Sigma_ij = y_i y_j (leaves shared of M) / M + ridge [i = j].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import blas

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.papers.reservoir import kernels
from boostrun.papers.reservoir.kernels import RUN, inversion_of, shared_leaves
from boostrun.papers.reservoir.keys import GeemKeys, GeemLatticeKeys, GeemThinKeys, GeemTreesKeys
from boostrun.papers.reservoir.strategies import Batch, Strategy

_TOLERANCE = 1e-9  # relative growth of the objective that counts as growth


def swap(
    sigma: np.ndarray, weights: np.ndarray, target: np.ndarray, kept: np.ndarray, rounds: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Up to ``rounds`` exchanges; each adds the discarded sample of largest gain, then drops the one of least loss.

    Parameters: ``sigma`` (n, n) covariance; ``weights`` (n,) w; ``target`` (n,) h* o y of -1 and +1; ``kept`` (r,)
    int64 ascending. Returns ``(kept ascending, corrected weights w~, exchanges made)``. Cost O(n^3) an exchange.

    With S = Sigma_BB^-1 and the residual R = Sigma_B'B' - Sigma_B'B S Sigma_BB', adding j raises the objective by
    (target_j - Sigma_jB S target_B) (R w_B')_j / R_jj, the reverse of the loss u_j w~_j / M_jj of dropping it again.

    >>> kept, corrected, made = swap(np.eye(3), np.array([1.0, 3.0, 2.0]), np.ones(3), np.array([0, 1]), rounds=5)
    >>> kept.tolist(), corrected.tolist(), made
    ([1, 2], [3.0, 2.0], 1)
    """
    best, corrected = objective(sigma, weights, target, kept)
    for made in range(rounds):
        outside = np.setdiff1d(np.arange(len(weights)), kept)
        if not len(outside):
            return kept, corrected, made
        inverse = np.linalg.inv(sigma[np.ix_(kept, kept)])
        across = sigma[np.ix_(outside, kept)] @ inverse
        residual = sigma[np.ix_(outside, outside)] - across @ sigma[np.ix_(kept, outside)]
        gain = (target[outside] - across @ target[kept]) * (residual @ weights[outside]) / np.diag(residual)
        more = np.sort(np.append(kept, outside[np.argmax(gain)]))
        inverse = np.linalg.inv(sigma[np.ix_(more, more)])
        _, raised = objective(sigma, weights, target, more)
        loss = (inverse @ target[more]) * raised / np.diag(inverse)
        proposed = np.delete(more, np.argmin(loss))
        value, changed = objective(sigma, weights, target, proposed)
        if not value > best + _TOLERANCE * abs(best):
            return kept, corrected, made
        kept, best, corrected = proposed, value, changed
    return kept, corrected, rounds


def objective(sigma: np.ndarray, weights: np.ndarray, target: np.ndarray, kept: np.ndarray) -> tuple[float, np.ndarray]:
    """E(B) = <target_B, w~_B> and the corrected weights w~_B = w_B + Sigma_BB^-1 Sigma_BB' w_B'."""
    outside = np.setdiff1d(np.arange(len(weights)), kept)
    mass = sigma[np.ix_(kept, outside)] @ weights[outside]
    corrected = weights[kept] + np.linalg.solve(sigma[np.ix_(kept, kept)], mass)
    return float(target[kept] @ corrected), corrected


_FIRST_RAISE = 1e-10  # of the mean diagonal, added when Sigma turns out not to be positive definite
_RELATIVE_FLOOR = 1e-13  # pivots below this share of the mean diagonal of Sigma^-1 mean that it is not invertible


class Selection(NamedTuple):
    """The result of elimination: ``kept`` ascending, their corrected ``weights``, the ``order`` of discarding, the
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
        """Choose samples for ``batch.labels`` and ``batch.weights`` (n, c) of c binary problems: one choice for all."""
        memory, fill = self._prepare(batch, np.ones(len(batch.samples)), r, rng)
        labels = np.ascontiguousarray(batch.labels.T)
        selection = memory(fill, labels * batch.weights.T, lambda factor: labels)
        self.restarts += selection.restarts
        return selection.kept, selection.weights.T * batch.labels[selection.kept]

    def check(self, shared: bool) -> None:
        fields.check(self)
        if shared and self.swap_rounds:
            raise BoostrunError("swap_rounds cannot share a reservoir between classes")

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
            raise BoostrunError("geem_lattice cannot share a reservoir between classes")

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


_BLOCKS_ABOVE = 1000  # samples at hand; of fewer, columns made one by one lie in the second-level cache
_BLOCK, _CANDIDATES = 64, 128  # samples discarded between two products; columns of the inverse that are at hand


def eliminate_in_blocks(
    inverse: np.ndarray, u: np.ndarray, corrected: np.ndarray, terms: np.ndarray, floor: float, alive: np.ndarray,
    columns: np.ndarray, block: int = _BLOCK, candidates: int = _CANDIDATES,
) -> tuple[int, int]:  # fmt: skip
    """Like :func:`boostrun.papers.reservoir.kernels.eliminate`, with products of matrices.

    With k samples gone and the pivot columns L (k, n) so far, column j of the inverse is M_j - L^T L_j, a pass over L.
    Those of the ``candidates`` samples of least loss are made by one product before each ``block`` of steps, and those
    not used stay at hand for the next block. Where a step wants another column, it is made alone (one step in 10 to
    30). The samples chosen are the same where no two losses are equal within rounding; of losses that are equal to the
    bit, that of the sample of the least number counts here, and there that of the first in ``alive``.
    """
    q, n = columns.shape
    diagonal, panel = np.diag(inverse).copy(), np.empty((candidates, n))
    held = np.empty(0, np.int64)  # the places whose columns are rows of the panel
    steps, chosen = 0, 0
    while steps < q:
        first, size = steps, n - steps
        loss = (u[chosen : chosen + len(corrected), :size] * corrected[:, :size]).sum(axis=0) / diagonal[:size]
        loss[held] = np.inf
        free = min(candidates, size) - len(held)
        fresh = np.argpartition(loss, min(free, size - 1))[:free]
        made = inverse[alive[fresh]][:, alive[:size]]
        made -= columns[:first, fresh].T @ columns[:first, :size]
        panel[len(held) : len(held) + free, :size] = made
        held = np.concatenate([held, fresh])
        slots = np.full(size, -1)
        slots[held] = np.arange(len(held))
        gone = np.empty(min(block, q - first), np.int64)
        steps, chosen = kernels.eliminate_block(
            inverse, panel, slots, u, corrected, terms, diagonal, floor, alive, columns, first, gone
        )
        if steps < first + len(gone):
            break
        there = np.ones(size, bool)
        there[gone] = False
        held = held[there[held]]
        left = columns[first:steps, held].T @ columns[first:steps, :size]
        panel[: len(held), :size] = panel[slots[held], :size] - left
        # samples alive from the end take the places of those gone
        end, discarded, moved = n - steps, alive[gone], np.arange(size)
        holes, sources = np.flatnonzero(~there[:end]), end + np.flatnonzero(there[end:])
        for rows in (columns[:steps], panel[: len(held)], u, corrected, terms, diagonal[None]):
            kernels.move(rows, sources, holes)
        alive[holes], alive[end:size], moved[sources] = alive[sources], discarded[::-1], holes
        held = moved[held]
    return steps, chosen


class _Elimination:
    """Inverse of Sigma and greedy elimination in memory that is used again every round.

    Where Sigma is not positive definite, or a pivot vanishes, its diagonal is raised tenfold and all starts again.
    """

    def __init__(self, n: int, q: int):
        self.inversion, self.columns = inversion_of(n), np.empty((q, n))

    def __call__(self, fill: Callable, weights: np.ndarray, targets: Callable | None = None) -> Selection:
        """Keep n - q samples for ``fill(raised, out)``, which fills the upper triangle of Sigma with ``raised`` added
        on its diagonal, the ``weights`` (n,) and the candidates (k, n) that ``targets(factor)`` gives, (1, ..., 1)
        by default.

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
                eliminate = eliminate_in_blocks if n > _BLOCKS_ABOVE else kernels.eliminate
                steps, chosen = eliminate(matrix, target @ matrix, corrected, terms, floor, alive, self.columns)
            except np.linalg.LinAlgError:
                steps = -1
            if steps == q:
                break
            restarts, raised = restarts + 1, 10.0 * raised or _FIRST_RAISE * max(size, _FIRST_RAISE)
        kept, order = alive[: n - q], alive[n - q :][::-1]
        places = np.argsort(kept)
        corrected = corrected[:, places].reshape((*weights.shape[:-1], n - q))
        return Selection(kept[places], corrected, order, target[chosen], restarts, raised)


_MEAN_VARIANCE = 100.0  # of the mean of GeemMean, times the thresholds; on held-out data 10 and 1,000 did as well


class GeemMean(Geem):
    """GEEM whose stump is right or wrong with an unknown mean mu in place of 0, so that no weight is made up.

    H o y ~ N(mu 1, Sigma) with mu ~ N(0, v) is N(0, Sigma + v 1 1^T). The products are at most 1, so that no stump has
    an edge above the sum of the weights of A. With mu = 0, E(B), the sum of the corrected weights, is above it if there
    are many samples; steps are then too short, because the weighted error takes that sum for the weight of A. For
    large v the corrected weights sum to the weights of A (universal kriging, Matheron 1969).

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> rng = np.random.default_rng(0)
    >>> codes, labels = rng.integers(0, 256, (200, 9), np.uint8), rng.choice([-1.0, 1.0], 200)
    >>> batch = Batch(codes, labels, np.ones(200), np.zeros(200, int))
    >>> [round(float(strategy(batch, 100, rng)[1].sum())) for strategy in (Geem(), GeemMean())]  # of 200
    [133, 200]
    """

    def check(self, shared: bool) -> None:
        """Raises BoostrunError for a reservoir shared by all classes, each of which would have a mean of its own."""
        super().check(shared)
        if shared:
            raise BoostrunError("geem_mean cannot share a reservoir between classes")

    def _prepare(self, batch: Batch, labels: np.ndarray, r: int, rng: np.random.Generator):
        memory, fill = super()._prepare(batch, labels, r, rng)

        def with_mean(raised: float, out: np.ndarray) -> None:
            fill(raised, out)
            variance = _MEAN_VARIANCE * out[0, 0] / (2.0 + self.ridge)  # the diagonal is (2 + ridge) m
            for i, row in enumerate(out):
                row[i:] += variance

        return memory, with_mean


class GeemLikely(Geem):
    """GEEM with h* o y = Sigma w, the most probable best stump, scaled to an absolute mean of one.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> codes = np.array([[0], [9], [10]], dtype=np.uint8)
    >>> batch = Batch(codes, np.ones(3), np.array([1.0, 1.0, 0.9]), np.zeros(3, int))
    >>> kept, weights = GeemLikely(ridge=0.1)(batch, 2, np.random.default_rng(0))
    >>> kept.tolist()
    [0, 1]
    """

    def __call__(self, batch: Batch, r: int, rng: np.random.Generator):
        self._weights = batch.weights
        try:
            return super().__call__(batch, r, rng)
        finally:
            del self._weights

    def check(self, shared: bool) -> None:
        """Raises BoostrunError for a reservoir shared by all classes, whose weights are not one vector."""
        super().check(shared)
        if shared:
            raise BoostrunError("geem_likely cannot share a reservoir between classes")

    def _targets(self, factor, rng):
        return likely_target(factor, self._weights)[None]


def likely_target(factor: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sigma w, scaled to an absolute mean of one, for a lower triangular V with Sigma^-1 = V^T V.

    ``factor`` (n, n), ``weights`` (n,) float64; zeros where all weights are. Cost O(n^2).

    >>> likely_target(np.eye(2) / 3.0, np.array([1.0, 3.0]))
    array([0.5, 1.5])
    """
    target = blas.dtrsv(factor, blas.dtrsv(factor, weights, lower=1, trans=1), lower=1)
    size = np.abs(target).mean()
    return target / size if size > 0.0 else target


class GeemTrees(GeemTreesKeys, Geem):
    """Keep the r samples that hold the largest expected edge of random trees, drawn again each round.

    ``covariance_dims`` has no effect: trees ask features at random.

    Parameters
    ----------
    {parameters}

    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> codes = np.array([[0, 3], [0, 3], [200, 90]], dtype=np.uint8)  # the first two are alike: one is enough
    >>> batch = Batch(codes, np.ones(3), np.array([1.0, 0.9, 0.8]), np.zeros(3, int))
    >>> kept, weights = GeemTrees(ridge=0.01)(batch, 2, np.random.default_rng(0))
    >>> kept.tolist()
    [0, 2]
    """

    def _prepare(self, batch: Batch, labels: np.ndarray, r: int, rng: np.random.Generator):
        n = len(batch.samples)
        leaves = self._leaves(batch.samples, rng)
        if self._memory is None or self._memory.columns.shape != (n - r, n):
            self._memory = _Elimination(n, n - r)
        return self._memory, lambda raised, out: shared_leaves(leaves, labels, self.ridge + raised, out)

    def _leaves(self, samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(n, M) uint8: the leaf of each sample in each tree; a question is a value of a sample that some are below."""
        varied = np.flatnonzero((samples != samples[0]).any(axis=0))
        if not len(varied):
            return np.zeros((len(samples), 1), np.uint8)
        features = rng.choice(varied, (self.covariance_depth, self.covariance_trees))
        asked = samples[:, features]
        thresholds = np.take_along_axis(asked, rng.integers(0, len(samples), (1, *features.shape)), axis=0)
        lowest = asked.min(axis=0)
        above = np.where(thresholds > lowest, asked >= thresholds, asked > lowest)
        bits = np.left_shift(np.uint8(1), np.arange(self.covariance_depth, dtype=np.uint8))
        return (above * bits[:, None]).sum(axis=1, dtype=np.uint8)


class GeemThin(GeemThinKeys, Geem):
    """GEEM whose covariance is estimated on k random stumps, drawn again each round: for reservoirs of 1,000 and more.

    Of m thresholds k are drawn, one from each of k equal runs, so that Sigma is about 2 (m / k) S S^T + ridge m I with
    S (n, k) of -1 and +1. The inverse without some samples follows from that of a (k, k) matrix (Woodbury), so
    that a round costs q k (n + k) in place of n^3. The exact form is the default. ``ridge`` must be at least 1e-6.

    Parameters
    ----------
    {parameters}

    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> codes = np.array([[0], [9], [10]], dtype=np.uint8)
    >>> batch = Batch(codes, np.ones(3), np.array([1.0, 0.8, 0.9]), np.zeros(3, int))
    >>> GeemThin(covariance_stumps=2)(batch, 2, np.random.default_rng(0))
    (array([0, 2]), array([1. , 0.9]))
    """

    def check(self, shared: bool) -> None:
        super().check(shared)
        if self.swap_rounds or not self.ridge >= 1e-6:  # below, differences of two products are not exact
            raise BoostrunError("geem_thin needs a ridge of at least 1e-6, and no swap_rounds")

    def _prepare(self, batch: Batch, labels: np.ndarray, r: int, rng: np.random.Generator):
        n, d = batch.samples.shape
        ranks = _Ranks(batch.samples, np.ones(n), self._dimensions(n, d, rng))
        upto = np.cumsum(ranks.ranks.max(axis=0), dtype=np.int64)
        k = self.covariance_stumps if ranks.thresholds else 0
        drawn = ((np.arange(k) + rng.random(k)) * (ranks.thresholds / max(k, 1))).astype(np.int64)
        dims = np.searchsorted(upto, drawn, side="right")
        above = ranks.ranks[:, dims] >= upto[dims] - drawn  # each of the ranks 1 to the largest is a threshold
        return _ThinElimination(above, labels, self.ridge, r), None


class _ThinElimination:
    """Greedy elimination for Sigma = 2 S S^T / k + ridge I, with S_is = y_i for samples ``above`` (n, k) a stump's
    threshold, else -y_i.
    """

    def __init__(self, above: np.ndarray, labels: np.ndarray, ridge: float, r: int):
        self.above, self.labels, self.r = above, labels, r
        self.scale = 2.0 / (ridge * max(above.shape[1], 1))

    def __call__(self, fill: None, weights: np.ndarray, targets: Callable) -> Selection:
        """Like :class:`_Elimination`, without ``fill``."""
        (n, k), rows = self.above.shape, np.atleast_2d(weights)
        signs, target = np.where(self.above, 1.0, -1.0) * self.labels[:, None], targets(self.above)
        inner = np.linalg.inv(np.eye(k) + self.scale * signs.T @ signs)
        at_hand = signs @ inner
        u = target - self.scale * (target @ signs) @ at_hand.T
        diagonal, alive = 1.0 - self.scale * np.einsum("ik,ik->i", at_hand, signs), np.arange(n)
        packed = np.packbits(signs > 0.0, axis=1, bitorder="little")
        _eliminate_thin(packed, self.scale, inner, u, rows.copy(), diagonal, alive, n - self.r)
        kept, order = np.sort(alive[: self.r]), alive[self.r :][::-1]
        left = np.eye(k) + self.scale * signs[kept].T @ signs[kept]
        mass = np.linalg.solve(left, self.scale * signs[order].T @ rows[:, order].T)
        corrected = rows[:, kept] + (signs[kept] @ mass).T
        return Selection(kept, corrected.reshape((*weights.shape[:-1], self.r)), order, target[0], 0, 0.0)


@njit(cache=True)
def _eliminate_thin(packed, scale, inner, u, corrected, diagonal, alive, q):
    """Like :func:`kernels.eliminate` for M = I - scale S P S^T, with S (n, k) of -1 and +1, P = (I + scale S^T S)^-1.

    Parameters: ``packed`` (n, ceil(k / 8)) uint8, the bits of S above 0, the first one lowest; ``inner`` (k, k)
    float64, P; ``diagonal`` (n,) float64 of M; the others are those of it, and all are overwritten.
    Column j of M is -scale S P S_j; a byte stands for eight terms of a row of S times a vector, which are looked up.
    With samples gone, P + scale P S_j S_j^T P / M_jj takes the place of P. Cost q (n k / 8 + 2 k^2 + 32 k).
    """
    n, k = packed.shape[0], inner.shape[0]
    loss, column = np.empty(n, np.float64), np.empty(n, np.float64)
    half, sums = np.empty(8 * packed.shape[1], np.float64), np.empty((packed.shape[1], 256), np.float64)
    for step in range(q):
        size = n - step
        kernels._losses(u, corrected, 0, diagonal, size, loss)
        worst = kernels._least(loss, size)
        pivot = diagonal[worst]
        half[:] = 0.0
        for s in range(k):
            sign = scale if packed[worst, s // 8] >> (s % 8) & 1 else -scale
            for t in range(k):
                half[t] += sign * inner[s, t]
        for byte in range(packed.shape[1]):
            sums[byte, 0] = -half[8 * byte : 8 * byte + 8].sum()
            for bit in range(8):
                for low in range(1 << bit):
                    sums[byte, (1 << bit) + low] = sums[byte, low] + 2.0 * half[8 * byte + bit]
        for i in range(size):
            total = 0.0
            for byte in range(packed.shape[1]):
                total += sums[byte, packed[i, byte]]
            column[i] = -total
        for s in range(k):
            part = half[s] / (scale * pivot)
            for t in range(k):
                inner[s, t] += part * half[t]
        kernels._subtract(column, u, worst, pivot, size)
        kernels._subtract(column, corrected, worst, pivot, size)
        for i in range(size):
            diagonal[i] -= column[i] * column[i] / pivot
        packed[worst] = packed[size - 1]
        diagonal[worst] = diagonal[size - 1]
        alive[worst], alive[size - 1] = alive[size - 1], alive[worst]
        kernels._overwrite(u, worst, size - 1)
        kernels._overwrite(corrected, worst, size - 1)
