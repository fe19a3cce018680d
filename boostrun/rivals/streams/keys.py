"""Keys of rivals that follow a stream: the few that people tune, with the defaults of their library."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from boostrun.config.fields import Keys, boolean, choice, fields_of, integer, keys, real, renamed


@keys
class HoeffdingTreeKeys(Keys):
    """Keys of a Hoeffding tree."""

    _: KW_ONLY
    grace_period: int = integer(200, help="examples that a leaf meets from one look for a split to the next")
    delta: float = real(1e-7, above=0.0, below=1.0, help="allowed error of the choice of a split; smaller splits later")
    tau: float = real(0.05, least=0.0, help="splits nearer to each other than this are a tie, and one is taken")
    max_depth: int | None = integer(None, help="splits from the root to a leaf at most; null: no limit")
    leaf_prediction: str = choice(
        "nba", "nb", "mc", help="a leaf answers by naive Bayes, by its majority, or (nba) by what was right more often"
    )


_TREE = fields_of(HoeffdingTreeKeys)


@keys
class AdaptiveTreeKeys(HoeffdingTreeKeys):
    """Keys of a Hoeffding tree that replaces branches."""

    _: KW_ONLY
    drift_delta: float = real(0.002, above=0.0, below=1.0, help="confidence of the ADWINs: smaller detects less")
    drift_window_threshold: int = integer(300, help="examples that a new branch meets before it may replace the old")
    bootstrap_sampling: bool = boolean(True, help="each example is learnt Poisson(1) times")
    random_state: Any = None


@keys
class MembersKeys(Keys):
    """What ensembles of trees have in common."""

    _: KW_ONLY
    n_models: int = integer(10, help="M: members")
    grace_period: int = renamed(_TREE["grace_period"], default=50)
    delta: float = renamed(_TREE["delta"], default=0.01)
    random_state: Any = None


@keys
class AdaptiveForestKeys(MembersKeys):
    """Keys of the adaptive random forest."""

    _: KW_ONLY
    tau: float = renamed(_TREE["tau"])
    max_depth: int | None = renamed(_TREE["max_depth"])
    leaf_prediction: str = renamed(_TREE["leaf_prediction"])
    lambda_value: float = real(6.0, above=0.0, help="each example is learnt Poisson(lambda_value) times")
    feature_fraction: float | None = real(
        None, above=0.0, most=1.0, help="share of the features that a leaf looks at; null: the square root of all"
    )
    drift_delta: float = real(0.001, above=0.0, below=1.0, help="confidence of the ADWIN that ends a tree")
    warning_delta: float = real(0.01, above=0.0, below=1.0, help="confidence of the ADWIN that begins its successor")


@keys
class RandomPatchesKeys(MembersKeys):
    """Keys of streaming random patches."""

    _: KW_ONLY
    subspace_size: float = real(0.6, above=0.0, most=1.0, help="share of the features that a tree is given")
    training_method: str = choice(
        "patches", "subspaces", "resampling",
        help="a tree's own features and its own Poisson weights, its own features alone, or its own weights alone",
    )  # fmt: skip
    lam: float = real(6.0, above=0.0, help="each example is learnt Poisson(lam) times")
    drift_delta: float = real(1e-5, above=0.0, below=1.0, help="confidence of the ADWIN that ends a tree")
    warning_delta: float = real(1e-4, above=0.0, below=1.0, help="confidence of the ADWIN that begins its successor")


@keys
class AdwinEnsembleKeys(MembersKeys):
    """Keys of river's bagging and boosting with ADWIN."""

    _: KW_ONLY
    base: str = choice(
        "hoeffding", "gnb", "logistic",
        help="Hoeffding tree, Gaussian naive Bayes, logistic regression on standardised features (two classes)",
    )  # fmt: skip
    grace_period: int = renamed(_TREE["grace_period"])
    delta: float = renamed(_TREE["delta"])
    leaf_prediction: str = renamed(_TREE["leaf_prediction"])


@keys
class LeveragingBaggingKeys(AdwinEnsembleKeys):
    """Keys of leveraging bagging."""

    _: KW_ONLY
    w: float = real(6.0, above=0.0, help="each example is learnt Poisson(w) times")
    adwin_delta: float = real(0.002, above=0.0, below=1.0, help="confidence of the ADWINs: smaller detects less")
    bagging_method: str = choice(
        "bag", "me", "half", "wt", "subag",
        help="how often an example is learnt, as river's LeveragingBaggingClassifier says",
    )  # fmt: skip


@keys
class FollowerKeys(Keys):
    """Keys of any classifier of river's kind, beside its own."""

    _: KW_ONLY
    estimator: Any = None
    random_state: Any = None


@keys
class CapyMOAKeys(Keys):
    """Keys of MOA's learners."""

    _: KW_ONLY
    learner: str = choice(
        "AdaptiveRandomForestClassifier", "StreamingRandomPatches", "HoeffdingAdaptiveTree", "LeveragingBagging",
        "StreamingGradientBoostedTrees", help="the class of CapyMOA's",
    )  # fmt: skip
    n_models: int = integer(10, help="M: members, rounds of boosting; CapyMOA's own default is 100")
    max_features: float = real(0.6, above=0.0, most=1.0, help="share of the features that a tree, or a leaf, looks at")
    lambda_param: float = real(6.0, above=0.0, help="each example is learnt Poisson(lambda_param) times")
    grace_period: int = renamed(_TREE["grace_period"])
    confidence: float = renamed(_TREE["delta"], default=0.001)
    learning_rate: float = real(0.0125, above=0.0, help="factor of every step")
    percentage_of_features: int = integer(75, most=100, help="of the features, that a tree looks at")
    random_state: Any = None
