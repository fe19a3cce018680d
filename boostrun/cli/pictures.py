"""The pictures beside the table of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boostrun.report.entry import MOST_LINES, Entry, too_many, without_curves
from boostrun.report.figures import NO_EXTRAS, draw_once, drawing_digest, figures_of
from boostrun.report.markup import lower_is_better
from boostrun.report.table import TableSpec, build
from boostrun.runner.naming import dataset_names, distinctions, flat, numbered
from boostrun.runner.plan import PlannedCell

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def placed(cells: Sequence[PlannedCell], entries: Sequence[Entry]) -> list[Entry]:
    """The entries of a run with two column levels: the data set, with its features if several were run, and the other
    settings that differ between cells."""
    keys = distinctions(cells)
    several = len({one["features"] for one in keys}) > 1
    values: dict[str, set[tuple[str, str]]] = {}
    for one, entry in zip(keys, entries):
        for key in one.keys() - {"dataset", "features"}:
            values.setdefault(key, set()).add((entry.row, one[key]))
    # a key that one method alone has, or in which no method differs from itself, tells nothing beside its name
    told = {key for key, pairs in values.items() if len(pairs) > len({row for row, _ in pairs})}
    found, names = [], dataset_names([flat(cell.cell.config()) for cell in cells])
    for one, entry, name in zip(keys, entries, names):
        panel = " ".join([name, *([one["features"]] if several else [])])
        rest = " ".join(f"{key}={value}" for key, value in one.items() if key in told)
        found.append(dataclasses.replace(entry, column=(panel, rest)))
    return numbered(found)


def table_of(title: str, entries: Sequence[Entry], metric: str):
    """The table that the dots show; ``entries`` are :func:`placed`."""
    spec = TableSpec(title=title, paper="", table="", metric=metric, higher_is_better=not lower_is_better(metric),
                     columns=("data", "cell"))  # fmt: skip
    return build(spec, [dataclasses.replace(entry, where={}) for entry in entries])


def draw(
    folder: Path, title: str, cells: Sequence[PlannedCell], entries: Sequence[Entry], metrics: Sequence[str]
) -> str:
    """Draw what the records of a run can show, as PNG and SVG in ``folder``; returns a line about it.

    The dots show the first of ``metrics``, and each has its curves if records have them after several rounds.
    Pictures that were drawn there from the same records stay as they are.
    """
    here = placed(cells, entries)
    predictions = cells[0].settings.run["predictions"]
    digest = drawing_digest((title, predictions), here, here, metrics, NO_EXTRAS)

    def figures() -> dict[str, Figure]:
        found = figures_of(table_of(title, here, metrics[0]), here, here, metrics)
        return found | (_confusions(cells, here) if predictions else {})

    drawn = draw_once(folder, digest, figures, vectors=True)
    told = ", ".join(dict.fromkeys(path.stem for path in drawn))
    more = f"; no curves: more than {MOST_LINES} lines are hard to distinguish" if too_many(here) else ""
    if line := without_curves(here, metrics):
        more += f"; {line}"
    return f"pictures: {told} (.png and .svg){more}"


def _confusions(cells: Sequence[PlannedCell], entries: Sequence[Entry]) -> dict[str, Figure]:
    """Pictures of each data set's classes, and of probabilities, all trials of a cell together."""
    from boostrun.evaluation.measures import together
    from boostrun.report.confusion import Confusion, Reliability, draw_classes, draw_confusion, draw_reliability
    from boostrun.runner import predictions

    kept, rows = predictions.folder_of(cells[0].settings), list(dict.fromkeys(entry.row for entry in entries))
    sets: dict[tuple, list[Confusion]] = {}
    sure: dict[tuple, list[Reliability]] = {}
    for cell, entry in zip(cells, entries):
        by_classes: dict[tuple[str, ...], list] = {}
        for one in predictions.read(kept, [record["key"] for record in cell.done]):
            by_classes.setdefault(one.classes, []).append(one)
        for classes, trials in by_classes.items():
            name, counts = " ".join(filter(None, (entry.row, *entry.column[1:]))), sum(one.confusion for one in trials)
            place = (entry.column[0], classes)
            sets.setdefault(place, []).append(Confusion(name, counts, len(trials), entry.row))
            if measured := [one.calibration for one in trials if one.calibration is not None]:
                sure.setdefault(place, []).append(Reliability(entry, together(measured)))
    found: dict[str, Figure] = {}
    for number, (place, parts) in enumerate(sets.items()):
        name, classes = place
        end = f"_{number + 1}" if len(sets) > 1 else ""
        found[f"confusion{end}"] = draw_confusion(parts, classes, name)
        found[f"classes{end}"] = draw_classes(parts, classes, name, rows)
        if place in sure and (reliability := draw_reliability(sure[place], name, rows)) is not None:
            found[f"reliability{end}"] = reliability
    return found
