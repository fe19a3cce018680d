"""What a reproduction is expected to show, checked against a table: met, not met, or not decided for want of figures.

A target is a mapping with ``metric`` and ``columns``, each a label, or a list of labels, that a cell's column has, and
either

- ``rows`` with ``within`` or ``within_pct``: each row's mean lies that near the paper's; or
- ``order``: rows, or lists of rows that share a place, from the best on; ``slack`` is what counts as a tie.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boostrun.report.comparison import Comparison
from boostrun.report.formats import metric_name


def check(targets: Sequence[Mapping[str, Any]], cells: Sequence[Comparison], higher_is_better: bool) -> list[str]:
    """One line for each target and column: what was expected, and whether it is met.

    >>> spec = {"metric": "log10_loss", "columns": ["T=10"], "order": ["laminating", "ucb"], "slack": 0.01}
    >>> check([spec], [], higher_is_better=False)
    ['target open: log10 loss T=10: laminating < ucb, ties within 0.01 (no figures: laminating, ucb)']
    """
    lines = []
    for target in targets:
        for column in target["columns"]:
            labels = [column] if isinstance(column, str) else list(column)
            of_metric = [cell for cell in cells if cell.metric == target["metric"] and cell.n]
            here = {cell.row: cell for cell in of_metric if set(labels) <= set(cell.column)}
            wanted, rows, faults = _order(target, here, higher_is_better) if "order" in target else _near(target, here)
            absent = [row for row in rows if row not in here]
            verdict = "not met" if faults else "open" if absent else "met"
            found = "; ".join([*faults, *([f"no figures: {', '.join(absent)}"] if absent else [])])
            place = " ".join([metric_name(target["metric"]), *labels])
            lines.append(f"target {verdict}: {place}: {wanted}" + (f" ({found})" if found else ""))
    return lines


def _near(target: Mapping, here: Mapping[str, Comparison]) -> tuple[str, list[str], list[str]]:
    """Each row within an absolute distance, or a share, of the paper's figure."""
    share = target.get("within_pct")
    limit = f"{share:g} %" if share else f"{target['within']:g}"
    faults = []
    for row in target["rows"]:
        cell = here.get(row)
        if cell is None or math.isnan(cell.paper_mean):
            continue
        allowed = share / 100.0 * abs(cell.paper_mean) if share else target["within"]
        if not abs(cell.difference) <= allowed + 1e-12:
            faults.append(f"{row} {cell.mean:.3f}, paper {cell.paper_mean:g}")
    return f"{', '.join(target['rows'])} within {limit} of the paper", list(target["rows"]), faults


def _order(target: Mapping, here: Mapping[str, Comparison], higher: bool) -> tuple[str, list[str], list[str]]:
    """Every row before every row of a later place, by the metric's good end."""
    places = [[place] if isinstance(place, str) else list(place) for place in target["order"]]
    slack = target.get("slack", 0.0)
    sign = -1.0 if higher else 1.0
    faults = []
    for first, second in _pairs(places):
        if first in here and second in here and sign * (here[first].mean - here[second].mean) > slack:
            faults.append(f"{first} {here[first].mean:.3f}, {second} {here[second].mean:.3f}")
    words = [place[0] if len(place) == 1 else "{" + ", ".join(place) + "}" for place in places]
    ties = f", ties within {slack:g}" if slack else ""
    return (" > " if higher else " < ").join(words) + ties, [row for place in places for row in place], faults


def _pairs(places: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    for number, place in enumerate(places):
        for first in place:
            for later in places[number + 1 :]:
                for second in later:
                    yield first, second
