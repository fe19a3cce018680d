"""Obvious twins of boostrun.papers.reservoir.kernels: the definitions of the specification, nothing rearranged."""

import numpy as np


def covariance_by_enumeration(samples, y):
    """Sum over every distinct stump on the samples, both polarities, of (h(x_i) y_i)(h(x_j) y_j)."""
    sigma = np.zeros((len(y), len(y)))
    for column in samples.T:
        values = np.unique(column)
        for threshold in values[1:]:
            for polarity in (1, -1):
                products = np.where(column >= threshold, polarity, -polarity) * y
                sigma += np.outer(products, products)
    return sigma


def corrected_weights(sigma, weights, kept):
    """w~_B = w_B + w_B'^T Sigma_B'B Sigma_BB^-1."""
    dropped = np.setdiff1d(np.arange(len(weights)), kept)
    return weights[kept] + weights[dropped] @ sigma[np.ix_(dropped, kept)] @ np.linalg.inv(sigma[np.ix_(kept, kept)])


def objective(sigma, weights, kept, target):
    """E(B) = <h*_B, w_B> + <Sigma_B'B Sigma_BB^-1 h*_B, w_B'>."""
    return float(corrected_weights(sigma, weights, kept) @ target[kept])


def select(sigma, weights, q, lattice=None):
    """Greedy discarding from the definition: at each step try every sample, keep the largest objective."""
    lattice = np.ones((1, len(weights))) if lattice is None else lattice
    kept, order = list(range(len(weights))), []
    for _ in range(q):
        target = lattice[np.argmax([h[kept] @ weights[kept] for h in lattice])]
        candidates = [objective(sigma, weights, np.delete(kept, i), target) for i in range(len(kept))]
        order.append(kept.pop(int(np.argmax(candidates))))
    return np.array(kept), corrected_weights(sigma, weights, np.array(kept)), np.array(order)


def thin_covariance(above, y, ridge):
    """2 / k times the products of the signs y h of k stumps, and the ridge on the diagonal."""
    signs = np.where(above, 1.0, -1.0) * y[:, None]
    return sum((2.0 / above.shape[1] * np.outer(column, column) for column in signs.T), ridge * np.eye(len(y)))
