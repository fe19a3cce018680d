"""Piece-wise linear predictors (section 5): the pool of pieces, the pieces in use, and their compiled kernels.

A piece is a ball around an anchor with a linear map in it: D + 1 columns (v, 1) for the samples inside the ball, 0 for
all others. The columns are never stored.

A *letter* holds six bits, one for each of six pieces: whether the sample is inside. The 64 sums of the six pieces'
weights are computed once and serve all samples; the samples with the same letter are summed before the six gradients
are formed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils
from numba.extending import intrinsic

from boostrun.kernels import needed
from boostrun.kernels.lanes import LANES, empty, increase, load, spread, store, total, widen_into, zeros
from boostrun.papers.shareboost.design import Kronecker, kronecker_scaling, pad_classes, parallel_map
from boostrun.papers.shareboost.pools import Pool, checksum

_MEASURED_TOGETHER = 4096  # distances of so many are computed together
_ANCHORS = 8  # in a piece of work
_LEAST_LEVEL = 0.02  # quantile of the smallest radius
_MEASURED = 2000  # samples used for the quantiles
_BLOCK, _CHUNK = 256, 2048  # samples whose scores on all pieces stay cached; samples in a piece of work
BITS, LETTERS = 6, 64
CLASSES, WIDTH, TOGETHER = 5, 2 * LANES, 4  # classes, coordinates and letters are padded to multiples of these
_SAMPLES, _WIDENED = 1024, 16384  # samples that stay cached; samples summed in single precision
# (6, 64): bit b of letter l
_BITS_OF_LETTERS = (np.arange(LETTERS) >> np.arange(BITS)[:, None] & 1).astype(np.float64)


class PiecewisePool(Pool):
    """1[||v - a_j|| < r_b] (v, 1): a group of D + 1 columns for every anchor j and radius b, numbered j B + b.

    Parameters
    ----------
    points : (n, D) float64, v on the training samples.
    anchors : (J, D); ``radii`` (B,) ascending, at most 255; the last may be infinite.
    mean, axes : (d,) and (d, D): v = (x - mean) axes, kept for new samples.
    rows : int64 or None, samples that candidates are scored on; None: all.

    Distances are coded once, in J n bytes. A scoring pass costs n J D c multiply-adds for all radii together, with D
    and the number of classes c rounded up to multiples of 32 and 5.
    """

    kind = "pieces"
    rounding = 1e-6

    def __init__(self, points, anchors, radii, mean, axes, rows: np.ndarray | None = None):
        self.anchors, self.radii, self.mean, self.axes, self.rows = anchors, radii, mean, axes, rows
        self.points = np.column_stack([points, np.ones(len(points))])
        self.n_samples, self.n_candidates = len(points), len(anchors) * len(radii)
        self.unit_starts = np.arange(len(anchors) + 1) * len(radii)
        self.codes = np.empty((len(anchors), len(points)), np.uint8)
        for start in range(0, len(points), _MEASURED_TOGETHER):
            distances = squared_distances(points[start : start + _MEASURED_TOGETHER], anchors)
            self.codes[:, start : start + _MEASURED_TOGETHER] = np.searchsorted(
                np.square(radii), distances, side="right"
            ).T
        self._scored_codes = self.codes if rows is None else np.ascontiguousarray(self.codes[:, rows])
        scored = self.points if rows is None else self.points[rows]
        self._scored_points = zeros(len(scored), -(-scored.shape[1] // WIDTH) * WIDTH)
        self._scored_points[:, : scored.shape[1]] = scored
        self._inverse_squares = np.empty((0, 0, 0))

    @classmethod
    def fitted(cls, samples, n_anchors: int, n_radii: int, pca: int | None, score_samples: int | None, rng):
        """The pool of ``samples`` (n, d): v are principal components divided by their largest absolute coordinate.

        Anchors are the k-means centres of v. Radii are quantiles of the distances between anchors and samples, at
        levels evenly spaced from 0.02 to 1; the last radius is infinite. ``rng`` seeds k-means and draws
        ``score_samples`` rows.
        """
        mean, axes = fit_projection(samples, pca, rng)
        points = (samples.astype(np.float64) - mean) @ axes
        anchors = fit_centres(points, min(n_anchors, len(points)), rng)
        radii = quantile_radii(points, anchors, n_radii, rng)
        rows = None
        if score_samples is not None and score_samples < len(points):
            rows = np.sort(rng.choice(len(points), score_samples, replace=False))
        return cls(points, anchors, radii, mean, axes, rows)

    def scores(self, residuals, units=None, normalised=False):
        sides = residuals if self.rows is None else residuals[self.rows]
        filled, d, k = pad_classes(sides, CLASSES), self.points.shape[1], sides.shape[1]
        anchors = np.arange(len(self.anchors)) if units is None else units.astype(np.int64)
        out = np.empty((len(anchors), len(self.radii)))
        inverse = self._inverses() if normalised else np.empty((0, 0, 0))

        def some(first):
            part = slice(first, first + _ANCHORS)
            piece_scores(
                self._scored_codes, anchors[part], self._scored_points, filled, d, k, inverse, out[part]
            )  # fmt: skip

        parallel_map(some, range(0, len(anchors), _ANCHORS))
        return out.ravel()

    def _inverses(self) -> np.ndarray:
        """n / ||X_r||^2 for every column of every candidate; 0 where the column is 0."""
        if not len(self._inverse_squares):
            squares = np.zeros((len(self.anchors), len(self.radii), self.points.shape[1]))
            piece_squares(self._scored_codes, self._scored_points, squares)
            squares = np.cumsum(squares, axis=1) / len(self._scored_points)
            self._inverse_squares = np.divide(1.0, squares, out=np.zeros(squares.shape), where=squares > 0.0)
        return self._inverse_squares

    def inside(self, candidate: int) -> np.ndarray:
        """(n,) bool: samples nearer to the anchor than the radius."""
        anchor, radius = divmod(candidate, len(self.radii))
        return self.codes[anchor] <= radius

    def columns(self, candidate):
        return self.points * self.inside(candidate)[:, None]

    def feature(self, candidate):
        anchor, radius = divmod(candidate, len(self.radii))
        return {"anchor": self.anchors[[anchor]], "radius": self.radii[[radius]]}

    def common(self):
        return {"mean": self.mean, "axes": self.axes}

    def describe(self, candidate):
        anchor, radius = divmod(candidate, len(self.radii))
        return f"within {self.radii[radius]:.4g} of anchor {anchor}"

    def reaches(self):
        share = 1.0 if self.rows is None else self.n_samples / len(self.rows)
        return np.full(self.n_candidates, share * np.abs(self.points).max(axis=0).sum())

    def cost(self, candidate):
        return self.anchors.shape[1]  # the distance; the projection, common to all pieces, is not counted

    def fingerprint(self):
        rows = np.empty(0, np.int64) if self.rows is None else self.rows
        return checksum(self.points, self.anchors, self.radii, rows)

    def design(self):
        return LocalDesign(self.points.astype(np.float32))

    def extend(self, design, candidate):
        design.add(self.inside(candidate))


def fit_projection(samples: np.ndarray, components: int | None, rng: np.random.Generator):
    """(mean (d,), axes (d, D)) of v = (x - mean) axes; the largest absolute coordinate on ``samples`` is 1.

    ``components``: number of principal components; None: the attributes themselves, not centred.
    """
    samples = samples.astype(np.float64)
    mean, axes = np.zeros(samples.shape[1]), np.eye(samples.shape[1])
    if components is not None:
        from sklearn.decomposition import PCA

        found = PCA(min(components, *samples.shape), random_state=int(rng.integers(2**31))).fit(samples)
        mean, axes = found.mean_, found.components_.T.copy()
    largest = np.abs((samples - mean) @ axes).max()
    return mean, axes / (largest if largest > 0.0 else 1.0)


def fit_centres(points: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, D) k-means centres of ``points`` (n, D)."""
    from sklearn.cluster import KMeans

    return KMeans(count, n_init=1, random_state=int(rng.integers(2**31))).fit(points).cluster_centers_


