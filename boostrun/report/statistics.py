"""Means, intervals and tests of trials, and mean ranks of methods (Demsar 2006, JMLR 7, 1-30).

Sums are exact (`math.fsum`), so no figure depends on the order in which trials finished.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from boostrun.errors import BoostrunError

#: Level of every test.
ALPHA = 0.05

#: Trials behind a paper's mean and std if the paper does not say how many.
PAPER_TRIALS = 10

#: Fewest pairs with which a two-sided signed-rank test can reach p < 0.05 (2 / 2**6 = 0.03).
LEAST_PAIRS = 6


def mean_std(values: Iterable[float]) -> tuple[float, float]:
    """Mean and standard deviation with ddof 1; the std of one value is NaN, as are both of no values.

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


def half_interval(std: float, n: int, tail: float = ALPHA / 2, ratio: float = 0.0) -> float:
    """Half of Student's interval of the mean of ``n`` values, with the probability ``tail`` beyond each end.

    ``ratio`` is that of :class:`Sampling`. NaN for one value.

    >>> round(half_interval(1.0, 10), 4), round(half_interval(1.0, 10, ratio=0.25), 4)
    (0.7154, 1.3383)
    """
    if n < 2:
        return math.nan
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 1 - tail)) * std / math.sqrt(n) * math.sqrt(1 + n * ratio)


def interval(
    values: Iterable[float], tail: float = ALPHA / 2, paper_std: float = math.nan, ratio: float = 0.0
) -> tuple[float, float, float]:
    """(mean, low, high): Student's interval of the mean, 95 % unless ``tail`` is given.

    If the values are differences from a paper's mean, ``paper_std`` is its standard deviation: the interval is Welch's.
    ``ratio`` is that of :class:`Sampling`.

    >>> [round(float(number), 3) for number in interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    >>> [round(float(number), 3) for number in interval([1.0, 2.0, 3.0], paper_std=1.0)]
    [2.0, 0.013, 3.987]
    """
    values = list(values)
    mean, std = mean_std(values)
    half = half_interval(std, len(values), tail, ratio)
    if not math.isnan(paper_std + half):
        from scipy.special import stdtrit

        error, freedom = _welch_error(std, len(values), paper_std, PAPER_TRIALS, ratio)
        half = float(stdtrit(freedom, 1 - tail)) * error
    return mean, mean - half, mean + half


def welch(mean1: float, std1: float, n1: int, mean2: float, std2: float, n2: int, ratio: float = 0.0) -> float:
    """Two-sided p of Welch's t test from means, standard deviations (ddof 1) and counts.

    ``ratio`` is that of :class:`Sampling`, of the first. NaN if a std is unknown or a count is below 2. Without spread
    on either side, 1 for equal means and 0 otherwise.

    >>> [round(welch(84.3, 0.3, 10, 84.7, 0.3, 10, ratio), 3) for ratio in (0.0, 0.25)]
    [0.008, 0.067]
    """
    if n1 < 2 or n2 < 2 or any(math.isnan(number) for number in (mean1, std1, mean2, std2)):
        return math.nan
    error, freedom = _welch_error(std1, n1, std2, n2, ratio)
    if error == 0:
        return 1.0 if math.isclose(mean1, mean2, rel_tol=1e-12) else 0.0
    from scipy.special import stdtr

    return min(1.0, 2 * float(stdtr(freedom, -abs(mean1 - mean2) / error)))


def _welch_error(std1: float, n1: int, std2: float, n2: int, ratio: float) -> tuple[float, float]:
    """The standard error of a difference of two means, and its degrees of freedom (Welch 1947)."""
    share1, share2 = std1**2 * (1 / n1 + ratio), std2**2 / n2
    if share1 + share2 == 0:
        return 0.0, float(n1 + n2 - 2)
    freedom = (share1 + share2) ** 2 / (share1**2 / (n1 - 1) + share2**2 / (n2 - 1))
    return math.sqrt(share1 + share2), freedom


def mcnemar(first_alone: int, second_alone: int) -> float:
    """Exact two-sided p of McNemar's test, from the counts of samples that one of two models alone gets wrong.

    >>> mcnemar(0, 6), mcnemar(5, 5)
    (0.03125, 1.0)
    """
    from scipy.special import bdtr

    both = first_alone + second_alone
    return min(1.0, 2 * float(bdtr(min(first_alone, second_alone), both, 0.5)))


