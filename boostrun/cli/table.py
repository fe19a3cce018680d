"""``boostrun table PAPER/ITEM [--draw] [--strict]``: a table from stored records alone, and its pictures."""

from __future__ import annotations

import sys
from pathlib import Path

from boostrun.cli import frontier
from boostrun.cli.arguments import Arguments
from boostrun.cli.items import item_name
from boostrun.config.words import words_of_places
from boostrun.errors import BoostrunError
from boostrun.report import build
from boostrun.report.layout import render_text
from boostrun.runner import paper
from boostrun.runner.compose import compose_one
from boostrun.runner.plan import open_store, plan, roots


def main(words: Arguments) -> int:
    """Print the table as it is published; with ``--strict`` the exit code is 1 when a cell is missing or incomplete.

    Settings that are typed count in place of those it is published with. With ``--draw`` its pictures are drawn into
    its folder below results/, or into the folder that ``-o`` names. ``frontier/NAME`` is a stored frontier.
    """
    name = item_name(words)
    if words.output is not None and "draw" not in words.flags:
        raise BoostrunError("-o names the folder of pictures: add --draw")
    if name.startswith(frontier.ROOM):
        return frontier.show(words)
    if "draw" in words.flags and (drawing := paper.drawing(name, words.config_dir)):
        settings = compose_one(words.overrides, words.config_dir)
        folder = Path(words.output or Path(settings.root["results"]) / name)
        print(paper.draw(drawing, folder, roots(settings)[0]))
        return 0
    if "quick" in words.flags:
        item = paper.load(name, words.overrides, True, words.config_dir)
    else:
        results = compose_one(words_of_places(words.overrides), words.config_dir).root["results"]
        item, _ = paper.load_published(name, results, words.overrides, words.config_dir)
    cells = plan(item.settings, open_store(item.settings[0]))
    entries = item.entries(cells)
    table = build(item.spec, entries)
    print(render_text(table))
    if "draw" in words.flags:
        folder = Path(words.output or item.folder())
        drawn, told = item.draw(cells, entries, table, folder)
        names = ", ".join(path.name for path in drawn)
        print("\n".join(["", *told, f"written: {folder}/{names}" if drawn else "there is nothing to draw"]))
    if "strict" in words.flags and table.missing:
        print(f"boostrun: {len(table.missing)} cells are missing or incomplete", file=sys.stderr)
        return 1
    return 0
