"""How a concept can change: sudden, gradual, incremental and recurring drift, drawn as a PNG file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boostrun.report.canvas import axes_of, defaults, write_png
from boostrun.report.figures import COLOURS

_POINTS = 60


def draw(folder: Path, data_root: Path) -> str:
    """Kinds of drift, drawn: figure.png; returns what to tell."""
    return f"written: {drift_types_figure(folder / 'figure.png')}"


def drift_types_figure(path: Path | str) -> Path:
    """Four panels of the concept that each example follows: at 0 the old one, at 1 the new, between them a mixture.

    Raises BoostrunError when ``path`` cannot be written.
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
