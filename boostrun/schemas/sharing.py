"""Keys of the algorithms of the third paper (Shalev-Shwartz, Wexler & Shashua 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..kinds import choice, flag, number, or_tuned, whole
from .base import Algorithm


@dataclass
class Sharing(Algorithm):
    """What all have in common: nothing is drawn at random; ``pools`` are the kinds of features they take."""

    paper: ClassVar[str] = "shareboost"
    random: ClassVar[bool] = False
    pools: ClassVar[tuple[str, ...]] = ("codes", "values", "products", "stumps", "anchors")


@dataclass
class ShareBoost(Sharing):
    """Forward greedy selection of features shared by all classes; T of them."""

    name: str = "shareboost"
    rule: str = choice("gradient", "normalised", "line", "column", "full")
    shortlist: int = whole(50, least=0)
    reg: float | str = or_tuned(number(0.0, least=0.0))
    reg_kind: str = choice("frobenius", "smoothed_l1", "smoothed_linf")
    beta: float = number(100.0, above=0.0)
    margin: float = number(1.0, least=0.0)
    solver: str = choice("lbfgs", "agd")
    inner_rtol: float = number(1e-3, above=0.0)
    inner_maxiter: int = whole(300)
    stop_loss: float = number(1e-6, least=0.0)
    bias: str = choice("auto", "none", "free", "pool")
    n_classes: int | None = whole(None, least=2)
    scoring: str = choice("full", "lazy")
    tunes: ClassVar[str] = "reg"
    tunes_by: ClassVar[str] = "test_error_pct"
    budget: ClassVar[dict[str, int | str]] = {"T": 100}


@dataclass
class OneVsRestGreedy(Sharing):
    """Every class against the rest, with features of its own; T of them a class."""

    name: str = "ovr_greedy"
    reg: float | str = or_tuned(number(0.0, least=0.0))
    solver: str = choice("lbfgs", "agd")
    inner_rtol: float = number(1e-3, above=0.0)
    inner_maxiter: int = whole(300)
    stop_loss: float = number(1e-6, least=0.0)
    tunes: ClassVar[str] = "reg"
    tunes_by: ClassVar[str] = "test_error_pct"
    budget: ClassVar[dict[str, int | str]] = {"T": 40}
    pools: ClassVar[tuple[str, ...]] = ("codes", "values", "products", "stumps")


@dataclass
class MixedNorm(Sharing):
    """The l1 / l-infinity norm in place of greedy selection; the path ends beyond T columns."""

    name: str = "mixed_norm"
    n_lambdas: int = whole(60)
    lambda_min_ratio: float = number(1e-3, above=0.0, most=1.0)
    gap: float = number(1e-3, above=0.0)
    debias: bool = flag(False)
    margin: float = number(1.0, least=0.0)
    n_classes: int | None = whole(None, least=2)
    budget: ClassVar[dict[str, int | str]] = {"T": 200}
    pools: ClassVar[tuple[str, ...]] = ("codes", "values", "products", "stumps")


@dataclass
class JointBoost(Sharing):
    """Stumps shared by subsets of the classes; T rounds."""

    name: str = "jointboost"
    search: str = choice("best_first", "exhaustive")
    beam: int = whole(1)
    budget: ClassVar[dict[str, int | str]] = {"T": 150}
    pools: ClassVar[tuple[str, ...]] = ("codes", "stumps")


@dataclass
class KNN(Sharing):
    """The majority of the k nearest training samples."""

    name: str = "knn"
    k: int = whole(3)
    tie: str = choice("nearest", "smallest")
    pools: ClassVar[tuple[str, ...]] = ("codes", "values")


@dataclass
class KernelSVM(Sharing):
    """A Gaussian kernel machine for every class; null: chosen on a validation part of the training data."""

    name: str = "kernel_svm"
    C: float | None = number(None, above=0.0)
    gamma: float | None = number(None, above=0.0)
    validation: float = number(0.2, above=0.0, most=0.9)
    search_samples: int | None = whole(None, least=2)
    pools: ClassVar[tuple[str, ...]] = ("codes", "values", "anchors")


ALGORITHMS: dict[str, type] = {
    "shareboost": ShareBoost, "ovr_greedy": OneVsRestGreedy, "mixed_norm": MixedNorm, "jointboost": JointBoost,
    "knn": KNN, "kernel_svm": KernelSVM,
}  # fmt: skip
