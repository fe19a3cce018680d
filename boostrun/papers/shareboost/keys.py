"""Keys of the methods of the paper: default, range and meaning of each, said once.

How the paper's methods are told to keep a budget: the words of a command for it, or why it cannot be kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from boostrun.config.fields import Keys, boolean, choice, integer, keys, kind_of, real, renamed
from boostrun.data.keys import DatasetKeys
from boostrun.errors import BoostrunError
from boostrun.features.keys import FeatureKeys

_FEATURES = integer(
    100, help="T: features (or groups of columns) to take; every smaller number is answered by the same run"
)
_REG = real(0.0, least=0.0, help="lambda: weight of the penalty")
_MARGIN = real(1.0, least=0.0, help="of the loss: 1 in the paper; 0 is plain multinomial logistic regression")
_SOLVER = choice("lbfgs", "agd", help="of each round's convex problem")
_RTOL = real(
    1e-3, least=0.0,
    help="the solver stops when no entry of the gradient exceeds this share of the round's score (of a group, of the "
    "mean of its columns'), or 1e-8",
)  # fmt: skip
_MAXITER = integer(300, help="iterations of the solver at most")
_STOP_LOSS = real(1e-6, least=0.0, help="rounds end when the training loss is no larger")
_CLASSES = integer(None, least=2, help="more classes than the data hold: absent ones have scores too; none: theirs")


@keys
class ShareBoostKeys(Keys):
    """Keys of ShareBoost."""

    n_features: int = renamed(_FEATURES)
    features: Any = "raw"
    _: KW_ONLY
    rule: str = choice(
        "gradient", "normalised", "line", "column", "full",
        help="what makes a candidate best: its gradient's l1-norm; the decrease that its curvature promises; the "
        "objective reached along its gradient, over its own weights, over all weights",
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
        help="a constant feature: absent, always there and not counted, or one of the candidates; auto: pool for "
        "thresholds, none for all others",
    )  # fmt: skip
    n_classes: int | None = renamed(_CLASSES)
    scoring: str = choice(
        "full", "lazy",
        help="lazy skips candidates that cannot be the best, to the same result; it pays under a strong penalty or "
        "when the loss is nearly gone",
    )  # fmt: skip
    checkpoint: Any = None
    n_jobs: int | None = None
    random_state: Any = None


@keys
class OneVsRestGreedyKeys(Keys):
    """Keys of one-vs-rest greedy selection."""

    n_features: int = renamed(
        _FEATURES, default=40, help="T: features a class; every smaller number is answered by the same run"
    )
    features: Any = "raw"
    _: KW_ONLY
    reg: float = renamed(_REG, help="lambda of lambda ||w||^2, of each class")
    solver: str = renamed(_SOLVER)
    inner_rtol: float = renamed(_RTOL)
    inner_maxiter: int = renamed(_MAXITER)
    stop_loss: float = renamed(_STOP_LOSS, help="rounds of a class end when its training loss is no larger")
    n_jobs: int | None = None


@keys
class MixedNormKeys(Keys):
    """Keys of the mixed norm's path."""

    n_lambdas: int = integer(60, help="weights of the norm, evenly spaced in the logarithm")
    features: Any = "raw"
    _: KW_ONLY
    lambda_min_ratio: float = real(
        1e-3, above=0.0, most=1.0, help="the least of them, as a share of the one from which on all columns are zero"
    )
    gap: float = real(1e-3, above=0.0, help="certified distance of every point from the minimum, as a share of it")
    debias: bool = boolean(
        False, help="also minimise the loss alone over each point's columns; predictions then use those weights"
    )
    margin: float = renamed(_MARGIN)
    max_columns: int | None = integer(
        200, optional=True, help="T: the path ends before the first point with more columns; none: at the last weight"
    )
    max_iterations: int = 20_000
    n_classes: int | None = renamed(_CLASSES)
    n_jobs: int | None = None


@keys
class JointBoostKeys(Keys):
    """Keys of JointBoost."""

    rounds: int = integer(150, help="T: stumps, each shared by a subset of the classes")
    _: KW_ONLY
    search: str = choice(
        "best_first", "exhaustive",
        help="best first: the subset grows by the class that lowers the error most, and the best of the k sets is "
        "taken; exhaustive: all 2^k - 1 subsets, for 8 classes at most",
    )  # fmt: skip
    beam: int = integer(1, help="how many sets of each size best-first search goes on with")
    max_bins: int = 256


@keys
class KNNKeys(Keys):
    """Keys of the nearest neighbours."""

    k: int = integer(3, help="neighbours that vote")
    _: KW_ONLY
    tie: str = choice(
        "nearest", "smallest", help="of several classes with most votes that of the nearest, or the first in order"
    )


def _one_or_some(**more: Any) -> Any:
    """A number above 0, or a list of such numbers."""
    one = real(None, above=0.0, **more)
    read_one = kind_of(one).read

    def read(value):
        if isinstance(value, (list, tuple)):
            return list(value) if value and all(read_one(number) is not None for number in value) else None
        return read_one(value)

    return renamed(one, read=read, allowed="a number above 0, or a list of them,")


@keys
class KernelSVMKeys(Keys):
    """Keys of the kernel machine."""

    C: float | Sequence[float] | None = _one_or_some(help="none: 1, 10 or 100, by validation; of a list the best")
    gamma: float | Sequence[float] | None = _one_or_some(
        help="in units of 1 / (d var(X)); none: 0.25, 1 or 4, by validation; of a list the best"
    )
    _: KW_ONLY
    validation: float = real(0.2, above=0.0, most=0.9, help="the validation part's share of every class")
    search_samples: int | None = integer(
        None, least=2, help="so many training samples, drawn at random, take part in the choice; none: all"
    )
    random_state: Any = None


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
class MnistExpandedKeys(DatasetKeys):
    """MNIST with ``copies`` elastic distortions of each training image."""

    copies: int = integer(5, least=0, help="distortions of each training image")
    alpha: float = real(34.0, least=0.0, help="multiplies the smoothed field, in pixels")
    sigma: float = real(4.0, above=0.0, help="of the field's smoothing, in pixels")
    seed: int = integer(0, least=0, help="of the distortions")


Facts = Mapping[str, int]


def shared_features(budget: float, facts: Facts) -> dict[str, Any]:
    """So many features for all classes together, no more than there are.

    >>> shared_features(100, {"n_samples": 60000, "n_features": 64, "n_classes": 10})
    {'T': 64}
    """
    return {"T": _whole(budget, facts)}


def own_features(budget: float, facts: Facts) -> dict[str, Any]:
    """A share of them for each class, so that all classes together have no more."""
    each = _whole(budget, facts) // facts["n_classes"]
    if each < 1:
        raise BoostrunError(f"each of {facts['n_classes']} classes has features of its own")
    return {"T": each}


def everything(budget: float, facts: Facts) -> dict[str, Any]:
    """All samples, where the budget is as large: nothing is to be told."""
    if budget < facts["n_samples"]:
        raise BoostrunError(f"it holds all {facts['n_samples']:,} samples")
    return {}


def _whole(budget: float, facts: Facts) -> int:
    if budget < 1:
        raise BoostrunError("a model has one feature at least")
    return min(int(budget), facts["n_features"])
