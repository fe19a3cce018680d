"""What the queue adds to a trial, beside a bare joblib loop of the same function; asserts nothing about time."""

import os
import tempfile
import time
from pathlib import Path

import joblib
import pytest
from run_toys import quick, trials

from boostrun.runner.queue import run_trials
from boostrun.store.provenance import collect
from boostrun.store.store import Store

N = 1000


def bare(n_jobs):
    parallel = joblib.Parallel(n_jobs=n_jobs, batch_size=1)
    begun = time.perf_counter()
    parallel(joblib.delayed(quick)(trial) for trial in trials(N))
    return time.perf_counter() - begun


def fsyncs(folder):
    """One file written and synced, and its folder synced, as for a record."""
    begun = time.perf_counter()
    for number in range(100):
        with open(folder / str(number), "wb") as file:
            file.write(b"x" * 1500)
            file.flush()
            os.fsync(file.fileno())
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    return (time.perf_counter() - begun) / 100


@pytest.fixture
def in_memory():
    """A folder where fsync costs nothing, so that what is left is our own."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield Path(folder)


@pytest.mark.bench
def test_overhead_of_a_trial(tmp_path, in_memory, capsys):
    lines = [f"fsync of a file and its folder: {1e3 * fsyncs(tmp_path):.2f} ms"]
    for n_jobs in (1, 2):
        run_trials(trials(4, r=1), quick, Store(tmp_path / f"warm{n_jobs}"), n_jobs=n_jobs, provenance={})
        store = Store(tmp_path / f"s{n_jobs}")
        begun = time.perf_counter()
        run_trials(trials(N), quick, store, n_jobs=n_jobs, provenance=collect())
        ours = time.perf_counter() - begun
        begun = time.perf_counter()
        run_trials(trials(N), quick, Store(in_memory / f"s{n_jobs}"), n_jobs=n_jobs, provenance=collect())
        own = time.perf_counter() - begun
        begun = time.perf_counter()
        assert run_trials(trials(N), quick, store, n_jobs=n_jobs, provenance=collect()).cached == N
        again = time.perf_counter() - begun
        bare(n_jobs)
        lines.append(
            f"n_jobs={n_jobs}: {1e3 * ours / N:.2f} ms a trial, "
            f"without fsync {1e3 * own / N:.2f}, bare joblib {1e3 * bare(n_jobs) / N:.2f}, "
            f"cached {1e3 * again / N:.2f}"
        )
    begun = time.perf_counter()
    found = Store(tmp_path / "s1").find(trials(1)[0].cell.key, 5)
    lines.append(f"first find among {N} records: {1e3 * (time.perf_counter() - begun):.0f} ms")
    assert len(found) == 1
    with capsys.disabled():
        print("\n" + "\n".join(lines))
