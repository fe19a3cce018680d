"""Keys of the algorithms of the fourth paper (Grbovic & Vucetic 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..kinds import choice, dimensions, flag, number, whole
from .base import Algorithm

# what the paper's table of methods says of each
DETECTS, ONLINE, CHANGING, WINDOW = "detects changes", "online base", "adds and removes", "sliding window"


@dataclass
class Drift(Algorithm):
    """What all have in common: they follow a stream; M base classifiers, a window of n, one added every p examples."""

    paper: ClassVar[str] = "iboost"
    pools: ClassVar[tuple[str, ...]] = ("codes",)


@dataclass
class IBoost(Drift):
    """IBoost: b gradient steps on the coefficients an example."""

    traits: ClassVar[tuple[str, ...]] = (CHANGING, WINDOW)

    base: str = choice("stump", "gnb", "bnb")
    eta: float | None = number(None, above=0.0)
    grad_cap: float = number(1.0, above=0.0)
    eps_min: float | None = number(None, least=0.0, most=0.499)
    scale: str = choice("half", "literal")
    update_every: str = choice("1", "p")
    adds_per_event: int = whole(1)
    remove: str = choice("smallest", "oldest")
    flip_bad: bool = flag(False)
    multiclass: str = choice("samme", "ovr")
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


@dataclass
class IBoostVariant(Drift):
    """What goes beyond the paper: IBoost by newest or random examples, or the whole window (``update``)."""

    traits: ClassVar[tuple[str, ...]] = (CHANGING, WINDOW)

    update: str = choice("stochastic", "batch")
    example: str = choice("newest", "random")
    eta: float | None = number(None, above=0.0)
    grad_cap: float = number(1.0, above=0.0)
    eps_min: float | None = number(None, least=0.0, most=0.499)
    gradient: str = choice("plain", "log")


@dataclass
class IBoostAdwin(IBoostVariant):
    """The window shrinks when an ADWIN of the committee's errors is cut."""

    name: str = "iboost_adwin"
    base: str = choice("stump", "gnb", "bnb")
    n_least: int = whole(50)
    delta: float = number(0.002, above=0.0, most=0.999)
    flip_bad: bool = flag(False)
    var_floor: float = number(1e-3, above=0.0)
    traits: ClassVar[tuple[str, ...]] = (DETECTS, CHANGING, WINDOW)
    budget: ClassVar[dict[str, int | str]] = {"M": 200, "n": 200, "p": 1, "b": 5}


@dataclass
class IBoostGeem(IBoostVariant):
    """A memory of n that GEEM chooses, and up to q newcomers."""

    name: str = "iboost_geem"
    base: str = choice("stump", "gnb", "bnb")
    half_life: float | None = number(None, above=0.0)
    ridge: float = number(1.0, above=0.0)
    covariance_dims: str | int = dimensions("auto")
    flip_bad: bool = flag(False)
    var_floor: float = number(1e-3, above=0.0)
    traits: ClassVar[tuple[str, ...]] = (CHANGING,)
    budget: ClassVar[dict[str, int | str]] = {"M": 200, "n": 200, "q": 20, "p": 1, "b": 5}


@dataclass
class IBoostTrees(IBoostVariant):
    """Hoeffding trees of river, frozen after a pass over the window, or growing on."""

    name: str = "iboost_trees"
    grow: bool = flag(False)
    grace_period: int = whole(50)
    delta: float = number(1e-2, above=0.0, most=0.999)
    max_depth: int = whole(5)
    budget: ClassVar[dict[str, int | str]] = {"M": 20, "n": 200, "p": 10, "b": 5}


@dataclass
class AdaBoost(Drift):
    """AdaBoost trained anew on the window every p examples; ``lazy``: only where its committee is looked at."""

    name: str = "adaboost"
    base: str = choice("stump", "gnb", "bnb")
    var_floor: float = number(1e-3, least=0.0)
    lazy: bool = flag(False)
    traits: ClassVar[tuple[str, ...]] = (WINDOW,)
    budget: ClassVar[dict[str, int | str]] = {"M": 200, "n": 200, "p": 1}


