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

What a comparison of trials shows: each test of a claim, on values by seed, ends in one :class:`Evidence`.

Pairs of seeds carry every test but those of counts and of figures in which nothing is random. Fewer than six pairs
carry none: with fewer, a claim is undecided, however far the means lie apart.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import read_yaml
from boostrun.report.formats import decimal
from boostrun.report.statistics import ALPHA, LEAST_PAIRS, holm, mean_std, signed_rank

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

    try:
        rows = read_yaml(path)
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


HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


@dataclass(frozen=True)
class Side:
    """One side of a comparison: values by seed, or a ``figure`` that is no trial's (nan where there is none).

    ``lack`` says why there are no values, or fewer than were asked for; ``place`` where in the table they stand, if the
    same is compared in several places.
    """

    name: str
    values: Mapping[int, float] = field(default_factory=dict)
    figure: float = math.nan
    lack: str = ""
    place: str = ""


@dataclass(frozen=True)
class Evidence:
    """What one comparison shows. ``mean``, ``low``, ``high``: the effect in the metric's unit with its 95 % interval
    (nan limits where there is none); ``n`` pairs or trials; ``p`` adjusted where a family was tested, else nan.
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
        """The effect in words: what is compared, by how much, and its interval; without figures what is compared.

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


def order(pairs: Sequence[tuple[Side, Side]], higher: bool) -> list[Evidence]:
    """Whether the first of each pair is better, by seed: Wilcoxon signed-rank, Holm-corrected over all pairs."""
    found = [_lacking(*pair) or _difference(*pair) for pair in pairs]
    tested = [index for index, finding in enumerate(found) if not finding.verdict]
    for index, p in zip(tested, holm([found[index].p for index in tested])):
        found[index] = _decided(found[index], p, len(tested), higher)
    return found


def trend(chains: Sequence[Sequence[Side]], higher: bool) -> list[Evidence]:
    """Whether each chain of sides gets worse from the first on: each seed's slope over the places, as :func:`order`."""
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


def alike(pairs: Sequence[tuple[Side, Side]], margin: float) -> list[Evidence]:
    """Whether each pair differs by less than a margin: two one-sided t tests, paired by seed."""
    return [_within(pair, len(pairs), -margin, margin, f"TOST, margin {margin:g}") for pair in pairs]


def no_worse(pairs: Sequence[tuple[Side, Side]], margin: float, higher: bool) -> list[Evidence]:
    """Whether the first of each pair is worse by less than a margin: a one-sided t test, paired by seed."""
    low, high = (-margin, math.inf) if higher else (-math.inf, margin)
    return [_within(pair, len(pairs), low, high, f"no worse by {margin:g}, one-sided t") for pair in pairs]


def ratio(pairs: Sequence[tuple[Side, Side]], least: float, most: float) -> list[Evidence]:
    """Whether the quotient of each pair lies between two bounds: the t interval of its logarithm, by seed."""
    found = []
    bounds = (math.log(least) if least > 0 else -math.inf, math.log(most) if most < math.inf else math.inf)
    for pair in pairs:
        logs = tuple(Side(side.name, {k: _log(v) for k, v in side.values.items()}, _log(side.figure), side.lack)
                     for side in pair)  # fmt: skip
        one = _within(logs, len(pairs), *bounds, _bounds(least, most) + ", t of logarithms", 0.025)  # type: ignore[arg-type]
        what = _name(*pair, "/")
        mean, low, high = (math.exp(number) for number in (one.mean, one.low, one.high))
        found.append(Evidence(one.verdict, what, one.n, mean, low, high, one.p, one.test, one.why))
    return found


def exact(pairs: Sequence[tuple[Side, Side]], least: float, most: float, quotient: bool) -> list[Evidence]:
    """Whether differences (or quotients) of figures in which nothing is random lie strictly between two bounds.

    Figures by seed are compared by seed, and all of them must lie there, or none: no difference in any seed refutes an
    order, which a test of ranks would leave open.
    """
    found = []
    for first, second in pairs:
        what, sizes = _name(first, second, "/" if quotient else "-"), _sizes(first, second, quotient)
        if not sizes:
            found.append(Evidence(UNDECIDED, what, why=first.lack or second.lack or "no seeds in common"))
            continue
        there = sum(least < size < most for size in sizes)
        verdict = HOLDS if there == len(sizes) else UNDECIDED if there else FAILS
        effect = _interval(sizes, 0.025) if len(set(sizes)) > 1 else (sizes[0], math.nan, math.nan)
        test = "single figures" if len(sizes) == 1 else "each seed"
        why = f"in {there} of {len(sizes)} seeds" if verdict == UNDECIDED else ""
        found.append(Evidence(verdict, what, len(sizes), *effect, test=test, why=why))
    return found


def errors(pairs: Sequence[tuple[Side, Side]], of: int, margin: float | None = None) -> list[Evidence]:
    """Whether the first model of each pair errs less on ``of`` test samples: Fisher's exact test, Holm-corrected.

    With a ``margin``, in errors, it is enough not to err more: the upper one-sided 95 % limit of what it errs more must
    lie below the margin.
    """
    found: list[Evidence] = []
    for first, second in pairs:
        what = _name(first, second)
        one, other = _figure(first), _figure(second)
        if math.isnan(one) or math.isnan(other):
            found.append(Evidence(UNDECIDED, what, why=first.lack or second.lack or "more than one model on a side"))
            continue
        p = fisher(round(one), round(other), of)
        spread = math.sqrt(one * (1 - one / of) + other * (1 - other / of))
        size = one - other
        found.append(Evidence("", what, 1, size, size - 1.959964 * spread, size + 1.959964 * spread, p, "Fisher"))
    tested = [index for index, finding in enumerate(found) if not finding.verdict]
    for index, p in zip(tested, holm([found[index].p for index in tested])):
        found[index] = _counted(found[index], p, margin)
    return found


