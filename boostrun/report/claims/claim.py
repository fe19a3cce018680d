"""The rows of a paper's ``claims.yaml``: what the paper says, and the comparison that decides it.

A row is a mapping. ``claim`` is the sentence, ``where`` its place in the paper, ``id`` what pages may link to, if they
do. Then comes a comparison:

``test``
    ``order``: each side better than the next, every pair of neighbours by seed, Holm-corrected; ``trend``: better
    towards the first of three sides or more, by each seed's slope; ``alike``: closer than ``margin``, and ``no_worse``:
    worse by less than ``margin``, which are stated beforehand; ``ratio``: the first divided by the second is
    ``at_least`` or ``at_most``; ``errors``: fewer errors among ``of`` test samples of single models, or no more where a
    ``margin`` of errors is given; ``lines``: in the table of a figure without trials, lines that hold ``lines`` have a
    ``column`` that ``is`` [sign, number or another column].
``item``, ``metric``, ``setting``
    of the cells, as in the item's targets; the metric is the item's first where none is named.
``sides``
    from the best on: a row, a list of rows that share a place, ``paper`` for the figure beside the first side's, a
    number, or a mapping that changes the above for that side and may have ``row``, ``column`` (labels), ``name`` and
    ``less``: a row that is subtracted by seed, so that the side is the first row's lead, or ``paper: true``: not the
    cell's trials count but the paper's figure beside it, or ``once: true``: nothing is random in that cell, whose one
    figure stands against every seed of the other side; or a mapping of a ``figure`` and its ``name``.
``at``
    lists of labels of columns: the comparison is made at each of them.
``cases``
    name -> what of the above is different there: the claim is decided for each of them, and may hold in some only.
``exact: true``
    in these figures nothing is random: the one of each side decides, or all of them, seed by seed, when they agree.

Or ``open`` says why nothing can be compared, with the ``command`` that would make the records, if there is one.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError, did_you_mean

TESTS = ("order", "trend", "alike", "no_worse", "ratio", "errors", "lines")
SIGNS = ("<", "<=", "=", ">=", ">")
PAPER = "paper"
_OF_CELLS = {"item", "metric", "setting"}
_OF_CASES = _OF_CELLS | {
    "test", "sides", "at", "margin", "at_least", "at_most", "of", "exact", "lines", "column", "is",
}  # fmt: skip
_OF_CLAIMS = _OF_CASES | {"claim", "where", "id", "cases", "open", "command"}
_OF_SIDES = _OF_CELLS | {"row", "column", "name", "less", "figure", "paper", "once"}


@dataclass(frozen=True)
class Pick:
    """One side of a comparison as the file names it: a cell of an item's table, ``less`` that of another row if one is
    named; the ``paper``'s figure beside the cell; its figure, where it has but ``once``; or a ``figure`` (nan: none).
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
    """One comparison. ``chains``: at each place, sides from the best on, those that share a place in one tuple.

    ``lines`` is what a line of a table without trials must hold, by column; ``column``, ``sign``, ``against`` what is
    asked of it.
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
    """A sentence of a paper with the comparisons that decide it; none where it is ``open``, with the reason."""

    text: str
    where: str
    cases: tuple[Case, ...] = ()
    open: str = ""
    command: str = ""
    id: str = ""


def read(path: Path) -> list[Claim]:
    """The claims of a file.

    Raises BoostrunError, one sentence that names the row, for a file that has not the form above.
    """
    import yaml

    from boostrun.config import quick_yaml

    try:
        rows = quick_yaml.load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BoostrunError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(rows, list) or not rows:
        raise BoostrunError(f"{path} is no list of claims")
    found = [_claim(row, f"{path} row {number}") for number, row in enumerate(rows, 1)]
    for one, count in Counter(claim.id for claim in found if claim.id).items():
        if count > 1 or not re.fullmatch(r"[a-z0-9-]+", one):
            raise BoostrunError(f"{path}: the id '{one}' must be of small letters, digits and dashes, and one claim's")
    return found


def _claim(row: Any, place: str) -> Claim:
    if not isinstance(row, Mapping) or not isinstance(row.get("claim"), str) or not isinstance(row.get("where"), str):
        raise BoostrunError(f"{place}: a claim is a mapping with the texts claim and where")
    place = f"{place} ({row['claim'][:60]})"
    _known(row, _OF_CLAIMS, place)
    if "open" in row:
        if row.keys() - {"claim", "where", "id", "open", "command"}:
            raise BoostrunError(f"{place}: a claim that is open has no comparison")
        return Claim(row["claim"], row["where"], (), str(row["open"]), str(row.get("command", "")), _id(row))
    if "command" in row:
        raise BoostrunError(f"{place}: the command of a comparison is its item's, only an open claim names one")
    base = {key: row[key] for key in row.keys() & _OF_CASES}
    cases = row.get("cases", {"": {}})
    if not isinstance(cases, Mapping) or not all(isinstance(case, Mapping) for case in cases.values()) or not cases:
        raise BoostrunError(f"{place}: cases must be a mapping of names to what is different there")
    for name, changes in cases.items():
        _known(changes, _OF_CASES, f"{place}, {name}")
    found = [_case(str(name), {**base, **changes}, f"{place}, {name}".rstrip(", ")) for name, changes in cases.items()]
    return Claim(row["claim"], row["where"], tuple(found), id=_id(row))


def _id(row: Mapping) -> str:
    return str(row.get("id", ""))


def _known(values: Mapping, known: set[str], place: str) -> None:
    for key in values:
        if key not in known:
            raise BoostrunError(f"{place}: no key '{key}'{did_you_mean(str(key), known)}")


def _case(name: str, values: Mapping[str, Any], place: str) -> Case:
    test = values.get("test")
    if test not in TESTS:
        raise BoostrunError(f"{place}: no test '{test}'{did_you_mean(str(test), TESTS)} ({', '.join(TESTS)})")
    needed = {"lines": ("item", "column", "is"), "ratio": ("sides",), "errors": ("sides", "of"),
              "alike": ("sides", "margin"), "no_worse": ("sides", "margin")}.get(test, ("sides",))  # fmt: skip
    for key in needed:
        if key not in values:
            raise BoostrunError(f"{place}: the test {test} needs '{key}'")
    if test == "ratio" and not values.keys() & {"at_least", "at_most"}:
        raise BoostrunError(f"{place}: the test ratio needs 'at_least' or 'at_most'")
    numbers = {key: _number(values[key], f"{place}: {key}") for key in ("margin", "at_least", "at_most", "of")
               if key in values}  # fmt: skip
    if test == "lines":
        return _of_lines(name, values, place)
    chains = tuple(_chains(values, place))
    if test == "trend" and any(len(chain) < 3 or any(len(side) > 1 for side in chain) for chain in chains):
        raise BoostrunError(f"{place}: a trend takes three sides or more, each a single one")
    if test in ("alike", "no_worse", "ratio") and any(len(chain) != 2 for chain in chains):
        raise BoostrunError(f"{place}: the test {test} takes two sides")
    items = dict.fromkeys(pick.item for chain in chains for side in chain for pick in side if pick.item)
    return Case(
        name, test, tuple(items), chains, numbers.get("margin"), numbers.get("at_least", 0.0),
        numbers.get("at_most", math.inf), int(numbers.get("of", 0)), bool(values.get("exact", False)),
    )  # fmt: skip


def _number(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise BoostrunError(f"{place}: a number of at least 0 is needed, not {value!r}")
    return float(value)


def _of_lines(name: str, values: Mapping[str, Any], place: str) -> Case:
    asked, lines = values["is"], values.get("lines", {})
    if not isinstance(asked, list) or len(asked) != 2 or asked[0] not in SIGNS or isinstance(asked[1], (list, dict)):
        raise BoostrunError(f"{place}: 'is' must be a sign ({' '.join(SIGNS)}) and a number or a column")
    if not isinstance(lines, Mapping):
        raise BoostrunError(f"{place}: 'lines' must be a mapping of columns to what they hold")
    against = asked[1] if isinstance(asked[1], str) else float(asked[1])
    held = tuple((str(column), str(text)) for column, text in lines.items())
    return Case(
        name, "lines", (str(values["item"]),), lines=held, column=str(values["column"]), sign=asked[0], against=against
    )


def _chains(values: Mapping[str, Any], place: str) -> Iterator[tuple[tuple[Pick, ...], ...]]:
    """The sides at each place of columns, those that share a place together."""
    sides, places = values["sides"], values.get("at", [[]])
    if not isinstance(sides, list) or len(sides) < 2:
        raise BoostrunError(f"{place}: sides must be a list of two or more")
    if not isinstance(places, list) or not places or not all(isinstance(labels, list) for labels in places):
        raise BoostrunError(f"{place}: at must be a list of lists of labels")
    for labels in places:
        chain = []
        for side in sides:
            together = side if isinstance(side, list) else [side]
            chain.append(tuple(_pick(one, values, [str(label) for label in labels], place) for one in together))
        yield tuple(_with_paper(chain))


def _with_paper(chain: list[tuple[Pick, ...]]) -> list[tuple[Pick, ...]]:
    """The paper's figure is the one beside the first cell of the chain."""
    first = next((pick for side in chain for pick in side if pick.row and not pick.paper), Pick(PAPER))
    beside = dataclasses.replace(first, name=PAPER, paper=True)
    return [tuple(beside if pick.paper and not pick.item else pick for pick in side) for side in chain]


