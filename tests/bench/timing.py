"""Timing of functions side by side, two yardsticks for the speed of this machine, and the writers of results."""

import csv
import resource
import time
from contextlib import contextmanager
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numba import njit
from scipy.spatial.distance import pdist
from threadpoolctl import threadpool_limits

from boostrun.errors import DataMissingError
from boostrun.features import open_bank
from boostrun.kernels.lanes import LANES, load, spread, total
from boostrun.report.canvas import DPI
from tests.conftest import REAL_DATA

RESULTS = Path(__file__).parent.parent.parent / "results" / "bench"


def taken(function, repeats=3, clock=time.process_time, of=min):
    """Seconds of a call by ``clock``, ``of`` so many repeats, after one warm-up, with one BLAS thread."""
    with threadpool_limits(1):
        function()
        times = []
        for _ in range(repeats):
            begun = clock()
            function()
            times.append(clock() - begun)
    return float(of(times))


def processor():
    """Processor seconds of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def in_turn(calls, seconds=10.0, least=2, most=30, warm=True, clock=processor):
    """name -> seconds a unit by ``clock``, of ``calls``: name -> (function, units of one call).

    All are called in turn, so that a busy minute meets all of them: at least so many turns, and more until so many
    seconds have passed. A turn before these, which does not count, warms up.
    """
    if warm:
        for function, _ in calls.values():
            function()
    found, begun = {name: [] for name in calls}, time.perf_counter()
    for turn in range(most):
        if turn >= least and time.perf_counter() - begun > seconds:
            break
        for name, (function, units) in calls.items():
            start = clock()
            function()
            found[name].append((clock() - start) / units)
    return found


def median_ms(function, repeats=30, clock=time.perf_counter):
    """Median time of a call in milliseconds, after one warm-up, with one BLAS thread."""
    return 1e3 * taken(function, repeats, clock, np.median)


def yardsticks():
    """(ms of numpy's inverse of 500 x 500 float64, ms of SciPy's cityblock pdist of 500 x 784 float32)."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(500, 500))
    matrix, points = root @ root.T + 500 * np.eye(500), rng.random((500, 784)).astype(np.float32)
    return median_ms(lambda: np.linalg.inv(matrix)), median_ms(lambda: pdist(points, "cityblock"), 7)


def slowness(before, after):
    """How much slower this machine is than that of the targets, by the yardsticks before and after the timed code."""
    inverse, cityblock = np.mean([before, after], axis=0)
    return (inverse / 13.0 + cityblock / 45.0) / 2


@njit(cache=True)
def read_often(weights, times):
    """A floor: weights (n, 16 m) read so many times, each into one register."""
    out = np.float32(0.0)
    for _ in range(times):
        summed = spread(np.float32(0.0))
        for i in range(weights.shape[0]):
            for part in range(0, weights.shape[1], LANES):
                summed = summed + load(weights, i, part)
        out += total(summed)
    return out


def pixels_of_mnist():
    """The bank of MNIST's pixels; skips where its files are not there."""
    try:
        return open_bank({"name": "mnist"}, {"name": "raw"}, REAL_DATA, REAL_DATA)
    except DataMissingError as missing:
        pytest.skip(str(missing))


def show(title, rows):
    """Print rows of (what, value) under a title."""
    print(f"\n{title}")
    for what, value in rows:
        print(f"  {what:<72} {value}")


def write_rows(path, rows):
    """A csv of dicts with the same keys."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@contextmanager
def panels(path, title, count, height=5.6, **shared):
    """So many axes side by side, with their grids, to draw on; the figure is then written."""
    with matplotlib.rc_context(matplotlib.rcParamsDefault):
        figure = Figure(figsize=(11, height), dpi=DPI, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, count, **shared)
        for axis in axes:
            axis.grid(which="major", color="0.9")
        yield axes
        figure.suptitle(title, fontsize=11)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None})
