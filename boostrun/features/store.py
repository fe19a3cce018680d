"""Writing under the cache root: one lock per bank, arrays whose room is reserved first, sentences for a full disk."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.files import made_here, owner

_ABANDONED = 3 * 24 * 3600.0  # seconds without a change after which a half-built bank is not gone on with
_QUIET = 60.0  # seconds after which a builder on another machine, whose lock we hold, is not at work
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def locked(folder: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of the bank `folder` (`<folder>.lock` beside it); yields whether it was got.

    With `wait` it always is. The system frees the lock of a process that dies.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(str(folder) + ".lock", timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise _unwritable(folder.parent, error) from error
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def out_of_room(folder: Path) -> Iterator[None]:
    """Turn a full disk and a read-only folder into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise BoostrunError(
                f"no room left for the feature bank under {folder.parent}; nothing was left behind. "
                "Free some space or set cache_root=... to a larger disk"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise _unwritable(folder.parent, error) from error
        raise


def make_folder(folder: Path) -> None:
    """Make the folder of the banks, or say that the cache root cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    if not os.access(folder, os.W_OK):
        raise _unwritable(folder, PermissionError(errno.EACCES, "permission denied"))


def create_array(path: Path, dtype, shape: tuple[int, ...]) -> np.memmap:
    """A new .npy file of zeros, not empty, as a writable memory map, its room on the disk reserved.

    Writing through a map to a disk that is full kills the process; reserving first raises OSError instead.
    """
    dtype = np.dtype(dtype)
    with open(path, "wb") as stream:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": tuple(shape)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.flush()
        _reserve(stream, stream.tell(), int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
    return np.lib.format.open_memmap(path, mode="r+")


def _reserve(stream, start: int, size: int) -> None:
    if sys.platform == "linux":
        os.posix_fallocate(stream.fileno(), start, size)
        return
    zeros = bytes(1 << 20)
    for done in range(0, size, len(zeros)):
        stream.write(zeros[: size - done])


def remove(folder: Path) -> None:
    """Remove a folder with its files; absent is fine."""
    shutil.rmtree(folder, ignore_errors=True)


def place_to_build(folder: Path) -> Path:
    """Under which name this process builds the bank `folder`, in `<name>.tmp`: one that no other process can have.

    So two builders that a disk without working locks lets in do not meet. What a builder that is gone has left is taken
    over under that name; one of another machine counts as gone when its journal has not changed for a minute, and taken
    away from under it, it fails without harm. The caller holds the lock of the bank.
    """
    mine = folder.with_name(f"{folder.name}.{owner()}-{secrets.token_hex(4)}")
    for half in sorted(folder.parent.glob(f"{folder.name}.*tmp"), key=lambda half: _age(half / "journal.json")):
        if _gone(half):
            with suppress(OSError):  # another one was faster
                half.rename(f"{mine}.tmp")
                break
    return mine


def finish(built: Path, folder: Path) -> None:
    """Give a bank that is whole its name; one that came there meanwhile stays, being the same to the byte."""
    try:
        built.rename(folder)
    except OSError:
        if not (folder / "meta.json").is_file():
            raise
        remove(built)


def finished_elsewhere(folder: Path) -> bool:
    """Whether a builder made the bank `folder` whole and ended before it could give it that name; then it has it."""
    for built in folder.parent.glob(f"{folder.name}.????????-*-????????"):
        if (built / "meta.json").is_file():
            with suppress(OSError):
                finish(built, folder)
                return True
    return False


def sweep(banks: Path, building: str = "") -> None:
    """Remove what killed builds left in `banks` and nobody will go on with: folders `*.tmp` whose lock nobody holds.

    One that holds a journal may be gone on with, so it stays until the journal is three days old or its bank is there;
    those of the bank `building` (its key) always stay.
    """
    for half in banks.glob("*.tmp"):
        folder = half.with_name(half.name.partition(".")[0])
        if folder.name == building:
            continue
        with locked(folder, wait=False) as free:
            if free and ((folder / "meta.json").is_file() or _age(half / "journal.json") > _ABANDONED):
                remove(half)


def _gone(half: Path) -> bool:
    """Whether nobody builds in this folder any more, as far as one can know who holds the lock."""
    made_by = made_here(half.name)
    if made_by is None:
        return "-" not in half.name or _age(half / "journal.json") > _QUIET
    return made_by.number == os.getpid() or not made_by.alive


def _age(path: Path) -> float:
    """Seconds since a file was last written; infinite where there is none."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return float("inf")


def _unwritable(folder: Path, error: OSError) -> BoostrunError:
    return BoostrunError(
        f"feature banks cannot be written under {folder} ({error.strerror or error}); "
        "set cache_root=... to a folder that can be written"
    )
