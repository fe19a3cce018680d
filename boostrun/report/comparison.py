"""One cell of a table: our trials beside the paper's figure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from boostrun.report.entry import Entry, by_seed, done
from boostrun.report.reference import lookup
from boostrun.report.statistics import ALPHA, PAPER_TRIALS, mean_std, welch


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
