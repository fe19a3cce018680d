"""Keys of AdaBoost.MH and its policies (default, range, help text), and the overrides that keep a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from boostrun.config.fields import (
    Keys,
    boolean,
    check,
    choice,
    component,
    fields_of,
    integer,
    keys,
    kind_of,
    name_or_place,
    plain_number,
    real,
    renamed,
    some_of,
)
from boostrun.errors import BoostrunError
from boostrun.features.keys import FeatureKeys
from boostrun.methods.declaration import ClassWeightKeys, early_stopping_field


@keys
class AdaBoostMHKeys(Keys):
    """Keys of AdaBoost.MH with a policy (Dubout & Fleuret 2014)."""

    policy: Any = component(
        "laminating", room="policies", needs="choose",
        help="which features, on which samples, are looked at in a step: an object of "
        "boostrun.papers.adaptive.policies with parameters of its own, as Laminating(Q=64), or a name, for the policy "
        "with its defaults; copied, never changed",
    )  # fmt: skip
    _: KW_ONLY
    n_estimators: int = integer(1000, help="T: stumps, or trees")
    budget_multiplier: float = real(
        10.0, above=0.0,
        help="evaluated (feature, sample) pairs a step, in units of the number N of samples: the paper's C over N; "
        "asking for more is an error, whatever the policy: Q features on all samples need Q at least",
    )  # fmt: skip
    init: str = choice(
        "uniform", "balanced",
        help="every (sample, class) the same weight at first, or the true and the false classes half of it each",
    )  # fmt: skip
    edge_gaps: bool = boolean(
        False,
        help="also look at all features in every step, uncounted, and tell by how much the best of them beats the one "
        "chosen",
    )  # fmt: skip
    sampling: str = choice("weight", "uniform", help="how samples are drawn where not all are looked at")
    weak_learner: str = choice(
        "stump", "tree", absent="stump",
        help="what is boosted: a stump, or a tree, of which every split is a step of the policy, with its budget, on "
        "the samples that come there",
    )  # fmt: skip
    depth: int = integer(6, most=10, absent=6, help="splits from a tree's root to a leaf")
    class_weight: Any = renamed(fields_of(ClassWeightKeys)["class_weight"])
    early_stopping: bool = early_stopping_field("early_stopping")
    validation_fraction: float = early_stopping_field("validation_fraction")
    n_iter_no_change: int = early_stopping_field("n_iter_no_change")
    families: Any = None
    max_bins: Any = 256
    warm_start: Any = False
    random_state: Any = None


class PolicyKeys(Keys):
    """Base of a policy's keys: parameters are held against their fields when they are given.

    Raises BoostrunError with one sentence for a parameter that does not fit.
    """

    def __post_init__(self) -> None:
        check(self)
        for name, field in fields_of(type(self)).items():
            if (value := plain_number(getattr(self, name))) is not None:
                setattr(self, name, kind_of(field).read(value))


@keys
class OnAllSamplesKeys(PolicyKeys):
    """Keys of policies that look at Q features on all samples."""

    Q: int = integer(10, help="features that a step looks at")


@keys
class FixedSampleKeys(PolicyKeys):
    """Keys of Q features on as many samples as the budget buys."""

    Q: int = integer(10, help="features that a step looks at")


@keys
class BestFamilyKeys(OnAllSamplesKeys):
    """Keys of Q features of one family, the same in every step."""

    family: str | int = name_or_place(0, help="the family, by its name or its place, counted from 0")


@keys
class BanditKeys(OnAllSamplesKeys):
    """Keys of bandits, whose arms are families."""

    scale: int = integer(9, least=0, most=30, help="rewards are multiplied by 2^scale, up to 1")


@keys
class Exp3PKeys(BanditKeys):
    """Keys of Exp3.P: exponential weights mixed with the uniform distribution."""

    eta: float = real(0.3, above=0.0, help="the paper's eta, alpha of Auer et al.: the bonus of arms seldom played")
    mixing: float = real(
        0.15, above=0.0, most=1.0, help="the paper's lambda, gamma of Auer et al.: the share of uniform draws"
    )
    horizon: int = integer(10_000, help="rounds that eta and mixing are meant for, whatever those of the run")
    update: str = choice("all", "played", help="arms that learn; one that is not played keeps its weight with played")


@keys
class EpsGreedyKeys(BanditKeys):
    """Keys of eps-greedy: a uniform arm with probability min(1, 2^scale M / t), M arms, in round t."""

    scale: int = integer(0, least=0, most=30, help="an arm is drawn uniformly with probability min(1, 2^scale M / t)")


@keys
class TastingKeys(OnAllSamplesKeys):
    """Keys of Tasting: some features of every family are watched."""

    R: int = integer(10, help="features of every family that are watched")
    charge: bool = boolean(False, help="whether the edges of watched features are charged to the budget")


@keys
class TastingUCBKeys(TastingKeys):
    """Keys of Tasting that looks at few families a step: those whose promise may have become the largest."""

    looks: int = integer(2, help="families that a step looks at, at most")
    age_weight: float = real(1.0, least=0.0, help="how fast a promise may grow with its age, in units of its changes")


@keys
class MASKeys(PolicyKeys):
    """Keys of maximum adaptive sampling: how edges are modelled, and where Q and S are looked for."""

    noise: str = choice("kappa", "paper", help="variance of an estimated edge: kappa / S of the weights, or 1 / S")
    deconvolve: bool = boolean(True, help="take that noise off the fitted variances")
    pilot_share: float = real(0.1, above=0.0, most=0.9, help="what of the budget the pilot has")
    components: int = integer(2, help="components of a mixture, at most one for every 8 edges")
    s_min: int = integer(32, help="the smallest S to try")
    s_ratio: float = real(2**0.5, above=1.0, help="from one S to try to the next, up to the number of samples")
    grid_points: int = integer(257, least=33, help="points of the integrals")


@keys
class MASNaiveKeys(MASKeys):
    """Keys of one model for all features, fitted on the step before."""

    components: int = integer(3, help="components of the mixture, at most one for every 8 edges")
    refit_below: int = integer(
        30, help="after a step with fewer edges than that, or all equal, the next begins with a pilot"
    )


@keys
class MAS1QKeys(MASKeys):
    """Keys of a model for each family, from a pilot of every step."""

    q0_min: int = integer(4, help="features of a family that the pilot looks at, at least")
    q0_max: int = integer(24, help="features of a family that the pilot looks at, at most")


@keys
class MASQ1Keys(MAS1QKeys):
    """Keys of the same with features of several families, whose search takes longer steps."""

    s_ratio: float = real(2.0, above=1.0, help="from one S to try to the next, up to the number of samples")


@keys
class LaminatingKeys(PolicyKeys):
    """Keys of halving the features while doubling the samples."""

    Q: int | None = integer(
        None, least=2,
        help="features that a step begins with; none: the largest power of two, up to 1024, that leaves 32 samples for "
        "each in the first round",
    )  # fmt: skip


@keys
class TastingLaminatingKeys(LaminatingKeys):
    """Keys of the same, beginning with features of the families that promise most."""

    R: int = integer(10, help="features of every family that are watched")
    best_of: int = integer(10, help="a family promises how probably the best of so many watched features is its own")
    pilot_share: float = real(0.1, above=0.0, most=0.9, help="what of the budget estimates the watched features' edges")


@keys
class MABSplitKeys(PolicyKeys):
    """Keys of eliminating features by intervals of their edges, batch by batch."""

    Q: int | None = integer(
        None,
        least=2,
        help="features that a step begins with; none: those that a quarter of the budget buys a batch for",
    )
    batch: int = integer(100, help="samples that are drawn at a time")
    delta: float = real(0.01, above=0.0, below=1.0, help="how often an interval misses its edge")


@keys
class FewFeaturesKeys(PolicyKeys):
    """Keys of boosting that makes do with few features, which come one by one."""

    Q: int | None = integer(None, help="features that a split looks at; none: as many as the budget of a step buys")
    features_used: int | None = integer(None, help="features that all rounds together may use; none: no bound")
    rounds_a_feature: int = integer(3, help="rounds before one more feature may come")


@dataclass
class Families19ColourKeys(FeatureKeys):
    """The 19 feature families of adaptive sampling, those of orientations and of rectangles in colour."""

    only: Sequence[str] | None = some_of(
        "identity", "gray", "fourier", "haar", "gradient", "lbp", "ilbp", "patch_sums", "gray_hist", "color_hist",
        "hog_u4", "hog_s4", "hog_u8", "hog_s8", "ori_s", "ori_u", "rect_u", "rect_s", "haar_like",
        help="families that are computed; null: all",
    )  # fmt: skip
    on_gray: str = choice("keep", "drop", help="families of colour on gray images: kept, or dropped")


@dataclass
class Families19Keys(Families19ColourKeys):
    """The 19 feature families of adaptive sampling (Dubout & Fleuret 2014)."""

    gradients: str = choice(
        "grey", "strongest", absent="grey",
        help="orientations of the grey image, or of the strongest colour channel at each pixel (Dalal & Triggs 2005)",
    )  # fmt: skip


@dataclass
class Families33Keys(FeatureKeys):
    """The 33 feature families of adaptive sampling on Caltech-101 (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = some_of(
        *(f"{kind}_{level}" for kind in (
            "phog180", "phog360", "sift_gray300", "sift_gray1000", "sift_hsv300", "sift_hsv1000", "covariance", "lbp",
        ) for level in range(4)), "v1s",
        help="families that are computed; null: all",
    )  # fmt: skip
    codebook: str = choice("shared", "per_split", help="visual words of the first split for all, or of each split")
    descriptors: int = integer(100000, help="descriptors that visual words are learned on")
    size: int | None = integer(None, least=16, help="pixels of the sides that images are brought to; null: as they are")


Facts = Mapping[str, int]
_PAIRS = 10  # (feature, sample) pairs a step, in units of the number of samples, as in the paper
_STUMP = {"algo.weak_learner": "stump"}  # a tree takes several steps, and has several features
_LEAST = 2  # of them in the least step
_REFIT = 1  # look at a feature of all samples
_SHARE, _DEPTH = 0.1, 5  # of a tree's splits, and their levels: those with which MABSplit's figures are made
_FEW, _SMALL = 5, 1000  # trees, and pairs of a split


def on_all_samples(budget: float, facts: Facts) -> dict[str, Any]:
    """As many steps with Q features on all samples as the budget allows; fewer features if steps would be few.

    The budget also pays for the refit of the chosen stump, another look at its feature, here and below.

    >>> on_all_samples(6.6e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'T': 100, 'algo.weak_learner': 'stump', 'Q': 10, 'algo.budget_multiplier': 10.0}
    """
    pairs = _pairs(budget, facts)
    q = min(pairs, facts["n_features"])
    return {"T": _steps(budget, facts, q + _REFIT), **_STUMP, "Q": q, "algo.budget_multiplier": float(pairs)}


def a_share(budget: float, facts: Facts) -> dict[str, Any]:
    """As many steps as the budget allows, each with a policy's own choice of features and samples."""
    pairs = _pairs(budget, facts)
    return {"T": _steps(budget, facts, pairs + _REFIT), **_STUMP, "algo.budget_multiplier": float(pairs)}


def tasting(budget: float, facts: Facts) -> dict[str, Any]:
    """Like :func:`on_all_samples`; the budget also pays for watching a few features of every family on all samples.

    >>> tasting(6.6e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10, "n_families": 2})
    {'T': 35, 'algo.weak_learner': 'stump', 'Q': 10, 'algo.budget_multiplier': 10.0, 'algo.tasting_R': 10}
    """
    told, families = on_all_samples(budget, facts), facts.get("n_families", 1)
    watched = max(1, min(_PAIRS, int(budget // (_PAIRS * facts["n_samples"] * families))))
    steps = _steps(budget, facts, told["Q"] + watched * families + _REFIT)
    return {**told, "T": steps, "algo.tasting_R": watched}


def trees_of_shares(budget: float, facts: Facts) -> dict[str, Any]:
    """As many trees of depth 5 as the budget allows, each split with a tenth of a look at a feature.

    Stumps are used instead if on all training samples there would be few trees, or if their shares would be too small
    to choose by. All training samples decide this, so that a search on some of them tries the method of the final run.
    The budget also pays for a tree's refits, one feature a level.

    >>> trees_of_shares(1e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'T': 20, 'algo.weak_learner': 'tree', 'algo.depth': 5, 'algo.budget_multiplier': 0.1}
    """
    all_of_them, a_tree = facts.get("n_training", facts["n_samples"]), _SHARE * (2**_DEPTH - 1) + _DEPTH
    if budget // (all_of_them * a_tree) < _FEW or all_of_them * _SHARE < _SMALL:
        return a_share(budget, facts)
    trees = int(budget // (facts["n_samples"] * a_tree))
    return {"T": trees, "algo.weak_learner": "tree", "algo.depth": _DEPTH, "algo.budget_multiplier": _SHARE}


def a_feature_a_stump(budget: float, facts: Facts) -> dict[str, Any]:
    """As many stumps as features: each has one, and all classes share it."""
    if budget < 1:
        raise BoostrunError("a stump has one feature")
    return {"T": int(budget), **_STUMP}


def features_one_by_one(budget: float, facts: Facts) -> dict[str, Any]:
    """The budget as a number of features for all rounds, each the best of all features.

    >>> features_one_by_one(10, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.features_used': 10, 'algo.budget_multiplier': 784.0}
    """
    if budget < 1:
        raise BoostrunError("a split has one feature")
    used = min(int(budget), facts["n_features"])
    return {"algo.features_used": used, "algo.budget_multiplier": float(facts["n_features"])}


def _pairs(budget: float, facts: Facts) -> int:
    """Pairs of a step in units of the samples: fewer where ten would buy less than ten steps."""
    affordable = int(budget / facts["n_samples"])
    return max(_LEAST, min(_PAIRS, affordable // _PAIRS))


def _steps(budget: float, facts: Facts, pairs: int) -> int:
    steps = int(budget // (pairs * facts["n_samples"]))
    if steps < 1:
        raise BoostrunError(f"a step takes {pairs * facts['n_samples']:,} evaluations")
    return steps
