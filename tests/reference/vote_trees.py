"""Obvious twins of AdaBoost.MH with trees: the definitions, by brute force."""

import numpy as np


def node_weights(signed):
    """(s_il - m_i T_l / M) / Z, summing to 1 in absolute value; ``signed`` (k, K)."""
    m = np.abs(signed).sum(axis=1)
    centred = signed - np.outer(m, signed.sum(axis=0)) / m.sum()
    return centred / np.abs(centred).sum()


def best_split(codes, signed):
    """(feature, threshold, edge) of the best of all features and thresholds with samples on both sides, or None."""
    best = None
    for feature, column in enumerate(codes):
        for threshold in range(1, 256):
            above = column >= threshold
            if above.any() and not above.all():
                edge = sum(abs(total) for total in np.where(above, 1.0, -1.0) @ signed)
                if best is None or edge > best[2] + 1e-9:
                    best = feature, threshold, edge
    return best


def tree(codes, signed, depth):
    """(leaf of each sample, as the path to it; number of splits), grown by a look at all features in every node."""
    paths, splits = [""] * codes.shape[1], 0
    for level in range(depth):
        for path in sorted(set(paths)):
            rows = np.array([i for i, one in enumerate(paths) if one == path])
            if len(path) < level:
                continue
            found = best_split(codes[:, rows], node_weights(signed[rows])) if len(rows) > 1 else None
            if found is not None:
                splits += 1
                for i in rows:
                    paths[i] += "+" if codes[found[0], i] >= found[1] else "-"
    return paths, splits


def edge_and_votes(paths, signed):
    """(sum over leaves and classes of |sum of signed weights|, votes of each sample's leaf (n, K))."""
    votes, edge = np.empty(signed.shape), 0.0
    for path in set(paths):
        rows = [i for i, one in enumerate(paths) if one == path]
        sums = signed[rows].sum(axis=0)
        edge += np.abs(sums).sum()
        votes[rows] = np.where(sums >= 0, 1.0, -1.0)
    return edge, votes
