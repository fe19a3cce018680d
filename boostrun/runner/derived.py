"""Entries of a paper's table that are made of others: a mean over a swept key, a figure relative to one row's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from boostrun.report import Entry
from boostrun.report.entry import by_seed

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
            **{name: sum(getattr(part, name) for part in parts) for name in ("expected", "stale", "failed", "sampled")},
            reason="; ".join(dict.fromkeys(part.reason for part in parts if part.reason)),
        )
        for parts in places.values()
    ]  # fmt: skip


def relative(entries: Sequence[Entry], metric: str, of: str, to: str) -> list[Entry]:
    """Entries of ``metric`` with its figures filled in: a trial's figure of ``of`` divided by row ``to``'s mean of it.

    Without a trial of that row (it may have been narrowed away) there is no figure, and a reason.
    """
    base = [value for entry in entries if entry.row == to for value in by_seed(entry.records, of)[0].values()]
    unit = sum(base) / len(base) if base else 1.0

    def filled(entry: Entry) -> Entry:
        if entry.metric != metric:
            return entry
        if not (base and unit) and entry.records:
            return dataclasses.replace(entry, records=[], reason=f"no record of {to} to be relative to")
        return dataclasses.replace(entry, records=[_divided(record, metric, of, unit) for record in entry.records])

    return [filled(entry) for entry in entries]


def _divided(record: Mapping, metric: str, of: str, unit: float) -> Mapping:
    found = record["metrics"].get(of)
    return record if found is None else {**record, "metrics": {**record["metrics"], metric: found / unit}}
