"""What tells cells apart, in the words that a person types."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from boostrun.config import catalogue, defaults
from boostrun.config.settings import BUDGET_KEYS
from boostrun.runner.plan import PlannedCell

PARTS = ("algo", "dataset", "features")
_ELSEWHERE = {
    "dataset.holdout": "holdout", "dataset.train_samples": "train_samples", "dataset.memory_limit": "run.memory_limit",
}  # fmt: skip


def typed_as(group: str, key: str) -> str:
    """A key of a cell as a person types it.

    >>> typed_as("budget", "r"), typed_as("algo", "shrinkage"), typed_as("dataset", "holdout")
    ('r', 'algo.shrinkage', 'holdout')
    """
    return key if group == "budget" else _ELSEWHERE.get(f"{group}.{key}", f"{group}.{key}")


def word(value: Any) -> str:
    """A value as it is typed.

    >>> word(None), word(True), word(0.5), word(["lbp", "hog"])
    ('null', 'true', '0.5', '[lbp,hog]')
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return f"[{','.join(map(word, value))}]" if isinstance(value, (list, tuple)) else str(value)


def flat(config: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A cell by the keys that a person types: names, budget, then all others; lists as they are typed.

    >>> flat({"algo": {"name": "geem", "ridge": 0.1}, "dataset": {"name": "mnist", "holdout": 0.2}, "budget": {"r": 9}})
    {'algo': 'geem', 'dataset': 'mnist', 'r': 9, 'algo.ridge': 0.1, 'holdout': 0.2}
    """
    found = {part: config[part]["name"] for part in PARTS if part in config} | dict(config.get("budget", {}))
    for group in (part for part in PARTS if part in config):
        for key, value in config[group].items():
            if key != "name":
                found[typed_as(group, key)] = word(value) if isinstance(value, (list, tuple)) else value
    return found


def apart(cells: Sequence[PlannedCell], named: Collection[str] = ()) -> list[dict[str, Any]]:
    """Of each cell its names, its budget, and what of the rest differs between the cells or is ``named``.

    A key that a cell has not is not there; one that it has at its default is.
    """
    wholes = [_whole(cell) for cell in cells]
    always = {*PARTS, *(key for cell in cells for key in cell.cell.budget)}
    values: dict[str, list[Any]] = {}
    for whole in wholes:
        for key, value in whole.items():
            known = values.setdefault(key, [])
            if value not in known:
                known.append(value)
    told = {key for key, found in values.items() if key in always or key in named or len(found) > 1}
    return [{key: value for key, value in whole.items() if key in told} for whole in wholes]


def telling(cells: Sequence[PlannedCell]) -> list[dict[str, str]]:
    """Of each cell the keys that tell it from others, as they are typed: names of data and features, budgets, and other
    keys in which those that have them differ.

    A key that a cell has not is not there, but for one that it leaves out at its default and another has. ``q`` is left
    out where every ``q`` is its ``r``, as it is unless given.
    """
    configs = _with_late_keys(cells)
    budgets = [config["budget"] for config in configs]
    hidden = {"q"} if all(budget.get("q", budget.get("r")) == budget.get("r") for budget in budgets) else set()
    order = [key for key in BUDGET_KEYS if key not in hidden and any(key in budget for budget in budgets)]
    values: dict[tuple[str, str], list[Any]] = {}
    for config in configs:
        for group in PARTS:
            for key, value in config[group].items():
                known = values.setdefault((group, key), [])
                known += [value] if value not in known else []
    differing = [place for place, known in values.items() if place[1] != "name" and len(known) > 1]
    found = []
    for config in configs:
        names = {part: config[part]["name"] for part in ("dataset", "features")}
        budget = {key: word(config["budget"][key]) for key in order if key in config["budget"]}
        rest = {typed_as(group, key): word(config[group][key]) for group, key in differing if key in config[group]}
        found.append({**names, **budget, **rest})
    return found


def _with_late_keys(cells: Sequence[PlannedCell]) -> list[dict[str, Any]]:
    """The cells' configs, each with the keys that it leaves out at their default and another cell has."""
    configs = [cell.cell.config() for cell in cells]
    for part in PARTS:
        there = dict.fromkeys(key for config in configs for key in config[part])
        for config, cell in zip(configs, cells):
            defaults = getattr(cell.settings, part)
            config[part] = {**{key: defaults[key] for key in there if key in defaults}, **config[part]}
    return configs


def _whole(planned: PlannedCell) -> dict[str, Any]:
    """With the defaults, which a cell may leave out."""
    settings, config = planned.settings, planned.cell.config()
    parts = {part: {**getattr(settings, part), **config[part]} for part in PARTS}
    return flat({**parts, "budget": config["budget"]})


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
