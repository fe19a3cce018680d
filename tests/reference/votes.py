"""Obvious twins of boostrun.kernels.votes and AdaBoost.MH: the definitions of the specification, nothing rearranged."""

import itertools

import numpy as np


def best_stump_of_feature(codes, signed):
    """(edge, threshold) over all thresholds and all vote vectors; ``codes`` (n,), ``signed`` (n, K)."""
    best, at = -1.0, 0
    for threshold in range(256):
        side = np.where(codes >= threshold, 1.0, -1.0)
        for votes in itertools.product((-1.0, 1.0), repeat=signed.shape[1]):
            edge = float(side @ signed @ np.array(votes))
            if edge > best + 1e-12:
                best, at = edge, threshold
    return best, at


def weights(labels, scores):
    """w_il = exp(-y_il F_l(x_i)), normalised."""
    unnormed = np.exp(-labels * scores)
    return unnormed / unnormed.sum()


def scores(codes, features, thresholds, votes, alphas):
    """F_l(x_i) = sum_t alpha_t v_tl phi_t(x_i), sample by sample; ``codes`` (d, n)."""
    out = np.zeros((codes.shape[1], votes.shape[1]))
    for feature, threshold, vote, alpha in zip(features, thresholds, votes, alphas):
        for i in range(codes.shape[1]):
            out[i] += alpha * vote * (1.0 if codes[feature, i] >= threshold else -1.0)
    return out


def kappa(signed):
    """sum_i sum_l w_il^2 / m_i, the second moment of a draw for independent votes; ``signed`` (n, c)."""
    return sum((row**2).sum() / np.abs(row).sum() for row in signed.astype(float) if row.any())
