"""Workers that are started ahead of their work: the trials find them, and they never outlive what they were for."""

import functools
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import pytest
from run_toys import alive, wait_for

from boostrun.errors import BoostrunError
from boostrun.runner import pool
from boostrun.runner.threads import pinned


def _leave_pid(folder):
    (Path(folder) / str(os.getpid())).touch()
    deadline = time.monotonic() + 60
    while len(_pids(folder)) < 2 and time.monotonic() < deadline:  # one worker must not take both tasks
        time.sleep(0.02)


def _pids(folder):
    return {int(path.name) for path in folder.iterdir()}


def test_trials_run_in_the_workers_that_were_started(tmp_path):
    with pool.started(2, functools.partial(_leave_pid, tmp_path)) as wait:
        wait()
        started = _pids(tmp_path)
        assert len(started) == 2 and os.getpid() not in started
        used = set(pool.parallel("loky", 2)(joblib.delayed(os.getpid)() for _ in range(6)))
    assert used <= started


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks processes up in /proc")
@pytest.mark.parametrize("error", [None, BoostrunError("a bad plan")])
def test_workers_that_nobody_waited_for_are_ended(tmp_path, error):
    """Nothing was left to run, or planning failed."""
    try:
        with pool.started(2, functools.partial(_leave_pid, tmp_path)):
            while len(_pids(tmp_path)) < 2:
                time.sleep(0.02)
            if error is not None:
                raise error
    except BoostrunError as caught:
        assert caught is error
    assert wait_for(lambda: not any(map(alive, _pids(tmp_path))))


def _die():
    os._exit(1)


def test_a_worker_that_dies_while_it_loads_is_no_error_of_the_plan():
    with pool.started(2, _die) as wait:
        wait()
    assert set(pool.parallel("loky", 2)(joblib.delayed(abs)(-1) for _ in range(2))) == {1}


@pytest.mark.filterwarnings("ignore:.*tasks which were still being processed")
def test_a_pool_that_ends_before_its_workers_were_ready_is_no_error_of_theirs(tmp_path):
    """As when another worker dies, or the run is interrupted."""
    with pool.started(2, functools.partial(time.sleep, 60)) as wait:
        results = pool.parallel("loky", 2)(joblib.delayed(abs)(-1) for _ in range(2))
        results.close()
        begun = time.monotonic()
        wait()
        assert time.monotonic() - begun < 50  # not the sixty seconds that they would have slept


def _number_of_a_child(answers):
    with pool.one_worker({}) as submit:
        answers.put((os.getpid(), submit(os.getpid).result(), submit(os.getppid).result()))


def test_a_daemon_may_give_a_trial_its_own_process():
    """Dask's workers are daemons."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_number_of_a_child, args=(answers,), daemon=True)
    process.start()
    own, child, parent = answers.get(timeout=60)
    process.join(60)
    assert own == parent != child and process.exitcode == 0


_ENDED_WITH_TASKS_LEFT = """
import threading
import time
import joblib
from joblib.externals.loky.process_executor import _ExecutorManagerThread as Thread
from boostrun.runner import pool
from boostrun.runner.threads import pinned
from boostrun.runner.pool import one_worker
sends_the_next = Thread.process_result_item
def late(thread, answer):  # as on a busy machine: before loky's thread looks at what it sent, others have the processor
    sends_the_next(thread, answer)
    time.sleep(0.3)
Thread.process_result_item = late
for answered in range(3):
    with pool.closing(pool.parallel("loky", 2)(joblib.delayed(abs)(-1) for _ in range(100))) as answers:
        for _ in range(answered):
            next(answers)
with pool.started(2, int), pool.closing(pool.parallel("loky", 2)(joblib.delayed(abs)(-1) for _ in range(9))):
    pass  # more than the queue of the workers holds
with one_worker({}) as submit: submit(time.sleep, 60)
"""


@pytest.mark.slow
def test_a_pool_that_ends_with_tasks_left_says_nothing():
    done = subprocess.run(
        [sys.executable, "-c", _ENDED_WITH_TASKS_LEFT], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("n_jobs", [0, -2, True, 1.5, "2"])
def test_a_bad_number_of_workers_is_one_sentence(n_jobs):
    with pytest.raises(BoostrunError, match="n_jobs must be a number of workers"):
        pool.workers(n_jobs)


_KILLS_ITS_TRACKER = """
import os, signal
import joblib
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.backend import resource_tracker
from boostrun.runner import pool
from boostrun.runner.threads import pinned
assert set(pool.parallel("loky", 2)(joblib.delayed(abs)(-1) for _ in range(4))) == {1}
tracker = resource_tracker._resource_tracker._pid
os.kill(tracker, signal.SIGKILL)
get_reusable_executor().shutdown(wait=True)
assert set(pool.parallel("loky", 2)(joblib.delayed(abs)(-2) for _ in range(4))) == {2}
assert resource_tracker._resource_tracker._pid != tracker
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process by signal")
def test_the_keeper_of_semaphores_has_nowhere_to_print_after_it_was_killed_either():
    done = subprocess.run([sys.executable, "-c", _KILLS_ITS_TRACKER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


_LOADING = """
import os, signal
import joblib
from boostrun.runner import pool
from boostrun.runner.threads import pinned
answers = pool.parallel("loky", 2)(joblib.delayed(abs)(-1) for _ in range(4))
signal.signal(signal.SIGINT, signal.SIG_IGN)  # here: the test is about the children
os.killpg(0, signal.SIGINT)
assert set(answers) == {1}
os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("this process still hears it")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends signals to a group of processes")
def test_ctrl_c_does_not_reach_workers_that_still_load():
    done = subprocess.run(
        [sys.executable, "-c", _LOADING], capture_output=True, text=True, check=False, start_new_session=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "this process still hears it\n" and not done.stderr


def test_overlapping_threads_leave_the_environment_of_child_processes_as_it_was(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    entered, left = threading.Event(), threading.Event()

    def second():
        with pinned():
            entered.set()
            left.wait(60)
            found.append(os.environ["OMP_NUM_THREADS"])

    found = []
    thread = threading.Thread(target=second)
    with pinned():
        thread.start()
        assert entered.wait(60)
    left.set()
    thread.join()
    assert found == ["1"] and "OMP_NUM_THREADS" not in os.environ
