"""SEA (Street & Kim, KDD 2001): two of three uniform attributes, summed, against a threshold that changes three times.

MOA and river label the side x1 + x2 <= threshold with 0 or False, and flip labels with exactly the probability given;
neither changes the threshold by itself. Here that side is +1, class number 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.streams.drift_stream import DriftStream, Holdout, equal_changes

DEFAULTS = defaults("dataset", "sea")
THRESHOLDS = (8.0, 9.0, 7.0, 9.5)


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """None: the stream is generated."""
    return {}


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "generated, no file is needed"


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """Four concepts of equal length, and a hold-out for each without noise."""
    n, m = options["n_samples"], options["holdout_per_concept"]
    changes = equal_changes(n, len(THRESHOLDS))
    x = rng.uniform(0, 10, (n, 3))
    y = positive(x, np.array(THRESHOLDS)[np.searchsorted(changes, np.arange(1, n + 1))])
    y ^= rng.random(n) < options["noise"]
    holdouts = []
    for threshold in THRESHOLDS:
        points = holdout_rng.uniform(0, 10, (m, 3))
        holdouts.append(Holdout(points, positive(points, threshold)))
    facts = {"concepts": [f"x1 + x2 <= {threshold:g}" for threshold in THRESHOLDS]}
    return DriftStream("sea", x, y, ("-1", "1"), changes, tuple(holdouts), facts)


def positive(x: np.ndarray, threshold) -> np.ndarray:
    """Class numbers of x (n, 3): 1 where x1 + x2 <= threshold, a number or one a row; int64, (n,)."""
    return (x[:, 0] + x[:, 1] <= threshold).astype(np.int64)
