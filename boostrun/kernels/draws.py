"""Samples drawn in proportion to their weights (Dubout & Fleuret 2014, section 3 and equations 1 and 2).

Signed weights s_il = w_il y_il stand as in :mod:`boostrun.kernels.votes`; a sample's weight is m_i = sum_l w_il.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .lanes import LANES, load, spread, store, total

_SUMMED = 16  # samples whose shares of kappa are summed in single precision


@njit(cache=True)
def running_weights(signed, running, guide):
    """Running sums of the samples' weights, and a guide into them; returns kappa = sum_il w_il^2 / m_i (section 2).

    Parameters: ``signed`` (n, c) float32; ``running`` (n,) float64 is filled with m_0 + ... + m_i; ``guide`` (n + 1,)
    int32 with the first row that begins in each of n equal parts of the whole, or after it. Cost O(n c), one pass.
    """
    n, lanes = signed.shape
    so_far, kappa = 0.0, 0.0
    for start in range(0, n, _SUMMED):
        shared = spread(np.float32(0.0))
        for i in range(start, min(start + _SUMMED, n)):
            if lanes == 1:
                whole = np.float64(abs(signed[i, 0]))
                kappa += whole
            else:
                row = load(signed, i, 0)
                part, square = abs(row), row * row
                for first in range(LANES, lanes, LANES):
                    row = load(signed, i, first)
                    part, square = part + abs(row), square + row * row
                whole = np.float64(total(part))
                shared = shared + square * spread(np.float32(1.0 / max(whole, 1e-30)))
            so_far += whole
            running[i] = so_far
        kappa += np.float64(total(shared))
    for j in range(n + 1):
        guide[j] = n
    scale = n / so_far
    for i in range(n - 1, 0, -1):
        guide[min(int(running[i - 1] * scale), n)] = i
    for j in range(n - 1, -1, -1):
        guide[j] = guide[j] if guide[j] < guide[j + 1] else guide[j + 1]
    return kappa


@njit(cache=True)
def sample_by_weight(signed, running, guide, spacings, rows, sample):
    """Rows drawn with replacement in proportion to their weights, and their signed class vectors.

    Parameters: ``signed`` (n, c) float32; ``running`` and ``guide`` of :func:`running_weights`; ``spacings`` (S + 1,)
    float64 standard exponential, whose running sums are sorted uniforms; ``rows`` (S,) int64 and ``sample`` (S, c)
    float32 are filled: rows ascending, u_l = s_il / (m_i S). Cost O(S c).
    """
    n, lanes = signed.shape
    size = rows.shape[0]
    unit, scale = running[n - 1] / spacings.sum(), n / running[n - 1]
    wanted = 0.0
    for s in range(size):
        wanted += spacings[s] * unit
        at = max(guide[min(int(wanted * scale), n)] - 1, 0)
        while at < n - 1 and running[at] <= wanted:
            at += 1
        while at > 0 and running[at] == running[at - 1]:
            at -= 1  # rounding put us on a row without weight
        rows[s] = at
        weight = running[at] - (running[at - 1] if at > 0 else 0.0)
        factor = np.float32(1.0 / (weight * size))
        if lanes == 1:
            sample[s, 0] = signed[at, 0] * factor
        else:
            for part in range(0, lanes, LANES):
                store(sample, s, part, load(signed, at, part) * spread(factor))


@njit(cache=True)
def without_replacement(starts, sizes, counts, uniforms, taken, out):
    """Features of several families, drawn uniformly without replacement (Floyd's algorithm).

    Parameters: ``starts``, ``sizes``, ``counts`` (M,) int64, of which ``counts`` at most ``sizes``; ``uniforms`` (sum
    of counts,) float64 in [0, 1); ``out`` (sum of counts,) int64 is filled family by family, ascending within;
    ``taken`` (d,) uint8 of zeros, left so. Cost O(sum of the sizes of families with counts).
    """
    used = at = 0
    for k in range(starts.shape[0]):
        if counts[k] == 0:
            continue
        for last in range(starts[k] + sizes[k] - counts[k], starts[k] + sizes[k]):
            feature = starts[k] + int(uniforms[used] * (last + 1 - starts[k]))
            taken[last if taken[feature] else feature] = 1
            used += 1
        for feature in range(starts[k], starts[k] + sizes[k]):
            if taken[feature]:
                out[at] = feature
                at += 1
                taken[feature] = 0
