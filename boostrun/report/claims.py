"""The rows of a paper's ``claims.yaml``: sentences of the paper, the comparisons that decide them, and their tests.

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

A test compares pairs of sides and ends in one :class:`Evidence` for each pair. Values are paired by seed, except counts
of errors and figures without randomness. Fewer than six pairs decide nothing, however far the means lie apart.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import read_yaml
from boostrun.report.markup import decimal
from boostrun.report.statistics import ALPHA, LEAST_PAIRS, holm, interval, mean_std, signed_rank

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
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


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
        if key not in known:  # before the nearest name is looked for, which takes time
            raise BoostrunError(f"{place}: no key '{key}'{did_you_mean(str(key), known)}")


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


# -- the tests ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """One side of a comparison: values by seed, or a ``figure`` that is no trial's (NaN if there is none).

    ``lack`` says why values are missing. ``place`` is where in the table they stand, if there are several places.
    """

    name: str
    values: Mapping[int, float] = field(default_factory=dict)
    figure: float = math.nan
    lack: str = ""
    place: str = ""


Pair = tuple[Side, Side]


@dataclass(frozen=True)
class Evidence:
    """The result of one comparison.

    ``mean``, ``low`` and ``high`` are the effect in the metric's unit with its 95 % interval, NaN if there is none.
    ``n`` counts pairs or trials. ``p`` is adjusted if several pairs were tested, and NaN without a test.
    """

    verdict: str
    what: str
    n: int = 0
    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    test: str = ""
    why: str = ""
    metric: str = ""

    @property
    def effect(self) -> str:
        """The comparison in words, with its effect and interval if there are any.

        >>> Evidence(HOLDS, "a - b", 10, 1.5, 1.0, 2.0).effect
        'a - b +1.50 [+1.00, +2.00]'
        """
        signed = " / " not in self.what
        if math.isnan(self.mean):
            return self.what
        text = f"{self.what}{':' if ',' in self.what else ''} {_short(self.mean, signed)}"
        return text if math.isnan(self.low) else f"{text} [{_short(self.low, signed)}, {_short(self.high, signed)}]"


def _short(number: float, signed: bool) -> str:
    places = 2 if abs(number) >= 0.095 or number == 0 else 2 - math.floor(math.log10(abs(number)) + 1)
    return decimal(number, signed=signed, group=" ", places=min(places, 6))


def order(pairs: Sequence[Pair], higher: bool) -> list[Evidence]:
    """Whether the first of each pair is better: Wilcoxon's signed-rank test, Holm-corrected over all pairs."""

    def decide(one: Evidence, p: float, family: int) -> Evidence:
        better = one.mean > 0 if higher else one.mean < 0
        verdict = UNDECIDED if p >= ALPHA else HOLDS if better else FAILS
        test = f"{one.test}, Holm over {family}" if family > 1 else one.test
        short = family * 2.0 ** (1 - one.n) > ALPHA
        why = "" if verdict != UNDECIDED else f"too few seeds for {family} pairs" if short else "within noise"
        return dataclasses.replace(one, verdict=verdict, p=p, test=test, why=why)

    found = []
    for pair in pairs:
        values = _differences(*pair)
        found.append(_lacking(*pair) or Evidence(
            "", _name(*pair), len(values), *interval(values), signed_rank(values, [0.0] * len(values)), "Wilcoxon"
        ))  # fmt: skip
    return _corrected(found, decide)


def _corrected(found: list[Evidence], decide: Callable[[Evidence, float, int], Evidence]) -> list[Evidence]:
    """The findings, those without a verdict decided by their p, Holm-corrected over them."""
    tested = [index for index, finding in enumerate(found) if not finding.verdict]
    for index, p in zip(tested, holm([found[index].p for index in tested])):
        found[index] = decide(found[index], p, len(tested))
    return found


