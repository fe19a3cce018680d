"""The optional last phase of GEEM: exchange a kept sample for a discarded one while the objective grows (spec 4.3)."""

from __future__ import annotations

import numpy as np

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
