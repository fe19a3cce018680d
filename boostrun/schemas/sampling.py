"""Keys of the algorithms of the second paper (Dubout & Fleuret 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..kinds import choice, flag, name_or_place, number, or_tuned, whole
from .base import Algorithm


@dataclass
class Sampling(Algorithm):
    """Keys of AdaBoost.MH with a policy (Dubout & Fleuret 2014)."""

    budget_multiplier: float = number(10.0, above=0.0)
    init: str = choice("uniform", "balanced")
    edge_gaps: bool = flag(False)
    paper: ClassVar[str] = "adaptive_sampling"
    budget: ClassVar[dict[str, int | str]] = {"T": 1000, "Q": 10}


@dataclass
class BestFamily(Sampling):
    """All features of one family, given by name or by its place, counted from 0."""

    family: str | int = name_or_place(0)
    tunes: ClassVar[str] = "family"


@dataclass
class Bandit(Sampling):
    """Arms are families, rewards are multiplied by 2^scale."""

    scale: int | str = or_tuned(whole(9, least=0, most=30))
    tunes: ClassVar[str] = "scale"


@dataclass
class Exp3P(Bandit):
    """Exponential weights mixed with the uniform distribution."""

    eta: float = number(0.3, above=0.0)
    mixing: float = number(0.15, above=0.0, most=1.0)
    horizon: int = whole(10000)
    update: str = choice("all", "played")


@dataclass
class EpsGreedy(Sampling):
    """A uniform arm with probability min(1, 2^scale M / t)."""

    scale: int | str = or_tuned(whole(0, least=0, most=30))
    tunes: ClassVar[str] = "scale"


@dataclass
class Tasting(Sampling):
    """Some features of every family are watched; ``charge`` counts that to the budget."""

    tasting_R: int = whole(10)
    charge: bool = flag(False)


@dataclass
class MAS(Sampling):
    """Maximum adaptive sampling: a model of the edges decides how many features and samples to look at."""

    sampling: str = choice("weight", "uniform")
    mas_noise: str = choice("kappa", "paper")
    mas_deconvolve: bool = flag(True)
    mas_pilot_share: float = number(0.1, above=0.0, most=0.9)
    mas_components: int = whole(2)
    mas_s_min: int = whole(32)
    mas_s_ratio: float = number(2**0.5, above=1.0)
    mas_grid_points: int = whole(257, least=33)
    budget: ClassVar[dict[str, int | str]] = {"T": 1000}


@dataclass
class MASNaive(MAS):
    """One model for all features, fitted on the step before."""

    mas_components: int = whole(3)
    mas_refit_below: int = whole(30)


@dataclass
class MAS1Q(MAS):
    """A model for each family, from a pilot of every step."""

    mas_q0_min: int = whole(4)
    mas_q0_max: int = whole(24)


@dataclass
class MASQ1(MAS1Q):
    """As mas_1q, with features of several families."""

    mas_s_ratio: float = number(2.0, above=1.0)


@dataclass
class FixedSample(Sampling):
    """Q features on as many samples as the budget buys."""

    sampling: str = choice("weight", "uniform")


@dataclass
class Laminating(Sampling):
    """Halve the features while doubling the samples; null begins with as many features as the budget bears."""

    sampling: str = choice("weight", "uniform")
    laminating_Q: int | None = whole(None, least=2)
    budget: ClassVar[dict[str, int | str]] = {"T": 1000}


@dataclass
class TastingLaminating(Laminating):
    """As laminating, beginning with features of the families that promise most."""

    tasting_R: int = whole(10)
    tasting_best_of: int = whole(10)
    tasting_pilot_share: float = number(0.1, above=0.0, most=0.9)


@dataclass
class TastingUCB(Tasting):
    """As tasting_1q, looking at few families a step: those whose promise may have become the largest."""

    looks: int = whole(2)
    age_weight: float = number(1.0, least=0.0)


ALGORITHMS: dict[str, type] = {
    "uniform_naive": Sampling, "uniform_1q": Sampling, "uniform_q1": Sampling, "best_family": BestFamily,
    "ucb": Bandit, "exp3p": Exp3P, "eps_greedy": EpsGreedy, "tasting_1q": Tasting, "tasting_q1": Tasting,
    "mas_naive": MASNaive, "mas_1q": MAS1Q, "mas_q1": MASQ1, "laminating": Laminating,
    "tasting_laminating": TastingLaminating, "tasting_ucb": TastingUCB, "fixed_sample": FixedSample,
}  # fmt: skip
