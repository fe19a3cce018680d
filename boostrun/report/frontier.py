"""A frontier: the accuracy, or another metric, of each method under each budget, with its tables and a sentence.

A point is a method under a budget. It competes if its trials really kept the budget. Under each budget the best of our
methods is tested against the best rival.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from boostrun.report.entry import ACCURACY, Entry, by_seed, curve_points, done, measure_of, of_draws, places_of, value
from boostrun.report.markup import (
    BEST,
    MISSING,
    NARROW,
    NOT_WORSE,
    align,
    count,
    csv_text,
    decimal,
    escape,
    has_unit,
    lower_is_better,
    metric_name,
    pipe_table,
    signs_of,
    spread,
)
from boostrun.report.statistics import (
    ALPHA,
    LEAST_PAIRS,
    ONE_SPLIT,
    Paired,
    Sampling,
    compare_methods,
    holm,
    mean_std,
    paired,
    too_few,
)


class BudgetKind(NamedTuple):
    """A kind of budget: its name, its phrase in a sentence, and the figures of a record that are summed to what was
    spent: the first of ``costs`` that are all there.
    """

    head: str
    phrase: str
    costs: tuple[tuple[str, ...], ...]


_LEDGER = tuple(f"evaluations_{account}" for account in ("selection", "pilot", "tasting", "refit"))  # where kept
KINDS = {
    "samples_held": BudgetKind("samples held", "holding {} samples", (("peak_samples_held",),)),
    "evaluations": BudgetKind(
        "evaluations", "with {} evaluations of a feature on a sample", (_LEDGER, ("evaluations",))
    ),
    "features": BudgetKind("features used", "with {} features", (("n_features_used",), ("features",))),
    "model_bytes": BudgetKind("bytes of the model", "with a model of {} bytes", (("model_bytes",),)),
    "flash_bytes": BudgetKind("bytes of flash", "in {} bytes of flash", (("flash_bytes",),)),
    "memory": BudgetKind("MiB of memory", "in {} MiB of memory", (("memory_mib",),)),
    "seconds": BudgetKind("seconds of training", "with {} s of training", (("train_seconds",),)),
}


def amount(budget: float, group: str = NARROW) -> str:
    """A budget as text.

    >>> amount(0.3), amount(60000.0, " ")
    ('0.3', '60 000')
    """
    return count(budget, group) if float(budget).is_integer() else f"{budget:g}"


@dataclass(frozen=True)
class FrontierPoint:
    """A method under a budget.

    Attributes
    ----------
    method, rival : its name, and whether it is a rival
    budget : the amount it may spend
    records : the finished trials
    expected : how many trials were asked for
    reason : why there is no trial, if that is known
    words : its settings, as typed
    failed : how many trials failed
    fixed : whether nothing in it is random, so that its one figure stands for every seed
    metric : key in the records' metrics
    right : the share of the trials that are right on each test row, if all of them kept their predictions
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
    metric: str = ACCURACY
    right: tuple[float, ...] | None = None

    @cached_property
    def values(self) -> dict[int, float]:
        """The metric, by seed."""
        return by_seed(self.records, self.metric)[0]

    @cached_property
    def mean(self) -> float:
        """The mean of :attr:`values`, NaN without any."""
        return mean_std(self.values.values())[0]

    @cached_property
    def std(self) -> float:
        """The standard deviation of :attr:`values` (ddof 1), NaN for fewer than two."""
        return mean_std(self.values.values())[1]


