"""Figures and tables of the paper that need no training: kinds of drift, methods, streams."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boostrun.papers.iboost import METHODS
from boostrun.report.canvas import COLOURS, axes_of, defaults, write_png
from boostrun.report.markup import write_text_table
from boostrun.report.reference import figures, lookup

_POINTS = 60


def draw_drift_types(folder: Path, data_root: Path) -> str:
    """Draw the kinds of drift, figure.png; returns a sentence about it."""
    return f"written: {drift_types_figure(folder / 'figure.png')}"


def drift_types_figure(path: Path | str) -> Path:
    """Draw four panels with the concept of each example: 0 the old one, 1 the new one, or a mixture.

    Raises BoostrunError if ``path`` cannot be written.
    """
    time = np.arange(_POINTS)
    chance = 1.0 / (1.0 + np.exp(-4.0 * (time - 30) / 30))
    concepts = {
        "sudden: at once": (time >= 30).astype(float),
        "gradual: more and more often": (np.random.default_rng(1).random(_POINTS) < chance).astype(float),
        "incremental: step by step": np.clip((time - 20) / 20, 0.0, 1.0),
        "recurring: and back again": ((time >= 20) & (time < 40)).astype(float),
    }
    figure, axes = axes_of(4, 1.7, "")
    with defaults():
        for axis, (title, concept) in zip(axes, concepts.items()):
            colours = [COLOURS[0] if value < 0.5 else COLOURS[1] for value in concept]
            axis.scatter(time, concept, c=colours, s=14)
            axis.set(title=title, xticks=[], xlabel="examples", ylim=(-0.25, 1.25))
            axis.set_yticks([0, 1], ["old concept", "new concept"])
        return write_png(figure, path)


_TRAITS = {
    "detects changes": "change_detector", "online base": "online_base_update",
    "adds and removes": "classifier_add_remove", "sliding window": "sliding_window",
}  # fmt: skip
_NAMES = {"iboost_stochastic": "iboost", "iboost_batch": "iboost"}  # one row in the paper's table
_NONE = "—"


def draw_drift_methods(folder: Path, data_root: Path) -> str:
    """Write the paper's table of methods beside what the declarations say; returns a sentence about it."""
    of_paper = figures("iboost", "characteristics")
    rows, differing = [], 0
    for name, method in METHODS.items():
        if not method.budget:  # it uses labels alone
            continue
        row = [name]
        for trait, metric in _TRAITS.items():
            found = lookup(of_paper, metric, {"method": _NAMES.get(name, name)})
            ours, paper = trait in method.traits, None if found is None else found[0] == 1
            differing += paper is not None and ours != paper
            row += ["x" if ours else "-", _NONE if paper is None else "x" if paper else "-"]
        rows.append(row)
    head = ["method", *(text for trait in _TRAITS for text in (trait, "paper"))]
    note = f"{differing} of them differ from the paper's; — where the paper's table has no such method."
    return write_text_table("IBoost: what each method has", [head, *rows], note, folder)


_DRIFTS = {"sea": "sudden", "santafe": "incremental", "led": "rigorous", "rbf": "gradual"}  # the paper's words


def draw_drift_data(folder: Path, data_root: Path) -> str:
    """Write the table of the streams' sizes and the paper's; returns sentences, first about what is missing."""
    from boostrun.data import streams
    from boostrun.errors import DataMissingError

    of_paper = figures("iboost", "datasets")
    rows, notes = [], []
    for name, kind in _DRIFTS.items():
        ours = [_NONE] * 3
        try:
            stream = streams.draw({"name": name}, data_root)
            held = sum(len(holdout.y) for holdout in stream.holdouts)
            concepts = len(stream.changes) + 1 if name != "rbf" else _NONE  # it changes with every example
            ours = [str(len(stream)), str(held) if held else _NONE, str(concepts)]
        except DataMissingError as missing:
            notes.append(f"missing: {missing}")
        found = [lookup(of_paper, metric, {"dataset": name}) for metric in ("train_size", "holdout_size", "n_concepts")]
        paper = [_NONE if one is None else f"{one[0]:.0f}" for one in found]
        rows.append([name, kind, *(text for pair in zip(ours, paper) for text in pair)])
    head = ["stream", "drift", "training examples", "paper", "hold-out examples", "paper", "concepts", "paper"]
    page = "— where there is none: without a hold-out each example is predicted before it is learnt."
    return "\n".join([*notes, write_text_table("IBoost: the streams", [head, *rows], page, folder)])
