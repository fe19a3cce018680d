"""Keys of the algorithms of the first paper (Lefakis & Fleuret 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..kinds import choice, dimensions, flag, number, whole
from .base import Algorithm


@dataclass
class Reservoir(Algorithm):
    """Keys of every reservoir strategy (Lefakis & Fleuret 2013)."""

    loss: str = choice("logistic", "exponential")
    coefficient: str = choice("log_odds", "line_search", "newton")
    shrinkage: float = number(0.5, above=0.0, most=1.0)
    balanced: bool = flag(False)
    shared: bool = flag(False)
    stump_search: str = choice("histogram", "exact")
    paper: ClassVar[str] = "reservoir"
    budget: ClassVar[dict[str, int | str]] = {"r": 250, "q": "r", "T": 250}


@dataclass
class Rand(Reservoir):
    """Keep r samples uniformly at random."""

    name: str = "rand"


@dataclass
class Max(Reservoir):
    """Keep the r largest weights."""

    name: str = "max"


@dataclass
class Window(Reservoir):
    """Keep the newest r samples."""

    name: str = "window"


@dataclass
class WSam(Reservoir):
    """Keep r samples drawn in proportion to their weights."""

    name: str = "wsam"
    stump_weights: str = choice("uniform", "w")


@dataclass
class Geem(Reservoir):
    """Greedy edge expectation maximisation."""

    name: str = "geem"
    ridge: float = number(1.0, least=0.0)
    covariance_dims: str | int = dimensions("auto")
    carry_mass: bool = flag(True)
    swap_rounds: int = whole(0, least=0)


@dataclass
class GeemLattice(Geem):
    """GEEM with its target chosen among random sign vectors."""

    name: str = "geem_lattice"
    lattice_size: int = whole(100)


@dataclass
class GeemSplit(Geem):
    """The data split over workers with a GEEM reservoir each, ensembles averaged."""

    name: str = "geem_split"
    parts: int = whole(4, least=2)


@dataclass
class GeemBudgeted(Geem):
    """GEEM whose rounds look at some features only, chosen by a policy of adaptive sampling."""

    name: str = "geem_budgeted"
    policy: str = choice(
        "uniform_naive", "uniform_1q", "uniform_q1", "best_family", "ucb", "exp3p", "eps_greedy", "tasting_1q",
        "tasting_q1", "mas_naive", "mas_1q", "mas_q1", "laminating", "tasting_laminating", "tasting_ucb",
    )  # fmt: skip
    budget_multiplier: float = number(10.0, above=0.0)
    budget: ClassVar[dict[str, int | str]] = {**Geem.budget, "Q": 10}


@dataclass
class FullData(Algorithm):
    """Keys of the methods that may look at all data (Lefakis & Fleuret 2013, Table 5)."""

    loss: str = choice("logistic", "exponential")
    coefficient: str = choice("log_odds", "line_search", "newton")
    shrinkage: float = number(0.5, above=0.0, most=1.0)
    stump_search: str = choice("histogram", "exact")
    paper: ClassVar[str] = "reservoir"
    budget: ClassVar[dict[str, int | str]] = {"r": 250, "T": 250}


@dataclass
class FilterBoost(FullData):
    """Rejection by weight."""

    max_rejections: int = whole(1000)


@dataclass
class LogitBoost(FullData):
    """All samples in every round."""

    budget: ClassVar[dict[str, int | str]] = {"T": 250}


@dataclass
class Online(Algorithm):
    """Keys of the online rivals (Lefakis & Fleuret 2013, Table 4)."""

    samples_seen: int | None = whole(None)
    paper: ClassVar[str] = "reservoir"
    budget: ClassVar[dict[str, int | str]] = {"T": 250}


@dataclass
class Oza(Online):
    """Online AdaBoost over stumps picked beforehand."""

    subset_size: int = whole(1000, least=2)
    shrinkage: float = number(0.5, above=0.0, most=1.0)


@dataclass
class Chen(Oza):
    """OSBoost over stumps picked beforehand."""

    gamma: float = number(0.1, above=0.0, most=0.5)


@dataclass
class Ocp(Chen):
    """OSBoost with coefficients learned on the simplex."""

    learning_rate: float = number(1.0, above=0.0)


@dataclass
class Selectors(Online):
    """Selectors over a shared pool of weak learners; null makes the pool twice their number."""

    pool_size: int | None = whole(None)
    replace_every: int = whole(1)


@dataclass
class GeemOza(Online):
    """GEEM's stumps, Oza's coefficients."""

    shrinkage: float = number(0.5, above=0.0, most=1.0)
    budget: ClassVar[dict[str, int | str]] = {"r": 250, "T": 250}


@dataclass
class GeemChen(GeemOza):
    """GEEM's stumps, OSBoost's votes."""

    gamma: float = number(0.1, above=0.0, most=0.5)


ALGORITHMS: dict[str, type] = {
    "geem": Geem, "geem_lattice": GeemLattice, "wsam": WSam, "rand": Rand, "max": Max, "window": Window,
    "geem_split": GeemSplit, "geem_budgeted": GeemBudgeted, "geem_active": Geem, "wsam_active": WSam,
    "rand_active": Rand, "max_active": Max, "wss": FullData, "mada": FullData, "fix": FullData,
    "filterboost": FilterBoost, "logitboost": LogitBoost, "oza": Oza, "chen": Chen, "ocp": Ocp, "bisc": Selectors,
    "leistner": Selectors, "geem_oza": GeemOza, "geem_chen": GeemChen,
}  # fmt: skip
