"""The pictures beside the table of a run: dots with intervals, curves, and what was taken for what."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from boostrun.report import Entry, TableSpec, build
from boostrun.report.curve_figures import too_many
from boostrun.report.curves import MOST_LINES
from boostrun.report.pictures import write_both, write_pictures
from boostrun.runner.naming import PARTS, telling
from boostrun.runner.own import told_apart
from boostrun.runner.plan import PlannedCell

METRIC = "test_accuracy_pct"


def placed(cells: Sequence[PlannedCell], entries: Sequence[Entry]) -> list[Entry]:
    """The entries of a run by two column levels: the data set, with its features where several were run, and the keys
    in which cells that have them differ."""
    keys = telling(cells)
    several = len({each["features"] for each in keys}) > 1
    values: dict[str, set[str]] = {}
    for each in keys:
        for key, value in each.items():
            values.setdefault(key, set()).add(value)
    found = []
    for each, entry in zip(keys, entries):
        panel = [each["dataset"], *([each["features"]] if several else [])]
        rest = [f"{key}={value}" for key, value in each.items() if key not in PARTS and len(values[key]) > 1]
        found.append(dataclasses.replace(entry, column=(" ".join(panel), " ".join(rest))))
    return told_apart(found)


def table_of(title: str, entries: Sequence[Entry]):
    """The table that the dots show; ``entries`` are :func:`placed`."""
    spec = TableSpec(title=title, paper="", table="", metric=METRIC, higher_is_better=True, columns=("data", "cell"))
    return build(spec, [dataclasses.replace(entry, where={}) for entry in entries])


def draw(folder: Path, title: str, cells: Sequence[PlannedCell], entries: Sequence[Entry]) -> str:
    """Draw what the records of a run can show, as PNG and SVG in ``folder``; returns a line about it."""
    here = placed(cells, entries)
    drawn = write_pictures(folder, table_of(title, here), here, here, [METRIC], vectors=True)
    if cells[0].settings.run["predictions"]:
        drawn += _confusions(folder, cells, here)
    told = ", ".join(dict.fromkeys(path.stem for path in drawn))
    more = f"; no curves: more than {MOST_LINES} lines cannot be told apart" if too_many(here) else ""
    return f"pictures: {told} (.png and .svg){more}"


def _confusions(folder: Path, cells: Sequence[PlannedCell], entries: Sequence[Entry]) -> list[Path]:
    """A picture of each data set's classes, all trials of a cell together."""
    from boostrun.report.confusion import Confusion, draw_classes, draw_confusion
    from boostrun.runner import predictions

    kept = predictions.folder_of(cells[0].settings)
    sets: dict[tuple, list[Confusion]] = {}
    for cell, entry in zip(cells, entries):
        by_classes: dict[tuple[str, ...], list] = {}
        for one in predictions.read(kept, [record["key"] for record in cell.done]):
            by_classes.setdefault(one.classes, []).append(one.confusion)
        for classes, counts in by_classes.items():
            name = " ".join(filter(None, (entry.row, *entry.column[1:])))
            sets.setdefault((entry.column[0], classes), []).append(Confusion(name, sum(counts), len(counts)))
    found: list[Path] = []
    for number, ((name, classes), parts) in enumerate(sets.items()):
        end = f"_{number + 1}" if len(sets) > 1 else ""
        found += write_both(draw_confusion(parts, classes, name), folder / f"confusion{end}")
        found += write_both(draw_classes(parts, classes, name), folder / f"classes{end}")
    return found
