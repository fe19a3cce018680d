"""Digests of files, remembered by path and state, so that a checksum costs no second reading.

Only a state that any later change ends is remembered (see `boostrun.data.digests`); a file on tmpfs, on a network or on
an unknown file system is hashed each time. What follows from a file's content is remembered by its sha256.

States of files: what shows that a file was changed, and where a change is sure to show.

A state is size, both times, inode and device. Anybody can set the time of writing (``touch -r``, ``cp -p``, an
archive), nobody the time of change. But a stamp has a resolution, and a write through a memory map stamps a file only
when it makes a clean page dirty: on tmpfs never, elsewhere once until the page is written back.
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
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from boostrun.errors import BoostrunError
from boostrun.files import user_cache

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


_CHUNK = 1 << 22
_COMMON = "digests.json"
_READ: dict[Path, tuple[dict[str, int], dict[str, dict]]] = {}  # memories as they were read, with their files' states
_KEPT: dict[str, Path] = {}  # by data root: the cache root that its memory is in
_LOOK: ContextVar[dict[tuple[str, str], str] | None] = ContextVar("look", default=None)


def keep(data_root: Path, cache_root: Path) -> None:
    """From now on, in this process, the memory of the files below ``data_root`` is in ``cache_root``."""
    _KEPT[os.path.abspath(data_root)] = Path(os.path.abspath(cache_root))


@contextlib.contextmanager
def one_look() -> Iterator[None]:
    """Within this, no file is hashed twice, wherever it lies: for a look at many trials before any is run."""
    token = _LOOK.set({})
    try:
        yield
    finally:
        _LOOK.reset(token)


class FileDigests:
    """Digests of files under one data root; use as a context manager, which writes the memory on leaving.

    The memory is `.checksums/digests.json` in the cache root (see :func:`keep`; else in the data root), or a file in
    the user's cache folder where that is absent or read-only; each folder of the data root, which may have 30,000
    images, has one of its own beside it, read when a file of it is asked for. It is only a memory: losing it costs
    time, never correctness; a damaged one is thrown away.

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
        self._folders = [_KEPT.get(root, Path(data_root)) / ".checksums", user_cache()]
        self._known: dict[str, dict[str, dict]] = {}
        self._fresh: dict[str, dict[str, dict]] = {}
        self._answers: dict[tuple[str, str], str] = {}

    def __enter__(self) -> FileDigests:
        return self

    def __exit__(self, *_) -> None:
        for name in list(self._fresh):
            self._save(name)

    def of(self, path: Path, algorithm: str = "sha256") -> str:
        """Hex digest of a file's bytes. Raises BoostrunError where the file cannot be read."""
        asked, look = (os.path.abspath(path), algorithm), _LOOK.get()
        found = look[asked] if look and asked in look else self._of(path, algorithm)
        if look is not None:
            look[asked] = found
        self._answers[asked] = found
        return found

    def derived(self, path: Path, what: str, compute: Callable[[Path], str]) -> str:
        """compute(path), a text that depends on the file's bytes alone, remembered under the name `what`.

        It may also depend on files whose digests were asked for before, where `what` holds these. Raises BoostrunError
        where one of them is changed meanwhile.
        """
        content = self.of(path)
        key = os.path.abspath(path)
        entry = self._of_memory(self._memory_of(key)).get(f"{key}: content", {})
        if entry.get("sha256") != content:
            entry = {"sha256": content}
        if what not in entry:
            try:
                entry = {**entry, what: compute(Path(path))}
            except OSError as error:
                raise _unreadable(path, error) from error
            for (each, algorithm), answer in self._answers.items():
                if self._of(Path(each), algorithm) != answer:
                    raise BoostrunError(f"{each} was changed while it was read; run it again")
            self._put(f"{key}: content", entry, self._memory_of(key))
        return entry[what]

    def _of(self, path: Path, algorithm: str) -> str:
        try:
            state, key = state_of(path), os.path.abspath(path)
            name = self._memory_of(key)
            entry = self._of_memory(name).get(key, {})
            if any(entry.get(part) != value for part, value in state.items()):
                entry = dict(state)
            if algorithm in entry:
                return entry[algorithm]
            digest, lasting = looked_at(path, lambda path: _digest(path, algorithm))
        except OSError as error:
            raise _unreadable(path, error) from error
        if lasting == state:
            self._put(key, {**entry, algorithm: digest}, name)
        return digest

    def _put(self, key: str, entry: dict, name: str) -> None:
        self._known[name][key] = self._fresh.setdefault(name, {})[key] = entry

    def _memory_of(self, key: str) -> str:
        """The name of the memory that a file's digests are in."""
        folder, below, _ = key.removeprefix(self._root).partition(os.sep)
        return f"digests-{folder}.json" if key.startswith(self._root) and below else _COMMON

    def _of_memory(self, name: str) -> dict[str, dict]:
        if name not in self._known:
            self._known[name] = {}
            for folder in reversed(self._folders):
                self._known[name].update(_read(folder / name))
        return self._known[name]

    def _save(self, name: str) -> None:
        for folder in self._folders:
            # A root that does not exist is not made just to remember something.
            if folder is self._folders[0] and not folder.parent.is_dir():
                continue
            try:
                folder.mkdir(parents=True, exist_ok=True)
                merged = {**_read(folder / name), **self._fresh[name]}
                with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, suffix=".tmp") as stream:
                    json.dump({"sha256": _of_entries(merged), "files": merged}, stream, indent=0, sort_keys=True)
                os.replace(stream.name, folder / name)
                return
            except OSError:
                with contextlib.suppress(OSError, UnboundLocalError):
                    os.unlink(stream.name)


def _digest(path: Path, algorithm: str) -> str:
    digest = hashlib.md5(usedforsecurity=False) if algorithm == "md5" else hashlib.new(algorithm)
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _unreadable(path: Path, error: OSError) -> BoostrunError:
    return BoostrunError(f"{path} cannot be read: {error.strerror or error}")


def _of_entries(entries: dict) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def _read(place: Path) -> dict[str, dict]:
    """What is remembered at a place; nothing, and a line on stderr, where the file is damaged.

    Read once in a process while it stays the same: it has megabytes for a folder of 30,000 images.
    """
    try:
        state = state_of(place)
        if _READ.get(place, ({}, {}))[0] == state:
            return _READ[place][1]
        content = json.loads(place.read_bytes())
        if "sha256" not in content and isinstance(content, dict):  # of an earlier version
            return {}
        if content["sha256"] != _of_entries(content["files"]):
            raise ValueError
        _READ[place] = state, content["files"]
        return content["files"]
    except OSError:  # there is none, or it is not ours to read
        return {}
    except (ValueError, TypeError, KeyError, RecursionError):
        print(f"boostrun: {place} is damaged; files are hashed again", file=sys.stderr)
        with contextlib.suppress(OSError):
            place.unlink()
        return {}
