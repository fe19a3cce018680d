"""Keys of the paper's methods and strategies (default, range, help text), and the overrides that keep a budget.

``facts`` are ``n_samples``, ``n_features`` and ``n_classes`` of the training data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, field
from typing import Any

from boostrun.config.fields import (  # fmt: skip
    Keys,
    Kind,
    boolean,
    choice,
    component,
    dimensions,
    fields_of,
    integer,
    keys,
    real,
    renamed,
)
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import ClassWeightKeys, StumpKeys, TreeKeys, early_stopping_field

_LOSSES = ("logistic", "exponential")
_RULES = ("log_odds", "line_search", "newton")


@keys
class WSamKeys(Keys):
    """Keys of WSam."""

    stump_weights: str = choice(
        "uniform",
        "w",
        help="WSam: the kept samples weigh alike for the stump, since drawing weighed them, or by w again",
    )


@keys
class GeemKeys(Keys):
    """Keys of GEEM."""

    ridge: float = real(1.0, least=0.0, help="GEEM: times the number of thresholds, added on the covariance's diagonal")
    covariance_dims: str | int = dimensions(
        "auto", help="GEEM: random features for the covariance, drawn each round; auto: r + q"
    )
    carry_mass: bool = boolean(True, help="GEEM: kept samples stand for those dropped in later rounds too")
    swap_rounds: int = integer(
        0, least=0, help="GEEM: kept samples at most that are then exchanged for discarded ones while the edge grows"
    )


@keys
class GeemLatticeKeys(GeemKeys):
    """Keys of GEEM with a target chosen among random sign vectors."""

    lattice_size: int = integer(100, help="GEEM on a lattice: random sign vectors that the target is chosen among")


@keys
class GeemTreesKeys(GeemKeys):
    """Keys of GEEM with a covariance over random trees."""

    covariance_trees: int = integer(128, help="GEEM for trees: random trees that the covariance is estimated on")
    covariance_depth: int = integer(4, most=8, help="GEEM for trees: questions that each of them asks")


@keys
class GeemThinKeys(GeemKeys):
    """Keys of GEEM with a covariance over a few random stumps."""

    covariance_stumps: int = integer(128, help="thin GEEM: random stumps that the covariance is estimated on")


_GEEM, _WSAM, _STUMP = fields_of(GeemLatticeKeys), fields_of(WSamKeys), fields_of(StumpKeys)
OF_STRATEGIES = (*_WSAM, *_GEEM)  # parameters that a strategy takes from its classifier
_TREE = fields_of(TreeKeys)
_CLASS_WEIGHT = fields_of(ClassWeightKeys)["class_weight"]
OF_WEAK_LEARNERS = (*_STUMP, *_TREE)


@keys
class WeakLearnerKeys(Keys):
    """The weak learner, the parameters of it that a method sets, and the weights of classes, listed after the method's
    own.
    """

    _: KW_ONLY
    weak_learner: Any = component(
        "stump", room="weak_learners", needs="find", absent="stump",
        help="the weak learner, see boostrun.methods.weak_learner; an object is copied, never changed",
    )  # fmt: skip
    depth: int = renamed(_TREE["depth"])
    leaf_values: str = renamed(_TREE["leaf_values"])
    leaf_smoothing: float = renamed(_TREE["leaf_smoothing"])
    leaf_weight: float = renamed(_TREE["leaf_weight"])
    class_weight: Any = renamed(_CLASS_WEIGHT)
    early_stopping: bool = early_stopping_field("early_stopping")
    validation_fraction: float = early_stopping_field("validation_fraction")
    n_iter_no_change: int = early_stopping_field("n_iter_no_change")


@keys
class ReservoirKeys(WeakLearnerKeys):
    """Keys of reservoir boosting (Lefakis & Fleuret 2013)."""

    strategy: Any = component(
        "geem", room="strategies", needs="__call__", absent="geem",
        help="which r of the r + q samples at hand stay each round; an object is copied, never changed",
    )  # fmt: skip
    _: KW_ONLY
    reservoir_size: int = integer(250, help="r: samples that are kept")
    batch_size: int | None = integer(None, follows="reservoir_size", help="q: fresh samples a round; none: r")
    n_estimators: int = integer(250, help="T: weak learners a binary problem")
    loss: str = choice(*_LOSSES, help="loss that gives the sample weights: LogitBoost's loss, or AdaBoost's")
    coefficient: str = choice(*_RULES, help="rule for the step along a weak learner, which shrinkage multiplies")
    shrinkage: float = real(0.5, above=0.0, most=1.0, help="factor of every step")
    balanced: bool = boolean(False, help="draw half of the samples of a binary problem from its positive class")
    shared: bool = boolean(
        False,
        help="one reservoir, and one stream of samples, for all classes: choosing costs as much as for one binary "
        "problem",
    )
    stump_search: str = renamed(_STUMP["stump_search"])
    stump_weights: str = renamed(_WSAM["stump_weights"])
    ridge: float = renamed(_GEEM["ridge"])
    covariance_dims: str | int = renamed(_GEEM["covariance_dims"])
    carry_mass: bool = renamed(_GEEM["carry_mass"])
    swap_rounds: int = renamed(_GEEM["swap_rounds"])
    lattice_size: int = renamed(_GEEM["lattice_size"])
    max_bins: Any = 256
    warm_start: Any = False
    random_state: Any = None


_RESERVOIR = fields_of(ReservoirKeys)


@keys
class SparrowKeys(WeakLearnerKeys):
    """Keys of Sparrow (Alafate & Freund 2019)."""

    _: KW_ONLY
    reservoir_size: int = renamed(_RESERVOIR["reservoir_size"])
    batch_size: int | None = renamed(_RESERVOIR["batch_size"])
    n_estimators: int = renamed(_RESERVOIR["n_estimators"])
    ess: float = real(
        0.8, above=0.0, most=1.0,
        help="share of the kept samples: when effectively fewer are left, all are replaced; effectively, that is "
        "(sum v)^2 / sum v^2 of their weights v",
    )  # fmt: skip
    loss: str = renamed(_RESERVOIR["loss"])
    coefficient: str = renamed(_RESERVOIR["coefficient"])
    shrinkage: float = renamed(_RESERVOIR["shrinkage"])
    stump_search: str = renamed(_STUMP["stump_search"])
    max_rejections: int = integer(1000, help="a replacement ends when it has drawn this many samples for each one kept")
    max_bins: Any = 256
    warm_start: Any = False
    random_state: Any = None


@keys
class SplitReservoirKeys(ReservoirKeys):
    """Keys of data split over reservoirs."""

    _: KW_ONLY
    parts: int = integer(4, least=2, help="reservoirs, each with a part of the data to itself")
    rounds: str = choice(
        "independent", "merged", absent="independent",
        help="learners of their own that are averaged, or one learner: each round the parts' reservoirs are merged",
    )  # fmt: skip
    n_jobs: int | None = None


@keys
class BudgetedReservoirKeys(ReservoirKeys):
    """Keys of a reservoir whose rounds look at some features only."""

    _: KW_ONLY
    policy: Any = component(
        "uniform_naive", room="policies", needs="choose",
        help="which features a round looks at (Dubout & Fleuret 2014); an object is copied, never changed",
    )  # fmt: skip
    Q: int = integer(10, help="features a round of a policy that is named and has a Q; laminating sets its own")
    budget_multiplier: float = real(10.0, above=0.0, help="evaluated (feature, sample) pairs a round, in units of r")
    families: Any = None


LEARNERS = ("tree", "stump", "mlp", "lightgbm")


def _a_learner(value: Any) -> Any:
    if isinstance(value, str):
        return value if value in LEARNERS or (value.startswith("sklearn.") and ":" in value) else None
    return value if not isinstance(value, type) and callable(getattr(value, "partial_fit", None)) else None


@keys
class LearnerReservoirKeys(ReservoirKeys):
    """Keys of one reservoir for all classes that feeds a learner."""

    strategy: Any = component(
        "mvs", room="strategies", needs="__call__",
        help="which r of the r + q samples at hand stay each round; an object is copied, never changed",
    )  # fmt: skip
    _: KW_ONLY
    shared: bool = boolean(True, help="one reservoir for all classes, always")
    learner: Any = field(default="tree", metadata={"kind": Kind(
        _a_learner, f"one of {', '.join(LEARNERS)}, sklearn.module:Class, or (in Python) an object with partial_fit()",
        LEARNERS,
        help="what goes on from its model on the samples that stay: vote trees or stumps, one a class and round; "
        "scikit-learn's neural network; LightGBM; or any estimator with partial_fit, which is copied, never changed",
    )})  # fmt: skip
    hidden: int = integer(100, help="mlp: units of the hidden layer, rectified")
    step_size: float = real(1e-3, above=0.0, help="mlp: factor of Adam's steps")
    minibatch: int = integer(32, help="mlp: samples of a step")
    repeats: int = integer(1, help="mlp, classes and objects: passes over the samples that stay, a round")
    trees: int = integer(1, help="lightgbm: trees of a class and round, whose learning rate is shrinkage")
    leaves: int = integer(8, least=2, help="lightgbm: leaves of a tree at most")


@keys
class FullDataKeys(WeakLearnerKeys):
    """Keys of the rivals that may look at all data (Lefakis & Fleuret 2013, Table 5)."""

    method: str = choice(
        "wss", "mada", "fix", "filterboost", "all",
        help="r of all samples each round, drawn by weight (wss), or by bounded weight and reweighted (mada); r drawn "
        "once (fix); r fresh samples a round, accepted by weight (filterboost); every sample, every round (all)",
    )  # fmt: skip
    _: KW_ONLY
    reservoir_size: int = integer(250, help="r: samples that a stump is trained on; of no effect for all")
    n_estimators: int = integer(250, help="T: stumps a binary problem")
    loss: str = choice(*_LOSSES, help="loss that gives the sample weights: LogitBoost's loss, or AdaBoost's")
    coefficient: str = choice(*_RULES, help="rule for the step along a stump, which shrinkage multiplies")
    shrinkage: float = real(0.5, above=0.0, most=1.0, help="factor of every step")
    stump_search: str = renamed(_STUMP["stump_search"])
    max_rejections: int = integer(
        1000, help="FilterBoost: a problem stops when a round rejects more than this many samples for each one wanted"
    )
    max_bins: Any = 256
    random_state: Any = None


@keys
class OnlineRivalKeys(Keys):
    """Keys of the online rivals (Lefakis & Fleuret 2013, Table 4)."""

    method: str = choice(
        "oza", "osboost", "ocp", "bisc", "leistner", "geem_oza", "geem_osboost", "geem_ocp",
        help="oza, osboost, ocp are given stumps by LogitBoost on a subset, those with geem by reservoir boosting; the "
        "selectors, bisc and leistner, find their own",
    )  # fmt: skip
    _: KW_ONLY
    n_estimators: int = integer(250, help="T: stumps, or selectors, a binary problem")
    samples_seen: int | None = integer(
        None,
        help="samples a binary problem learns from online; none: the 250 (T + 2) that a reservoir of 250 draws, or one "
        "pass if that is smaller",
    )
    subset_size: int = integer(
        1000, least=2, help="samples drawn for LogitBoost before the online phase, and let go before it"
    )
    batch_size: int = integer(250, help="samples drawn at a time in the online phase; no result depends on it")
    shrinkage: float = real(0.5, above=0.0, most=1.0, help="factor of LogitBoost's and GEEM's steps")
    gamma: float = real(0.1, above=0.0, below=1.0, help="the edge that OSBoost counts on")
    learning_rate: float = real(1.0, above=0.0, help="factor of the steps that learn coefficients on the simplex")
    pool_size: int | None = integer(None, help="learners that the selectors choose from; none: twice as many as they")
    replace_every: int = integer(1, help="samples between two replacements of the worst learner that nobody selects")
    reservoir_size: int = integer(250, help="r: GEEM's reservoir, and its fresh samples a round")
    max_bins: Any = 256
    random_state: Any = None


@keys
class RandomStumpsKeys(OnlineRivalKeys):
    """Keys of an online booster over stumps drawn at random."""

    _: KW_ONLY
    polarity: str = choice(
        "random", "better", help="of a stump: drawn as well, or the one with fewer errors on the samples of the subset"
    )


Facts = Mapping[str, int]
_BATCH = 250  # samples that an online method draws at a time
_STUMP_BYTES = 4 + 8 + 1 + 8  # bytes of its feature, threshold, polarity and coefficient
_MOST_ROUNDS = 10_000
_ROUND = 10  # evaluations a round of a reservoir, in units of r


def reservoir_and_batch(budget: float, facts: Facts) -> dict[str, Any]:
    """A reservoir of one half, fresh samples for the other.

    >>> reservoir_and_batch(501, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'r': 250, 'q': 251}
    """
    held = _held(budget, facts)
    r = held // 2
    if r < facts["n_classes"]:
        least = 2 * facts["n_classes"]
        raise BoostrunError(f"a reservoir with a sample of each class, and as many fresh ones, are {least} samples")
    return {"r": r, "q": held - r}


def subset(budget: float, facts: Facts) -> dict[str, Any]:
    """A subset drawn once, the whole budget."""
    return {"r": _held(budget, facts)}


def two_batches(budget: float, facts: Facts) -> dict[str, Any]:
    """Half of the budget for accepted samples, half for samples waiting to be looked at."""
    return {"r": _held(budget, facts, 2) // 2}


def everything(budget: float, facts: Facts) -> dict[str, Any]:
    """No override: all samples are held, which the budget must allow."""
    if budget < facts["n_samples"]:
        raise BoostrunError(f"it holds all {facts['n_samples']:,} samples")
    return {}


def subset_first(budget: float, facts: Facts) -> dict[str, Any]:
    """A subset for the stumps, let go before samples are seen one after the other."""
    return {"algo.subset_size": _a_batch(budget, facts)}


def fresh_samples(budget: float, facts: Facts) -> dict[str, Any]:
    """No override: samples are seen one after the other."""
    _a_batch(budget, facts)
    return {}


def reservoir_first(budget: float, facts: Facts) -> dict[str, Any]:
    """A reservoir for the stumps, and as many fresh samples, let go before samples are seen one after the other."""
    return {"r": _a_batch(budget, facts) // 2}


def evaluated(budget: float, facts: Facts) -> dict[str, Any]:
    """Rounds of ten evaluations for each sample of the reservoir, which grows with the budget's square root.

    >>> evaluated(1e6, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'r': 100, 'T': 100, 'Q': 10, 'algo.budget_multiplier': 10.0}
    """
    problems = facts["n_classes"] if facts["n_classes"] > 2 else 1
    pairs = budget / (_ROUND * problems)
    r = min(max(int(pairs**0.5), facts["n_classes"]), 250, facts["n_samples"] // 2)
    rounds = int(pairs // r)
    if rounds < 1:
        raise BoostrunError(f"one round of each class takes {_ROUND * problems * r:,} evaluations")
    return {"r": r, "T": rounds, "Q": min(_ROUND, facts["n_features"]), "algo.budget_multiplier": float(_ROUND)}


def rounds_of_stumps(budget: float, facts: Facts) -> dict[str, Any]:
    """As many stumps, with a row for each class, as fit into the arrays of a saved model of this size.

    >>> rounds_of_stumps(10_000, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'T': 47, 'algo.weak_learner': 'stump'}
    """
    a_round = _STUMP_BYTES * (facts["n_classes"] if facts["n_classes"] > 2 else 1)
    rounds = min(int(budget) // a_round, _MOST_ROUNDS)
    if rounds < 1:
        raise BoostrunError(f"a stump for each class takes {a_round} bytes")
    return {"T": rounds, "algo.weak_learner": "stump"}


def _held(budget: float, facts: Facts, least: int = 1) -> int:
    """Number of samples held: whole, at most all."""
    held = min(int(budget), facts["n_samples"])
    if held < least:
        raise BoostrunError(f"{least} samples are held at least")
    return held


def _a_batch(budget: float, facts: Facts) -> int:
    held = _held(budget, facts)
    if held < _BATCH:
        raise BoostrunError(f"it draws {_BATCH} samples at a time")
    return held
