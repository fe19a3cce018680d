"""Whether the published tables come out of the published records byte for byte: ``python scripts/tables_equal.py``.

Each item of a paper is built anew from ``results/`` with the overrides it was published with (its footer tells them)
and compared with the ``table.md`` there; nothing is run, and nothing is written outside a temporary folder. Names of
items as arguments narrow it. The exit code is 1 when a table differs; the lines that differ are shown.

Three things are the machine's and are let pass: which data are not at hand (the numbered reasons, and dashes in tables
that are computed anew instead of read from records), the last digit of such tables, and a tenth of a figure where the
end of an iterative solver decides it, which differs between processors. Where nothing but the footer's line about
trials by older code differs, as it does after ``scripts/equivalent.py``, ``--write`` writes the table's files anew.
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
from boostrun.report import build, write
from boostrun.report.markup import SAMPLED, write_bytes
from boostrun.runner import paper
from boostrun.runner.paper import draw
from boostrun.runner.plan import open_store, plan

_LAST_DIGIT = 2e-5
_BY_SOLVER = {"shareboost/bound": 0.1}  # share of a figure


def made(name: str, folder: Path) -> str:
    """What is published of an item, in a temporary folder: its table as Markdown, empty for a figure without one."""
    if drawing := paper.drawing(name):
        draw(drawing, folder / name, Path(os.environ.get("BOOSTRUN_DATA", "datasets")))
    else:
        item, _ = paper.load_published(name, "results", [f"store={folder / 'runs'}"])
        write(build(item.spec, item.entries(plan(item.settings, open_store(item.settings[0])))), folder / name)
    table = folder / name / "table.md"
    return table.read_text(encoding="utf-8") if table.is_file() else ""


def same(published: str, now: str, computed: bool, share: float = 0.0) -> bool:
    """Whether two tables are equal, apart from what is the machine's; figures may differ by a share of them."""
    first, second = without(published, r"\[\d+\]"), without(now, r"\[\d+\]")
    if first == second or not computed:
        return first == second
    pairs = list(zip(first.split(), second.split()))
    return len(first.split()) == len(second.split()) and all(
        b in (a, "—") or set(a) | set(b) <= {"-"} or _close(a, b, share) for a, b in pairs
    )


def without(table: str, sign: str) -> str:
    """A table without the lines of its footer that begin with a sign, a pattern; numbers of reasons are left out."""
    return re.sub(r"\[\d+\]", "[]", re.sub(rf"^- {sign} .*\n", "", table, flags=re.MULTILINE))


def _close(one: str, other: str, share: float) -> bool:
    try:
        return abs(float(one) - float(other)) <= max(_LAST_DIGIT, share * abs(float(one)))
    except ValueError:
        return False


def main(words: Sequence[str] | None = None) -> int:
    """Compare the tables that the command line names, that of this process by default; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PAPER/ITEM", help="all items if left out")
    parser.add_argument("--write", action="store_true", help="bring the line about older code up to date")
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
            told = "" if published == now else ", but for what is the machine's" if equal else ""
            if asked.write and not equal and without(published, SAMPLED) == without(now, SAMPLED):
                for file in ("table.md", "table.csv", "table.tex"):
                    write_bytes(path.with_name(file), Path(folder, name, file).read_bytes())
                equal, told = True, ", its line about older code written anew"
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