@dataclass(frozen=True)
class Frontier:
    """All points of one data set, kind of budget and metric; ``about`` has lines on how they were made.

    ``sampling`` is how trials differ in their data. ``samples`` and ``classes`` of the training part are 0 if unknown.
    """

    dataset: str
    kind: str
    points: tuple[FrontierPoint, ...]
    about: tuple[str, ...] = ()
    metric: str = ACCURACY
    sampling: Sampling = ONE_SPLIT
    samples: int = 0
    classes: int = 0

    @property
    def title(self) -> str:
        """The heading of the table."""
        return f"{self.dataset}: {measure_of(self.metric)} by {KINDS[self.kind].head}"

    @property
    def sign(self) -> int:
        """1 if the high end of the metric is good, else -1."""
        return -1 if lower_is_better(self.metric) else 1

    @property
    def budgets(self) -> list[float]:
        """The budgets in increasing order."""
        return sorted({point.budget for point in self.points})

    @property
    def methods(self) -> list[str]:
        """The methods, ours first."""
        return list(dict.fromkeys(point.method for point in sorted(self.points, key=lambda point: point.rival)))

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds of all points that are not fixed."""
        return sorted({seed for point in self.points if not point.fixed for seed in point.values})

    def at(self, budget: float) -> list[FrontierPoint]:
        """The points of one budget."""
        return [point for point in self.points if point.budget == budget]

    def spent(self, point: FrontierPoint) -> float:
        """The most that a trial of the point spent, or the mean for seconds; NaN if a record does not say."""
        found = [_spent(record, KINDS[self.kind].costs) for record in done(point.records)]
        if not found or any(map(math.isnan, found)):
            return math.nan
        return mean_std(found)[0] if self.kind == "seconds" else max(found)

    def draws(self, point: FrontierPoint) -> dict[str, float]:
        """Means over the trials: samples ``drawn``, ``passes`` over the data, ``reservoirs``, ``seconds`` of training.

        Empty unless samples held or memory are the budget and records count the samples drawn.
        """
        costs = [record["cost"] for record in done(point.records) if "samples_drawn" in record["cost"]]
        if not costs or self.kind not in ("samples_held", "memory"):
            return {}
        rows = [
            {"drawn": cost["samples_drawn"], **of_draws(cost, self.samples, self.classes),
             "seconds": cost.get("train_seconds", math.nan)}
            for cost in costs
        ]  # fmt: skip
        return {name: mean_std(row[name] for row in rows)[0] for name in rows[0]}

    def course(self, point: FrontierPoint) -> list[tuple[float, float, float]]:
        """(samples drawn, mean, standard deviation of the metric) during training; its end alone if no more is known.

        Empty as for :meth:`draws`.
        """
        if not (drawn := self.draws(point)) or not point.values:
            return []
        entry = Entry(point.method, (), {}, point.expected, point.records)
        return curve_points(entry, self.metric, "samples_drawn") or [(drawn["drawn"], point.mean, point.std)]

    def over(self, point: FrontierPoint) -> bool:
        """Whether a point spent more than its budget: it is shown, and does not compete."""
        return self.spent(point) > point.budget * (1 + 1e-9)

    def paired(self, point: FrontierPoint) -> dict[int, float]:
        """The values of a point by seed; a fixed point has its value at every seed of the others."""
        if point.fixed and len(point.values) == 1 and self.seeds:
            return dict.fromkeys(self.seeds, next(iter(point.values.values())))
        return point.values

    def eligible(self, budget: float) -> list[FrontierPoint]:
        """The points of a budget that compete."""
        return [point for point in self.at(budget) if point.values and not self.over(point)]


def _spent(record: Mapping[str, Any], costs: Sequence[Sequence[str]]) -> float:
    """The sum of the first group of ``costs`` that a record has in full; NaN if it has none."""
    for names in costs:
        found = [each for name in names if (each := value(record, name)) is not None]
        if len(found) == len(names):
            return sum(found)
    return math.nan


WIN, TIE, LOSS, UNTESTED, ALONE = "win", "tie", "loss", "untested", "alone"


class Verdict(NamedTuple):
    """The best of ours against the best rival under one budget.

    ``mean`` is ours less the rival's, in points of accuracy or in another metric, over the ``n`` seeds of both. Its
    95 % intervals are ``low`` to ``high`` over the trials, and ``rows_low`` to ``rows_high`` over the test rows, by a
    bootstrap or a bound, NaN if they are not known. ``p`` is the larger one of both, that of the wider interval,
    Holm-corrected over the budgets.
    ``outcome`` is win, tie, loss, untested (too few trials, or the same figures) or alone (one side has no figure, and
    an empty name).
    """

    budget: float
    ours: str
    rival: str
    n: int
    mean: float
    low: float
    high: float
    rows_low: float
    rows_high: float
    rows_by: str
    p: float
    outcome: str


def verdicts(frontier: Frontier) -> list[Verdict]:
    """The verdict for each budget under which a method has a figure.

    The best of a side has the best mean. They are compared by :func:`~boostrun.report.statistics.paired`. Nothing is
    tested if there are too few seeds for p < 0.05. If the difference is the same at every seed, as for methods without
    randomness, that is one comparison, repeated: it is tested over the test rows alone.
    """
    sides, sign = [], frontier.sign
    for budget in frontier.budgets:
        able = frontier.eligible(budget)
        ours, rival = (_best([point for point in able if point.rival is side], sign) for side in (False, True))
        if ours or rival:
            sides.append((budget, ours, rival))
    pairs: dict[float, Paired] = {}
    tested, repeated = {}, {}  # budget -> p
    for budget, ours, rival in sides:
        if ours and rival:
            a, b = frontier.paired(ours), frontier.paired(rival)
            one = pairs[budget] = paired(a, b, frontier.sampling, (ours.right, rival.right))
            enough = one.n >= LEAST_PAIRS or (ours.fixed and rival.fixed)
            if len({(round(a[seed], 9), round(b[seed], 9)) for seed in a if seed in b}) > 1:
                tested.update({budget: one.larger_p} if enough else {})
            elif enough and one.mean and not math.isnan(one.rows_p):
                repeated[budget] = one.rows_p
    most = max((pairs[budget].n for budget in tested), default=0)
    if too_few(most, len(tested) + len(repeated), frontier.sampling):
        tested = {}
    tested |= repeated
    corrected = dict(zip(tested, holm(list(tested.values()))))
    found = []
    for budget, ours, rival in sides:
        names = (ours.method if ours else "", rival.method if rival else "")
        one = pairs.get(budget, Paired(0, *(math.nan,) * 4))
        p = corrected.get(budget, math.nan)
        ahead = TIE if p >= ALPHA else WIN if sign * one.mean > 0 else LOSS
        outcome = ALONE if not all(names) else UNTESTED if math.isnan(p) else ahead
        found.append(Verdict(
            budget, *names, one.n, one.mean, one.low, one.high, one.rows_low, one.rows_high, one.rows_by, p, outcome
        ))  # fmt: skip
    return found


def _best(points: list[FrontierPoint], sign: int) -> FrontierPoint | None:
    """The point of best mean, of those with enough trials for a test if there are any."""
    tried = [point for point in points if point.fixed or len(point.values) >= LEAST_PAIRS]
    return max(tried or points, key=lambda point: sign * point.mean, default=None)


def sentence(frontier: Frontier) -> str:
    """A sentence: under which budgets ours are ahead, and under which a rival is.

    Neighbouring budgets with the same outcome share a part of it.
    """
    found = verdicts(frontier)
    if not found:
        return f"On {frontier.dataset} no method has a figure under any of these budgets."
    kinds = itertools.groupby(found, lambda one: (one.outcome, one.outcome == UNTESTED and (one.n > 0, one.mean == 0)))
    parts = [_part(frontier, outcome, list(some)) for (outcome, _), some in kinds]
    by = f" by {measure_of(frontier.metric)}" * (frontier.metric != ACCURACY)
    return f"On {frontier.dataset}{by}, {'; '.join(parts)}{_counted(found)}."


def _part(frontier: Frontier, outcome: str, some: Sequence[Verdict]) -> str:
    first, last = amount(some[0].budget), amount(some[-1].budget)
    where = KINDS[frontier.kind].phrase.format(first if len(some) == 1 else f"{first} to {last}")
    ours, rivals = _names(one.ours for one in some), _names(one.rival for one in some)
    places, unit = places_of(frontier.metric), " points" * has_unit(frontier.metric)
    low, high = (decimal(end(abs(one.mean) for one in some), places=places) for end in (min, max))
    by = f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
    if outcome == WIN:
        return f"{where} the budget pays: {ours} is ahead of the best rival ({rivals}) by {by}"
    if outcome == LOSS:
        return f"{where} {rivals} is the better choice, ahead of {ours} by {by}"
    if outcome == TIE:
        return f"{where} {ours} and {rivals} are level"
    if outcome == UNTESTED and not some[0].n:
        return f"{where} {ours} and {rivals} have no seed in common, and are not compared"
    if outcome == UNTESTED and not some[0].mean:
        return f"{where} {ours} and {rivals} have the same figures, and there is nothing to test"
    if outcome == UNTESTED:
        leaders = _names(one.ours if frontier.sign * one.mean > 0 else one.rival for one in some)
        better = "higher" if frontier.sign > 0 else "lower"
        return f"{where} {leaders} has the {better} mean, which the trials are too few, or too much alike, to test"
    return (
        f"{where} {ours} is the best, and no rival has a figure" if ours else f"{where} {rivals} is the best, and alone"
    )


def _names(names: Iterator[str]) -> str:
    return " or ".join(dict.fromkeys(filter(None, names)))


def _counted(found: Sequence[Verdict]) -> str:
    """The numbers of wins, ties and losses, and the test; empty without a test."""
    counts = [sum(one.outcome == outcome for one in found) for outcome in (WIN, TIE, LOSS)]
    if not any(counts):
        return ""
    words = ", ".join(counted(number, outcome) for number, outcome in zip(counts, (WIN, TIE, LOSS)))
    return f" ({words} of our best against the best rival; p < {ALPHA}, Holm-corrected)"


def counted(number: int, outcome: str) -> str:
    """A number of outcomes in words.

    >>> counted(1, "loss"), counted(2, "loss")
    ('1 loss', '2 losses')
    """
    return f"{number} {outcome}" if number == 1 else f"{number} {'losses' if outcome == LOSS else f'{outcome}s'}"


OVER, BOUND = "!", "(bound)"
_WINS = {"win": "ours", "tie": "level", "loss": "the rival", "untested": "not tested", "alone": MISSING}


def lines(frontier: Frontier, group: str = NARROW) -> list[list[str]]:
    """A head and rows of texts: each method's mean (standard deviation) under each budget, with marks."""
    found = [["method", *(amount(budget, group) for budget in frontier.budgets)]]
    marks = {budget: _marks(frontier, budget) for budget in frontier.budgets}
    places = {(point.method, point.budget): point for point in frontier.points}
    for method in frontier.methods:
        row = [method]
        for budget in frontier.budgets:
            point = places.get((method, budget))
            row.append(MISSING if point is None else _shown(frontier, point, marks[budget], group))
        found.append(row)
    return found


