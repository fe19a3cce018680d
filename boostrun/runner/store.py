"""Where records are kept: one JSON file per trial, whole or absent whatever happens; packed files read beside them."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import tempfile
import time
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from filelock import __version__ as filelock_version

from boostrun.errors import BoostrunError
from boostrun.files import left_behind, sync_folder, write_whole
from boostrun.runner.cell import Cell, plain, trial_key

SCHEMA = 1
_KEY = re.compile(r"[0-9a-f]{64}")
_PARTS = {"cell": dict, "inputs": dict, "metrics": dict, "cost": dict, "curve": dict, "provenance": dict}
_FIELDS = {"schema", "key", "cell_key", "seed", "status", "error", *_PARTS}
_SETTLED = 2e9  # nanoseconds: a folder changed more recently may change again without a new time stamp

# From this version on a waiter notices that the file it locked has been unlinked, so locks need not pile up.
_UNLINK_LOCKS = int(filelock_version.split(".")[0]) >= 4 and os.name == "posix"


class StoreWriteError(BoostrunError):
    """A record could not be written (full disk, read-only folder): nothing of it was left behind."""


class LockBusyError(BoostrunError):
    """Another process is at work on this trial."""


def check_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A plain copy of ``record`` when it is a whole record of schema 1 whose key is that of its content.

    Raises
    ------
    BoostrunError
        Naming the first field that is missing, unknown or wrong. Metrics must be finite numbers.
    """
    if not isinstance(record, Mapping) or set(record) != _FIELDS:
        found = set(record) if isinstance(record, Mapping) else set()
        odd = ", ".join(sorted(map(str, found ^ _FIELDS)))
        raise BoostrunError(f"not a record: these fields are missing or unknown: {odd}")
    record = dict(plain(record, "record"))
    if record["schema"] != SCHEMA:
        raise BoostrunError(f"a record of schema {record['schema']!r} cannot be kept: this version writes {SCHEMA}")
    for name, kind in _PARTS.items():
        if not isinstance(record[name], kind):
            raise BoostrunError(f"record.{name} must be a mapping, not {type(record[name]).__name__}")
    for name, value in record["metrics"].items():
        if type(value) not in (int, float):
            raise BoostrunError(f"record.metrics.{name} must be a finite number, not {value!r}")
    error = record["error"]
    if record["status"] not in ("done", "failed") or (record["status"] == "done") != (error is None):
        raise BoostrunError("record.status must be 'done' without an error or 'failed' with one")
    if error is not None and (not isinstance(error, dict) or set(error) != {"type", "message", "traceback"}):
        raise BoostrunError("record.error must have type, message and traceback")
    if set(record["inputs"]) != {"data", "source"} or type(record["seed"]) is not int:
        raise BoostrunError("record.inputs must have data and source, and record.seed be an integer")
    if record["cell_key"] != Cell.from_config(record["cell"]).key:
        raise BoostrunError("record.cell_key is not the key of record.cell")
    if record["key"] != trial_key(record["cell"], record["seed"], record["inputs"]):
        raise BoostrunError("record.key is not the key of its cell, seed and inputs")
    return record


def _well_formed(record: Mapping[str, Any]) -> bool:
    """Whether what was read has the fields of a record, each of its kind: what a glance can tell."""
    return (
        set(record) == _FIELDS
        and record["schema"] == SCHEMA
        and all(type(record[name]) is kind for name, kind in _PARTS.items())
        and type(record["seed"]) is int
        and type(record["cell_key"]) is str
        and record["status"] in ("done", "failed")
        and (record["status"] == "done") == (record["error"] is None)
        and all(type(value) in (int, float) for value in record["metrics"].values())
    )


