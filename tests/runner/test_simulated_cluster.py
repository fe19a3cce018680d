"""The simulation of a sweep on many cores, held against what can be said without it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "simulate_cluster.py"
ITEM, RESULTS = "reservoir/table3", ROOT / "results"
if not SCRIPT.is_file():
    pytest.skip("the scripts are in a checkout only", allow_module_level=True)
sys.path.insert(0, str(SCRIPT.parent))

from simulate_cluster import Costs, lengths_of, simulate  # noqa: E402

FREE = Costs(dispatch=0, operations=0, start=0, bank=0)
LENGTHS = st.lists(st.integers(1, 50).map(float), min_size=1, max_size=40)
few = settings(max_examples=40)


def by_hand(lengths, cores):
    """The next trial goes to the worker that is free first."""
    free = [0.0] * cores
    for length in lengths:
        first = free.index(min(free))
        free[first] += length
    return max(free)


@few
@given(LENGTHS, st.integers(1, 12))
def test_when_nothing_costs_anything_it_is_a_list_of_trials_dealt_to_who_is_free(lengths, cores):
    out = simulate(lengths, cores, FREE)
    assert out.seconds == by_hand(lengths, cores)
    assert max(*lengths, sum(lengths) / cores) <= out.seconds <= sum(lengths) / cores + max(lengths)
    assert out.efficiency == sum(lengths) / (cores * out.seconds)
    costly = simulate(lengths, cores, Costs(dispatch=0.3, operations=4, latency=0.1, rate=20.0))
    assert costly.seconds >= max(out.seconds, len(lengths) * 0.3, len(lengths) * 4 / 20)
    assert 0 < costly.dispatcher_busy <= 1 and 0 < costly.store_busy <= 1 and 0 < costly.efficiency <= 1


@few
@given(LENGTHS, st.integers(1, 12), st.integers(1, 7))
def test_on_one_core_every_cost_is_paid_in_turn(lengths, operations, batch):
    costs = Costs(
        dispatch=0.5, batch=batch, operations=operations, latency=0.25, rate=1e9, start=3.0, bank=4.0, bandwidth=2.0
    )
    tasks = -(-len(lengths) // batch)
    whole = 3.0 + 2.0 + sum(lengths) + 0.5 * tasks + 0.25 * operations * len(lengths)
    assert simulate(lengths, 1, costs).seconds == pytest.approx(whole)


def test_a_slow_dispatcher_or_a_slow_store_is_what_a_thousand_cores_wait_for():
    lengths = [1.0] * 3000
    slow_dispatch = simulate(lengths, 1000, Costs(dispatch=0.1, operations=1, start=0, bank=0))
    assert slow_dispatch.dispatcher_busy > 0.99 and slow_dispatch.seconds == pytest.approx(3000 * 0.1, abs=2)
    slow_store = simulate(lengths, 1000, Costs(dispatch=0, operations=20, rate=100.0, start=0, bank=0))
    assert slow_store.store_busy > 0.98 and slow_store.seconds == pytest.approx(3000 * 0.2, abs=2)
    batched = simulate(lengths, 1000, Costs(dispatch=0.1, batch=3, operations=1, start=0, bank=0))
    assert batched.seconds == pytest.approx(100 + 3, abs=1)


@pytest.mark.slow
@pytest.mark.skipif(not RESULTS.is_dir(), reason="no published records here")
def test_lengths_are_those_of_the_records_as_often_as_needed():
    count = 1040  # trials of the item
    once = lengths_of(ITEM, count, results=RESULTS)
    assert len(once) == count and min(once) > 0
    assert sorted(lengths_of(ITEM, 2 * count, results=RESULTS)) == sorted(once * 2)
    assert lengths_of(ITEM, count, results=RESULTS) == once != lengths_of(ITEM, count, seed=1, results=RESULTS)


@pytest.mark.slow
@pytest.mark.skipif(not RESULTS.is_dir(), reason="no published records here")
def test_the_script_prints_a_line_for_each_number_of_cores_and_refuses_what_it_does_not_know():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(*words):
        return subprocess.run(
            [sys.executable, SCRIPT, ITEM, *words],
            capture_output=True, text=True, env=environment, check=False, cwd=ROOT,
        )  # fmt: skip

    out = run("trials=500", "cores=1,10", "order=longest")
    assert [line.split()[0] for line in out.stdout.splitlines()[2:]] == ["1", "10"], out.stderr
    assert "no key latenzy; there are trials, cores, order, dispatch" in run("latenzy=1").stderr
