"""Files of packed records: read a record at a time, by an index that is kept in the cache.

An index says of each record what planning asks (whose trial it is, what it cost) and where its line is. It is only a
memory: it holds for the very file that it was made of (size, both times, inode) and for the code that checks records,
its checksum says whether it is whole, and each line is checked again when it is read. One that does not hold is made
anew, and where none can be kept everything is as it is without, but slower.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import io
import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from boostrun.errors import BoostrunError
from boostrun.files import remember, remembered, sweep
from boostrun.runner import record as schema
from boostrun.runner.record import NotARecordError

_LARGEST_PACK = 1 << 30  # bytes of records in one packed file, which a few kB of gzip could exceed
_SMALLEST_INDEXED = 4096  # bytes of a packed file; what is smaller is read as fast as its index
_SETTLED = 2e9  # nanoseconds: a file changed more recently may change again without a new time stamp
_MOST_INDEXES = 1000  # in one folder of them; the oldest go first


class DamagedPackError(BoostrunError):
    """A file of packed records is cut or corrupt: which of its records are right cannot be known."""


class Known(NamedTuple):
    """What is asked of a record without reading it: whose trial it is, how it ended, what it cost."""

    key: str
    cell_key: str
    seed: int
    status: str
    like: str
    seconds: float | None
    peak_memory_mb: float | None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Known:
        """That of a record."""
        cell, cost = record["cell"], record["cost"]
        return cls(
            record["key"], record["cell_key"], record["seed"], record["status"], like(cell), cost.get("seconds"),
            cost.get("peak_memory_mb"),
        )  # fmt: skip


def like(cell: Mapping[str, Any]) -> str:
    """Names and budget of a cell, by which trials are alike in time and memory."""
    names = [cell[part]["name"] for part in ("algo", "dataset", "features")]
    return json.dumps([*names, sorted(cell["budget"].items())])


class Packs:
    """The records of packed files, by key; of several with one key the first that is done counts, else the last.

    Parameters
    ----------
    paths : the files; those that do not exist are skipped, a cut or corrupt one is set aside as a whole
    indexes : folders for indexes, of which the first that can be written is used; none: all files are read at once
    """

    def __init__(self, paths: Sequence[Path], indexes: Sequence[Path] = ()) -> None:
        self._paths = paths
        self._open(indexes if _code() else ())

    def _open(self, indexes: Sequence[Path]) -> None:
        self.known: dict[str, Known] = {}
        """What the files hold, by key."""
        self._pack_of: dict[str, _Pack] = {}
        for path in self._paths:
            if path.exists():
                try:
                    pack = _Pack.open(path, indexes)
                except DamagedPackError:
                    schema.set_aside(path, "cut or corrupt")
                    continue
                for known in pack.known:
                    before = self.known.get(known.key)
                    if before is None or before.status != "done":
                        self.known[known.key], self._pack_of[known.key] = known, pack

    def get(self, key: str) -> dict | None:
        """The record of this key; None where there is none."""
        while key in self._pack_of:
            try:
                return self._pack_of[key].read(self.known[key])
            except (_ChangedError, DamagedPackError):  # since its index was made, or while this command runs
                self._pack_of[key].forget()
                self._open(())  # which reads all at once, so that nothing of it can fail again
        return None


class _ChangedError(Exception):
    """A packed file is not what its index was made of."""


class _Pack:
    """One packed file: what is known of its records, and those that were read."""

    def __init__(self, path: Path, places: Sequence[Path], known: Sequence[Known], lines: Sequence[tuple[int, int]]):
        self.path, self.places, self.known = path, places, known
        self._lines = dict(zip((one.key for one in known), lines))
        self._read: dict[str, dict] = {}
        self._content: bytes | None = None

    @classmethod
    def open(cls, path: Path, folders: Sequence[Path]) -> _Pack:
        """By its index where one holds, else by reading it all; DamagedPackError where it is cut or corrupt."""
        state = _state(path)
        places = [folder / f"{_sha(os.fsencode(path))[:32]}.json" for folder in folders]
        if state is None or state[0] < _SMALLEST_INDEXED:
            places = []
        for place in places:
            if index := _read_index(place, [str(path), *(state or ())]):
                for number, why in index.odd:
                    schema.set_aside(f"{path} line {number}", why)
                return cls(path, places, index.known, index.lines)
        records, lines, odd = _read_all(path)
        found: dict[str, tuple[Known, dict, tuple[int, int]]] = {}
        for record, line in zip(records, lines):
            if record["key"] not in found or found[record["key"]][0].status != "done":
                found[record["key"]] = Known.of(record), record, line
        pack = cls(path, places, [one for one, _, _ in found.values()], [line for _, _, line in found.values()])
        pack._read = {key: record for key, (_, record, _) in found.items()}
        if state is not None and state == _state(path) and time.time_ns() - max(state[1:3]) > _SETTLED:
            pack._save([str(path), *state], odd)
        return pack

    def read(self, known: Known) -> dict:
        """A record that is known; raises _ChangedError or DamagedPackError where the file has become another."""
        if known.key not in self._read:
            if self._content is None:
                self._content = _content(self.path)
            start, stop = self._lines[known.key]
            try:
                record = schema.read(self._content[start:stop])
            except NotARecordError:
                raise _ChangedError from None
            if Known.of(record) != known:
                raise _ChangedError
            self._read[known.key] = record
        return self._read[known.key]

    def forget(self) -> None:
        """Throw the index away."""
        for place in self.places:
            with contextlib.suppress(OSError):
                place.unlink()

    def _save(self, state: list, odd: Sequence) -> None:
        lines = [self._lines[one.key] for one in self.known]
        index = {"code": _code(), "state": state, "odd": odd, "known": self.known, "lines": lines}
        if place := remember(self.places, index):
            _thin(place.parent)


def unpack(path: Path) -> Iterator[dict]:
    """The records of a packed file, in its order; lines that are none are set aside.

    Raises
    ------
    DamagedPackError
        When the file is cut or corrupt; no record is given out before all are read.
    BoostrunError
        When it is missing or cannot be read.
    """
    yield from _read_all(Path(path))[0]


def _read_all(path: Path) -> tuple[list[dict], list[tuple[int, int]], list[tuple[int, str]]]:
    """The records of a file, where each line begins and ends, and the numbers of lines that are none, with why."""
    records, lines, odd, start = [], [], [], 0
    for number, line in enumerate(_content(path).splitlines(keepends=True), 1):
        text = line.rstrip(b"\r\n")
        try:
            records.append(schema.read(text))
            lines.append((start, start + len(text)))
        except NotARecordError as error:
            schema.set_aside(f"{path} line {number}", error)
            odd.append((number, str(error)))
        start += len(line)
    return records, lines, odd


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BoostrunError(f"there is no packed file {path}") from None
    except OSError as error:
        raise BoostrunError(f"cannot read the packed records {path}: {error.strerror or error}") from None
    try:
        if not data:
            raise EOFError("the file is empty")  # gzip would take it for an archive of nothing
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            content = packed.read(_LARGEST_PACK + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DamagedPackError(f"the packed records {path} are cut or corrupt ({error})") from None
    if len(content) > _LARGEST_PACK:
        raise DamagedPackError(f"the packed records {path} are corrupt (more than {_LARGEST_PACK >> 30} GiB)")
    return content


# -- indexes -----------------------------------------------------------------------------------------------------------


class _Index(NamedTuple):
    odd: Sequence[tuple[int, str]]
    known: Sequence[Known]
    lines: Sequence[tuple[int, int]]


def _read_index(place: Path, state: list) -> _Index | None:
    """The index at a place; None where there is none, it is damaged, or made of another file or by other code."""
    index = remembered(place)
    try:
        if index is None or index["code"] != _code() or index["state"] != state:
            return None
        return _Index(index["odd"], list(map(Known._make, index["known"])), index["lines"])
    except (KeyError, TypeError, ValueError):  # the checksum of something else is right
        return None


def _state(path: Path) -> tuple[int, int, int, int] | None:
    """What changes when a file is written or replaced; None where the system does not say."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _thin(folder: Path) -> None:
    """Remove what killed writers left, and the oldest indexes where there are too many."""
    sweep(folder)
    entries = [entry for entry in os.scandir(folder) if entry.name.endswith(".json")]
    if len(entries) > _MOST_INDEXES:
        for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime)[: -_MOST_INDEXES // 2]:
            os.unlink(entry.path)


@functools.cache
def _code() -> str:
    """The code that says what a record is, and what an index holds; empty where its source is not there."""
    try:
        return _sha(b"".join(Path(module).read_bytes() for module in (str(schema.__file__), __file__)))
    except OSError:
        return ""


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
