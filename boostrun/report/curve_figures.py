"""Which figures of curves an item has: the same ones as files beside its table and on the report's page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from boostrun.errors import BoostrunError
from boostrun.report.curves import AGAINST, MOST_LINES
from boostrun.report.drift_figure import draw_drift, draw_sweep
from boostrun.report.entry import Entry
from boostrun.report.figures import PaperPoint, against_name, draw_curves
from boostrun.report.formats import metric_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Extras(NamedTuple):
    """What curves show besides lines: T's name, rows that are horizontal lines, the paper's points by metric, and the
    (number, head) of the column level of the table that one figure has as its axis."""

    t_name: str = ""
    levels: Mapping[str, str] = {}
    paper: Mapping[str, Sequence[PaperPoint]] = {}
    sweep: tuple[int, str] | None = None


class CurveFigure(NamedTuple):
    """A figure, the name of its file, and what it shows in words."""

    stem: str
    title: str
    figure: Figure


def too_many(curves: Sequence[Entry]) -> bool:
    """Whether entries have more curves than lines can be told apart."""
    drawn = [entry for entry in curves if any(record.get("curve") for record in entry.records)]
    return len({(entry.row, entry.setting, entry.column[1:]) for entry in drawn}) > MOST_LINES


def curve_figures(
    entries: Sequence[Entry],
    curves: Sequence[Entry],
    metrics: Sequence[str],
    extras: Extras,
    most: int | None = None,
) -> Iterator[CurveFigure]:
    """The table's ``entries`` against a column level, then each metric of ``curves``, one entry a cell, against all
    that it can be drawn against (on a stream the examples seen, elsewhere T, and costs), ``most`` points a curve.
    """
    if extras.sweep:
        yield from _drawn(f"curve_{extras.sweep[1]}", f"against {extras.sweep[1]}", draw_sweep, entries, *extras.sweep)
    for metric in () if too_many(curves) else metrics:
        name = f"{metric_name(metric)} against"
        yield from _drawn(f"curve_{metric}_examples", f"{name} examples seen", draw_drift, curves, metric, most,
                          extras.levels)  # fmt: skip
        for against in AGAINST:
            if against == metric:
                continue
            stem = f"curve_{against}" if len(metrics) == 1 else f"curve_{metric}_{against}"
            paper = extras.paper.get(metric, ()) if against == "T" else ()
            yield from _drawn(
                stem, f"{name} {against_name(against, extras.t_name)}", draw_curves, curves, metric, against,
                t_name=extras.t_name, levels=extras.levels, paper=paper, most=most,
            )  # fmt: skip


def _drawn(stem: str, title: str, draw: Callable[..., Figure], *what, **more) -> Iterator[CurveFigure]:
    """The figure, if any trial tells what it would show."""
    try:
        figure = draw(*what, **more)
    except BoostrunError:
        return
    yield CurveFigure(stem, title, figure)
