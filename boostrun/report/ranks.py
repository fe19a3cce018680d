"""Mean ranks of methods over data sets or seeds, and which of them differ (Demsar 2006, JMLR 7, 1-30)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from boostrun.errors import BoostrunError
from boostrun.report.statistics import ALPHA

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