def quantile_radii(points: np.ndarray, anchors: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count,) ascending radii for all anchors, the last infinite: quantiles of distances of at most 2,000 points."""
    some = points if len(points) <= _MEASURED else points[rng.choice(len(points), _MEASURED, replace=False)]
    radii = np.quantile(np.sqrt(squared_distances(some, anchors)), np.linspace(_LEAST_LEVEL, 1.0, count))
    radii[-1] = np.inf
    return radii


def squared_distances(points: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """||v_i - a_j||^2: (m, J), through one matrix product; never negative."""
    out = points @ (-2.0 * anchors.T)
    out += np.einsum("id,id->i", points, points)[:, None]
    out += np.einsum("jd,jd->j", anchors, anchors)
    return np.maximum(out, 0.0, out=out)


class LocalDesign:
    """A growing number of pieces: column (j, a) is v_ia for the samples inside piece j, else 0.

    Stored are the samples' coordinates v (n, D) in single precision, one of them the constant 1, and the letters,
    twice: n (4 D + J / 3) bytes in place of 8 n D J. Products are in single precision, and so are sums of up to 16,384
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
        self._points = zeros(self.n_samples, _round_up(self.dimensions, WIDTH))
        self._points[:, : self.dimensions] = coordinates
        self._letters = np.zeros((0, self.n_samples), np.uint8)
        self._spelled = np.zeros((self.n_samples, 0), np.uint8)  # sample by sample

    def add(self, inside: np.ndarray) -> None:
        """Append the piece that holds the samples where ``inside`` (n,) is True: D columns."""
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
        """X_I W: (n, k), class-major in memory, for ``weights`` (m, k) of the first m columns.

        Cost n D k J / 6 additions.
        """
        k, count = weights.shape[1], _round_up(-(-len(weights) // (self.dimensions * BITS)), TOGETHER)
        width = self._points.shape[1]
        side = np.zeros((count * BITS, width, k), np.float32)
        given = weights.reshape(-1, self.dimensions, k)
        side[: len(given), : self.dimensions] = given
        side = np.ascontiguousarray(side.reshape(len(side), width // LANES, LANES, k).transpose(3, 1, 0, 2))
        letters, out = np.ascontiguousarray(self._spelled[:, :count]), np.empty((k, self.n_samples))
        parallel_map(lambda q: letter_scores(letters, self._points, side[q], out[q]), range(k))
        return out.T

    def gradient(self, residuals: np.ndarray) -> np.ndarray:
        """(1/n) X_I' G: (width, k), for ``residuals`` (n, k). Cost n D k J / 6 multiply-adds."""
        k, sides = residuals.shape[1], pad_classes(residuals, CLASSES)
        shape = (LETTERS, sides.shape[1], self._points.shape[1])

        def some(first):
            letters = np.arange(first, min(first + TOGETHER, -(-self.pieces // BITS)))
            sums = np.zeros((len(letters), *shape))
            outer_sums(self._letters, letters, self._points, sides, sums)
            each = _BITS_OF_LETTERS @ sums.reshape(len(letters), LETTERS, -1)
            return each.reshape(-1, *shape[1:])[:, :k, : self.dimensions]

        parts = parallel_map(some, range(0, -(-self.pieces // BITS), TOGETHER))
        found = np.concatenate([np.empty((0, k, self.dimensions)), *parts])[: self.pieces]
        return found.transpose(0, 2, 1).reshape(self.width, k) / self.n_samples

    def value_and_gradient(self, weights: np.ndarray, losses_of: Callable) -> tuple[float, np.ndarray]:
        """See :meth:`boostrun.papers.shareboost.design.DenseDesign.value_and_gradient`."""
        losses, residuals = losses_of(slice(0, self.n_samples), self.scores(weights))
        return float(losses.mean()), self.gradient(residuals)

    def scaling(self, weights: np.ndarray, bound: np.ndarray) -> Kronecker | None:
        """Scaling for ``weights`` w (n,): overlaps (1/n) sum_i w_i 1[i in j and j'] (x) the w-weighted mean of v v'.

        This treats the coordinates as equally spread in all pieces. Cost n (J^2 + D^2) multiply-adds.
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
        overlaps, moments = zip(*parallel_map(some, range(0, self.n_samples, _CHUNK)))
        return kronecker_scaling(sum(overlaps) / self.n_samples, sum(moments) / weights.sum(), bound)


class LocalScores:
    """The pieces of a fitted model, in the precision of ``coordinates`` (n, D); computes scores only."""

    def __init__(self, coordinates: np.ndarray, inside: np.ndarray):
        self.coordinates, self.inside, self.width = coordinates, inside, coordinates.shape[1] * inside.shape[1]

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Scores as in :meth:`LocalDesign.scores`: for each class one matrix product over all pieces, then masked."""
        n, d, k = *self.coordinates.shape, weights.shape[1]
        side = weights.reshape(-1, d, k).transpose(2, 1, 0).astype(self.coordinates.dtype, order="C")
        out = np.empty((k, n))

        def fill(start):
            for first in range(start, min(start + _CHUNK, n), _BLOCK):
                part = slice(first, min(first + _BLOCK, start + _CHUNK, n))
                inside = self.inside[part, : side.shape[2]].astype(side.dtype)
                out[:, part] = np.einsum("ij,qij->qi", inside, self.coordinates[part] @ side)

        parallel_map(fill, range(0, n, _CHUNK))
        return out.T


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@intrinsic
def _fused(typingctx, total, a, b):
    def emit(context, builder, signature, args):
        vector = ir.VectorType(ir.FloatType(), LANES)
        kind = ir.FunctionType(vector, [vector] * 3)
        name = f"llvm.fmuladd.v{LANES}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [args[1], args[2], args[0]])

    return total(total, a, b), emit


@njit(cache=True)
def _plain(total, a, b):
    out = np.empty(LANES, np.float32)
    for k in range(LANES):
        out[k] = np.float64(total[k]) + np.float64(a[k]) * np.float64(b[k])
    return out


@njit(cache=True)
def _works(row):
    store(row, 0, 0, _fused(load(row, 0, 0), spread(row[0, 0]), load(row, 0, 0)))
    return row[0, 0]


# total + a b lane by lane, rounded once if the processor can; 1.4 times as fast as two operations
plus_product = _plain if needed(lambda: _works(zeros(1, LANES)) == 0.0) else _fused


@njit(cache=True, nogil=True)
def outer_sums(codes, rows, points, sides, sums):
    """sums[j, c, q] += sum of G_iq v_i over samples i with codes[rows[j], i] = c, for codes c below B.

    Parameters
    ----------
    codes : uint8, (rows, n); rows : int64, (J,)
    points : float32, (n, D), v; D a multiple of 32. sides : float32, (n, k), G; k a multiple of 5
    sums : float64, (J, B, k, D), C-contiguous

    Cost J n D k multiply-adds in single precision; every 16,384 samples the sums are added up in double precision.
    Within 1,024 samples those of one code are taken together, so that their sums stay in registers.
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
            _sort_by_code(codes[rows[j], first:stop], starts, order)
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
def _sort_by_code(codes, starts, order):
    """order[starts[c] : starts[c + 1]] <- ascending positions of code c in ``codes``, for c below B.

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
def _add_outer(order, first, points, sides, block, row):
    """block[row + q] += sum_i G_iq v_i over the samples ``first + order``, five classes by 32 coordinates at a time."""
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
    """sum_aq |(1/n) sum of v_ia G_iq over samples with dist_ij < r_b| for the pieces (j, b) (section 5).

    Parameters
    ----------
    codes : uint8, (J, n), number of radii not above the distance to the anchor; inside radius b when code <= b
    anchors : int64, (A,), the anchors to score
    points, sides : as in :func:`outer_sums`; the first ``n_coordinates`` and ``n_classes`` count
    inverse_squares : float64, (J, B, D), weights of squared gradients; empty: absolute gradients are summed
    scores : float64, (A, B), filled

    Cost: that of :func:`outer_sums`, for all B radii together.
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
    """squares[j, b, a] += v_ia^2 over samples with code b, for b below the number of radii."""
    for j in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            if codes[j, i] < squares.shape[1]:
                for a in range(squares.shape[2]):
                    squares[j, codes[j, i], a] += points[i, a] * points[i, a]


@njit(cache=True, nogil=True)
def letter_scores(letters, points, weights, scores):
    """scores[i] = sum of v_i . w_j over the pieces j that hold sample i, looked up letter by letter.

    Parameters
    ----------
    letters : uint8, (n, L), C-contiguous; bit b of the l-th: the sample is in piece 6 l + b; L a multiple of 4
    points : float32, (n, D), v; D a multiple of 16
    weights : float32, (D / 16, 6 L, 16); scores : float64, (n,), filled

    Cost n L D additions in single precision, in place of 6 n L D multiply-adds, and 64 L D for the tables.
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