def mcnemar_range(first: int, second: int, of: int) -> tuple[float, float]:
    """The least and largest p of :func:`mcnemar` that two counts of errors on the same ``of`` samples allow.

    The least belongs to models that err on the same samples as far as they can, the largest to models that do not.

    >>> [round(p, 4) for p in mcnemar_range(73, 47, 10_000)]
    [0.0, 0.0221]
    """
    excess = abs(first - second)
    alone = min(first + second, 2 * of - first - second)
    return mcnemar(excess, 0), mcnemar((alone + excess) // 2, (alone - excess) // 2)


def signed_rank(a: Sequence[float], b: Sequence[float]) -> float:
    """Exact two-sided p of Wilcoxon's signed-rank test of paired values, of shapes (n,) and (n,).

    Zero differences are dropped (p = 1 if none is left) and tied ones share their mean rank. The distribution under the
    null hypothesis is counted over all signs, ties included. SciPy gives the same without ties; with ties its choice
    between exact, permuted and normal differs from release to release.

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


# -- two methods, and all methods of a column --------------------------------------------------------------------------


@dataclass(frozen=True)
class Sampling:
    """How the trials of a comparison differ in their data.

    ``ratio`` is the number of test samples for each training sample if every trial has its own split, else 0.
    ``rows`` is the number of test samples if all trials share them and the figures are percentages of them, else 0.
    """

    ratio: float = 0.0
    rows: int = 0

    @property
    def test(self) -> str:
        """The test of two methods, in words."""
        if self.ratio:
            return "t test corrected for overlapping splits (Nadeau & Bengio 2003), two-sided, paired by split"
        rows = f", and over the {self.rows} test rows too" if self.rows else ""
        return f"Wilcoxon signed-rank, two-sided, paired by seed{rows}"


ONE_SPLIT = Sampling()
"""Trials on one split, whose test rows are not known."""


class Paired(NamedTuple):
    """One method less another: the mean over the ``n`` seeds of both, with 95 % intervals and two-sided p.

    ``low``, ``high`` and ``p`` are over the trials, ``rows_low``, ``rows_high`` and ``rows_p`` over the test rows, by a
    ``"bootstrap"`` or a ``"bound"``. They are NaN if the rows are not known, or differ from trial to trial.
    """

    n: int
    mean: float
    low: float
    high: float
    p: float
    rows_low: float = math.nan
    rows_high: float = math.nan
    rows_p: float = math.nan
    rows_by: str = ""

    @property
    def larger_p(self) -> float:
        """The larger p, that of the wider interval."""
        return self.p if math.isnan(self.rows_p) else max(self.p, self.rows_p)


def paired(
    ours: Mapping[int, float], others: Mapping[int, float], sampling: Sampling = ONE_SPLIT,
    right: tuple[Sequence[float] | None, Sequence[float] | None] = (None, None),
) -> Paired:  # fmt: skip
    """Compare two methods by seed.

    If each trial has its own split, training and test parts overlap, and the trials are not independent: the
    variance of the mean is (1 / k + n_test / n_train) s^2 over k splits instead of s^2 / k, in the interval and in a t
    test (Nadeau & Bengio 2003, Machine Learning 52, 239-281).

    On one split, seeds show the spread of training alone: Student's interval, and Wilcoxon's signed-rank test. The
    spread over test parts is estimated over the test rows. If ``right`` has the share of trials that are right on
    each row (rows,) for both methods, 10,000 bootstrap samples of the rows are drawn. Otherwise it is bounded: if no
    row is wrong for both, most rows differ, and the interval is that of McNemar's test with its correction for
    continuity. It is bounded too if one method lacks seeds of the other, since ``right`` is of all its trials.

    Parameters
    ----------
    ours, others : seed -> figure

    >>> ours, others = {s: 90.0 + s % 3 for s in range(10)}, {s: 89.0 + s % 2 for s in range(10)}
    >>> [round(paired(ours, others, one).p, 3) for one in (Sampling(), Sampling(ratio=0.25))]
    [0.008, 0.055]
    """
    seeds = [seed for seed in ours if seed in others]
    values = [ours[seed] - others[seed] for seed in seeds]
    found = interval(values, ratio=sampling.ratio)
    if sampling.ratio:
        p = _corrected_t(values, sampling.ratio)
    else:
        p = signed_rank([ours[seed] for seed in seeds], [others[seed] for seed in seeds])
    if not seeds or not sampling.rows:
        return Paired(len(values), *found, p)
    same = all(len(side) == len(seeds) or len(set(side.values())) == 1 for side in (ours, others))
    if same and right[0] is not None and right[1] is not None and len(right[0]) == len(right[1]):
        differences = [100.0 * (a - b) for a, b in zip(right[0], right[1])]
        return Paired(len(values), *found, p, *_bootstrap(differences), "bootstrap")
    one, other = (mean_std(side[seed] for seed in seeds)[0] for side in (ours, others))
    return Paired(len(values), *found, p, *_bound(one, other, sampling.rows), "bound")


def _corrected_t(differences: Sequence[float], ratio: float) -> float:
    """Two-sided p of the corrected resampled t test; 1 for differences without spread and of mean 0, 0 for others."""
    mean, std = mean_std(differences)
    if not std > 0:  # NaN for one value
        return 0.0 if len(differences) > 1 and mean else 1.0
    from scipy.special import stdtr

    n = len(differences)
    return min(1.0, 2 * float(stdtr(n - 1, -abs(mean) / (std * math.sqrt(1 / n + ratio)))))


def _bound(ours: float, others: float, rows: int) -> tuple[float, float, float]:
    """(low, high, p) of the difference of two percentages of the same rows, the widest that their overlap allows."""
    from scipy.special import ndtr, ndtri

    difference = ours - others
    alone = min(ours + others, 200.0 - ours - others)  # percent of the rows on which one method is right, at most
    error, a_row = 10.0 * math.sqrt(max(alone, 0.0) / rows), 100.0 / rows
    half = float(ndtri(1 - ALPHA / 2)) * error + a_row
    z = max(0.0, abs(difference) - a_row) / error if error else 0.0
    return difference - half, difference + half, min(1.0, 2 * float(ndtr(-z)))


_RESAMPLES = 10_000


def _bootstrap(differences: Sequence[float]) -> tuple[float, float, float]:
    """(low, high, p) of the mean of ``differences`` (rows,): percentiles of bootstrap means, always the same draws."""
    import numpy as np

    sizes, counts = np.unique(np.round(differences, 9), return_counts=True)
    rows = len(differences)
    draws = np.random.default_rng(0).multinomial(rows, counts / rows, _RESAMPLES)
    means = draws @ sizes / rows
    low, high = np.quantile(means, (ALPHA / 2, 1 - ALPHA / 2))
    tail = min(int((means <= 0).sum()), int((means >= 0).sum()))
    return float(low), float(high), min(1.0, 2 * (tail + 1) / (_RESAMPLES + 1))


def compare_methods(
    values: Mapping[str, Mapping], higher_is_better: bool, sampling: Sampling = ONE_SPLIT,
    right: Mapping[str, Sequence[float] | None] | None = None, estimates: bool = True,
) -> dict[str, str]:  # fmt: skip
    """The mark of each method in one column: the best, or how it compares with the best.

    Each method is compared with the one of best mean by :func:`paired`, and its p is Holm-corrected over the column:
    the larger one of trials and test rows, or that of the trials alone if ``right`` lacks a method. Methods without
    randomness have the same difference at every seed, which is one comparison, repeated: its p is that of the test
    rows, without which it is "untested". If only a bound of it is known, the method is "not worse" if its few errors
    more could not be significant whichever rows they are, and "untested" if that would decide. If there are too few
    common seeds for p < 0.05, nothing is tested and no method is "not worse": too few trials are no evidence of
    equality. For the same reason a method with fewer than six values is the best only if no method has more. Of several
    best, the others are compared with the one that varies least.

    Parameters
    ----------
    values : method -> {seed: value}; a pandas frame (rows: seeds, columns: methods) works as well
    right : method -> the share of its trials that are right on each test row
    estimates : bool, whether the figures are estimates from test samples, not counts

    Returns
    -------
    method -> ``"best"``, ``"not worse"``, ``"worse"``, ``"untested"``, or ``""`` without another method

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
    first = min(leaders, key=lambda method: (len(kept[method]) == 1, mean_std(kept[method].values())[1], method))
    best, of_row = kept[first], right or {}
    tests = {
        method: paired(best, kept[method], sampling, (of_row.get(first), of_row.get(method)))
        for method in means if method not in leaders and sum(seed in kept[method] for seed in best) >= LEAST_PAIRS
    }  # fmt: skip
    over_rows = right is None or all(right.get(method) for method in means)
    found, unknown = {}, set()
    for method, one in tests.items():
        p, other = one.larger_p if over_rows else one.p, kept[method]
        copies = estimates and len({(round(best[at], 9), round(other[at], 9)) for at in best if at in other}) == 1
        if copies and math.isnan(one.rows_p):
            continue
        if copies:
            p, more = one.rows_p, abs(one.mean) * sampling.rows / 100  # errors
            unknown |= {method} if one.rows_by == "bound" and 2.0 ** (1 - more) < ALPHA else set()  # McNemar's least p
        found[method] = p if sign * one.mean > 0 else 1.0  # the best mean may be that of other seeds
    if too_few(max((tests[method].n for method in found), default=0), len(found), sampling):
        return marks
    for method, p in zip(found, holm(list(found.values()))):
        marks[method] = "worse" if p < ALPHA else "untested" if method in unknown else "not worse"
    return marks


def too_few(pairs: int, tests: int, sampling: Sampling = ONE_SPLIT) -> bool:
    """Whether so many pairs are too few for p < 0.05 after Holm's correction over so many tests.

    >>> too_few(6, 1), too_few(6, 2), too_few(6, 2, Sampling(ratio=0.25))
    (False, True, False)
    """
    return pairs < LEAST_PAIRS or (not sampling.ratio and tests * 2.0 ** (1 - pairs) > ALPHA)


LEAST_METHODS, LEAST_BLOCKS = 3, 5  # the chi-squared distribution of Friedman's statistic is far off with fewer


@dataclass(frozen=True)
class Ranks:
    """Methods by mean rank, the best (rank 1) first.

    ``friedman_p`` tests that all methods are equal. ``critical_difference`` is Nemenyi's, of two mean ranks. ``groups``
    are the longest runs (first, last) of methods that do not differ by it.
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

    Raises BoostrunError for fewer than three methods or five blocks.

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
    p = 1.0 if tied else float(friedmanchisquare(*figures).pvalue)
    return Ranks(tuple(list(values)[method] for method in order), ranks, n, p, critical, _groups(ranks, critical))


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
