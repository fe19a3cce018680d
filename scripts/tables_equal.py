"""Check that the published tables follow from the published records, byte for byte.

    python scripts/tables_equal.py [PAPER/ITEM ...]

Builds the table of each item again from the records in ``results/``, with the overrides in its footer, and compares it
with the published ``table.md``. It runs no trial and writes only to a temporary folder. Lines that differ are printed,
and the exit code is 1 if there are any.

Some figures are computed without records and depend on the machine. There, a value may be missing if its data set is
missing, the last digit may differ, and figures that depend on where an iterative solver stops may differ by a tenth.
The numbered reasons for missing values are not compared.

``scripts/equivalent.py`` changes which trials count as run by older code. If only the footer's line about them differs,
``--write`` writes the files of the table again.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.report.layout import write
from boostrun.report.markup import SAMPLED, write_bytes
from boostrun.report.table import build
from boostrun.runner import paper
from boostrun.runner.paper import draw
from boostrun.runner.plan import open_store, plan

_LAST_DIGIT = 2e-5
_BY_SOLVER = {"shareboost/bound": 0.1}  # relative difference that is allowed


def made(name: str, folder: Path) -> str:
    """Write an item's table or figure to a folder; returns the table as Markdown, empty if there is none."""
    if drawing := paper.drawing(name):
        draw(drawing, folder / name, Path(os.environ.get("BOOSTRUN_DATA", "datasets")))
    else:
        item, _ = paper.load_published(name, "results", [f"store={folder / 'runs'}"])
        write(build(item.spec, item.entries(plan(item.settings, open_store(item.settings[0])))), folder / name)
    table = folder / name / "table.md"
    return table.read_text(encoding="utf-8") if table.is_file() else ""


def same(published: str, now: str, computed: bool, share: float = 0.0) -> bool:
    """Whether two tables are equal; if ``computed``, figures may differ as described above, by ``share`` of them."""
    first, second = without(published, r"\[\d+\]"), without(now, r"\[\d+\]")
    if first == second or not computed:
        return first == second
    pairs = list(zip(first.split(), second.split()))
    return len(first.split()) == len(second.split()) and all(
        b in (a, "—") or set(a) | set(b) <= {"-"} or _close(a, b, share) for a, b in pairs
    )


def without(table: str, sign: str) -> str:
    """A table without the lines of its footer that begin with ``sign``, a pattern, and without numbers of reasons."""
    return re.sub(r"\[\d+\]", "[]", re.sub(rf"^- {sign} .*\n", "", table, flags=re.MULTILINE))


def _close(one: str, other: str, share: float) -> bool:
    try:
        return abs(float(one) - float(other)) <= max(_LAST_DIGIT, share * abs(float(one)))
    except ValueError:
        return False


def main(words: Sequence[str] | None = None) -> int:
    """Compare the tables that a command line names, by default of this process; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PAPER/ITEM", help="items to check (default: all)")
    parser.add_argument("--write", action="store_true", help="update the line about older code")
    asked = parser.parse_args(words)
    names = asked.names
    if unknown := set(names) - set(catalogue.options("paper")):
        parser.error(f"no paper item {', '.join(sorted(unknown))} (boostrun ls paper)")
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names or sorted(catalogue.options("paper")):
            path = Path("results", name, "table.md")
            published = path.read_text(encoding="utf-8") if path.is_file() else ""
            try:
                now = made(name, Path(folder)) if published or paper.drawing(name) else ""
            except BoostrunError as error:
                now = f"{error}\n"
            equal = same(published, now, bool(paper.drawing(name)), _BY_SOLVER.get(name, 0.0))
            told = "" if published == now else ", except for figures that depend on the machine" if equal else ""
            if asked.write and not equal and without(published, SAMPLED) == without(now, SAMPLED):
                for file in ("table.md", "table.csv", "table.tex"):
                    write_bytes(path.with_name(file), Path(folder, name, file).read_bytes())
                equal, told = True, ", with its line about older code updated"
            print(
                f"{'same     ' if equal else 'DIFFERENT'} {name}{told}{'' if published else ' (no table)'}", flush=True
            )
            if not equal:
                different += 1
                lines = difflib.unified_diff(
                    published.splitlines(), now.splitlines(), "published", "now", n=0, lineterm=""
                )
                print("\n".join(f"    {line[:150]}" for line, _ in zip(lines, range(12))))
    print(f"{different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
