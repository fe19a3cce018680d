"""Reservoirs that are merged by key: as one over all rows, exactly for given keys, and in distribution."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.strategies import Batch, KeyedReservoir, WSam


def reservoir_of(keys, rows, size):
    found = KeyedReservoir(size)
    found.add(np.array(keys, float), row=np.array(rows, int))
    return found


def same(one, other):
    return (
        (one.size, one.bound) == (other.size, other.bound)
        and np.array_equal(one.keys, other.keys)
        and all(np.array_equal(one.rows[name], other.rows[name]) for name in {**one.rows, **other.rows})
    )


@given(
    st.lists(st.tuples(st.floats(0.0, 9.0), st.integers(0, 4)), max_size=30, unique_by=lambda row: row[0]),
    st.integers(1, 12), st.randoms(use_true_random=False),
)  # fmt: skip
def test_parts_merged_in_any_order_are_the_reservoir_of_all_rows(rows, size, random):
    parts = []
    for part in range(5):
        own = [(key, place) for place, (key, at) in enumerate(rows) if at == part]
        parts.append(reservoir_of([key for key, _ in own], [place for _, place in own], size))
    random.shuffle(parts)
    merged = KeyedReservoir(size)
    at = random.randint(0, 5)
    merged.merge(*parts[:at])
    for part in parts[at:]:
        merged.merge(KeyedReservoir.restore(part.snapshot()))
    ranked = sorted((key, place) for place, (key, _) in enumerate(rows))  # brute force
    assert merged.keys.tolist() == [key for key, _ in ranked[:size]]
    assert merged.rows.get("row", np.empty(0)).tolist() == [place for _, place in ranked[:size]]
    assert merged.bound == (ranked[size][0] if len(ranked) > size else float("inf"))


def of_subsets(weights, r):
    """The chance of each set of r rows that are drawn one after the other in proportion to the weights left."""
    found = dict.fromkeys(itertools.combinations(range(len(weights)), r), 0.0)
    for order in itertools.permutations(range(len(weights)), r):
        left, chance = sum(weights), 1.0
        for row in order:
            chance, left = chance * weights[row] / left, left - weights[row]
        found[tuple(sorted(order))] += chance
    return found


def drawn(weights, r, owners, times, seed):
    """How often each set is kept by parts that never see each other's rows, merged."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(itertools.combinations(range(len(weights)), r), 0)
    for _ in range(times):
        merged = KeyedReservoir(r)
        for part in np.unique(owners):
            own = np.flatnonzero(owners == part)
            each = KeyedReservoir(r)
            for one in own:  # as they arrive
                each.add(KeyedReservoir.draw_keys(weights[[one]], rng), row=own[own == one])
            merged.merge(each)
        counts[tuple(sorted(merged.rows["row"].tolist()))] += 1
    return counts


@pytest.mark.parametrize("owners", [[0, 0, 0, 0, 0], [0, 1, 0, 1, 1], [0, 1, 2, 3, 4]])
def test_parts_merged_keep_each_set_as_often_as_one_reservoir_does(owners):
    weights, times = np.array([1.0, 2.0, 0.5, 4.0, 1.5]), 2000
    wanted = of_subsets(weights, 2)
    counts = drawn(weights, 2, np.array(owners), times, 0)
    assert chisquare([counts[one] for one in wanted], [times * wanted[one] for one in wanted]).pvalue > 0.01
    wrong = of_subsets(weights**0.7, 2)  # the test can tell
    assert chisquare([counts[one] for one in wrong], [times * wrong[one] for one in wrong]).pvalue < 1e-3


def test_wsam_keeps_what_a_reservoir_with_its_keys_does():
    weights = np.random.default_rng(0).random(40)
    batch = Batch(np.zeros((40, 1)), np.ones(40), weights, np.zeros(40, int))
    kept, _ = WSam()(batch, 15, np.random.default_rng(7))
    found = reservoir_of(KeyedReservoir.draw_keys(weights, np.random.default_rng(7)), np.arange(40), 15)
    assert sorted(found.rows["row"]) == kept.tolist()


def test_sums_of_the_rows_kept_are_unbiased_for_the_sum_of_all():
    rng, weights = np.random.default_rng(3), np.array([0.0, 0.2, 5.0, 1.0, 1.0, 0.4, 2.0])
    values = np.arange(7.0)
    sums = []
    for _ in range(2000):
        found = KeyedReservoir(3)
        found.add(KeyedReservoir.draw_keys(weights, rng), weights=weights, values=values)
        own = found.rows["weights"]
        sums.append((own / found.chances(own) * found.rows["values"]).sum())
    assert abs(np.mean(sums) - weights @ values) < 4.0 * np.std(sums) / len(sums) ** 0.5
    whole = reservoir_of([0.1, 0.2], [0, 1], 2)
    assert whole.chances(np.array([0.0, 3.0])).tolist() == [1.0, 1.0]


def test_a_snapshot_goes_through_a_file_and_does_not_change_with_the_reservoir(tmp_path):
    found = reservoir_of([0.3, 0.1, 0.2], [3, 1, 2], 2)
    np.savez(tmp_path / "state.npz", **found.snapshot())
    state = found.snapshot()
    with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
        assert same(KeyedReservoir.restore(file), found)
    before = KeyedReservoir.restore(state)
    found.add(np.array([0.0]), row=np.array([9]))
    assert same(KeyedReservoir.restore(state), before) and not same(found, before)


@pytest.mark.parametrize(
    "change",
    [
        {"keys": np.array([0.2, 0.1])}, {"keys": np.array([0.1])}, {"bound": np.array(0.15)}, {"size": np.array(0)},
        {"size": np.array(1)}, {"keys": np.array([0.1, np.nan])}, {"bound": np.array("far")},
    ],
)  # fmt: skip
def test_a_state_that_is_no_snapshot_is_a_sentence(change):
    state = reservoir_of([0.3, 0.1, 0.2], [3, 1, 2], 2).snapshot()
    with pytest.raises(BoostrunError):
        KeyedReservoir.restore({**state, **change})
    with pytest.raises(BoostrunError, match="no snapshot of a reservoir"):
        KeyedReservoir.restore({"size": 3})


def test_rows_of_other_fields_are_not_merged():
    other = KeyedReservoir(2)
    other.add(np.array([0.5]), label=np.array([1]))
    with pytest.raises(BoostrunError, match="different fields"):
        reservoir_of([0.1], [1], 2).merge(other)


@pytest.mark.bench
def test_merge_of_ten_reservoirs_of_two_thousand():
    """784 values of a row in single precision; the target is 50 ms."""
    rng, parts = np.random.default_rng(0), []
    for _ in range(10):
        parts.append(KeyedReservoir(2000))
        samples = rng.random((2000, 784), np.float32)
        parts[-1].add(rng.standard_exponential(2000), samples=samples, labels=rng.integers(0, 10, 2000))
    taken = []
    for _ in range(10):
        merged, begun = KeyedReservoir(2000), time.perf_counter()
        merged.merge(*parts)
        taken.append(1000.0 * (time.perf_counter() - begun))
    print(f"\nmerge of ten reservoirs of 2,000 rows of 784 float32: {np.median(taken):.1f} ms (target: 50 ms)")
    assert len(merged.keys) == 2000
