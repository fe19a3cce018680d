"""Entries of a paper's table that are made of others: means over a swept key, figures relative to a row's, kappas."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from boostrun.report import Entry
from boostrun.report.entry import by_seed, value

_ACCURACY = "test_accuracy_pct"
_APART = 1_000_000  # between the seeds of trials that are told apart by a swept value


def merged(entries: Sequence[Entry], positions: Sequence[int]) -> list[Entry]:
    """Entries of one place as one, whose trials are those of all: ``positions[i]`` tells which swept value entry i has.

    Trials keep their value apart by their seeds, so that methods stay paired by both.

    >>> trials = [Entry("a", ("x",), {}, 1, [{"seed": 0, "key": key}]) for key in "pq"]
    >>> one, = merged(trials, [0, 1])
    >>> one.expected, [record["seed"] for record in one.records]
    (2, [0, 1000000])
    """
    places: dict[tuple, list[Entry]] = {}
    for entry, position in zip(entries, positions):
        moved = [{**record, "seed": record["seed"] + _APART * position} for record in entry.records]
        place = (entry.row, entry.setting, entry.column, entry.metric, entry.rounds)
        places.setdefault(place, []).append(dataclasses.replace(entry, records=moved))
    return [
        dataclasses.replace(
            parts[0], records=[record for part in parts for record in part.records],
            **{name: sum(getattr(part, name) for part in parts) for name in ("expected", "stale", "failed")},
            sampled=frozenset().union(*(part.sampled for part in parts)),
            reason="; ".join(dict.fromkeys(part.reason for part in parts if part.reason)),
        )
        for parts in places.values()
    ]  # fmt: skip


def relative(entries: Sequence[Entry], metric: str, of: str, to: str) -> list[Entry]:
    """Entries of ``metric`` with its figures filled in: a trial's figure of ``of`` divided by row ``to``'s mean of it.

    Without a trial of that row (it may have been narrowed away) there is no figure, and a reason.
    """
    beside = [entry for entry in entries if entry.row == to]
    base = [figure for entry in beside for figure in by_seed(entry.records, of, entry.rounds)[0].values()]
    unit = sum(base) / len(base) if base else 1.0

    def filled(entry: Entry) -> Entry:
        if entry.metric != metric:
            return entry
        if not (base and unit) and entry.records:
            return dataclasses.replace(entry, records=[], reason=f"no record of {to} to be relative to")
        figures = [value(record, of, entry.rounds) for record in entry.records]
        made = [
            record if figure is None else _with(record, metric, figure / unit)
            for record, figure in zip(entry.records, figures)
        ]
        return dataclasses.replace(entry, records=made, rounds=None)

    return [filled(entry) for entry in entries]


def kappas(entries: Sequence[Entry], rows: Mapping[str, str], place: int) -> list[Entry]:
    """Entries of the metrics of ``rows`` filled in: a trial's accuracy p, of the room that the row named leaves, as
    (p - p0) / (1 - p0) with p0 that row's mean accuracy in the same column: 0 is as good as it, 1 no error.

    Kappa temporal is that of the last label again, another one that of the most frequent label. ``place`` is that of
    the metric among the levels of columns. Where the row has no trial, or is never wrong, there is no figure.

    >>> cells = [Entry(row, ("x", metric), {}, 1, [{"seed": 0, "metrics": {"test_accuracy_pct": accuracy}}], metric=key)
    ...          for row, accuracy in (("ours", 95.0), ("last label", 80.0))
    ...          for metric, key in (("accuracy", "test_accuracy_pct"), ("kappa", "kappa_temporal"))]
    >>> [round(entry.records[0]["metrics"]["kappa_temporal"], 2) for entry in
    ...  kappas(cells, {"kappa_temporal": "last label"}, place=1) if entry.metric == "kappa_temporal"]
    [0.75, 0.0]
    """

    def stands(entry: Entry) -> tuple:
        return (entry.setting, *entry.column[:place], *entry.column[place + 1 :])

    def filled(entry: Entry) -> Entry:
        if (row := rows.get(entry.metric)) is None or not entry.records:
            return entry
        beside = [one for one in entries if one.row == row and one.metric == _ACCURACY and stands(one) == stands(entry)]
        base = [value for one in beside for value in by_seed(one.records, _ACCURACY)[0].values()]
        chance = sum(base) / len(base) if base else 100.0
        if chance >= 100.0:
            return dataclasses.replace(entry, records=[], reason=f"no record of {row} to be held against")
        made = [
            _with(record, entry.metric, (found - chance) / (100.0 - chance))
            for record in entry.records if (found := record["metrics"].get(_ACCURACY)) is not None
        ]  # fmt: skip
        return dataclasses.replace(entry, records=made)

    return [filled(entry) for entry in entries]


def _with(record: Mapping, metric: str, figure: float) -> Mapping:
    return {**record, "metrics": {**record["metrics"], metric: figure}}
