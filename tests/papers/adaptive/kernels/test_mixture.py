"""Mixtures of edges and the edge to expect: the kernels against their twins, scikit-learn, simulation and limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from boostrun.papers.adaptive.policies import mas as kernels
from boostrun.papers.adaptive.policies.mas import Mixtures
from tests.reference import mixture as twin

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


def allocated(mixtures, noise, most, fineness=10**9, sizes=None):
    counts = np.full(len(mixtures), -1)
    sizes = np.full(len(mixtures), most) if sizes is None else np.asarray(sizes)
    return kernels.allocate(*as_arrays(mixtures), noise, sizes, most, fineness, 257, counts), counts


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
