import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from run_toys import assert_whole, expected, figures, quick, threads, trials, wait_for

from boostrun import signals
from boostrun.errors import BoostrunError
from boostrun.runner import worker
from boostrun.runner.queue import run_trials
from boostrun.store import Store
from boostrun.store.provenance import collect


def go(list_of_trials, execute, store, n_jobs=1, **options):
    return run_trials(list_of_trials, execute, store, n_jobs=n_jobs, **{"provenance": {}, **options})


@pytest.mark.parametrize("n_jobs, backend", [(1, "loky"), (2, "loky"), (-1, "sequential"), (2, "threading")])
def test_results_depend_neither_on_workers_nor_on_the_backend_and_a_trial_given_twice_runs_once(
    store, toy, n_jobs, backend
):
    assert go([], toy(), store, n_jobs, backend=backend).done == []
    out = go(trials(8) + trials(3), toy(), store, n_jobs, backend=backend)
    assert [made["seed"] for made in out.done] == list(range(8))
    assert (out.failed, out.cached, out.interrupted) == ([], 0, False)
    assert figures(store) == expected(8)
    assert sorted(toy().executions()) == list(range(8))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_done_trials_are_not_run_again_and_a_resumed_run_ends_as_an_undisturbed_one(store, toy, n_jobs):
    go(trials(8)[2:5], toy(), store)
    out = go(trials(8), toy(), store, n_jobs)
    assert out.cached == 3 and len(out.done) == 8
    assert go(trials(8), toy(), store, n_jobs).cached == 8
    assert sorted(toy().executions()) == list(range(8))
    assert figures(store) == expected(8)


@pytest.mark.filterwarnings("ignore:.*tasks which were still being processed")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_sigterm_whose_interrupt_was_lost_stops_the_run_after_the_next_trial(store, toy, monkeypatch, n_jobs):
    """Python drops what is raised in a finaliser: there the handler's KeyboardInterrupt interrupts nothing."""
    monkeypatch.setattr(signals, "_heard", [0.0])
    out = go(trials(8), toy(seconds=0.3), store, n_jobs)  # or workers had done all before the first was looked at
    assert out.interrupted and 1 <= len(out.done) < 8
    monkeypatch.setattr(signals, "_heard", [])
    assert len(go(trials(8), toy(), store, n_jobs).done) == 8 and figures(store) == expected(8)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_makes_a_failed_record_and_the_next_run_tries_again(store, toy, n_jobs):
    out = go(trials(4), toy(fail=(2,)), store, n_jobs)
    assert [made["seed"] for made in out.done] == [0, 1, 3]
    assert [made["error"] for made in out.failed] == [
        {"type": "BoostrunError", "message": "seed 2 is no good", "traceback": ""}
    ]
    out = go(trials(4), toy(), store, n_jobs)
    assert out.cached == 3 and len(out.done) == 4 and not out.failed


def stumble(trial):
    if trial.seed == 0:
        raise SystemExit("out")
    if trial.seed == 5:
        return 1 / 0
    return {
        1: {"metrics": {"x": float("nan")}, "cost": {}, "curve": {}}, 2: {"metrics": {}, "cost": {}}, 3: None,
        4: {"metrics": {"x": 1}, "cost": {"y": object()}, "curve": {}},
    }[trial.seed]  # fmt: skip


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_whatever_a_trial_does_wrong_is_a_failure_of_its_own(store, n_jobs):
    out = go(trials(6), stumble, store, n_jobs)
    assert [made["error"]["type"] for made in out.failed] == ["SystemExit"] + ["BoostrunError"] * 4 + [
        "ZeroDivisionError"
    ]
    assert "metrics.x is nan" in out.failed[1]["error"]["message"]
    assert "in stumble" in out.failed[5]["error"]["traceback"]
    assert all(made["metrics"] == {} for made in out.failed)


def with_numpy(trial):
    import numpy as np

    metrics = {"x": np.float32(0.5), "n": np.int64(3)}
    return {"metrics": metrics, "cost": {"a": np.arange(2)[1]}, "curve": {"c": (1, np.arange(2))}}


def test_numpy_values_become_plain_and_cost_and_provenance_are_filled_in(store):
    provenance = collect(["boostrun", "algo=toy"])
    (made,) = go(trials(1), with_numpy, store, provenance=provenance).done
    assert made["metrics"] == {"x": 0.5, "n": 3} and made["cost"]["a"] == 1 and made["curve"] == {"c": [1, [0, 1]]}
    assert made["cost"]["seconds"] >= 0 and made["cost"]["peak_memory_mb"] > 10
    assert made["provenance"]["command"] == ["boostrun", "algo=toy"]
    assert made["provenance"]["time"] >= provenance["time"]
    assert set(made["provenance"]) == set(provenance)


def refuse():
    raise RuntimeError("not in this house")


LOCK = threading.Lock()  # cannot be pickled


class Unwelcome:
    """Cannot be unpickled."""

    def __reduce__(self):
        return refuse, ()


