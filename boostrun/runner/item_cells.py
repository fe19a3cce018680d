"""The cells of a paper's item: what its blocks sweep, as it is narrowed by hand, and the rows of who learns nothing."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostrun.config import compose
from boostrun.config.settings import BUDGET_KEYS
from boostrun.errors import BoostrunError


@dataclass(frozen=True)
class Place:
    """Where a cell stands in a table: the swept values by key, and the name of the setting."""

    values: dict[str, str]
    setting: str

    def named(self, keys: Container[str]) -> str:
        """The place in words: its values of these keys, and its setting."""
        return " ".join([*(value for key, value in self.values.items() if key in keys), self.setting]).strip()


def narrow(name: str, blocks: list, overrides: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Overrides of swept keys as the values to keep, and the others, which hold for every cell."""
    swept = {key for block in blocks for key in block["sweep"]}
    narrowed, others = {}, []
    for key, values in compose.expand_one_by_one(overrides):
        if key in swept:
            narrowed[key] = values
        elif len(values) > 1:
            raise BoostrunError(f"{key} is not swept in {name} (only {', '.join(sorted(swept))}): give it one value")
        else:
            others.append(f"{key}={values[0]}")
    return narrowed, others


def cells(
    raw: Mapping[str, Any], narrowed: Mapping[str, list[str]], others: Sequence[str], quick: bool
) -> Iterator[tuple[Place, list[str]]]:
    """Each cell of an item's file in order: its place and the overrides that compose it, those typed last.

    After the blocks come those of the item's ``naught`` that no block has: methods that learn nothing, at every place
    of a method that learns, told of data and trials and of nothing else. Settings that differ only by what such a
    method is not told are one to it, unless the table has a column for each.
    """
    blocks = list(zip(raw["blocks"], _narrowed(raw, narrowed)))

    def words(block: Mapping[str, Any], changes: Sequence[str], place: Place) -> list[str]:
        made = [*raw.get("overrides", []), *changes]
        if quick:
            made += [*block.get("quick", []), *raw.get("quick", [])]
        return [*made, *(f"{key}={value}" for key, value in place.values.items()), *others]

    for block, sweep in blocks:
        for place, changes in _places(block, sweep):
            yield place, words(block, changes, place)
    of_blocks = {value for sweep in _original(raw) for value in sweep.get(raw["rows"], ())}
    of_blocks |= {setting for block in raw["blocks"] for setting in block.get("settings") or ()}
    for row in raw.get("naught", ()):
        if row in of_blocks or row not in narrowed.get("algo", [row]):
            continue
        seen: list[object] = []
        for block, sweep in blocks:
            for place, changes in _places(block, {**sweep, "algo": [row]} if "algo" in sweep else sweep):
                made = [*filter(_of_data, words(block, changes, place)), f"algo={row}"]
                here = Place(place.values, row if raw["rows"] == "setting" else place.setting)
                alike = here if "setting" in raw["columns"] else (place.values, made)
                if here not in seen and alike not in seen:
                    seen += [here, alike]
                    yield here, made


def _places(block: Mapping[str, Any], sweep: Mapping[str, list[str]]) -> Iterator[tuple[Place, list[str]]]:
    for setting, changes in (block.get("settings") or {"": []}).items():
        for values in itertools.product(*sweep.values()):
            yield Place(dict(zip(sweep, values)), setting), changes


def _of_data(override: str) -> bool:
    """Whether an override is for every method, neither a choice of one nor a key or a budget that some have."""
    key = override.partition("=")[0]
    return key.partition(".")[0] != "algo" and key not in BUDGET_KEYS


def _narrowed(raw: Mapping[str, Any], narrowed: Mapping[str, list[str]]) -> Iterator[dict[str, list[str]]]:
    """What each block sweeps, of the values that are asked for those that are its own; values of no block are new to
    all of them, but a new method has only the first block's settings."""
    originals = _original(raw)
    for number, sweep in enumerate(originals):
        kept = dict(sweep)
        for key in sweep.keys() & narrowed.keys():
            known = [value for other in originals for value in other.get(key, ())]
            known += raw.get("naught", ()) if key == "algo" else ()
            welcome = number == 0 or key != raw["rows"]
            kept[key] = [v for v in narrowed[key] if v in sweep[key] or (welcome and v not in known)]
        yield kept


def _original(raw: Mapping[str, Any]) -> list[dict[str, list[str]]]:
    """The sweeps of an item's blocks as they stand in its file."""
    return [{key: [str(v) for v in values] for key, values in block["sweep"].items()} for block in raw["blocks"]]
