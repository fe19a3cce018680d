"""States of files: what shows that a file was changed, and where a change is sure to show.

A state is size, both times, inode and device. Anybody can set the time of writing (``touch -r``, ``cp -p``, an
archive), nobody the time of change. But a stamp has a resolution, and a write through a memory map stamps a file only
when it makes a clean page dirty: on tmpfs never, elsewhere once until the page is written back.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import ctypes

Found = TypeVar("Found")

_PARTS = ("size", "mtime_ns", "ctime_ns", "inode", "device")
# Linux's local file systems that stamp each write to a clean page, by their numbers. Not overlay: it does not say what
# lies under it, and hands no map's pages on to be written back.
_STAMPING = {0xEF53: "ext", 0x58465342: "xfs", 0x9123683E: "btrfs", 0xF2F52010: "f2fs"}
_QUIET = 2e9  # nanoseconds: longer than the coarsest stamp, a second on ext2 and where ext4's inodes are small


def state_of(path: Path) -> dict[str, int]:
    """What changes when a file is written or replaced: size, both times, inode and device. Raises OSError."""
    return _state(os.stat(path))


def settled(path: Path) -> dict[str, int] | None:
    """The state of a file if any later change is sure to end it, else None. Raises OSError.

    Needed are a kind of file system that is known to stamp all writes, and that the file has been quiet for longer than
    a stamp's resolution. What maps of it have left in memory is written back first: the next write is stamped then.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        state = _state(os.fstat(descriptor))
        if time.time_ns() - state["ctime_ns"] <= _QUIET or not _file_system(descriptor):
            return None
        clean = _write_back(descriptor)
    finally:
        os.close(descriptor)
    return state if clean and state_of(path) == state else None


def looked_at(path: Path, look: Callable[[Path], Found]) -> tuple[Found, dict[str, int] | None]:
    """``look(path)``, and the state under which it may be remembered; None where it may not be. Raises OSError."""
    before = settled(path)
    found = look(path)
    return found, before if before is not None and state_of(path) == before else None


def _state(stat: os.stat_result) -> dict[str, int]:
    return dict(zip(_PARTS, (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev)))


def _file_system(descriptor: int) -> str:
    """Which of the kinds that stamp writes an open file lies on; empty for any other, or where nobody can say."""
    import ctypes

    system = _linux()
    numbers = (ctypes.c_long * 64)()  # of a struct statfs, which has fewer, the first is the kind
    if system is None or system.fstatfs(ctypes.c_int(descriptor), numbers):
        return ""
    return _STAMPING.get(numbers[0] & 0xFFFFFFFF, "")


def _write_back(descriptor: int) -> bool:
    """Hand what of an open file is dirty in memory to the disk; whether all of it is clean.

    As fdatasync does, but without emptying the disk's own cache for each of 30,000 images.
    """
    import ctypes

    system, whole = _linux(), (ctypes.c_int64(0), ctypes.c_int64(0))
    every = ctypes.c_uint(7)  # wait for what is being written, write, wait
    return system is not None and system.sync_file_range(ctypes.c_int(descriptor), *whole, every) == 0


@functools.cache
def _linux() -> ctypes.CDLL | None:
    """The system's library where it has both calls."""
    import ctypes

    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    calls = (getattr(library, name, None) for name in ("fstatfs", "sync_file_range"))
    return library if all(calls) else None
