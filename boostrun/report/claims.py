"""The comparisons of claims, their tests, and the same comparisons of a paper's printed figures.

:mod:`boostrun.runner.claims` reads them from files. A test compares pairs of sides and ends in one :class:`Evidence`
for each pair. Values are paired by seed, except counts of errors and figures without randomness. Fewer than six pairs
decide nothing, however far the means lie apart. The paper's printed figures are held to the same sentence without a
test: :func:`on_paper`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from boostrun.report.entry import common
from boostrun.report.markup import decimal
from boostrun.report.statistics import (
    ALPHA,
    LEAST_PAIRS,
    ONE_SPLIT,
    PAPER_TRIALS,
    Sampling,
    holm,
    interval,
    mcnemar,
    mcnemar_range,
    mean_std,
    paired,
    welch,
)

TESTS = ("order", "trend", "alike", "no_worse", "ratio", "errors", "lines")
SIGNS = ("<", "<=", "=", ">=", ">")
PAPER = "paper"
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
CONTRADICTED, LEVEL, NOT_PRINTED = "contradicted", "level", "not printed"


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
    by_construction: str = ""


# -- the tests ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """One side of a comparison: values by seed, or a ``figure`` that is no trial's (NaN if there is none).

    ``lack`` is the reason why values are missing. ``place`` is their place in the table, if there are several.
    ``spread`` is the standard deviation of the trials behind a paper's figure, NaN if it is not printed, and ``source``
    names the figure. ``wrong`` (n,) marks the test samples on which a single model errs, if its predictions are kept.
    ``sampling`` describes how the trials differ in their data.
    """

    name: str
    values: Mapping[int, float] = field(default_factory=dict)
    figure: float = math.nan
    lack: str = ""
    place: str = ""
    spread: float = math.nan
    source: Any = None
    wrong: Any = None
    sampling: Sampling = ONE_SPLIT


Pair = tuple[Side, Side]


@dataclass(frozen=True)
class Evidence:
    """The result of one comparison.

    ``mean``, ``low`` and ``high`` are the effect in the metric's unit with its 95 % interval, NaN if there is none.
    ``n`` counts pairs or trials. ``p`` is adjusted if several pairs were tested, and NaN without a test; ``least_p`` is
    lower if p is known as a range. ``against`` orders evidence: the more it speaks against the sentence, the larger.
    ``slope``: the effect is a slope, and ``what`` its two ends.
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
    least_p: float = math.nan
    against: tuple[float, float] = (math.inf, 0.0)
    slope: bool = False

    @property
    def effect(self) -> str:
        """The comparison in words, with its effect and interval if there are any.

        >>> Evidence(HOLDS, "a - b", 10, 1.5, 1.0, 2.0).effect
        'a - b +1.50 [+1.00, +2.00]'
        >>> Evidence(HOLDS, "n=500 to n=100", 10, 1.5, 1.0, 2.0, slope=True).effect
        'from n=100 to n=500 it rises by 1.50 a step [1.00, 2.00]'
        """
        if math.isnan(self.mean):
            return self.what
        what, numbers, signed = self.what, (self.mean, self.low, self.high), " / " not in self.what
        if self.slope:
            ends, comma, place = what.partition(",")
            first, last = ends.split(" to ")
            turned, falls = _number_in(first) > _number_in(last), self.mean > 0
            first, last, way = (last, first, not falls) if turned else (first, last, falls)
            what, signed = f"from {first} to {last}{comma}{place} it {'falls' if way else 'rises'} by", False
            numbers = numbers if self.mean > 0 else (-self.mean, -self.high, -self.low)
        mean, low, high = (_short(number, signed) for number in numbers)
        text = f"{what}{':' if ',' in what else ''} {mean}{' a step' if self.slope else ''}"
        return text if math.isnan(self.low) else f"{text} [{low}, {high}]"


