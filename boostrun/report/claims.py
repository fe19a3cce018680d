"""The rows of a paper's ``claims.yaml``: sentences of the paper, and the comparisons that decide them.

A row is a mapping with ``claim`` (the sentence), ``where`` (its place in the paper) and perhaps ``id`` (for links).
These keys describe its comparison:

``test``
    - ``order``: each side is better than the next, neighbours compared by seed, Holm-corrected;
    - ``trend``: three sides or more get worse from the first on, by each seed's slope;
    - ``alike``: two sides differ by less than ``margin``; ``no_worse``: the first is worse by less than ``margin``;
    - ``ratio``: the first side divided by the second is ``at_least`` or ``at_most`` a number;
    - ``errors``: single models make fewer errors on ``of`` test samples, or no more with a ``margin`` of errors;
    - ``lines``: in the table of a figure without trials, lines that contain ``lines`` have a ``column`` that ``is``
      [sign, number or another column].
``item``, ``metric``, ``setting``
    of the cells, as in the item's targets; the metric is the item's first unless given.
``sides``
    from the best on; each is a row, a list of rows that share a place, ``paper`` for the figure beside the first side's
    cell, a number, a mapping of a ``figure`` and its ``name``, or a mapping that changes the keys above for this side.
    Such a mapping may have ``row``, ``column`` (labels), ``name``, ``less`` (a row that is subtracted by seed),
    ``paper: true`` (the paper's figure beside the cell counts, not its trials) and ``once: true`` (nothing is random in
    the cell, so its one figure is compared with every seed of the other side).
``at``
    lists of column labels: the comparison is made at each of them.
``cases``
    name -> keys that differ there: the claim is decided for each case, and may hold in some only.
``exact: true``
    nothing is random in these figures: they decide without a test, if several seeds agree.

Or ``open`` says why nothing can be compared, with the ``command`` that would make the records, if there is one.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import read_yaml

TESTS = ("order", "trend", "alike", "no_worse", "ratio", "errors", "lines")
SIGNS = ("<", "<=", "=", ">=", ">")
PAPER = "paper"
_CELL_KEYS = {"item", "metric", "setting"}
_CASE_KEYS = _CELL_KEYS | {
    "test", "sides", "at", "margin", "at_least", "at_most", "of", "exact", "lines", "column", "is",
}  # fmt: skip
_CLAIM_KEYS = _CASE_KEYS | {"claim", "where", "id", "cases", "open", "command"}
_SIDE_KEYS = _CELL_KEYS | {"row", "column", "name", "less", "figure", "paper", "once"}
_NEEDED = {
    "lines": ("item", "column", "is"), "errors": ("sides", "of"), "alike": ("sides", "margin"),
    "no_worse": ("sides", "margin"),
}  # fmt: skip


@dataclass(frozen=True)
class Pick:
    """One side of a comparison as the file names it: a cell of an item's table, or a ``figure``.

    ``less`` is a row whose cell is subtracted; ``paper``: the paper's figure beside the cell; ``once``: the one figure
    of a cell without randomness.
    """

    name: str
    item: str = ""
    row: str = ""
    setting: str = ""
    metric: str = ""
    labels: tuple[str, ...] = ()
    figure: float = math.nan
    paper: bool = False
    less: str = ""
    place: str = ""
    once: bool = False


@dataclass(frozen=True)
class Case:
    """One comparison. ``chains`` are its sides at each place, from the best on, those that share a place in one tuple.

    For lines of a table without trials: ``lines`` are texts that a line must contain, by column; ``column``, ``sign``
    and ``against`` are the condition.
    """

    name: str
    test: str
    items: tuple[str, ...]
    chains: tuple[tuple[tuple[Pick, ...], ...], ...] = ()
    margin: float | None = None
    least: float = 0.0
    most: float = math.inf
    of: int = 0
    exact: bool = False
    lines: tuple[tuple[str, str], ...] = ()
    column: str = ""
    sign: str = ""
    against: str | float = ""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper with the comparisons that decide it, or with the reason why it is ``open``."""

    text: str
    where: str
    cases: tuple[Case, ...] = ()
    open: str = ""
    command: str = ""
    id: str = ""


