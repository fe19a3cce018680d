"""``boostrun table PAPER/ITEM [--strict]``: a table from stored records alone."""

from __future__ import annotations

import sys

from boostrun.cli.arguments import Arguments
from boostrun.cli.reproduce import item_name
from boostrun.report import build, text
from boostrun.runner import paper
from boostrun.runner.plan import open_store, plan


def main(words: Arguments) -> int:
    """Print the table; with ``--strict`` the exit code is 1 when a cell is missing or incomplete."""
    item = paper.load(item_name(words), words.overrides, "quick" in words.flags, words.config_dir)
    table = build(item.spec, item.entries(plan(item.settings, open_store(item.settings[0]))))
    print(text.render(table))
    if "strict" in words.flags and table.missing:
        print(f"boostrun: {len(table.missing)} cells are missing or incomplete", file=sys.stderr)
        return 1
    return 0
