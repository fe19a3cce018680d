"""Tables of text and Parquet files, some rows at a time."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from boostrun.data.csv import has_names
from boostrun.data.files import reading
from boostrun.errors import BoostrunError
from boostrun.methods.preparation import RawTable

# what stands for a missing value in text, as pandas has it when it is asked nothing
_MISSING = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
]  # fmt: skip
_GIVEN = "standard input"
_BUFFER = 1 << 16  # bytes of each column of a Parquet file that are read ahead


class Opened(Protocol):
    """A table: ``where`` names it in messages, ``names`` are those of its columns, ``named`` whether it has any."""

    where: str
    names: list[str]
    named: bool

    def frames(self, table: RawTable, rows: int) -> Iterator[Any]:
        """pandas frames of at most ``rows`` rows; text stays as it stands in columns of text and in those unknown."""


def opened(path: str, place: Path, table: RawTable | None) -> Opened:
    """The table at ``place``, or on standard input where ``path`` is "-".

    What the model's ``table`` calls its columns tells a line of names from one of values. Raises BoostrunError where
    it is empty or cannot be read.
    """
    if path != "-" and place.suffix.lower() in (".parquet", ".pq"):
        return _Parquet(path, place)
    return _Text(_GIVEN if path == "-" else path, None if path == "-" else place, table)


class _Text:
    """Comma, semicolon, tab or blanks between columns, with or without a line of names; .gz is unpacked."""

    def __init__(self, where: str, place: Path | None, table: RawTable | None):
        self.where, self._place = where, place
        self._head = b""  # what is read of standard input to look at it
        with self._reading(), self._bytes() as stream:
            lines = self._first_lines(stream)
        if not lines:
            raise BoostrunError(f"{where} is empty; a table with one sample a row is expected")
        self._separator = next((mark for mark in (",", ";", "\t") if mark in lines[0]), None)
        cells = [[cell.strip(' "') for cell in line.strip().split(self._separator)] for line in lines]
        wanted = {name for name in table.columns if not name.isdigit()} if table is not None else set()
        self.named = bool(wanted & set(cells[0])) or has_names(*cells)
        with self._reading():
            first = self._read(io.BytesIO(lines[0].encode()), nrows=0 if self.named else 1)
        self._columns = list(first.columns)
        self.names = [str(column) for column in self._columns]

    def frames(self, table: RawTable, rows: int) -> Iterator[Any]:
        import pandas

        both = list(zip(self._columns, self.names))
        kinds = {column: str for column, name in both if name not in table.columns or name in table.categories}
        missing = {column: _MISSING for column, name in both if name in table.columns}
        with (
            self._reading(),
            self._bytes() as stream,
            closing(self._read(stream, chunksize=rows, dtype=kinds, na_values=missing, keep_default_na=False)) as found,
        ):
            for frame in found:
                if not isinstance(frame.index, pandas.RangeIndex):  # pandas takes surplus leading values for an index
                    raise BoostrunError(f"{self.where} has rows with more values than the first line has columns")
                if len(frame):
                    frame.columns = self.names
                    yield frame

    def _read(self, stream, **more):
        import pandas

        return pandas.read_csv(
            stream, sep=self._separator or r"\s+", header=0 if self.named else None, skipinitialspace=True,
            encoding="utf-8-sig", low_memory=False, **more,
        )  # fmt: skip

    def _first_lines(self, stream) -> list[str]:
        found: list[str] = []
        head = []
        while len(found) < 2 and (line := stream.readline()):
            head.append(line)
            text = line.decode("utf-8-sig")
            found += [text] if text.strip() else []
        if self._place is None:
            self._head = b"".join(head)
        return found

    def _reading(self):
        return reading(self._place or Path(self.where), "a table of text")

    @contextmanager
    def _bytes(self) -> Iterator[Any]:
        if self._place is None:
            stdin = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
            yield io.BufferedReader(_Joined(self._head, stdin), 1 << 18) if self._head else stdin
        elif self._place.suffix == ".gz":
            with gzip.open(self._place) as packed:
                yield packed
        else:
            with open(self._place, "rb") as file:
                yield file


class _Joined(io.RawIOBase):
    """Bytes that were read, and then the rest of a stream."""

    def __init__(self, head: bytes, rest):
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer) -> int:
        """Fill the first bytes of ``buffer``; returns how many."""
        content = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(content) :]
        buffer[: len(content)] = content
        return len(content)


class _Parquet:
    """A Parquet file."""

    named = True

    def __init__(self, where: str, place: Path):
        self.where, self._place = where, place
        with reading(place, "a Parquet file"), self._opened() as file:
            self.names = [str(name) for name in file.schema_arrow.empty_table().to_pandas().columns]
        if not self.names:
            raise BoostrunError(f"{where} has no columns")

    def frames(self, table: RawTable, rows: int) -> Iterator[Any]:
        import pyarrow

        with reading(self._place, "a Parquet file"), self._opened() as file:
            for batch in file.iter_batches(rows, use_threads=False):
                frame = pyarrow.Table.from_batches([batch]).to_pandas()
                frame.columns = self.names
                yield frame

    def _opened(self):
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError as error:
            raise BoostrunError(f"{self.where}: Parquet needs pyarrow: pip install pyarrow") from error
        return ParquetFile(self._place, buffer_size=_BUFFER, pre_buffer=False)