@dataclass
class Ocb(Drift):
    """Online Coordinate Boosting: AdaBoost's classifiers of the first n examples, coefficients that follow."""

    name: str = "ocb"
    base: str = choice("stump", "gnb", "bnb")
    var_floor: float = number(1e-3, least=0.0)
    order: int | None = whole(1, least=0)
    smoothing: float = number(0.5, above=0.0)
    signs: str = choice("derived", "moa")
    budget: ClassVar[dict[str, int | str]] = {"M": 200, "n": 200}


@dataclass
class Flb(Drift):
    """Fast and light boosting: one classifier a block of n examples."""

    name: str = "flb"
    base: str = choice("stump", "gnb", "bnb")
    var_floor: float = number(1e-3, least=0.0)
    z: float = number(2.33, least=0.0)
    traits: ClassVar[tuple[str, ...]] = (DETECTS, ONLINE, CHANGING, WINDOW)
    budget: ClassVar[dict[str, int | str]] = {"M": 200, "n": 200}


@dataclass
class Incremental(Drift):
    """An ensemble of M naive Bayes classifiers that learn one example at a time."""

    base: str = choice("gnb", "bnb")
    var_floor: float = number(1e-3, least=0.0)
    budget: ClassVar[dict[str, int | str]] = {"M": 50}


@dataclass
class OnlineBoost(Incremental):
    """Online AdaBoost of Oza and Russell."""

    name: str = "onlineboost"
    vote: str = choice("hard", "proba")
    negative_votes: bool = flag(False)
    bad_weight: float = number(0.0)
    traits: ClassVar[tuple[str, ...]] = (ONLINE,)


@dataclass
class NsoBoost(Incremental):
    """OnlineBoost whose members are searched on the window every ``search_every`` examples."""

    name: str = "nsoboost"
    search_every: int = whole(100)
    patience: int = whole(200, least=0)
    traits: ClassVar[tuple[str, ...]] = (ONLINE, CHANGING, WINDOW)
    budget: ClassVar[dict[str, int | str]] = {"M": 50, "n": 200}


@dataclass
class Flc(Incremental):
    """OnlineBoost with an ADWIN for each member."""

    name: str = "flc"
    delta: float = number(0.002, above=0.0, most=0.999)
    warm_start: bool = flag(True)
    traits: ClassVar[tuple[str, ...]] = (DETECTS, ONLINE, CHANGING, WINDOW)
    budget: ClassVar[dict[str, int | str]] = {"M": 50, "n": 200}


@dataclass
class AdwinBag(Incremental):
    """Online bagging with an ADWIN for each member."""

    name: str = "adwinbag"
    delta: float = number(0.002, above=0.0, most=0.999)
    vote: str = choice("hard", "proba")
    monitor: str = choice("error", "correct")
    after: str = choice("keep", "reset")
    traits: ClassVar[tuple[str, ...]] = (DETECTS, ONLINE, CHANGING, WINDOW)


@dataclass
class Dwm(Incremental):
    """Dynamic weighted majority: M experts at most, judged every ``period`` examples."""

    name: str = "dwm"
    beta: float = number(0.5, above=0.0, most=0.999)
    theta: float = number(0.01, above=0.0, most=0.999)
    period: int = whole(50)
    traits: ClassVar[tuple[str, ...]] = (ONLINE, CHANGING)
    budget: ClassVar[dict[str, int | str]] = {"M": 200}


ALGORITHMS: dict[str, type[Algorithm]] = {
    "iboost_stochastic": IBoostStochastic, "iboost_batch": IBoostBatch, "iboost_adwin": IBoostAdwin,
    "iboost_geem": IBoostGeem, "iboost_trees": IBoostTrees, "adaboost": AdaBoost,
    "onlineboost": OnlineBoost, "nsoboost": NsoBoost, "flc": Flc, "adwinbag": AdwinBag, "ocb": Ocb, "dwm": Dwm,
    "flb": Flb,
}  # fmt: skip
