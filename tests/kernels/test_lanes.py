"""Sixteen numbers as one value, beside NumPy's; plain kernels in their place; the nearest point of the simplex."""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from boostrun.kernels import lanes, lanes_plain, needed, project_on_simplex
from boostrun.kernels.lanes import LANES, empty, zeros
from boostrun.papers.reservoir import kernels
from tests.reference import online as twins

BOTH = pytest.mark.parametrize("module", [lanes, lanes_plain])


@cache
def compiled(module):
    """The same two functions on the lanes of a module."""
    load, store, increase, widen_into = module.load, module.store, module.increase, module.widen_into
    spread, pick, total, totals = module.spread, module.pick, module.total, module.totals
    at_most, marked, fetch = module.at_most, module.marked, module.fetch

    @njit
    def everything(a, b, out, wide):
        for i in range(a.shape[0]):
            for part in range(0, a.shape[1], LANES):
                x, y = load(a, i, part), load(b, i, part)
                store(out, 6 * i, part, x + y)
                store(out, 6 * i + 1, part, x - y)
                store(out, 6 * i + 2, part, x * y)
                store(out, 6 * i + 3, part, abs(x))
                increase(out, 6 * i + 3, part, y)
                store(out, 6 * i + 4, part, pick(x, np.float32(0.5), y, x))
                store(out, 6 * i + 5, part, spread(total(x)))
            widen_into(wide, i, load(a, i, 0))

    @njit
    def counted(a, limit, marks, out):
        fetch(a, 0, 0)  # changes nothing
        store(out, 0, 0, totals(a, 1))
        return at_most(load(a, 2, 0), np.float32(limit)), marked(marks, 64)

    return everything, counted


@BOTH
def test_every_operation_works_lane_by_lane(module):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, 32)).astype(np.float32)
    out, wide = np.empty((30, 32), np.float32), rng.normal(size=(5, 16))
    before = wide.copy()
    compiled(module)[0](a, b, out, wide)
    found = out.reshape(5, 6, 32)
    for place, expected in enumerate((a + b, a - b, a * b, abs(a) + b, np.where(a > 0.5, b, a))):
        assert (found[:, place] == expected).all()
    np.testing.assert_allclose(found[:, 5, ::16], a.reshape(5, 2, 16).sum(axis=2), rtol=1e-5)
    assert (wide == before + a[:, :16].astype(float)).all()


@BOTH
def test_sums_of_sixteen_rows_and_counts_of_lanes_and_bytes(module):
    rng = np.random.default_rng(0)
    a, out = rng.normal(size=(18, 16)).astype(np.float32), np.empty((1, 16), np.float32)
    marks = rng.integers(0, 3, 256).astype(np.uint8)
    below, bits = compiled(module)[1](a, np.sort(a[2])[8], marks, out)
    np.testing.assert_allclose(out[0], a[1:17].sum(axis=1), rtol=1e-5, atol=1e-6)
    assert below == 9 and bits == sum(2**k for k in range(64) if marks[64 + k])


def test_plain_lanes_equal_the_vectors_to_the_bit_sums_and_what_is_no_number_included():
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(2, 400, 32)) * 10.0 ** rng.integers(-30, 30, (2, 400, 32))).astype(np.float32)
    a[::7, 3], b[::11, 20], a[5], a[6, ::2] = np.nan, np.inf, -0.0, 0.0
    marks = rng.integers(0, 2, 128).astype(np.uint8)

    def found(module):
        everything, counted = compiled(module)
        out, wide, sums = np.zeros((2400, 32), np.float32), np.ones((400, 16)), np.zeros((24, 16), np.float32)
        everything(a, b, out, wide)
        counts = [counted(a[16 * k :, :16].copy(), 0.25, marks, sums[k : k + 1]) for k in range(24)]
        return [part.tobytes() for part in (np.nan_to_num(out), np.nan_to_num(wide), np.nan_to_num(sums))], counts

    assert found(lanes) == found(lanes_plain)


def test_rows_begin_at_cache_lines():
    for rows in (1, 3, 1000):
        assert (zeros(rows, 16) == 0).all() and zeros(rows, 32).shape == (rows, 32)
        assert zeros(rows, 16).ctypes.data % 64 == 0 and empty(rows, 48).ctypes.data % 64 == 0
        assert zeros(rows, 1).flags.c_contiguous


TRAINED = """
import hashlib
import numpy as np
from sklearn.datasets import load_digits
import boostrun
from boostrun.kernels import lanes
from boostrun.papers.reservoir.kernels import inversion_of

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
print(lanes.load.__module__, type(inversion_of(3)).__name__)
for name, settings in {
    "ReservoirClassifier": {"strategy": "geem", "reservoir_size": 60, "n_estimators": 3, "random_state": 0},
    "AdaBoostMHClassifier": {"n_estimators": 4, "random_state": 0},
    "ShareBoostClassifier": {"n_features": 3},
    "JointBoostClassifier": {"rounds": 3},
}.items():
    model = getattr(boostrun, name)(**settings).fit(X, y)
    print(name, hashlib.sha256(np.ascontiguousarray(model.decision_function(X)).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_models_are_equal_to_the_bit(tmp_path):
    def trained(plain):
        surroundings = {**os.environ, "BOOSTRUN_PLAIN_KERNELS": plain, "XDG_CACHE_HOME": str(tmp_path)}
        command = [sys.executable, "-c", TRAINED]
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        return done.stdout.split("\n", 1)

    (fast, models), (plain, same) = trained("0"), trained("1")
    assert fast != plain and "lanes_plain" in plain and "PlainInversion" in plain
    assert models == same and models.count("Classifier") == 4


@pytest.mark.parametrize("broken", [ValueError("no such routine"), AttributeError("llvm"), None])
def test_what_does_not_compile_is_replaced(broken, monkeypatch):
    monkeypatch.delenv("BOOSTRUN_PLAIN_KERNELS", raising=False)

    def factor(self):
        if broken:
            raise broken
        return self.matrix * 3

    assert not needed(lambda: True)
    monkeypatch.setattr(kernels.Inversion, "factor", factor)
    kernels._plain.cache_clear()
    try:
        assert isinstance(kernels.inversion_of(3), kernels.PlainInversion)
    finally:
        kernels._plain.cache_clear()


# tenths: entries that meet the shift exactly, where rounding once made the set of those above it change endlessly
entries = st.floats(-1e3, 1e3) | st.integers(-20, 20).map(lambda tenths: tenths / 10)
points = st.lists(entries, min_size=1, max_size=40).map(np.array)


@given(points)
@settings(max_examples=150, deadline=None)
def test_the_projection_is_the_nearest_point_of_the_simplex(point):
    projected = point.copy()
    project_on_simplex(projected)
    assert (projected >= 0).all() and projected.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(projected, twins.project(point), atol=1e-10)
    # it is the nearest point if no corner lies on the far side, <point - projected, corner - projected> <= 0
    slopes = point - projected
    assert (slopes - slopes @ projected <= 1e-6 * (1 + np.abs(point).max())).all()


def test_the_projection_ends_on_points_in_tenths():
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        point = rng.standard_normal(rng.integers(1, 41)).round(1)
        expected = twins.project(point)
        project_on_simplex(point)
        assert abs(point - expected).max() < 1e-12
