"""Keys of the feature pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..kinds import choice, names, number, whole
from .base import MISSING


@dataclass
class Features:
    """Keys of every pipeline of codes: its quantile bins, and how many training samples they are fitted on.

    ``pool`` is what a learner of shared features makes of them.
    """

    name: str = MISSING
    bins: int = whole(256, least=2, most=256)
    bin_samples: int = whole(10000, least=2)
    pool: ClassVar[str] = "codes"


@dataclass
class Stumps(Features):
    """Thresholds of pixels or columns."""

    pool: ClassVar[str] = "stumps"


@dataclass
class Templates(Features):
    """Patch templates under masks."""

    patch: int = whole(7, least=2)
    centres: int = whole(1000, least=2)
    masks: int = whole(16)
    sigma: float = number(6.0, above=0.0)
    cutoff: float = number(0.1, least=0.0, most=1.0)
    filter: str = choice("zero_mean", "unit", "raw")
    patches: int = whole(1000000)
    fit_images: int = whole(60000)
    seed: int = whole(0, least=0)
    bins: int = whole(256, least=256, most=256)
    bin_samples: int = whole(60000, least=2)


@dataclass
class Linear:
    """Pixels or columns as numbers; ``minmax``: the training range is [-1, 1]."""

    name: str = MISSING
    scale: str = choice("minmax", "max01", "standard")
    pool: ClassVar[str] = "values"


@dataclass
class Products(Linear):
    """Products of two of them."""

    pool: ClassVar[str] = "products"


@dataclass
class Hog(Features):
    """Histograms of oriented gradients."""

    orientations: int = whole(9)
    cell: int = whole(8, least=2)
    block: int = whole(2)


@dataclass
class CoatesNg(Features):
    """Patch dictionary with soft thresholds."""

    atoms: int = whole(1600)
    patches: int = whole(400000)
    patch: int = whole(6, least=2)
    iterations: int = whole(50)
    threshold: float = number(0.25, least=0.0)
    seed: int = whole(0, least=0)
    size: int = whole(32, least=4)
    device: str = choice("cpu", "cuda")


@dataclass
class Families19(Features):
    """The 19 feature families of adaptive sampling (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = names(
        "identity", "gray", "fourier", "haar", "gradient", "lbp", "ilbp", "patch_sums", "gray_hist", "color_hist",
        "hog_u4", "hog_s4", "hog_u8", "hog_s8", "ori_s", "ori_u", "rect_u", "rect_s", "haar_like",
    )  # fmt: skip
    on_gray: str = choice("keep", "drop")


@dataclass
class Families33(Features):
    """The 33 feature families of adaptive sampling on Caltech-101 (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = names(
        *(f"{kind}_{level}" for kind in (
            "phog180", "phog360", "sift_gray300", "sift_gray1000", "sift_hsv300", "sift_hsv1000", "covariance", "lbp",
        ) for level in range(4)), "v1s",
    )  # fmt: skip
    codebook: str = choice("shared", "per_split")
    descriptors: int = whole(100000)
    size: int | None = whole(None, least=16)


@dataclass
class Anchors:
    """Pieces of the space: balls around anchors."""

    name: str = MISSING
    anchors: int = whole(1500)
    radii: int = whole(35, most=255)
    pca: int = whole(50, least=0)
    score_samples: int | None = whole(None)
    seed: int = whole(0, least=0)
    pool: ClassVar[str] = "anchors"


FEATURES: dict[str, type] = {
    "raw": Features, "hog": Hog, "coates_ng": CoatesNg, "families19": Families19, "families33": Families33,
    "linear": Linear, "products": Products, "stumps": Stumps, "templates": Templates, "anchors": Anchors,
}  # fmt: skip
