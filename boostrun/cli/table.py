"""``boostrun table PAPER/ITEM [--strict]``: a table from stored records alone."""

from __future__ import annotations

import sys

from boostrun.cli.arguments import Arguments
from boostrun.cli.items import item_name
from boostrun.config.compose import compose_one, places_of
from boostrun.report import build, text
from boostrun.runner import paper
from boostrun.runner.plan import open_store, plan


def main(words: Arguments) -> int:
    """Print the table as it is published; with ``--strict`` the exit code is 1 when a cell is missing or incomplete.

    Settings that are typed count in place of those it is published with.
    """
    name = item_name(words)
    if "quick" in words.flags:
        item = paper.load(name, words.overrides, True, words.config_dir)
    else:
        bases: dict[object, object] = {}
        results = compose_one(places_of(words.overrides), words.config_dir, bases).root["results"]
        item, _ = paper.load_published(name, results, words.overrides, words.config_dir, bases)
    table = build(item.spec, item.entries(plan(item.settings, open_store(item.settings[0]))))
    print(text.render(table))
    if "strict" in words.flags and table.missing:
        print(f"boostrun: {len(table.missing)} cells are missing or incomplete", file=sys.stderr)
        return 1
    return 0
