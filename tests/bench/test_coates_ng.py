"""The Coates & Ng kernels beside plain float32 products of the same size; no time is asserted."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from boostrun.features import patch_kernels
from boostrun.store.provenance import usable_cores
from tests.bench.timing import show

pytestmark = pytest.mark.bench

IMAGES, ATOMS, SIZE, DIMENSIONS, POSITIONS = 64, 1600, 6, 108, 27 * 27
REPEATS = 5


def side_by_side(*functions, threads):
    """Median seconds of each function(thread) with all threads at it at once; the functions take turns."""
    seconds = np.zeros((REPEATS + 1, len(functions)))
    import scipy.linalg.cython_blas  # noqa: F401  (numba takes its products from there; only what is loaded is limited)

    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        for repeat in range(REPEATS + 1):  # the first is a warm-up
            for column, function in enumerate(functions):
                begun = time.perf_counter()
                list(pool.map(function, range(threads)))
                seconds[repeat, column] = time.perf_counter() - begun
    return np.median(seconds[1:], axis=0)


def thread_counts():
    return sorted({1, usable_cores()})


def test_encoding_beside_its_product():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (IMAGES, 32, 32, 3), dtype=np.uint8)
    weights, offset = (rng.normal(size=shape).astype(np.float32) for shape in ((DIMENSIONS, ATOMS), ATOMS))
    patches = rng.normal(size=(POSITIONS, DIMENSIONS)).astype(np.float32)

    def encode(_):
        out = np.empty((IMAGES, 8 * ATOMS), np.float32)
        patch_kernels.encode_images(images, SIZE, 10.0, weights, offset, np.float32(0.25), out)

    def product(_):
        z = np.empty((POSITIONS, ATOMS), np.float32)
        for _ in range(IMAGES):
            np.dot(patches, weights, z)

    found = np.full((IMAGES, 8 * ATOMS), np.nan, np.float32)
    patch_kernels.encode_images(images, SIZE, 10.0, weights, offset, np.float32(0.25), found)
    assert np.isfinite(found).all() and found.any()
    rows = []
    for threads in thread_counts():
        ours, floor = 1000 / IMAGES / threads * side_by_side(encode, product, threads=threads)
        rows.append((f"{threads} threads: 1,000 images, products, ratio",
                     f"{ours:.2f} s, {floor:.2f} s, {ours / floor:.2f}"))  # fmt: skip
    show(f"encoding with {ATOMS} atoms, {POSITIONS} patches an image", rows)


def test_the_strongest_atoms_beside_their_product():
    rng = np.random.default_rng(0)
    patches = rng.normal(size=(16 * patch_kernels.ROWS, DIMENSIONS)).astype(np.float32)
    atoms = rng.normal(size=(DIMENSIONS, ATOMS)).astype(np.float32)

    def assign(_):
        labels, values = np.empty(len(patches), np.int64), np.empty(len(patches), np.float32)
        patch_kernels.strongest_atoms(patches, atoms, labels, values)

    def product(_):
        z = np.empty((patch_kernels.ROWS, ATOMS), np.float32)
        for start in range(0, len(patches), patch_kernels.ROWS):
            np.dot(patches[start : start + patch_kernels.ROWS], atoms, z)

    labels, values = np.empty(len(patches), np.int64), np.empty(len(patches), np.float32)
    patch_kernels.strongest_atoms(patches, atoms, labels, values)
    said = np.take_along_axis(np.abs(patches[:1000] @ atoms), labels[:1000, None], axis=1)[:, 0]
    np.testing.assert_allclose(said, np.abs(patches[:1000] @ atoms).max(axis=1), rtol=1e-4)
    rows = []
    for threads in thread_counts():
        ours, floor = 1e5 / len(patches) / threads * side_by_side(assign, product, threads=threads)
        rows.append((f"{threads} threads: 100,000 patches, products, ratio",
                     f"{ours:.2f} s, {floor:.2f} s, {ours / floor:.2f}"))  # fmt: skip
    show(f"strongest of {ATOMS} atoms", rows)
