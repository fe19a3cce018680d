"""Kernels whose work threads share: the same to the bit whatever the number of threads."""

import itertools
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun import kernels
from boostrun.kernels import Team, code_sums, in_threads, shared_trees, stumps, trees, votes
from boostrun.papers.adaptive import vote_trees
from boostrun.papers.reservoir import full_data

THREADS = [2, 3, 5]


@pytest.fixture(autouse=True)
def everything_is_shared(monkeypatch):
    """However little work there is; and each test must have shared some."""
    monkeypatch.setattr(kernels, "_FEW", 1)
    rounds, each = [], Team.each
    monkeypatch.setattr(Team, "each", lambda self, work, spans: rounds.append(len(spans)) or each(self, work, spans))
    yield
    assert max(rounds, default=0) > 1


def same(call, threads, *changed):
    """``call()`` by one thread and by several; ``changed`` are arrays it changes, put back before."""
    before = [array.copy() for array in changed]
    once = call()
    after = [array.copy() for array in changed]
    for array, put_back in zip(changed, before):
        array[...] = put_back
    with in_threads(threads):
        again = call()
    assert type(again) is type(once)
    for a, b in zip(_arrays(once), _arrays(again), strict=True):
        assert a.dtype == b.dtype and a.flags.c_contiguous == b.flags.c_contiguous
        np.testing.assert_array_equal(a, b)
    for a, b in zip(after, changed, strict=True):
        assert a.tobytes() == b.tobytes()
    return again


def _arrays(found):
    return [] if found is None else [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


def codes(rng, n, d, values=256):
    """Codes (d, n), many of them 0; some columns constant."""
    found = rng.integers(0, values, (d, n)) * (rng.random((d, n)) < 0.6) * (rng.random((d, 1)) < 0.8)
    return found.astype(np.uint8)


def others_of(columns):
    offsets = code_sums.offsets_of(columns)
    return offsets, code_sums.list_others(columns, offsets)


@pytest.mark.parametrize("threads", THREADS)
@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 130), d=st.integers(1, 29), depth=st.integers(1, 7), seed=st.integers(0, 2**20),
    values=st.sampled_from([2, 5, 256]), least=st.sampled_from([1, 2**40, 2**48]), weights=st.sampled_from([0, 1, 9]),
    by_codes=st.integers(0, 7), listed=st.booleans(),
)  # fmt: skip
def test_trees_are_the_same(threads, n, d, depth, seed, values, least, weights, by_codes, listed):
    """Few values and few distinct weights make many splits of equal gain."""
    rng = np.random.default_rng(seed)
    columns = codes(rng, n, d, values)
    signed = rng.choice([-1.0, 1.0], n) * (rng.integers(0, weights + 1, n) if weights < 9 else rng.random(n))
    weight, positive = trees.fixed_point(signed)[0], signed > 0
    entries = trees.sorted_entries(columns)
    others = others_of(columns) if listed else None
    same(lambda: trees.grow(columns, *entries, weight, positive, depth, least, by_codes, others), threads)


