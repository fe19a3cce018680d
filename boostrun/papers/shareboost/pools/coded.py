"""Columns of a uint8 bank as candidates: code/255, never held as floats."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost.coded_design import CodedDesign
from boostrun.papers.shareboost.kernels.screening import BLOCK, LANES, in_words, moments, sums
from boostrun.papers.shareboost.pools.pool import ColumnPool, checksum, summed
from boostrun.papers.shareboost.threads import side_by_side

_FEATURES, _SAMPLES = 64, 8192  # a block of codes as floats: 2 MiB; single precision sums no more samples than these
_SIGMAS = 16  # standard deviations of an error that are allowed for


class CodedPool(ColumnPool):
    """The rows of ``codes`` (d, n) uint8, feature-major, possibly memory-mapped; a code c is the value c/255.

    Parameters: ``costs`` (d,) int64 or None, multiply-adds of computing each feature of a sample (0); ``names`` list of
    str or None. A scoring pass reads d n bytes and costs n d k multiply-adds in single precision.

    >>> pool = CodedPool(np.array([[255, 0], [51, 51]], np.uint8))
    >>> pool.scores(np.array([[0.5, -0.5], [-0.5, 0.5]]))
    array([0.5, 0. ])
    >>> pool.columns(1).ravel()
    array([0.2, 0.2])
    """

    kind = "codes"
    rounding = 1e-6
    large_from = 4 * _SAMPLES  # columns of as many samples do not stay cached
    _screen = None

    def __init__(self, codes: np.ndarray, costs: np.ndarray | None = None, names=None):
        self.codes, self.costs, self.names = np.asarray(codes), costs, names
        self.n_candidates, self.n_samples = codes.shape

    def gradients(self, residuals, columns=None):
        count = len(self.codes) if columns is None else len(columns)
        return self._gradients(residuals, columns, count, range(0, count, _FEATURES))

    def contending(self, residuals, taken):
        """As there: a pass in integers of 16 bits, twice as many at once, rules most blocks of columns out.

        It allows for sixteen standard deviations of rounding, its own and that of single precision, whose errors are
        taken to be independent: a block's are those of a walk of 8,192 steps, each up to 2^-24 of the sum so far.
        """
        if self.n_samples < self.large_from or not self.codes.flags.c_contiguous:
            return self.scores(residuals)
        if self._screen is None:
            self._screen = Screen(self.codes)
        scores, errors = self._screen.scores(residuals)
        errors += self._screen.norms * np.sqrt(np.square(residuals).sum(axis=0)).sum() * 2.0**-24 * _SAMPLES / 3**0.5
        errors *= _SIGMAS / self.n_samples**0.5
        least = (scores - errors)[~taken].max(initial=0.0)
        contends = ~taken & (scores + errors >= least * (1.0 - self.rounding))
        starts = np.unique(np.flatnonzero(contends) // _FEATURES) * _FEATURES  # whole blocks round as in a whole pass
        exact = summed(self._gradients(residuals, None, len(self.codes), starts))
        return np.where(contends, exact, -np.inf)

    def _gradients(self, residuals, columns, count, starts):
        """(count, k): of the blocks of columns that begin at ``starts``, and zeros."""
        codes, sides = self.codes, residuals.astype(np.float32, order="C")
        out = np.zeros((count, residuals.shape[1]))

        def fill(start):
            part = slice(start, min(start + _FEATURES, count))
            rows = codes[part] if columns is None else codes[columns[part]]
            values = np.empty((len(rows), min(_SAMPLES, self.n_samples)), np.float32)
            for first in range(0, self.n_samples, _SAMPLES):
                some = rows[:, first : first + _SAMPLES]
                np.copyto(values[:, : some.shape[1]], some)
                out[part] += values[:, : some.shape[1]] @ sides[first : first + _SAMPLES]

        side_by_side(fill, starts)
        return out / (255.0 * self.n_samples)

    def _square_means(self):
        values = np.square(np.arange(256.0)) / 255.0**2
        blocks = range(0, self.n_candidates, _FEATURES)
        sums = side_by_side(lambda r: values[self.codes[r : r + _FEATURES]].sum(axis=1), blocks)
        return np.concatenate(sums) / self.n_samples

    def columns(self, candidate):
        return self.codes[candidate][:, None] / 255.0

    def design(self):
        return CodedDesign(self.n_samples) if self.n_samples >= self.large_from else super().design()

    def describe(self, candidate):
        return super().describe(candidate) if self.names is None else self.names[candidate]

    def reaches(self):
        return self.codes.max(axis=1) / 255.0

    def cost(self, candidate):
        return 0 if self.costs is None else int(self.costs[candidate])

    def fingerprint(self):
        return checksum(self.codes)


_ROWS = 64  # columns of codes in a piece of work


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
            part = slice(start, start + _ROWS)
            moments(codes[part], first[part], second[part])

        side_by_side(some, range(0, len(codes), _ROWS))
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
            part = slice(start, start + _ROWS)
            sums(self.codes[part], sides, scales, out[part])

        side_by_side(some, range(0, len(self.codes), _ROWS))
        gradients = (out[:, :k] + np.multiply.outer(self._means, rest)) / self._unit
        return np.abs(gradients).sum(axis=1), self._deviations * np.sqrt(squares).sum()
