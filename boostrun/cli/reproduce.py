"""``boostrun reproduce PAPER/ITEM [overrides] [--quick]``: run what is missing of a table, then write it.

``frontier/NAME`` is a published frontier, which is made as ``boostrun frontier`` makes it.
"""

from __future__ import annotations

from pathlib import Path

from boostrun.cli import frontier
from boostrun.cli import frontier as published_frontier
from boostrun.cli.arguments import Arguments
from boostrun.cli.items import item_name
from boostrun.cli.run import same_places, tell_end
from boostrun.report import build, write
from boostrun.report.layout import render_text
from boostrun.report.table import write_differences
from boostrun.runner import paper
from boostrun.runner.compose import compose_one
from boostrun.runner.plan import roots
from boostrun.store.code import publish
from boostrun.store.packs import write_records


def main(words: Arguments) -> int:
    """Run the cells whose data are at hand, and write table.md, .csv, .tex, .png and the packed records.

    A figure without trials is drawn, with its numbers beside it where it has any.
    """
    from boostrun.runner.execute import run_cells

    name = item_name(words)
    if name.startswith(published_frontier.ROOM):
        return frontier.main(published_frontier.command_of(words))
    if drawing := paper.drawing(name, words.config_dir):
        settings = compose_one(words.overrides, words.config_dir)
        print(paper.draw(drawing, Path(settings.root["results"]) / name, roots(settings)[0]))
        return 0
    item = paper.load(name, words.overrides, "quick" in words.flags, words.config_dir)
    same_places(item.settings)
    result = run_cells(item.settings, command=["boostrun", *words.argv], skip_missing=True)
    entries = item.entries(result.cells)
    table = build(item.spec, entries)
    folder = item.folder()
    if not result.interrupted:  # written before anything is printed: a closed pipe must not cost the table
        records = [record for cell in result.cells for record in cell.best_records]
        write(table, folder)
        packed = write_records(folder, records, Path(item.settings[0].root["results"]))
        publish(Path(item.settings[0].root["results"]), Path(item.settings[0].root["store"]),
                {record["inputs"]["source"] for record in records})  # fmt: skip
        if item.differences_to:
            write_differences(table, item.differences_to, folder)
        drawn, told = item.draw(result.cells, entries, table, folder)
    print(render_text(table))
    if not result.interrupted:
        what = ".tex, .png, curves" if drawn else ".tex; there is nothing to draw"
        what += f" and {packed.name}" if packed and drawn else ""
        print("\n".join(["", *told, f"written: {folder}/table.md, .csv, {what}"]))
    return tell_end(result, words)
