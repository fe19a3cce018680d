"""Real deaths: workers and commands killed in the middle; every record is whole, none lost, none doubled."""

import itertools
import os
import random
import re
import signal
import sys
import time

import pytest
from run_toys import alive, assert_whole, expected, figures, script, trials, wait_for

from boostrun.errors import BoostrunError
from boostrun.runner.queue import run_trials

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes by signal")


def go(list_of_trials, execute, store, n_jobs=2):
    return run_trials(list_of_trials, execute, store, n_jobs=n_jobs, provenance={})


def test_a_trial_that_kills_its_worker_is_the_only_one_that_fails(store, toy):
    out = go(trials(10), toy(seconds=0.01, kill=(4,)), store)
    assert [made["seed"] for made in out.done] == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    (failed,) = out.failed
    assert failed["seed"] == 4 and failed["error"]["type"] == "WorkerDied"
    # on a busy machine the pool may give up waiting for the dead worker's exit code
    assert re.search(r"died twice \((SIGKILL.*|cause unknown)\)", failed["error"]["message"])
    ends = toy().executions("end")
    # a trial that ended while the pool died, before its record was written, is run once more
    assert len(set(ends)) == 9 and len(ends) <= 10
    assert toy().executions().count(4) == 2
    assert {seed: made for seed, made in figures(store).items() if seed != 4} == {
        seed: made for seed, made in expected(10).items() if seed != 4
    }
    out = go(trials(10), toy(), store)
    assert out.cached == 9 and figures(store) == expected(10)


def test_a_worker_killed_from_outside_costs_no_result(store, toy):
    out = go(trials(8), toy(seconds=0.01, kill_once=(1,)), store)
    assert len(out.done) == 8 and not out.failed
    assert figures(store) == expected(8)


def test_a_single_trial_cannot_take_the_command_with_it(store, toy):
    out = go(trials(1), toy(leave=(0,)), store)
    assert [made["error"]["type"] for made in out.failed] == ["WorkerDied"]
    assert toy().executions() == [0, 0]
    assert os.getpid() not in toy().workers()


def test_a_single_trial_whose_worker_is_killed_from_outside_gets_a_second_try(store, toy):
    assert len(go(trials(1), toy(kill_once=(0,)), store).done) == 1


@pytest.mark.slow
def test_when_every_trial_kills_its_worker_every_one_is_named(store, toy):
    out = go(trials(3), toy(leave=(0, 1, 2)), store)
    assert len(out.failed) == 3 and not out.done
    assert all("EXIT(7)" in made["error"]["message"] for made in out.failed)


def die(*_):
    os._exit(9)


class Deadly:
    """Kills the process that unpickles it."""

    def __reduce__(self):
        return die, ()


@pytest.mark.slow
def test_workers_that_die_before_a_trial_begins_end_the_run_with_one_sentence(store):
    with pytest.raises(BoostrunError, match="before any trial began"):
        go(trials(4), Deadly(), store)
    assert not assert_whole(store.root)


def begun(toy, n):
    return lambda: len(toy().executions()) >= n


def test_a_command_killed_by_force_takes_its_workers_along_and_can_be_resumed(store, toy):
    command = script(store.root, 30, toy(seconds=0.1))
    assert wait_for(begun(toy, 6))
    os.kill(command.pid, signal.SIGKILL)
    command.communicate()
    assert wait_for(lambda: not any(alive(pid) for pid in toy().workers()), 5)
    kept = assert_whole(store.root)
    assert 0 < len(kept) < 30
    out = go(trials(30), toy(), store)
    assert out.cached == len(kept) and len(out.done) == 30
    assert figures(store) == expected(30)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel to end a process with its parent")
def test_a_worker_in_a_kernel_that_holds_the_interpreter_ends_with_its_parent_too(store, toy):
    command = script(store.root, 4, toy(grip=(0, 1)))
    assert wait_for(begun(toy, 2))
    time.sleep(0.1)
    os.kill(command.pid, signal.SIGKILL)
    command.communicate()
    assert wait_for(lambda: not any(alive(pid) for pid in toy().workers()), 5)


