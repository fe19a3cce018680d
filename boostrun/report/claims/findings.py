"""What a comparison of trials shows: each test of a claim, on values by seed, ends in one :class:`Evidence`.

Pairs of seeds carry every test but those of counts and of figures in which nothing is random. Fewer than six pairs
carry none: what is short of them cannot be told, however far the means lie apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from boostrun.report.formats import decimal
from boostrun.report.statistics import ALPHA, LEAST_PAIRS, holm, mean_std, signed_rank

HOLDS, FAILS, UNTOLD = "holds", "fails", "cannot be told"


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
            found.append(Evidence(UNTOLD, what, why=first.lack or second.lack or "no seeds in common"))
            continue
        there = sum(least < size < most for size in sizes)
        verdict = HOLDS if there == len(sizes) else UNTOLD if there else FAILS
        effect = _interval(sizes, 0.025) if len(set(sizes)) > 1 else (sizes[0], math.nan, math.nan)
        test = "single figures" if len(sizes) == 1 else "each seed"
        why = f"in {there} of {len(sizes)} seeds" if verdict == UNTOLD else ""
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
            found.append(Evidence(UNTOLD, what, why=first.lack or second.lack or "more than one model on a side"))
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
    verdict = FAILS if worse else HOLDS if reached or (margin is None and better) else UNTOLD
    test = one.test if margin is None else f"{one.test}, margin {margin:g} errors"
    return Evidence(
        verdict, one.what, one.n, one.mean, one.low, one.high, p, test, "" if verdict != UNTOLD else "within noise"
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
    return Evidence(UNTOLD, _name(first, second), len(values), mean, why=why)


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
    verdict = UNTOLD if p >= ALPHA else HOLDS if better else FAILS
    test = f"{one.test}, Holm over {family}" if family > 1 else one.test
    short = family * 2.0 ** (1 - one.n) > ALPHA
    why = "" if verdict != UNTOLD else f"too few seeds for {family} pairs" if short else "within noise"
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
    verdict = HOLDS if least < low and high < most else FAILS if wide_high < least or wide_low > most else UNTOLD
    why = "" if verdict != UNTOLD else "the interval reaches over the margin"
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
