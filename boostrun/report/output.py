"""A table as the files that are published."""

from __future__ import annotations

import contextlib
import gzip
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from boostrun.report import latex, markdown
from boostrun.report.entry import canonical
from boostrun.report.files import write_bytes
from boostrun.report.table import ResultTable


def write(table: ResultTable, folder: Path | str, records: Iterable[Mapping] | None = None) -> list[Path]:
    """Put table.md, table.csv and table.tex into `folder`, and records.jsonl.gz when `records` are given.

    Each file is written under a temporary name and renamed. The bytes of the tables depend on the records' values of
    the table's metric only, not on their order, their times or the machine; those of the packed records on the records
    themselves, in the order of their keys.

    Raises
    ------
    BoostrunError
        The folder cannot be written.
    """
    folder = Path(folder)
    contents = {"table.md": markdown.render(table), "table.csv": table.csv(), "table.tex": latex.render(table)}
    paths = [write_bytes(folder / name, _bytes(content)) for name, content in contents.items()]
    if records is not None:
        paths.append(write_records(folder, records))
    return paths


def write_records(folder: Path, records: Iterable[Mapping]) -> Path:
    """Pack records into ``records.jsonl.gz`` of a folder; BoostrunError when it cannot be written."""
    path = folder / "records.jsonl.gz"
    lines = sorted({(str(record.get("key")), canonical(record)) for record in records})
    packed = gzip.compress(_bytes("".join(f"{line}\n" for _, line in lines)), mtime=0)
    _keep_damaged(path)
    return write_bytes(path, packed)


def _bytes(content: str) -> bytes:
    """A text as UTF-8; names of files may hold what is none."""
    return content.encode("utf-8", "backslashreplace")


def _keep_damaged(path: Path) -> None:
    """A file of packed records that is cut or corrupt is renamed, not lost: some of what it holds may be saved."""
    try:
        with gzip.open(path) as there:
            while there.read(1 << 20):
                pass
    except FileNotFoundError:
        return
    except (OSError, EOFError, zlib.error):
        with contextlib.suppress(OSError):
            os.replace(path, f"{path}.corrupt")