def _marks(frontier: Frontier, budget: float) -> dict[str, str]:
    able = frontier.eligible(budget)
    values = {point.method: frontier.paired(point) for point in able}
    right = {point.method: point.right for point in able}
    return compare_methods(values, frontier.sign > 0, frontier.sampling, right)


def _shown(frontier: Frontier, point: FrontierPoint, marks: Mapping[str, str], group: str) -> str:
    text = spread(point.mean, point.std, group, places_of(point.metric)) or MISSING
    if point.values and len(point.values) < point.expected:
        text += f" {len(point.values)}/{point.expected}"
    if frontier.over(point):
        return f"{text} {OVER}"
    return f"{text} {signs_of(marks.values()).get(marks.get(point.method, ''), '')}".rstrip()


def contest(frontier: Frontier, group: str = NARROW) -> list[list[str]]:
    """A head and rows of texts: the best of ours against the best rival under each budget."""
    heads = ["difference", f"95 % over {'splits' if frontier.sampling.ratio else 'trials'}", "95 % over test rows"]
    found = [[KINDS[frontier.kind].head, "best of ours", "best rival", *heads, "p", "ahead"]]
    places = places_of(frontier.metric)
    for one in verdicts(frontier):
        mean = decimal(one.mean, signed=True, places=places)
        limits = [_limits(low, high, places) for low, high in ((one.low, one.high), (one.rows_low, one.rows_high))]
        limits[1] += f" {BOUND}" * (one.rows_by == "bound")
        p = "" if math.isnan(one.p) else f"{one.p:.3f}" if one.p >= 0.001 else "< 0.001"
        found.append([
            amount(one.budget, group), one.ours or MISSING, one.rival or MISSING,
            mean or MISSING, *limits, p or MISSING, _WINS[one.outcome],
        ])  # fmt: skip
    return found


