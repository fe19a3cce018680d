"""Packed records: files that hold many records, ``records.parquet`` below a folder of results.

Planning reads a few columns of all records at once. A whole record is read when it is needed, each series of its curve
when it is used. :mod:`boostrun.store.parquet` defines the format. Files of an earlier format, ``records.jsonl.gz``,
are read as a whole.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from boostrun.errors import BoostrunError
from boostrun.files import write_whole
from boostrun.store import record as schema
from boostrun.store.cell import json_text

NAME = "records.parquet"
OLD_NAME = "records.jsonl.gz"
_LARGEST_OLD = 1 << 30  # unpacked bytes of an old file: a few kB of gzip could unpack to more than fits in memory


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
    return sorted(path for path in Path(folder).rglob("records.*") if path.name in (NAME, OLD_NAME))


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
    write_pack(path, parquet_of([table_of(rows[start : start + LARGEST_GROUP]) for start in starts]))


def write_pack(path: Path, content: bytes) -> None:
    """Write the bytes of a packed file; BoostrunError if that fails."""
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

    Returns the file, or None if there is nothing to pack. Raises BoostrunError if it cannot be written.
    """
    from boostrun.store.parquet import has_its_keys

    ours = [folder / NAME, folder / OLD_NAME]
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
    if kept:
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
