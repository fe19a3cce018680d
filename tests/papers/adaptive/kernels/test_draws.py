"""Samples drawn by weight and features drawn without replacement, against their definitions."""

import numpy as np
import pytest

from boostrun.kernels.lanes import empty
from boostrun.papers.adaptive.policies import policy as kernels
from tests.kernels.test_votes import problem
from tests.reference import votes as twin


@pytest.mark.parametrize(("classes", "size"), [(1, 50), (4, 50), (4, 600)])
def test_samples_are_drawn_in_proportion_to_their_weights_and_scaled(classes, size):
    _, signed, _, rng = problem(2, n=400 if size < 100 else 40, classes=classes)
    signed[[0, 5, 6, -1]] = 0.0
    marginals = np.abs(signed).sum(axis=1, dtype=np.float64)
    sums, counts = kernels.empty_sums(len(signed)), np.zeros(len(signed))
    kernels.running_weights(signed, *sums)
    drawn = np.empty(size, np.int64), np.empty(size, np.int32), empty(size, signed.shape[1])
    draws = 120_000 // size
    for _ in range(draws):
        distinct = kernels.sample_by_weight(signed, *sums, rng.standard_exponential(size + 1), *drawn)
        rows, times, sample = (part[:distinct] for part in drawn)
        assert (np.diff(rows) > 0).all() and (times > 0).all() and times.sum() == size
        counts[rows] += times
    np.testing.assert_allclose(sample, signed[rows] * (times / marginals[rows] / size)[:, None], rtol=1e-6)
    share = marginals / marginals.sum()
    assert (np.abs(counts / counts.sum() - share) <= 5 * np.sqrt(share / counts.sum()) + 1e-9).all()
    assert (counts[marginals == 0] == 0).all()


@pytest.mark.parametrize("classes", [1, 4, 20])
def test_kappa_is_the_second_moment_of_a_draw(classes):
    _, signed, *_ = problem(2, n=70, classes=classes)
    signed[[0, 5, -1]] = 0.0
    assert kernels.second_moment(signed) == pytest.approx(twin.kappa(signed), rel=1e-5)


@pytest.mark.parametrize("sharpness", [0.0, 3.0, 12.0])
@pytest.mark.parametrize("n", [5, 16, 300])
def test_a_draw_finds_the_row_that_a_search_finds(n, sharpness):
    rng = np.random.default_rng(0)
    signed = np.exp(sharpness * rng.normal(size=(n, 1))).astype(np.float32)
    signed[::7] = 0.0
    sums, spacings = kernels.empty_sums(n), rng.standard_exponential(1001)
    kernels.running_weights(signed, *sums)
    running = signed[:, 0].cumsum(dtype=np.float64)
    np.testing.assert_allclose(sums[0][1:], running[np.minimum(np.arange(16, n + 16, 16), n) - 1], rtol=1e-6)
    rows, times, sample = np.empty(1000, np.int64), np.empty(1000, np.int32), np.empty((1000, 1), np.float32)
    distinct = kernels.sample_by_weight(signed, *sums, spacings, rows, times, sample)
    found = np.repeat(rows[:distinct], times[:distinct])
    expected = np.searchsorted(running, np.cumsum(spacings[:-1]) / spacings.sum() * running[-1], side="right")
    assert (np.abs(running[found] - running[expected]) <= 1e-6 * running[-1]).all()  # rounding apart
    assert (signed[found] > 0).all() and sample[:distinct].sum() == pytest.approx(1.0, rel=1e-5)


def test_features_of_families_are_drawn_uniformly_without_replacement_and_in_order():
    rng = np.random.default_rng(0)
    starts, sizes, counts = np.array([3, 0, 8]), np.array([5, 3, 12]), np.array([2, 3, 4])
    taken, out, times = np.zeros(20, np.uint8), np.empty(9, np.int64), np.zeros(20)
    pairs = np.zeros((20, 20))
    for _ in range(6000):
        kernels.without_replacement(starts, sizes, counts, rng.random(9), taken, out)
        assert not taken.any()
        for start, size, part in zip(starts, sizes, (out[:2], out[2:5], out[5:])):
            assert (np.diff(part) > 0).all() and start <= part[0] and part[-1] < start + size
        times[out] += 1
        pairs[out[5], out[5:]] += 1
        pairs[out[:2], out[:2][::-1]] += 1
    share = np.repeat([1.0, 2 / 5, 4 / 12], [3, 5, 12])
    assert (np.abs(times / 6000 - share) <= 4.5 * np.sqrt(share * (1 - share) / 6000)).all()
    both = pairs[3:8, 3:8][~np.eye(5, dtype=bool)] / 6000  # every pair of two of five: 1 in 10
    assert (np.abs(both - 0.1) <= 4.5 * np.sqrt(0.09 / 6000)).all()
