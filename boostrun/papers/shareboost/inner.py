"""The convex problem of a round: the multiclass logistic loss, its penalties, and two solvers.

Penalties act on a matrix of weights (columns x classes) and return value and gradient. Their gradient is 0 at a column
of zeros, so that the greedy rule for columns not in use is the same with or without a penalty (section 3).

The two compiled functions work on class-major scores, a block of samples at a time, and compute the same terms in the
same order as NumPy's functions of whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.optimize import minimize

from boostrun.papers.shareboost.design import Kronecker, Triangular, largest_curvature

_SAMPLES = 512  # samples whose terms stay cached
_MEMORY = 20  # pairs of steps and gradients in L-BFGS


def losses(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> np.ndarray:
    """l_i = ln sum_q exp(margin 1[q != y_i] - s_{i,y_i} + s_iq): (n,) float64, natural logarithm.

    Parameters: ``scores`` (n, k) float64; ``y`` (n,) int64, class numbers from 0; ``margin``, 1 in the paper, 0 for
    plain multinomial logistic regression. Finite for all finite scores. Cost O(n k), one exp an entry.

    >>> losses(np.zeros((1, 3)), np.array([0]))  # ln(1 + 2 e)
    array([1.8619948])
    """
    return _losses_and_shares(scores, y, margin)[0]


def residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> np.ndarray:
    """G_iq = rho_iq - 1[q = y_i], (n, k) float64; rho_i are the normalised terms of the sum in :func:`losses`.

    n times the gradient of the mean loss by the scores; every row sums to 0. Parameters and cost as for :func:`losses`.

    >>> residuals(np.zeros((1, 2)), np.array([0]), margin=0.0)
    array([[-0.5,  0.5]])
    """
    return losses_and_residuals(scores, y, margin)[1]


def loss_and_residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> tuple[float, np.ndarray]:
    """Mean of :func:`losses`, and :func:`residuals`, for the price of one of them."""
    each, rest = losses_and_residuals(scores, y, margin)
    return float(each.mean()), rest


def losses_and_residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """(:func:`losses` (n,), :func:`residuals` (n, k)) for the price of one of them."""
    each, shares = _losses_and_shares(scores, y, margin)
    shares[np.arange(len(y)), y] -= 1.0
    return each, shares


def _losses_and_shares(scores: np.ndarray, y: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Losses (n,) and rho (n, k), in the memory layout of ``scores``."""
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
    """The same to the bit for ``scores`` (k, n) in C order: two compiled passes, the exponentials between them."""
    terms, largest, summed = np.empty(scores.shape), np.empty(len(y)), np.empty(len(y))
    exponents(scores, y, margin, terms, largest)
    np.exp(terms, out=terms)
    shares(terms, summed)
    return largest + np.log(summed), terms.T


@njit(cache=True, nogil=True)
def exponents(scores, y, margin, out, largest):
    """out[q, i] <- margin 1[q != y_i] + s_iq - s_{i, y_i}, minus its maximum over q, which goes to ``largest``[i].

    ``scores`` and ``out`` (k, n) float64, ``y`` (n,) int64, ``largest`` (n,) float64. Cost O(n k).
    """
    k, n = scores.shape
    for start in range(0, n, _SAMPLES):
        stop = min(start + _SAMPLES, n)
        most, labels = largest[start:stop], y[start:stop]
        for i in range(stop - start):
            most[i] = scores[labels[i], start + i] - margin
        for q in range(k):
            row, given = out[q, start:stop], scores[q, start:stop]
            for i in range(stop - start):
                row[i] = given[i] - most[i]
        for i in range(stop - start):
            out[labels[i], start + i] = 0.0
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
    """summed[i] <- sum_q terms[q, i], and ``terms`` (k, n) are divided by it; ``summed`` (n,) float64."""
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


class Frobenius:
    """Omega(W) = ||W||_F^2.

    >>> Frobenius()(np.array([[1.0, -2.0]]))
    (5.0, array([[ 2., -4.]]))
    """

    curvature = 2.0  # bound of the second derivative

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        return float(np.vdot(weights, weights)), 2.0 * weights


