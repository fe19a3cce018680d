"""What a choice of ``boostrun tune`` was chosen from, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.report.formats import align, cost_head, cost_text, metric_name
from boostrun.report.markdown import escape

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