@pytest.mark.parametrize("how", ["ctrl-c", "SIGTERM alone", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_an_interrupted_command_stops_cleanly_and_keeps_what_is_finished(store, toy, how):
    n_jobs = 1 if how == "SIGTERM alone" else 2
    command = script(store.root, 200, toy(seconds=0.05), n_jobs)
    assert wait_for(begun(toy, 6))
    if how == "ctrl-c":
        os.killpg(command.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    else:
        os.kill(command.pid, signal.SIGTERM)
    out, err = command.communicate(timeout=20)
    done, failed, _, interrupted = out.split()
    kept = assert_whole(store.root)
    assert command.returncode == 0 and interrupted == "True", err
    assert not err
    assert int(done) == len(kept) > 0 and failed == "0"
    assert not list(store.root.rglob("*.tmp"))
    assert not any(alive(pid) for pid in toy().workers())
    assert {seed: expected(200)[seed] for seed in figures(store)} == figures(store)


class _Interrupting:
    """Progress that is interrupted while a result is being noted, when the pool is not being waited for."""

    def start(self, trials): ...
    def close(self): ...
    def finished(self, *_):
        raise KeyboardInterrupt


@pytest.mark.filterwarnings("error")
def test_an_interrupt_while_a_result_is_noted_is_as_quiet_as_any(store, toy):
    out = run_trials(trials(20), toy(seconds=0.05), store, n_jobs=2, provenance={}, progress=_Interrupting())
    assert out.interrupted and 0 < len(out.done) < 20 and not out.failed


def test_two_commands_and_a_killed_one_lose_and_double_nothing(store, toy):
    one, two = (script(store.root, 16, toy(seconds=0.1)) for _ in range(2))
    assert wait_for(begun(toy, 6))
    os.kill(one.pid, signal.SIGKILL)
    one.communicate()
    out, err = two.communicate(timeout=60)
    assert out.split()[:2] == ["16", "0"] and not err, err
    assert wait_for(lambda: not any(alive(pid) for pid in toy().workers()))  # workers end with their command
    ends = toy().executions("end")
    assert set(ends) == set(range(16))
    assert figures(store) == expected(16)
    assert_whole(store.root)


@pytest.mark.slow
def test_workers_that_have_no_trial_yet_end_with_a_killed_command_too(store, toy):
    command = script(store.root, 40, toy(seconds=0.01), n_jobs=8)
    assert wait_for(begun(toy, 1))
    os.kill(command.pid, signal.SIGKILL)
    command.communicate(timeout=10)  # ends only when nobody holds its output any more


@pytest.mark.slow
@pytest.mark.parametrize("storm", range(3))
def test_a_storm_of_killed_workers_and_commands_ends_as_an_undisturbed_run(store, toy, storm):
    rng = random.Random(storm)
    n = 60
    for _ in range(40):
        command = script(store.root, n, toy(seconds=0.08), n_jobs=3)
        end = time.monotonic() + rng.uniform(1.0, 4.0)
        while time.monotonic() < end and command.poll() is None:
            time.sleep(rng.uniform(0.05, 0.6))
            victims = [pid for pid in toy().workers() if alive(pid)]
            if victims and rng.random() < 0.5:
                os.kill(rng.choice(victims), signal.SIGKILL)
        if command.poll() is None:
            os.kill(command.pid, rng.choice([signal.SIGKILL, signal.SIGTERM]))
        command.communicate(timeout=60)
        assert wait_for(lambda: not any(alive(pid) for pid in toy().workers()), 8)
        kept = assert_whole(store.root)
        if len(kept) == n and all(made["status"] == "done" for made in kept):
            break
    out = go(trials(n), toy(), store)
    assert len(out.done) == n
    assert figures(store) == expected(n)
    spans = {}
    for word, seed, pid, when in toy().lines():
        spans.setdefault((seed, pid), {})[word] = float(when)
    for seed in range(n):
        whole = sorted((s["begin"], s["end"]) for (of, _), s in spans.items() if of == str(seed) and len(s) == 2)
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(whole))
