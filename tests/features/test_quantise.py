"""Quantile bins: edges and codes against their twins, and the meaning of codes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from boostrun.kernels.stumps import fit_edges, needs_double, quantise
from tests.reference import quantise as twin

ordinary = st.floats(-1e6, 1e6, width=32)
# neighbours in float32, where a midpoint rounds to one of the two values
neighbours = st.integers(0, 6).map(lambda k: float(np.float32(1) + k * np.finfo(np.float32).eps))
huge = st.sampled_from([-3.4e38, 3.4e38, 0.0, -0.0, 1e-45])
columns = arrays(np.float32, st.integers(1, 60), elements=st.one_of(ordinary, neighbours, huge))


def edges_of(column, bins):
    edges = np.empty((1, bins - 1), dtype=np.float32)
    fit_edges(np.sort(column)[None], edges)
    return edges


@settings(max_examples=150, deadline=None)
@given(columns, st.sampled_from([2, 3, 7, 256]))
def test_edges_and_codes_equal_their_twins(column, bins):
    edges = edges_of(column, bins)
    expected = twin.fit_edges(column, bins)
    finite = edges[0][np.isfinite(edges[0])]
    np.testing.assert_array_equal(finite, expected)
    assert np.isinf(edges[0][len(finite) :]).all()
    codes = np.empty((1, len(column)), dtype=np.uint8)
    quantise(column[:, None], edges, codes)
    np.testing.assert_array_equal(codes, twin.quantise(column[:, None], [expected]))


@settings(max_examples=150, deadline=None)
@given(columns, columns, st.sampled_from([2, 5, 256]))
def test_codes_keep_order_and_a_threshold_on_codes_is_a_threshold_on_values(fitted, values, bins):
    edges = edges_of(fitted, bins)
    codes = np.empty((1, len(values)), dtype=np.uint8)
    quantise(values[:, None], edges, codes)
    order = np.argsort(values, kind="stable")
    assert (np.diff(codes[0][order].astype(int)) >= 0).all()
    for c in range(1, bins):
        np.testing.assert_array_equal(codes[0] >= c, values >= edges[0, c - 1])


@settings(max_examples=60, deadline=None)
@given(columns)
def test_few_distinct_values_are_all_told_apart(column):
    codes = np.empty((1, len(column)), dtype=np.uint8)
    quantise(column[:, None], edges_of(column, 256), codes)
    assert len(np.unique(codes)) == len(np.unique(column))


@pytest.mark.parametrize("shape", [(33, 37), (1, 1), (5, 16)])
def test_many_features_at_once_equal_one_at_a_time(shape):
    values = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    edges = np.vstack([edges_of(values[:, f], 8) for f in range(shape[1])])
    codes = np.empty(shape[::-1], dtype=np.uint8)
    quantise(values, edges, codes)
    np.testing.assert_array_equal(codes, twin.quantise(values, edges))


@pytest.mark.parametrize("bins", [2, 16, 256])
def test_values_that_float32_merges_need_double_and_chance_equals_among_many_do_not(bins):
    rng = np.random.default_rng(0)
    needs = lambda values: needs_double(np.sort(values), np.empty(bins - 1))  # noqa: E731
    normal = rng.normal(size=(40, 10_000))
    merged = [len(np.unique(values.astype(np.float32))) < len(values) for values in normal]
    assert any(merged) and not any(map(needs, normal))
    assert not needs(rng.integers(0, 10**6, 5000).astype(float)) and not needs(np.full(9, 1.7e12))
    assert needs(1.7e12 + rng.integers(0, 10**6, 5000)) and needs(1.7e12 + np.arange(2.0))
    assert needs(np.append(np.full(9_999, 1.7e12), 1.7e12 + 1))  # one rare value is an edge less
