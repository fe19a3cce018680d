"""Entries: the cells of a table as they were asked for, with their records, and figures read from records."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One cell of a table: the requested trials, and the records that exist.

    Attributes
    ----------
    row : name of the method, e.g. ``"geem"``
    column : one label for each column level, e.g. ``("mnist", "r=100")``
    where : columns of the paper's figure, e.g. ``{"dataset": "mnist", "method": "geem", "r": "100"}``
    expected : how many trials were asked for
    records : the finished records (``status == "done"``)
    stale : how many of the records were made by code or data that has changed
    failed : how many trials failed
    reason : why trials are missing, e.g. ``"no data: datasets/stl10_binary not found"``
    setting : ``"paper"``, ``"tuned"``, ...; part of the row's label if a table has several settings
    metric : key in the records' metrics; that of the table if empty
    rounds : read the figure off the trials' curves after so many rounds; their last figure if None
    sampled : keys of records made by older code, some of whose trials were repeated with equal results

    >>> Entry("geem", ("mnist", "r=100"), {}, 10, []).label
    'geem · mnist r=100'
    """

    row: str
    column: tuple[str, ...]
    where: Mapping[str, str]
    expected: int
    records: Sequence[Mapping]
    stale: int = 0
    failed: int = 0
    reason: str = ""
    setting: str = ""
    metric: str = ""
    rounds: int | None = None
    sampled: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """The cell in words, for lists of missing cells."""
        return cell_label(row_label(self.row, self.setting, True), self.column)


def name_of(entry: Entry, part: str) -> str:
    """The name of the ``"algo"`` or ``"dataset"`` of an entry's trials, empty without trials."""
    return next((str(record.get("cell", {}).get(part, {}).get("name", "")) for record in entry.records), "")


def row_label(row: str, setting: str, several: bool) -> str:
    """The head of a row: the method, and its setting if the table has several.

    >>> row_label("geem", "tuned", True), row_label("geem", "tuned", False)
    ('geem (tuned)', 'geem')
    """
    return f"{row} ({setting})" if several and setting else row


def cell_label(row: str, column: Sequence[str]) -> str:
    """A row's head and its column in one line."""
    return f"{row} · {' '.join(column)}" if column else row


def done(records: Sequence[Mapping]) -> list[Mapping]:
    """The finished records by seed and key; the order in which they come makes no difference."""
    kept = [record for record in records if record.get("status", "done") == "done"]
    places = [(_number(record.get("seed")), str(record.get("key"))) for record in kept]
    if len(set(places)) == len(places):  # almost always: the content need not decide
        return [record for _, record in sorted(zip(places, kept), key=lambda pair: pair[0])]
    return sorted(kept, key=lambda record: (_number(record.get("seed")), str(record.get("key")), canonical(record)))


def canonical(record: Mapping) -> str:
    """One line of JSON that does not depend on the order of the keys."""
    return json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)  # a curve may be read on first use


def value(record: Mapping, metric: str, rounds: int | None = None) -> float | None:
    """One figure of a record, from its metrics or else its cost, or from its curve after so many ``rounds``.

    Returns None if it is absent or not a finite number.

    >>> record = {"metrics": {"log10_loss": -1.9}, "cost": {}, "curve": {"T": [1, 10], "log10_loss": [-0.2, -1.9]}}
    >>> value(record, "log10_loss"), value(record, "log10_loss", rounds=1)
    (-1.9, -0.2)
    """
    parts = [record.get(part) or {} for part in ("metrics", "cost")]
    if rounds is not None:
        curve = record.get("curve") or {}
        marks = curve.get("T") or []
        parts = [{metric: curve[metric][marks.index(rounds)]}] if rounds in marks and metric in curve else []
    for part in parts:
        found = part.get(metric)
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            return float(found) if math.isfinite(found) else None
    return None


def by_seed(records: Sequence[Mapping], metric: str, rounds: int | None = None) -> tuple[dict, list[str]]:
    """One value for each seed, and remarks on the records that are not counted.

    Two records of one seed are never averaged as if they were two trials: the first by key counts.
    """
    values, absent, repeated = {}, 0, 0
    for record in done(records):
        found, seed = value(record, metric, rounds), record.get("seed")
        if found is None:
            absent += 1
        elif seed in values:
            repeated += 1
        else:
            values[seed] = found
    remarks = []
    if absent:
        remarks.append(f"{metric} absent or not finite in {absent} record{'s' * (absent > 1)}")
    if repeated:
        remarks.append(f"{repeated} more record{'s' * (repeated > 1)} of the same seeds not counted")
    return values, remarks


def _number(seed) -> float:
    return float(seed) if isinstance(seed, (int, float)) else math.inf
