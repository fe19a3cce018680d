"""Keys of the feature pipelines."""

from __future__ import annotations

from dataclasses import dataclass

from boostrun.config.fields import choice, integer, real


@dataclass
class FeatureKeys:
    """Keys of every pipeline of codes: its quantile bins, and how many training samples they are fitted on."""

    bins: int = integer(256, least=2, most=256, help="quantile bins of a feature")
    bin_samples: int = integer(10000, least=2, help="training samples that bins are fitted on")


@dataclass
class StumpsKeys(FeatureKeys):
    """Thresholds of pixels or columns."""


@dataclass
class LinearKeys:
    """Pixels or columns as numbers; ``minmax``: the training range is [-1, 1]."""

    scale: str = choice(
        "minmax",
        "max01",
        "standard",
        help="minmax: the training range is [-1, 1]; max01: divided by the largest; standard: mean 0, variance 1",
    )


@dataclass
class ProductsKeys(LinearKeys):
    """Products of two of them."""


@dataclass
class HogKeys(FeatureKeys):
    """Histograms of oriented gradients."""

    orientations: int = integer(9, help="bins of directions")
    cell: int = integer(8, least=2, help="pixels of a cell's side")
    block: int = integer(2, help="cells of a block's side")


@dataclass
class CoatesNgKeys(FeatureKeys):
    """Patch dictionary with soft thresholds."""

    atoms: int = integer(1600, help="entries of the dictionary")
    patches: int = integer(400000, help="windows that it is learned on")
    patch: int = integer(6, least=2, help="pixels of a window's side")
    iterations: int = integer(50, help="of learning it")
    threshold: float = real(0.25, least=0.0, help="of the soft threshold")
    seed: int = integer(0, least=0, help="of the windows and the dictionary")
    size: int = integer(32, least=4, help="pixels of the sides that images are brought to")
    device: str = choice("cpu", "cuda", absent="cpu", help="what computes it")


@dataclass
class AnchorsKeys:
    """Pieces of the space: balls around anchors."""

    anchors: int = integer(1500, help="centres of k-means")
    radii: int = integer(35, most=255, help="for each anchor; the last is infinite")
    pca: int = integer(50, least=0, help="principal components; 0: the columns as they are")
    score_samples: int | None = integer(
        None, help="candidates are scored on so many training samples, always the same ones; null: on all"
    )
    seed: int = integer(0, least=0, help="of the centres and of the samples")
