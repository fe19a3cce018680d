"""Accelerated proximal gradient for the mixed-norm problem on given columns, stopped by a certificate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun.papers.shareboost.design import curvature
from boostrun.papers.shareboost.loss import loss_and_residuals
from boostrun.papers.shareboost.prox import largest_column, mixed_norm, prox

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
