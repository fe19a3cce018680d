"""Means, spreads and the tests that the tables rest on.

The sums are exact (`math.fsum`), so no figure depends on the order in which trials finished.

One cell of a table: our trials beside the paper's figure.

Mean ranks of methods over data sets or seeds, and which of them differ (Demsar 2006, JMLR 7, 1-30).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from boostrun.errors import BoostrunError
from boostrun.report.entry import Entry, by_seed, done
from boostrun.report.reference import lookup

#: Level of every test.
ALPHA = 0.05

#: Trials behind a paper's mean and std where the paper does not say.
PAPER_TRIALS = 10

#: Fewest pairs with which a two-sided signed-rank test can reach p < 0.05 (2 / 2**6 = 0.03).
LEAST_PAIRS = 6


def mean_std(values: Iterable[float]) -> tuple[float, float]:
    """Mean and standard deviation with ddof 1; the std of one value is nan, and so is everything of none.

    >>> mean_std([1.0, 2.0, 3.0])
    (2.0, 1.0)
    """
    values = list(values)
    if not values:
        return math.nan, math.nan
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return mean, math.nan
    if min(values) == max(values):
        return values[0], 0.0
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def half_interval(std: float, n: int) -> float:
    """Half the 95 % interval of the mean of ``n`` values with that standard deviation (Student's t); nan of one value.

    >>> round(half_interval(1.0, 10), 4)
    0.7154
    """
    if n < 2:
        return math.nan
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 1 - ALPHA / 2)) * std / math.sqrt(n)


def interval(differences: Iterable[float]) -> tuple[float, float, float]:
    """(mean, low, high) of paired differences, (n,): Student's 95 % interval; NaN limits for fewer than two.

    >>> [round(float(number), 3) for number in interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    values = list(differences)
    mean, std = mean_std(values)
    half = half_interval(std, len(values))
    return mean, mean - half, mean + half


def welch(mean1: float, std1: float, n1: int, mean2: float, std2: float, n2: int) -> float:
    """Two-sided p of Welch's t test from means, standard deviations (ddof 1) and counts.

    nan where a std is unknown or a count is below 2; with no spread on either side, 1 for equal means and 0 otherwise.

    >>> round(welch(84.3, 0.3, 10, 84.7, 0.3, 10), 3)
    0.008
    """
    if n1 < 2 or n2 < 2 or any(math.isnan(number) for number in (mean1, std1, mean2, std2)):
        return math.nan
    share1, share2 = std1**2 / n1, std2**2 / n2
    if share1 + share2 == 0:
        return 1.0 if math.isclose(mean1, mean2, rel_tol=1e-12) else 0.0
    from scipy.special import stdtr

    t = abs(mean1 - mean2) / math.sqrt(share1 + share2)
    freedom = (share1 + share2) ** 2 / (share1**2 / (n1 - 1) + share2**2 / (n2 - 1))
    return min(1.0, 2 * float(stdtr(freedom, -t)))


def signed_rank(a: Sequence[float], b: Sequence[float]) -> float:
    """Exact two-sided p of Wilcoxon's signed-rank test of paired values, of shapes (n,) and (n,).

    Zero differences are dropped (p = 1 when nothing is left) and tied ones share their mean rank. The distribution
    under the null hypothesis is counted over all signs, ties included, where SciPy's choice between exact, permuted and
    normal differs from release to release; without ties both give the same.

    >>> signed_rank([1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0])
    0.03125
    """
    import numpy as np

    scale = max((abs(value) for value in (*a, *b)), default=0.0) or 1.0
    # Differences that are equal in the records (0.02 of accuracy) differ in the last bit; rounding makes them ties.
    differences = [round((x - y) / scale, 12) for x, y in zip(a, b, strict=True)]
    differences = [difference for difference in differences if difference != 0]
    if not differences:
        return 1.0
    sizes = sorted(abs(difference) for difference in differences)
    first = {size: index for index, size in reversed(list(enumerate(sizes)))}
    last = {size: index for index, size in enumerate(sizes)}
    # Twice the mean rank of tied values is the sum of two whole numbers, which keeps the counting exact.
    ranks = [first[abs(difference)] + last[abs(difference)] + 2 for difference in differences]
    total, observed = sum(ranks), sum(rank for rank, difference in zip(ranks, differences) if difference > 0)
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    for rank in ranks:
        moved = np.zeros_like(chance)
        moved[rank:] = chance[: total + 1 - rank]
        chance = (chance + moved) / 2
    tail = float(chance[: min(observed, total - observed) + 1].sum())
    return min(1.0, 2 * tail)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p values, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, running = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        running = max(running, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = running
    return adjusted


def compare_methods(values: Mapping[str, Mapping], higher_is_better: bool) -> dict[str, str]:
    """Which methods of one column are the best, or not significantly worse than it.

    Each method is compared with the one of best mean: paired by seed, Wilcoxon signed-rank (two-sided, exact),
    Holm-corrected over the column. Where the number of common seeds makes p < 0.05 impossible whatever the values,
    nothing is tested and nothing is called "not worse": too few trials are no evidence of equality. For the same reason
    a method with fewer than six values is the best only where no method has more.

    Parameters
    ----------
    values : method -> {seed: value}; a pandas frame (rows: seeds, columns: methods) works as well

    Returns
    -------
    method -> ``"best"``, ``"not worse"``, ``"worse"``, ``"untested"``, or ``""`` where there is nothing to compare

    >>> trials = {"geem": [84, 85, 86, 87, 88, 89], "rand": [80, 81, 82, 83, 84, 85], "one": [85]}
    >>> compare_methods({name: dict(enumerate(column)) for name, column in trials.items()}, True)
    {'geem': 'best', 'rand': 'worse', 'one': 'untested'}
    """
    kept = {
        method: {seed: value for seed, value in column.items() if value is not None and math.isfinite(value)}
        for method, column in values.items()
    }
    marks = dict.fromkeys(kept, "")
    sign = 1 if higher_is_better else -1
    means = {method: sign * mean_std(column.values())[0] for method, column in kept.items() if column}
    if len(means) < 2:
        return marks
    # One lucky trial is not the best of methods that ran ten.
    runners = [method for method in means if len(kept[method]) >= LEAST_PAIRS] or list(means)
    top = max(means[method] for method in runners)
    leaders = [method for method in runners if math.isclose(means[method], top, rel_tol=1e-12)]
    marks.update({method: "best" if method in leaders else "untested" for method in means})
    best = kept[leaders[0]]
    pairs = {method: [seed for seed in best if seed in kept[method]] for method in means if method not in leaders}
    pairs = {method: seeds for method, seeds in pairs.items() if len(seeds) >= LEAST_PAIRS}
    if not pairs or len(pairs) * 2.0 ** (1 - max(map(len, pairs.values()))) > ALPHA:
        return marks
    raw = [signed_rank([best[s] for s in seeds], [kept[method][s] for s in seeds]) for method, seeds in pairs.items()]
    for method, p in zip(pairs, holm(raw)):
        marks[method] = "worse" if p < ALPHA else "not worse"
    return marks


@dataclass(frozen=True)
class Comparison:
    """What a cell shows. Figures are in the metric's unit and nan where there are none.

    ``p_paper`` is Welch's p against the paper's figure, ``differs`` whether it is below 0.05; ``rank`` is the mark of
    `compare_methods` within the column; ``values`` holds the trials by seed.
    """

    row: str
    setting: str
    metric: str
    column: tuple[str, ...]
    values: dict
    n: int
    expected: int
    mean: float
    std: float
    paper_mean: float
    paper_std: float
    paper_note: str
    difference: float
    p_paper: float
    stale: int
    failed: int
    reason: str
    rank: str = ""
    trials: frozenset[str] = frozenset()
    sampled: frozenset[str] = frozenset()

    @property
    def differs(self) -> bool:
        """Whether ours and the paper's mean differ significantly (p < 0.05, uncorrected)."""
        return self.p_paper < ALPHA

    @property
    def complete(self) -> bool:
        """Whether every trial that was asked for is there."""
        return self.n >= self.expected

    @property
    def has_paper(self) -> bool:
        """Whether the paper gives a figure."""
        return not math.isnan(self.paper_mean)


def compare(entry: Entry, metric: str, frame=None, table: str = "") -> Comparison:
    """Ours and the paper's figure for one entry, of its own metric or else of `metric`.

    `frame` holds the paper's figures, None where there is no paper.

    Raises
    ------
    BoostrunError
        ``entry.where`` fits several figures of the paper.
    """
    metric = entry.metric or metric
    values, remarks = by_seed(entry.records, metric, entry.rounds)
    mean, std = mean_std(values.values())
    paper_mean, paper_std, note = math.nan, math.nan, ""
    if frame is not None and entry.where:
        found = lookup(frame, metric, {**({"table": table} if table else {}), **entry.where})
        paper_mean, paper_std, note = found or (paper_mean, paper_std, note)
    failed = entry.failed or len(entry.records) - len(done(entry.records))
    return Comparison(
        row=entry.row,
        setting=entry.setting,
        metric=metric,
        column=tuple(entry.column),
        values=values,
        n=len(values),
        expected=entry.expected,
        mean=mean,
        std=std,
        paper_mean=paper_mean,
        paper_std=paper_std,
        paper_note=note,
        difference=mean - paper_mean,
        p_paper=welch(mean, std, len(values), paper_mean, paper_std, PAPER_TRIALS),
        stale=entry.stale,
        failed=failed,
        reason=_reason(entry, len(values), failed, remarks),
        trials=frozenset(str(record.get("key")) for record in done(entry.records)),
        sampled=entry.sampled,
    )


def _reason(entry: Entry, n: int, failed: int, remarks: list[str]) -> str:
    """Why trials are missing, in one line; empty where nothing is."""
    parts = [" ".join(entry.reason.split())] if entry.reason else []
    if failed:
        parts.append(f"{failed} trial{'s' * (failed > 1)} failed")
    parts += remarks
    if n < entry.expected and not parts:
        parts.append("not run yet")
    return "; ".join(parts)


LEAST_METHODS, LEAST_BLOCKS = 3, 5  # the chi-squared distribution of Friedman's statistic is far off with fewer


@dataclass(frozen=True)
class Ranks:
    """Methods by mean rank, the best (rank 1) first.

    ``friedman_p`` is that of all methods being equal; ``critical_difference``, of two mean ranks, is Nemenyi's;
    ``groups`` are the longest runs (first, last) of methods that it does not tell apart.
    """

    methods: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    blocks: int
    friedman_p: float
    critical_difference: float
    groups: tuple[tuple[int, int], ...]


def rank_methods(values: Mapping[str, Sequence[float]], higher_is_better: bool) -> Ranks:
    """Friedman's test, and Nemenyi's critical difference q sqrt(k (k + 1) / (6 n)) of k methods over n blocks.

    Parameters
    ----------
    values : method -> its figure in each block (n,), the blocks in the same order for all

    Raises
    ------
    BoostrunError
        Fewer than three methods or five blocks.

    >>> ranks = rank_methods({"a": [9, 8, 9, 7, 9], "b": [5, 6, 7, 6, 5], "c": [6, 5, 5, 5, 4]}, True)
    >>> ranks.methods, ranks.mean_ranks, round(ranks.critical_difference, 3), ranks.groups
    (('a', 'b', 'c'), (1.0, 2.2, 2.8), 1.482, ((0, 1), (1, 2)))
    """
    import numpy as np
    from scipy.stats import friedmanchisquare, rankdata

    figures = np.array([list(column) for column in values.values()], dtype=float)
    k, n = figures.shape if figures.ndim == 2 else (len(figures), 0)
    if k < LEAST_METHODS or n < LEAST_BLOCKS:
        raise BoostrunError(f"ranks need {LEAST_METHODS} methods and {LEAST_BLOCKS} blocks or more, not {k} and {n}")
    # As in `signed_rank`: figures that are equal in the records differ in the last bit.
    figures = np.round(figures / (np.abs(figures).max() or 1.0), 12)
    mean_ranks = rankdata(-figures if higher_is_better else figures, axis=0).mean(axis=1)
    tied = (figures == figures[0]).all()
    order = sorted(range(k), key=lambda method: (mean_ranks[method], method))
    ranks = tuple(float(mean_ranks[method]) for method in order)
    critical = _studentized(k) * math.sqrt(k * (k + 1) / (6.0 * n))
    return Ranks(
        methods=tuple(list(values)[method] for method in order),
        mean_ranks=ranks,
        blocks=n,
        friedman_p=1.0 if tied else float(friedmanchisquare(*figures).pvalue),
        critical_difference=critical,
        groups=_groups(ranks, critical),
    )


@lru_cache(maxsize=64)
def _studentized(k: int) -> float:
    """Nemenyi's q: the studentized range of k means with infinite degrees of freedom, over sqrt 2."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1.0 - ALPHA, k, math.inf)) / math.sqrt(2.0)


def _groups(ranks: Sequence[float], critical: float) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank <= critical + 1e-12)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return tuple(found)
