"""Scores of ShareBoost's candidates, from their columns one by one."""

import numpy as np


def score(columns, residuals):
    """sum over columns and classes of |(1/n) sum_i x_ir G_iq|."""
    return np.abs(columns.T @ residuals / len(residuals)).sum()


def normalised_score(columns, residuals):
    """sum over columns of ||grad_r||_2^2 / ((1/n) ||X_r||^2), a zero column giving 0."""
    gradients, squares = columns.T @ residuals / len(residuals), (columns**2).mean(axis=0)
    return sum((g**2).sum() / s for g, s in zip(gradients, squares) if s > 0)


def stump_columns(samples):
    """(n, number of stumps): +1 above each threshold between neighbouring distinct values, feature by feature."""
    columns = []
    for values in samples.T:
        distinct = np.unique(values)
        columns += [np.where(values > low, 1.0, -1.0) for low in distinct[:-1]]
    return np.array(columns).reshape(-1, len(samples)).T


def product_columns(samples):
    """(n, d (d - 1) / 2): products of attributes in [-1, 1] by their ranges, each divided by its largest value."""
    low, high = samples.min(axis=0), samples.max(axis=0)
    z = np.where(high > low, 2 * (samples - low) / np.where(high > low, high - low, 1) - 1, 0.0)
    columns = [z[:, i] * z[:, j] for i in range(z.shape[1]) for j in range(i + 1, z.shape[1])]
    return np.array([c / np.abs(c).max() if np.abs(c).max() > 0 else c for c in columns]).T


def piece_columns(points, anchor, radius):
    """(n, D + 1): the points and 1 if they are nearer to the anchor than the radius, else 0."""
    near = np.linalg.norm(points - anchor, axis=1) < radius
    return np.column_stack([points, np.ones(len(points))]) * near[:, None]


def outer_sums(codes, points, sides, n_codes):
    """(J, n_codes, k, D): sums of G_iq v_i over the samples of every code, row by row of ``codes`` (J, n)."""
    sums = np.zeros((len(codes), n_codes, sides.shape[1], points.shape[1]))
    for j, row in enumerate(codes):
        for i, code in enumerate(row):
            if code < n_codes:
                sums[j, code] += np.outer(sides[i].astype(float), points[i].astype(float))
    return sums


def local_columns(points, inside):
    """(n, J D): the points if they are in a piece, else 0, piece by piece of ``inside`` (n, J)."""
    return np.hstack([points * near[:, None] for near in inside.T])


def share_boost(columns, y, k, rounds, solve):
    """Algorithm 1 on columns (n, d): the candidates taken and the last weights; ``solve(columns, y, k)`` minimises."""
    chosen = []
    for _ in range(rounds):
        weights = solve(columns[:, chosen], y, k)
        shares = columns[:, chosen] @ weights
        shares = shares - shares[np.arange(len(y)), y][:, None] + (np.arange(k) != y[:, None])
        shares = np.exp(shares - shares.max(axis=1, keepdims=True))
        residuals = shares / shares.sum(axis=1, keepdims=True) - np.eye(k)[y]
        scores = [-1.0 if r in chosen else score(columns[:, [r]], residuals) for r in range(columns.shape[1])]
        chosen.append(int(np.argmax(scores)))
    return chosen, solve(columns[:, chosen], y, k)
