"""The convex problem of a round: the regularised loss over the columns in use, and two ways to its minimum.

Penalties on a matrix of weights (columns x classes): value and gradient; all have gradient 0 at a column of zeros.

Hence a column that is not in use is looked at by the same greedy rule, with or without a penalty (section 3).

The multiclass logistic loss of class-major scores, but for its exponentials: what comes before them and after.

Both do what NumPy's functions of whole arrays do, term by term and in their order, a block of samples at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.optimize import minimize

from boostrun.papers.shareboost.design import Scaling, curvature

_SAMPLES = 512  # whose terms stay cached


@njit(cache=True, nogil=True)
def exponents(scores, y, margin, out, largest):
    """out[q, i] <- margin 1[q != y_i] + s_iq - s_{i, y_i}, less its largest over q, which ``largest``[i] becomes.

    ``scores`` and ``out`` (k, n) float64, ``y`` (n,) int64, ``largest`` (n,) float64. Cost O(n k).
    """
    k, n = scores.shape
    for start in range(0, n, _SAMPLES):
        stop = min(start + _SAMPLES, n)
        most, own = largest[start:stop], y[start:stop]
        for i in range(stop - start):
            most[i] = scores[own[i], start + i] - margin
        for q in range(k):
            row, given = out[q, start:stop], scores[q, start:stop]
            for i in range(stop - start):
                row[i] = given[i] - most[i]
        for i in range(stop - start):
            out[own[i], start + i] = 0.0
            most[i] = out[0, start + i]
        for q in range(1, k):
            row = out[q, start:stop]
            for i in range(stop - start):
                most[i] = row[i] if row[i] > most[i] else most[i]
        for q in range(k):
            row = out[q, start:stop]
            for i in range(stop - start):
                row[i] -= most[i]


@njit(cache=True, nogil=True)
def shares(terms, summed):
    """summed[i] <- sum_q terms[q, i], by which they are divided: ``terms`` (k, n), ``summed`` (n,) float64."""
    k, n = terms.shape
    for start in range(0, n, _SAMPLES):
        whole = summed[start : min(start + _SAMPLES, n)]
        for i in range(len(whole)):
            whole[i] = terms[0, start + i]
        for q in range(1, k):
            row = terms[q, start : start + len(whole)]
            for i in range(len(whole)):
                whole[i] += row[i]
        for q in range(k):
            row = terms[q, start : start + len(whole)]
            for i in range(len(whole)):
                row[i] /= whole[i]


def losses(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> np.ndarray:
    """l_i = ln sum_q exp(margin 1[q != y_i] - s_{i,y_i} + s_iq): (n,) float64, natural logarithm.

    Parameters: ``scores`` (n, k) float64; ``y`` (n,) int64, class numbers from 0; ``margin`` 1 in the paper, 0 for
    plain multinomial logistic regression. Finite for scores of any finite size. Cost O(n k), one exp an entry.

    >>> losses(np.zeros((1, 3)), np.array([0]))  # ln(1 + 2 e)
    array([1.8619948])
    """
    return _losses_and_shares(scores, y, margin)[0]


def residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> np.ndarray:
    """G_iq = rho_iq - 1[q = y_i], (n, k) float64, where rho_i are the normalised terms of the sum in :func:`losses`.

    n times the gradient of the mean loss by the scores; every row sums to 0. Parameters and cost as there.

    >>> residuals(np.zeros((1, 2)), np.array([0]), margin=0.0)
    array([[-0.5,  0.5]])
    """
    return losses_and_residuals(scores, y, margin)[1]


def loss_and_residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> tuple[float, np.ndarray]:
    """The mean of :func:`losses` and :func:`residuals` at the price of one of them."""
    each, rest = losses_and_residuals(scores, y, margin)
    return float(each.mean()), rest


def losses_and_residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """:func:`losses` (n,) and :func:`residuals` (n, k) at the price of one of them."""
    each, shares = _losses_and_shares(scores, y, margin)
    shares[np.arange(len(y)), y] -= 1.0
    return each, shares


def _losses_and_shares(scores: np.ndarray, y: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Losses (n,) and rho (n, k), laid out in memory as ``scores`` are."""
    if scores.flags.f_contiguous and not scores.flags.c_contiguous and scores.dtype == np.float64:
        return _of_class_major(scores.T, y, margin)
    rows = np.arange(len(y))
    terms = scores - (scores[rows, y] - margin)[:, None]
    terms[rows, y] = 0.0
    largest = terms.max(axis=1)
    terms -= largest[:, None]
    np.exp(terms, out=terms)
    summed = terms.sum(axis=1)
    terms /= summed[:, None]
    return largest + np.log(summed), terms