class SmoothedL1:
    """Omega(W) = (1/beta) sum ln((e^{beta w} + e^{-beta w}) / 2), within ln 2 / beta an entry of ||W||_{1,1}."""

    def __init__(self, beta: float = 100.0):
        self.beta, self.curvature = beta, beta

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        size = np.abs(weights)
        values = size + (np.log1p(np.exp(-2.0 * self.beta * size)) - np.log(2.0)) / self.beta
        return float(values.sum()), np.tanh(self.beta * weights)


class SmoothedLInf:
    """Omega(W) = (1/beta) sum_r ln((1/2k) sum_q (e^{beta w_rq} + e^{-beta w_rq})).

    Within ln(2k) / beta a column of ||W||_{inf,1}, the sum of the columns' largest absolute weights.
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


class Objective:
    """L(W) + lambda Omega(W) for weights W (width, k) of a design.

    Parameters
    ----------
    design : DenseDesign or LocalDesign on n samples; it may grow.
    y : (n,) int64, class numbers.
    n_classes, margin : k, and the margin of the loss.
    penalty, weight : Omega, such as :class:`Frobenius`, and lambda.
    n_free : int, leading columns without a penalty.
    offset : (n, k) or None, scores added to those of W.
    """

    def __init__(self, design, y, n_classes, *, margin=1.0, penalty=None, weight=0.0, n_free=0, offset=None):
        self.design, self.y, self.n_classes, self.margin = design, y, n_classes, margin
        self.penalty, self.weight, self.n_free, self.offset = penalty, weight, n_free, offset

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.width, self.n_classes

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """(n, k) for ``weights`` (width, k)."""
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
        """lambda Omega of penalised weights, and its gradient."""
        if not self.weight:
            return 0.0, np.zeros(weights.shape)
        value, slope = self.penalty(weights)
        return self.weight * value, self.weight * slope

    def lipschitz(self) -> float:
        """Upper bound of the gradient's Lipschitz constant: lambda_max(X_I' X_I) / (2n) plus the penalty's bound."""
        return 0.5 * largest_curvature(self.design) + (self.weight * self.penalty.curvature if self.weight else 0.0)

    def scaling(self, weights: np.ndarray) -> Triangular | Kronecker | None:
        """Scaling for (1/n) X_I' D X_I plus the penalty's bound, D_ii = mean_q rho_iq (1 - rho_iq).

        This is the curvature at ``weights``, averaged over classes; a ridge of 1e-4 of a column's mean curvature makes
        it positive definite. None without any curvature. Cost: the design's.
        """
        sizes = np.abs(residuals(self.scores(weights), self.y, self.margin))
        bound = np.zeros(self.design.width)
        if self.weight:
            bound[self.n_free :] = self.weight * self.penalty.curvature
        return self.design.scaling((sizes * (1.0 - sizes)).mean(axis=1), bound)


class Minimum(NamedTuple):
    """Where a solver stopped: weights, objective, max |gradient|, number of iterations."""

    weights: np.ndarray
    value: float
    residual: float
    iterations: int


def lbfgs(objective: Objective, start: np.ndarray, tolerance: float, max_iterations: int) -> Minimum:
    """Minimise from ``start`` until max |gradient| <= tolerance, by SciPy's L-BFGS-B without bounds.

    Its variables are R W, with R' R the curvature at ``start`` or an estimate of it, so that similar columns do not
    slow it down: MNIST's templates take a ninth of the iterations.
    """
    return descend(objective, start, tolerance, max_iterations, objective.scaling)


def descend(
    function: Callable, start: np.ndarray, tolerance: float, max_iterations: int, scaling: Callable | None = None
) -> Minimum:
    """L-BFGS on any ``function`` that returns value and gradient; ``scaling(start)`` returns R, or None for R = 1."""
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
    """Minimise by Nesterov's accelerated gradient, the paper's solver, with step 1/Lip.

    Momentum is dropped if it points uphill or the objective has risen.
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
