"""Digests of files, remembered by path, inode, size and both times, so that a checksum costs no second reading.

The time of writing can be set by anybody (``touch -r``, ``cp -p``, an archive); inode and time of change cannot.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from boostrun.errors import BoostrunError
from boostrun.files import user_cache

_CHUNK = 1 << 22
_COMMON = "digests.json"
_STATE = ("size", "mtime_ns", "ctime_ns", "inode")
_READ: dict[Path, tuple[dict[str, int], dict[str, dict]]] = {}  # memories as they were read, with their files' states
_SETTLED = 20e6  # nanoseconds: a file changed more recently may change again without another time


class FileDigests:
    """Digests of files under one data root; use as a context manager, which writes the memory on leaving.

    The memory is `<data_root>/.checksums/digests.json`, or a file in the user's cache folder where the data root is
    absent or read-only; each folder of the data root, which may have 30,000 images, has one of its own beside it, read
    when a file of it is asked for. It is only a memory: losing it costs time, never correctness; a damaged one is
    thrown away.

    >>> import tempfile, pathlib
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (root / "a.txt").write_bytes(b"abc")
    >>> with FileDigests(root) as digests:
    ...     digests.of(root / "a.txt", "md5")
    '900150983cd24fb0d6963f7d28e17f72'
    """

    def __init__(self, data_root: Path):
        self._root = os.path.join(os.path.abspath(data_root), "")
        self._folders = [Path(data_root) / ".checksums", user_cache()]
        self._known: dict[str, dict[str, dict]] = {}
        self._fresh: dict[str, dict[str, dict]] = {}

    def __enter__(self) -> FileDigests:
        return self

    def __exit__(self, *_) -> None:
        for name in list(self._fresh):
            self._save(name)

    def of(self, path: Path, algorithm: str = "sha256") -> str:
        """Hex digest of a file's bytes. Raises BoostrunError where the file cannot be read."""
        return self.derived(path, algorithm, lambda p: _digest(p, algorithm))

    def derived(self, path: Path, what: str, compute: Callable[[Path], str]) -> str:
        """compute(path), a text that depends on the file's bytes alone, remembered under the name `what`."""
        try:
            state = state_of(path)
            key = os.path.abspath(path)
            name = self._memory_of(key)
            entry = self._of_memory(name).get(key, {})
            if any(entry.get(part) != value for part, value in state.items()):
                entry = dict(state)
            if what not in entry:
                entry = {**entry, what: compute(Path(path))}
                if state_of(path) == state and time.time_ns() - state["ctime_ns"] > _SETTLED:
                    self._known[name][key] = self._fresh.setdefault(name, {})[key] = entry
        except OSError as error:
            raise BoostrunError(f"{path} cannot be read: {error.strerror or error}") from error
        return entry[what]

    def _memory_of(self, key: str) -> str:
        """The name of the memory that a file's digests are in."""
        folder, below, _ = key.removeprefix(self._root).partition(os.sep)
        return f"digests-{folder}.json" if key.startswith(self._root) and below else _COMMON

    def _of_memory(self, name: str) -> dict[str, dict]:
        if name not in self._known:
            self._known[name] = dict(self._fresh.get(name, {}))
            for folder in reversed(self._folders):
                self._known[name].update(_read(folder / name))
            if name == _COMMON and os.access(self._folders[0], os.W_OK):
                self._move()
        return self._known[name]

    def _move(self) -> None:
        """Put what the common memory knows of folders, as that of an earlier version does, into theirs on leaving."""
        for key, entry in self._known[_COMMON].items():
            if (name := self._memory_of(key)) != _COMMON:
                self._fresh.setdefault(name, {})[key] = entry
                self._fresh.setdefault(_COMMON, {})

    def _save(self, name: str) -> None:
        for folder in self._folders:
            # A data root that does not exist is not made just to remember something.
            if folder is self._folders[0] and not folder.parent.is_dir():
                continue
            try:
                folder.mkdir(parents=True, exist_ok=True)
                merged = {**_read(folder / name), **self._fresh[name]}
                if name == _COMMON:
                    merged = {key: entry for key, entry in merged.items() if self._memory_of(key) == name}
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


def state_of(path: Path) -> dict[str, int]:
    """What changes when a file is written or replaced: size, both times and inode. Raises OSError."""
    stat = os.stat(path)
    return dict(zip(_STATE, (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)))


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
