"""Seconds per 1,000 images for each of the 19 families and each kind of the 33, on one core; no time is asserted."""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from boostrun.papers.adaptive.families19 import Families19
from boostrun.papers.adaptive.families33 import DEFAULTS, Families33
from boostrun.papers.adaptive.groups import FAMILIES
from tests.bench.timing import show

pytestmark = pytest.mark.bench


def seconds(pipeline, images):
    """Per 1,000 images: processor time, the least of three."""
    times = []
    with threadpool_limits(1):
        pipeline(images[:10])
        for _ in range(3):
            begun = time.process_time()
            pipeline(images)
            times.append(time.process_time() - begun)
    return 1000 / len(images) * min(times)


@pytest.mark.parametrize(("shape", "count"), [((28, 28), 500), ((32, 32, 3), 100), ((128, 64, 3), 20)])
def test_families_one_by_one(shape, count):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (count, *shape), dtype=np.uint8)
    pipeline = Families19({"only": None, "on_gray": "keep"}).fit(images)
    rows = []
    for name, start, stop in pipeline.families(0):
        alone = Families19({"only": [name], "on_gray": "keep"})
        assert np.array_equal(alone.fit(images[:10])(images[:10]), pipeline(images[:10])[:, start:stop])
        rows.append((f"{name}, {stop - start:,} features", f"{seconds(alone, images):.3f} s"))
    rows.append(("all", f"{seconds(pipeline, images):.2f} s"))
    show(f"1,000 images of the shape {shape}", rows)


@pytest.mark.parametrize(("shape", "count"), [((64, 64, 3), 60), ((150, 150, 3), 20)])
def test_kinds_of_the_33_families(shape, count):
    images = np.random.default_rng(0).integers(0, 256, (count, *shape), dtype=np.uint8)
    rows = []
    for only in [*([kind] for kind in dict.fromkeys(family.kind for family in FAMILIES)), None]:
        names = only and [family.name for family in FAMILIES if family.kind in only]
        pipeline = Families33({**DEFAULTS, "only": names, "descriptors": 2000}).fit(images)
        assert np.isfinite(pipeline(images[:2])).all()
        rows.append((f"{only[0] if only else 'all'}", f"{seconds(pipeline, images):.2f} s"))
    show(f"1,000 images of the shape {shape}", rows)