@pytest.mark.parametrize("n, execute, options, says", [
    (1, Unwelcome(), {"n_jobs": 2}, r"cannot be sent to the workers: .*not in this house"),
    (3, Unwelcome(), {"n_jobs": 2}, r"cannot be sent to the workers: .*not in this house"),
    (3, lambda trial: LOCK, {"n_jobs": 2}, "cannot be sent"),
    (1, quick, {"backend": "lokky"}, "did you mean 'loky'"), (3, quick, {"n_jobs": 2, "backend": "dask"}, "dask"),
    (1, quick, {"n_jobs": None}, "n_jobs must be"),
])  # fmt: skip
def test_what_cannot_be_run_is_one_sentence(store, n, execute, options, says):
    with pytest.raises(BoostrunError, match=says):
        go(trials(n), execute, store, **options)


def test_workers_are_reused_from_one_run_to_the_next(store, toy):
    go(trials(6), toy(seconds=0.05), store, 2)
    before = toy().workers()
    go(trials(6, r=11), toy(seconds=0.05), store, 2)
    assert toy().workers() == before and os.getpid() not in before


@pytest.mark.parametrize("n_jobs, backend", [(1, "loky"), (2, "loky"), (2, "threading")])
def test_one_thread_in_every_library_even_when_the_user_asked_for_more(store, monkeypatch, n_jobs, backend):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setenv("NUMBA_NUM_THREADS", os.environ.get("NUMBA_NUM_THREADS", "2"))
    out = go(trials(2), threads, store, n_jobs, backend=backend)
    assert len(out.done) == 2
    for made in out.done:
        assert made["metrics"] == {"widest": 1, "numba": 1}
        assert set(made["provenance"]["threads"]["pools"].values()) == {1}
        assert made["provenance"]["threads"]["numba"] == 1
    assert os.environ["OMP_NUM_THREADS"] == "4"


def test_a_disk_that_fills_up_keeps_what_was_finished_and_stops(store, toy, monkeypatch):
    sync, left = os.fsync, [6]

    def filling(descriptor):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", filling)
        with pytest.raises(BoostrunError, match="No space left"):
            go(trials(20), toy(), store)
    kept = assert_whole(store.root)
    assert 0 < len(kept) < 20 and not list(store.root.rglob("*.tmp"))
    assert go(trials(20), toy(), store).cached == len(kept)
    assert figures(store) == expected(20)


def test_an_interrupt_in_this_process_keeps_what_is_finished(store, toy):
    def interrupt(trial):
        if trial.seed == 3:
            raise KeyboardInterrupt
        return toy()(trial)

    out = go(trials(6), interrupt, store)
    assert out.interrupted and len(out.done) == 3 and not out.failed
    assert not list(store.root.rglob("*.tmp"))


def test_a_trial_that_another_process_is_at_is_left_to_the_end_and_then_taken_from_it(store, toy):
    list_of_trials = trials(4)
    held, free = threading.Event(), threading.Event()

    def other():
        with store.lock(list_of_trials[0].key):
            held.set()
            wait_for(lambda: len(toy().executions("end")) == 3)
            store.put(worker.make_record(list_of_trials[0], {}, {"metrics": {"x": 1.0}, "cost": {}, "curve": {}}))
        free.set()

    thread = threading.Thread(target=other)
    thread.start()
    assert held.wait(5)
    out = go(list_of_trials, toy(), Store(store.root))
    thread.join(10)
    assert sorted(toy().executions()) == [1, 2, 3]
    assert len(out.done) == 4 and out.cached == 1


def test_nothing_is_left_beside_the_records_and_other_inputs_are_other_trials(store, toy):
    go(trials(5), toy(), store, 2)
    files = [path for path in store.root.rglob("*") if path.is_file()]
    assert len([path for path in files if path.suffix == ".json"]) == 5
    assert not [path for path in files if path.suffix not in (".json", "") or path.name.startswith(".")]
    go(trials(2, source="old"), toy(), store)
    assert go(trials(2, source="new"), toy(), store).cached == 0
    assert len(store.find(trials(1)[0].cell.key, 0)) == 3


def test_kernels_can_be_compiled_before_in_and_after_a_run_in_this_process(tmp_path):
    """numba refuses to compile once its number of threads has changed in the environment."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "import numba\n"
        "from run_toys import Toy, trials\n"
        "from boostrun.runner.queue import run_trials\n"
        "from boostrun.store import Store\n"
        "assert numba.njit(lambda x: x + 1)(1) == 2\n"
        "def compiles(trial):\n"
        "    assert numba.njit(lambda x: x + 2)(1) == 3\n"
        "    return {'metrics': {'threads': numba.get_num_threads()}, 'cost': {}, 'curve': {}}\n"
        f"out = run_trials(trials(2), compiles, Store(Path({str(tmp_path)!r})), n_jobs=1, provenance={{}})\n"
        "assert [r['metrics']['threads'] for r in out.done] == [1, 1], out\n"
        "assert numba.njit(lambda x: x + 3)(1) == 4\n"
    )
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here.parent.parent), str(here)])}
    environment.pop("NUMBA_NUM_THREADS", None)
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
