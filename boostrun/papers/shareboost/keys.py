"""Keys of the paper's methods, data and features: default, range and meaning; and how each method keeps a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from boostrun.config.fields import Keys, boolean, choice, integer, keys, kind_of, real, renamed
from boostrun.data.keys import DatasetKeys
from boostrun.errors import BoostrunError
from boostrun.features.keys import FeatureKeys
from boostrun.methods.declaration import early_stopping_field

_FEATURES = integer(
    100, help="T: number of features (or groups of columns); one run gives the results for every smaller T"
)
_REG = real(0.0, least=0.0, help="lambda, the weight of the penalty")
_MARGIN = real(1.0, least=0.0, help="margin of the loss: 1 in the paper; 0 is plain multinomial logistic regression")
_SOLVER = choice("lbfgs", "agd", help="solver of each round's convex problem")
_RTOL = real(
    1e-3, least=0.0,
    help="the solver stops when no entry of the gradient exceeds this share of the round's score (for a group, the "
    "mean score of its columns), or 1e-8",
)  # fmt: skip
_MAXITER = integer(300, help="most iterations of the solver")
_STOP_LOSS = real(1e-6, least=0.0, help="rounds end once the training loss is at most this")
_CLASSES = integer(None, least=2, help="number of classes, absent ones included; None: the classes in the data")


@keys
class ShareBoostKeys(Keys):
    """Keys of ShareBoost."""

    n_features: int = renamed(_FEATURES)
    features: Any = "raw"
    _: KW_ONLY
    rule: str = choice(
        "gradient", "normalised", "line", "column", "full",
        help="how a candidate is judged: l1-norm of its gradient; decrease promised by its curvature; or the objective "
        "reached along its gradient, over its own weights, over all weights",
    )  # fmt: skip
    shortlist: int = integer(50, least=0, help="candidates, best by gradient, that line, column and full try; 0: all")
    reg: float = renamed(_REG)
    reg_kind: str = choice("frobenius", "smoothed_l1", "smoothed_linf", help="the penalty: a norm of the weights")
    beta: float = real(100.0, above=0.0, help="sharpness of the smoothed norms")
    margin: float = renamed(_MARGIN)
    solver: str = renamed(_SOLVER)
    inner_rtol: float = renamed(_RTOL)
    inner_maxiter: int = renamed(_MAXITER)
    stop_loss: float = renamed(_STOP_LOSS)
    bias: str = choice(
        "auto", "none", "free", "pool",
        help="constant feature: none, always present and not counted, or one of the candidates; auto: pool for "
        "thresholds, none otherwise",
    )  # fmt: skip
    n_classes: int | None = renamed(_CLASSES)
    scoring: str = choice(
        "full", "lazy",
        help="lazy skips candidates that cannot be the best, with the same result; it saves time under a strong "
        "penalty or once the loss is nearly gone",
    )  # fmt: skip
    early_stopping: bool = early_stopping_field("early_stopping")
    validation_fraction: float = early_stopping_field("validation_fraction")
    n_iter_no_change: int = early_stopping_field("n_iter_no_change")
    checkpoint: Any = None
    n_jobs: int | None = None
    random_state: Any = None


@keys
class OneVsRestGreedyKeys(Keys):
    """Keys of one-vs-rest greedy selection."""

    n_features: int = renamed(
        _FEATURES, default=40, help="T: number of features a class; one run gives the results for every smaller T"
    )
    features: Any = "raw"
    _: KW_ONLY
    reg: float = renamed(_REG, help="lambda of the penalty lambda ||w||^2 of each class")
    solver: str = renamed(_SOLVER)
    inner_rtol: float = renamed(_RTOL)
    inner_maxiter: int = renamed(_MAXITER)
    stop_loss: float = renamed(_STOP_LOSS, help="rounds of a class end once its training loss is at most this")
    early_stopping: bool = early_stopping_field("early_stopping")
    validation_fraction: float = early_stopping_field("validation_fraction")
    n_iter_no_change: int = early_stopping_field("n_iter_no_change")
    n_jobs: int | None = None


@keys
class MixedNormKeys(Keys):
    """Keys of the mixed norm's path."""

    n_lambdas: int = integer(60, help="number of lambdas, evenly spaced in the logarithm")
    features: Any = "raw"
    _: KW_ONLY
    lambda_min_ratio: float = real(
        1e-3, above=0.0, most=1.0, help="smallest lambda, as a share of the smallest one at which all columns are zero"
    )
    gap: float = real(1e-3, above=0.0, help="certified relative distance of every point from the minimum")
    debias: bool = boolean(
        False, help="also minimise the loss alone over each point's columns, and predict with those weights"
    )
    margin: float = renamed(_MARGIN)
    max_columns: int | None = integer(
        200, optional=True, help="T: the path ends before the first point with more columns; None: at the last lambda"
    )
    max_iterations: int = 20_000
    n_classes: int | None = renamed(_CLASSES)
    n_jobs: int | None = None


