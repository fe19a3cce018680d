"""Small trials for the tests of the queue; a module of its own so that workers and scripts can import it."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from boostrun import kernel_cache
from boostrun.errors import BoostrunError
from boostrun.runner.worker import make_record
from boostrun.store import Store
from boostrun.store.cell import Cell, Inputs, Trial

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]


def cell(**budget) -> Cell:
    return Cell({"name": "toy"}, {"name": "none"}, {"name": "raw"}, budget or {"r": 10})


def trials(n: int, source: str = "s", **budget) -> list[Trial]:
    return [Trial(cell(**budget), seed, Inputs("d", source)) for seed in range(n)]


def record(seed: int = 0, time_: str = "", **changes) -> dict:
    trial = Trial(changes.pop("cell", cell()), seed, changes.pop("inputs", Inputs("d", "s")))
    made = make_record(trial, {}, {"metrics": {"test_accuracy_pct": 90.5}, "cost": {}, "curve": {}})
    made["provenance"] = {"time": time_}
    return {**made, **changes}


def result(seed: int) -> dict:
    """The result of each trial with this seed."""
    return {
        "metrics": {"test_accuracy_pct": 50.0 + (seed * 7919 % 101) / 3},
        "cost": {"samples_drawn": seed},
        "curve": {"T": [1, 2], "test_accuracy_pct": [1.0, 50.0 + (seed * 7919 % 101) / 3]},
    }


@dataclass
class Grows:
    """Takes so many MiB when its libraries are loaded, and so many in its trial.

    Its first process compiles, and leaves the kernels in a file; that takes 500 MiB.
    """

    most: int | None
    loads: int
    takes: int
    kernels: str = ""

    def within(self, trial: Trial) -> int | None:
        return self.most

    def ready(self, trial: Trial) -> None:
        self.kept = b"1" * (self.loads << 20)
        if self.kernels and not os.path.exists(self.kernels):
            Path(self.kernels).touch()
            self.kept = b"1" * (500 << 20)
            kernel_cache.has_compiled.set()

    def __call__(self, trial: Trial) -> dict:
        return {"metrics": {"x": len(b"1" * (self.takes << 20)) / 2**20}, "cost": {}, "curve": {}}


@dataclass(frozen=True)
class Toy:
    """Sleeps, keeps a log of its executions in ``folder``, and misbehaves with the seeds that are named."""

    folder: str
    seconds: float = 0.0
    kill: tuple = ()  # always killed by SIGKILL
    kill_once: tuple = ()  # killed the first time
    leave: tuple = ()  # os._exit
    fail: tuple = ()
    grip: tuple = ()  # holds the interpreter lock for a minute, as a long kernel may

    def __call__(self, trial: Trial) -> dict:
        seed = trial.seed
        self._log(f"begin {seed} {os.getpid()} {time.monotonic()}")
        time.sleep(self.seconds)
        if seed in self.kill or (seed in self.kill_once and self.executions().count(seed) == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        if seed in self.leave:
            os._exit(7)
        if seed in self.fail:
            raise BoostrunError(f"seed {seed} is no good")
        if seed in self.grip:
            ctypes.PyDLL(None).sleep(60)
        self._log(f"end {seed} {os.getpid()} {time.monotonic()}")
        return result(seed)

    def _log(self, line: str) -> None:
        with open(Path(self.folder) / "log", "a", encoding="ascii") as file:
            file.write(line + "\n")

    def lines(self) -> list[list[str]]:
        with contextlib.suppress(FileNotFoundError):
            return [line.split() for line in (Path(self.folder) / "log").read_text("ascii").splitlines()]
        return []

    def executions(self, word: str = "begin") -> list[int]:
        return [int(line[1]) for line in self.lines() if line[0] == word]

    def workers(self) -> set[int]:
        return {int(line[2]) for line in self.lines()}


def threads(trial: Trial) -> dict:
    """Threads that the libraries would use inside a trial."""
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((8, 8)) @ np.ones((8, 8))
    widest = max([pool["num_threads"] for pool in threadpool_info()], default=1)
    return {"metrics": {"widest": widest, "numba": numba_threads()}, "cost": {}, "curve": {}}


def numba_threads() -> int:
    import numba

    return numba.get_num_threads()


def quick(trial: Trial) -> dict:
    return {"metrics": {"x": float(trial.seed)}, "cost": {}, "curve": {}}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:
        return True


def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def wait_for(condition, seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def assert_whole(root: Path) -> list[dict]:
    """Every file of a store that bears the name of a record is one."""
    found = []
    for path in sorted(Path(root).glob("??/*.json")):
        made = json.loads(path.read_text("utf-8"))
        assert made["key"] == path.stem
        found.append(made)
    assert not list(Path(root).glob("??/*.corrupt"))
    return found


def script(root: Path, n: int, toy: Toy, n_jobs: int = 2) -> subprocess.Popen:
    """A command in a process group of its own that runs ``n`` toys and prints (done, failed, cached, interrupted)."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from run_toys import Toy, trials\n"
        "from boostrun.runner.queue import run_trials\n"
        "from boostrun.store import Store\n"
        f"out = run_trials(trials({n}), {toy!r}, Store(Path({str(root)!r})), n_jobs={n_jobs}, provenance={{}})\n"
        "print(len(out.done), len(out.failed), out.cached, out.interrupted)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(HERE)])}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=listen_to_ctrl_c,
    )  # fmt: skip


def listen_to_ctrl_c() -> None:
    """For ``preexec_fn``: tests in the background of a shell ignore SIGINT, and child processes inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def figures(store: Store) -> dict[int, tuple]:
    """The parts of records that must be equal however often a run was disturbed."""
    return {made["seed"]: (made["status"], made["metrics"], made["curve"]) for made in store.records()}


def expected(n: int) -> dict[int, tuple]:
    return {seed: ("done", result(seed)["metrics"], result(seed)["curve"]) for seed in range(n)}
