"""A table as the files that are published."""

from __future__ import annotations

from pathlib import Path

from boostrun.report import latex, markdown
from boostrun.report.paired import write_bytes
from boostrun.report.table import ResultTable


def write(table: ResultTable, folder: Path | str) -> list[Path]:
    """Put table.md, table.csv and table.tex into `folder`.

    Each file is written under a temporary name and renamed. The bytes depend on the records' values of the table's
    metric only, not on their order, their times or the machine.

    Raises
    ------
    BoostrunError
        The folder cannot be written.
    """
    folder = Path(folder)
    contents = {"table.md": markdown.render(table), "table.csv": table.csv(), "table.tex": latex.render(table)}
    return [write_bytes(folder / name, _bytes(content)) for name, content in contents.items()]


def _bytes(content: str) -> bytes:
    """A text as UTF-8; names of files may hold what is none."""
    return content.encode("utf-8", "backslashreplace")
