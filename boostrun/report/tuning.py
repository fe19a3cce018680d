"""What a choice of ``boostrun tune`` was chosen from, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.report.formats import align, cost_text
from boostrun.report.markdown import escape

_CHOSEN = "chosen"


def text(choice: Mapping[str, Any]) -> str:
    """The grid and the two costs in aligned lines."""
    heading, head, rows, costs = _parts(choice)
    return "\n".join([heading, *align([head, *rows]), *align(costs)])


def markdown(choice: Mapping[str, Any]) -> str:
    """The grid and the two costs as pipe tables."""
    heading, head, rows, costs = _parts(choice)
    return f"# {escape(heading)}\n\n{_pipes(head, rows)}\n\n{_pipes(['', 'evaluations', 'fit s', ''], costs)}\n"


def _parts(choice: Mapping[str, Any]) -> tuple[str, list[str], list[list[str]], list[list[str]]]:
    heading = f"{choice['label']} · {choice['key']} by the training loss, seed {choice['seed']}"
    rows = [
        [str(row["value"]), f"{row['log10_loss']:.4f}", *_costs(row), _CHOSEN * (row["value"] == choice["value"])]
        for row in choice["grid"]
    ]
    runs = f"{len(rows)} run{'s' * (len(rows) > 1)}"
    costs = [
        ["cost of the run", *_costs(choice["cost"]["of_the_run"]), ""],
        ["cost with tuning", *_costs(choice["cost"]["with_tuning"]), runs],
    ]
    return heading, [choice["key"], "log10 loss", "evaluations", "fit s", ""], rows, costs


def _costs(row: Mapping[str, float]) -> list[str]:
    return [cost_text(cost, row[cost]) for cost in ("evaluations", "train_seconds")]


def _pipes(head: list[str], rows: list[list[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 2), "---"]
    return "\n".join("| " + " | ".join(map(escape, row)) + " |" for row in (head, rule, *rows))
