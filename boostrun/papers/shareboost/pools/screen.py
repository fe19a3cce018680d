"""Scores of columns of codes from residuals of 16 bits, and how far they may be from the exact ones."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost.kernels.screening import BLOCK, LANES, in_words, moments, sums
from boostrun.papers.shareboost.threads import side_by_side

_FEATURES = 64  # columns of a piece of work


class Screen:
    """What is known of the rows x_r of ``codes`` (d, n) uint8 beforehand, from one pass over them.

    With residuals G = S + D, S multiples of a scale for every 1,024 samples and D the rest, x_r'G differs from
    x_r'S + mean(x_r) sum(D) by (x_r - mean(x_r))'D, hence by at most ||x_r - mean(x_r)|| ||D|| (Cauchy and Schwarz).

    Attributes: ``norms`` (d,) ||x_r|| / (255 n).
    """

    def __init__(self, codes: np.ndarray):
        self.codes = codes
        first, second = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)

        def some(start):
            part = slice(start, start + _FEATURES)
            moments(codes[part], first[part], second[part])

        side_by_side(some, range(0, len(codes), _FEATURES))
        n = codes.shape[1]
        self._unit = 255.0 * n
        self._means, self.norms = first / n, np.sqrt(second) / self._unit
        self._deviations = np.sqrt(np.maximum(second - first * (first / n), 0.0)) / self._unit

    def scores(self, residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """sum_q |(1/n) sum_i x_ir G_iq| / 255 of every row, nearly, and bounds of the errors: both (d,) float64.

        ``residuals`` G (n, k) count in single precision. Cost: a pass over the codes, d n k multiply-adds of 16 bits.
        """
        n, k = residuals.shape
        shape = -(-n // BLOCK), -(-k // LANES) * LANES
        sides, scales = np.zeros((*shape, BLOCK), np.int16), np.zeros(shape)
        rest, squares = np.empty(k), np.empty(k)
        in_words(residuals.T.astype(np.float32, order="C"), sides, scales, rest, squares)
        out = np.zeros((len(self.codes), shape[1]))

        def some(start):
            part = slice(start, start + _FEATURES)
            sums(self.codes[part], sides, scales, out[part])

        side_by_side(some, range(0, len(self.codes), _FEATURES))
        gradients = (out[:, :k] + np.multiply.outer(self._means, rest)) / self._unit
        return np.abs(gradients).sum(axis=1), self._deviations * np.sqrt(squares).sum()