def _limits(low: float, high: float, places: int) -> str:
    """The ends of an interval as text."""
    ends = [decimal(end, signed=True, places=places) for end in (low, high)]
    return " to ".join(ends) if all(ends) else MISSING


DRAWS = ("drawn", "passes", "reservoirs", "seconds")
_MOST_DRAWS = 5  # columns of numbers of samples drawn


def draws(frontier: Frontier, group: str = NARROW) -> list[list[str]]:
    """A head and rows of texts: the samples that each method draws under each budget; only the head if unknown."""
    head = KINDS[frontier.kind].head, "method", metric_name(frontier.metric)
    found = [[*head, "drawn", "passes", "reservoirs", "fit s"]]
    for budget in frontier.budgets:
        for point in sorted(frontier.at(budget), key=lambda point: point.rival):
            if spent := frontier.draws(point):
                passes = f"{spent['passes']:.3g}" if "passes" in spent else MISSING
                several = "one a class" if spent.get("reservoirs", 1) > 1 else "one for all"
                found.append([
                    amount(budget, group), point.method, decimal(point.mean, places=places_of(point.metric)),
                    count(spent["drawn"], group), passes, several, decimal(spent["seconds"], group=group) or MISSING,
                ])  # fmt: skip
    return found


def by_draws(frontier: Frontier, budget: float, group: str = NARROW) -> list[list[str]]:
    """A head and rows of texts: the metric of each method under a budget, by the samples drawn at most.

    The columns are powers of ten, then the most that any method draws.
    """
    courses = {point.method: course for point in frontier.eligible(budget) if (course := frontier.course(point))}
    most = max((course[-1][0] for course in courses.values()), default=0.0)
    marks = [*(10.0**power for power in range(12) if budget <= 10.0**power < most), most][-_MOST_DRAWS:]
    found = [["method", *(amount(round(mark), group) for mark in marks)]]
    for method in frontier.methods:
        known = [[mean for drawn, mean, _ in courses.get(method, ()) if drawn <= mark] for mark in marks]
        if any(known):
            found.append([method, *(decimal(some[-1], places=places_of(frontier.metric)) if some else MISSING
                                    for some in known)])  # fmt: skip
    return found


