"""Seconds per 1,000 images of each family, of patch templates, and of the Coates & Ng kernels beside plain products of
the same size; no time is asserted."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from boostrun.config import defaults
from boostrun.features import patch_kernels
from boostrun.papers.adaptive.families import Families19
from boostrun.papers.adaptive.groups import DEFAULTS, FAMILIES, Families33
from boostrun.papers.shareboost.templates import Templates
from boostrun.store.provenance import usable_cores
from tests.bench.timing import show, taken

pytestmark = pytest.mark.bench


@pytest.mark.parametrize(("shape", "count"), [((28, 28), 500), ((32, 32, 3), 100), ((128, 64, 3), 20)])
def test_families_one_by_one(shape, count):
    images = np.random.default_rng(0).integers(0, 256, (count, *shape), dtype=np.uint8)
    pipeline = Families19({"only": None, "on_gray": "keep"}).fit(images)
    rows = []
    for name, start, stop in pipeline.families(0):
        alone = Families19({"only": [name], "on_gray": "keep"}).fit(images[:10])
        assert np.array_equal(alone(images[:10]), pipeline(images[:10])[:, start:stop])
        seconds = 1000 / count * taken(lambda alone=alone: alone(images))
        rows.append((f"{name}, {stop - start:,} features", f"{seconds:.3f} s"))
    rows.append(("all", f"{1000 / count * taken(lambda: pipeline(images)):.2f} s"))
    show(f"1,000 images of the shape {shape}", rows)


@pytest.mark.parametrize(("shape", "count"), [((64, 64, 3), 60), ((150, 150, 3), 20)])
def test_kinds_of_the_33_families(shape, count):
    images = np.random.default_rng(0).integers(0, 256, (count, *shape), dtype=np.uint8)
    rows = []
    for kind in [*dict.fromkeys(family.kind for family in FAMILIES), None]:
        names = kind and [family.name for family in FAMILIES if family.kind == kind]
        pipeline = Families33({**DEFAULTS, "only": names, "descriptors": 2000}).fit(images)
        assert np.isfinite(pipeline(images[:2])).all()
        seconds = 1000 / count * taken(lambda pipeline=pipeline: pipeline(images))
        rows.append((kind or "all", f"{seconds:.2f} s"))
    show(f"1,000 images of the shape {shape}", rows)


def test_features_beside_their_matrix_products():
    images = np.random.default_rng(0).integers(0, 256, (1000, 28, 28), dtype=np.uint8)
    options = {**defaults("features", "templates"), "patches": 20000, "bin_samples": 10}
    pipeline = Templates(options).fit(images)
    patches, filters = np.random.default_rng(0).random((484, 49), np.float32), np.zeros((49, 1000), np.float32)
    responses = np.empty((484, 1000), np.float32)

    def products():
        for _ in range(len(images)):
            np.dot(patches, filters, out=responses)

    ours, bare = (taken(work, clock=time.perf_counter) for work in (lambda: pipeline(images), products))
    features = pipeline(images[:10])
    assert features.shape == (10, 16 * 1000) and len(np.unique(features)) > 2
    cells, multiply_adds = np.count_nonzero(pipeline.fitted["masks"]), 484 * 49 * 1000 * len(images)
    show("1,000 images, 1,000 templates under 16 masks, one core", [
        ("matrix products alone", f"{bare:.2f} s, {1e-9 * multiply_adds / bare:.0f} G multiply-adds a second"),
        (f"features, {cells * 1000:,} masked maxima an image besides", f"{ours:.2f} s, {ours / bare:.2f} times"),
    ])  # fmt: skip


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
