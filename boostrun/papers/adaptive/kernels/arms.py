"""Edges of (feature, threshold) pairs from samples that come in batches, with intervals (Tiwari et al. 2022).

A draw of sample i has the signed class vector u, u_l = y_il w_il / m_i, as in :mod:`boostrun.papers.adaptive.board`;
arrays stand as in :mod:`boostrun.kernels.votes`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_BINS = 256


@njit(cache=True)
def insert(codes, features, slots, rows, signed, factor, histograms):
    """histograms[256 slots[q] + codes[features[q], rows[i]], :] += factor * signed[i, :], for all q and i.

    Parameters: ``codes`` (d, N) uint8; ``features`` and ``slots`` (Q,) int64; ``rows`` (S,) int64; ``signed`` (S, c)
    float32; ``histograms`` (256 slots, c) float32. Cost Q S c.
    """
    lanes = signed.shape[1]
    for q in range(features.shape[0]):
        column, base = codes[features[q]], _BINS * slots[q]
        for i in range(rows.shape[0]):
            at = base + np.int64(column[rows[i]])
            for lane in range(lanes):
                histograms[at, lane] += factor * signed[i, lane]


@njit(cache=True)
def second_moments(signed, classes, uniform):
    """M = E[u u'] (K, K) float64 of a draw: sum_i s_i s_i' / m_i by weight, n sum_i s_i s_i' where all are as likely.

    ``signed`` (n, c) float32, of which ``classes`` = K columns are used. No feature is read. Cost O(n K^2).
    """
    n = signed.shape[0]
    out = np.zeros((classes, classes))
    for i in range(n):
        weight = 0.0
        for k in range(classes):
            weight += abs(np.float64(signed[i, k]))
        if weight == 0.0:
            continue
        factor = np.float64(n) if uniform else 1.0 / weight
        for k in range(classes):
            scaled = factor * signed[i, k]
            for j in range(k + 1):
                out[k, j] += scaled * signed[i, j]
    for k in range(classes):
        for j in range(k):
            out[j, k] = out[k, j]
    return out


@njit(cache=True)
def intervals(histograms, slots, size, moments, z, edges, lower, upper):
    """Estimated edge of each feature, and how sure it is: the largest ends of the intervals of its thresholds.

    Parameters: ``histograms`` of :func:`insert` after ``size`` = S draws in all; ``slots`` (Q,); ``moments`` M (K, K);
    ``z``, the normal quantile; ``edges``, ``lower``, ``upper`` (Q,) float64 are filled.

    With e_l(b) = mean u_l phi_b over the draws, the edge of an arm (f, b) is g(e) = sum_l |e_l(b)|. The gradient is v
    = sign(e), and the covariance of e is (M - e e') / S, since phi_b^2 = 1 leaves E[u u'] as it is. The delta method
    gives the edge the variance::

        v' (M - e e') v / S = (v' M v - edge^2) / S

    and the interval edge +- z times its root. For two classes M = 1 by weight, and the variance is (1 - edge^2) / S.
    Cost Q (256 K + K for each sign that differs from one threshold to the next).
    """
    classes = moments.shape[0]
    whole, below = np.empty(classes), np.empty(classes)
    votes, spread = np.empty(classes), np.empty(classes)  # spread = M v
    for q in range(slots.shape[0]):
        base = _BINS * slots[q]
        whole[:], below[:], spread[:] = 0.0, 0.0, 0.0
        for code in range(_BINS):
            for k in range(classes):
                whole[k] += histograms[base + code, k]
        quadratic = 0.0
        for k in range(classes):
            votes[k] = 1.0 if whole[k] >= 0.0 else -1.0
            for j in range(classes):
                spread[j] += moments[k, j] * votes[k]
        for k in range(classes):
            quadratic += votes[k] * spread[k]
        edges[q], lower[q], upper[q] = -1.0, -np.inf, -np.inf
        changed = True  # an empty bin has the edge of the one after it
        for code in range(_BINS):
            if changed:
                edge = 0.0
                for k in range(classes):
                    e = (whole[k] - 2.0 * below[k]) / size
                    edge += abs(e)
                    if (e >= 0.0) != (votes[k] > 0.0):
                        votes[k] = -votes[k]
                        quadratic += 4.0 * votes[k] * spread[k] + 4.0 * moments[k, k]
                        for j in range(classes):
                            spread[j] += 2.0 * votes[k] * moments[k, j]
                half = z * math.sqrt(max(quadratic - edge * edge, 0.0) / size)
                edges[q] = max(edges[q], edge)
                lower[q] = max(lower[q], edge - half)
                upper[q] = max(upper[q], edge + half)
            changed = False
            for k in range(classes):
                if histograms[base + code, k] != 0.0:
                    below[k] += histograms[base + code, k]
                    changed = True
