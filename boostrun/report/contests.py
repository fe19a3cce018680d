"""Which methods of a table compete over which data sets, or else over which seeds, and how they rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from boostrun.report.comparison import Comparison
from boostrun.report.formats import metric_name
from boostrun.report.ranks import LEAST_BLOCKS, LEAST_METHODS, Ranks, rank_methods
from boostrun.report.statistics import LEAST_PAIRS
from boostrun.report.table import ResultTable


class Contest(NamedTuple):
    """Ranks of the methods that compete in one place of a table; ``over`` says what a block is, ``dataset`` which one
    its seeds are of."""

    title: str
    over: str
    ranks: Ranks
    dataset: str = ""


def contests(table: ResultTable) -> tuple[list[Contest], str]:
    """The contests of a table, and a sentence on the places where there are too few data sets for one over them.

    Methods of one setting and metric compete where the columns other than ``dataset`` agree: over the data sets in
    which all of them have a figure, when there are five or more; else over the seeds that all have in one column, when
    there are six or more, which speaks of that data set alone. Places with fewer than three methods hold no contest.
    """
    level = table.spec.columns.index("dataset") if "dataset" in table.spec.columns else None
    places: dict[tuple, dict[str, dict[str, Comparison]]] = {}
    for cell in table.cells:
        if cell.n:
            others = tuple(label for number, label in enumerate(cell.column) if number != level)
            data = "" if level is None else cell.column[level]
            places.setdefault((cell.metric, cell.setting, others), {}).setdefault(cell.row, {})[data] = cell
    found, few = [], []
    for (metric, setting, others), methods in places.items():
        if len(methods) < LEAST_METHODS:
            continue
        title = " ".join(filter(None, [*_besides(metric, others), setting and f"({setting})"]))
        shared = _shared(list(methods.values()))
        higher = table.spec.higher(metric)
        if len(shared) >= LEAST_BLOCKS:
            means = {method: [cells[data].mean for data in shared] for method, cells in methods.items()}
            found.append(Contest(title, f"{len(shared)} data sets: {', '.join(shared)}", rank_methods(means, higher)))
            continue
        if level is not None:
            few.append(f"{title}: {len(shared)}")
        for data in dict.fromkeys(data for cells in methods.values() for data in cells):
            here = {method: cells[data].values for method, cells in methods.items() if data in cells}
            seeds = _shared(list(here.values()))
            if len(here) >= LEAST_METHODS and len(seeds) >= LEAST_PAIRS:
                trials = {method: [values[seed] for seed in seeds] for method, values in here.items()}
                name = " ".join(filter(None, (data, title)))
                found.append(Contest(name, f"{len(seeds)} seeds", rank_methods(trials, higher), data))
    needed = f"Ranks over data sets need {LEAST_BLOCKS} or more in which every method has a figure; there are fewer"
    return found, f"{needed} ({', '.join(few)})." if few else ""


def _besides(metric: str, others: Sequence[str]) -> list[str]:
    """What the columns say, with the metric first where they do not name it."""
    name = metric_name(metric)
    return list(others) if name in others else [name, *others]


def _shared(columns: Sequence[Mapping]) -> list:
    """The keys that all mappings have, in the order of the first."""
    return [key for key in columns[0] if all(key in column for column in columns)]
