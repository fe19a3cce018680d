"""The store: one JSON file per trial, which is whole or absent whatever happens, beside packed files of records."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from filelock import __version__ as filelock_version

from boostrun.errors import BoostrunError
from boostrun.files import left_behind, sync_folder, write_whole
from boostrun.store import record as schema
from boostrun.store.packs import Known, Packs

_KEY = re.compile(r"[0-9a-f]{64}")

# From this version on a waiting process notices that the file it locked was removed, so locks need not pile up.
_UNLINK_LOCKS = int(filelock_version.split(".")[0]) >= 4 and os.name == "posix"


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
    (:func:`boostrun.store.record.set_aside`). Several processes may use one folder at once. A store can be pickled,
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
            return record
        except schema.NotARecordError as error:
            why = str(error)
            with contextlib.suppress(OSError):
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
        """That of the record in a file, which is read if it has changed; None if the file is not a record."""
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
                f"cannot write the record {path}: {error.strerror or error}; the record is absent, what was stored "
                "before is kept (store=… chooses another folder)"
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
