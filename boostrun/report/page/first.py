"""The first screen of a page: how much is stored, how many claims hold, and what is best on each data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from boostrun.report.claims import Judged, text
from boostrun.report.comparison import Comparison
from boostrun.report.entry import Entry
from boostrun.report.formats import metric_name, spread
from boostrun.report.table import ResultTable

_ERROR, _ACCURACY = "test_error_pct", "test_accuracy_pct"
_PARTS_OF_DATA = {"holdout", "train_samples"}  # keys of cells that are not measured on, or trained on, the whole of it


class Best(NamedTuple):
    """The lowest mean test error that is stored of a data set: whose, how low, of how many trials, and where."""

    dataset: str
    method: str
    error: float
    std: float
    trials: int
    anchor: str
    title: str

    @property
    def told(self) -> str:
        """The error as a table has it."""
        return spread(self.error, self.std)


def best_of(
    table: ResultTable, entries: Sequence[Entry], anchor: str, title: str, names: Mapping[tuple, tuple[str, str]]
) -> list[Best]:
    """The best cell of each data set of a table: complete ones, trained and tested on all of the data.

    Cells whose figures are read off a curve on its way do not count. ``names`` are (algorithm, data set) of places.
    """
    found: dict[str, Best] = {}
    for cell, entry in zip(table.cells, entries):
        if cell.metric not in (_ERROR, _ACCURACY) or not cell.n or not cell.complete or entry.rounds is not None:
            continue
        if any(_PARTS_OF_DATA & set(record["cell"]["dataset"]) for record in entry.records[:1]):
            continue
        algo, dataset = names.get((entry.row, entry.setting, tuple(entry.column)), ("", ""))
        error = 100.0 - cell.mean if cell.metric == _ACCURACY else cell.mean
        other = found.get(dataset)
        if dataset and not math.isnan(error) and (other is None or error < other.error):
            found[dataset] = Best(dataset, _method(table, cell, algo), error, cell.std, cell.n, anchor, title)
    return list(found.values())


def _method(table: ResultTable, cell: Comparison, algo: str) -> str:
    """A cell in words: its row, behind the name of the method where the row is called otherwise, and its columns but
    for the metric, which the list has in its head."""
    label = table.label(cell)
    columns = [part for part in cell.column[1:] if part != metric_name(cell.metric)]
    return " ".join(filter(None, (label if algo in label else f"{algo}: {label}", *columns)))


def bests(found: Sequence[Best]) -> list[Best]:
    """One for each data set, those with an own run first, then by name."""
    chosen: dict[str, Best] = {}
    for one in found:
        if one.dataset not in chosen or one.error < chosen[one.dataset].error:
            chosen[one.dataset] = one
    own = {one.dataset for one in found if one.anchor.startswith("own-")}
    return sorted(chosen.values(), key=lambda one: (one.dataset not in own, one.dataset.lower()))


def verdict_counts(claims: Mapping[str, Sequence[Judged]]) -> list[list[str]]:
    """A head and a row for each paper: how many of its claims have each verdict; nothing without claims."""
    return text.summary(claims) if claims else []
