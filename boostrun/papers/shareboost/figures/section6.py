"""Section 6: what the mathematics say beside what the code finds, as a table of checks."""

from __future__ import annotations

from pathlib import Path

from boostrun.papers.shareboost.section6 import checks
from boostrun.report.paired import write_checks


def draw_section6(folder: Path, data_root: Path) -> str:
    """Write table.md and table.csv into ``folder``; returns what to tell, first the checks that are not met.

    Raises BoostrunError when the folder cannot be written.
    """
    found = list(checks())
    missed = [check for check in found if not check.met]
    written = write_checks("ShareBoost, Section 6: exact checks", found, folder)  # type: ignore[arg-type]  # fields of a named tuple are read-only
    told = [f"not met: example {c.example}, item {c.item}: {c.what}: {c.found}, not {c.expected}" for c in missed]
    told.append(f"{len(missed)} of {len(found)} checks not met" if missed else f"all {len(found)} checks are met")
    return "\n".join([*told, "", written])
