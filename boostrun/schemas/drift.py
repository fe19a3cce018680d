"""Keys of the algorithms of the fourth paper (Grbovic & Vucetic 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..kinds import choice, number, whole
from .base import Algorithm


@dataclass
class Drift(Algorithm):
    """What all have in common: they follow a stream; M base classifiers, a window of n, one added every p examples."""

    paper: ClassVar[str] = "iboost"
    pools: ClassVar[tuple[str, ...]] = ("codes",)


@dataclass
class IBoost(Drift):
    """IBoost: b gradient steps on the coefficients an example."""

    base: str = choice("stump", "gnb", "bnb")
    eta: float | None = number(None, above=0.0)
    grad_cap: float = number(1.0, above=0.0)
    eps_min: float | None = number(None, least=0.0, most=0.499)
    scale: str = choice("half", "literal")
    update_every: str = choice("1", "p")
    adds_per_event: int = whole(1)
    remove: str = choice("smallest", "oldest")
    var_floor: float = number(1e-3, above=0.0)
    budget: ClassVar[dict[str, int | str]] = {"M": 200, "n": 200, "p": 1, "b": 5}


@dataclass
class IBoostStochastic(IBoost):
    """Steps on one example."""

    name: str = "iboost_stochastic"
    example: str = choice("newest", "random")


@dataclass
class IBoostBatch(IBoost):
    """Steps on the whole window."""

    name: str = "iboost_batch"
    gradient: str = choice("plain", "log")


ALGORITHMS: dict[str, type[Algorithm]] = {"iboost_stochastic": IBoostStochastic, "iboost_batch": IBoostBatch}
