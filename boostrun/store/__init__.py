"""The store: one JSON file per trial, which is always complete or absent, and packed files of many records.

Planning reads a few columns of all packed records at once. A whole record is read when it is needed, each series of its
curve when it is used. :mod:`boostrun.store.parquet` defines the format of ``records.parquet``. Files of an earlier
format, ``records.jsonl.gz``, are read as a whole.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import json
import os
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from filelock import FileLock, Timeout
from filelock import __version__ as filelock_version

from boostrun.errors import BoostrunError
from boostrun.files import left_behind, sync_folder, write_whole
from boostrun.store import cell as schema
from boostrun.store.cell import json_text

_KEY = re.compile(r"[0-9a-f]{64}")

# From this version on a waiting process notices that the file it locked was removed, so locks need not pile up.
_UNLINK_LOCKS = int(filelock_version.split(".")[0]) >= 4 and os.name == "posix"
PACKED = "records.parquet"
OLD_PACKED = "records.jsonl.gz"
_LARGEST_OLD = 1 << 30  # unpacked bytes of an old file: a few kB of gzip could unpack to more than fits in memory





class StoreWriteError(BoostrunError):
    """A record could not be written (full disk, read-only folder). No part of it remains."""


class LockBusyError(BoostrunError):
    """Another process is working on this trial."""


class Store:
    """Records by key: single files ``<root>/<first two of key>/<key>.json``, and packed files.

    Parameters
    ----------
    root : Path
        Folder of the single records, made when the first one is written.
    packed : iterable of Path
        Packed files, opened when first needed; missing ones are skipped. A packed record that is done takes precedence
        over a single one with the same key, so running a trial again does not change what is published.

    Records that do not fit the schema, and damaged packed files, count as absent and are set aside
    (:func:`boostrun.store.cell.set_aside`). Several processes may use one folder at once. A store can be pickled,
    without what it has read.
    """

    def __init__(self, root: Path, packed: Iterable[Path] = ()) -> None:
        self.root = Path(root).absolute()
        self.packed = tuple(Path(path).absolute() for path in packed)
        self._files: dict[str, tuple[int, int, Known]] = {}

    def __getstate__(self) -> dict:
        return {"root": self.root, "packed": self.packed}

    def __setstate__(self, state: dict) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r}, packed={len(self.packed)})"

    def path(self, key: str) -> Path:
        """The file of the single record with this key."""
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise BoostrunError(f"not a key of a record (64 hexadecimal digits): {key!r}")
        return self.root / key[:2] / f"{key}.json"

    # -- reading -------------------------------------------------------------------------------------------------

    def get(self, key: str) -> dict | None:
        """The record with this key, done or failed; None if absent.

        A file that is not a whole record is set aside and renamed to ``<name>.corrupt`` if the folder is writable.
        """
        if self._is_published(key) and (record := self._packs.get(key)) is not None:
            return record
        record = self._read(self.path(key))
        return record if record is not None else self._packs.get(key)

    def done(self, key: str) -> dict | None:
        """The record with this key if its status is ``done``, else None."""
        record = self.get(key)
        return record if record is not None and record["status"] == "done" else None

    def find(self, cell_key: str, seed: int, index: Mapping[tuple[str, int], list[str]] | None = None) -> list[dict]:
        """All records of a cell and seed with any inputs, newest first; the stale ones are among them.

        Pass an :meth:`index` to look up many.
        """
        keys = (self.index() if index is None else index).get((cell_key, seed), [])
        found = [record for record in map(self.get, keys) if record is not None]
        return sorted(found, key=lambda record: str(record["provenance"].get("time", "")), reverse=True)

    def index(self) -> dict[tuple[str, int], list[str]]:
        """The keys of all records by (cell key, seed)."""
        found: dict[tuple[str, int], list[str]] = {}
        for known in {**dict(self._scan()), **self._packs.known}.values():
            found.setdefault((known.cell_key, known.seed), []).append(known.key)
        return found

    def packed_keys(self) -> frozenset[str]:
        """The keys of the packed records."""
        return frozenset(self._packs.known)

    def known(self) -> Iterator[Known]:
        """The fields of every record that planning needs, ordered by key. Unchanged files are not read again."""
        single = {key: known for key, known in self._scan() if not self._is_published(key)}
        yield from (known for _, known in sorted({**self._packs.known, **single}.items()))

    def records(self) -> Iterator[dict]:
        """Every record, ordered by key."""
        for key in sorted(dict(self._scan()).keys() | self._packs.known.keys()):
            if (record := self.get(key)) is not None:
                yield record

    @functools.cached_property
    def _packs(self) -> Packs:
        return Packs(self.packed)

    def _is_published(self, key: str) -> bool:
        known = self._packs.known.get(key)
        return known is not None and known.status == "done"

    def _read(self, path: Path) -> dict | None:
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BoostrunError(f"cannot read the record {path}: {error.strerror}") from None
        try:
            record = schema.read(text)
            if record["key"] != path.stem:
                raise schema.NotARecordError("it has the key of another")
            if record["key"] != schema.trial_key(record["cell"], record["seed"], record["inputs"]):
                raise schema.NotARecordError("its key is not that of its cell, seed and inputs")
            return record
        except schema.NotARecordError as error:
            why = str(error)
            with contextlib.suppress(OSError):
                if schema.is_of_another_version(text):  # which reads it
                    why = "it is of another version of boostrun"
                else:
                    os.replace(path, f"{path}.corrupt")
                    why += f"; moved to {path.name}.corrupt"
            schema.set_aside(path, why)
            return None

    def _scan(self) -> Iterator[tuple[str, Known]]:
        """Key and Known of every single record. Removes the temporary files of dead writers."""
        try:
            folders = [entry.path for entry in os.scandir(self.root) if len(entry.name) == 2 and entry.is_dir()]
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unreadable(error) from None
        for folder in sorted(folders):
            try:
                found = [self._known(entry) for entry in os.scandir(folder)]
            except OSError as error:
                raise self._unreadable(error) from None
            yield from ((known.key, known) for known in found if known is not None)

    def _known(self, entry: os.DirEntry) -> Known | None:
        """The entry for the record in a file, which is read if it has changed; None if the file is not a record."""
        try:
            status = entry.stat()
        except FileNotFoundError:
            return None
        if entry.name.endswith(".tmp") and left_behind(entry.name, status.st_mtime):
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
        key, _, suffix = entry.name.partition(".")
        if suffix != "json" or not _KEY.fullmatch(key):
            return None
        state = (status.st_mtime_ns, status.st_size)
        if self._files.get(key, ())[:2] != state:
            if (record := self._read(Path(entry.path))) is None:
                return None
            self._files[key] = (*state, Known.of(record))
        return self._files[key][2]

    def _unreadable(self, error: OSError) -> BoostrunError:
        return BoostrunError(f"cannot read the store {error.filename or self.root}: {error.strerror}")

    # -- writing -------------------------------------------------------------------------------------------------

    def check_writable(self) -> None:
        """Raise StoreWriteError if records could not be written; leaves no trace."""
        try:
            place = next((each for each in (self.root, *self.root.parents) if each.exists()), self.root)
            with tempfile.TemporaryFile(dir=place):
                pass
        except OSError as error:
            raise self._unwritable(error) from None

    def put(self, record: Mapping[str, Any]) -> Path:
        """Write a record, or leave things as they were: temporary file, fsync, rename, fsync of the folder.

        Raises BoostrunError if it does not fit the schema, and StoreWriteError if it cannot be written.
        """
        record = schema.check_record(record)
        path = self.path(record["key"])
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        try:
            if not path.parent.is_dir():
                path.parent.mkdir(parents=True, exist_ok=True)
                sync_folder(self.root)
            write_whole(path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise StoreWriteError(
                f"cannot write the record {path}: {error.strerror or error}; the record is absent, earlier "
                "ones are kept (store=… chooses another folder)"
            ) from None
        return path

    @contextlib.contextmanager
    def lock(self, key: str, *, timeout: float = -1) -> Iterator[None]:
        """Hold a trial exclusively among all processes on this store. The lock of a dead process is free at once.

        ``timeout`` in seconds: if negative, waits without limit; 0 raises LockBusyError at once if the lock is taken.
        """
        path = self.root / ".locks" / self.path(key).stem
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path, timeout=timeout)
            lock.acquire()
        except Timeout:
            raise LockBusyError(f"another process is at work on the trial {key}") from None
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            yield
        finally:
            if _UNLINK_LOCKS:
                with contextlib.suppress(OSError):
                    path.unlink()
            lock.release()

    def _unwritable(self, error: OSError) -> StoreWriteError:
        return StoreWriteError(f"cannot write in the store {self.root}: {error.strerror or error}")

    def sweep_locks(self) -> None:
        """Remove the locks that killed commands left."""
        for path in (self.root / ".locks").glob("*") if _UNLINK_LOCKS else ():
            with contextlib.suppress(BoostrunError), self.lock(path.name, timeout=0):
                pass  # releasing a lock removes its file

    def sweep(self, key: str) -> None:
        """Remove the temporary files that a killed writer of this key left, unless a process works on the trial."""
        with contextlib.suppress(BoostrunError, OSError), self.lock(key, timeout=0):
            for leftover in self.path(key).parent.glob(f".{key}.*.tmp"):
                leftover.unlink()


# -- packed records ----------------------------------------------------------------------------------------------------


class DamagedPackError(BoostrunError):
    """A packed file is truncated or corrupt; none of its records can be trusted."""


class Known(NamedTuple):
    """Fields of a record that planning needs, known without reading the record."""

    key: str
    cell_key: str
    seed: int
    status: str
    cell: str
    """The cell as canonical JSON."""
    seconds: float | None
    peak_memory_mb: float | None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Known:
        """The same fields taken from a record."""
        cell, cost = json_text(record["cell"]), record["cost"]
        return cls(
            record["key"], record["cell_key"], record["seed"], record["status"], cell, cost.get("seconds"),
            cost.get("peak_memory_mb"),
        )  # fmt: skip


class Pack(Protocol):
    """An open packed file. ``known`` lists its records in their order."""

    path: Path
    known: list[Known]

    def check(self) -> None:
        """Raise DamagedPackError if the file is not what was written."""

    def read(self, row: int) -> dict[str, Any]:
        """The record at this position of ``known``; raises DamagedPackError."""


class Packs:
    """The records of several packed files by key.

    If several files have the same key, the first record that is done counts, else the last one. Missing files are
    skipped. A truncated or corrupt file is set aside as a whole.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._packs: list[Pack] = []
        for path in paths:
            if path.exists():
                try:
                    self._packs.append(_open(path))
                except DamagedPackError:
                    schema.set_aside(path, "cut or corrupt")
        self._index()

    def _index(self) -> None:
        self.known: dict[str, Known] = {}
        self._places: dict[str, tuple[Pack, int]] = {}
        for pack in self._packs:
            for row, known in enumerate(pack.known):
                if known.key not in self.known or self.known[known.key].status != "done":
                    self.known[known.key], self._places[known.key] = known, (pack, row)

    def get(self, key: str) -> dict[str, Any] | None:
        """The record with this key, or None. Its curve is a mapping that is read lazily."""
        while key in self._places:
            pack, row = self._places[key]
            try:
                return pack.read(row)
            except DamagedPackError:
                schema.set_aside(pack.path, "cut or corrupt")
                self._packs.remove(pack)
                self._index()
        return None


