"""Mixtures of edges and the edge to expect, samples by weight, features without replacement: against twins and
scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from boostrun.kernels.lanes import empty
from boostrun.papers.adaptive import policies as sampling
from boostrun.papers.adaptive.policies import mas as kernels
from boostrun.papers.adaptive.policies.mas import Mixtures
from tests.kernels.test_stumps import problem
from tests.reference import mixture as twin
from tests.reference import votes as votes_twin

FLOOR = 1e-8


def fitted(edges, m, room=None):
    """(weights, means, variances) of one mixture; ``room`` for components beyond m."""
    out = np.full((3, 1, room or m), np.nan)
    kernels.fit(np.sort(edges)[None], np.array([len(edges)]), np.array([m]), FLOOR, *out)
    return tuple(out[:, 0])


def some_mixtures(rng, count, m=2):
    """``count`` mixtures as edges have them, (weights, means, variances) each."""
    return [(rng.dirichlet(np.ones(m)), rng.uniform(0, 0.2, m), rng.uniform(0.003, 0.05, m) ** 2) for _ in range(count)]


def as_arrays(mixtures):
    return Mixtures(*(np.array(part) for part in zip(*mixtures)))


def expected(mixtures, noises, counts, points=257):
    out = np.empty((len(mixtures), len(noises)))
    kernels.expected_edges(*as_arrays(mixtures), np.array(noises), np.asarray(counts), points, out)
    return out


def allocated(mixtures, noise, most, fineness=10**9, sizes=None, kernel=kernels.allocate):
    counts = np.full(len(mixtures), -1)
    sizes = np.full(len(mixtures), most) if sizes is None else np.asarray(sizes)
    return kernel(*as_arrays(mixtures), noise, sizes, most, fineness, 257, counts), counts


def test_the_normal_distribution_to_single_precision():
    z = np.linspace(-13, 13, 2001)
    density, below = np.array([kernels._normal(x) for x in z]).T
    np.testing.assert_allclose(density, norm.pdf(z), rtol=1e-7)
    np.testing.assert_allclose(below, norm.cdf(z), rtol=1e-7)
    assert kernels._normal(1e6)[1] == 1.0 and 0.0 < kernels._normal(-1e6)[1] < 1e-35


@pytest.mark.parametrize(("m", "n"), [(1, 9), (2, 24), (3, 200), (3, 24)])
def test_em_is_its_twin(m, n):
    rng = np.random.default_rng(n)
    edges = np.sort(np.concatenate([rng.normal(0.05, 0.01, n // 2), rng.normal(0.12, 0.03, n - n // 2)]))
    ours, theirs = fitted(edges, m, room=4), twin.em(edges, m, FLOOR)
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a[:m], b, rtol=1e-4, atol=1e-9)
    assert (ours[0][m:] == 0).all() and np.isfinite(ours).all()


@pytest.mark.parametrize("seed", range(5))
def test_em_is_as_likely_as_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    weights, means, variances = some_mixtures(rng, 1, 3)[0]
    which = rng.choice(3, 300, p=weights)
    edges = np.sort(rng.normal(means[which], np.sqrt(variances[which])))
    start = {"weights_init": np.full(3, 1 / 3), "precisions_init": np.full(3, 3 / edges.var())}
    start["means_init"] = np.quantile(edges, (np.arange(3) + 0.5) / 3)[:, None]
    theirs = GaussianMixture(3, covariance_type="spherical", reg_covar=FLOOR, **start).fit(edges[:, None])
    assert twin.log_likelihood(edges, *fitted(edges, 3)) >= theirs.score(edges[:, None]) - 1e-3


@given(st.lists(
    st.lists(st.floats(0, 1), min_size=1, max_size=40), min_size=1, max_size=4,
), st.integers(1, 3), st.floats(0, 0.01))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_any_edges_give_mixtures(edges, components, noise):
    mixtures = Mixtures.fit(np.concatenate(edges), [len(some) for some in edges], components, noise)
    np.testing.assert_allclose(mixtures.weights.sum(axis=1), 1.0, rtol=1e-9)
    for k, some in enumerate(edges):
        there = mixtures.weights[k] > 0
        assert there.sum() <= max(1, min(components, len(some) // 8))
        assert (mixtures.variances[k] >= FLOOR).all()
        assert (mixtures.means[k][there] >= min(some) - 1e-9).all() and (mixtures.means[k] <= max(some) + 1e-9).all()
        loud = Mixtures.fit(np.array(some), [len(some)], components).variances[0]
        np.testing.assert_allclose(mixtures.variances[k], np.maximum(loud - noise, FLOOR))


@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([1, 2, 10, 300, 20_000]), st.floats(1e-5, 1e-2))
@settings(max_examples=40, deadline=None)
def test_the_integral_is_its_twins(seed, m, q, noise):
    mixtures = some_mixtures(np.random.default_rng(seed), 2, m)
    fine, coarse = (expected(mixtures, [noise, 2 * noise], [[q, 3], [1, q]], points) for points in (1025, 257))
    for k, j, count in ((0, 0, q), (0, 1, 3), (1, 0, 1), (1, 1, q)):
        theirs = twin.expected_edge([mixtures[k]], [count], (1 + j) * noise)
        assert fine[k, j] == pytest.approx(theirs, abs=1e-6)
        assert coarse[k, j] == pytest.approx(theirs, abs=2e-4)  # a component may be as narrow as a step of the grid


@pytest.mark.parametrize("seed", range(4))
def test_greedy_is_never_above_the_best_allocation_and_near_it(seed):
    rng = np.random.default_rng(seed)
    mixtures, noise = some_mixtures(rng, 2, 1), rng.uniform(1e-4, 1e-2)
    best, _ = twin.best_allocation(mixtures, noise, 12)
    value, counts = allocated(mixtures, noise, 12)
    assert value == pytest.approx(twin.expected_edge(mixtures, counts, noise), abs=1e-6)
    assert 0.95 * best <= value <= best + 1e-6 and 0 < counts.sum() <= 12


@pytest.mark.parametrize("seed", range(8))
def test_candidates_by_the_handful_do_nearly_as_well_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    mixtures, noise = some_mixtures(rng, 6), rng.uniform(1e-4, 1e-2)
    (chunked, counts), (single, _) = allocated(mixtures, noise, 400, 8), allocated(mixtures, noise, 400)
    assert chunked == pytest.approx(single, rel=0.02) and counts.sum() <= 400
    assert chunked == pytest.approx(twin.expected_edge(mixtures, counts, noise), abs=1e-6)


def test_the_allocation_keeps_to_the_sizes_of_families_and_ends_when_all_is_taken():
    rng = np.random.default_rng(1)
    gaussians = [(np.ones(1), np.array([mean]), np.array([4e-4])) for mean in (0.1, 0.1, 0.12)]
    _, counts = allocated(gaussians, 1e-3, 500, 8, sizes=[7, 300, 5])
    assert (counts <= [7, 300, 5]).all() and counts[2] == 5
    _, counts = allocated(gaussians[:1] * 3, 1e-3, 10_000, 8, sizes=[7, 30, 5])
    assert (counts == [7, 30, 5]).all()
    _, counts = allocated(some_mixtures(rng, 3), 1e-3, 1)
    assert counts.sum() == 1


@pytest.mark.parametrize("fineness", [8, 10**9])
@pytest.mark.parametrize("seed", range(3))
def test_an_allocation_of_everything_is_that_of_the_twin_and_goes_on_where_nothing_is_raised(seed, fineness):
    rng = np.random.default_rng(seed)
    mixtures = some_mixtures(rng, 3)
    value, counts = allocated(mixtures, 1e-3, 40, fineness, [30, 5, 9], kernels.allocate_all)
    assert counts.sum() == 40 and (counts <= [30, 5, 9]).all()
    assert value == pytest.approx(twin.expected_edge(mixtures, counts, 1e-3), abs=1e-6)
    early, fewer = allocated(mixtures, 1e-3, 40, fineness, [30, 5, 9])
    if fewer.sum() == 40:  # nothing stopped it
        assert value == pytest.approx(early, rel=0.02)
    narrow = [(np.ones(1), np.array([mean]), np.array([1e-8])) for mean in (0.1, 0.2)]  # as after deconvolution
    for kernel, counts in ((kernels.allocate, [0, 3]), (kernels.allocate_all, [47, 3])):
        assert allocated(narrow, 0.1, 50, fineness, [60, 3], kernel)[1].tolist() == counts
    assert allocated(narrow, 0.1, 50, fineness, [4, 3], kernels.allocate_all)[1].tolist() == [4, 3]


@pytest.mark.parametrize(("classes", "size"), [(1, 50), (4, 50), (4, 600)])
def test_samples_are_drawn_in_proportion_to_their_weights_and_scaled(classes, size):
    _, signed, _, rng = problem(2, n=400 if size < 100 else 40, classes=classes)
    signed[[0, 5, 6, -1]] = 0.0
    marginals = np.abs(signed).sum(axis=1, dtype=np.float64)
    sums, counts = sampling.empty_sums(len(signed)), np.zeros(len(signed))
    sampling.running_weights(signed, *sums)
    drawn = np.empty(size, np.int64), np.empty(size, np.int32), empty(size, signed.shape[1])
    draws = 120_000 // size
    for _ in range(draws):
        distinct = sampling.sample_by_weight(signed, *sums, rng.standard_exponential(size + 1), *drawn)
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
    assert sampling.second_moment(signed) == pytest.approx(votes_twin.kappa(signed), rel=1e-5)


@pytest.mark.parametrize("sharpness", [0.0, 3.0, 12.0])
@pytest.mark.parametrize("n", [5, 16, 300])
def test_a_draw_finds_the_row_that_a_search_finds(n, sharpness):
    rng = np.random.default_rng(0)
    signed = np.exp(sharpness * rng.normal(size=(n, 1))).astype(np.float32)
    signed[::7] = 0.0
    sums, spacings = sampling.empty_sums(n), rng.standard_exponential(1001)
    sampling.running_weights(signed, *sums)
    running = signed[:, 0].cumsum(dtype=np.float64)
    np.testing.assert_allclose(sums[0][1:], running[np.minimum(np.arange(16, n + 16, 16), n) - 1], rtol=1e-6)
    rows, times, sample = np.empty(1000, np.int64), np.empty(1000, np.int32), np.empty((1000, 1), np.float32)
    distinct = sampling.sample_by_weight(signed, *sums, spacings, rows, times, sample)
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
        sampling.without_replacement(starts, sizes, counts, rng.random(9), taken, out)
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
