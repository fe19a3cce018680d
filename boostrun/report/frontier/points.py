"""What was measured: one point for a method and a budget, held against what its trials really cost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from boostrun.report.entry import by_seed, done, value
from boostrun.report.formats import NARROW, count, decimal
from boostrun.report.paired import interval
from boostrun.report.statistics import ALPHA, LEAST_PAIRS, holm, mean_std, signed_rank

METRIC = "test_accuracy_pct"


class BudgetKind(NamedTuple):
    """A kind of budget: what it is called, how a sentence says it, which figures of a record tell what was spent: the
    sum of the first of ``costs`` that are all there.
    """

    head: str
    phrase: str
    costs: tuple[tuple[str, ...], ...]


# what chooses, watches or refits, where a method keeps accounts
_LEDGER = tuple(f"evaluations_{account}" for account in ("selection", "pilot", "tasting", "refit"))
KINDS = {
    "samples_held": BudgetKind("samples held", "holding {} samples", (("peak_samples_held",),)),
    "evaluations": BudgetKind(
        "evaluations", "with {} evaluations of a feature on a sample", (_LEDGER, ("evaluations",))
    ),
    "features": BudgetKind("features used", "with {} features", (("n_features_used",), ("features",))),
    "model_bytes": BudgetKind("bytes of the model", "with a model of {} bytes", (("model_bytes",),)),
    "seconds": BudgetKind("seconds of training", "with {} s of training", (("train_seconds",),)),
}


def amount(budget: float, group: str = NARROW) -> str:
    """A budget as it is read.

    >>> amount(0.3), amount(60000.0, " ")
    ('0.3', '60 000')
    """
    return count(budget, group) if float(budget).is_integer() else f"{budget:g}"


@dataclass(frozen=True)
class FrontierPoint:
    """A method under a budget.

    Attributes
    ----------
    method, rival : its name, and whether it is one of those that the others are set against
    budget : what it may spend
    records : the finished trials
    expected : how many trials were asked for
    reason : why there is none, where that is known
    words : what it was told, as it is typed
    failed : how many trials failed
    fixed : whether nothing in it is random: its one figure stands for every seed
    """

    method: str
    rival: bool
    budget: float
    records: Sequence[Mapping[str, Any]] = ()
    expected: int = 0
    reason: str = ""
    words: str = ""
    failed: int = 0
    fixed: bool = False

    @cached_property
    def values(self) -> dict[int, float]:
        """Test accuracy in percent, by seed."""
        return by_seed(self.records, METRIC)[0]

    @cached_property
    def mean(self) -> float:
        """Of :attr:`values`; nan of none."""
        return mean_std(self.values.values())[0]

    @cached_property
    def std(self) -> float:
        """Of :attr:`values`, ddof 1; nan of fewer than two."""
        return mean_std(self.values.values())[1]


@dataclass(frozen=True)
class Frontier:
    """All points of one data set and kind of budget; ``about`` are lines on how they were made."""

    dataset: str
    kind: str
    points: tuple[FrontierPoint, ...]
    about: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The heading of its table."""
        return f"{self.dataset}: accuracy by {KINDS[self.kind].head}"

    @property
    def budgets(self) -> list[float]:
        """In their order."""
        return sorted({point.budget for point in self.points})

    @property
    def methods(self) -> list[str]:
        """Methods, those that are no rivals first."""
        return list(dict.fromkeys(point.method for point in sorted(self.points, key=lambda point: point.rival)))

    @cached_property
    def seeds(self) -> list[int]:
        """Of all trials that are not fixed."""
        return sorted({seed for point in self.points if not point.fixed for seed in point.values})

    def at(self, budget: float) -> list[FrontierPoint]:
        """The points of one budget."""
        return [point for point in self.points if point.budget == budget]

    def spent(self, point: FrontierPoint) -> float:
        """The most that a trial of the point spent, of seconds the mean; nan where its records do not tell."""
        found = [_spent(record, KINDS[self.kind].costs) for record in done(point.records)]
        if not found or any(map(math.isnan, found)):
            return math.nan
        return mean_std(found)[0] if self.kind == "seconds" else max(found)

    def over(self, point: FrontierPoint) -> bool:
        """Whether a point spent more than it was given: it is shown, and wins nothing."""
        return self.spent(point) > point.budget * (1 + 1e-9)

    def paired(self, point: FrontierPoint) -> dict[int, float]:
        """The values of a point by seed; that of a fixed one at every seed of the others."""
        if point.fixed and len(point.values) == 1 and self.seeds:
            return dict.fromkeys(self.seeds, next(iter(point.values.values())))
        return point.values

    def eligible(self, budget: float) -> list[FrontierPoint]:
        """The points of a budget that have figures and kept it."""
        return [point for point in self.at(budget) if point.values and not self.over(point)]


def _spent(record: Mapping[str, Any], costs: Sequence[Sequence[str]]) -> float:
    """The sum of the first of ``costs`` that a record has all of; nan where it has none."""
    for names in costs:
        found = [each for name in names if (each := value(record, name)) is not None]
        if len(found) == len(names):
            return sum(found)
    return math.nan


WIN, TIE, LOSS, UNTESTED, ALONE = "win", "tie", "loss", "untested", "alone"


