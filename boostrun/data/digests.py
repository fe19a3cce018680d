"""Digests of files, remembered with the state of each file, so that a checksum reads a file only once.

A state is size, both times, inode and device. Any program can set the time of writing (``touch -r``, ``cp -p``, an
archive), none the time of change. But time stamps have a resolution, and a write through a memory map stamps a file
only when it makes a clean page dirty: on tmpfs never, elsewhere once until the page is written back. So a digest is
remembered only under a state that any later change ends (see `settled`). A file on tmpfs, on a network or on an unknown
file system is hashed each time. Facts that follow from the content of a file are remembered by its sha256.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from boostrun.errors import BoostrunError
from boostrun.files import user_cache, write_whole

if TYPE_CHECKING:
    import ctypes


Found = TypeVar("Found")

_STATE = ("size", "mtime_ns", "ctime_ns", "inode", "device")
# Linux's local file systems that stamp each write to a clean page, by their numbers. Not overlay: it does not tell the
# file system below it, and does not write back the pages of a map.
_STAMPING = {0xEF53: "ext", 0x58465342: "xfs", 0x9123683E: "btrfs", 0xF2F52010: "f2fs"}
_QUIET = 2e9  # nanoseconds: longer than the coarsest stamp, a second on ext2 and on ext4 with small inodes


def state_of(path: Path) -> dict[str, int]:
    """Size, both times, inode and device of a file. Raises OSError."""
    return _state(os.stat(path))


def settled(path: Path) -> dict[str, int] | None:
    """The state of a file if any later change is sure to end it, else None. Raises OSError.

    The file system must stamp all writes, and the last change must be older than a stamp's resolution. Dirty pages of
    memory maps are written back first, so that the next write to them is stamped.
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
    """``look(path)``, and the state to remember it under, or None if it cannot be remembered. Raises OSError."""
    before = settled(path)
    found = look(path)
    return found, before if before is not None and state_of(path) == before else None


def _state(stat: os.stat_result) -> dict[str, int]:
    return dict(zip(_STATE, (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev)))


def _file_system(descriptor: int) -> str:
    """The kind of file system of an open file if it stamps writes, else empty."""
    import ctypes

    system = _linux()
    numbers = (ctypes.c_long * 64)()  # more than a struct statfs, whose first number is the kind
    if system is None or system.fstatfs(ctypes.c_int(descriptor), numbers):
        return ""
    return _STAMPING.get(numbers[0] & 0xFFFFFFFF, "")


def _write_back(descriptor: int) -> bool:
    """Write the dirty pages of an open file to the disk; returns whether all pages are clean.

    Like fdatasync, without emptying the disk's own cache for each of 30,000 images.
    """
    import ctypes

    system, whole = _linux(), (ctypes.c_int64(0), ctypes.c_int64(0))
    every = ctypes.c_uint(7)  # wait for pages that are being written, write, wait
    return system is not None and system.sync_file_range(ctypes.c_int(descriptor), *whole, every) == 0


@functools.cache
def _linux() -> ctypes.CDLL | None:
    """The system's library if it has both calls."""
    import ctypes

    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    calls = (getattr(library, name, None) for name in ("fstatfs", "sync_file_range"))
    return library if all(calls) else None


_CHUNK = 1 << 22
_COMMON = "digests.json"
_READ: dict[Path, tuple[dict[str, int], dict[str, dict]]] = {}  # memories that were read, with their files' states
_CACHE_ROOTS: dict[str, Path] = {}  # data root -> cache root of its memory
_LOOK: ContextVar[dict[tuple[str, str], str] | None] = ContextVar("look", default=None)


def keep(data_root: Path, cache_root: Path) -> None:
    """From now on, in this process, keep the memory of the files below ``data_root`` in ``cache_root``."""
    _CACHE_ROOTS[os.path.abspath(data_root)] = Path(os.path.abspath(cache_root))


@contextlib.contextmanager
def one_look() -> Iterator[None]:
    """Within this context no file is hashed twice, on any file system: for the planning of many trials."""
    token = _LOOK.set({})
    try:
        yield
    finally:
        _LOOK.reset(token)


