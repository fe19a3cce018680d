"""Slow, obvious twin of patch templates under masks."""

import numpy as np


def feature(image, filter_, mask):
    """max over positions of (image * filter)(u) mask(u), masked cells counting 0; image in 0..1."""
    h, w = mask.shape
    s = len(filter_)
    values = [mask[i, j] * np.sum(image[i : i + s, j : j + s] * filter_) for i in range(h) for j in range(w)]
    return max(0.0, *values)


def mask(shape, place, sigma, cutoff):
    """A Gaussian around `place`, row by row."""
    out = np.empty(shape)
    for i, j in np.ndindex(*shape):
        value = np.exp(-((i - place[0]) ** 2 + (j - place[1]) ** 2) / (2 * sigma**2))
        out[i, j] = value if value >= cutoff else 0
    return out
