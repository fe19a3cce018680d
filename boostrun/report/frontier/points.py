"""What was measured: one point for a method and a budget, held against what its trials really cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from boostrun.report.entry import by_seed, done, value
from boostrun.report.formats import NARROW, count
from boostrun.report.statistics import mean_std

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
