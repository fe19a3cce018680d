"""Keys of the feature pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boostrun.config.fields import choice, integer, real, some_of


@dataclass
class Features:
    """Keys of every pipeline of codes: its quantile bins, and how many training samples they are fitted on."""

    bins: int = integer(256, least=2, most=256)
    bin_samples: int = integer(10000, least=2)


@dataclass
class Stumps(Features):
    """Thresholds of pixels or columns."""


@dataclass
class Templates(Features):
    """Patch templates under masks."""

    patch: int = integer(7, least=2)
    centres: int = integer(1000, least=2)
    masks: int = integer(16)
    sigma: float = real(6.0, above=0.0)
    cutoff: float = real(0.1, least=0.0, most=1.0)
    filter: str = choice("zero_mean", "unit", "raw")
    patches: int = integer(1000000)
    fit_images: int = integer(60000)
    seed: int = integer(0, least=0)
    bins: int = integer(256, least=256, most=256)
    bin_samples: int = integer(60000, least=2)


@dataclass
class Linear:
    """Pixels or columns as numbers; ``minmax``: the training range is [-1, 1]."""

    scale: str = choice("minmax", "max01", "standard")


@dataclass
class Products(Linear):
    """Products of two of them."""


@dataclass
class Hog(Features):
    """Histograms of oriented gradients."""

    orientations: int = integer(9)
    cell: int = integer(8, least=2)
    block: int = integer(2)


@dataclass
class CoatesNg(Features):
    """Patch dictionary with soft thresholds."""

    atoms: int = integer(1600)
    patches: int = integer(400000)
    patch: int = integer(6, least=2)
    iterations: int = integer(50)
    threshold: float = real(0.25, least=0.0)
    seed: int = integer(0, least=0)
    size: int = integer(32, least=4)
    device: str = choice("cpu", "cuda", late=True)


@dataclass
class Families19(Features):
    """The 19 feature families of adaptive sampling (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = some_of(
        "identity", "gray", "fourier", "haar", "gradient", "lbp", "ilbp", "patch_sums", "gray_hist", "color_hist",
        "hog_u4", "hog_s4", "hog_u8", "hog_s8", "ori_s", "ori_u", "rect_u", "rect_s", "haar_like",
    )  # fmt: skip
    on_gray: str = choice("keep", "drop")


@dataclass
class Families33(Features):
    """The 33 feature families of adaptive sampling on Caltech-101 (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = some_of(
        *(f"{kind}_{level}" for kind in (
            "phog180", "phog360", "sift_gray300", "sift_gray1000", "sift_hsv300", "sift_hsv1000", "covariance", "lbp",
        ) for level in range(4)), "v1s",
    )  # fmt: skip
    codebook: str = choice("shared", "per_split")
    descriptors: int = integer(100000)
    size: int | None = integer(None, least=16)


@dataclass
class Anchors:
    """Pieces of the space: balls around anchors."""

    anchors: int = integer(1500)
    radii: int = integer(35, most=255)
    pca: int = integer(50, least=0)
    score_samples: int | None = integer(None)
    seed: int = integer(0, least=0)