def _of_class_major(scores: np.ndarray, y: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """The same to the bit, of ``scores`` (k, n) in C order: two passes, with the exponentials between them."""
    terms, largest, summed = np.empty(scores.shape), np.empty(len(y)), np.empty(len(y))
    exponents(scores, y, margin, terms, largest)
    np.exp(terms, out=terms)
    shares(terms, summed)
    return largest + np.log(summed), terms.T


class Frobenius:
    """Omega(W) = ||W||_F^2.

    >>> Frobenius()(np.array([[1.0, -2.0]]))
    (5.0, array([[ 2., -4.]]))
    """

    curvature = 2.0  # bound of the second derivative

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        return float(np.vdot(weights, weights)), 2.0 * weights


class SmoothedL1:
    """Omega(W) = (1/beta) sum ln((e^{beta w} + e^{-beta w}) / 2): at most ln 2 / beta an entry below ||W||_{1,1}."""

    def __init__(self, beta: float = 100.0):
        self.beta, self.curvature = beta, beta

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        size = np.abs(weights)
        values = size + (np.log1p(np.exp(-2.0 * self.beta * size)) - np.log(2.0)) / self.beta
        return float(values.sum()), np.tanh(self.beta * weights)


class SmoothedLInf:
    """Omega(W) = (1/beta) sum_r ln((1/2k) sum_q (e^{beta w_rq} + e^{-beta w_rq})).

    At most ln(2k) / beta a column below ||W||_{inf,1}, the sum of the columns' largest absolute weights.
    """

    def __init__(self, beta: float = 100.0):
        self.beta, self.curvature = beta, beta

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        largest = np.abs(weights).max(axis=1, keepdims=True)
        up, down = np.exp(self.beta * (weights - largest)), np.exp(self.beta * (-weights - largest))
        summed = (up + down).sum(axis=1, keepdims=True)
        values = largest + np.log(summed / (2 * weights.shape[1])) / self.beta
        return float(values.sum()), (up - down) / summed


def regulariser(kind: str, beta: float):
    """The penalty named ``kind``: frobenius, smoothed_l1 or smoothed_linf."""
    if kind == "frobenius":
        return Frobenius()
    return SmoothedL1(beta) if kind == "smoothed_l1" else SmoothedLInf(beta)


_MEMORY = 20  # pairs of steps and gradients that L-BFGS keeps


class Objective:
    """L(W) + lambda Omega(W) of weights W (width, k) of a design.

    Parameters
    ----------
    design : DenseDesign or LocalDesign on n samples; it may grow.
    y : (n,) int64, class numbers.
    n_classes, margin : k, and that of the loss.
    penalty, weight : Omega, a function as in :mod:`boostrun.papers.shareboost.inner`, and lambda.
    n_free : int, columns in front that bear no penalty.
    offset : (n, k) or None, scores that are there whatever W.
    """

    def __init__(self, design, y, n_classes, *, margin=1.0, penalty=None, weight=0.0, n_free=0, offset=None):
        self.design, self.y, self.n_classes, self.margin = design, y, n_classes, margin
        self.penalty, self.weight, self.n_free, self.offset = penalty, weight, n_free, offset

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.width, self.n_classes

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """(n, k) of weights (width, k)."""
        scores = self.design.scores(weights)
        return scores if self.offset is None else scores + self.offset

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient (width, k) at ``weights``. Cost 2 n width k multiply-adds."""
        loss, gradient = self.design.value_and_gradient(weights, self._losses)
        if self.weight:
            value, slope = self.penalise(weights[self.n_free :])
            loss += value
            gradient[self.n_free :] += slope
        return loss, gradient

    def _losses(self, part: slice, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scores = scores if self.offset is None else scores + self.offset[part]
        return losses_and_residuals(scores, self.y[part], self.margin)

    def penalise(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """lambda Omega of weights that bear it, and its gradient."""
        if not self.weight:
            return 0.0, np.zeros(weights.shape)
        value, slope = self.penalty(weights)
        return self.weight * value, self.weight * slope

    def lipschitz(self) -> float:
        """A bound of the gradient's Lipschitz constant: lambda_max(X_I' X_I) / (2n), and the penalty's."""
        return 0.5 * curvature(self.design) + (self.weight * self.penalty.curvature if self.weight else 0.0)

    def scaling(self, weights: np.ndarray) -> Scaling | None:
        """R of R' R = (1/n) X_I' D X_I and the penalty's bound, D_ii = mean_q rho_iq (1 - rho_iq).

        The curvature at ``weights``, averaged over classes; a ridge of 1e-4 of a column's mean curvature makes it
        positive definite. None where there is no curvature. Cost: the design's.
        """
        sizes = np.abs(residuals(self.scores(weights), self.y, self.margin))
        bound = np.zeros(self.design.width)
        if self.weight:
            bound[self.n_free :] = self.weight * self.penalty.curvature
        return self.design.scaling((sizes * (1.0 - sizes)).mean(axis=1), bound)


