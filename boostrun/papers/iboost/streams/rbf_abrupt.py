"""Random radial basis functions that stand still, and are all drawn anew at once: MOA's `RandomRBFGenerator`, several
of them in a row, as the literature on streams makes abrupt drift of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.streams.drift_stream import DriftStream, equal_changes
from boostrun.papers.iboost.streams import rbf

DEFAULTS = defaults("dataset", "rbf_abrupt")


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """None: the stream is generated."""
    return {}


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "generated, no file is needed"


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """A stream without hold-out of ``changes`` + 1 concepts of equal length, each that of :func:`.rbf.draw` at rest:
    centroids are drawn until neither class is rare. ``facts`` have the seed of each.

    >>> options = {"n_samples": 900, "n_features": 4, "n_centroids": 9, "changes": 2}
    >>> stream = draw(options, Path("."), np.random.default_rng(0), None)
    >>> stream.x.shape, stream.changes.tolist(), len(stream.facts["model_seeds"])
    ((900, 4), [300, 600], 3)
    """
    at_rest = {
        "n_features": options["n_features"], "n_centroids": options["n_centroids"], "n_drift_centroids": 0,
        "speed": 0.0, "model_seed": None,
    }  # fmt: skip
    n = options["n_samples"]
    changes = equal_changes(n, options["changes"] + 1)
    concepts = [
        rbf.draw({**at_rest, "n_samples": int(length)}, data_root, rng, holdout_rng)
        for length in np.diff(changes, prepend=0, append=n)
    ]
    x, y = np.concatenate([one.x for one in concepts]), np.concatenate([one.y for one in concepts])
    seeds = [(one.facts or {})["model_seed"] for one in concepts]
    return DriftStream("rbf_abrupt", x, y, ("-1", "1"), changes, facts={"model_seeds": seeds})
