"""Slow, obvious twins of the groups of families on Caltech-101: one image (h, w) or (h, w, 3) at a time, float64."""

import math

import numpy as np
from scipy.ndimage import sobel
from scipy.signal import fftconvolve
from skimage.color import rgb2hsv
from skimage.feature import canny
from skimage.filters import gabor_kernel

from tests.reference.families import gradient_at, gray, lbp, votes


def in_cells(h, w):
    """The rows and columns of each cell of the pyramid, level by level."""
    for side in (1, 2, 4, 8):
        for a in range(side):
            for b in range(side):
                rows = [i for i in range(h) if (8 * i // h) * side // 8 == a]
                yield rows, [j for j in range(w) if (8 * j // w) * side // 8 == b]


def phog(image, bins, circle):
    """Edge pixels vote for the two orientations next to theirs."""
    g = gray(image).astype(np.int32)
    edges, x, y, width = canny(g / 255), sobel(g, axis=1), sobel(g, axis=0), circle / bins
    shared = np.zeros((*g.shape, bins))
    for i, j in zip(*np.nonzero(edges)):
        angle = math.degrees(math.atan2(y[i, j], x[i, j])) % circle
        for k in range(bins):
            distance = abs(angle - (k + 0.5) * width)
            shared[i, j, k] = math.hypot(x[i, j], y[i, j]) * max(0, 1 - min(distance, circle - distance) / width)
    total = shared.sum() or 1
    return np.concatenate([shared[np.ix_(*cell)].sum((0, 1)) / total for cell in in_cells(*g.shape)])


def sift(plane, top, left, patch=16):
    """The descriptor of the square patch at (top, left) of a plane, 128 values."""
    vector, bin = np.zeros((4, 4, 8)), patch / 4
    each = votes([plane.astype(int)], 8, True)
    for i in range(patch):
        for j in range(patch):
            middle = (patch - 1) / 2
            window = math.exp(-((i - middle) ** 2 + (j - middle) ** 2) / 2 / (patch / 2) ** 2)
            for k in range(4):
                for m in range(4):
                    away = abs((i + 0.5) / bin - k - 0.5), abs((j + 0.5) / bin - m - 0.5)
                    near = max(0, 1 - away[0]) * max(0, 1 - away[1])
                    vector[k, m] += window * near * each[top + i, left + j]
    vector = vector.ravel() / (np.linalg.norm(vector) or 1)
    vector = np.minimum(vector, 0.2)
    return vector / (np.linalg.norm(vector) or 1)


def patches(h, w, patch=16, step=8):
    """The first pixels of the patches: every 8 pixels, with equal margins on both sides."""
    tops, lefts = (range((side - patch) % step // 2, side - patch + 1, step) for side in (h, w))
    return [(top, left) for top in tops for left in lefts]


def planes(image, colour):
    if colour == "gray":
        return [gray(image)]
    hsv = rgb2hsv(image if image.ndim == 3 else np.dstack([image] * 3))
    return [np.rint(hsv[..., c] * 255) for c in range(3)]


def visual_words(image, colour, codebook, words, sides=(16,), step=8):
    h, w = image.shape[:2]
    counts = {(level, a, b): np.zeros(words) for level in range(4) for a in range(2**level) for b in range(2**level)}
    for patch in sides:
        for top, left in patches(h, w, patch, step):
            vector = np.concatenate([sift(plane, top, left, patch) for plane in planes(image, colour)])
            number = int(np.argmin([np.linalg.norm(vector - word) for word in codebook]))
            row, column = top + patch // 2, left + patch // 2
            for level in range(4):
                counts[level, row * 2**level // h, column * 2**level // w][number] += 1
    return np.concatenate(list(counts.values()))


def covariance(image):
    g, values = gray(image).astype(int), []
    h, w = g.shape
    for i, j in np.ndindex(h, w):
        x, y = gradient_at(g, i, j)
        xx = g[i, j + 1] - 2 * g[i, j] + g[i, j - 1] if 0 < j < w - 1 else 0
        yy = g[i + 1, j] - 2 * g[i, j] + g[i - 1, j] if 0 < i < h - 1 else 0
        values.append([j, i, g[i, j], abs(x), abs(y), abs(xx), abs(yy)])
    values, logarithms = np.array(values, dtype=float).reshape(h, w, 7), []
    for cell in in_cells(h, w):
        matrix = np.cov(values[np.ix_(*cell)].reshape(-1, 7).T) + np.eye(7) / 12
        u, singular, _ = np.linalg.svd(matrix)  # of a positive definite matrix: its eigenvalues
        logarithms.append((u @ np.diag(np.log(singular)) @ u.T)[np.triu_indices(7)])
    return np.concatenate(logarithms)


def lbp_histograms(image):
    h, w = image.shape[0] - 2, image.shape[1] - 2
    codes = np.array(lbp(image)).reshape(h, w)
    return np.concatenate([[(codes[np.ix_(*cell)] == code).sum() for code in range(256)] for cell in in_cells(h, w)])


def around(maps, i, j, reach):
    """The pixels around (i, j) of maps (c, h, w), those of the border repeated."""
    rows, columns = (np.clip(range(p - reach, p + reach + 1), 0, s - 1) for p, s in zip((i, j), maps.shape[1:]))
    return maps[:, rows][:, :, columns]


def normalised(maps):
    result = np.zeros(maps.shape)
    for i, j in np.ndindex(maps.shape[1:]):
        near = around(maps, i, j, 1)
        length = np.linalg.norm(near - near.mean())
        result[:, i, j] = (maps[:, i, j] - near.mean()) / max(1, length)
    return result


def gabor(period, angle):
    """scikit-image's, its middle 43x43 pixels, brought to mean 0 and length 1."""
    kernel = gabor_kernel(1 / period, angle, sigma_x=9, sigma_y=9, n_stds=5).real
    row, column = (side // 2 for side in kernel.shape)
    kernel = kernel[row - 21 : row + 22, column - 21 : column + 22]
    kernel = kernel - kernel.mean()
    return kernel / np.linalg.norm(kernel)


def v1s(image):
    g = gray(image).astype(float)
    g = (g - g.mean()) / (g.std() or 1)
    g = normalised(g[None])[0]
    bank = [gabor(period, math.pi * k / 16) for k in range(16) for period in (2, 3, 4, 6, 11, 18)]
    h, w = g.shape  # SciPy's mode="same" takes the middle of the larger of the two arrays
    maps = np.array([np.clip(fftconvolve(g, kernel)[21 : 21 + h, 21 : 21 + w], 0, 1) for kernel in bank])
    maps = normalised(maps)
    rows, columns = ([round(k * (side - 1) / 29) for k in range(30)] for side in (h, w))
    values = [[around(maps, i, j, 8).mean(axis=(1, 2)) for j in columns] for i in rows]
    return np.moveaxis(np.array(values), 2, 0).ravel()
