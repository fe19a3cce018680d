"""Real Dask, Ray and submitit, each with several processes on this machine: killed workers, and tables to the byte."""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from run_clusters import ENVIRONMENT, dask_cluster, run_group
from run_toys import Toy, alive, assert_whole, expected, figures, listen_to_ctrl_c, threads, trials, wait_for

from boostrun.errors import BoostrunError
from boostrun.runner import cluster
from boostrun.runner.queue import run_trials
from boostrun.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")]
NEEDS = {"dask": "distributed", "ray": "ray", "slurm": "submitit"}
SWEEP = ["-m", "algo=rand,geem,max", "dataset=digits", "r=50", "T=60", "trials=6", "n_jobs=2"]


@contextlib.contextmanager
def started(name, folder):
    """The words that choose a cluster of two workers."""
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"the extra {name} is not installed")
    if name == "dask":
        with dask_cluster(folder) as address:
            yield {"backend": "dask", "scheduler": address}
    else:
        yield {"backend": name, **({"scheduler": "local"} if name == "slurm" and not shutil.which("srun") else {})}


@contextlib.contextmanager
def engine_of(name, folder):
    with started(name, folder) as words:
        engine = cluster.connect(run_group(**words), 2, folder / "s")
        with contextlib.closing(engine):
            yield engine


@pytest.fixture
def python_path(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])  # workers are started by this process


def begin(words, folder, results="results", sweep=SWEEP):
    command = [sys.executable, "-m", "boostrun", *sweep, f"results={results}", f"store={results}/runs", *words]
    environment = {**ENVIRONMENT, "BOOSTRUN_DATA": str(folder / "datasets")}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=listen_to_ctrl_c,
    )  # fmt: skip


def finish(command):
    out, err = command.communicate(timeout=200)
    assert command.returncode == 0, err
    return out, err


def tables(folder, results):
    """Names of the tables that a run wrote, and the lines of those in CSV without the last column, the seconds."""
    found = {path.relative_to(folder / results): path for path in (folder / results / "tables").rglob("*.*")}
    assert {path.suffix for path in found} >= {".csv", ".md", ".tex"}
    lines = {name: path.read_text().splitlines() for name, path in found.items() if path.suffix == ".csv"}
    assert all(content[0].endswith("fit s") for content in lines.values())
    return sorted(found), {name: [line.rpartition(",")[0] for line in content] for name, content in lines.items()}


