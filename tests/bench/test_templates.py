"""Seconds of patch templates for 1,000 images beside the bare matrix products that they are made of."""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from boostrun.config import defaults
from boostrun.papers.shareboost.templates import Templates
from tests.bench.timing import show

pytestmark = pytest.mark.bench


def least(work):
    """Seconds, the least of three."""
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def test_features_beside_their_matrix_products():
    images = np.random.default_rng(0).integers(0, 256, (1000, 28, 28), dtype=np.uint8)
    options = {**defaults("features", "templates"), "patches": 20000, "bin_samples": 10}
    pipeline = Templates(options).fit(images)
    patches, filters = np.random.default_rng(0).random((484, 49), np.float32), np.zeros((49, 1000), np.float32)
    responses = np.empty((484, 1000), np.float32)

    def products():
        for _ in range(len(images)):
            np.dot(patches, filters, out=responses)

    with threadpool_limits(1):
        pipeline(images[:10])
        ours, bare = least(lambda: pipeline(images)), least(products)
    features = pipeline(images[:10])
    assert features.shape == (10, 16 * 1000) and len(np.unique(features)) > 2
    cells, multiply_adds = np.count_nonzero(pipeline.fitted["masks"]), 484 * 49 * 1000 * len(images)
    show("1,000 images, 1,000 templates under 16 masks, one core", [
        ("matrix products alone", f"{bare:.2f} s, {1e-9 * multiply_adds / bare:.0f} G multiply-adds a second"),
        (f"features, {cells * 1000:,} masked maxima an image besides", f"{ours:.2f} s, {ours / bare:.2f} times"),
    ])  # fmt: skip
