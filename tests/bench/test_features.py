"""Seconds per 1,000 images: each of the 19 families, each kind of the 33, and patch templates, on one core; no time is
asserted."""

import time

import numpy as np
import pytest

from boostrun.config import defaults
from boostrun.papers.adaptive.families import Families19
from boostrun.papers.adaptive.groups import DEFAULTS, FAMILIES, Families33
from boostrun.papers.shareboost.templates import Templates
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
