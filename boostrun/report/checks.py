"""A table of checks: what was expected, what was found, met or not."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from boostrun.report.files import write_bytes
from boostrun.report.markdown import pipe_table


class Checked(Protocol):
    """One check: where it belongs, what is looked at, what should come out and what did."""

    example: int
    item: int
    what: str
    expected: str
    found: str
    met: bool


def write_checks(title: str, checks: Sequence[Checked], folder: Path | str) -> list[Path]:
    """Put table.md and table.csv into ``folder``; BoostrunError when it cannot be written."""
    head = ["example", "item", "check", "expected", "found", "met"]
    rows = [[str(c.example), str(c.item), c.what, c.expected, c.found, "yes" if c.met else "not met"] for c in checks]
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([head, *rows])
    told = f"{sum(check.met for check in checks)} of {len(checks)} checks are met."
    text = f"# {title}\n\n{pipe_table([head, *rows], numbers=(3, 4))}\n\n{told}\n"
    contents = {"table.md": text, "table.csv": lines.getvalue()}
    return [write_bytes(Path(folder) / name, content.encode()) for name, content in contents.items()]
