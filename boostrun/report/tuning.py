"""The choice of ``boostrun tune`` as text and Markdown: a grid of values or the trials of a search, and costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from boostrun.report.formats import align, cost_head, cost_text, metric_name
from boostrun.report.markup import escape

_BEST = 10  # trials of a search that are printed
_CHOSEN = "chosen"
_WORDS = {"log10_loss": "the training loss", "test_error_pct": "the error on held-out training data"}


def choice_text(choice: Mapping[str, Any]) -> str:
    """The grid, or the ten best trials of a search, and two costs in aligned lines."""
    heading, (head, *rows) = _parts(choice)
    most = len(rows) if "grid" in choice else _BEST
    more = [f"and {len(rows) - most} more"] if len(rows) > most else []
    return "\n".join([heading, *align([head, *rows[:most]]), *more, *align(_costs(choice)[1:])])


def choice_markdown(choice: Mapping[str, Any]) -> str:
    """The grid, or all trials of a search with its ranges, and two costs as pipe tables."""
    heading, lines = _parts(choice)
    tables, remarks = [lines, _costs(choice)], []
    if "grid" not in choice:
        tables.insert(1, [["searched", ""], *([key, one] for key, one in choice["space"].items())])
        remarks = [f"Asked of the sampler: {escape(choice['sampler'])}."]
    return "\n\n".join([f"# {escape(heading)}", *map(_pipes, tables), *remarks]) + "\n"


def _parts(choice: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    """The heading, and lines of texts, a head first."""
    by = choice["by"]
    costs = [cost_head(cost) for cost in choice["cost"]["of_the_run"]]
    if "grid" in choice:
        rows = [
            [str(row["value"]), f"{row[by]:.4f}", *_spent(row), _CHOSEN * (row["value"] == choice["value"])]
            for row in choice["grid"]
        ]
        heading = f"{choice['label']} · {choice['key']} by {_WORDS[by]}, seed {choice['seed']}"
        return heading, [[choice["key"], metric_name(by), *costs, ""], *rows]
    trials, seeds, keys = choice["trials"], choice["seeds"], list(choice["space"])
    over = f"seed {choice['seed']}" if seeds == 1 else f"mean of {seeds} seeds from {choice['seed']}"
    measure = _WORDS[by] if choice["held_out"] else "the error on another stream"
    if first := choice.get("first"):
        measure = f"the error on the first {first:,} examples"
    ranked = sorted(trials, key=lambda row: math.inf if row[by] is None else row[by])
    rows = []
    for row in ranked:
        values = [_word(row["values"][key]) if key in row["values"] else "" for key in keys]
        error = "" if row[by] is None else f"{row[by]:.2f}"
        default = "as it was" if row is trials[0] else ""
        mark = _CHOSEN if row is ranked[0] else "failed" if row[by] is None else default
        rows.append([*values, error, *(_spent(row) or [""]), mark])
    heading = f"{choice['label']} · {len(trials)} trials by {measure}, {over}"
    return heading, [[*keys, metric_name(by), *costs, ""], *rows]


def _costs(choice: Mapping[str, Any]) -> list[list[str]]:
    """Lines of texts: the costs of the run alone, and with tuning."""
    cost = choice["cost"]
    runs = len(choice["grid"]) if "grid" in choice else len(choice["trials"]) * choice["seeds"]
    return [
        ["", *map(cost_head, cost["of_the_run"]), ""],
        ["cost of the run", *_spent(cost["of_the_run"]), ""],
        ["cost with tuning", *_spent(cost["with_tuning"]), f"{runs} run{'s' * (runs > 1)}"],
    ]


def _spent(row: Mapping[str, float]) -> list[str]:
    return [cost_text(cost, row[cost]) for cost in ("evaluations", "train_seconds") if cost in row]


def _word(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _pipes(lines: list[list[str]]) -> str:
    head, *rows = lines
    rule = ["---", *["---:"] * (len(head) - 2), "---"]
    return "\n".join("| " + " | ".join(map(escape, row)) + " |" for row in (head, rule, *rows))