@pytest.mark.parametrize("n, d, values, levels, listed", [
    (70_000, 3, 256, 6, False), (500, 5, 2, 0, False), (3000, 9, 256, 3, False), (20_000, 200, 2, 6, True),
])  # fmt: skip
def test_a_tree_by_codes_is_that_of_a_search_by_entries(n, d, values, levels, listed, monkeypatch):
    """``levels`` are those that :func:`levels_by_codes` chooses of six, and ``listed`` whether others are listed."""
    monkeypatch.setattr(shared_trees, "_MOVE", 50)  # so that samples are moved and listed by threads too
    rng = np.random.default_rng(4)
    columns = codes(rng, n, d, values)
    signed = np.where(columns[0] + rng.normal(0, values / 4, n) > values / 2, 1.0, -1.0) * rng.random(n)
    weight, positive = trees.fixed_point(signed)[0], signed > 0
    entries = trees.sorted_entries(columns)
    assert code_sums.levels_by_codes(columns, 6) == (levels, listed)
    given = columns, *entries, weight, positive, 6, 1
    wanted = trees.grow(*given)
    for by_codes, others in itertools.product((1, 4, 6), (None, others_of(columns))):
        found = same(lambda by_codes=by_codes, others=others: trees.grow(*given, by_codes, others), 2)
        for one, other in zip(found, wanted):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_a_tree_of_more_sums_than_are_kept_is_that_of_a_search_by_entries():
    rng = np.random.default_rng(5)
    columns = rng.integers(0, 256, (140, 70_000), np.uint8)
    signed = np.where(rng.random(70_000) < columns[0] / 255.0, 1.0, -1.0) * rng.random(70_000)
    weight, positive = trees.fixed_point(signed)[0], signed > 0
    entries = trees.sorted_entries(columns)
    even, odd = code_sums.room_for(code_sums.offsets_of(columns), 70_000, 9)[-2:]
    assert max(len(even), len(odd)) < 140 * 128 * 2 * 256  # of 128 nodes of the eighth level
    given = columns, *entries, weight, positive, 9, 1
    wanted = trees.grow(*given)
    for others in (None, others_of(columns)):
        for one, other in zip(same(lambda others=others: trees.grow(*given, 9, others), 2), wanted):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("threads", THREADS)
def test_deep_trees_of_which_most_samples_are_soon_in_leaves_are_the_same(threads):
    rng = np.random.default_rng(3)
    columns = codes(rng, 4001, 37)
    signed = np.where(columns[5] > 3, 1.0, -1.0) * np.where(rng.random(4001) < 0.05, -1.0, 1.0) * rng.random(4001)
    weight, positive = trees.fixed_point(signed)[0], signed > 0
    entries = trees.sorted_entries(columns)
    features, thresholds, _, _ = same(lambda: trees.grow(columns, *entries, weight, positive, 9, 1), threads)
    same(lambda: trees.grow(columns, *entries, weight, positive, 9, 1, 9), threads)
    assert len(np.unique(features)) > 20 and np.isinf(thresholds).any()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_scores_of_trees_and_stumps_are_the_same(threads, dtype):
    rng = np.random.default_rng(0)
    samples, rows = (100 * rng.random((211, 7))).astype(dtype), np.flatnonzero(rng.random(211) < 0.7)
    features, thresholds = rng.integers(0, 7, (5, 7)).astype(np.int32), 100 * rng.random((5, 7))
    scores, out = rng.normal(size=211), np.zeros(len(rows), np.int32)
    leaves = np.arange(40.0).reshape(5, 8) / 7
    same(lambda: trees.add_scores(samples, rows, features, thresholds, leaves, scores), threads, scores)
    same(lambda: trees.leaves_of(samples, rows, features[0], thresholds[0], out), threads, out)
    same(lambda: stumps.add_scores(samples, rows, features[0], thresholds[0], thresholds[1], scores), threads, scores)
    every, above = np.empty((5, 211)), rng.normal(size=(5, 7))
    same(lambda: stumps.put_scores(samples, features, thresholds, above, every), threads, every)
    edges = np.sort(np.quantile(samples.astype(np.float64), [0.1, 0.4, 0.8], axis=0).T.astype(np.float32), axis=1)
    coded = np.zeros((7, 211), np.uint8)
    if dtype == np.float32:
        same(lambda: stumps.quantise(samples, edges, coded), threads, coded)


def test_a_sample_that_comes_twice_is_left_to_one_thread():
    rng = np.random.default_rng(0)
    samples, scores, stump = rng.random((50, 3)), np.zeros(50), (np.array([1], np.int32), np.array([0.5]), np.ones(1))
    for rows in np.sort(rng.integers(0, 50, 400)), np.arange(50):
        same(lambda rows=rows: stumps.add_scores(samples, rows, *stump, scores), 2, scores)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("n", "lanes"), [(90, 1), (90, 16), (2500, 32)])