@keys
class JointBoostKeys(Keys):
    """Keys of JointBoost."""

    rounds: int = integer(150, help="T: number of stumps, each shared by a subset of the classes")
    _: KW_ONLY
    search: str = choice(
        "best_first", "exhaustive",
        help="best first: the subset grows by the class that lowers the error most, and the best of the k sets is "
        "taken; exhaustive: all 2^k - 1 subsets, for at most 8 classes",
    )  # fmt: skip
    beam: int = integer(1, help="number of sets of each size that best-first search extends")
    early_stopping: bool = early_stopping_field("early_stopping")
    validation_fraction: float = early_stopping_field("validation_fraction")
    n_iter_no_change: int = early_stopping_field("n_iter_no_change")
    max_bins: int = 256


@keys
class KNNKeys(Keys):
    """Keys of k nearest neighbours."""

    k: int = integer(3, help="number of neighbours that vote")
    _: KW_ONLY
    tie: str = choice(
        "nearest", "smallest", help="of classes with equal votes, that of the nearest wins, or the first in order"
    )


def _one_or_some(**more: Any) -> Any:
    """A field for a number above 0, or a list of such numbers."""
    one = real(None, above=0.0, **more)
    read_one = kind_of(one).read

    def read(value):
        if isinstance(value, (list, tuple)):
            return list(value) if value and all(read_one(number) is not None for number in value) else None
        return read_one(value)

    return renamed(one, read=read, allowed="a number above 0, or a list of them,")


@keys
class KernelSVMKeys(Keys):
    """Keys of the kernel machines."""

    C: float | Sequence[float] | None = _one_or_some(help="None: 1, 10 or 100, by validation; a list: its best value")
    gamma: float | Sequence[float] | None = _one_or_some(
        help="in units of 1 / (d var(X)); None: 0.25, 1 or 4, by validation; a list: its best value"
    )
    _: KW_ONLY
    validation: float = real(0.2, above=0.0, most=0.9, help="share of every class in the validation part")
    search_samples: int | None = integer(
        None, least=2, help="number of training samples, drawn at random, for the choice; None: all"
    )
    random_state: Any = None


@dataclass
class TemplatesKeys(FeatureKeys):
    """Patch templates under masks."""

    patch: int = integer(7, least=2, help="side of a template in pixels")
    centres: int = integer(1000, least=2, help="number of templates")
    masks: int = integer(16, help="number of Gaussian masks, a square number")
    sigma: float = real(6.0, above=0.0, help="width of a mask in pixels; chosen on held-out training digits")
    cutoff: float = real(0.1, least=0.0, most=1.0, help="a mask is 0 below this value")
    filter: str = choice(
        "zero_mean", "unit", "raw", help="zero_mean: zero mean and unit norm; unit: unit norm; raw: the k-means centres"
    )
    patches: int = integer(1000000, help="number of windows for k-means")
    fit_images: int = integer(60000, help="number of training images, the first ones, that windows come from")
    seed: int = integer(0, least=0, help="seed of k-means")
    bins: int = integer(256, least=256, most=256, help="number of codes of a response, always 256, evenly spaced")
    bin_samples: int = integer(60000, least=2, help="number of training images for each feature's maximum")


@dataclass
class MnistExpandedKeys(DatasetKeys):
    """MNIST with ``copies`` elastic distortions of each training image."""

    copies: int = integer(5, least=0, help="number of distortions of each training image")
    alpha: float = real(34.0, least=0.0, help="factor of the smoothed field, in pixels")
    sigma: float = real(4.0, above=0.0, help="width of the field's smoothing, in pixels")
    seed: int = integer(0, least=0, help="seed of the distortions")


@dataclass
class MnistAffineKeys(DatasetKeys):
    """MNIST with ``copies`` affine distortions of each training image."""

    copies: int = integer(5, least=0, help="number of distortions of each training image")
    rotation: float = real(12.0, least=0.0, help="largest rotation, in degrees")
    scale: float = real(0.12, least=0.0, below=1.0, help="largest change of the height and of the width, a share")
    shear: float = real(0.12, least=0.0, help="largest shear, pixels a row moves for each column")
    seed: int = integer(0, least=0, help="seed of the distortions")


Facts = Mapping[str, int]


def keep_shared_features(budget: float, facts: Facts) -> dict[str, Any]:
    """Keys that keep a budget of features shared by all classes, up to all features.

    >>> keep_shared_features(100, {"n_samples": 60000, "n_features": 64, "n_classes": 10})
    {'T': 64}
    """
    return {"T": _whole(budget, facts)}


def keep_features_of_each_class(budget: float, facts: Facts) -> dict[str, Any]:
    """Keys that keep a budget of features over all classes: each class gets an equal share."""
    each = _whole(budget, facts) // facts["n_classes"]
    if each < 1:
        raise BoostrunError(f"each of {facts['n_classes']} classes needs at least one feature")
    return {"T": each}


def keep_all_samples(budget: float, facts: Facts) -> dict[str, Any]:
    """No keys: the method holds all samples. Raises BoostrunError if the budget is smaller."""
    if budget < facts["n_samples"]:
        raise BoostrunError(f"it holds all {facts['n_samples']:,} samples")
    return {}


def _whole(budget: float, facts: Facts) -> int:
    if budget < 1:
        raise BoostrunError("a model needs at least one feature")
    return min(int(budget), facts["n_features"])
