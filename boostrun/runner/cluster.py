"""Trials on several machines, sent through Dask, Ray or SLURM, each by its own futures; we write no scheduler.

joblib's backends for them are not used. Its Dask backend never returns if a task keeps killing its workers. Its Ray
backend returns no result before the last one, and assigns tasks to workers in turn even if others are idle.

All machines share the folder of the records. A run connects to an engine (:func:`connect`), copies feature banks to the
nodes that do not see them (:func:`ship`), and feeds the engine from its queue (:func:`flow`). The engines are in
:mod:`boostrun.runner.engines`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.util
import os
import shutil
import socket
import tempfile
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from boostrun.digest import source_digest
from boostrun.errors import BoostrunError
from boostrun.runner.threads import pinned
from boostrun.runner.worker import Job, Summary
from boostrun.store import StoreWriteError, provenance
from boostrun.store.cell import Trial

_PACKAGES = {"dask": "distributed", "ray": "ray", "slurm": "submitit"}  # imported packages; extras have their names
NAMES = tuple(_PACKAGES)
_OF_THE_NODE = ("versions", "python", "platform", "cpu")  # the provenance that is that of the worker's machine
_PIECE = 32 << 20  # bytes of one message
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Lost:
    """A task that ended without an answer because its worker died."""

    cause: str


class Engine(Protocol):
    """Runs tasks elsewhere. A lost task is reported, and never run again by the engine without a limit."""

    width: int
    """Number of tasks to keep with the engine at once."""
    lives: int
    """How often a trial may lose its worker before it counts as the cause."""

    def batch(self, trials: int) -> int:
        """The number of trials in a task, if there are so many trials."""
        ...

    def send(self, tasks: Sequence[Task]) -> None:
        """Submit tasks."""
        ...

    def receive(self) -> list[tuple[Task, list[Summary] | Lost]]:
        """Tasks that have ended since the last call; waits for some, with a limit: the list may be empty."""
        ...

    def nodes(self) -> list[str]:
        """The machines that :meth:`ask` can address; none if the engine can only be sent tasks."""
        ...

    def ask(self, node: str, function, *arguments) -> Any:
        """The result of a function called on a machine."""
        ...

    def cancel(self) -> None:
        """Cancel the tasks that have not started."""
        ...

    def close(self) -> None:
        """Disconnect; a cluster that the user started keeps running."""
        ...


def connect(run: Mapping[str, Any], n_jobs: int, store: Path) -> Engine:
    """The engine that the config group ``run`` names, with at most ``n_jobs`` trials at once (-1: no limit).

    Raises BoostrunError if its extra is not installed or no cluster answers.
    """
    name = run["backend"]
    if importlib.util.find_spec(_PACKAGES[name]) is None:
        raise BoostrunError(f"run.backend={name} needs the extra {name}: pip install 'boostrun[{name}]'")
    from boostrun.runner import engines

    return engines.ENGINES[name](run, n_jobs, store)


# -- tasks -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Site:
    """A folder in the store that lasts as long as a run: a machine that sees it sees the store.

    ``sources`` are (modules, digest) of the methods that are run: a node with other code would make other records under
    the same key.
    """

    folder: str
    sources: tuple[tuple[tuple[str, ...], str], ...] = ()

    def begin(self, task: str, number: int) -> None:
        """Note which trial a task is running, for all machines that share the folder."""
        with contextlib.suppress(OSError):  # a full disk is reported when the record is written
            (Path(self.folder) / task).write_text(str(number), encoding="ascii")

    def begun(self, task: str) -> int | None:
        """The trial that a task was running; None if it had started none."""
        with contextlib.suppress(OSError, ValueError):
            return int((Path(self.folder) / task).read_text(encoding="ascii"))
        return None

    def forget(self, task: str) -> None:
        """Remove the note of a task that has ended."""
        with contextlib.suppress(OSError):
            (Path(self.folder) / task).unlink()


@contextlib.contextmanager
def site(store: Path, sources: Sequence[tuple[tuple[str, ...], str]] = ()) -> Iterator[Site]:
    """A :class:`Site` in a store; StoreWriteError if nothing can be written there."""
    try:
        store.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=".run-", dir=store)
    except OSError as error:
        raise StoreWriteError(f"cannot write in the store {store}: {error.strerror or error}") from None
    try:
        yield Site(folder, tuple(sources))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Task:
    """Trials, as (number, trial), that one worker runs one after the other, each recorded when it is done.

    ``name`` is unique within a run; ``wait`` is that of :class:`boostrun.runner.worker.Job`.
    """

    name: str
    job: Job
    site: Site
    trials: tuple[tuple[int, Trial], ...]
    wait: bool

    def __call__(self) -> list[Summary]:
        """Run the trials with one thread in every library, or report why this machine cannot run them."""
        if problem := _problem(self.site):
            return [Summary(self.trials[0][0], "unwritten", {}, problem)]
        import joblib

        job = dataclasses.replace(self.job, provenance={**self.job.provenance, **_of_this_node()})
        summaries = []
        # joblib inside a trial would otherwise use the engine it finds around it
        with pinned(), joblib.parallel_config(backend="sequential"):
            for number, trial in self.trials:
                self.site.begin(self.name, number)
                summaries.append(job(number, trial, self.wait))
        return summaries


@functools.lru_cache(maxsize=4)
def _problem(site: Site) -> str:
    """Why trials of this site cannot be run in this process; empty if they can."""
    host = socket.gethostname()
    if not Path(site.folder).is_dir():
        return (
            f"the worker on {host} does not see the store {Path(site.folder).parent}: records are kept in a folder "
            "that all machines share under one path (store=... chooses it)"
        )
    for modules, digest in site.sources:
        if source_digest(modules) != digest:
            return f"the worker on {host} has another version of boostrun or of your code ({modules[-1]} differs)"
    return ""


@functools.lru_cache(maxsize=1)
def _of_this_node() -> dict:
    whole = provenance.collect([])
    return {name: whole[name] for name in _OF_THE_NODE}


def flow(
    engine: Engine,
    numbers: Sequence[int],
    task_of: Callable[[Sequence[int]], Task],
    lost: Callable[[Task, str], list[int]],
) -> Generator[Summary, None, None]:
    """Send the trials with these numbers to an engine, new tasks as others come back, and yield their summaries.

    ``task_of`` makes a task of some numbers. ``lost`` gets a task whose worker died, with the cause, and returns the
    numbers to send again. Closing the generator early cancels what has not started.
    """
    waiting = deque(in_batches(numbers, engine.batch(len(numbers))))
    out = 0
    try:
        while waiting or out:
            tasks = [task_of(waiting.popleft()) for _ in range(min(len(waiting), engine.width - out))]
            if tasks:
                engine.send(tasks)
                out += len(tasks)
            for task, answer in engine.receive():
                out -= 1
                if not isinstance(answer, Lost):
                    yield from answer
                elif again := lost(task, answer.cause):
                    waiting.append(again)
    finally:
        if out:
            engine.cancel()


def in_batches(numbers: Sequence[Number], size: int) -> list[list[Number]]:
    """Numbers dealt out in turn to batches of at most ``size``, so that every batch has some of each cell.

    >>> in_batches([1, 2, 3, 4, 5], 2)
    [[1, 4], [2, 5], [3]]
    """
    if size == 1:
        return [[number] for number in numbers]
    batches = -(-len(numbers) // size)
    return [list(numbers[start::batches]) for start in range(batches)]


# -- feature banks for machines that do not see them -------------------------------------------------------------------


def ship(engine: Engine, folders: Iterable[Path], piece: int = _PIECE) -> int:
    """Copy finished banks, in pieces, to the nodes that do not have them; returns the bytes sent.

    A node that sees the bank, on a shared file system or from an earlier run, gets nothing. Nodes are asked one after
    the other, so that two nodes that share a disk get one copy. Raises BoostrunError if a node cannot write.
    """
    sent = 0
    nodes = engine.nodes()
    for folder in map(str, folders):
        for node in nodes:
            if engine.ask(node, has_bank, folder):
                continue
            temporary = f"{folder}.sent-{uuid.uuid4().hex[:12]}"
            for path in sorted(path for path in Path(folder).iterdir() if path.is_file()):
                sent += _send(engine, node, path, temporary, piece)
            _check(engine.ask(node, finish, temporary, folder), node)
    return sent


def _send(engine: Engine, node: str, path: Path, temporary: str, piece: int) -> int:
    start = 0
    with open(path, "rb") as file:
        while (data := file.read(piece)) or start == 0:
            _check(engine.ask(node, write, temporary, path.name, start, data), node)
            start += len(data)
            if not data:
                break
    return start


def _check(problem: str, node: str) -> None:
    if problem:
        raise BoostrunError(
            f"node {node} does not see the feature bank and cannot keep a copy ({problem}); cache_root=... must be a "
            "folder that all machines share, or one that each can write"
        )


def has_bank(folder: str) -> bool:
    """Whether this machine has a finished bank in this folder."""
    return (Path(folder) / "meta.json").is_file()


def write(folder: str, name: str, start: int, data: bytes) -> str:
    """Write a piece of a file of an unfinished bank; returns what went wrong, or an empty text."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with open(Path(folder) / name, "ab") as file:
            file.truncate(start)
            file.write(data)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return f"{error.strerror or error}: {folder}"
    return ""


def finish(temporary: str, folder: str) -> str:
    """Rename a complete bank, unless another arrived meanwhile; returns what went wrong, or an empty text."""
    with contextlib.suppress(OSError):
        os.rename(temporary, folder)
    shutil.rmtree(temporary, ignore_errors=True)
    return "" if has_bank(folder) else f"cannot be named {folder}"
