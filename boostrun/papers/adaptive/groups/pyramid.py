"""Groups on spatial pyramids (Lazebnik et al. 2006): PHOG, local binary patterns, and visual words of SIFT descriptors.

An image is divided into 1, 4, 16 and 64 cells, one family a level. Row i of h belongs to row floor(8 i / h) of the
finest cells, columns likewise; each coarser cell is 2x2 finer ones. PHOG: Bosch, Zisserman & Munoz 2007; binary
patterns: Ojala et al. 2002; SIFT on a regular grid, one scale, upright: Lowe 2004, Bosch et al. 2008; codebooks of
visual words, the centres of k-means on descriptors of training images: Sivic & Zisserman 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from boostrun.papers.adaptive.families.gradients import cell_votes, split_votes
from boostrun.papers.adaptive.families.images import Lbp, differences, flat, gray

LEVELS = 4
SIDE = 1 << (LEVELS - 1)  # finest cells along a side
CELLS = sum(4**level for level in range(LEVELS))


def widths(d: int) -> tuple[int, ...]:
    """Values of the four levels with d values a cell.

    >>> widths(20)
    (20, 80, 320, 1280)
    """
    return tuple(d * 4**level for level in range(LEVELS))


def finest(length: int) -> np.ndarray:
    """The row (or column) of finest cells of each of `length` rows, (length,) int64, 0..7."""
    return np.arange(length) * SIDE // length


def cells(n: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Number of the finest cell of each place of n maps, (n, r, c) int64, counted through all maps.

    Parameters
    ----------
    n : int, maps
    rows : int64, (r,), the row of cells of each row of a map
    columns : int64, (c,), likewise
    """
    return (np.arange(n)[:, None, None] * SIDE + rows[:, None]) * SIDE + columns


