"""Files of packed records, ``records.parquet``: what planning asks is read at once, a record when it is asked for.

Of a record its curve is read later still, each series of it when somebody looks at it. How records stand in the file
says :mod:`boostrun.runner.parquet_pack`. A file ``records.jsonl.gz`` of earlier versions is read too, as a whole.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from boostrun.errors import BoostrunError
from boostrun.files import write_whole
from boostrun.runner import record as schema
from boostrun.runner.record import NotARecordError, set_aside

NAME = "records.parquet"
OLD_NAME = "records.jsonl.gz"
_LARGEST_OLD = 1 << 30  # bytes of records in one old file, which a few kB of gzip could exceed


class DamagedPackError(BoostrunError):
    """A file of packed records is cut or corrupt: which of its records are right cannot be known."""


class Known(NamedTuple):
    """What is asked of a record without reading it: whose trial it is, how it ended, what it cost."""

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
        """That of a record."""
        cell, cost = json.dumps(record["cell"], sort_keys=True, separators=(",", ":")), record["cost"]
        return cls(
            record["key"], record["cell_key"], record["seed"], record["status"], cell, cost.get("seconds"),
            cost.get("peak_memory_mb"),
        )  # fmt: skip


def like(cell: Mapping[str, Any]) -> str:
    """Names and budget of a cell, by which trials are alike in time and memory."""
    names = [cell[part]["name"] for part in ("algo", "dataset", "features")]
    return json.dumps([*names, sorted(cell["budget"].items())])


def packs_below(folder: Path) -> list[Path]:
    """The files of packed records anywhere below a folder, in a fixed order."""
    return sorted(path for path in Path(folder).rglob("records.*") if path.name in (NAME, OLD_NAME))


class Pack(Protocol):
    """One packed file that is open."""

    path: Path
    known: list[Known]
    """What is known of its records, in their order."""

    def check(self) -> None:
        """Raise DamagedPackError where the file is not what was written."""

    def read(self, row: int) -> dict[str, Any]:
        """The record at this place among those known; raises DamagedPackError."""


class Packs:
    """The records of packed files, by key; of several with one key the first that is done counts, else the last.

    Files that do not exist are skipped, a cut or corrupt one is set aside as a whole.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._packs: list[Pack] = []
        for path in paths:
            if path.exists():
                try:
                    self._packs.append(_open(path))
                except DamagedPackError:
                    schema.set_aside(path, "cut or corrupt")
        self._sort()

    def _sort(self) -> None:
        self.known: dict[str, Known] = {}
        """What the files hold, by key."""
        self._places: dict[str, tuple[Pack, int]] = {}
        for pack in self._packs:
            for row, known in enumerate(pack.known):
                before = self.known.get(known.key)
                if before is None or before.status != "done":
                    self.known[known.key], self._places[known.key] = known, (pack, row)

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of this key, its curve a mapping that is read when it is looked at; None where there is none."""
        while key in self._places:
            pack, row = self._places[key]
            try:
                return pack.read(row)
            except DamagedPackError:
                schema.set_aside(pack.path, "cut or corrupt")
                self._packs.remove(pack)
                self._sort()
        return None


def unpack(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a packed file, in its order; lines of an old one that are none are set aside.

    Raises
    ------
    DamagedPackError
        When the file is cut or corrupt; no record is given out before all are checked.
    BoostrunError
        When it is missing or cannot be read.
    """
    pack = _open(Path(path))
    for row in range(len(pack.known)):
        yield pack.read(row)


def pack(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write records to one file; the same records give the same bytes, in whichever order they come.

    Raises
    ------
    BoostrunError
        When one is not whole or the file cannot be written; an earlier file is then left as it was.
    """
    from boostrun.runner.parquet_pack import LARGEST_GROUP, parquet_of, table_of, text_of

    rows = sorted(records, key=lambda record: (text_of(record["cell"]), record["seed"], record["key"]))
    starts = range(0, len(rows), LARGEST_GROUP)
    write_pack(path, parquet_of([table_of(rows[start : start + LARGEST_GROUP]) for start in starts]))


def write_pack(path: Path, content: bytes) -> None:
    """Put the content of a packed file at its place; BoostrunError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise BoostrunError(f"cannot write {path}: {error.strerror or error}") from None


def keep_damaged(path: Path) -> None:
    """Rename a packed file that is cut or corrupt, for it is about to be replaced: some of it may be saved."""
    try:
        if path.exists():
            _open(path).check()
    except DamagedPackError:
        with contextlib.suppress(OSError):
            os.replace(path, f"{path}.corrupt")


def _open(path: Path) -> Pack:
    try:
        if path.suffix == ".gz":
            return _OldPack(path)
        from boostrun.runner.parquet_pack import ParquetPack

        return ParquetPack(path)
    except FileNotFoundError:
        raise BoostrunError(f"there is no packed file {path}") from None
    except OSError as error:
        raise BoostrunError(f"cannot read the packed records {path}: {error.strerror or error}") from None


class _OldPack:
    """A file of earlier versions: lines of JSON in gzip, all read at once; lines that are no record are set aside."""

    def __init__(self, path: Path) -> None:
        self.path, self._records = path, list[dict[str, Any]]()
        for number, line in enumerate(_lines(path), 1):
            try:
                self._records.append(schema.read(line))
            except NotARecordError as error:
                schema.set_aside(f"{path} line {number}", error)
        self.known = list(map(Known.of, self._records))

    def check(self) -> None:
        pass  # what was damaged has not been read

    def read(self, row: int) -> dict[str, Any]:
        return self._records[row]


def _lines(path: Path) -> list[bytes]:
    data = path.read_bytes()
    try:
        if not data:
            raise EOFError("the file is empty")  # gzip would take it for an archive of nothing
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            content = packed.read(_LARGEST_OLD + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DamagedPackError(f"the packed records {path} are cut or corrupt ({error})") from None
    if len(content) > _LARGEST_OLD:
        raise DamagedPackError(f"the packed records {path} are corrupt (more than {_LARGEST_OLD >> 30} GiB)")
    return content.splitlines()


def write_records(folder: Path, records: Iterable[Mapping[str, Any]], results: Path) -> Path | None:
    """Pack records into ``records.parquet`` of a folder but for those that are done in another file below ``results``.

    What is packed in the folder stays, unless one of the records has its cell and seed. A damaged file is renamed, one
    of an earlier version replaced, and one that would be empty removed. A record that has not the keys of its content
    is set aside.

    Returns the file, None where nothing is left to pack. Raises BoostrunError when it cannot be written.
    """
    from boostrun.runner.parquet_pack import has_its_keys

    mine = [folder / NAME, folder / OLD_NAME]
    for path in mine:
        keep_damaged(path)
    there = [record for path in mine if path.exists() for record in unpack(path)]
    found = {(record["cell_key"], record["seed"]): record for record in [*there, *records]}
    elsewhere = Packs(path for path in packs_below(results) if path not in mine).known
    left = [one for one in found.values() if one["key"] not in elsewhere or elsewhere[one["key"]].status != "done"]
    for odd in [one for one in left if not has_its_keys(one)]:
        set_aside(odd["key"], "it has not the keys of its content")
        left.remove(odd)
    if left:
        pack(left, mine[0])
    for path in mine[1 if left else 0 :]:
        path.unlink(missing_ok=True)
    return mine[0] if left else None
