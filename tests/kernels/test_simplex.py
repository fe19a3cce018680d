"""The nearest point of the simplex, beside a twin that sorts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.kernels.plain import project_on_simplex
from tests.reference import online as twins

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