class Verdict(NamedTuple):
    """The best of ours against the best rival under one budget.

    ``mean`` is ours less the rival's in points of accuracy over the ``n`` seeds of both, with its 95 % interval; ``p``
    that of Wilcoxon's signed-rank test, paired by seed, corrected over the budgets (Holm); ``outcome`` one of win, tie,
    loss, untested (too few trials, or all the same), alone (one side has no figure, and its name is empty).
    """

    budget: float
    ours: str
    rival: str
    n: int
    mean: float
    low: float
    high: float
    p: float
    outcome: str


def verdicts(frontier: Frontier) -> list[Verdict]:
    """One for each budget under which anybody has a figure.

    The best of a side is the one of best mean. As in the house's tables nothing is tested where the number of seeds
    makes p < 0.05 impossible whatever the values; nor where every seed gave both sides the same, as of methods without
    chance: that is one comparison, however often it is repeated.
    """
    sides = []
    for budget in frontier.budgets:
        able = frontier.eligible(budget)
        ours, rival = (_best([point for point in able if point.rival is which]) for which in (False, True))
        if ours or rival:
            sides.append((budget, ours, rival))
    pairs = {budget: _paired(frontier, ours, rival) for budget, ours, rival in sides if ours and rival}
    testable = {budget: pair for budget, pair in pairs.items() if len(pair) >= LEAST_PAIRS and len(set(pair)) > 1}
    most = max(map(len, testable.values()), default=0)
    if len(testable) * 2.0 ** (1 - most) > ALPHA:
        testable = {}
    raw = [signed_rank([a for a, _ in pair], [b for _, b in pair]) for pair in testable.values()]
    corrected = dict(zip(testable, holm(raw)))
    found = []
    for budget, ours, rival in sides:
        names = (ours.method if ours else "", rival.method if rival else "")
        pair = pairs.get(budget, [])
        between = interval(a - b for a, b in pair) if pair else (math.nan,) * 3
        p = corrected.get(budget, math.nan)
        found.append(Verdict(budget, *names, len(pair), *between, p, _outcome(names, between[0], p)))
    return found


def _best(points: Sequence[FrontierPoint]) -> FrontierPoint | None:
    return max(points, key=lambda point: point.mean, default=None)


def _paired(frontier: Frontier, ours: FrontierPoint, rival: FrontierPoint) -> list[tuple[float, float]]:
    a, b = frontier.paired(ours), frontier.paired(rival)
    return [(a[seed], b[seed]) for seed in a if seed in b]


def _outcome(names: tuple[str, str], mean: float, p: float) -> str:
    if not all(names):
        return ALONE
    if math.isnan(p):
        return UNTESTED
    return TIE if p >= ALPHA else WIN if mean > 0 else LOSS


def sentence(frontier: Frontier) -> str:
    """When the budget pays, and when a rival is the better choice: neighbouring budgets of one outcome together."""
    found = verdicts(frontier)
    if not found:
        return f"On {frontier.dataset} no method has a figure under any of these budgets."
    together = itertools.groupby(found, lambda one: one.outcome)
    parts = [_part(frontier, outcome, list(some)) for outcome, some in together]
    return f"On {frontier.dataset}, {'; '.join(parts)}{_counted(found)}."


def _part(frontier: Frontier, outcome: str, some: Sequence[Verdict]) -> str:
    first, last = amount(some[0].budget), amount(some[-1].budget)
    where = KINDS[frontier.kind].phrase.format(first if len(some) == 1 else f"{first} to {last}")
    ours, rivals = _names(one.ours for one in some), _names(one.rival for one in some)
    by = _points(some)
    if outcome == WIN:
        return f"{where} the budget pays: {ours} is ahead of the best rival ({rivals}) by {by}"
    if outcome == LOSS:
        return f"{where} {rivals} is the better choice, ahead of {ours} by {by}"
    if outcome == TIE:
        return f"{where} {ours} and {rivals} are level"
    if outcome == UNTESTED and not any(one.mean for one in some):
        return f"{where} {ours} and {rivals} have the same figures, and there is nothing to test"
    if outcome == UNTESTED:
        leaders = _names(one.ours if one.mean > 0 else one.rival for one in some)
        return f"{where} {leaders} has the higher mean, which the trials are too few, or too much alike, to test"
    return (
        f"{where} {ours} is the best, and no rival has a figure" if ours else f"{where} {rivals} is the best, and alone"
    )


def _names(names: Iterator[str]) -> str:
    return " or ".join(dict.fromkeys(filter(None, names)))


def _points(some: Sequence[Verdict]) -> str:
    sizes = [abs(one.mean) for one in some]
    low, high = decimal(min(sizes)), decimal(max(sizes))
    return f"{low} points" if low == high else f"{low} to {high} points"


def _counted(found: Sequence[Verdict]) -> str:
    """Wins, ties and losses, and how they were told; nothing where nothing was tested."""
    tested = [one for one in found if one.outcome in (WIN, TIE, LOSS)]
    if not tested:
        return ""
    counts = [sum(one.outcome == outcome for one in tested) for outcome in (WIN, TIE, LOSS)]
    words = ", ".join(
        f"{number} {name if number == 1 else plural}"
        for number, (name, plural) in zip(counts, (("win", "wins"), ("tie", "ties"), ("loss", "losses")))
    )
    return f" ({words} of our best against the best rival; p < {ALPHA}, signed-rank test by seed, Holm-corrected)"
