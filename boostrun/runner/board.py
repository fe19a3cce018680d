"""Which trials of a run are at work: one byte for each in a small file that outlives a dead worker."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from boostrun.files import left_behind, owner

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # a system without locks: boards are left where they are

WAITING, RUNNING, RECORDED = b"\0", b"\1", b"\2"
_PREFIX, _SUFFIX = "boostrun-", ".board"

_held: dict[str, int] = {}  # boards of runs of this process
_others: dict[str, int] = {}  # the board of the run that this worker works for


@dataclass(frozen=True)
class TrialBoard:
    """One byte per trial in a small file: which were running when a worker died.

    A file and not a message, since a dead worker sends none; a byte and not a lock file, since it costs microseconds.
    The process that made it holds it locked until it removes it.
    """

    path: str
    trials: int = 0

    @classmethod
    def make(cls, trials: int) -> TrialBoard:
        """A board of this process, after those that killed commands have left are swept away."""
        sweep(Path(tempfile.gettempdir()))
        descriptor, path = tempfile.mkstemp(prefix=f"{_PREFIX}{owner()}-", suffix=_SUFFIX)
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a disk without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, WAITING * trials)
        _held[path] = descriptor
        return cls(path, trials)

    def mark(self, number: int, state: bytes) -> None:
        """Say how a trial stands, from the process of the run or a worker's."""
        # A worker on another machine has no such file; there, the scheduler deals with dead workers.
        with contextlib.suppress(OSError):
            descriptor = _held.get(self.path)
            if descriptor is None:
                if self.path not in _others:
                    for other in _others.values():
                        os.close(other)
                    _others.clear()
                    _others[self.path] = os.open(self.path, os.O_WRONLY)
                descriptor = _others[self.path]
            os.pwrite(descriptor, state, number)

    def read(self) -> list[bytes]:
        """How each trial stands; for the process that made the board, even when somebody has emptied the folder.

        Of a board that somebody has cut nothing is known: its trials count as waiting.
        """
        found = os.pread(_held[self.path], self.trials, 0)
        return [bytes([state]) for state in found.ljust(self.trials, WAITING)]

    def remove(self) -> None:
        """The run is over."""
        if (descriptor := _held.pop(self.path, None)) is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            os.close(descriptor)


def sweep(folder: Path) -> None:
    """Remove the boards in a folder whose makers are gone and that no process holds; those of other people stay."""
    if fcntl is None:
        return
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):  # it has gone, is another person's, or is held
            if path.is_symlink() or not path.is_file() or not left_behind(path.name, path.stat().st_mtime):
                continue
            descriptor = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)
