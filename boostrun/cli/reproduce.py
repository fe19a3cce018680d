"""``boostrun reproduce | table PAPER/ITEM`` and ``boostrun claims``: the tables and claims of papers.

``reproduce`` runs the missing trials of a table and writes it; ``table`` prints it from stored records, and ``claims``
the verdicts on what the papers say. ``frontier/NAME`` is a published frontier.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from boostrun.cli import frontier
from boostrun.cli.arguments import Arguments
from boostrun.cli.run import check_shared, print_end
from boostrun.config import catalogue
from boostrun.config.words import words_of_places
from boostrun.errors import BoostrunError
from boostrun.report import build, write
from boostrun.report.layout import render_text
from boostrun.runner import paper
from boostrun.runner.plan import compose_one, open_store, plan, roots


def main(words: Arguments) -> int:
    """Run the cells whose data are present, and write table.md, .csv, .tex, .png and the packed records.

    A figure without trials is drawn, with its numbers if it has any.
    """
    name = item_name(words)
    if name.startswith(frontier.ROOM):
        return frontier.reproduce(words)
    if drawing := paper.drawing(name, words.config_dir):
        return _draw(drawing, name, words)
    from boostrun.report.table import write_differences
    from boostrun.runner.execute import run_cells
    from boostrun.store import write_records
    from boostrun.store.code import publish

    item = paper.load(name, words.overrides, "quick" in words.flags, words.config_dir)
    check_shared(item.settings)
    result = run_cells(item.settings, command=["boostrun", *words.argv], skip_missing=True)
    entries = item.entries(result.cells)
    table = build(item.spec, entries)
    folder, root = item.folder(), item.settings[0].root
    if not result.interrupted:  # written before anything is printed: a closed pipe must not cost the table
        records = [record for cell in result.cells for record in cell.best_records]
        write(table, folder)
        packed = write_records(folder, records, Path(root["results"]))
        publish(Path(root["results"]), Path(root["store"]), {record["inputs"]["source"] for record in records})
        if item.differences_to:
            write_differences(table, item.differences_to, folder)
        drawn, lines = item.draw(result.cells, entries, table, folder)
    print(render_text(table))
    if not result.interrupted:
        what = ".tex, .png, curves" if drawn else ".tex; there is nothing to draw"
        what += f" and {packed.name}" if packed and drawn else ""
        print("\n".join(["", *lines, f"written: {folder}/table.md, .csv, {what}"]))
    return print_end(result, words)


def item_name(words: Arguments) -> str:
    """The item that a verb names; BoostrunError if it names none."""
    if not words.names:
        example = next(iter(catalogue.options("paper")))
        raise BoostrunError(f"{words.verb} needs a paper's item, as in {example} (boostrun ls paper)")
    name = words.names[0]
    if name.startswith(frontier.ROOM) and words.verb not in ("reproduce", "table"):
        folder = f"results/frontiers/{name.removeprefix(frontier.ROOM)}"
        raise BoostrunError(f"{words.verb} takes papers' items; boostrun reproduce {name} makes {folder}/table.md")
    if words.verb in ("reproduce", "table") and catalogue.option("frontier", name, words.config_dir):
        raise BoostrunError(f"no paper item '{name}'; did you mean '{frontier.ROOM}{name}'? (boostrun ls frontier)")
    return name


def _draw(drawing: str, name: str, words: Arguments) -> int:
    """Draw an item without trials."""
    settings = compose_one(words.overrides, words.config_dir)
    folder = Path(words.output or Path(settings.root["results"]) / name)
    print(paper.draw(drawing, folder, roots(settings)[0]))
    return 0


def table(words: Arguments) -> int:
    """Print the table as it is published; with ``--strict`` the exit code is 1 if a cell is missing or incomplete.

    Typed settings replace those it was published with. With ``--draw`` its pictures are drawn into its folder below
    results/, or into the folder of ``-o``.
    """
    name = item_name(words)
    if words.output is not None and "draw" not in words.flags:
        raise BoostrunError("-o names the folder of pictures: add --draw")
    if name.startswith(frontier.ROOM):
        return frontier.show(words)
    if "draw" in words.flags and (drawing := paper.drawing(name, words.config_dir)):
        return _draw(drawing, name, words)
    if "quick" in words.flags:
        item = paper.load(name, words.overrides, True, words.config_dir)
    else:
        results = compose_one(words_of_places(words.overrides), words.config_dir).root["results"]
        item, _ = paper.load_published(name, results, words.overrides, words.config_dir)
    cells = plan(item.settings, open_store(item.settings[0]))
    entries = item.entries(cells)
    made = build(item.spec, entries)
    print(render_text(made))
    if "draw" in words.flags:
        folder = Path(words.output or item.folder())
        drawn, lines = item.draw(cells, entries, made, folder)
        names = ", ".join(path.name for path in drawn)
        print("\n".join(["", *lines, f"written: {folder}/{names}" if drawn else "there is nothing to draw"]))
    if "strict" in words.flags and made.missing:
        print(f"boostrun: {len(made.missing)} cells are missing or incomplete", file=sys.stderr)
        return 1
    return 0


def claims(words: Arguments) -> int:
    """Print the claims of papers with their verdicts, or write them as Markdown; BoostrunError for other words."""
    from boostrun.report import verdicts as texts
    from boostrun.report.markup import write_bytes
    from boostrun.runner.claims import verdicts

    places = words_of_places(words.overrides)
    keys = {place.partition("=")[0] for place in places}
    if odd := [word for word in words.overrides if word.partition("=")[0] not in keys]:
        raise BoostrunError(f"claims are decided by their items as they are published: {odd[0]} cannot be given")
    gc.disable()  # thousands of records stay in use: collecting garbage takes a sixth of the time
    try:
        found = verdicts(words.names, places, words.config_dir)
    finally:
        gc.enable()
    if words.output:
        titles = {name: one.title for name, one in catalogue.papers().items()}
        write_bytes(Path(words.output), texts.markdown(found, titles).encode("utf-8", "backslashreplace"))
        print(f"written: {words.output}")
    else:
        print(texts.terminal(found))
    return 0
