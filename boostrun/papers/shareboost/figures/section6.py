"""Section 6: what the mathematics say beside what the code finds, as a table of checks."""

from __future__ import annotations

from pathlib import Path

from boostrun.papers.shareboost import section6
from boostrun.report.paired import write_checks


def draw(folder: Path, data_root: Path) -> str:
    """Write table.md and table.csv into ``folder``; returns what to tell, first the checks that are not met.

    Raises BoostrunError when the folder cannot be written.
    """
    checks = list(section6.checks())
    missed = [check for check in checks if not check.met]
    written = write_checks("ShareBoost, Section 6: exact checks", checks, folder)  # type: ignore[arg-type]  # fields of a named tuple are read-only
    told = [f"not met: example {c.example}, item {c.item}: {c.what}: {c.found}, not {c.expected}" for c in missed]
    told.append(f"{len(missed)} of {len(checks)} checks not met" if missed else f"all {len(checks)} checks are met")
    return "\n".join([*told, "", written])
