"""Sizes of the streams as they are drawn, and the paper's; its name for each kind of drift."""

from __future__ import annotations

from pathlib import Path

from boostrun.report.paired import write_text_table
from boostrun.report.reference import lookup, reference

_KINDS = {"sea": "sudden", "santafe": "incremental", "led": "rigorous", "rbf": "gradual"}  # the paper's words
_NONE = "—"


def draw(folder: Path, data_root: Path) -> str:
    """Write the table of sizes; returns what to tell, what is missing first."""
    from boostrun.data import streams
    from boostrun.errors import DataMissingError

    frame = reference("iboost", "datasets")
    rows, told = [], []
    for name, kind in _KINDS.items():
        ours = [_NONE] * 3
        try:
            stream = streams.draw({"name": name}, data_root)
            held = sum(len(holdout.y) for holdout in stream.holdouts)
            concepts = len(stream.changes) + 1 if name != "rbf" else _NONE  # it changes with every example
            ours = [str(len(stream)), str(held) if held else _NONE, str(concepts)]
        except DataMissingError as missing:
            told.append(f"missing: {missing}")
        figures = [lookup(frame, metric, {"dataset": name}) for metric in ("train_size", "holdout_size", "n_concepts")]
        paper = [_NONE if found is None else f"{found[0]:.0f}" for found in figures]
        rows.append([name, kind, *(text for pair in zip(ours, paper) for text in pair)])
    head = ["stream", "drift", "training examples", "paper", "hold-out examples", "paper", "concepts", "paper"]
    page = "— where there is none: without a hold-out each example is predicted before it is learnt."
    return "\n".join([*told, write_text_table("IBoost: the streams", [head, *rows], page, folder)])