def test_votes_are_the_same(threads, n, lanes):
    """The edges are sums in single precision: they show each change of the order."""
    rng = np.random.default_rng(n + lanes)
    columns, rows = codes(rng, n, 23), np.flatnonzero(rng.random(n) < 0.9)
    signed = rng.normal(size=(len(rows), lanes)).astype(np.float32)
    features = rng.permutation(23)[:19]
    edges, thresholds = np.zeros(19), np.zeros(19, np.int64)
    same(lambda: votes.best_votes(columns, features, rows, signed, edges, thresholds), threads, edges, thresholds)
    assert len(np.unique(edges)) > 5
    scores = rng.normal(size=(n, 3))
    looked_at, at = rng.integers(0, 23, 11).astype(np.int32), 256 * rng.random(11)
    same(lambda: votes.add_votes(columns, looked_at, at, np.arange(33.0).reshape(11, 3) / 7, scores), threads, scores)
    looked_at, at = rng.integers(0, 23, (4, 7)).astype(np.int32), 256 * rng.random((4, 7))
    steps = np.arange(96.0).reshape(4, 8, 3) / 7
    same(lambda: vote_trees.add_tree_votes(columns, looked_at, at, steps, scores), threads, scores)


@pytest.mark.parametrize("threads", THREADS)
@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 200), d=st.integers(1, 31), seed=st.integers(0, 2**20), values=st.sampled_from([2, 4, 256]),
    real=st.booleans(),
)  # fmt: skip
def test_stumps_of_all_samples_are_the_same(threads, n, d, seed, values, real):
    rng = np.random.default_rng(seed)
    columns = codes(rng, n, d, values)
    weights = stumps.fixed_point(rng.normal(size=n) if real else rng.choice([-1.0, 0.0, 1.0], n))[0]
    present, common, others = same(lambda: full_data.describe_columns(columns), threads)
    varies, few = present.sum(axis=1) > 1, others <= 0.5 * n
    dense, sparse = np.flatnonzero(varies & ~few), np.flatnonzero(varies & few)
    entries = same(lambda: full_data.gather_entries(columns, sparse, common, others), threads)
    same(lambda: full_data.best_stump_of_columns(columns, present, common, dense, sparse, *entries, weights), threads)


def test_what_a_block_raises_is_raised_after_all_threads_have_ended():
    team, done = Team(2), threading.Event()

    def work(start, stop):
        if start == 0:
            raise ValueError("of block 0")
        done.set()

    with pytest.raises(ValueError, match="of block 0"):
        team.each(work, [(0, 1), (1, 2)])
    assert done.wait(5.0)
    assert team.each(lambda a, b: (a, b), [(0, 2), (2, 5)]) == [(0, 2), (2, 5)]
    team.end()


def test_threads_of_a_block_share_no_more_and_none_is_left_behind():
    before = threading.active_count()
    with in_threads(3):
        team = kernels._team.get()
        assert team.each(lambda a, b: kernels._team.get(), [(k, k + 1) for k in range(9)]) == [None] * 9
        assert kernels._team.get() is team
        with in_threads(1):
            assert kernels._team.get() is None
        with in_threads(3):
            assert kernels._team.get() is team
    assert kernels._team.get() is None and threading.active_count() == before


def test_a_shared_kernel_is_pickled_as_the_kernel():
    rng = np.random.default_rng(0)
    codes, features, steps, scores = rng.random((90, 3)), np.array([0, 2], np.int32), rng.random(2), np.zeros(90)
    same(lambda: stumps.add_scores(codes, np.arange(90), features, steps, steps, scores), 2, scores)
    kernel = pickle.loads(pickle.dumps(stumps.add_scores))
    assert isinstance(stumps.add_scores, kernels.Shared) and type(kernel) is type(stumps.add_scores.kernel)


@settings(max_examples=200, deadline=None)
@given(size=st.integers(0, 500), steps=st.floats(0.0, 1e9), threads=st.integers(2, 9))
def test_blocks_are_all_things_in_order(size, steps, threads):
    spans = Team(threads).spans(size, steps)
    assert [k for start, stop in spans for k in range(start, stop)] == list(range(size))
    assert 1 <= len(spans) <= 4 * threads
    Team.each(Team(2), lambda a, b: None, [(0, 1), (1, 2)])  # for the fixture
