"""Keys of the paper's methods and streams: default, range and meaning of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from boostrun.config.fields import Keys, Kind, boolean, choice, dimensions, integer, keys, kind_of, real, renamed, text
from boostrun.data.keys import ConceptStreamKeys, DriftingStreamKeys

_BASE = "decision stump, Gaussian or Bernoulli (x > 0) naive Bayes"
_INCREMENTAL_BASE = (
    "Gaussian or Bernoulli (x > 0) naive Bayes, logistic regression, Hoeffding tree, or one of a single split (stump); "
    "or an object of river or scikit-learn that learns one example at a time, which is copied"
)
_WINDOW_BASE = (
    "decision stump, Gaussian or Bernoulli (x > 0) naive Bayes, logistic regression, or Hoeffding tree; or an object "
    "of scikit-learn or river that takes weights; copies of it are fitted to the window"
)
_FITTED_BASE = (
    "logistic regression; or an object of scikit-learn or river that takes weights; copies of it are fitted to the "
    "window"
)
_FLOOR = "share of a feature's variance in the window that is added to every variance of gnb"
_STREAM_FLOOR = "share of a feature's variance over the stream that is added to every variance of gnb"
_FITTED = (
    "IBoost of logistic regressions, or of objects of scikit-learn or river, is the method iboost_fitted "
    "(IBoostFittedClassifier)"
)
_TREES = "IBoost of Hoeffding trees is the method iboost_trees (IBoostTreesClassifier)"
_WINDOW = "n: the newest examples that are kept"
_CHANCE = "hoeffding: chance of a split at a feature that is not the best"
_TIE = "hoeffding: merits closer than this are equal"
_LEAF = "hoeffding: leaves predict by naive Bayes if it is better, always, or never"
_MOA_LEAF = "leaves predict by naive Bayes if it is better, always, or never; moa: if it is better, by MOA's rules"
_DELTA = "confidence of the ADWINs; with a smaller one they detect less"
#: name -> class of river; adwin is our own, compiled
DETECTORS = {
    "page_hinkley": "PageHinkley", "kswin": "KSWIN", "ddm": "DDM", "eddm": "EDDM", "fhddm": "FHDDM", "hddm_a": "HDDMA",
    "hddm_w": "HDDMW",
}  # fmt: skip


def _detector() -> Any:
    """A change detector by name, or an object of river."""
    words = ("adwin", *DETECTORS)

    def read(value):
        if isinstance(value, str):
            return value if value in words else None
        known = all(hasattr(value, name) for name in ("update", "drift_detected", "clone"))
        return value if known and not isinstance(value, type) else None

    allowed = f"one of {', '.join(words)}, or in Python a drift detector of river,"
    said = "change detector: adwin is compiled, the others are those of river, which run in Python"
    return field(default="adwin", metadata={"kind": Kind(read, allowed, words, help=said, absent="adwin")})


def _or_object(field: Any, able: Callable[[Any], bool], described: str) -> Any:
    """A choice that also accepts, in Python, an object that is ``able``."""
    kind = kind_of(field)

    def read(value):
        return value if not isinstance(value, (str, type)) and able(value) else kind.read(value)

    return renamed(field, read=read, allowed=f"{kind.allowed}, or in Python {described},")


def _learns(field: Any) -> Any:
    return _or_object(
        field, lambda value: hasattr(value, "learn_one") or hasattr(value, "partial_fit"),
        "an object with learn_one or partial_fit",
    )  # fmt: skip


def _fits(field: Any) -> Any:
    pairs = (("fit", "predict"), ("learn_one", "predict_one"))
    return _or_object(
        field, lambda value: any(all(hasattr(value, name) for name in pair) for pair in pairs),
        "a classifier of scikit-learn or river",
    )  # fmt: skip


@keys
class StepKeys(Keys):
    """Keys of every IBoost: its window, its committee, its steps."""

    n_window: int = integer(200, help=_WINDOW)
    budget: int = integer(200, help="M: classifiers at most")
    period: int = integer(1, help="p: examples from one addition to the next")
    n_steps: int = integer(5, least=0, help="b: gradient steps an example; with 0 coefficients do not change")
    update: str = choice("stochastic", "batch", help="steps on one example, or on the whole window")
    example: str = choice("newest", "random", help="example of a stochastic step")
    eta: float | None = real(
        None, above=0.0, help="step size; none: 0.003 stochastic (0.01 with loss=mm and several classes), 0.001 batch"
    )
    grad_cap: float | None = real(
        1.0, above=0.0, optional=True,
        help="largest weight in a gradient step, which gives the loss a linear tail; none: the method as printed, "
        "whose coefficients can grow without bound, which raises an error",
    )  # fmt: skip
    eps_min: float | None = real(
        None, least=0.0, below=0.5,
        help="smaller errors are raised to it, a shrinkage; none: 0.2 for stumps, 0.3 for naive Bayes (0.4 with "
        "loss=mm and several classes) and trees",
    )  # fmt: skip
    gradient: str = choice(
        "plain", "log",
        help="log: descent on the logarithm of the cost, by batch steps divided by the cost, without a cap",
    )  # fmt: skip


@keys
class FittedKeys(StepKeys):
    """Keys of IBoosts whose base classifiers are fitted by compiled code."""

    base: str = choice("stump", "gnb", "bnb", help=_BASE, hints={"hoeffding": _TREES, "logistic": _FITTED})
    flip_bad: bool = boolean(
        False,
        help="of two classes, a classifier worse than chance (only a naive Bayes can be) is added with its answers "
        "exchanged, instead of not at all",
    )
    var_floor: float = real(1e-3, above=0.0, help=_FLOOR)
    random_state: Any = None


@keys
class IBoostKeys(FittedKeys):
    """Keys of IBoost."""

    scale: str = choice("half", "literal", help="literal: coefficients ln((1 - e) / e) as printed, twice the minimiser")
    update_every: str = choice("1", "p", help="steps at every example, or at additions only")
    adds_per_event: int = integer(1, help="classifiers added every p examples")
    remove: str = choice("smallest", "oldest", help="classifier that a new one replaces when the budget is full")
    multiclass: str = choice(
        "samme", "ovr", help="several classes: one committee, or one for each class against the rest"
    )
    loss: str = choice(
        "mm", "samme", absent="mm",
        help="loss of one committee for several classes: every wrong class against the right one, as in AdaBoost.MM, "
        "or SAMME's code vectors",
    )  # fmt: skip


@keys
class IBoostAdwinKeys(FittedKeys):
    """Keys of IBoost with ADWIN."""

    n_least: int = integer(50, help="examples of the window that count at least (at most n)")
    delta: float = real(0.002, above=0.0, below=1.0, help=_DELTA)
    detector: Any = _detector()


@keys
class IBoostOutliersKeys(FittedKeys):
    """Keys of IBoost without outliers."""

    outlier_margin: float | None = real(
        0.25, above=0.0, optional=True,
        help="an example is contradicted if its margin is below minus this times the window's mean; none: never",
    )  # fmt: skip
    change_share: float = real(
        0.3, least=0.0, most=1.0,
        help="if more than this share of new examples is contradicted, the concept has changed and all examples count",
    )  # fmt: skip


@keys
class IBoostActiveKeys(FittedKeys):
    """Keys of IBoost that asks for labels."""

    label_budget: float = real(0.3, above=0.0, most=1.0, help="B: share of labels asked for, after the first n")
    ask: str = choice("uncertain", "random", help="labels asked for: where the committee is unsure, or at random")


@keys
class IBoostGeemKeys(FittedKeys):
    """Keys of IBoost on examples that GEEM chooses."""

    n_window: int = integer(200, help="n: examples in the memory; the first classifier is added after n")
    batch_size: int = integer(20, help="q: newcomers until GEEM chooses")
    half_life: float | None = real(
        None, above=0.0, infinite=True, help="examples after which a mass has halved; infinity: no fading; none: n"
    )
    ridge: float = real(1.0, above=0.0, help="ridge of GEEM's covariance")
    covariance_dims: str | int = dimensions("auto", help="directions of GEEM's covariance")


@keys
class IBoostTreesKeys(StepKeys):
    """Keys of IBoost of Hoeffding trees."""

    budget: int = integer(20, help="M: trees at most")
    period: int = integer(10, help="p: examples from one addition to the next")
    grow: bool = boolean(False, help="trees go on learning")
    grace_period: int = integer(50, help="weight a leaf learns between two tries to split; a window has n")
    split_delta: float = real(1e-2, above=0.0, below=1.0, help="chance of a split at a feature that is not the best")
    tie: float = real(0.05, least=0.0, help="merits closer than this are equal; tau in river")
    leaf: str = choice("nba", "nb", "mc", help="leaves answer by naive Bayes where it is better, by it, or never")
    max_depth: int | None = integer(5, optional=True, help="largest depth; none: no bound")
    random_state: Any = None


@keys
class IBoostFittedKeys(StepKeys):
    """Keys of IBoost of regressions and objects."""

    budget: int = integer(20, help="M: classifiers at most")
    period: int = integer(10, help="p: examples from one addition to the next")
    base: Any = _fits(choice("logistic", help=_FITTED_BASE, hints={"hoeffding": _TREES}))
    random_state: Any = None


@keys(kw_only=True)
class WindowCommitteeKeys(Keys):
    """Keys of committees whose members are fitted to a window and do not change."""

    base: Any = _fits(choice("stump", "gnb", "bnb", "logistic", "hoeffding", help=_WINDOW_BASE))
    var_floor: float = real(1e-3, least=0.0, help=_FLOOR)
    grace_period: int = integer(50, absent=50, help="hoeffding: weight a leaf learns between two tries to split")
    split_delta: float = real(1e-2, above=0.0, below=1.0, absent=1e-2, help=_CHANCE)
    tie: float = real(0.05, least=0.0, absent=0.05, help=_TIE)
    leaf: str = choice("nba", "nb", "mc", absent="nba", help=_LEAF)


@keys
class AdaBoostKeys(WindowCommitteeKeys):
    """Keys of AdaBoost on the window."""

    n_window: int = integer(200, help=_WINDOW)
    budget: int = integer(200, help="M: rounds of a training")
    period: int = integer(1, help="p: examples from one training to the next")
    lazy: bool = boolean(
        False,
        help="skip a training whose committee is replaced within the same partial_fit: exact for predict after each "
        "call, not for test_then_train within one",
    )


@keys
class OCBKeys(WindowCommitteeKeys):
    """Keys of Online Coordinate Boosting."""

    n_window: int = integer(200, help="n: the first examples, to which the classifiers are fitted")
    budget: int = integer(200, help="M: rounds of AdaBoost; it may stop earlier")
    order: int | None = integer(
        1, least=0, optional=True, help="number of previous classifiers in the factors; none: all"
    )
    smoothing: float = real(0.5, above=0.0, help="initial value of each sum")
    signs: str = choice("derived", "moa", help="moa: MOA's e^-D_k in place of e^D_k, which is wrong; for comparison")


@keys
class FLBKeys(WindowCommitteeKeys):
    """Keys of fast and light boosting."""

    n_window: int = integer(200, help="n: examples of a block")
    budget: int = integer(200, help="M: classifiers kept")
    z: float = real(2.33, least=0.0, help="standard deviations that raise an alarm; 2.33 is one-sided 1 %")


@keys
class IncrementalKeys(Keys):
    """Keys of ensembles whose members learn one example at a time."""

    budget: int = integer(50, help="M: members")
    base: Any = _learns(choice("gnb", "bnb", "logistic", "hoeffding", "stump", help=_INCREMENTAL_BASE))
    var_floor: float = real(1e-3, least=0.0, help=_STREAM_FLOOR)
    grace_period: int = integer(200, absent=200, help="hoeffding: weight a leaf learns between two tries to split")
    split_delta: float = real(1e-7, above=0.0, below=1.0, absent=1e-7, help=_CHANCE)
    tie: float = real(0.05, least=0.0, absent=0.05, help=_TIE)
    leaf: str = choice("nba", "nb", "mc", absent="nba", help=_LEAF)


@keys
class OnlineBoostKeys(IncrementalKeys):
    """Keys of online AdaBoost."""

    vote: str = choice("hard", "proba", help="proba: a vote is split by the member's probabilities, as in river")
    negative_votes: bool = boolean(False, help="a member with an error above 1/2 keeps its negative coefficient")
    bad_weight: float = real(0.0, help="coefficient of a member with an error above 1/2 otherwise; 1 in river")
    random_state: Any = None


@keys
class NSOBoostKeys(IncrementalKeys):
    """Keys of OnlineBoost with a search for members to replace."""

    n_window: int = integer(200, help=_WINDOW)
    search_every: int = integer(100, help="examples from one search to the next")
    patience: int = integer(200, least=0, help="examples during which a new member cannot be removed")
    random_state: Any = None


@keys
class FLCKeys(IncrementalKeys):
    """Keys of OnlineBoost with an ADWIN for each member."""

    n_window: int = integer(200, help=_WINDOW)
    delta: float = real(0.002, above=0.0, below=1.0, help=_DELTA)
    warm_start: bool = boolean(True, help="a new member learns the newest n examples first")
    random_state: Any = None
    detector: Any = _detector()


@keys
class AdwinBaggingKeys(IncrementalKeys):
    """Keys of online bagging with an ADWIN for each member."""

    leaf: str = choice("nba", "nb", "mc", "moa", absent="nba", help=f"hoeffding: {_MOA_LEAF}")
    delta: float = real(0.002, above=0.0, below=1.0, help=_DELTA)
    vote: str = choice("hard", "proba", help="proba: sum of probabilities, as in river and MOA")
    monitor: str = choice(
        "error", "correct", help="correct: as in river, which replaces the best member when accuracy rises"
    )
    after: str = choice(
        "keep", "reset", help="after a detection an ADWIN is emptied (reset, as in river) or not (keep, as in MOA)"
    )
    random_state: Any = None
    detector: Any = _detector()
    lam: float = real(
        1.0, above=0.0, absent=1.0, help="mean of the Poisson weights with which a member learns; 6: leveraging bagging"
    )


@keys
class DWMKeys(IncrementalKeys):
    """Keys of dynamic weighted majority."""

    budget: int = integer(200, help="M: experts at most")
    beta: float = real(0.5, above=0.0, below=1.0, help="factor of a wrong expert's weight")
    theta: float = real(0.01, above=0.0, below=1.0, help="an expert with a smaller weight is deleted")
    period: int = integer(50, help="examples from one judgement to the next")


@keys
class SmoothBoostKeys(IncrementalKeys):
    """Keys of online SmoothBoost."""

    base: Any = _learns(choice("hoeffding", "gnb", "bnb", "logistic", "stump", help=_INCREMENTAL_BASE))
    gamma: float = real(0.1, above=0.0, below=1.0, help="edge over chance assumed for the members")
    coefficients: str = choice("uniform", "convex", help="equal votes, or learnt on the simplex")
    learning_rate: float = real(1.0, above=0.0, help="step size of convex coefficients")


@keys
class StreamForestKeys(Keys):
    """Keys of an adaptive random forest."""

    budget: int = integer(10, help="M: members")
    lam: float = real(6.0, above=0.0, help="mean of the Poisson weights with which a member learns an example")
    feature_fraction: float | None = real(
        None, above=0.0, most=1.0, help="share of the features that a leaf looks at; none: their square root, and one"
    )
    warning_delta: float = real(
        0.01, above=0.0, below=1.0, help="confidence of the ADWINs that start background trees; smaller: later"
    )
    drift_delta: float = real(
        0.001, above=0.0, below=1.0, help="confidence of the ADWINs that replace trees; smaller: later"
    )
    grace_period: int = integer(50, help="weight a leaf learns between two tries to split")
    split_delta: float = real(0.01, above=0.0, below=1.0, help="chance of a split at a feature that is not the best")
    tie: float = real(0.05, least=0.0, help="merits closer than this are equal")
    leaf: str = choice("nba", "nb", "mc", "moa", help=_MOA_LEAF)
    vote: str = choice("weighted", "proba", help="sum of probabilities, weighted by each tree's accuracy or not")
    random_state: Any = None


@keys
class HoeffdingKeys(Keys):
    """Keys of one Hoeffding tree."""

    grace_period: int = integer(200, help="weight a leaf learns between two tries to split")
    delta: float = real(1e-7, above=0.0, below=1.0, help="chance of a split at a feature that is not the best")
    tie: float = real(0.05, least=0.0, help="merits closer than this are equal; tau in river")
    leaf: str = choice("nba", "nb", "mc", "moa", help=_MOA_LEAF)
    max_depth: int | None = integer(None, least=0, help="largest depth; none: no bound")
    adaptive: bool = boolean(
        False, absent=False,
        help="each split has an ADWIN of its errors; if they rise, another subtree grows, and the better one stays",
    )  # fmt: skip
    drift_delta: float = real(0.002, above=0.0, below=1.0, absent=0.002, help="adaptive: confidence of the ADWINs")
    switch_after: int = integer(
        300, absent=300, help="adaptive: examples a subtree learns before it can replace another"
    )


@keys
class LabelsAloneKeys(Keys):
    """No keys: for learners that use labels alone."""


@dataclass
class SeaKeys(ConceptStreamKeys):
    """SEA: the sum of two attributes against a threshold that changes three times."""

    n_samples: int = integer(50_000, least=4, help="length of the stream")
    noise: float = real(0.0, least=0.0, most=0.5, help="share of labels flipped; usually 0.1 in the literature")
    holdout_per_concept: int = integer(2500, help="examples of each concept's hold-out")


@dataclass
class SantaFeKeys(ConceptStreamKeys):
    """Santa Fe's laser series against a threshold that changes twice."""

    holdout: str = choice("segments", "disjoint", help="disjoint: hold-outs are set aside before the stream is made")
    holdout_per_concept: int = integer(825, help="examples of each concept's hold-out")
    ramp: int = integer(0, least=0, help="number of examples that a change takes")


