"""What is sent to a worker on another machine: some trials, and what that machine must have in common with this one."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from boostrun.digest import source_digest
from boostrun.runner.guards import pinned
from boostrun.runner.worker import Job, Summary
from boostrun.store import provenance
from boostrun.store.cell import Trial
from boostrun.store.store import StoreWriteError

_OF_THE_NODE = ("versions", "python", "platform", "cpu")  # what of a record's provenance is that of its own machine


@dataclass(frozen=True)
class Lost:
    """A task that ended without an answer, because its worker did."""

    cause: str


@dataclass(frozen=True)
class Site:
    """A folder in the store that lasts as long as a run: who sees it sees the store.

    ``sources`` are (modules, digest) of the algorithms that are run: other code on a node would make other records
    under the same key.
    """

    folder: str
    sources: tuple[tuple[tuple[str, ...], str], ...] = ()

    def begin(self, task: str, number: int) -> None:
        """Note which trial a task is at; closed at once, so that machines that share the folder read it."""
        with contextlib.suppress(OSError):  # a disk that is full is told of when the record is written
            (Path(self.folder) / task).write_text(str(number), encoding="ascii")

    def begun(self, task: str) -> int | None:
        """The trial that a task was at; None when it had not begun any."""
        with contextlib.suppress(OSError, ValueError):
            return int((Path(self.folder) / task).read_text(encoding="ascii"))
        return None

    def forget(self, task: str) -> None:
        """A task has ended."""
        with contextlib.suppress(OSError):
            (Path(self.folder) / task).unlink()


@contextlib.contextmanager
def site(store: Path, sources: Sequence[tuple[tuple[str, ...], str]] = ()) -> Iterator[Site]:
    """A :class:`Site` in the store of this path; StoreWriteError when nothing can be written there."""
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
    """Trials for one worker to do one after the other, each recorded as it is done.

    ``name`` tells tasks of a run apart; ``trials`` are (number, trial) as the queue counts them.
    """

    name: str
    job: Job
    site: Site
    trials: tuple[tuple[int, Trial], ...]
    wait: bool

    def __call__(self) -> list[Summary]:
        """Do the trials, one thread in every library; what makes this machine unfit is told instead of doing any."""
        if problem := _unfit(self.site):
            return [Summary(self.trials[0][0], "unwritten", {}, problem)]
        import joblib

        job = dataclasses.replace(self.job, provenance={**self.job.provenance, **_of_this_node()})
        summaries = []
        # joblib inside a trial would otherwise use what engine it finds around it
        with pinned(), joblib.parallel_config(backend="sequential"):
            for number, trial in self.trials:
                self.site.begin(self.name, number)
                summaries.append(job(number, trial, self.wait))
        return summaries


@functools.lru_cache(maxsize=4)
def _unfit(site: Site) -> str:
    """Why trials sent with this site cannot be run in this process; empty when they can."""
    here = socket.gethostname()
    if not Path(site.folder).is_dir():
        return (
            f"the worker on {here} does not see the store {Path(site.folder).parent}: records are kept in a folder "
            "that all machines share under one path (store=... chooses it)"
        )
    for modules, digest in site.sources:
        if source_digest(modules) != digest:
            return f"the worker on {here} has another version of boostrun or of what it runs ({modules[-1]} differs)"
    return ""


@functools.lru_cache(maxsize=1)
def _of_this_node() -> dict:
    whole = provenance.collect([])
    return {name: whole[name] for name in _OF_THE_NODE}
