"""Which reader a file of a table needs, and the readers of Arrow and Excel files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from boostrun.data.arff import ArffTable
from boostrun.data.files import reading
from boostrun.data.parquet import ParquetPieces, names_in, unlike
from boostrun.data.table import TableSource
from boostrun.data.text import TextTable
from boostrun.errors import BoostrunError

PARQUET = (".parquet", ".parq", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")


def source_of(
    where: str, path: Path | None, options: Mapping[str, Any], memory_mb: int = 1024, scratch: Path | None = None,
    wanted: Collection[str] = (),
) -> TableSource:  # fmt: skip
    """The table in a file, by the ending of its name; None is standard input, a table of text.

    ``options`` may hold the keys of :class:`boostrun.data.keys.TableDatasetKeys`; ``wanted`` are names of columns that
    help to recognise a line of names. Raises BoostrunError if the table is empty or cannot be read.
    """
    ending = path.suffix.lower() if path is not None else ""
    if path is not None and ending in PARQUET:
        return ParquetPieces(path, memory_mb, scratch)
    if path is not None and ending in ARROW:
        return ArrowTable(path)
    if path is not None and ending in EXCEL:
        return ExcelTable(path, options.get("header"))
    if path is not None and path.name.lower().endswith((".arff", ".arff.gz")):
        return ArffTable(path, memory_mb)
    return TextTable(where, path, options, memory_mb, wanted)


class ArrowTable:
    """An Arrow file (Feather) or stream; see :class:`boostrun.data.table.TableSource`."""

    def __init__(self, path: Path):
        self.where, self._path = str(path), path
        with reading(path, "an Arrow file"):
            self.names = names_in(self._opened().schema, str(path))

    def pieces(self, numbers: Collection[str] = (), missing: Collection[str] = ()) -> Iterator[Any]:
        """Arrow tables of consecutive rows, columns in their own types."""
        import pyarrow as pa

        with reading(self._path, "an Arrow file"):
            reader = self._opened()
            in_file = isinstance(reader, pa.ipc.RecordBatchFileReader)
            batches = map(reader.get_batch, range(reader.num_record_batches)) if in_file else reader
            for batch in batches:
                yield pa.Table.from_batches([batch]).select(list(self.names))

    def _opened(self) -> Any:
        import pyarrow as pa

        source = pa.memory_map(str(self._path))
        try:
            return pa.ipc.open_file(source)
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source)


class ExcelTable:
    """The first sheet of an Excel file, held as a whole; see :class:`boostrun.data.table.TableSource`."""

    def __init__(self, path: Path, header: bool | None = None):
        import pandas

        self.where = str(path)
        try:
            with reading(path, "an Excel file"):
                frame = pandas.read_excel(path, dtype=object, header=None, keep_default_na=False, na_values=[""])
        except BoostrunError as error:
            if isinstance(error.__cause__, ImportError):
                package = "openpyxl" if path.suffix.lower() in (".xlsx", ".xlsm") else "xlrd or odfpy"
                raise BoostrunError(f"{path}: an Excel file needs {package}: pip install {package}") from None
            raise
        first = frame.iloc[0] if len(frame) else []
        names = [f"Unnamed: {place}" if pandas.isna(name) else str(name).strip() for place, name in enumerate(first)]
        if header is False:
            names = [str(place) for place in range(len(names))]
        self.names = unlike(names, str(path))
        self._table = _arrow(frame.iloc[0 if header is False else 1 :], names)

    def pieces(self, numbers: Collection[str] = (), missing: Collection[str] = ()) -> Iterator[Any]:
        """One Arrow table: numbers, truth values and dates as in the sheet, other columns as text."""
        yield self._table


def _arrow(frame: Any, names: list[str]) -> Any:
    import pandas
    import pyarrow as pa

    columns = []
    for place in range(len(names)):
        column = frame.iloc[:, place].infer_objects()
        if column.dtype == object:
            kinds = {type(value) for value in column.dropna()}
            if not kinds <= {bool} and not all(issubclass(kind, pandas.Timestamp) for kind in kinds):
                column = column.map(_cell, na_action="ignore").astype(object)
        columns.append(pa.array(column, from_pandas=True))
    return pa.table(columns, names)


def _cell(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value == value // 1 else str(value)
