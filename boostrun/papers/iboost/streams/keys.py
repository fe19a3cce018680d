"""Keys of the generated streams and of Santa Fe's: default, range and meaning of each, said once."""

from __future__ import annotations

from dataclasses import dataclass

from boostrun.config.fields import choice, integer, real, text
from boostrun.data.keys import ConceptStreamKeys, DriftingStreamKeys


@dataclass
class SeaKeys(ConceptStreamKeys):
    """SEA: the sum of two attributes against a threshold that changes three times."""

    n_samples: int = integer(50_000, least=4, help="length of the stream")
    noise: float = real(0.0, least=0.0, most=0.5, help="share of labels flipped; the literature's SEA has 0.1")
    holdout_per_concept: int = integer(2500, help="examples of each concept's hold-out")


@dataclass
class SantaFeKeys(ConceptStreamKeys):
    """Santa Fe's laser series against a threshold that changes twice."""

    holdout: str = choice("segments", "disjoint", help="disjoint: set aside before the stream is made")
    holdout_per_concept: int = integer(825, help="examples of each concept's hold-out")
    ramp: int = integer(0, least=0, help="examples that a change takes")


@dataclass
class LedKeys(DriftingStreamKeys):
    """LED: seven segments of a digit among 17 coin flips, exchanged as ``schedule`` says."""

    n_samples: int = integer(1_000_000, help="length of the stream")
    noise: float = real(0.1, least=0.0, most=0.5, help="share of segments inverted")
    schedule: str = choice(
        "swap",
        "static",
        "moa_chain",
        help="static: one exchange; moa_chain: more and more, gradually",
    )
    width: int = integer(50_000, help="examples that a change of moa_chain takes")
    classes: str = text("binary", help="binary, or 10: the digits")
    positive: str = text("12457", help="digits of class +1")


@dataclass
class RbfAbruptKeys(DriftingStreamKeys):
    """Random radial basis functions that are drawn anew."""

    n_samples: int = integer(100_000, least=11, help="length of the stream")
    n_features: int = integer(10, help="dimensions")
    n_centroids: int = integer(50, help="centroids of a concept")
    changes: int = integer(2, least=0, most=10, help="how often all centroids are drawn anew, after equal shares")


@dataclass
class RbfKeys(DriftingStreamKeys):
    """Random radial basis functions that move."""

    n_samples: int = integer(1_000_000, help="length of the stream")
    n_features: int = integer(10, help="dimensions")
    n_centroids: int = integer(10, help="centroids")
    n_drift_centroids: int = integer(10, least=0, help="centroids that move")
    speed: float = real(0.001, least=0.0, help="distance of a move, an example")
    model_seed: int | None = integer(None, least=0, help="of the centroids; none: drawn until neither class is rare")
