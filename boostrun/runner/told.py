"""What a table of one's own runs says of them: what was run, how often, and how the samples were split."""

from __future__ import annotations

from collections.abc import Sequence

from boostrun.config import catalogue, defaults
from boostrun.runner.naming import PARTS, telling, typed_as, word
from boostrun.runner.plan import PlannedCell

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def about(cells: Sequence[PlannedCell]) -> str:
    """What all cells have in common, as it is typed: data set, features, budgets, and keys away from their defaults."""
    told = telling(cells)
    alike = {key: value for key, value in told[0].items() if all(other.get(key) == value for other in told)}
    for part in PARTS:
        configs = [cell.cell.config()[part] for cell in cells]
        names = {config["name"] for config in configs}
        if part != "algo" and len(names) > 1:
            continue
        usual = [defaults(part, config["name"]) for config in configs]
        for key in dict.fromkeys(key for config in configs for key in config if key not in ("name", "class")):
            having = [(config[key], own.get(key)) for config, own in zip(configs, usual) if key in config]
            if len({word(value) for value, _ in having}) == 1 and any(value != default for value, default in having):
                alike[typed_as(part, key)] = word(having[0][0])
    return " ".join(f"{key}={value}" for key, value in alike.items())


def trials(cells: Sequence[PlannedCell]) -> str:
    """How often each cell was run and on which splits, in words; rows that differ in it are named.

    "ten splits" are ten trials with a split each; of "one split, ten seeds" only the method's own choices differ.
    """
    found: dict[str, list[str]] = {}
    for cell in cells:
        found.setdefault(_trials(cell), []).append(cell.cell.algo["name"])
    if len(found) > 1:
        return "; ".join(f"{words} ({', '.join(dict.fromkeys(names))})" for words, names in found.items())
    words = next(iter(found))
    shared = words.endswith("splits") and len(cells) > 1
    return f"{words}, the same ones for every row" if shared else words


def _trials(cell: PlannedCell) -> str:
    count = len(cell.settings.seeds)
    if cell.settings.splits:
        return f"{counted(count)} split{'s' * (count != 1)}"
    if catalogue.dataset(cell.cell.dataset).gives == "stream":
        return f"{counted(count)} seed{'s' * (count != 1)}"
    if not catalogue.method(cell.cell.algo).random:
        return "one split, one run"
    return f"one split, {counted(count)} seed{'s' * (count != 1)}"


def counted(number: int) -> str:
    """A number as a word, up to twelve.

    >>> counted(10), counted(30)
    ('ten', '30')
    """
    return _WORDS[number] if number < len(_WORDS) else str(number)