class Store:
    """Records by key, in single files ``<root>/<first two of key>/<key>.json`` and in packed files read beside them.

    Parameters
    ----------
    root : Path
        Folder of the single records, made when the first one is written.
    packed : iterable of Path
        ``records.jsonl.gz`` files, read when first needed; a single record wins over a packed one with the same key.
        Files that do not exist are skipped; a cut or corrupt one is a BoostrunError when first needed.

    Any number of processes may use one folder at once. A store can be pickled; what it has read stays behind.
    """

    def __init__(self, root: Path, packed: Iterable[Path] = ()) -> None:
        self.root = Path(root).absolute()
        self.packed = tuple(Path(path).absolute() for path in packed)
        self._packs: dict[str, dict] | None = None
        self._folders: dict[str, tuple[int, dict[str, tuple]]] = {}
        self._warned: set[Path] = set()

    def __getstate__(self) -> dict:
        return {"root": self.root, "packed": self.packed}

    def __setstate__(self, state: dict) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r}, packed={len(self.packed)})"

    def path(self, key: str) -> Path:
        """Where the single record of this key is or would be."""
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise BoostrunError(f"not a key of a record (64 hexadecimal digits): {key!r}")
        return self.root / key[:2] / f"{key}.json"

    # -- reading -------------------------------------------------------------------------------------------------

    def get(self, key: str) -> dict | None:
        """The record, done or failed; None when absent.

        A file that is not a whole record counts as absent: it is warned about once and, where the folder can be
        written, moved aside as ``<name>.corrupt``.
        """
        record = self._read(self.path(key))
        return record if record is not None else self._packed().get(key)

    def done(self, key: str) -> dict | None:
        """The record when its status is ``done``, else None."""
        record = self.get(key)
        if record is not None and record["status"] != "done":
            record = self._packed().get(key)  # a failed attempt of ours does not hide a published result
        return record if record is not None and record["status"] == "done" else None

    def find(self, cell_key: str, seed: int, index: Mapping[tuple[str, int], list[str]] | None = None) -> list[dict]:
        """All records of that cell and seed whatever their inputs, newest first: the stale ones are among them.

        The first call reads the whole store; later ones only folders that have changed since. Who asks for many gives
        the :meth:`index` to look in.
        """
        keys = (self.index() if index is None else index).get((cell_key, seed), [])
        found = [record for record in map(self.get, keys) if record is not None]
        return sorted(found, key=lambda record: str(record["provenance"].get("time", "")), reverse=True)

    def index(self) -> dict[tuple[str, int], list[str]]:
        """Keys of the records there are now, by cell key and seed."""
        found: dict[tuple[str, int], dict[str, None]] = {}
        for record in self._packed().values():
            found.setdefault((record["cell_key"], record["seed"]), {})[record["key"]] = None
        for key, (_, _, *entry) in self._scan():
            found.setdefault(tuple(entry), {})[key] = None
        return {entry: list(keys) for entry, keys in found.items()}

    def records(self) -> Iterator[dict]:
        """Every record once, ordered by key."""
        packed = self._packed()
        single = {key for key, _ in self._scan()}
        for key in sorted(single | set(packed)):
            record = self._read(self.path(key)) if key in single else None
            if record is None:
                record = packed.get(key)
            if record is not None:
                yield record

    def _packed(self) -> dict[str, dict]:
        if self._packs is None:
            packs: dict[str, dict] = {}
            for path in self.packed:
                if path.exists():
                    for record in unpack(path):
                        if packs.get(record["key"], {}).get("status") != "done":
                            packs[record["key"]] = record
            self._packs = packs
        return self._packs

    def _read(self, path: Path) -> dict | None:
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BoostrunError(f"cannot read the record {path}: {error.strerror}") from None
        try:
            record = json.loads(text)
            if record["key"] != path.stem or not _well_formed(record):
                raise ValueError
            return record
        except (ValueError, TypeError, KeyError, RecursionError):
            self._set_aside(path)
            return None

    def _set_aside(self, path: Path) -> None:
        moved = ""
        with contextlib.suppress(OSError):
            os.replace(path, f"{path}.corrupt")
            moved = f"; moved aside as {path.name}.corrupt"
        if path not in self._warned:
            self._warned.add(path)
            warnings.warn(f"the record {path} is not whole and counts as absent{moved}", stacklevel=4)

    def _scan(self) -> Iterator[tuple[str, tuple]]:
        """(key, (mtime, size, cell_key, seed)) of every single record; unchanged folders and files are not read."""
        try:
            folders = [entry for entry in os.scandir(self.root) if len(entry.name) == 2 and entry.is_dir()]
        except FileNotFoundError:
            return
        except OSError as error:
            raise BoostrunError(f"cannot read the store {self.root}: {error.strerror}") from None
        for folder in sorted(folders, key=lambda entry: entry.name):
            now = time.time_ns()
            try:
                stamp = os.stat(folder.path).st_mtime_ns
                known_stamp, known = self._folders.get(folder.name, (-1, {}))
                if stamp != known_stamp:
                    known = self._scan_folder(folder.path, known)
                    self._folders[folder.name] = (stamp if now - stamp > _SETTLED else -1, known)
            except OSError as error:
                raise BoostrunError(f"cannot read the store {folder.path}: {error.strerror}") from None
            yield from list(known.items())

    def _scan_folder(self, folder: str, known: Mapping[str, tuple]) -> dict[str, tuple]:
        found = {}
        for entry in os.scandir(folder):
            try:
                status = entry.stat()
            except FileNotFoundError:
                continue
            if entry.name.endswith(".tmp") and left_behind(entry.name, status.st_mtime):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
            key, _, suffix = entry.name.partition(".")
            if suffix != "json" or not _KEY.fullmatch(key):
                continue
            state = (status.st_mtime_ns, status.st_size)
            if known.get(key, ())[:2] == state:
                found[key] = known[key]
            elif (record := self._read(Path(entry.path))) is not None:
                found[key] = (*state, record["cell_key"], record["seed"])
        return found

    # -- writing -------------------------------------------------------------------------------------------------

    def check_writable(self) -> None:
        """Try whether records could be written, and leave no trace of it: what a run asks before it begins.

        Raises
        ------
        StoreWriteError
            When nothing can be written in the folder, or it is not there and cannot be made.
        """
        try:
            there = next((each for each in (self.root, *self.root.parents) if each.exists()), self.root)
            with tempfile.TemporaryFile(dir=there):
                pass
        except OSError as error:
            raise self._unwritable(error) from None

    def put(self, record: Mapping[str, Any]) -> Path:
        """Write a record, or leave things as they were: temporary file, fsync, rename, fsync of the folder.

        Raises
        ------
        BoostrunError
            When it is not a record, see :func:`check_record`.
        StoreWriteError
            When it cannot be written; nothing is left behind.
        """
        record = check_record(record)
        path = self.path(record["key"])
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        try:
            self._make_folder(path.parent)
            write_whole(path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise StoreWriteError(
                f"cannot write the record {path}: {error.strerror or error}; the record is absent, what was stored "
                "before is kept (store=… chooses another folder)"
            ) from None
        return path

    def _make_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            sync_folder(folder.parent)

    @contextlib.contextmanager
    def lock(self, key: str, *, timeout: float = -1) -> Iterator[None]:
        """Hold the trial ``key`` alone among all processes on this store; a dead holder's lock is free at once.

        ``timeout`` in seconds; negative waits for ever, 0 raises LockBusyError at once when it is held elsewhere.
        """
        path = self.path(key)
        path = self.root / ".locks" / path.stem
        try:
            if not path.parent.is_dir():
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
        """Remove the locks that killed commands left: those that nobody holds."""
        for path in (self.root / ".locks").glob("*") if _UNLINK_LOCKS else ():
            with contextlib.suppress(BoostrunError), self.lock(path.name, timeout=0):
                pass  # whoever gives a lock back removes it

    def sweep(self, key: str) -> None:
        """Remove temporary files that a killed writer of this key left, unless somebody is at work on it."""
        with contextlib.suppress(BoostrunError, OSError), self.lock(key, timeout=0):
            for leftover in self.path(key).parent.glob(f".{key}.*.tmp"):
                leftover.unlink()


def pack(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write records to one gzip file of JSON lines; the same records give the same bytes, in whichever order they come.

    Raises
    ------
    BoostrunError
        When a record is not whole or the file cannot be written; an earlier file is then left as it was.
    """
    whole = [check_record(record) for record in records]
    whole.sort(key=lambda record: (Cell.from_config(record["cell"]).label, record["seed"], record["key"]))
    lines = [json.dumps(record, sort_keys=True, allow_nan=False, separators=(",", ":")) for record in whole]
    path = Path(path)
    buffer = io.BytesIO()
    # mtime 0 and no file name in the header: the bytes depend on the records alone.
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as packed:
        packed.write("".join(line + "\n" for line in lines).encode("ascii"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, buffer.getvalue())
    except OSError as error:
        raise StoreWriteError(f"cannot write {path}: {error.strerror or error}") from None


def unpack(path: Path) -> Iterator[dict]:
    """The records of a packed file, in its order.

    Raises
    ------
    BoostrunError
        When the file is missing, cut, corrupt or holds something else; no record is given out before all are read.
    """
    try:
        data = Path(path).read_bytes()
        if not data:
            raise EOFError("the file is empty")  # gzip would take it for an archive of nothing
        lines = gzip.decompress(data).decode("utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        whole = all(map(_well_formed, records))
    except FileNotFoundError:
        raise BoostrunError(f"there is no packed file {path}") from None
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        raise BoostrunError(f"the packed records {path} are cut or corrupt ({error})") from None
    if not whole:
        raise BoostrunError(f"the packed records {path} hold something that is not a record of schema {SCHEMA}")
    yield from records
