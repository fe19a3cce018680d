"""Keys of the feature pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boostrun.config.fields import choice, integer, real, some_of


@dataclass
class FeatureKeys:
    """Keys of every pipeline of codes: its quantile bins, and how many training samples they are fitted on."""

    bins: int = integer(256, least=2, most=256, help="quantile bins of a feature")
    bin_samples: int = integer(10000, least=2, help="training samples that bins are fitted on")


@dataclass
class StumpsKeys(FeatureKeys):
    """Thresholds of pixels or columns."""


@dataclass
class TemplatesKeys(FeatureKeys):
    """Patch templates under masks."""

    patch: int = integer(7, least=2, help="pixels of a template's side")
    centres: int = integer(1000, least=2, help="templates")
    masks: int = integer(16, help="places of the Gaussian masks, a square number")
    sigma: float = real(6.0, above=0.0, help="of a mask, in pixels; chosen on held-out training digits")
    cutoff: float = real(0.1, least=0.0, most=1.0, help="a mask is 0 below it")
    filter: str = choice(
        "zero_mean", "unit", "raw", help="zero_mean: and of unit norm; unit: of unit norm; raw: the centres as they are"
    )
    patches: int = integer(1000000, help="windows that centres are learned on")
    fit_images: int = integer(60000, help="of the first so many training images")
    seed: int = integer(0, least=0, help="of the centres")
    bins: int = integer(256, least=256, most=256, help="codes of a response: always 256, no quantiles")
    bin_samples: int = integer(60000, least=2, help="training images that each feature's maximum is taken over")


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
    device: str = choice("cpu", "cuda", late=True, help="what computes it")


@dataclass
class Families19Keys(FeatureKeys):
    """The 19 feature families of adaptive sampling (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = some_of(
        "identity", "gray", "fourier", "haar", "gradient", "lbp", "ilbp", "patch_sums", "gray_hist", "color_hist",
        "hog_u4", "hog_s4", "hog_u8", "hog_s8", "ori_s", "ori_u", "rect_u", "rect_s", "haar_like",
        help="families that are computed; null: all",
    )  # fmt: skip
    on_gray: str = choice("keep", "drop", help="families of colour on gray images: kept, or dropped")


@dataclass
class Families33Keys(FeatureKeys):
    """The 33 feature families of adaptive sampling on Caltech-101 (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = some_of(
        *(f"{kind}_{level}" for kind in (
            "phog180", "phog360", "sift_gray300", "sift_gray1000", "sift_hsv300", "sift_hsv1000", "covariance", "lbp",
        ) for level in range(4)), "v1s",
        help="families that are computed; null: all",
    )  # fmt: skip
    codebook: str = choice("shared", "per_split", help="visual words of the first split for all, or of each split")
    descriptors: int = integer(100000, help="descriptors that visual words are learned on")
    size: int | None = integer(None, least=16, help="pixels of the sides that images are brought to; null: as they are")


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