class FileDigests:
    """Digests of the files of a data root; a context manager, which writes the memory at its end.

    The memory is `.checksums/digests.json` in the cache root (see :func:`keep`; by default the data root), or in the
    user's cache folder if that is absent or read-only. Each folder of the data root, which may hold 30,000 images, has
    its own memory file, read when it is needed. A memory that is lost or damaged costs time only.

    >>> import tempfile, pathlib
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (root / "a.txt").write_bytes(b"abc")
    >>> with FileDigests(root) as digests:
    ...     digests.of(root / "a.txt", "md5")
    '900150983cd24fb0d6963f7d28e17f72'
    """

    def __init__(self, data_root: Path):
        root = os.path.abspath(data_root)
        self._root = os.path.join(root, "")
        self._folders = [_CACHE_ROOTS.get(root, Path(data_root)) / ".checksums", user_cache()]
        self._known: dict[str, dict[str, dict]] = {}
        self._fresh: dict[str, dict[str, dict]] = {}
        self._answers: dict[tuple[str, str], str] = {}

    def __enter__(self) -> FileDigests:
        return self

    def __exit__(self, *_) -> None:
        for name in list(self._fresh):
            self._save(name)

    def of(self, path: Path, algorithm: str = "sha256") -> str:
        """Hex digest of a file's bytes. Raises BoostrunError if the file cannot be read."""
        key, look = (os.path.abspath(path), algorithm), _LOOK.get()
        found = look[key] if look and key in look else self._digest_of(path, algorithm)
        if look is not None:
            look[key] = found
        self._answers[key] = found
        return found

    def derived(self, path: Path, what: str, compute: Callable[[Path], str]) -> str:
        """compute(path), a text that depends on the file's bytes alone, remembered under the name `what`.

        It may also depend on files whose digests this object returned before, if `what` names these digests. Raises
        BoostrunError if one of the files is changed meanwhile.
        """
        content = self.of(path)
        key = os.path.abspath(path)
        memory = self._memory_of(key)
        entry = self._entries(memory).get(f"{key}: content", {})
        if entry.get("sha256") != content:
            entry = {"sha256": content}
        if what not in entry:
            try:
                entry = {**entry, what: compute(Path(path))}
            except OSError as error:
                raise _unreadable(path, error) from error
            for (each, algorithm), answer in self._answers.items():
                if self._digest_of(Path(each), algorithm) != answer:
                    raise BoostrunError(f"{each} was changed while it was read; run it again")
            self._put(f"{key}: content", entry, memory)
        return entry[what]

    def _digest_of(self, path: Path, algorithm: str) -> str:
        try:
            state, key = state_of(path), os.path.abspath(path)
            memory = self._memory_of(key)
            entry = self._entries(memory).get(key, {})
            if any(entry.get(part) != value for part, value in state.items()):
                entry = dict(state)
            if algorithm in entry:
                return entry[algorithm]
            digest, lasting = looked_at(path, lambda path: _digest(path, algorithm))
        except OSError as error:
            raise _unreadable(path, error) from error
        if lasting == state:
            self._put(key, {**entry, algorithm: digest}, memory)
        return digest

    def _put(self, key: str, entry: dict, memory: str) -> None:
        self._known[memory][key] = self._fresh.setdefault(memory, {})[key] = entry

    def _memory_of(self, key: str) -> str:
        """The name of the memory file for a path."""
        folder, below, _ = key.removeprefix(self._root).partition(os.sep)
        return f"digests-{folder}.json" if key.startswith(self._root) and below else _COMMON

    def _entries(self, memory: str) -> dict[str, dict]:
        if memory not in self._known:
            self._known[memory] = {}
            for folder in reversed(self._folders):
                self._known[memory].update(_read(folder / memory))
        return self._known[memory]

    def _save(self, memory: str) -> None:
        for folder in self._folders:
            # A root that does not exist is not made for a memory.
            if folder is self._folders[0] and not folder.parent.is_dir():
                continue
            try:
                folder.mkdir(parents=True, exist_ok=True)
                merged = {**_read(folder / memory), **self._fresh[memory]}
                with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, suffix=".tmp") as stream:
                    json.dump({"sha256": _seal(merged), "files": merged}, stream, indent=0, sort_keys=True)
                os.replace(stream.name, folder / memory)
                return
            except OSError:
                with contextlib.suppress(OSError, UnboundLocalError):
                    os.unlink(stream.name)


def remembered(data_root: Path, what: str, compute: Callable[[], str]) -> str:
    """compute(), a text that follows from ``what`` alone, kept in the cache root or the user's cache folder."""
    name = f"{hashlib.sha256(what.encode()).hexdigest()}.json"
    folders = [_CACHE_ROOTS.get(os.path.abspath(data_root), Path(data_root)) / ".checksums", user_cache()]
    for folder in folders:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads((folder / name).read_bytes())
            if kept["sha256"] == _seal(kept["files"]):
                return kept["files"]["text"]
    entry = {"text": compute()}
    for folder in folders:
        with contextlib.suppress(OSError):
            if folder.parent.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
                write_whole(folder / name, json.dumps({"sha256": _seal(entry), "files": entry}).encode())
                break
    return entry["text"]


def _digest(path: Path, algorithm: str) -> str:
    digest = hashlib.md5(usedforsecurity=False) if algorithm == "md5" else hashlib.new(algorithm)
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _unreadable(path: Path, error: OSError) -> BoostrunError:
    return BoostrunError(f"{path} cannot be read: {error.strerror or error}")


def _seal(entries: Mapping) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def _read(place: Path) -> dict[str, dict]:
    """The entries of a memory file; a damaged one is removed, with a line on stderr.

    Read again in a process only if the file has changed: it takes megabytes for a folder of 30,000 images.
    """
    try:
        state = state_of(place)
        if _READ.get(place, ({}, {}))[0] == state:
            return _READ[place][1]
        content = json.loads(place.read_bytes())
        if content["sha256"] != _seal(content["files"]):
            raise ValueError
        _READ[place] = state, content["files"]
        return content["files"]
    except OSError:  # absent, or not readable
        return {}
    except (ValueError, TypeError, KeyError, RecursionError):
        print(f"boostrun: {place} is damaged; files are hashed again", file=sys.stderr)
        with contextlib.suppress(OSError):
            place.unlink()
        return {}