def read(path: Path) -> list[Claim]:
    """The claims of a file.

    Raises BoostrunError, one sentence that names the row, if the file does not have the form above.
    """
    import yaml

    try:
        rows = read_yaml(path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BoostrunError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from None
    _need(isinstance(rows, list) and rows, str(path), "is no list of claims", sign="")
    found = [_claim(row, f"{path} row {number}") for number, row in enumerate(rows, 1)]
    for one, count in Counter(claim.id for claim in found if claim.id).items():
        right = count == 1 and re.fullmatch(r"[a-z0-9-]+", one)
        _need(right, str(path), f"the id '{one}' must be of small letters, digits and dashes, and one claim's")
    return found


def _need(condition: Any, place: str, sentence: str, sign: str = ":") -> None:
    if not condition:
        raise BoostrunError(f"{place}{sign} {sentence}")


def _known(values: Mapping, known: Collection[str], place: str) -> None:
    for key in values:
        _need(key in known, place, f"no key '{key}'{did_you_mean(str(key), known)}")


def _claim(row: Any, place: str) -> Claim:
    texts = isinstance(row, Mapping) and all(isinstance(row.get(key), str) for key in ("claim", "where"))
    _need(texts, place, "a claim is a mapping with the texts claim and where")
    place, id_ = f"{place} ({row['claim'][:60]})", str(row.get("id", ""))
    _known(row, _CLAIM_KEYS, place)
    if "open" in row:
        _need(
            row.keys() <= {"claim", "where", "id", "open", "command"}, place, "a claim that is open has no comparison"
        )
        return Claim(row["claim"], row["where"], (), str(row["open"]), str(row.get("command", "")), id_)
    sentence = "the command of a comparison is its item's, only an open claim names one"
    _need("command" not in row, place, sentence)
    cases = row.get("cases", {"": {}})
    named = isinstance(cases, Mapping) and cases and all(isinstance(case, Mapping) for case in cases.values())
    _need(named, place, "cases must be a mapping of names to the keys that differ there")
    base = {key: row[key] for key in row.keys() & _CASE_KEYS}
    found = []
    for name, changes in cases.items():
        _known(changes, _CASE_KEYS, f"{place}, {name}")
        found.append(_case(str(name), {**base, **changes}, f"{place}, {name}".rstrip(", ")))
    return Claim(row["claim"], row["where"], tuple(found), id=id_)


def _case(name: str, values: Mapping[str, Any], place: str) -> Case:
    test = values.get("test")
    _need(test in TESTS, place, f"no test '{test}'{did_you_mean(str(test), TESTS)} ({', '.join(TESTS)})")
    for key in _NEEDED.get(str(test), ("sides",)):
        _need(key in values, place, f"the test {test} needs '{key}'")
    bounds = test != "ratio" or values.keys() & {"at_least", "at_most"}
    _need(bounds, place, "the test ratio needs 'at_least' or 'at_most'")
    numbers = {key: _number(values[key], f"{place}: {key}") for key in ("margin", "at_least", "at_most", "of")
               if key in values}  # fmt: skip
    if test == "lines":
        return _lines_case(name, values, place)
    chains = tuple(_chains(values, place))
    single = all(len(chain) > 2 and all(len(side) == 1 for side in chain) for chain in chains)
    _need(test != "trend" or single, place, "a trend takes three sides or more, each a single one")
    two = test not in ("alike", "no_worse", "ratio") or all(len(chain) == 2 for chain in chains)
    _need(two, place, f"the test {test} takes two sides")
    items = dict.fromkeys(pick.item for chain in chains for side in chain for pick in side if pick.item)
    return Case(
        name, str(test), tuple(items), chains, numbers.get("margin"), numbers.get("at_least", 0.0),
        numbers.get("at_most", math.inf), int(numbers.get("of", 0)), bool(values.get("exact", False)),
    )  # fmt: skip


def _number(value: Any, place: str) -> float:
    right = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
    _need(right, place, f"a number of at least 0 is needed, not {value!r}")
    return float(value)


def _lines_case(name: str, values: Mapping[str, Any], place: str) -> Case:
    condition, lines = values["is"], values.get("lines", {})
    pair = isinstance(condition, list) and len(condition) == 2
    right = pair and condition[0] in SIGNS and not isinstance(condition[1], (list, dict))
    _need(right, place, f"'is' must be a sign ({' '.join(SIGNS)}) and a number or a column")
    _need(isinstance(lines, Mapping), place, "'lines' must be a mapping of columns to texts")
    sign, against = condition
    return Case(
        name, "lines", (str(values["item"]),), lines=tuple((str(key), str(text)) for key, text in lines.items()),
        column=str(values["column"]), sign=sign, against=against if isinstance(against, str) else float(against),
    )  # fmt: skip


def _chains(values: Mapping[str, Any], place: str) -> Iterator[tuple[tuple[Pick, ...], ...]]:
    """The sides at each place of ``at``; ``paper`` stands for the figure beside the first cell."""
    sides, places = values["sides"], values.get("at", [[]])
    _need(isinstance(sides, list) and len(sides) > 1, place, "sides must be a list of two or more")
    lists = isinstance(places, list) and places and all(isinstance(labels, list) for labels in places)
    _need(lists, place, "at must be a list of lists of labels")
    for labels in places:
        names = [str(label) for label in labels]
        chain = [[_pick(one, values, names, place) for one in (side if isinstance(side, list) else [side])]
                 for side in sides]  # fmt: skip
        first = next((pick for side in chain for pick in side if pick.row and not pick.paper), Pick(PAPER))
        beside = dataclasses.replace(first, name=PAPER, paper=True)
        yield tuple(tuple(beside if pick.paper and not pick.item else pick for pick in side) for side in chain)


def _pick(side: Any, values: Mapping[str, Any], labels: list[str], place: str) -> Pick:
    if side == PAPER:
        return Pick(PAPER, paper=True)
    if isinstance(side, (int, float)) and not isinstance(side, bool):
        return Pick(f"{side:g}", figure=float(side))
    if isinstance(side, str):
        side = {"row": side}
    right = isinstance(side, Mapping) and isinstance(side.get("column", []), list)
    _need(right, place, f"a side is a row, a number, paper or a mapping, not {side!r}")
    _known(side, _SIDE_KEYS, f"{place}: side")
    if "figure" in side:
        return Pick(str(side.get("name", side["figure"])), figure=_number(side["figure"], f"{place}: figure"))
    all_values = {**values, **side}
    row, item = all_values.get("row"), all_values.get("item")
    _need(isinstance(row, str) and isinstance(item, str), place, "a side needs the texts row and item")
    columns, less = [str(label) for label in side.get("column", [])], str(side.get("less", ""))
    words = [f"{row} less {less}" if less else str(row)] if "row" in side else []
    words += [*columns, *([f"({side['setting']})"] if "setting" in side else [])]
    return Pick(
        str(side.get("name") or " ".join(words)), str(item), str(row), str(all_values.get("setting", "")),
        str(all_values.get("metric", "")), (*labels, *columns), less=less, paper=bool(side.get("paper")),
        place=" ".join(labels), once=bool(side.get("once")),
    )  # fmt: skip
