"""Where records are kept: one JSON file per trial, whole or absent whatever happens; packed files read beside them."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from filelock import __version__ as filelock_version

from boostrun.errors import BoostrunError
from boostrun.files import left_behind, sync_folder, write_whole
from boostrun.runner import record as schema
from boostrun.runner.packed import Known, Packs
from boostrun.runner.record import NotARecordError, check_record

_KEY = re.compile(r"[0-9a-f]{64}")
_SETTLED = 2e9  # nanoseconds: a folder changed more recently may change again without a new time stamp

# From this version on a waiter notices that the file it locked has been unlinked, so locks need not pile up.
_UNLINK_LOCKS = int(filelock_version.split(".")[0]) >= 4 and os.name == "posix"


class StoreWriteError(BoostrunError):
    """A record could not be written (full disk, read-only folder): nothing of it was left behind."""


class LockBusyError(BoostrunError):
    """Another process is at work on this trial."""


class Store:
    """Records by key, in single files ``<root>/<first two of key>/<key>.json`` and in packed files read beside them.

    Parameters
    ----------
    root : Path
        Folder of the single records, made when the first one is written.
    packed : iterable of Path
        Files of packed records, opened when first needed, and read as far as they are asked for. A packed record that
        is done wins over a single one with the same key, so that a trial that was run once more does not change what is
        published. Files that do not exist are skipped; a cut or corrupt one is set aside as a whole.

    What does not fit the schema counts as absent: :mod:`boostrun.runner.record` remembers it and tells of it. Any
    number of processes may use one folder at once. A store can be pickled; what it has read stays behind.
    """

    def __init__(self, root: Path, packed: Iterable[Path] = ()) -> None:
        self.root = Path(root).absolute()
        self.packed = tuple(Path(path).absolute() for path in packed)
        self._folders: dict[str, tuple[int, dict[str, tuple]]] = {}

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

        A file that is not a whole record counts as absent: it is set aside and, where the folder can be written, moved
        to ``<name>.corrupt``.
        """
        if self._is_published(key) and (record := self._packs.get(key)) is not None:
            return record
        record = self._read(self.path(key))
        return record if record is not None else self._packs.get(key)

    def done(self, key: str) -> dict | None:
        """The record when its status is ``done``, else None."""
        record = self.get(key)
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
        found: dict[tuple[str, int], list[str]] = {}
        for known in self._packs.known.values():
            found.setdefault((known.cell_key, known.seed), []).append(known.key)
        for key, (_, _, known) in self._scan():
            if key not in self._packs.known:
                found.setdefault((known.cell_key, known.seed), []).append(key)
        return found

    def packed_keys(self) -> frozenset[str]:
        """Keys of the records in packed files."""
        return frozenset(self._packs.known)

    def known(self) -> Iterator[Known]:
        """What is asked most of every record, once and ordered by key, without reading those that have not changed."""
        single = {key: known for key, (_, _, known) in self._scan() if not self._is_published(key)}
        yield from (known for _, known in sorted({**self._packs.known, **single}.items()))

    def records(self) -> Iterator[dict]:
        """Every record once, ordered by key."""
        single = {key for key, _ in self._scan()}
        for key in sorted(single | self._packs.known.keys()):
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
                raise NotARecordError("it has the key of another")
            return record
        except NotARecordError as error:
            with contextlib.suppress(OSError):
                os.replace(path, f"{path}.corrupt")
                error = NotARecordError(f"{error}; moved to {path.name}.corrupt")
            schema.set_aside(path, error)
            return None

    def _scan(self) -> Iterator[tuple[str, tuple]]:
        """(key, (mtime, size, Known)) of every single record; unchanged folders and files are not read."""
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
                found[key] = (*state, Known.of(record))
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