def _number_in(name: str) -> float:
    """The last number in a name, NaN without one.

    >>> _number_in("iboost_stochastic n=500")
    500.0
    """
    found = re.findall(r"\d+\.?\d*", name)
    return float(found[-1]) if found else math.nan


def _short(number: float, signed: bool) -> str:
    places = 2 if not 0 < abs(number) < 0.095 else 2 - math.floor(math.log10(abs(number)) + 1)
    return decimal(number, signed=signed, group=" ", places=min(places, 6))


def order(pairs: Sequence[Pair], higher: bool) -> list[Evidence]:
    """Whether the first of each pair is better: Wilcoxon's signed-rank test, Holm-corrected over all pairs.

    Trials with a split each are compared by the corrected resampled t test instead, a paper's figure with a printed
    spread by Welch's.
    """

    def decide(one: Evidence, family: int) -> Evidence:
        contrary = -one.mean if higher else one.mean
        verdict = UNDECIDED if one.p >= ALPHA else FAILS if contrary > 0 else HOLDS
        test = f"{one.test}, Holm over {family}" if family > 1 else one.test
        short = one.test == "Wilcoxon" and family * 2.0 ** (1 - one.n) > ALPHA
        why = "" if verdict != UNDECIDED else f"too few seeds for {family} pairs" if short else "within noise"
        return dataclasses.replace(one, verdict=verdict, test=test, why=why, against=_against(one.p, contrary))

    found = []
    for pair in pairs:
        values, spread, ratio = _differences(*pair), _spread(pair), _ratio(pair)
        p = paired(*_by_seed(*pair), Sampling(ratio)).p
        test = "corrected t" if ratio else "Wilcoxon"
        if not math.isnan(spread):
            p, test = welch(*mean_std(values), len(values), 0.0, spread, PAPER_TRIALS, ratio), "Welch"
        effect = interval(values, paper_std=spread, ratio=ratio)
        found.append(_lacking(*pair) or Evidence("", _name(*pair), len(values), *effect, p, test))
    return _corrected(found, decide)


def _against(p: float, contrary: float) -> tuple[float, float]:
    """How far evidence with a p speaks against a sentence, whose contrary has the sign of ``contrary``."""
    return math.copysign(1.0 - p, contrary), contrary


def _corrected(found: list[Evidence], decide: Callable[[Evidence, int], Evidence]) -> list[Evidence]:
    """The findings, those without a verdict decided by their p, Holm-corrected over them."""
    tested = [index for index, finding in enumerate(found) if not finding.verdict]
    least = [found[index].p if math.isnan(found[index].least_p) else found[index].least_p for index in tested]
    for index, p, least_p in zip(tested, holm([found[index].p for index in tested]), holm(least)):
        found[index] = decide(dataclasses.replace(found[index], p=p, least_p=least_p), len(tested))
    return found


def slopes(chains: Sequence[Sequence[Side]]) -> list[Pair]:
    """The slope of each chain of sides over its places beside 0, by seed or of figures; positive if the first is more.

    >>> slopes([[Side("n=1", {0: 3.0}), Side("n=2", {0: 2.0}), Side("n=3", {0: 1.0})]])[0][0].values
    {0: 1.0}
    """
    pairs = []
    for chain in chains:
        centre = (len(chain) - 1) / 2
        weight = sum((place - centre) ** 2 for place in range(len(chain)))

        def slope(values: Sequence[float], centre: float = centre, weight: float = weight) -> float:
            return -sum((place - centre) * value for place, value in enumerate(values)) / weight

        seeds = [seed for seed in chain[0].values if all(seed in side.values for side in chain)]
        by_seed = {seed: slope([side.values[seed] for side in chain]) for seed in seeds}
        lack, name = next((side.lack for side in chain if side.lack), ""), f"{chain[0].name} to {chain[-1].name}"
        figure, sampling = slope([side.figure for side in chain]), common(side.sampling for side in chain)
        one = Side(name, by_seed, figure, lack, chain[0].place, sampling=sampling)
        pairs.append((one, Side("", figure=0.0)))
    return pairs