def results_of(folder, results):
    """The parts of records that must not depend on the machine."""
    made = assert_whole(folder / results / "runs")
    return {
        record["key"]: (
            record["status"],
            record["metrics"],
            {name: values for name, values in record["curve"].items() if "seconds" not in name},
        )
        for record in made
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Tables and records that loky makes."""
    folder = tmp_path_factory.mktemp("loky")
    finish(begin([], folder))
    return tables(folder, "results"), results_of(folder, "results")


def workers(name):
    """Processes that do trials for a cluster that this test started, with their numbers."""
    words = {"dask": b"spawn_main", "ray": b"ray::", "slurm": b"submitit.core._submit"}[name]
    found = []
    for folder in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if folder.isdigit():
                with open(f"/proc/{folder}/cmdline", "rb") as file:
                    line = file.read()
                with open(f"/proc/{folder}/environ", "rb") as file:
                    if words in line and ENVIRONMENT["PYTHONPATH"].encode() in file.read():
                        found.append(int(folder))
    return sorted(found)


def records(folder):
    return len(list(folder.glob("results/runs/??/*.json")))


@pytest.mark.parametrize("name", cluster.NAMES)
def test_with_workers_killed_the_table_is_that_of_loky_to_the_byte(name, tmp_path, undisturbed):
    if name != "slurm":
        pytest.importorskip("psutil")
    killed = []
    with started(name, tmp_path) as words:
        command = begin([f"run.{key}={value}" for key, value in words.items()], tmp_path)
        for kept in (1, 4, 8):
            assert wait_for(lambda kept=kept: records(tmp_path) >= kept or command.poll() is not None, 120)
            assert command.poll() is None
            for pid in workers(name)[-1:]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        _, err = finish(command)
    assert len(killed) == 3 and not any(map(alive, killed))
    if name != "dask":  # Dask itself gives the tasks to another worker
        assert "a worker died" in err
    assert (tables(tmp_path, "results"), results_of(tmp_path, "results")) == undisturbed
    assert not list((tmp_path / "results" / "runs").glob(".run-*"))


@pytest.mark.parametrize("name", cluster.NAMES)
def test_a_trial_that_kills_every_worker_fails_as_one_with_an_error_does_and_no_other(name, tmp_path, python_path):
    with engine_of(name, tmp_path) as engine:
        store, toy = Store(tmp_path / "s"), Toy(str(tmp_path), seconds=0.05, kill=(4,), kill_once=(1, 7), fail=(9,))
        out = run_trials(trials(12), toy, store, engine=engine, provenance={})
        assert [made["seed"] for made in out.failed] == [4, 9] and len(out.done) == 10
        assert out.failed[0]["error"]["type"] == "WorkerDied"
        assert out.failed[1]["error"]["message"] == "seed 9 is no good" and toy.executions().count(9) == 1
        assert 3 <= toy.executions().count(4) <= 8  # Dask tries a task on four workers before it says so
        assert {seed: made for seed, made in figures(store).items() if seed not in (4, 9)} == {
            seed: made for seed, made in expected(12).items() if seed not in (4, 9)
        }
        (made,) = run_trials(trials(1, r=11), threads, store, engine=engine, provenance={}).done
        assert made["metrics"] == {"widest": 1, "numba": 1}
        assert set(made["provenance"]["threads"]["pools"].values()) == {1}
        assert os.getpid() not in toy.workers()


@pytest.mark.parametrize("name", cluster.NAMES)
def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(name, tmp_path, undisturbed):
    with started(name, tmp_path) as words:
        chosen = [f"run.{key}={value}" for key, value in words.items()]
        command = begin(chosen, tmp_path)
        assert wait_for(lambda: records(tmp_path) >= 3 or command.poll() is not None, 120)
        os.kill(command.pid, signal.SIGINT)
        _, err = command.communicate(timeout=120)
        assert command.returncode == 130 and "Go on with" in err, err
        assert "Traceback" not in err
        # SLURM lets a cancelled job run for KillWait, 30 s
        assert 3 <= len(results_of(tmp_path, "results")) < (19 if name == "slurm" else 18)
        finish(begin(chosen, tmp_path))
    assert (tables(tmp_path, "results"), results_of(tmp_path, "results")) == undisturbed


# -- Dask: mistakes of users, and machines that do not share a disk ---------------------------------------------------


def one_sentence(words, folder):
    command = begin(words, folder)
    _, err = command.communicate(timeout=120)
    assert command.returncode == 2 and "Traceback" not in err, err
    return err


@pytest.mark.parametrize("name, place, said", [
    ("dask", "tcp://127.0.0.1:9", "no Dask scheduler answers at run.scheduler=tcp://127.0.0.1:9"),
    ("ray", "127.0.0.1:9", "no Ray cluster answers at run.scheduler=127.0.0.1:9"),
    ("slurm", "null", "there is no srun"),
])  # fmt: skip
def test_a_cluster_that_is_not_there_is_one_sentence(name, place, said, tmp_path):
    if importlib.util.find_spec(NEEDS[name]) is None or (name == "slurm" and shutil.which("srun")):
        pytest.skip(f"the extra {name} is not installed, or SLURM is here")
    assert said in one_sentence([f"run.backend={name}", f"run.scheduler={place}"], tmp_path)


def hiding(folder):
    """The words that start a command which finds another, empty disk in the place of this folder."""
    folder.mkdir()
    words = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none "{folder}" && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("may not mount another disk")
    return tuple(words)


@pytest.mark.parametrize("name", cluster.NAMES)
def test_trials_on_a_cluster_keep_a_limit_on_all_memory(name, tmp_path):
    rng = np.random.default_rng(0)
    for part, n in (("train", 4000), ("test", 1000)):
        x = rng.normal(size=(n, 5))
        np.save(tmp_path / f"{part}.npy", x)
        np.save(tmp_path / f"{part}_kinds.npy", (x[:, 0] * x[:, 1] > 0).astype(np.int64))
    files = {"path": "train", "label": "train_kinds", "test_path": "test", "test_label": "test_kinds"}
    sweep = [
        "algo=rand", "dataset=stream", *(f"dataset.{key}={tmp_path / file}.npy" for key, file in files.items()),
        "run.memory_mb=512", "trials=2", "T=5", "r=50", "n_jobs=2",
    ]  # fmt: skip
    finish(begin([], tmp_path, "loky", sweep))
    with started(name, tmp_path) as words:
        finish(begin([f"run.{key}={value}" for key, value in words.items()], tmp_path, sweep=sweep))
    assert results_of(tmp_path, "results") == results_of(tmp_path, "loky")
    taken = [record["cost"]["memory_mib"] for record in assert_whole(tmp_path / "results" / "runs")]
    assert len(taken) == 2 and all(0 < mib <= 512 for mib in taken)


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="the extra dask is not installed")
def test_a_bank_is_sent_to_workers_that_see_neither_it_nor_the_data(tmp_path):
    data = tmp_path / "data"
    words = hiding(data)
    x = np.random.default_rng(0).integers(0, 256, (300, 20), dtype=np.uint8)
    np.savez(data / "set.npz", x=x, y=(x[:, 3] > 128).astype(np.int64))
    sweep = [
        "-m", "algo=rand,geem", "dataset=npz", f"dataset.path={data / 'set.npz'}", f"data_root={data}", "trials=3",
        "T=5", "r=20", "n_jobs=2",
    ]  # fmt: skip
    finish(begin([], tmp_path, "loky", sweep))
    shutil.rmtree(tmp_path / "data" / "banks")
    with dask_cluster(tmp_path, before=words) as address:
        finish(begin(["run.backend=dask", f"run.scheduler={address}"], tmp_path, sweep=sweep))
    assert results_of(tmp_path, "results") == results_of(tmp_path, "loky") and records(tmp_path) == 6
    assert tables(tmp_path, "results") == tables(tmp_path, "loky")


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="the extra dask is not installed")
def test_workers_that_do_not_see_the_store_end_the_run_with_one_sentence(tmp_path):
    words = hiding(tmp_path / "results")
    with dask_cluster(tmp_path, before=words) as address:
        err = one_sentence(["run.backend=dask", f"run.scheduler={address}"], tmp_path)
    assert "does not see the store" in err and records(tmp_path) == 0


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="the extra dask is not installed")
def test_a_scheduler_that_dies_ends_the_run_with_one_sentence(tmp_path, python_path):
    with dask_cluster(tmp_path) as address:
        engine = cluster.connect(run_group(backend="dask", scheduler=address), 2, tmp_path / "s")
        toy = Toy(str(tmp_path), seconds=0.2)
        with contextlib.closing(engine):
            pid = engine.client.run_on_scheduler(os.getpid)
            with pytest.raises(BoostrunError, match="is gone"):
                run_trials(trials(400), _Killing(toy, pid), Store(tmp_path / "s"), engine=engine, provenance={})
        begun = time.monotonic()
    assert time.monotonic() - begun < 30


class _Killing:
    """Kills a process with the trial of seed 5, and goes on."""

    def __init__(self, toy, pid):
        self.toy, self.pid = toy, pid

    def __call__(self, trial):
        if trial.seed == 5:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        return self.toy(trial)
