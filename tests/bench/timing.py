"""Timing of functions side by side, and the two yardsticks that say how fast this machine is."""

import time

import numpy as np
from scipy.spatial.distance import pdist
from threadpoolctl import threadpool_limits


def median_ms(function, repeats=30):
    """Median wall time of a call in milliseconds, after one warm-up, with one BLAS thread."""
    with threadpool_limits(1):
        function()
        times = []
        for _ in range(repeats):
            begun = time.perf_counter()
            function()
            times.append(time.perf_counter() - begun)
    return 1e3 * float(np.median(times))


def yardsticks():
    """(ms of numpy's inverse of 500 x 500 float64, ms of SciPy's cityblock pdist of 500 x 784 float32)."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(500, 500))
    matrix, points = root @ root.T + 500 * np.eye(500), rng.random((500, 784)).astype(np.float32)
    return median_ms(lambda: np.linalg.inv(matrix)), median_ms(lambda: pdist(points, "cityblock"), 7)


def slowness(before, after):
    """How much slower this machine is than the targets', by the yardsticks on both sides of what is timed."""
    inverse, cityblock = np.mean([before, after], axis=0)
    return (inverse / 13.0 + cityblock / 45.0) / 2


def show(title, rows):
    """Print rows of (what, value) under a title."""
    print(f"\n{title}")
    for what, value in rows:
        print(f"  {what:<72} {value}")