@dataclass
class LedKeys(DriftingStreamKeys):
    """LED: seven segments of a digit among 17 coin flips, exchanged as ``schedule`` says."""

    n_samples: int = integer(1_000_000, help="length of the stream")
    noise: float = real(0.1, least=0.0, most=0.5, help="share of segments inverted")
    schedule: str = choice(
        "swap",
        "static",
        "moa_chain",
        help="static: one exchange; swap: another one in each quarter; moa_chain: more and more, gradually",
    )
    width: int = integer(50_000, help="moa_chain: number of examples that a change takes")
    classes: str = text("binary", help="binary, or 10: the digits")
    positive: str = text("12457", help="digits of class +1")


@dataclass
class RbfAbruptKeys(DriftingStreamKeys):
    """Random radial basis functions that change at once."""

    n_samples: int = integer(100_000, least=11, help="length of the stream")
    n_features: int = integer(10, help="dimensions")
    n_centroids: int = integer(50, help="centroids of a concept")
    changes: int = integer(
        2, least=0, most=10, help="number of times all centroids are drawn again, at equal distances"
    )


@dataclass
class RbfKeys(DriftingStreamKeys):
    """Random radial basis functions that move."""

    n_samples: int = integer(1_000_000, help="length of the stream")
    n_features: int = integer(10, help="dimensions")
    n_centroids: int = integer(10, help="centroids")
    n_drift_centroids: int = integer(10, least=0, help="centroids that move")
    speed: float = real(0.001, least=0.0, help="distance a centroid moves at each example")
    model_seed: int | None = integer(
        None, least=0, help="seed of the centroids; none: drawn until neither class is rare"
    )
