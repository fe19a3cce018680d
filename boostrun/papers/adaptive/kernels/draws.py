"""Samples drawn in proportion to their weights (Dubout & Fleuret 2014, section 3 and equations 1 and 2).

Signed weights s_il = w_il y_il stand as in :mod:`boostrun.kernels.votes`; a sample's weight is m_i = sum_l w_il.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels.lanes import LANES, at_most, empty, fetch, load, spread, store, total

_BELOW = np.float32(1.0 - 2.0**-24)  # times this, a number of single precision is the one before it


def empty_sums(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Room for :func:`running_weights` of n samples: (blocks + 1,) float64 and (blocks, 16) float32."""
    blocks = -(-n // LANES)
    return np.empty(blocks + 1), empty(blocks, LANES)


@njit(cache=True)
def running_weights(signed, coarse, fine):
    """Running sums of the samples' weights, in blocks of 16 samples.

    Parameters: ``signed`` (n, c) float32; of :func:`empty_sums`, ``coarse`` is filled with the sum of all blocks before
    each, and of all, ``fine`` with running sums of each block's own; beyond the last sample they stay level. Cost
    O(n c), one pass.
    """
    n, lanes = signed.shape
    coarse[0] = 0.0
    for block in range(fine.shape[0]):
        so_far = np.float32(0.0)
        for k in range(LANES):
            i = block * LANES + k
            if i < n:
                so_far += abs(signed[i, 0]) if lanes == 1 else _weight(signed, i)
            fine[block, k] = so_far
        coarse[block + 1] = coarse[block] + np.float64(so_far)


@njit(cache=True)
def _weight(signed, i):
    """m_i = sum_l |s_il|."""
    part = abs(load(signed, i, 0))
    for first in range(LANES, signed.shape[1], LANES):
        part = part + abs(load(signed, i, first))
    return total(part)


@njit(cache=True)
def second_moment(signed):
    """kappa = sum_il w_il^2 / m_i (section 2) of ``signed`` (n, c) float32. Cost O(n c), one pass."""
    n, lanes = signed.shape
    kappa = 0.0
    for start in range(0, n, LANES):  # summed in single precision
        shared = spread(np.float32(0.0))
        for i in range(start, min(start + LANES, n)):
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
def sample_by_weight(signed, coarse, fine, spacings, rows, times, sample):
    """S rows drawn with replacement in proportion to their weights, and their signed class vectors.

    Parameters: ``signed`` (n, c) float32; ``coarse`` and ``fine`` of :func:`running_weights`; ``spacings`` (S + 1,)
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
    whole = coarse[coarse.shape[0] - 1]
    unit, most = whole / length, whole * (1.0 - 1e-15)  # below the whole, rounding or not
    one, block, last, count, reached = np.uint64(1), np.uint64(0), np.uint64(n), np.uint64(0), 0.0
    for s in range(size):
        reached += spacings[s]
        wanted = reached * unit
        wanted = wanted if wanted < most else most
        while coarse[block + one] <= wanted:
            block += one
        rest, most_of_it = np.float32(wanted - coarse[block]), fine[block, np.uint64(LANES - 1)] * _BELOW
        rest = rest if rest < most_of_it else most_of_it
        at = block * np.uint64(LANES) + at_most(load(fine, block, 0), rest)
        fetch(signed, at, 0)
        count += np.uint64(at != last)
        last = at
        rows[count - one], times[count - one] = at, s
    before = np.int32(-1)
    for s in range(count):
        at = np.uint64(rows[s])
        before, times[s] = times[s], times[s] - before
        if lanes == 1:
            sample[s, 0] = signed[at, 0] * (np.float32(times[s]) / (abs(signed[at, 0]) * np.float32(size)))
            continue
        factor = np.float32(times[s]) / (_weight(signed, at) * np.float32(size))
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
