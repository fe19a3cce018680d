"""Samples drawn in proportion to their weights (Dubout & Fleuret 2014, section 3 and equations 1 and 2).

Signed weights s_il = w_il y_il stand as in :mod:`boostrun.kernels.votes`; a sample's weight is m_i = sum_l w_il.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .lanes import LANES, load, spread, store, total

_BLOCK = 16  # samples between two entries of the coarse running sums


def empty_sums(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Room for :func:`running_weights` of n samples: float64, of a multiple of 16 entries, and a 16th of that."""
    blocks = -(-n // _BLOCK)
    return np.empty(blocks * _BLOCK), np.empty(blocks)


@njit(cache=True)
def running_weights(signed, running, coarse):
    """Running sums of the samples' weights.

    Parameters: ``signed`` (n, c) float32; of :func:`empty_sums`, ``running`` is filled with m_0 + ... + m_i, and
    infinity after the last, ``coarse`` with every 16th of them and the last. Cost O(n c), one pass.
    """
    n, lanes = signed.shape
    so_far = 0.0
    for i in range(n):
        if lanes == 1:
            whole = abs(signed[i, 0])
        else:
            part = abs(load(signed, i, 0))
            for first in range(LANES, lanes, LANES):
                part = part + abs(load(signed, i, first))
            whole = total(part)
        so_far += np.float64(whole)
        running[i] = so_far
        coarse[i // _BLOCK] = so_far
    for i in range(n, running.shape[0]):
        running[i] = np.inf


@njit(cache=True)
def second_moment(signed):
    """kappa = sum_il w_il^2 / m_i (section 2) of ``signed`` (n, c) float32. Cost O(n c), one pass."""
    n, lanes = signed.shape
    kappa = 0.0
    for start in range(0, n, _BLOCK):  # summed in single precision
        shared = spread(np.float32(0.0))
        for i in range(start, min(start + _BLOCK, n)):
            if lanes == 1:
                kappa += np.float64(abs(signed[i, 0]))
                continue
            row = load(signed, i, 0)
            part, square = abs(row), row * row
            for first in range(LANES, lanes, LANES):
                row = load(signed, i, first)
                part, square = part + abs(row), square + row * row
            shared = shared + square * spread(np.float32(1.0) / max(total(part), np.float32(1e-30)))
        kappa += np.float64(total(shared))
    return kappa


@njit(cache=True)
def sample_by_weight(signed, running, coarse, spacings, rows, times, sample):
    """S rows drawn with replacement in proportion to their weights, and their signed class vectors.

    Parameters: ``signed`` (n, c) float32; ``running`` and ``coarse`` of :func:`running_weights`; ``spacings`` (S + 1,)
    float64 standard exponential, whose running sums are sorted uniforms. A row drawn several times is there once. Of
    ``rows`` (S,) int64, ``times`` (S,) int32 and ``sample`` (S, c) float32 as many entries are filled as are returned:
    rows ascending, how often each was drawn, and that often u_l = s_il / (m_i S).

    Cost O(S c + n / 16).
    """
    n, lanes = signed.shape
    size = rows.shape[0]
    length = 0.0
    for s in range(size + 1):
        length += spacings[s]
    unit, most = running[n - 1] / length, running[n - 1] * (1.0 - 1e-15)  # below the whole, rounding or not
    one, block, last, count, reached = np.uint64(1), np.uint64(0), np.uint64(n), np.uint64(0), 0.0
    for s in range(size):
        reached += spacings[s]
        wanted = reached * unit
        wanted = wanted if wanted < most else most
        while coarse[block] <= wanted:
            block += one
        at = block * np.uint64(_BLOCK)
        for half in (8, 4, 2, 1):
            at += np.uint64(half) * np.uint64(running[at + np.uint64(half - 1)] <= wanted)
        count += np.uint64(at != last)
        last = at
        rows[count - one], times[count - one] = at, s
    before = np.int32(-1)
    for s in range(count):
        at = rows[s]
        before, times[s] = times[s], times[s] - before
        weight = running[at] - (running[at - 1] if at > 0 else 0.0)
        factor = np.float32(times[s] / (weight * size))
        if lanes == 1:
            sample[s, 0] = signed[at, 0] * factor
        else:
            for part in range(0, lanes, LANES):
                store(sample, s, part, load(signed, at, part) * spread(factor))
    return np.int64(count)


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