def _pick(side: Any, values: Mapping[str, Any], labels: list[str], place: str) -> Pick:
    if side == PAPER:
        return Pick(PAPER, paper=True)
    if isinstance(side, (int, float)) and not isinstance(side, bool):
        return Pick(f"{side:g}", figure=float(side))
    if isinstance(side, str):
        side = {"row": side}
    if not isinstance(side, Mapping) or not isinstance(side.get("column", []), list):
        raise BoostrunError(f"{place}: a side is a row, a number, paper or a mapping, not {side!r}")
    _known(side, _OF_SIDES, f"{place}: side")
    if "figure" in side:
        return Pick(str(side.get("name", side["figure"])), figure=_number(side["figure"], f"{place}: figure"))
    of = {**values, **side}
    row, item = of.get("row"), of.get("item")
    if not isinstance(row, str) or not isinstance(item, str):
        raise BoostrunError(f"{place}: a side needs the texts row and item")
    own = [str(label) for label in side.get("column", [])]
    setting = str(of.get("setting", ""))
    less = str(side.get("less", ""))
    said = [
        *([f"{row} less {less}" if less else row] if "row" in side else []),
        *own,
        *([f"({side['setting']})"] if "setting" in side else []),
    ]
    name = str(side.get("name") or " ".join(said))
    return Pick(name, item, row, setting, str(of.get("metric", "")), (*labels, *own), less=less,
                paper=bool(side.get("paper")), place=" ".join(labels), once=bool(side.get("once")))  # fmt: skip
