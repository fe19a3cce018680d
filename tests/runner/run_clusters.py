"""Real clusters on this machine for tests: processes that are started, found and killed by their number."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from run_toys import HERE, REPOSITORY

from boostrun.config import defaults

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(HERE)])}


def run_group(**changes) -> dict:
    return {"name": "local", **defaults("run", "local"), **changes}


@contextlib.contextmanager
def dask_cluster(folder: Path, workers: int = 2, before: tuple[str, ...] = ()):
    """A Dask scheduler and its workers, each a process that is started again when it is killed; gives its address.

    ``before`` are the words of a command that starts the workers.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    scheduler = [*dask, "scheduler", "--host=127.0.0.1", f"--port={port}", "--no-dashboard", "--no-show"]
    worker = [
        *before, *dask, "worker", address, f"--nworkers={workers}", "--nthreads=1", "--no-dashboard",
        f"--local-directory={folder}", "--memory-limit=0",
    ]  # fmt: skip
    processes = []
    try:
        for command in (scheduler, worker):
            with open(folder / f"dask{len(processes)}.log", "wb") as log:
                processes.append(
                    subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log, start_new_session=True)
                )
        yield address
    finally:
        for process in reversed(processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