class Minimum(NamedTuple):
    """Where a solver stopped: weights, the objective, max |gradient| there, iterations."""

    weights: np.ndarray
    value: float
    residual: float
    iterations: int


def lbfgs(objective: Objective, start: np.ndarray, tolerance: float, max_iterations: int) -> Minimum:
    """Minimise from ``start`` until max |gradient| <= tolerance, by SciPy's L-BFGS-B without bounds.

    Its variables are R W, R' R the curvature at ``start`` or an estimate of it: columns that are much alike do not slow
    it down, and MNIST's templates take it a ninth of the iterations.
    """
    return descend(objective, start, tolerance, max_iterations, objective.scaling)


def descend(
    function: Callable, start: np.ndarray, tolerance: float, max_iterations: int, scaling: Callable | None = None
) -> Minimum:
    """The same of any ``function``: value and gradient at weights; ``scaling(start)`` gives R, None where it is 1."""
    here = (start, *function(start))
    accepted, iterations = here, 0
    scaled = scaling(start) if scaling and np.abs(here[2]).max() > tolerance else None

    def flat(step):
        nonlocal here
        if step.any():
            step = step.reshape(start.shape)
            weights = start + (scaled.undo(step) if scaled else step)
            here = (weights, *function(weights))
        return here[1], (scaled.gradient(here[2]) if scaled else here[2]).ravel()

    def accept(_):
        nonlocal accepted, iterations
        accepted, iterations = here, iterations + 1
        if np.abs(here[2]).max() <= tolerance:
            raise StopIteration

    if np.abs(here[2]).max() > tolerance:
        minimize(
            flat, np.zeros(start.size), jac=True, method="L-BFGS-B", callback=accept,
            options={"maxcor": _MEMORY, "gtol": 0.0, "ftol": 0.0, "maxiter": max_iterations, "maxfun": np.inf},
        )  # fmt: skip
    weights, value, gradient = accepted
    return Minimum(weights, value, float(np.abs(gradient).max()), iterations)


def agd(objective: Objective, start: np.ndarray, tolerance: float, max_iterations: int) -> Minimum:
    """The same by Nesterov's accelerated gradient, the paper's solver: step 1/Lip, momentum dropped where it points
    uphill or the objective has risen.
    """
    lipschitz = objective.lipschitz()
    weights, ahead, momentum = start, start, 1.0
    value, gradient = objective(start)
    slope = gradient
    for iteration in range(max_iterations):
        residual = float(np.abs(gradient).max())
        if residual <= tolerance or lipschitz == 0.0:
            return Minimum(weights, value, residual, iteration)
        stepped = ahead - slope / lipschitz
        new_value, new_gradient = objective(stepped)
        if momentum > 1.0 and (new_value > value or np.vdot(slope, stepped - weights) > 0.0):
            ahead, slope, momentum = weights, gradient, 1.0
            continue
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = stepped + (momentum - 1.0) / following * (stepped - weights)
        slope = objective(ahead)[1] if momentum > 1.0 else new_gradient
        weights, value, gradient, momentum = stepped, new_value, new_gradient, following
    return Minimum(weights, value, float(np.abs(gradient).max()), max_iterations)


SOLVERS = {"lbfgs": lbfgs, "agd": agd}


def mixed_norm(weights: np.ndarray) -> float:
    """||W||_{inf,1} = sum_r max_y |W_ry| of ``weights`` (m, k), a row a column of the predictor."""
    return float(np.abs(weights).max(axis=1).sum()) if len(weights) else 0.0


def largest_column(gradient: np.ndarray) -> float:
    """The dual norm: max_r sum_y |G_ry| of ``gradient`` (m, k); 0 where it has no row."""
    return float(np.abs(gradient).sum(axis=1).max(initial=0.0))


def prox(values: np.ndarray, step: float) -> np.ndarray:
    """argmin_W 1/2 ||W - V||^2 + step ||W||_{inf,1}, row by row: (m, k) of ``values`` (m, k), ``step`` >= 0.

    A row v becomes sign(v) min(|v|, tau), where sum_y (|v_y| - tau)_+ = step, and exactly 0 where ||v||_1 <= step:
    v less its projection on the l1 ball of radius ``step`` (Moreau). Cost O(m k log k).

    >>> prox(np.array([[3.0, -1.0, 2.0], [0.25, 0.25, 0.0]]), 1.0)
    array([[ 2., -1.,  2.],
           [ 0.,  0.,  0.]])
    """
    size = np.abs(values)
    falling = -np.sort(-size, axis=1)
    excess = np.cumsum(falling, axis=1)
    excess -= step
    taus = excess / np.arange(1, values.shape[1] + 1)
    last = np.maximum((falling > taus).sum(axis=1), 1) - 1  # true for the first ones, then false
    tau = np.maximum(np.take_along_axis(taus, last[:, None], axis=1), 0.0)
    return np.copysign(np.minimum(size, tau), values) * (tau > 0.0)


