"""A table of text that stands for itself: no trials, no marks."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from boostrun.report.files import write_bytes
from boostrun.report.markdown import pipe_table


def write_text_table(
    title: str, rows: Sequence[list[str]], told: str, folder: Path | str, numbers: Sequence[int] = ()
) -> str:
    """Put table.md and table.csv into ``folder``: the head, then the rows; ``told`` below; columns ``numbers`` to the
    right. Returns the page and where it is. Raises BoostrunError when the folder cannot be written.
    """
    page = f"# {title}\n\n{pipe_table(list(rows), numbers=tuple(numbers))}\n\n{told}\n"
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    for name, content in {"table.md": page, "table.csv": lines.getvalue()}.items():
        write_bytes(Path(folder) / name, content.encode())
    return f"{page}\nwritten: {folder}/table.md and table.csv"
