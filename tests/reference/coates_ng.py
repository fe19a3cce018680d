"""Slow, obvious twin of the Coates & Ng encoding: one patch at a time, float64."""

import numpy as np


def normalised(patch):
    x = patch.astype(float).ravel()
    return (x - x.mean()) / np.sqrt(x.var(ddof=1) + 10)


def zca(patches):
    values, vectors = np.linalg.eigh(np.cov(patches.T))
    return patches.mean(axis=0), vectors @ np.diag(1 / np.sqrt(values + 0.1)) @ vectors.T


def encode(image, size, mean, whitening, atoms, threshold):
    """Features of one image (h, w, 3) before standardisation, (8 K,)."""
    rows, cols = image.shape[0] - size + 1, image.shape[1] - size + 1
    quadrants = np.zeros((2, 2, 2 * len(atoms)))
    for i in range(rows):
        for j in range(cols):
            z = atoms @ ((normalised(image[i : i + size, j : j + size]) - mean) @ whitening)
            both = np.concatenate([np.maximum(z - threshold, 0), np.maximum(-z - threshold, 0)])
            quadrants[int(i >= (rows + 1) // 2), int(j >= (cols + 1) // 2)] += both
    return quadrants.ravel()


def dictionary(patches, atoms, iterations):
    """OMP-1 from given unit-norm atoms on whitened patches; no atom may die."""
    for _ in range(iterations):
        products = patches @ atoms.T
        best = np.abs(products).argmax(axis=1)
        sums = np.zeros_like(atoms)
        for patch, label, row in zip(patches, best, products):
            sums[label] += row[label] * patch
        atoms = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return atoms
