"""Merge the packed records of ``boostrun reproduce``, ``frontier`` and ``tune`` into one file per room.

    python scripts/pack_records.py [--results results]

A room is a folder of the results, such as ``reservoir`` or ``frontiers``. The records of every ``records.parquet`` in
its subfolders (and of ``records.jsonl.gz``, the format of earlier versions) are appended to the room's own
``records.parquet``, and these files are removed. Existing rows keep their bytes, so that a commit adds little to the
repository. If there are several records of a cell and seed, only the last one is kept. The same files always give the
same bytes. If a file is damaged, its room is not changed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.store import PACKED, packs_below, unpack, write_file
from boostrun.store.cell import json_text
from boostrun.store.parquet import LARGEST_GROUP, ParquetPack, parquet_of, table_of


def fold(room: Path) -> int:
    """Merge the files in the subfolders of a room into its own file; returns the number of new records.

    Raises BoostrunError if a file is damaged or cannot be written.
    """
    mine = room / PACKED
    files = [path for path in packs_below(room) if path != mine]
    if not files:
        return 0
    whole = ParquetPack(mine) if mine.exists() else None
    found: dict[tuple[str, int], tuple[tuple, Mapping[str, Any] | None]] = {}
    for row in range(len(whole.known) if whole else 0):
        record = whole.read(row)
        found[record["cell_key"], record["seed"]] = _order(record), None
    for path in files:
        for record in sorted(unpack(path), key=lambda one: (json_text(one["cell"]), one["seed"], one["key"])):
            place = record["cell_key"], record["seed"]
            if place not in found or found[place][0] < _order(record):
                found.pop(place, None)
                found[place] = _order(record), record
    new = [record for _, record in found.values() if record is not None]
    if new:
        left = [table for table in _left(whole, new) if len(table)] if whole else []
        starts = range(0, len(new), LARGEST_GROUP)
        write_file(mine, parquet_of([*left, *(table_of(new[start : start + LARGEST_GROUP]) for start in starts)]))
    for path in files:
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    return len(new)


def _order(record: Mapping[str, Any]) -> tuple:
    """Sort key of the records of one cell and seed, of which the last is kept: failed ones first, then by time."""
    return record["status"] == "done", str(record["provenance"].get("time", "")), record["key"]


def _left(whole: ParquetPack, new: Iterable[Mapping[str, Any]]):
    """The row groups of a room's file, without the records that new ones replace."""
    gone = {(record["cell_key"], record["seed"]) for record in new}
    stays = np.array([(known.cell_key, known.seed) not in gone for known in whole.known])
    start = 0
    for group in range(whole.groups):
        table = whole.table(group)
        kept = stays[start : start + len(table)]
        yield table if kept.all() else table.filter(kept)
        start += len(table)


def main(words: Sequence[str] | None = None) -> int:
    """Merge the files of all rooms; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("results"))
    results, failed = parser.parse_args(words).results, 0
    for room in sorted(path for path in results.iterdir() if path.is_dir()):
        begun = time.perf_counter()
        try:
            count = fold(room)
        except BoostrunError as error:
            print(f"{room}: {error}")
            failed = 1
            continue
        if count:
            size = (room / PACKED).stat().st_size
            print(f"{room / PACKED}: {count} new, {size / 1e6:.1f} MB, {time.perf_counter() - begun:.1f} s", flush=True)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
