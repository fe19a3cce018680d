"""The papers' own figures, read from a CSV file of each paper into one form."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostrun.config import catalogue
from boostrun.errors import BoostrunError, did_you_mean

if TYPE_CHECKING:
    import pandas

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


def reference(paper: str, table: str = "") -> pandas.DataFrame:
    """The figures of one table of a paper, or of all its tables if `table` is empty.

    Returns a frame: ``mean`` and ``std`` are floats (``std`` is NaN if the paper gives none), ``table`` names the table
    or figure, and the other columns are the texts of the CSV file.

    Raises
    ------
    BoostrunError
        No such paper, or no such table in it.

    >>> reference("reservoir", "table3").shape[0]
    32
    """
    import pandas as pd

    return pd.DataFrame(figures(paper, table))


def figures(paper: str, table: str = "") -> list[dict[str, Any]]:
    """The rows of :func:`reference`, read without pandas.

    >>> figures("reservoir", "table3")[0]["mean"]
    29.59
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


def lookup(
    figures: pandas.DataFrame | Sequence[Mapping[str, Any]], metric: str, where: Mapping[str, str]
) -> tuple[float, float, str] | None:
    """The paper's (mean, std, note) of `metric` in the row that `where` describes, or None.

    `figures` are a frame of :func:`reference` or rows of :func:`figures`. `where` maps columns to values, compared as
    texts, numbers by value. A blank column does not apply to its row (online methods have no ``r``): it agrees with any
    value if no row agrees exactly. ``dataset`` and ``method`` must always agree.

    Raises
    ------
    BoostrunError
        Several rows with different figures fit: `where` must name one more column.

    >>> lookup(reference("reservoir", "table3"), "test_accuracy_pct", {"dataset": "mnist", "method": "geem", "r": 100})
    (84.66, 0.3, '')
    """
    wanted = {name: _text(value) for name, value in where.items() if value is not None}
    rows: Sequence[Any] = figures if isinstance(figures, Sequence) else figures.to_dict("records")
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
    figures = dict.fromkeys((row["mean"], _none_if_nan(row["std"])) for row in fits)
    if len(figures) > 1:
        telling = [name for name in free if len({row[name] for row in fits}) > 1]
        raise BoostrunError(
            f"{len(figures)} figures of {metric} fit {dict(where)}; give {' or '.join(telling)} as well"
        )
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


def _none_if_nan(number: float) -> float | None:
    return None if math.isnan(number) else number
