"""A table of checks: what was expected, what was found, met or not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from boostrun.report.text_table import write_text_table


class Checked(Protocol):
    """One check: where it belongs, what is looked at, what should come out and what did."""

    example: int
    item: int
    what: str
    expected: str
    found: str
    met: bool


def write_checks(title: str, checks: Sequence[Checked], folder: Path | str) -> str:
    """Put table.md and table.csv into ``folder``, and return where; BoostrunError when it cannot be written."""
    head = ["example", "item", "check", "expected", "found", "met"]
    rows = [[str(c.example), str(c.item), c.what, c.expected, c.found, "yes" if c.met else "not met"] for c in checks]
    told = f"{sum(check.met for check in checks)} of {len(checks)} checks are met."
    return write_text_table(title, [head, *rows], told, folder, numbers=(3, 4)).splitlines()[-1]