def trend(pairs: Sequence[Pair], higher: bool) -> list[Evidence]:
    """Whether each chain of sides gets worse from the first on: :func:`order` of its :func:`slopes`."""
    return [dataclasses.replace(one, slope=True) for one in order(pairs, higher)]


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
            Side(
                side.name, {seed: _log(one) for seed, one in side.values.items()}, _log(side.figure), side.lack,
                sampling=side.sampling,
            )
            for side in pair
        )  # fmt: skip
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
        sizes = [one / other if quotient else one - other for one, other in both
                 if not math.isnan(one + other) and (other or not quotient)]  # fmt: skip
        if not sizes:
            found.append(Evidence(UNDECIDED, what, why=first.lack or second.lack or "no seeds in common"))
            continue
        inside = sum(least < size < most for size in sizes)
        verdict = HOLDS if inside == len(sizes) else UNDECIDED if inside else FAILS
        against = max(*(size - most for size in sizes), *(least - size for size in sizes)), 0.0
        effect = interval(sizes) if len(set(sizes)) > 1 else (sizes[0], math.nan, math.nan)
        test = "single figures" if len(sizes) == 1 else "each seed"
        why = f"in {inside} of {len(sizes)} seeds" if verdict == UNDECIDED else ""
        found.append(Evidence(verdict, what, len(sizes), *effect, test=test, why=why, against=against))
    return found


def on_paper(pairs: Sequence[Pair], least: float, most: float, quotient: bool) -> list[Evidence]:
    """Whether the printed figures of each pair differ, or have a quotient, as a sentence says: within two bounds.

    A verdict is holds, contradicted, level (two equal figures, one of which is said to be better) or not printed.

    >>> lower = Side("a", figure=-2.0), Side("b", figure=-1.9)
    >>> [(one.verdict, one.what) for one in on_paper([lower], -math.inf, 0.0, False)]
    [('holds', 'a -2.00, b -1.90')]
    """
    found = []
    for first, second in pairs:
        one, other = first.figure, second.figure
        if math.isnan(one) or math.isnan(other) or (quotient and not other):
            found.append(Evidence(NOT_PRINTED, _name(first, second), why=first.lack or second.lack))
            continue
        if first.source is not None and first.source == second.source:
            found.append(Evidence(NOT_PRINTED, _name(first, second), why="one figure for both"))
            continue
        size = round(one / other if quotient else one - other, 9)
        verdict = LEVEL if size == 0 in (least, most) else HOLDS if least <= size <= most else CONTRADICTED
        what = ", ".join(f"{side.name} {_short(side.figure, False)}" for side in (first, second) if side.name)
        against = max(size - most, least - size), 0.0
        found.append(Evidence(verdict, what + _place(first, second), 1, size, against=against))
    return found


def beyond(size: float, least: float, most: float) -> int:
    """On which side of two bounds a difference or quotient lies: 1 above, -1 below, 0 between them."""
    return (size > most) - (size < least)


