"""SIFT descriptors (Lowe 2004) of patches on a regular grid, of one scale and upright (Bosch et al. 2008).

Codebooks of visual words (Sivic & Zisserman 2003): the centres of k-means on descriptors of training images.

Histograms of visual words: SIFT descriptors as the numbers of the nearest words of a codebook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from boostrun.papers.adaptive.families.gradients import cell_votes
from boostrun.papers.adaptive.families.images import flat, gray
from boostrun.papers.adaptive.groups.pyramid import SIDE, cells, pyramid, tally, widths

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

    One thread: what is cut among threads is rounded otherwise.
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
