"""The convex problem of a round: the regularised loss over the columns in use, and two ways to its minimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from boostrun.papers.shareboost.design import curvature
from boostrun.papers.shareboost.loss import losses_and_residuals, residuals
from boostrun.papers.shareboost.scaling import Scaling

_MEMORY = 20  # pairs of steps and gradients that L-BFGS keeps


class Objective:
    """L(W) + lambda Omega(W) of weights W (width, k) of a design.

    Parameters
    ----------
    design : DenseDesign or LocalDesign on n samples; it may grow.
    y : (n,) int64, class numbers.
    n_classes, margin : k, and that of the loss.
    penalty, weight : Omega, a function as in :mod:`boostrun.papers.shareboost.regularisers`, and lambda.
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