def packs_below(folder: Path) -> list[Path]:
    """All packed files below a folder, sorted."""
    return sorted(path for path in Path(folder).rglob("records.*") if path.name in (PACKED, OLD_PACKED))


def unpack(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a packed file in its order. Lines of an old file that are not records are set aside.

    Raises DamagedPackError, before the first record, if the file is truncated or corrupt, and BoostrunError if it is
    missing or cannot be read.
    """
    pack = _open(Path(path))
    for row in range(len(pack.known)):
        yield pack.read(row)


def pack(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write records to one file. The bytes depend on the records alone, not on their order.

    Raises BoostrunError if a record is not whole or the file cannot be written; an existing file is then left as it is.
    """
    from boostrun.store.parquet import LARGEST_GROUP, parquet_of, table_of

    rows = sorted(records, key=lambda record: (json_text(record["cell"]), record["seed"], record["key"]))
    starts = range(0, len(rows), LARGEST_GROUP)
    write_file(path, parquet_of([table_of(rows[start : start + LARGEST_GROUP]) for start in starts]))


def write_file(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all, and make its folder; BoostrunError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise BoostrunError(f"cannot write {path}: {error.strerror or error}") from None


def write_records(folder: Path, records: Iterable[Mapping[str, Any]], results: Path) -> Path | None:
    """Pack records into ``records.parquet`` of a folder, except those that are done in another file below ``results``.

    Records already packed in the folder stay unless a new one has the same cell and seed. A damaged file is renamed to
    ``*.corrupt``, since some of it may be saved; a file of the earlier format is replaced; an empty file is
    removed. A record whose keys are not those of its content is set aside.

    Returns the file, or None without records to pack. Raises BoostrunError if it cannot be written.
    """
    from boostrun.store.parquet import has_its_keys

    ours = [folder / PACKED, folder / OLD_PACKED]
    packed: list[dict[str, Any]] = []
    for path in filter(Path.exists, ours):
        try:
            _open(path).check()
            packed += list(unpack(path))
        except DamagedPackError:
            with contextlib.suppress(OSError):
                os.replace(path, f"{path}.corrupt")
    by_seed = {(record["cell_key"], record["seed"]): record for record in [*packed, *records]}
    elsewhere = Packs(path for path in packs_below(results) if path not in ours).known
    kept = []
    for record in by_seed.values():
        if record["key"] in elsewhere and elsewhere[record["key"]].status == "done":
            continue
        if has_its_keys(record):
            kept.append(record)
        else:
            schema.set_aside(record["key"], "it has not the keys of its content")
    done = {record["key"] for record in packed if record["status"] == "done"}
    if kept and not (ours[0].exists() and len(done) == len(packed) and done == {record["key"] for record in kept}):
        pack(kept, ours[0])
    for path in ours[1 if kept else 0 :]:
        path.unlink(missing_ok=True)
    return ours[0] if kept else None


def _open(path: Path) -> Pack:
    try:
        if path.suffix == ".gz":
            return _OldPack(path)
        from boostrun.store.parquet import ParquetPack

        return ParquetPack(path)
    except FileNotFoundError:
        raise BoostrunError(f"there is no packed file {path}") from None
    except OSError as error:
        raise BoostrunError(f"cannot read the packed records {path}: {error.strerror or error}") from None


class _OldPack:
    """A file of the earlier format: gzipped lines of JSON, read as a whole."""

    def __init__(self, path: Path) -> None:
        self.path, self._records = path, list[dict[str, Any]]()
        data = path.read_bytes()
        try:
            if not data:
                raise EOFError("the file is empty")  # gzip would accept it
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                content = packed.read(_LARGEST_OLD + 1)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise DamagedPackError(f"the packed records {path} are cut or corrupt ({error})") from None
        if len(content) > _LARGEST_OLD:
            raise DamagedPackError(f"the packed records {path} are corrupt (more than {_LARGEST_OLD >> 30} GiB)")
        for number, line in enumerate(content.splitlines(), 1):
            try:
                self._records.append(schema.read(line))
            except schema.NotARecordError as error:
                schema.set_aside(f"{path} line {number}", error)
        self.known = list(map(Known.of, self._records))

    def check(self) -> None:
        """Nothing to do: a damaged file has not been opened."""

    def read(self, row: int) -> dict[str, Any]:
        return self._records[row]
