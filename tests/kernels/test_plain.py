"""Plain kernels replace those that do not compile, with equal models; and the nearest point of the simplex."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.kernels.plain import needed, project_on_simplex
from boostrun.papers.reservoir import inverse
from tests.reference import online as twins

TRAINED = """
import hashlib
import numpy as np
from sklearn.datasets import load_digits
import boostrun
from boostrun.kernels import lanes
from boostrun.papers.reservoir.kernels import inverse

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
print(lanes.load.__module__, type(inverse.inversion_of(3)).__name__)
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
    monkeypatch.setattr(inverse.Inversion, "factor", factor)
    inverse._plain.cache_clear()
    try:
        assert isinstance(inverse.inversion_of(3), inverse.PlainInversion)
    finally:
        inverse._plain.cache_clear()


# tenths: entries that meet the shift exactly, where rounding once let the set of those above it flicker for ever
entries = st.floats(-1e3, 1e3) | st.integers(-20, 20).map(lambda tenths: tenths / 10)
points = st.lists(entries, min_size=1, max_size=40).map(np.array)


@given(points)
@settings(max_examples=150, deadline=None)
def test_the_projection_is_the_nearest_point_of_the_simplex(point):
    projected = point.copy()
    project_on_simplex(projected)
    assert (projected >= 0).all() and projected.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(projected, twins.project(point), atol=1e-10)
    # what makes it the nearest: no corner lies on the far side, <point - projected, corner - projected> <= 0
    slopes = point - projected
    assert (slopes - slopes @ projected <= 1e-6 * (1 + np.abs(point).max())).all()


def test_the_projection_ends_on_points_in_tenths():
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        point = rng.standard_normal(rng.integers(1, 41)).round(1)
        expected = twins.project(point)
        project_on_simplex(point)
        assert abs(point - expected).max() < 1e-12