def errors(pairs: Sequence[Pair], of: int, margin: float | None = None) -> list[Evidence]:
    """Whether the first model of each pair errs less on the same ``of`` samples: McNemar's test, Holm-corrected.

    With a ``margin`` of errors it is enough not to make more: the upper one-sided 95 % limit of the difference must lie
    below the margin. The test needs both models' predictions. Without them p is a range, over all overlaps of the
    errors: a verdict must hold for all of them, and the interval is the widest.
    """

    def decide(one: Evidence, family: int) -> Evidence:
        upper = one.mean + (one.high - one.mean) * 1.644854 / 1.959964
        unknown = one.least_p < one.p
        narrowest = one.mean + 1.644854 * math.sqrt(abs(one.mean) - one.mean**2 / of) if unknown else upper
        worse, better = one.mean > 0 and one.p < ALPHA, one.mean < 0 and one.p < ALPHA
        reached = margin is not None and upper <= margin
        verdict = HOLDS if reached or (margin is None and better) else FAILS if worse else UNDECIDED
        decisive = one.least_p < ALPHA and (margin is None or one.mean > 0)
        decisive = unknown and (decisive or (margin is not None and narrowest <= margin))
        why = "the predictions would decide, and records have only counts of errors" if decisive else "within noise"
        test = "McNemar, any overlap of errors" if unknown else "McNemar"
        test += "" if margin is None else f", margin {margin:g} errors"
        test += f", Holm over {family}" if family > 1 else ""
        against = _against(one.p, one.mean) if margin is None else (upper - margin, one.mean)
        return dataclasses.replace(
            one, verdict=verdict, test=test, why=why if verdict == UNDECIDED else "", against=against
        )

    found: list[Evidence] = []
    for first, second in pairs:
        what, one, other = _name(first, second), _figure(first), _figure(second)
        if math.isnan(one) or math.isnan(other):
            found.append(Evidence(UNDECIDED, what, why=first.lack or second.lack or "more than one model on a side"))
            continue
        alone = min(one + other, 2 * of - one - other)  # samples that one model alone gets wrong, at most
        least_p, p = mcnemar_range(round(one), round(other), of)
        if first.wrong is not None and second.wrong is not None and len(first.wrong) == len(second.wrong) == of:
            counts = [int((a & ~b).sum()) for a, b in ((first.wrong, second.wrong), (second.wrong, first.wrong))]
            alone, least_p, p = sum(counts), mcnemar(*counts), mcnemar(*counts)
        half = 1.959964 * math.sqrt(max(0.0, alone - (one - other) ** 2 / of))
        found.append(Evidence("", what, 1, one - other, one - other - half, one - other + half, p, least_p=least_p))
    return _corrected(found, decide)


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
    values, spread, ratio = _differences(*pair), _spread(pair), _ratio(pair)
    _, low, high = interval(values, tail, spread, ratio)
    _, wide_low, wide_high = interval(values, tail / family, spread, ratio)
    verdict = HOLDS if least < low and high < most else FAILS if wide_high < least or wide_low > most else UNDECIDED
    why = "" if verdict != UNDECIDED else "the interval reaches over the margin"
    if any(side.name == PAPER for side in pair):
        test += ", no spread printed" if math.isnan(spread) else ", Welch"
    effect, against = interval(values, paper_std=spread, ratio=ratio), (max(high - most, least - low), 0.0)
    return Evidence(verdict, _name(*pair), len(values), *effect, test=test, why=why, against=against)


def _name(first: Side, second: Side, sign: str = "-") -> str:
    return (f"{first.name} {sign} {second.name}" if second.name else first.name) + _place(first, second)


def _place(first: Side, second: Side) -> str:
    return f", {first.place or second.place}" if first.place or second.place else ""


def _spread(pair: Pair) -> float:
    """The printed spread behind the paper's figure of a pair, NaN without one."""
    return next((side.spread for side in pair if not math.isnan(side.spread)), math.nan)


def _ratio(pair: Pair) -> float:
    """The ratio of test to training samples of a pair's trials, 0 on one split."""
    return common(side.sampling for side in pair).ratio


def _by_seed(first: Side, second: Side) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """The values of both sides by seed; a figure is that of every seed of the other side."""
    if not math.isnan(second.figure):
        return first.values, dict.fromkeys(first.values, second.figure)
    if not math.isnan(first.figure):
        return dict.fromkeys(second.values, first.figure), second.values
    return first.values, second.values


def _differences(first: Side, second: Side) -> list[float]:
    """First less second, over the seeds of both."""
    ours, others = _by_seed(first, second)
    return [ours[seed] - others[seed] for seed in ours if seed in others]


def _figure(side: Side) -> float:
    """The one figure of a side without randomness; NaN if there is none, or several that differ."""
    if not math.isnan(side.figure):
        return side.figure
    values = set(side.values.values())
    return values.pop() if len(values) == 1 else math.nan


def _log(number: float) -> float:
    return math.log(number) if number > 0 else math.nan
