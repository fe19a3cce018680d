"""Sums of outer products by code, of weights by letter: what pieces of a piece-wise predictor need (section 5).

A *letter* says in six bits of which of six pieces a sample is: sixty-four sums of their weights, formed once, stand for
all that a sample can need of them, and sixty-four sums of samples for all that the six gradients need.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels.lanes import LANES, empty, increase, load, spread, store, total, widen_into, zeros
from boostrun.papers.shareboost.kernels.fused import plus_product

BITS, LETTERS = 6, 64
CLASSES, WIDTH, TOGETHER = 5, 2 * LANES, 4  # of which residuals, coordinates and letters come in multiples
_SAMPLES, _WIDENED = 1024, 16384  # that stay cached while they are summed, in single precision up to the second


@njit(cache=True, nogil=True)
def _by_code(codes, starts, order):
    """``order``[starts[c] : starts[c + 1]] <- the places of code c in ``codes``, ascending, for c below B.

    ``starts`` (B + 1,) int64 is filled too; larger codes are left out. Cost O(n + B).
    """
    radii = len(starts) - 1
    starts[:] = 0
    for code in codes:
        if code < radii:
            starts[code + 1] += 1
    for c in range(radii):
        starts[c + 1] += starts[c]
    for i, code in enumerate(codes):
        if code < radii:
            order[starts[code]] = i
            starts[code] += 1
    for c in range(radii, 0, -1):
        starts[c] = starts[c - 1]
    starts[0] = 0


@njit(cache=True, nogil=True)
def outer_sums(codes, rows, points, sides, sums):
    """sums[j, c, q] += sum over samples i whose codes[rows[j], i] is c of G_iq v_i, for codes c below B.

    Parameters
    ----------
    codes : uint8, (rows of them, n); rows : int64, (J,)
    points : float32, (n, D), v, D a multiple of 32; sides : float32, (n, k), G, k a multiple of 5
    sums : float64, (J, B, k, D), C-contiguous

    Cost J n D k multiply-adds in single precision, every 16384 samples added up in double. The samples of a code follow
    one another, 1,024 samples at a time, so that what is summed stays in registers.
    """
    radii, k, width = sums.shape[1], sums.shape[2], points.shape[1]
    parts, stride = width // LANES, np.uint64(radii * k)
    n, wide = len(points), sums.reshape(sums.size // LANES, LANES)
    block = zeros(len(rows) * radii * k, width)
    starts, order = np.empty(radii + 1, np.int64), np.empty(_SAMPLES, np.uint64)
    zero = spread(np.float32(0.0))
    for first in range(0, n, _SAMPLES):
        stop = min(first + _SAMPLES, n)
        for j in range(len(rows)):
            _by_code(codes[rows[j], first:stop], starts, order)
            for c in range(radii):
                if starts[c] < starts[c + 1]:
                    row = np.uint64(j) * stride + np.uint64(c * k)
                    _add_outer(order[starts[c] : starts[c + 1]], np.uint64(first), points, sides, block, row)
        if stop == n or stop % _WIDENED == 0:
            for r in range(block.shape[0]):
                for part in range(parts):
                    widen_into(wide, r * parts + part, load(block, r, part * LANES))
                    store(block, r, part * LANES, zero)


@njit(cache=True, nogil=True)
def _add_outer(order, first, points, sides, block, row):
    """block[row + q] += sum_i G_iq v_i over the samples ``first + order``: five classes by thirty-two coordinates."""
    zero, one, part = spread(np.float32(0.0)), np.uint64(1), np.uint64(LANES)
    for start in range(0, points.shape[1], WIDTH):
        left = np.uint64(start)
        right = left + part
        for class_ in range(0, sides.shape[1], CLASSES):
            q = np.uint64(class_)
            a0, a1, a2, a3, a4 = zero, zero, zero, zero, zero
            b0, b1, b2, b3, b4 = zero, zero, zero, zero, zero
            for place in order:
                i = first + place
                a, b, side = load(points, i, left), load(points, i, right), sides[i]
                g = spread(side[q])
                a0, b0 = plus_product(a0, a, g), plus_product(b0, b, g)
                g = spread(side[q + one])
                a1, b1 = plus_product(a1, a, g), plus_product(b1, b, g)
                g = spread(side[q + np.uint64(2)])
                a2, b2 = plus_product(a2, a, g), plus_product(b2, b, g)
                g = spread(side[q + np.uint64(3)])
                a3, b3 = plus_product(a3, a, g), plus_product(b3, b, g)
                g = spread(side[q + np.uint64(4)])
                a4, b4 = plus_product(a4, a, g), plus_product(b4, b, g)
            at = row + q
            increase(block, at, left, a0)
            increase(block, at, right, b0)
            increase(block, at + one, left, a1)
            increase(block, at + one, right, b1)
            increase(block, at + np.uint64(2), left, a2)
            increase(block, at + np.uint64(2), right, b2)
            increase(block, at + np.uint64(3), left, a3)
            increase(block, at + np.uint64(3), right, b3)
            increase(block, at + np.uint64(4), left, a4)
            increase(block, at + np.uint64(4), right, b4)


@njit(cache=True, nogil=True)
def piece_scores(codes, anchors, points, sides, n_coordinates, n_classes, inverse_squares, scores):
    """sum_aq |(1/n) sum over dist_ij < r_b of v_ia G_iq| of pieces (j, b) (section 5).

    Parameters: ``codes`` (J, n) uint8: how many radii do not exceed the sample's distance to the anchor, so that the
    sample is inside radius b when code <= b; ``anchors`` (A,) int64; ``points`` and ``sides`` as in :func:`outer_sums`,
    of which the first ``n_coordinates`` and ``n_classes`` count; ``scores`` (A, B) float64 is filled;
    ``inverse_squares`` (J, B, D) float64: squared gradients times these are summed instead, absolute ones when it is
    empty. Cost: that of :func:`outer_sums`, for all B radii.
    """
    n, radii = len(points), scores.shape[1]
    sums = np.zeros((len(anchors), radii, sides.shape[1], points.shape[1]))
    outer_sums(codes, anchors, points, sides, sums)
    for j in range(len(anchors)):
        for b in range(radii):
            score = 0.0
            for q in range(n_classes):
                inside, below = sums[j, b, q], sums[j, max(b - 1, 0), q]
                for a in range(n_coordinates):
                    if b > 0:
                        inside[a] += below[a]
                    gradient = inside[a] / n
                    if inverse_squares.shape[0] == 0:
                        score += abs(gradient)
                    else:
                        score += gradient * gradient * inverse_squares[anchors[j], b, a]
            scores[j, b] = score


@njit(cache=True)
def piece_squares(codes, points, squares):
    """squares[j, b, a] = sum of v_ia^2 over samples with code b, for b below the number of radii; in place."""
    for j in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            if codes[j, i] < squares.shape[1]:
                for a in range(squares.shape[2]):
                    squares[j, codes[j, i], a] += points[i, a] * points[i, a]


@njit(cache=True, nogil=True)
def spelled_scores(letters, points, weights, scores):
    """scores[i] = sum over the pieces j of sample i of v_i . w_j, by letters.

    Parameters
    ----------
    letters : uint8, (n, L), C-contiguous, bit b of the l-th: the sample is in piece 6 l + b; L a multiple of 4
    points : float32, (n, D), v, D a multiple of 16
    weights : float32, (D / 16, 6 L, 16); scores : float64, (n,), filled

    Cost: n L D additions in single precision, where 6 n L D multiply-adds would be needed; 64 L D for the sums.
    """
    n, count = letters.shape
    sums, zero, size = empty(count * LETTERS, LANES), spread(np.float32(0.0)), np.uint64(LETTERS)
    scores[:] = 0.0
    for part in range(len(weights)):
        for letter in range(count):
            at = letter * LETTERS
            store(sums, at, 0, zero)
            for bit in range(BITS):
                more = load(weights[part], letter * BITS + bit, 0)
                for low in range(1 << bit):
                    store(sums, at + low + (1 << bit), 0, load(sums, at + low, 0) + more)
        for sample in range(n):
            i, at = np.uint64(sample), np.uint64(0)
            a, b, c, d = zero, zero, zero, zero
            for letter in range(0, count, TOGETHER):
                these = letters[i, letter : letter + TOGETHER]
                a = a + load(sums, at + np.uint64(these[0]), 0)
                b = b + load(sums, at + size + np.uint64(these[1]), 0)
                c = c + load(sums, at + np.uint64(2) * size + np.uint64(these[2]), 0)
                d = d + load(sums, at + np.uint64(3) * size + np.uint64(these[3]), 0)
                at += np.uint64(TOGETHER) * size
            scores[i] += total(((a + b) + (c + d)) * load(points, i, np.uint64(part * LANES)))
