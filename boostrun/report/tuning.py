"""What a choice of ``boostrun tune`` was chosen from, as text and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from boostrun.report.formats import align, cost_head, cost_text, metric_name
from boostrun.report.markup import escape

_BEST = 10  # trials of a search that are printed
_CHOSEN = "chosen"
_WORDS = {"log10_loss": "the training loss", "test_error_pct": "the error on held-out training data"}


def text(choice: Mapping[str, Any]) -> str:
    """The grid and the two costs in aligned lines."""
    heading, head, rows, costs = _parts(choice)
    return "\n".join([heading, *align([head, *rows]), *align(costs)])


def markdown(choice: Mapping[str, Any]) -> str:
    """The grid and the two costs as pipe tables."""
    heading, head, rows, costs = _parts(choice)
    return f"# {escape(heading)}\n\n{_pipes(head, rows)}\n\n{_pipes(['', *head[2:]], costs)}\n"


def searched_text(choice: Mapping[str, Any]) -> str:
    """The best trials of a search, the one chosen first, and the two costs in aligned lines."""
    heading, head, rows, costs = _searched(choice)
    more = [f"and {len(rows) - _BEST} more"] if len(rows) > _BEST else []
    return "\n".join([heading, *align([head, *rows[:_BEST]]), *more, *align(costs)])


def searched_markdown(choice: Mapping[str, Any]) -> str:
    """All trials of a search, what was searched, and the two costs as pipe tables."""
    heading, head, rows, costs = _searched(choice)
    space = [[key, one] for key, one in choice["space"].items()]
    parts = [_pipes(head, rows), _pipes(["searched", ""], space), _pipes(["", *_cost_heads(choice), ""], costs)]
    return "\n\n".join([f"# {escape(heading)}", *parts, f"Asked of the sampler: {escape(choice['sampler'])}."]) + "\n"


def _searched(choice: Mapping[str, Any]) -> tuple[str, list[str], list[list[str]], list[list[str]]]:
    by, trials, seeds = choice["by"], choice["trials"], choice["seeds"]
    over = f"seed {choice['seed']}" if seeds == 1 else f"mean of {seeds} seeds from {choice['seed']}"
    what = _WORDS[by] if choice["held_out"] else "the error on another stream"
    if first := choice.get("first"):
        what = f"the error on the first {first:,} examples"
    heading = f"{choice['label']} · {len(trials)} trials by {what}, {over}"
    keys = list(choice["space"])
    best = min(_figure(row, by) for row in trials)
    first = next(row for row in trials if row[by] == best)
    rows = [
        [*(_word(row["values"][key]) if key in row["values"] else "" for key in keys), *_measured(row, by),
         _CHOSEN if row is first else "failed" if row[by] is None else "as it was" if row is trials[0] else ""]
        for row in sorted(trials, key=lambda row: _figure(row, by))
    ]  # fmt: skip
    runs = len(trials) * seeds
    blank = [""] * (len(keys) - 1)
    costs = [
        ["cost of the run", *_costs(choice["cost"]["of_the_run"]), ""],
        ["cost with tuning", *_costs(choice["cost"]["with_tuning"]), f"{runs} run{'s' * (runs > 1)}"],
    ]
    return heading, [*(keys or blank), metric_name(by), *_cost_heads(choice), ""], rows, costs


def _figure(row: Mapping[str, Any], by: str) -> float:
    return math.inf if row[by] is None else row[by]


def _measured(row: Mapping[str, Any], by: str) -> list[str]:
    error = "" if row[by] is None else f"{row[by]:.2f}"
    return [error, *(_costs(row) or [""])]


def _cost_heads(choice: Mapping[str, Any]) -> list[str]:
    return [cost_head(cost) for cost in choice["cost"]["of_the_run"]]


def _word(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _parts(choice: Mapping[str, Any]) -> tuple[str, list[str], list[list[str]], list[list[str]]]:
    by = choice["by"]
    heading = f"{choice['label']} · {choice['key']} by {_WORDS[by]}, seed {choice['seed']}"
    rows = [
        [str(row["value"]), f"{row[by]:.4f}", *_costs(row), _CHOSEN * (row["value"] == choice["value"])]
        for row in choice["grid"]
    ]
    runs = f"{len(rows)} run{'s' * (len(rows) > 1)}"
    costs = [
        ["cost of the run", *_costs(choice["cost"]["of_the_run"]), ""],
        ["cost with tuning", *_costs(choice["cost"]["with_tuning"]), runs],
    ]
    heads = [cost_head(cost) for cost in choice["cost"]["of_the_run"]]
    return heading, [choice["key"], metric_name(by), *heads, ""], rows, costs


def _costs(row: Mapping[str, float]) -> list[str]:
    return [cost_text(cost, row[cost]) for cost in ("evaluations", "train_seconds") if cost in row]


def _pipes(head: list[str], rows: list[list[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 2), "---"]
    return "\n".join("| " + " | ".join(map(escape, row)) + " |" for row in (head, rule, *rows))
