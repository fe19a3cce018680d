"""The papers' own figures, a CSV file beside each paper's methods, in one shape for all."""

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

#: Columns that hold a figure or speak about it; all others say which figure it is.
FIGURE_COLUMNS = ("mean", "std", "value", "note", "source")

_SOURCE_NOTES = {
    "recalled": "recalled: known from the published paper, not checked against its text",
    "seed": "printed in the paper",
}


def papers() -> list[str]:
    """Names of the papers that bring figures, as tables cite them."""
    return sorted(files())


def files() -> dict[str, Path]:
    """Files of figures by the name that they give their paper in the column ``paper``, else by the paper's own."""
    found: dict[str, Path] = {}
    for name, paper in catalogue.papers().items():
        if paper.reference is not None:
            found.setdefault(_cited(paper.reference) or name, paper.reference)  # ours are asked first
    return found


def _cited(path: Path) -> str:
    """What the first figure of a file says of its paper; a file that cannot be read says nothing here."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            return next(csv.DictReader(stream), {}).get("paper") or ""
    except (OSError, ValueError, csv.Error):
        return ""


def reference(paper: str, table: str = "") -> pandas.DataFrame:
    """The figures of one table of a paper (of all its tables when `table` is empty).

    Returns a frame whose columns ``mean`` and ``std`` are floats (``std`` is nan where the paper gives none), ``note``
    is text, ``table`` names the table or figure, and whose other columns are text, as they stand in the packaged CSV.

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
    """The rows of :func:`reference`, which pandas need not be imported for.

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
    """The paper's (mean, std, note) of `metric` in the row that `where` describes; None where the paper has none.

    `figures` are those of :func:`reference`, or its rows. `where` maps column names to values (compared as text,
    numbers by value). A column other than ``dataset`` and ``method`` that is blank in the paper does not apply to that
    row (the online methods have no ``r``), so it agrees with any value when no row agrees exactly.

    Raises
    ------
    BoostrunError
        Several rows with different figures fit, so `where` must name one more column.

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
    # A row that says nothing more than what was asked for goes before the rows that are special cases of it.
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
    """Text of a value, equal for ``100``, ``100.0`` and ``"100"``."""
    text = str(value).strip()
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return text


def _none_if_nan(number: float) -> float | None:
    return None if math.isnan(number) else number
