"""Obvious twins of the mixed norm: a projection by bisection, and a generic solver for the whole problem."""

import numpy as np
from scipy.optimize import minimize

from boostrun.papers.shareboost.inner import loss_and_residuals


def project_on_l1_ball(values, radius):
    """The nearest point (k,) whose absolute values sum to at most ``radius``: shrink by a bisected amount."""
    if np.abs(values).sum() <= radius:
        return values
    low, high = 0.0, np.abs(values).max()
    for _ in range(200):
        shrink = (low + high) / 2
        low, high = (shrink, high) if np.maximum(np.abs(values) - shrink, 0).sum() > radius else (low, shrink)
    return np.sign(values) * np.maximum(np.abs(values) - high, 0)


def constrained(objective, shape, penalty, start):
    """min objective(W) + penalty sum_r u_r over |W_rq| <= u_r by SLSQP; ``objective`` gives value and gradient."""
    size = shape[0] * shape[1]

    def whole(v):
        value, gradient = objective(v[:size].reshape(shape))
        return value + penalty * v[size:].sum(), np.concatenate([gradient.ravel(), np.full(shape[0], penalty)])

    owner = np.repeat(np.eye(shape[0]), shape[1], axis=0)
    above = np.block([[-np.eye(size), owner], [np.eye(size), owner]])
    first = np.concatenate([start.ravel(), np.abs(start).max(axis=1)])
    found = minimize(
        whole, first, jac=True, method="SLSQP", options={"maxiter": 1000, "ftol": 1e-14},
        constraints={"type": "ineq", "fun": lambda v: above @ v, "jac": lambda v: above},
    )  # fmt: skip
    return found.x[:size].reshape(shape), found.fun


def mixed_norm_minimum(samples, y, k, lam):
    """(W, min L(W) + lam ||W||_{inf,1}) over W (d, k) by the generic solver."""

    def objective(weights):
        loss, residuals = loss_and_residuals(samples @ weights, y, 1.0)
        return loss, samples.T @ residuals / len(y)

    return constrained(objective, (samples.shape[1], k), lam, np.zeros((samples.shape[1], k)))
