"""What a command packs of its records: those that no other file of packed records has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from boostrun.runner.packed import NAME, OLD_NAME, Packs, keep_damaged, pack, packs_below, unpack
from boostrun.runner.record import set_aside


def write_records(folder: Path, records: Iterable[Mapping[str, Any]], results: Path) -> Path | None:
    """Pack records into ``records.parquet`` of a folder but for those that are done in another file below ``results``.

    What is packed in the folder stays, unless one of the records has its cell and seed. A damaged file is renamed, one
    of an earlier version replaced, and one that would be empty removed. A record that has not the keys of its content
    is set aside.

    Returns the file, None where nothing is left to pack. Raises BoostrunError when it cannot be written.
    """
    from boostrun.runner.columns import has_its_keys

    mine = [folder / NAME, folder / OLD_NAME]
    for path in mine:
        keep_damaged(path)
    there = [record for path in mine if path.exists() for record in unpack(path)]
    found = {(record["cell_key"], record["seed"]): record for record in [*there, *records]}
    elsewhere = Packs(path for path in packs_below(results) if path not in mine).known
    left = [one for one in found.values() if one["key"] not in elsewhere or elsewhere[one["key"]].status != "done"]
    for odd in [one for one in left if not has_its_keys(one)]:
        set_aside(odd["key"], "it has not the keys of its content")
        left.remove(odd)
    if left:
        pack(left, mine[0])
    for path in mine[1 if left else 0 :]:
        path.unlink(missing_ok=True)
    return mine[0] if left else None