def tally(places: np.ndarray, bins: np.ndarray, n: int, d: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Histograms of the finest cells of n maps: how many (or how much weight) in each of d bins, (n, 8, 8, d).

    Parameters
    ----------
    places : int64, numbers of cells from `cells`
    bins : int, the same shape, 0..d-1
    weights : float64, the same shape; without it each counts 1, and the result is int64
    """
    size = n * SIDE * SIDE * d
    counted = np.bincount((places * d + bins).ravel(), None if weights is None else weights.ravel(), size)
    return counted.reshape(n, SIDE, SIDE, d)


def pyramid(sums: np.ndarray) -> np.ndarray:
    """Sums over the cells of all levels from those of the finest, (n, 8, 8, d) -> (n, 85, d), coarsest level first.

    Within a level row by row.
    """
    levels = [sums]
    while levels[0].shape[1] > 1:
        fine = levels[0]
        levels.insert(0, fine[:, ::2, ::2] + fine[:, ::2, 1::2] + fine[:, 1::2, ::2] + fine[:, 1::2, 1::2])
    return np.concatenate([level.reshape(len(sums), -1, sums.shape[3]) for level in levels], axis=1)


class Phog:
    """PHOG-180 and PHOG-360: where the edges of the grey image run, in 20 bins of the half circle or 40 of the circle.

    Edges are those of scikit-image's `canny` with its defaults (Gaussian of 1 pixel, thresholds 0.1 and 0.2 of a
    picture in 0..1); an edge pixel votes with the length of its gradient by 3x3 Sobel masks, split linearly between two
    bins (see `orientations`). Each level is divided by the votes of the whole image; an image without edges is 0.
    d = 1,700 and 3,400 on the four levels together.

    >>> Phog().kinds["phog180"]
    (20, 80, 320, 1280)
    """

    kinds: ClassVar[dict[str, tuple[int, ...]]] = {"phog180": widths(20), "phog360": widths(40)}

    def describe(self) -> str:
        return "histograms of the orientations of edge pixels in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        values = gray(images)
        n, h, w = values.shape
        edges = canny_edges(values)
        along_x, along_y = differences(values)
        x, y = _smoothed(along_x)[edges], _smoothed(along_y.swapaxes(1, 2)).swapaxes(1, 2)[edges]
        places = cells(n, finest(h), finest(w))[edges]
        for kind in kinds:
            d, signed = self.kinds[kind][0], kind == "phog360"
            lower, votes_lower, votes_upper = split_votes(x, y, d, signed)
            votes = tally(places, lower, n, d, votes_lower)
            votes += tally(places, (lower + 1) % d, n, d, votes_upper)
            levels = pyramid(votes)
            total = levels[:, 0].sum(axis=1)[:, None, None]
            yield kind, flat(levels / np.where(total > 0, total, 1))


def canny_edges(values: np.ndarray) -> np.ndarray:
    """Which pixels of grey images (n, h, w) uint8 are edges, bool; never one at the border."""
    from skimage.feature import canny

    # scikit-image takes one image at a time; the work within one outweighs this loop by far.
    return np.array([canny(image / 255) for image in values])


def _smoothed(along: np.ndarray) -> np.ndarray:
    """Differences smoothed by (1 2 1) down the rows; border pixels, which have no edge, lack a neighbour."""
    smooth = 2 * along
    smooth[:, 1:-1] += along[:, :-2] + along[:, 2:]
    return smooth


class LbpHistograms:
    """How many pixels of a cell have each of the 256 codes of eight neighbours (see `patterns.Lbp`).

    Cells part the pixels that have eight neighbours, (h - 2)(w - 2) of the grey image. d = 21,760 on the four levels.
    """

    kinds: ClassVar[dict[str, tuple[int, ...]]] = {"lbp": widths(256)}

    def describe(self) -> str:
        return "histograms of local binary patterns in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        n, h, w = len(images), images.shape[1] - 2, images.shape[2] - 2
        codes = Lbp()(images).astype(np.int64).reshape(n, h, w)
        yield "lbp", flat(pyramid(tally(cells(n, finest(h), finest(w)), codes, n, 256)))


PATCH, STEP = 16, 8  # pixels
BINS, ORIENTATIONS = 4, 8  # along each side of a patch; of the circle
WIDTH = BINS * BINS * ORIENTATIONS
_CLIP, _EPSILON = 0.2, 1e-5


def starts(length: int) -> np.ndarray:
    """First rows (or columns) of the patches along a side, the grid in its middle.

    >>> starts(34)
    array([ 1,  9, 17])
    """
    return np.arange((length - PATCH) % STEP // 2, length - PATCH + 1, STEP)


def descriptors(planes: np.ndarray) -> np.ndarray:
    """Descriptors of all patches of each plane, one plane after the other.

    In each plane v[k, l, o] = sum over the patch's pixels of a[k, row] a[l, column] votes[row, column, o], where votes
    are gradients split linearly between 8 orientations (see `orientations`) and a[k, p] = max(0, 1 - |p - c_k| / 4)
    exp(-(p - 7.5)^2 / 128): linear interpolation between the 4x4 bins with centres c_k = 1.5 + 4k, and a Gaussian of
    half the patch. Then v is scaled to length 1, clipped at 0.2 and scaled to length 1 again; of a flat patch it is 0.

    Parameters
    ----------
    planes : uint8, (n, c, h, w), sides of at least 16 pixels

    Returns
    -------
    float32, (n, rows, columns, c * 128), with patches at `starts(h)` x `starts(w)`
    """
    n, channels, h, w = planes.shape
    votes = cell_votes(planes.reshape(n * channels, h, w), 1, ORIENTATIONS, True)
    down = _pooled(votes, starts(h), axis=1)
    both = _pooled(down, starts(w), axis=3)  # (columns' bins, rows' bins, images, rows, columns, orientations)
    bins = np.ascontiguousarray(both.transpose(2, 3, 4, 1, 0, 5))
    vectors = bins.reshape(n, channels, *bins.shape[1:3], WIDTH)
    vectors = _unit(np.minimum(_unit(vectors), _CLIP)).astype(np.float32)
    return np.concatenate([vectors[:, channel] for channel in range(channels)], axis=3)


def colour_planes(images: np.ndarray, colour: str) -> np.ndarray:
    """Images (n, h, w) or (n, h, w, 3) uint8 as grey or as hue, saturation and value, (n, 1 or 3, h, w) uint8.

    Grey images have no hue and no saturation.
    """
    if colour == "gray":
        return gray(images)[:, None]
    from skimage.color import rgb2hsv

    if images.ndim == 3:
        images = np.repeat(images[..., None], 3, axis=3)
    return np.ascontiguousarray(np.rint(255 * np.moveaxis(rgb2hsv(images), 3, 1)).astype(np.uint8))


def _weights() -> np.ndarray:
    """Share of each of a patch's rows in each bin, (4, 16)."""
    row, centre = np.arange(PATCH), PATCH / BINS * (np.arange(BINS) + 0.5) - 0.5
    linear = np.maximum(0, 1 - np.abs(row - centre[:, None]) * BINS / PATCH)
    return linear * np.exp(-(((row - (PATCH - 1) / 2) / (PATCH / 2)) ** 2) / 2)


