"""The multiclass logistic loss of class-major scores, but for its exponentials: what comes before them and after.

Both do what NumPy's functions of whole arrays do, term by term and in their order, a block of samples at a time.
"""

from __future__ import annotations

from numba import njit

_SAMPLES = 512  # whose terms stay cached


@njit(cache=True, nogil=True)
def exponents(scores, y, margin, out, largest):
    """out[q, i] <- margin 1[q != y_i] + s_iq - s_{i, y_i}, less its largest over q, which ``largest``[i] becomes.

    ``scores`` and ``out`` (k, n) float64, ``y`` (n,) int64, ``largest`` (n,) float64. Cost O(n k).
    """
    k, n = scores.shape
    for start in range(0, n, _SAMPLES):
        stop = min(start + _SAMPLES, n)
        most, own = largest[start:stop], y[start:stop]
        for i in range(stop - start):
            most[i] = scores[own[i], start + i] - margin
        for q in range(k):
            row, given = out[q, start:stop], scores[q, start:stop]
            for i in range(stop - start):
                row[i] = given[i] - most[i]
        for i in range(stop - start):
            out[own[i], start + i] = 0.0
            most[i] = out[0, start + i]
        for q in range(1, k):
            row = out[q, start:stop]
            for i in range(stop - start):
                most[i] = row[i] if row[i] > most[i] else most[i]
        for q in range(k):
            row = out[q, start:stop]
            for i in range(stop - start):
                row[i] -= most[i]


@njit(cache=True, nogil=True)
def shares(terms, summed):
    """summed[i] <- sum_q terms[q, i], by which they are divided: ``terms`` (k, n), ``summed`` (n,) float64."""
    k, n = terms.shape
    for start in range(0, n, _SAMPLES):
        whole = summed[start : min(start + _SAMPLES, n)]
        for i in range(len(whole)):
            whole[i] = terms[0, start + i]
        for q in range(1, k):
            row = terms[q, start : start + len(whole)]
            for i in range(len(whole)):
                whole[i] += row[i]
        for q in range(k):
            row = terms[q, start : start + len(whole)]
            for i in range(len(whole)):
                row[i] /= whole[i]