_CHECK = 10  # iterations between two certificates
_SLACK = 1e-14  # of the loss: what rounding may hide when a step is judged
_FIRST = 0.1  # of the bound of the curvature: where the search for it begins
_FALL = 0.9  # by how much every iteration tries less
PATIENCE, _PROGRESS = 1000, 1e-6  # iterations in which F falls by no such share of the gap: rounding leaves no more


class Solution(NamedTuple):
    """Weights (m, k), loss L and objective F there, the residuals (n, k), the bound of F - min F, iterations."""

    weights: np.ndarray
    loss: float
    value: float
    residuals: np.ndarray
    gap: float
    iterations: int


def certificate(loss: float, weights: np.ndarray, gradient: np.ndarray, lam: float, largest: float) -> float:
    """A bound of F(W) - min F, F = L + lam ||W||_{inf,1} (section 8; from L >= 0 and its convexity):

        <grad L(W), W> + lam ||W||_{inf,1} + (largest - lam)_+ F(W) / lam

    Parameters: ``loss`` L(W); ``weights`` and ``gradient`` (m, k) of the columns that are not 0, or more of them;
    ``largest``, the largest ||grad_r L(W)||_1 over all candidates.
    """
    norm = mixed_norm(weights)
    slack = max(float(np.vdot(gradient, weights)) + lam * norm, 0.0)
    return slack + (largest - lam) * (loss + lam * norm) / lam if largest > lam else slack


def fista(design, y, start, lam, *, margin=1.0, gap=1e-3, max_iterations=20_000, patience=PATIENCE) -> Solution:
    """Minimise F(W) = L(W) + lam ||W||_{inf,1} over the weights W (m, k) of ``design`` until the certificate is at most
    ``gap`` F(W), ``patience`` iterations have brought nothing, or after ``max_iterations``.

    FISTA; the step follows the curvature met on the way, which late in a path is far below its bound; momentum is
    dropped where it points uphill. Cost 2 n m k multiply-adds an iteration, a half more every tenth.
    """
    bound = 0.5 * curvature(design) if design.width else 0.0
    lipschitz = _FIRST * bound
    weights, scores = start, design.scores(start)
    loss, residuals = loss_and_residuals(scores, y, margin)
    ahead, ahead_scores, momentum = weights, scores, 1.0
    ahead_loss, ahead_residuals = loss, residuals
    value = loss + lam * mixed_norm(weights)
    least, since = value, 0
    for iteration in range(max_iterations + 1):
        if value < least * (1.0 - _PROGRESS * gap):
            least, since = value, iteration
        last = iteration in (max_iterations, since + patience)
        if iteration % _CHECK == 0 or last:
            gradient = design.gradient(residuals)
            reached = certificate(loss, weights, gradient, lam, largest_column(gradient))
            if reached <= gap * value or last or lipschitz == 0.0:
                return Solution(weights, loss, value, residuals, reached, iteration)
        slope = design.gradient(ahead_residuals)
        lipschitz *= _FALL
        while True:
            stepped = prox(ahead - slope / lipschitz, lam / lipschitz)
            move = stepped - ahead
            stepped_scores = design.scores(stepped)
            stepped_loss, stepped_residuals = loss_and_residuals(stepped_scores, y, margin)
            model = ahead_loss + float(np.vdot(slope, move)) + 0.5 * lipschitz * float(np.vdot(move, move))
            if stepped_loss <= model + _SLACK * abs(ahead_loss) or lipschitz >= bound:
                break
            lipschitz = min(2.0 * lipschitz, bound)
        uphill = float(np.vdot(ahead - stepped, stepped - weights)) > 0.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        beta = 0.0 if uphill else (momentum - 1.0) / following
        momentum = 1.0 if uphill else following
        ahead = stepped + beta * (stepped - weights)
        ahead_scores = stepped_scores + beta * (stepped_scores - scores)
        weights, scores, loss, residuals = stepped, stepped_scores, stepped_loss, stepped_residuals
        value = loss + lam * mixed_norm(weights)
        ahead_loss, ahead_residuals = loss_and_residuals(ahead_scores, y, margin) if beta else (loss, residuals)
    raise AssertionError("the last iteration returns")