def _pooled(values: np.ndarray, first: np.ndarray, axis: int) -> np.ndarray:
    """Weighted sums over the bins of the patches along an axis, which becomes one of patches; bins are a new first."""
    weights = _weights()
    shape = (*values.shape[:axis], len(first), *values.shape[axis + 1 :])
    pooled = np.zeros((BINS, *shape))
    for row in range(PATCH):  # always in this order, so that rounding does not depend on the other images
        taken = np.take(values, first + row, axis=axis)
        for number in np.flatnonzero(weights[:, row]):
            pooled[number] += weights[number, row] * taken
    return pooled


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.sqrt((vectors**2).sum(axis=-1, keepdims=True) + _EPSILON**2)


_SEED = 20131211  # of the patches that are drawn and of k-means: always the same
_BATCH, _EPOCHS = 4096, 10


def sample(n: int, size: tuple[int, int], colour: str, most: int, in_chunks: Callable) -> np.ndarray:
    """Descriptors of at most `most` random patches, drawn without replacement from n images, (m, d) float32.

    Parameters
    ----------
    n, size : int and (int, int), images and their height and width
    colour : "gray" (d = 128) or "hsv" (d = 384)
    most : int
    in_chunks : called as in_chunks(work, which), it calls work(start, stop, images), in any order, for parts
        which[start:stop] of the numbers of images, with these images, (stop - start, h, w) or with 3 channels, uint8
    """
    patches = len(starts(size[0])) * len(starts(size[1]))
    drawn = np.arange(n * patches)
    if len(drawn) > most:
        drawn = np.sort(np.random.default_rng(_SEED).choice(len(drawn), most, replace=False, shuffle=False))
    owners, places = np.divmod(drawn, patches)
    used, owners = np.unique(owners, return_inverse=True)
    found = np.empty((len(drawn), WIDTH * (1 if colour == "gray" else 3)), dtype=np.float32)

    def work(start: int, stop: int, here: np.ndarray) -> None:
        first, last = np.searchsorted(owners, [start, stop])
        vectors = descriptors(colour_planes(here, colour)).reshape(stop - start, patches, -1)
        found[first:last] = vectors[owners[first:last] - start, places[first:last]]

    in_chunks(work, used)
    return found


def cluster(vectors: np.ndarray, words: int) -> np.ndarray:
    """The centres of mini-batch k-means (Sculley 2010), (words, d) float32; of so few vectors, the vectors themselves.

    One thread: with several, sums are rounded differently.
    """
    if len(vectors) <= words:
        return vectors.copy()
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    means = MiniBatchKMeans(words, random_state=_SEED, batch_size=_BATCH, max_iter=_EPOCHS, n_init=1)
    with threadpool_limits(1):
        return means.fit(vectors).cluster_centers_.astype(np.float32)