def trend(chains: Sequence[Sequence[Side]], higher: bool) -> list[Evidence]:
    """Whether each chain of sides gets worse from the first on: :func:`order` of each seed's slope over the places."""
    pairs = []
    for chain in chains:
        seeds = [seed for seed in chain[0].values if all(seed in side.values for side in chain)]
        centre = (len(chain) - 1) / 2
        weight = sum((place - centre) ** 2 for place in range(len(chain)))
        slopes = {
            seed: -sum((place - centre) * side.values[seed] for place, side in enumerate(chain)) / weight
            for seed in seeds
        }
        lack = next((side.lack for side in chain if side.lack), "")
        name = f"{chain[0].name} to {chain[-1].name}, a step"
        pairs.append((Side(name, slopes, lack=lack, place=chain[0].place), Side("", figure=0.0)))
    return order(pairs, higher)


def alike(pairs: Sequence[Pair], margin: float) -> list[Evidence]:
    """Whether each pair differs by less than a margin: two one-sided t tests."""
    return [_within(pair, len(pairs), -margin, margin, f"TOST, margin {margin:g}") for pair in pairs]


def no_worse(pairs: Sequence[Pair], margin: float, higher: bool) -> list[Evidence]:
    """Whether the first of each pair is worse by less than a margin: a one-sided t test."""
    low, high = (-margin, math.inf) if higher else (-math.inf, margin)
    return [_within(pair, len(pairs), low, high, f"no worse by {margin:g}, one-sided t") for pair in pairs]


def ratio(pairs: Sequence[Pair], least: float, most: float) -> list[Evidence]:
    """Whether the quotient of each pair lies between two bounds: the t interval of its logarithm."""
    low, high = (math.log(least) if least > 0 else -math.inf, math.log(most) if most < math.inf else math.inf)
    bounds = f"at most {most:g}" if least == 0 else f"{least:g} to {most:g}"
    test = f"{f'at least {least:g}' if most == math.inf else bounds}, t of logarithms"
    found = []
    for pair in pairs:
        first, second = (
            Side(side.name, {seed: _log(one) for seed, one in side.values.items()}, _log(side.figure), side.lack)
            for side in pair
        )
        one = _within((first, second), len(pairs), low, high, test, ALPHA / 2)
        mean, lower, upper = map(math.exp, (one.mean, one.low, one.high))
        found.append(dataclasses.replace(one, what=_name(*pair, "/"), mean=mean, low=lower, high=upper))
    return found


def exact(pairs: Sequence[Pair], least: float, most: float, quotient: bool) -> list[Evidence]:
    """Whether differences (or quotients) of figures without randomness lie strictly between two bounds.

    Figures by seed are compared by seed: all must lie there, or none.
    """
    found = []
    for first, second in pairs:
        what = _name(first, second, "/" if quotient else "-")
        seeds = [seed for seed in first.values if seed in second.values]
        both = [(first.values[seed], second.values[seed]) for seed in seeds] or [(_figure(first), _figure(second))]
        sizes = [one / other if quotient else one - other for one, other in both if not math.isnan(one + other)]
        if not sizes:
            found.append(Evidence(UNDECIDED, what, why=first.lack or second.lack or "no seeds in common"))
            continue
        inside = sum(least < size < most for size in sizes)
        verdict = HOLDS if inside == len(sizes) else UNDECIDED if inside else FAILS
        effect = interval(sizes) if len(set(sizes)) > 1 else (sizes[0], math.nan, math.nan)
        test = "single figures" if len(sizes) == 1 else "each seed"
        why = f"in {inside} of {len(sizes)} seeds" if verdict == UNDECIDED else ""
        found.append(Evidence(verdict, what, len(sizes), *effect, test=test, why=why))
    return found