def notes(frontier: Frontier) -> list[str]:
    """Remarks: how to read the tables, why figures are missing, and which points spent more than their budget."""
    by_rows, by_trials = frontier.sampling, Sampling(frontier.sampling.ratio)
    columns = (all(point.right for point in frontier.eligible(budget)) for budget in frontier.budgets)
    tests = "; or ".join(dict.fromkeys((by_rows if rows else by_trials).test for rows in columns))
    if frontier.sampling.rows:
        tests += "; over the test rows alone if the difference is the same at every seed"
    signs = [signs_of(_marks(frontier, budget).values()) for budget in frontier.budgets]
    sign = next((each["untested"] for each in signs if "untested" in each), "")
    untested = f" {sign} not tested: too few trials, or the same difference at every seed." if sign else ""
    told = [
        *frontier.about,
        f"{metric_name(frontier.metric)}, {'higher' if frontier.sign > 0 else 'lower'} is better: mean (standard "
        "deviation, ddof 1) over the trials. "
        f"{BEST} best mean of its column; {NOT_WORSE} not significantly worse than it ({tests}, Holm-corrected over "
        f"the column, p >= {ALPHA}).{untested}",
        f"ahead: the best mean of ours less that of the best rival ({frontier.sampling.test}, Holm-corrected over the "
        f"budgets, p < {ALPHA}). {_intervals(frontier)}",
    ]
    if any(map(frontier.draws, frontier.points)):
        told.append(
            "drawn: samples that are read in all; passes: drawn by training samples; reservoirs: whether samples are "
            "drawn once for all classes, or for each class. The settings are those of the largest number drawn."
        )
    if fixed := list(dict.fromkeys(point.method for point in frontier.points if point.fixed and point.values)):
        told.append(f"{', '.join(fixed)}: nothing in it is random, and its one figure stands for every seed.")
    able = [point for point in frontier.points if point.values and math.isnan(frontier.spent(point))]
    if unknown := list(dict.fromkeys(point.method for point in able)):
        told.append(f"{', '.join(unknown)}: the cost is not measured; the settings bound it.")
    for point in frontier.points:
        if frontier.over(point):
            spent, least = frontier.spent(point), 2 if frontier.kind == "seconds" else 0
            places = next((each for each in range(least, 9) if round(spent, each) > point.budget), 9)
            shown = decimal(spent, places=places)
            told.append(f"{point.method} at {amount(point.budget)}: {OVER} it spent {shown}, and does not compete.")
    return [*told, *_missing(frontier)]


def _intervals(frontier: Frontier) -> str:
    """A sentence that explains the intervals of the differences."""
    if frontier.sampling.ratio:
        return (
            "Over splits: Student's interval, corrected for splits that overlap; the test rows differ from split to "
            "split, and are part of it."
        )
    seeds = "Over trials: Student's interval, the spread of training alone."
    if not frontier.sampling.rows:
        return f"{seeds} Of this metric no interval over the test rows is known."
    return (
        f"{seeds} Over the {frontier.sampling.rows:,} test rows: a bootstrap; {BOUND}: for any overlap of the errors, "
        "as the trials did not keep which rows they have right. The wider interval decides."
    )


