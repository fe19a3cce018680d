"""The tests of claims: each compares pairs of sides and ends in one :class:`Evidence` for each pair.

Values are paired by seed, except counts of errors and figures without randomness. Fewer than six pairs decide nothing,
however far the means lie apart.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from boostrun.report.formats import decimal
from boostrun.report.statistics import ALPHA, LEAST_PAIRS, holm, interval, mean_std, signed_rank

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


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