def errors(pairs: Sequence[Pair], of: int, margin: float | None = None) -> list[Evidence]:
    """Whether the first model of each pair makes fewer errors on ``of`` samples: Fisher's exact test, Holm-corrected.

    With a ``margin`` of errors it is enough not to make more: the upper one-sided 95 % limit of the difference must lie
    below the margin.
    """

    def decide(one: Evidence, p: float, _: int) -> Evidence:
        reached = margin is not None and one.mean + (one.high - one.mean) * 1.644854 / 1.959964 <= margin
        worse, better = one.mean > 0 and p < ALPHA, one.mean < 0 and p < ALPHA
        verdict = FAILS if worse else HOLDS if reached or (margin is None and better) else UNDECIDED
        test = one.test if margin is None else f"{one.test}, margin {margin:g} errors"
        why = "" if verdict != UNDECIDED else "within noise"
        return dataclasses.replace(one, verdict=verdict, p=p, test=test, why=why)

    found: list[Evidence] = []
    for first, second in pairs:
        what, one, other = _name(first, second), _figure(first), _figure(second)
        if math.isnan(one) or math.isnan(other):
            found.append(Evidence(UNDECIDED, what, why=first.lack or second.lack or "more than one model on a side"))
            continue
        p = fisher(round(one), round(other), of)
        half = 1.959964 * math.sqrt(one * (1 - one / of) + other * (1 - other / of))
        found.append(Evidence("", what, 1, one - other, one - other - half, one - other + half, p, "Fisher"))
    return _corrected(found, decide)


def fisher(one: int, other: int, of: int) -> float:
    """Two-sided p of Fisher's exact test of two counts among ``of`` each: all outcomes that are no likelier.

    >>> round(fisher(73, 47, 10000), 3)
    0.022
    """
    import numpy as np
    from scipy.special import gammaln

    both = one + other
    counts = np.arange(max(0, both - of), min(of, both) + 1)
    rest = both - counts
    logs = -gammaln(counts + 1) - gammaln(of - counts + 1) - gammaln(rest + 1) - gammaln(of - rest + 1)
    chances = np.exp(logs - logs.max())
    found = chances[one - counts[0]]
    return min(1.0, float(chances[chances <= found * (1 + 1e-7)].sum() / chances.sum()))


def _lacking(first: Side, second: Side) -> Evidence | None:
    """The evidence of a pair with too few seeds in common to be tested, else None."""
    values = _differences(first, second)
    lack = next((side.lack for side in (first, second) if side.lack), "")
    if len(values) > 1 and all(len(set(side.values.values())) < 2 for side in (first, second)):
        values, lack = values[:1], "the others are copies of it"
    if len(values) >= LEAST_PAIRS:
        return None
    why = f"{len(values)} of at least {LEAST_PAIRS} seeds" + (f": {lack}" if lack else "")
    return Evidence(UNDECIDED, _name(first, second), len(values), mean_std(values)[0], why=why)


def _within(pair: Pair, family: int, least: float, most: float, test: str, tail: float = ALPHA) -> Evidence:
    """Whether the interval of a pair's differences lies between bounds; beyond them, Bonferroni's interval must lie."""
    if lacking := _lacking(*pair):
        return lacking
    values = _differences(*pair)
    _, low, high = interval(values, tail)
    _, wide_low, wide_high = interval(values, tail / family)
    verdict = HOLDS if least < low and high < most else FAILS if wide_high < least or wide_low > most else UNDECIDED
    why = "" if verdict != UNDECIDED else "the interval reaches over the margin"
    return Evidence(verdict, _name(*pair), len(values), *interval(values), test=test, why=why)


def _name(first: Side, second: Side, sign: str = "-") -> str:
    place = f", {first.place or second.place}" if first.place or second.place else ""
    return (f"{first.name} {sign} {second.name}" if second.name else first.name) + place


def _differences(first: Side, second: Side) -> list[float]:
    """First less second, by seed; a figure is compared with every seed of the other side."""
    if not math.isnan(second.figure):
        return [value - second.figure for value in first.values.values()]
    if not math.isnan(first.figure):
        return [first.figure - value for value in second.values.values()]
    return [first.values[seed] - second.values[seed] for seed in first.values if seed in second.values]


def _figure(side: Side) -> float:
    """The one figure of a side without randomness; NaN if there is none, or several that differ."""
    if not math.isnan(side.figure):
        return side.figure
    values = set(side.values.values())
    return values.pop() if len(values) == 1 else math.nan


def _log(number: float) -> float:
    return math.log(number) if number > 0 else math.nan