def nearest(vectors: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Which word is nearest to each vector, (n, p, d) and (k, d) float32 -> (n, p) int64; the first of equal ones.

    One product a matrix of p vectors, on one thread of BLAS, so that rounding does not depend on n. Memory n p k.
    """
    distances = np.matmul(vectors, words.T)
    distances *= -2
    distances += (words.astype(np.float64) ** 2).sum(axis=1).astype(np.float32)
    return distances.argmin(axis=2)


class VisualWords:
    """How many patches of a cell have each word of a codebook of 300 or of 1,000 words (Lazebnik et al. 2006).

    Patches of 16 pixels every 8 pixels (see `dense_sift`), of the grey image or of hue, saturation and value; a patch
    belongs to the cell of its centre. d = 25,500 and 85,000 on the four levels for each colour.

    Attributes
    ----------
    codebooks : dict of kind to words (at most 300 or 1,000, 128 or 384) float32; must be set before use. With fewer
        words the counts of the others are 0.
    """

    def __init__(self, colour: str):
        self.colour = colour
        self.words = {f"sift_{colour}{words}": words for words in (300, 1000)}
        self.kinds = {kind: widths(words) for kind, words in self.words.items()}
        self.codebooks: dict[str, np.ndarray] = {}

    def describe(self) -> str:
        channels = {"gray": "the grey image", "hsv": "hue, saturation and value"}[self.colour]
        return f"histograms of visual words, quantised SIFT descriptors of {channels}, in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        vectors = descriptors(colour_planes(images, self.colour))
        n, rows, columns, d = vectors.shape
        centres = ((starts(side) + PATCH // 2) * SIDE // side for side in images.shape[1:3])
        places = cells(n, *centres)
        vectors = vectors.reshape(n, rows * columns, d)
        for kind in kinds:
            numbers = nearest(vectors, self.codebooks[kind]).reshape(places.shape)
            yield kind, flat(pyramid(tally(places, numbers, n, self.words[kind])))


PATCHES, GRID = (8, 16, 24, 32), 10  # pixels


class ScaledWords(VisualWords):
    """The same counts over patches of four sizes together: sides of 8, 16, 24 and 32 pixels, each every 10 pixels.

    These are the radii and the grid of Bosch et al. (2007) for images of about 300 pixels. Words are learned on patches
    of 16 pixels, as in :class:`VisualWords`.
    """

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        planes = colour_planes(images, self.colour)
        n, channels, h, w = planes.shape
        votes = cell_votes(planes.reshape(-1, h, w), 1, ORIENTATIONS, True).reshape(n, channels, h, w, ORIENTATIONS)
        counts: dict[str, np.ndarray] = dict.fromkeys(kinds, np.zeros(1, np.int64))
        for patch in PATCHES:
            vectors = descriptors_of(votes, patch)
            centres = ((grid(side, patch) + patch // 2) * SIDE // side for side in (h, w))
            places = cells(n, *centres)
            vectors = vectors.reshape(n, places[0].size, channels * WIDTH)
            for kind in kinds:
                numbers = nearest(vectors, self.codebooks[kind]).reshape(places.shape)
                counts[kind] = counts[kind] + tally(places, numbers, n, self.words[kind])
        for kind in kinds:
            yield kind, flat(pyramid(counts[kind]))


def grid(length: int, patch: int) -> np.ndarray:
    """First rows (or columns) of patches of this side, every 10 pixels, in the middle; empty if none fits.

    >>> grid(48, 24)
    array([ 2, 12, 22])
    """
    return np.arange((length - patch) % GRID // 2, length - patch + 1, GRID)


def descriptors_of(votes: np.ndarray, patch: int) -> np.ndarray:
    """SIFT descriptors, as in :func:`descriptors`, of patches of ``patch`` by ``patch`` pixels at :func:`grid`.

    Parameters
    ----------
    votes : float64, (n, c, h, w, 8), the votes of each pixel of n images with c planes
    patch : int

    Returns
    -------
    float32, (n, rows, columns, c * 128)
    """
    n, channels, h, w, _ = votes.shape
    down, across = _pooling(h, patch), _pooling(w, patch)
    pooled = down @ np.moveaxis(votes, 4, 2) @ across.T  # a product has one shape, whatever n: rounding is the same
    bins = pooled.reshape(n, channels, ORIENTATIONS, len(down) // BINS, BINS, len(across) // BINS, BINS)
    vectors = bins.transpose(0, 3, 5, 1, 4, 6, 2).reshape(*bins.shape[:1], *bins.shape[3:6:2], channels, WIDTH)
    return _unit(np.minimum(_unit(vectors), _CLIP)).astype(np.float32).reshape(*vectors.shape[:3], channels * WIDTH)


def _pooling(length: int, patch: int) -> np.ndarray:
    """Shares of the rows (or columns) of an image in the 4 bins of each patch, (patches * 4, length) float64."""
    row, centre = np.arange(patch), patch / BINS * (np.arange(BINS) + 0.5) - 0.5
    linear = np.maximum(0, 1 - np.abs(row - centre[:, None]) * BINS / patch)
    shares = linear * np.exp(-(((row - (patch - 1) / 2) / (patch / 2)) ** 2) / 2)
    first = grid(length, patch)
    pooling = np.zeros((len(first), BINS, length))
    for number, start in enumerate(first):
        pooling[number, :, start : start + patch] = shares
    return pooling.reshape(-1, length)