def fisher(one: int, other: int, of: int) -> float:
    """Two-sided p of Fisher's exact test of two counts among ``of`` each: all that is no likelier than they are.

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


def _counted(one: Evidence, p: float, margin: float | None) -> Evidence:
    reached = margin is not None and one.mean + (one.high - one.mean) * 1.644854 / 1.959964 <= margin
    worse, better = one.mean > 0 and p < ALPHA, one.mean < 0 and p < ALPHA
    verdict = FAILS if worse else HOLDS if reached or (margin is None and better) else UNDECIDED
    test = one.test if margin is None else f"{one.test}, margin {margin:g} errors"
    return Evidence(
        verdict, one.what, one.n, one.mean, one.low, one.high, p, test, "" if verdict != UNDECIDED else "within noise"
    )


def _lacking(first: Side, second: Side) -> Evidence | None:
    """A finding of a pair with too few seeds in common to be tested."""
    values = _differences(first, second)
    lack = next((side.lack for side in (first, second) if side.lack), "")
    if len(values) > 1 and all(len(set(side.values.values())) < 2 for side in (first, second)):
        values, lack = values[:1], "the others are copies of it"
    if len(values) >= LEAST_PAIRS:
        return None
    why = f"{len(values)} of at least {LEAST_PAIRS} seeds" + (f": {lack}" if lack else "")
    mean = mean_std(values)[0]
    return Evidence(UNDECIDED, _name(first, second), len(values), mean, why=why)


def _name(first: Side, second: Side, sign: str = "-") -> str:
    place = f", {first.place or second.place}" if first.place or second.place else ""
    return (f"{first.name} {sign} {second.name}" if second.name else first.name) + place


def _differences(first: Side, second: Side) -> list[float]:
    """First less second, by seed; a figure stands against every seed of the other side."""
    if not math.isnan(second.figure):
        return [value - second.figure for value in first.values.values()]
    if not math.isnan(first.figure):
        return [first.figure - value for value in second.values.values()]
    return [first.values[seed] - second.values[seed] for seed in first.values if seed in second.values]


def _sizes(first: Side, second: Side, quotient: bool) -> list[float]:
    """Differences, or quotients, by seed; one of sides without seeds in common that have a figure each."""
    seeds = [seed for seed in first.values if seed in second.values]
    both = [(first.values[seed], second.values[seed]) for seed in seeds] or [(_figure(first), _figure(second))]
    return [one / other if quotient else one - other for one, other in both if not math.isnan(one + other)]


def _interval(values: Sequence[float], level: float) -> tuple[float, float, float]:
    """(mean, low, high) with ``level`` of the distribution beyond each limit; limits are the mean without a spread."""
    from scipy.special import stdtrit

    mean, std = mean_std(values)
    half = float(stdtrit(len(values) - 1, 1 - level)) * std / math.sqrt(len(values))
    return mean, mean - half, mean + half


def _difference(first: Side, second: Side) -> Evidence:
    """The effect of a pair and its uncorrected p, not yet decided."""
    values = _differences(first, second)
    return Evidence(
        "", _name(first, second), len(values), *_interval(values, 0.025), signed_rank(values, [0.0] * len(values)),
        "Wilcoxon",
    )  # fmt: skip


def _decided(one: Evidence, p: float, family: int, higher: bool) -> Evidence:
    better = one.mean > 0 if higher else one.mean < 0
    verdict = UNDECIDED if p >= ALPHA else HOLDS if better else FAILS
    test = f"{one.test}, Holm over {family}" if family > 1 else one.test
    short = family * 2.0 ** (1 - one.n) > ALPHA
    why = "" if verdict != UNDECIDED else f"too few seeds for {family} pairs" if short else "within noise"
    return Evidence(verdict, one.what, one.n, one.mean, one.low, one.high, p, test, why)


def _within(
    pair: tuple[Side, Side], family: int, least: float, most: float, test: str, level: float = ALPHA
) -> Evidence:
    """Whether the interval of a pair's differences lies between bounds; to lie beyond them, it is Bonferroni's."""
    if lacking := _lacking(*pair):
        return lacking
    values = _differences(*pair)
    _, low, high = _interval(values, level)
    _, wide_low, wide_high = _interval(values, level / family)
    verdict = HOLDS if least < low and high < most else FAILS if wide_high < least or wide_low > most else UNDECIDED
    why = "" if verdict != UNDECIDED else "the interval reaches over the margin"
    return Evidence(verdict, _name(*pair), len(values), *_interval(values, 0.025), test=test, why=why)


def _figure(side: Side) -> float:
    """The one figure of a side in which nothing is random; nan where there is none, or several that differ."""
    if not math.isnan(side.figure):
        return side.figure
    values = set(side.values.values())
    return values.pop() if len(values) == 1 else math.nan


def _log(number: float) -> float:
    return math.log(number) if number > 0 else math.nan


def _bounds(least: float, most: float) -> str:
    if most == math.inf:
        return f"at least {least:g}"
    return f"at most {most:g}" if least == 0 else f"{least:g} to {most:g}"
