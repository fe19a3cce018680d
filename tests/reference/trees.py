"""A tree, grown by trying every split of every node."""

from itertools import pairwise

import numpy as np


def grow(codes, weights, positive, depth, least):
    """As boostrun.kernels.trees.grow for sample-major ``codes`` (n, d): features, thresholds, leaves of the samples."""
    nodes = 2**depth - 1
    features, thresholds, leaves = np.zeros(nodes, int), np.full(nodes, np.inf), np.zeros(len(codes), int)

    def side(rows):
        plus, minus = (float(weights[rows & (positive == sign)].sum()) for sign in (True, False))
        return plus + minus, (plus - minus) ** 2, plus > 0 and minus > 0

    def split(node, rows):
        if node >= nodes:
            leaves[rows] = node - nodes
            return
        best = -1.0
        for f in range(codes.shape[1]) if side(rows)[2] else ():
            for low, high in pairwise(np.unique(codes[rows, f]).tolist()):
                below = codes[:, f] <= low
                (left, edge, _), (right, other, _) = side(rows & below), side(rows & ~below)
                if left >= least and right >= least:
                    gain = (edge * right + other * left) / (left * right)
                    if gain > best:
                        best, features[node], thresholds[node] = gain, f, (low + high + 1) // 2
        right = codes[:, features[node]] >= thresholds[node]
        split(2 * node + 1, rows & ~right)
        split(2 * node + 2, rows & right)

    split(0, np.ones(len(codes), bool))
    return features, thresholds, leaves


def scores(samples, features, thresholds, leaves):
    """(n,) sums of the leaves of T trees, in their order."""
    out = np.zeros(len(samples))
    for tree in zip(features, thresholds, leaves):
        for i, sample in enumerate(samples):
            node = 0
            while node < len(tree[0]):
                node = 2 * node + (2 if sample[tree[0][node]] >= tree[1][node] else 1)
            out[i] += tree[2][node - len(tree[0])]
    return out
