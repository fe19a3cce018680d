"""Keys of the algorithms of the third paper (Shalev-Shwartz, Wexler & Shashua 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..kinds import choice, number, whole
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
    reg: float = number(0.0, least=0.0)
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
    budget: ClassVar[dict[str, int | str]] = {"T": 100}


ALGORITHMS: dict[str, type] = {"shareboost": ShareBoost}
