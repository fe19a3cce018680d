"""Columns of pieces of a piece-wise linear predictor: scores of weights, and gradients by them, without the columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boostrun.kernels.lanes import LANES, zeros
from boostrun.papers.shareboost.kernels.pieces import (
    BITS,
    CLASSES,
    LETTERS,
    TOGETHER,
    WIDTH,
    outer_sums,
    spelled_scores,
)
from boostrun.papers.shareboost.padding import padded
from boostrun.papers.shareboost.scaling import Kronecker, of_pieces
from boostrun.papers.shareboost.threads import side_by_side

_BLOCK, _CHUNK = 256, 2048  # samples whose scores of all pieces stay cached; that a thread takes at once


class LocalDesign:
    """A growing number of pieces: column (j, a) is v_ia for the samples within piece j, else 0.

    Kept are the samples' coordinates v (n, D) in single precision, one of them the constant 1, and six pieces a byte,
    twice: n (4 D + J / 3) bytes instead of 8 n D J. Products are in single precision, as are sums of up to 16,384
    samples.

    >>> design = LocalDesign(np.array([[2.0, 1.0], [3.0, 1.0]], np.float32))
    >>> design.add(np.array([False, True]))
    >>> design.scores(np.array([[1.0, -1.0], [0.5, 0.0]]))
    array([[ 0. ,  0. ],
           [ 3.5, -3. ]])
    """

    def __init__(self, coordinates: np.ndarray):
        self.n_samples, self.dimensions = coordinates.shape
        self.width = self.pieces = 0
        self._points = zeros(self.n_samples, _up(self.dimensions, WIDTH))
        self._points[:, : self.dimensions] = coordinates
        self._letters = np.zeros((0, self.n_samples), np.uint8)
        self._spelled = np.zeros((self.n_samples, 0), np.uint8)  # the same, sample by sample

    def add(self, inside: np.ndarray) -> None:
        """Append the piece of the samples where ``inside`` (n,) is True: D columns."""
        letter, bit = divmod(self.pieces, BITS)
        if letter == len(self._letters):
            more = np.zeros((TOGETHER, self.n_samples), np.uint8)
            self._letters = np.concatenate([self._letters, more])
            self._spelled = np.concatenate([self._spelled, more.T], axis=1)
        self._letters[letter] |= inside.astype(np.uint8) << np.uint8(bit)
        self._spelled[:, letter] = self._letters[letter]
        self.pieces += 1
        self.width += self.dimensions

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """X_I W: (n, k) of ``weights`` (m, k) of the first m columns, class-major in memory.

        Cost n D k J / 6 additions: the weights of every subset of six pieces are summed beforehand.
        """
        k, count = weights.shape[1], _up(-(-len(weights) // (self.dimensions * BITS)), TOGETHER)
        width = self._points.shape[1]
        side = np.zeros((count * BITS, width, k), np.float32)
        given = weights.reshape(-1, self.dimensions, k)
        side[: len(given), : self.dimensions] = given
        side = np.ascontiguousarray(side.reshape(len(side), width // LANES, LANES, k).transpose(3, 1, 0, 2))
        letters, out = np.ascontiguousarray(self._spelled[:, :count]), np.empty((k, self.n_samples))
        side_by_side(lambda q: spelled_scores(letters, self._points, side[q], out[q]), range(k))
        return out.T

    def gradient(self, residuals: np.ndarray) -> np.ndarray:
        """(1/n) X_I' G: (width, k) of ``residuals`` (n, k).

        Cost n D k J / 6 multiply-adds: the samples of the same letter are summed first.
        """
        k, sides = residuals.shape[1], padded(residuals, CLASSES)
        shape = (LETTERS, sides.shape[1], self._points.shape[1])

        def some(first):
            letters = np.arange(first, min(first + TOGETHER, -(-self.pieces // BITS)))
            sums = np.zeros((len(letters), *shape))
            outer_sums(self._letters, letters, self._points, sides, sums)
            each = _SPELLING @ sums.reshape(len(letters), LETTERS, -1)
            return each.reshape(-1, *shape[1:])[:, :k, : self.dimensions]

        parts = side_by_side(some, range(0, -(-self.pieces // BITS), TOGETHER))
        found = np.concatenate([np.empty((0, k, self.dimensions)), *parts])[: self.pieces]
        return found.transpose(0, 2, 1).reshape(self.width, k) / self.n_samples

    def value_and_gradient(self, weights: np.ndarray, losses_of: Callable) -> tuple[float, np.ndarray]:
        """As :meth:`boostrun.papers.shareboost.design.DenseDesign.value_and_gradient`."""
        losses, residuals = losses_of(slice(0, self.n_samples), self.scores(weights))
        return float(losses.mean()), self.gradient(residuals)

    def scaling(self, weights: np.ndarray, bound: np.ndarray) -> Kronecker | None:
        """As there, with (1/n) sum_i w_i 1[i in j and j'] times the mean of v v' weighted by w.

        That is, as if the coordinates were spread alike in all pieces. Cost n (J^2 + D^2) multiply-adds.
        """
        bits, roots = np.arange(BITS, dtype=np.uint8)[:, None], np.sqrt(weights).astype(np.float32)

        def some(start):
            part = slice(start, min(start + _CHUNK, self.n_samples))
            inside = self._letters[:, None, part] >> bits & np.uint8(1)
            inside = inside.reshape(-1, part.stop - start)[: self.pieces] * roots[part]
            points = self._points[part, : self.dimensions] * roots[part, None]
            return (inside @ inside.T).astype(np.float64), (points.T @ points).astype(np.float64)

        if not self.pieces:
            return None
        overlaps, moments = zip(*side_by_side(some, range(0, self.n_samples, _CHUNK)))
        return of_pieces(sum(overlaps) / self.n_samples, sum(moments) / weights.sum(), bound)


class LocalScores:
    """The same pieces for scores alone, in the precision of the ``coordinates`` (n, D): what predicts."""

    def __init__(self, coordinates: np.ndarray, inside: np.ndarray):
        self.coordinates, self.inside, self.width = coordinates, inside, coordinates.shape[1] * inside.shape[1]

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """As :meth:`LocalDesign.scores`; a matrix product for all pieces a class, masked afterwards."""
        n, d, k = *self.coordinates.shape, weights.shape[1]
        side = weights.reshape(-1, d, k).transpose(2, 1, 0).astype(self.coordinates.dtype, order="C")
        out = np.empty((k, n))

        def fill(start):
            for first in range(start, min(start + _CHUNK, n), _BLOCK):
                part = slice(first, min(first + _BLOCK, start + _CHUNK, n))
                inside = self.inside[part, : side.shape[2]].astype(side.dtype)
                out[:, part] = np.einsum("ij,qij->qi", inside, self.coordinates[part] @ side)

        side_by_side(fill, range(0, n, _CHUNK))
        return out.T


def squared_distances(points: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """||v_i - a_j||^2, (m, J), through one matrix product; never negative."""
    out = points @ (-2.0 * anchors.T)
    out += np.einsum("id,id->i", points, points)[:, None]
    out += np.einsum("jd,jd->j", anchors, anchors)
    return np.maximum(out, 0.0, out=out)


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


#: (6, 64): whether a bit is in a letter
_SPELLING = (np.arange(LETTERS) >> np.arange(BITS)[:, None] & 1).astype(np.float64)