def _missing(frontier: Frontier) -> list[str]:
    """The reasons of missing figures, the budgets of one method and reason together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for point in frontier.points:
        if point.values and len(point.values) >= point.expected:
            continue
        failed = f"{point.failed} of {point.expected} trials failed" if point.failed else ""
        reason = point.reason or failed or f"{len(point.values)} of {point.expected} trials are there"
        reasons.setdefault((point.method, reason), []).append(amount(point.budget))
    told = [f"{method} at {', '.join(at)}: {reason}." for (method, reason), at in reasons.items()]
    empty = [amount(budget) for budget in frontier.budgets if not any(point.values for point in frontier.at(budget))]
    return told + ([f"{', '.join(empty)}: no method has a figure."] if empty else [])


def text(frontier: Frontier) -> str:
    """The frontier for a terminal: both tables, its own notes, the sentence."""
    own = notes(frontier)[len(frontier.about) + 2 :]  # without the two that explain the tables
    second = contest(frontier, " ")
    title = [frontier.title] * (frontier.metric != ACCURACY)
    third = draws(frontier, " ")
    tables = [align(table) for table in (second, third) if len(table) > 1]
    parts = [title, align(lines(frontier, " ")), *tables, [*frontier.about, *own]]
    told = "\n\n".join("\n".join(part) for part in parts if part)
    return f"{told}\n\n{sentence(frontier)}".replace(NARROW, " ")


def markdown(frontier: Frontier) -> str:
    """The page table.md."""
    first, second = lines(frontier), contest(frontier)
    remarks = "\n".join(f"- {escape(note)}" for note in notes(frontier))
    tables = [pipe_table(first, range(1, len(first[0])))] + ([pipe_table(second, (3, 6))] if len(second) > 1 else [])
    if len(third := draws(frontier)) > 1:
        tables.append(pipe_table(third, (0, 2, 3, 4, 6)))
        for budget in frontier.budgets:
            if len(table := by_draws(frontier, budget)) > 1:
                head = f"By samples drawn, {KINDS[frontier.kind].phrase.format(amount(budget))}:"
                tables += [head, pipe_table(table, range(1, len(table[0])))]
    return "\n\n".join([f"# {escape(frontier.title)}", escape(sentence(frontier)), *tables, remarks]) + "\n"


def as_csv(frontier: Frontier) -> str:
    """A line for each point: its figure, budget spent and settings, with ten digits; named if it is not accuracy."""
    named = _named(frontier)
    names = ("n", "expected", "mean", "std", "rank", "spent", "over", "words", "reason")
    drawn = DRAWS if frontier.kind == "samples_held" else ()
    found: list[list] = [["method", "rival", frontier.kind, *names, *drawn, *named]]
    marks = {budget: _marks(frontier, budget) for budget in frontier.budgets}
    for point in frontier.points:
        rank = marks[point.budget].get(point.method, "")
        found.append([
            point.method, int(point.rival), float(point.budget), len(point.values), point.expected, point.mean,
            point.std, rank, frontier.spent(point), int(frontier.over(point)), point.words, point.reason,
            *(frontier.draws(point).get(name) for name in drawn), *named.values(),
        ])  # fmt: skip
    return csv_text(found)


def courses_as_csv(frontier: Frontier) -> str:
    """A line for each point of :meth:`Frontier.course`, with ten digits; empty if there are none."""
    named = _named(frontier)
    found = [
        [point.method, int(point.rival), float(point.budget), *one, *named.values()]
        for point in frontier.points if not frontier.over(point) for one in frontier.course(point)
    ]  # fmt: skip
    return csv_text([["method", "rival", frontier.kind, "drawn", "mean", "std", *named], *found]) if found else ""


def contest_as_csv(frontier: Frontier) -> str:
    """A line for each budget: the verdict, with ten digits."""
    named = _named(frontier)
    found: list[list] = [[*(frontier.kind if field == "budget" else field for field in Verdict._fields), *named]]
    return csv_text([*found, *([*one, *named.values()] for one in verdicts(frontier))])


def _named(frontier: Frontier) -> dict[str, str]:
    """The column that names the metric, which is left out for accuracy."""
    return {} if frontier.metric == ACCURACY else {"metric": frontier.metric}
