"""Codebooks of visual words (Sivic & Zisserman 2003): the centres of k-means on descriptors of training images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boostrun.papers.adaptive.groups.dense_sift import WIDTH, colour_planes, descriptors, starts

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
