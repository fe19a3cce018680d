"""The targets of a reproduction, checked against its table: met, not met, or open if figures are missing.

A target is a mapping with ``metric``, with ``setting`` if a table has several, and with one of these pairs:

- ``columns`` and ``rows``: each row's mean is near the paper's, closer than ``within`` or ``within_pct``;
- ``columns`` and ``order``: rows from the best on, rows that share a place in a list; ``slack`` counts as a tie;
- ``along`` and ``rising`` or ``falling``: rows whose means rise or fall over these labels, with no step back larger
  than ``slack``; a pair of rows stands for the first's mean less the second's;
- ``along`` and ``kept``: rows whose means are never worse than at the first label by more than ``within``.

Each of ``columns`` is a label, or a list of labels, of a cell's column.

>>> check([{"metric": "log10_loss", "along": ["T=10", "T=20"], "falling": ["ucb"]}], [], higher_is_better=False)
['target open: log10 loss T=10 to T=20: ucb falling (no figures: ucb)']
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from boostrun.report.formats import lower_is_better, metric_name
from boostrun.report.table import Comparison


def check(targets: Sequence[Mapping[str, Any]], cells: Sequence[Comparison], higher_is_better: bool) -> list[str]:
    """One line for each target and column: the expectation, and whether it is met.

    >>> spec = {"metric": "log10_loss", "columns": ["T=10"], "order": ["laminating", "ucb"], "slack": 0.01}
    >>> check([spec], [], higher_is_better=False)
    ['target open: log10 loss T=10: laminating < ucb, ties within 0.01 (no figures: laminating, ucb)']
    """
    lines = []
    for target in targets:
        metric = target["metric"]
        higher = higher_is_better and not lower_is_better(metric)
        of_metric = [
            cell for cell in cells
            if cell.metric == metric and cell.n and cell.setting == target.get("setting", cell.setting)
        ]  # fmt: skip
        if "along" in target:
            lines.append(_line(f"{metric_name(metric)} {target['along'][0]} to {target['along'][-1]}",
                               *_trend(target, of_metric, higher)))  # fmt: skip
            continue
        for column in target["columns"]:
            labels = [column] if isinstance(column, str) else list(column)
            here = _at(of_metric, labels)
            wanted, rows, faults = _order(target, here, higher) if "order" in target else _near(target, here)
            absent = [row for row in rows if row not in here]
            lines.append(_line(" ".join([metric_name(metric), *labels]), wanted, absent, faults))
    return lines


def _at(cells: Sequence[Comparison], labels: Sequence[str]) -> dict[str, Comparison]:
    """The cells whose column has the labels, by row."""
    return {cell.row: cell for cell in cells if set(labels) <= set(cell.column)}


def _line(place: str, wanted: str, absent: Sequence[str], faults: Sequence[str]) -> str:
    verdict = "not met" if faults else "open" if absent else "met"
    found = "; ".join([*faults, *([f"no figures: {', '.join(absent)}"] if absent else [])])
    return f"target {verdict}: {place}: {wanted}" + (f" ({found})" if found else "")


def _near(target: Mapping, here: Mapping[str, Comparison]) -> tuple[str, list[str], list[str]]:
    """(expectation, rows, faults): each row is near the paper's figure."""
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
    """(expectation, rows, faults): each row is at least as good as all rows of later places."""
    places = [[place] if isinstance(place, str) else list(place) for place in target["order"]]
    slack = target.get("slack", 0.0)
    sign = -1.0 if higher else 1.0
    faults = []
    pairs = [
        (first, second)
        for number, place in enumerate(places)
        for first in place
        for second in itertools.chain(*places[number + 1 :])
    ]
    for first, second in pairs:
        if first in here and second in here and sign * (here[first].mean - here[second].mean) > slack:
            faults.append(f"{first} {here[first].mean:.3f}, {second} {here[second].mean:.3f}")
    words = [place[0] if len(place) == 1 else "{" + ", ".join(place) + "}" for place in places]
    ties = f", ties within {slack:g}" if slack else ""
    return (" > " if higher else " < ").join(words) + ties, [row for place in places for row in place], faults


def _trend(target: Mapping, cells: Sequence[Comparison], higher: bool) -> tuple[str, list[str], list[str]]:
    """(expectation, rows without a figure, faults): means rise, fall or are kept along the labels."""
    way = next(word for word in ("rising", "falling", "kept") if word in target)
    here = [_at(cells, [label]) for label in target["along"]]
    rows = [[row] if isinstance(row, str) else list(row) for row in target[way]]
    absent = [row for row in dict.fromkeys(itertools.chain(*rows)) if not all(row in at for at in here)]
    faults = []
    for names in rows:
        if set(names) & set(absent):
            continue
        means = [at[names[0]].mean - (at[names[1]].mean if len(names) > 1 else 0.0) for at in here]
        if way == "kept":
            good = _kept(means, higher, target["within"])
        else:
            good = _goes(means, way == "rising", target.get("slack", 0.0))
        if not good:
            faults.append(f"{' - '.join(names)} {', '.join(f'{mean:.3f}' for mean in means)}")
    ties = f" within {target['within']:g}" if way == "kept" else ""
    ties += f", steps within {target['slack']:g} allowed" if "slack" in target else ""
    return f"{', '.join(' - '.join(names) for names in rows)} {way}{ties}", absent, faults


def _kept(means: Sequence[float], higher: bool, within: float) -> bool:
    return max((means[0] - mean) * (1.0 if higher else -1.0) for mean in means) <= within


def _goes(means: Sequence[float], up: bool, slack: float) -> bool:
    sign = 1.0 if up else -1.0
    steps = [sign * (after - before) for before, after in itertools.pairwise(means)]
    return sign * (means[-1] - means[0]) > 0.0 and min(steps) >= -slack
