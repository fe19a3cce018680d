"""The papers' own figures, read from a CSV file of each paper, and the targets of a reproduction beside them."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostrun.config import catalogue
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.report.markup import lower_is_better, metric_name

if TYPE_CHECKING:
    from boostrun.report.table import Comparison

#: Columns with a figure or remarks on it; the others identify it.
FIGURE_COLUMNS = ("mean", "std", "value", "note", "source")

_SOURCE_NOTES = {
    "recalled": "recalled: known from the published paper, not checked against its text",
    "seed": "printed in the paper",
}


def papers() -> list[str]:
    """Names of the papers with figures, as tables cite them."""
    return sorted(files())


def files() -> dict[str, Path]:
    """Files of figures by the name of the paper in their column ``paper``, or else by that of its declaration."""
    found: dict[str, Path] = {}
    for name, paper in catalogue.papers().items():
        if paper.reference is not None:
            found.setdefault(_cited(paper.reference) or name, paper.reference)  # ours are asked first
    return found


def _cited(path: Path) -> str:
    """The paper of the first figure in a file; empty if the file cannot be read."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            return next(csv.DictReader(stream), {}).get("paper") or ""
    except (OSError, ValueError, csv.Error):
        return ""


def figures(paper: str, table: str = "") -> list[dict[str, Any]]:
    """The figures of one table of a paper, or of all its tables if `table` is empty.

    In each row ``mean`` and ``std`` are floats (``std`` is NaN if the paper gives none), ``table`` names the table or
    figure, and the other columns are the texts of the CSV file. Raises BoostrunError for an unknown paper or table.

    >>> rows = figures("reservoir", "table3")
    >>> len(rows), rows[0]["mean"]
    (32, 29.59)
    """
    brought = files()
    if paper not in brought:
        catalogue.refuse_left_out(paper)
        raise BoostrunError(f"no figures of a paper {_unknown(paper, sorted(brought))}")
    try:
        rows = [_row(line) for line in catalogue.read_figures(brought[paper])]
    except (OSError, ValueError) as error:
        raise BoostrunError(f"the figures of paper {paper!r} cannot be read: {error}") from None
    chosen = [row for row in rows if not table or row["table"] == table]
    if table and not chosen:
        known = list(dict.fromkeys(row["table"] for row in rows))
        raise BoostrunError(f"paper {paper!r} has no table {_unknown(table, known)}")
    return chosen


def _row(line: Mapping[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"table" if name == "item" else name: text for name, text in line.items()}
    row["mean"] = _number(row["mean" if "mean" in row else "value"])
    row["std"] = _number(row["std"]) if "std" in row else math.nan
    if "note" not in row:
        row["note"] = _SOURCE_NOTES.get(row.get("source", ""), "")
    return row


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def lookup(rows: Sequence[Mapping[str, Any]], metric: str, where: Mapping[str, Any]) -> tuple[float, float, str] | None:
    """The paper's (mean, std, note) of `metric` in the row of :func:`figures` that `where` describes, or None.

    `where` maps columns to values, compared as
    texts, numbers by value. A blank column does not apply to its row (online methods have no ``r``): it agrees with any
    value if no row agrees exactly. ``dataset`` and ``method`` must always agree.

    Raises BoostrunError if several rows with different figures fit: `where` must name one more column.

    >>> lookup(figures("reservoir", "table3"), "test_accuracy_pct", {"dataset": "mnist", "method": "geem", "r": 100})
    (84.66, 0.3, '')
    """
    wanted = {name: _text(value) for name, value in where.items() if value is not None}
    columns = list(rows[0]) if rows else []
    if any(name not in columns for name in wanted):
        return None
    if "table" in wanted:
        right = {table for table in {row["table"] for row in rows} if _text(table) == wanted["table"]}
        rows = [row for row in rows if row["table"] in right]
    rows = [row for row in rows if row["metric"] == metric]
    fits = [row for row in rows if all(_text(row[name]) == text for name, text in wanted.items())]
    if not fits:
        fits = [row for row in rows if all(_agrees(row[name], text, name) for name, text in wanted.items())]
    fits = [row for row in fits if not math.isnan(row["mean"])]
    if not fits:
        return None
    free = [name for name in columns if name not in (*FIGURE_COLUMNS, *wanted, "metric")]
    # A row without further columns comes before its special cases.
    fits = [row for row in fits if not any(row[name] for name in free if name not in ("paper", "table"))] or fits
    found = {(row["mean"], None if math.isnan(row["std"]) else row["std"]) for row in fits}
    if len(found) > 1:
        telling = [name for name in free if len({row[name] for row in fits}) > 1]
        raise BoostrunError(f"{len(found)} figures of {metric} fit {dict(where)}; give {' or '.join(telling)} as well")
    first = fits[0]
    return float(first["mean"]), float(first["std"]), str(first["note"])


def _unknown(word: str, known: list[str]) -> str:
    return f"{word!r}{did_you_mean(word, known)} (there are: {', '.join(known)})"


def _agrees(cell: str, text: str, name: str) -> bool:
    return _text(cell) == text or (not cell and name not in ("dataset", "method", "paper", "table"))


def _text(value) -> str:
    """The text of a value, the same for ``100``, ``100.0`` and ``"100"``."""
    text = str(value).strip()
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return text


def check_targets(
    targets: Sequence[Mapping[str, Any]], cells: Sequence[Comparison], higher_is_better: bool
) -> list[str]:
    """One line for each target and column: the expectation, and whether it is met, or open if figures are missing.

    A target is a mapping with ``metric``, with ``setting`` if a table has several, and with one of these pairs:

    - ``columns`` and ``rows``: each row's mean is near the paper's, closer than ``within`` or ``within_pct``;
    - ``columns`` and ``order``: rows from the best on, rows that share a place in a list; ``slack`` counts as a tie;
    - ``along`` and ``rising`` or ``falling``: rows whose means rise or fall over these labels, with no step back larger
      than ``slack``; a pair of rows stands for the first's mean less the second's;
    - ``along`` and ``kept``: rows whose means are never worse than at the first label by more than ``within``.

    Each of ``columns`` is a label, or a list of labels, of a cell's column.

    >>> check_targets([{"metric": "log10_loss", "along": ["T=10", "T=20"], "falling": ["ucb"]}], [], False)
    ['target open: log10 loss T=10 to T=20: ucb falling (no figures: ucb)']
    >>> spec = {"metric": "log10_loss", "columns": ["T=10"], "order": ["laminating", "ucb"], "slack": 0.01}
    >>> check_targets([spec], [], higher_is_better=False)
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
            ordered = "order" in target
            here = _at(of_metric if ordered else [cell for cell in of_metric if cell.has_paper], labels)
            wanted, rows, faults = _order(target, here, higher) if ordered else _near(target, here)
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
    for row, cell in ((row, here[row]) for row in target["rows"] if row in here):
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
            sign = 1.0 if higher else -1.0
            good = max(sign * (means[0] - mean) for mean in means) <= target["within"]
        else:
            sign = 1.0 if way == "rising" else -1.0
            steps = [sign * (after - before) for before, after in itertools.pairwise(means)]
            good = sign * (means[-1] - means[0]) > 0.0 and min(steps) >= -target.get("slack", 0.0)
        if not good:
            faults.append(f"{' - '.join(names)} {', '.join(f'{mean:.3f}' for mean in means)}")
    ties = f" within {target['within']:g}" if way == "kept" else ""
    ties += f", steps within {target['slack']:g} allowed" if "slack" in target else ""
    return f"{', '.join(' - '.join(names) for names in rows)} {way}{ties}", absent, faults
