"""Keys of the rivals: those that are usually tuned, and those of budgets; and the settings that keep a budget.

The functions ``by_...`` turn a budget into the words of a command. They raise BoostrunError if it cannot be kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any

from boostrun.config.fields import Keys, boolean, choice, fields_of, integer, keys, real, renamed
from boostrun.errors import BoostrunError


@keys
class HeldKeys(Keys):
    """Keys of rivals that hold all their samples at once."""

    _: KW_ONLY
    samples_held: int | None = integer(
        None, least=2, help="train on so many of the training samples, drawn once at random; null: on all"
    )
    random_state: Any = None


@keys
class SelectingKeys(HeldKeys):
    """Keys of rivals that can use some of the features."""

    _: KW_ONLY
    features_used: int | None = integer(
        None, help="features that a prediction may look at: the best of a first training, which is done again on them"
    )


@keys
class TreesKeys(SelectingKeys):
    """Keys of rivals made of trees."""

    _: KW_ONLY
    n_estimators: int = integer(100, help="T: rounds, each a tree, or one for each of several classes")
    model_bytes: int | None = integer(None, help="size of the model at most: fewer leaves, then fewer rounds")


@keys
class SamplingTreeKeys(TreesKeys):
    """Keys of trees that can look at some of the samples and features."""

    _: KW_ONLY
    evaluations: int | None = integer(
        None, help="pairs of a feature and a sample that training may look at: less of both a tree, then fewer rounds"
    )
    columns_drawn: int | None = integer(
        None, least=2, absent=None, help="train on so many of the features, drawn once at random; null: on all"
    )


@keys
class LightGBMKeys(SamplingTreeKeys):
    """Keys of LightGBM."""

    _: KW_ONLY
    min_samples_leaf: int = integer(20, help="samples in a leaf at least")
    learning_rate: float = real(0.1, above=0.0, help="factor of every step")
    leaves: int = integer(31, least=2, help="leaves of a tree at most")
    l2: float = real(0.0, least=0.0, help="penalty on the squares of the leaves' values")
    feature_fraction: float = real(1.0, above=0.0, most=1.0, help="share of the features that a tree may look at")


@keys
class LightGBMGossKeys(LightGBMKeys):
    """Keys of LightGBM with gradient-based one-side sampling."""

    _: KW_ONLY
    top_rate: float = real(0.2, above=0.0, below=0.5, help="share of the samples, those of largest gradients")
    other_rate: float = real(0.1, above=0.0, below=0.5, help="share of the samples, drawn from all others")


@keys
class LightGBMReuseKeys(LightGBMKeys):
    """Keys of LightGBM with a penalty on features that no tree has split on yet."""

    _: KW_ONLY
    feature_price: float = real(1.0, least=0.0, help="subtracted from the gain of the first split on a feature")
    split_price: float = real(0.0, least=0.0, help="subtracted from the gain of a split, for each sample in its node")


_SELECTING, _TREE, _LIGHTGBM = map(fields_of, (SelectingKeys, TreesKeys, LightGBMKeys))


@keys
class XGBoostKeys(SamplingTreeKeys):
    """Keys of XGBoost."""

    _: KW_ONLY
    learning_rate: float = renamed(_LIGHTGBM["learning_rate"], default=0.3)
    depth: int = integer(6, most=16, help="splits from the root to a leaf at most")
    min_weight_leaf: float = real(1.0, least=0.0, help="sum of the second derivatives in a leaf at least")
    l2: float = renamed(_LIGHTGBM["l2"], default=1.0)
    feature_fraction: float = renamed(_LIGHTGBM["feature_fraction"])


_XGBOOST = fields_of(XGBoostKeys)


@keys
class CatBoostKeys(SamplingTreeKeys):
    """Keys of CatBoost."""

    _: KW_ONLY
    n_estimators: int = renamed(_TREE["n_estimators"], default=250, help="T: rounds, each a tree for all classes")
    learning_rate: float | None = renamed(
        _LIGHTGBM["learning_rate"], default=None, help="factor of every step; null: CatBoost's own, 0.03 for any data"
    )
    depth: int = renamed(_XGBOOST["depth"])
    l2: float = renamed(_LIGHTGBM["l2"], default=3.0)
    feature_fraction: float = renamed(
        _LIGHTGBM["feature_fraction"], help="share of the features that a split may look at"
    )


@keys
class HistGradientKeys(TreesKeys):
    """Keys of scikit-learn's boosting on histograms."""

    _: KW_ONLY
    min_samples_leaf: int = renamed(_LIGHTGBM["min_samples_leaf"])
    learning_rate: float = renamed(_LIGHTGBM["learning_rate"])
    leaves: int = renamed(_LIGHTGBM["leaves"])
    l2: float = renamed(_LIGHTGBM["l2"])
    feature_fraction: float = renamed(
        _LIGHTGBM["feature_fraction"], help="share of the features that a split may look at"
    )


@keys
class ForestKeys(SamplingTreeKeys):
    """Keys of the forests of scikit-learn."""

    _: KW_ONLY
    n_estimators: int = renamed(_TREE["n_estimators"], help="T: trees")
    leaves: int | None = integer(None, least=2, help="leaves of a tree at most; null: until they are pure")
    min_samples_leaf: int = renamed(_LIGHTGBM["min_samples_leaf"], default=1)
    feature_fraction: float | None = real(
        None, above=0.0, most=1.0, help="share of the features that a split looks at; null: the square root of all"
    )


@keys
class LogisticKeys(SelectingKeys):
    """Keys of logistic regression."""

    _: KW_ONLY
    C: float = real(1.0, above=0.0, help="1 over the penalty on the squares of the weights")
    max_iter: int = integer(200, help="iterations at most")
    features_used: int | None = renamed(
        _SELECTING["features_used"],
        help="features that a prediction may look at: the first on the path of a lasso; the rest is left out",
    )
    path: str = choice(
        "group", "l1", absent="group",
        help="features_used: the group lasso, a feature's weights of all classes together; or the lasso, each alone",
    )  # fmt: skip


@keys
class EstimatorKeys(HeldKeys):
    """Keys of any classifier like scikit-learn's, beside its own."""

    _: KW_ONLY
    estimator: Any = None


@keys
class SGDKeys(Keys):
    """Keys of the linear model that reads samples in batches."""

    _: KW_ONLY
    batch_size: int = integer(200, help="q: samples that are held at a time")
    loss: str = choice("log_loss", "hinge", help="what is made small, one class against the rest; hinge: a linear SVM")
    alpha: float = real(1e-4, above=0.0, help="penalty on the squares of the weights; sets the steps too")
    epochs: int = integer(5, help="passes over the training samples")
    samples_drawn: int | None = integer(None, help="samples that are drawn in all; null: as many as the epochs have")
    average: bool = boolean(True, help="the weights are the mean of those of all steps")
    random_state: Any = None


_SGD, _FOREST = map(fields_of, (SGDKeys, ForestKeys))


@keys
class ChunkKeys(Keys):
    """Keys of rivals that learn from fresh chunks of samples and drop each before the next."""

    _: KW_ONLY
    batch_size: int = renamed(_SGD["batch_size"], help="q: samples of a chunk, which are held at a time")
    epochs: int = renamed(_SGD["epochs"])
    samples_drawn: int | None = renamed(_SGD["samples_drawn"])
    random_state: Any = None


@keys
class MLPKeys(ChunkKeys):
    """Keys of the multilayer perceptron."""

    _: KW_ONLY
    hidden: int = integer(100, help="units of the hidden layer, rectified")
    learning_rate: float = real(1e-3, above=0.0, help="factor of Adam's steps")
    alpha: float = real(1e-4, above=0.0, help="penalty on the squares of the weights")
    minibatch: int = integer(32, help="samples of a step, at most a chunk")
    repeats: int = integer(1, help="passes over a chunk before it is dropped")


@keys
class FourierKeys(ChunkKeys):
    """Keys of the linear model on random Fourier features."""

    _: KW_ONLY
    waves: int = integer(1000, help="random Fourier features")
    gamma: float = real(
        1.0, above=0.0, help="of the kernel exp(-gamma |x - y|^2), times features and variance: 1 is SVC's scale"
    )
    loss: str = renamed(_SGD["loss"])
    alpha: float = renamed(_SGD["alpha"], default=1e-6)
    average: bool = renamed(_SGD["average"])


@keys
class PastingKeys(ChunkKeys):
    """Keys of pasted trees."""

    _: KW_ONLY
    bite_size: int = integer(180, least=2, help="r: samples of a bite, on which a tree is grown; held beside a chunk")
    batch_size: int = integer(20, help="q: fresh samples that are looked at at a time")
    smoothing: float = real(0.75, least=0.0, below=1.0, help="share of the error before in the error after a bite")
    min_samples_leaf: int = renamed(_FOREST["min_samples_leaf"])
    feature_fraction: float = renamed(_LIGHTGBM["feature_fraction"], help="share of the features a split looks at")


_MOST_ROUNDS = integer(1000, help="rounds in all at most; then nothing more is drawn")


@keys
class LightGBMChunksKeys(ChunkKeys):
    """Keys of LightGBM that continues training on fresh chunks."""

    _: KW_ONLY
    rounds: int = integer(1, help="rounds on a chunk")
    most_rounds: int = renamed(_MOST_ROUNDS)
    min_samples_leaf: int = renamed(
        _LIGHTGBM["min_samples_leaf"], help="samples in a leaf at least; no more than a quarter of a chunk is asked for"
    )
    learning_rate: float = renamed(_LIGHTGBM["learning_rate"])
    leaves: int = renamed(_LIGHTGBM["leaves"])
    l2: float = renamed(_LIGHTGBM["l2"], default=1.0)
    feature_fraction: float = renamed(_LIGHTGBM["feature_fraction"])


_LIGHTGBM_CHUNKS = fields_of(LightGBMChunksKeys)


@keys
class XGBoostChunksKeys(ChunkKeys):
    """Keys of XGBoost that continues training on fresh chunks."""

    _: KW_ONLY
    rounds: int = renamed(_LIGHTGBM_CHUNKS["rounds"])
    most_rounds: int = renamed(_MOST_ROUNDS)
    learning_rate: float = renamed(_XGBOOST["learning_rate"])
    depth: int = renamed(_XGBOOST["depth"])
    min_weight_leaf: float = renamed(_XGBOOST["min_weight_leaf"])
    l2: float = renamed(_XGBOOST["l2"])
    feature_fraction: float = renamed(_XGBOOST["feature_fraction"])


@keys
class XGBoostExternalKeys(Keys):
    """Keys of XGBoost that keeps the bins of all rows in files."""

    _: KW_ONLY
    n_estimators: int = renamed(_TREE["n_estimators"])
    batch_size: int = integer(10_000, help="q: samples that are read at a time")
    learning_rate: float = renamed(_XGBOOST["learning_rate"])
    depth: int = renamed(_XGBOOST["depth"])
    min_weight_leaf: float = renamed(_XGBOOST["min_weight_leaf"])
    l2: float = renamed(_XGBOOST["l2"])
    feature_fraction: float = renamed(_XGBOOST["feature_fraction"])
    random_state: Any = None


@keys
class ForestChunksKeys(ChunkKeys):
    """Keys of a forest that grows on fresh chunks."""

    _: KW_ONLY
    rounds: int = renamed(_LIGHTGBM_CHUNKS["rounds"], default=2, help="trees on a chunk")
    most_rounds: int = renamed(_MOST_ROUNDS, help="trees in all at most; then nothing more is drawn")
    extra: bool = boolean(False, help="extremely randomised trees instead of a random forest")
    leaves: int | None = renamed(_FOREST["leaves"])
    min_samples_leaf: int = renamed(_FOREST["min_samples_leaf"])
    feature_fraction: float | None = renamed(_FOREST["feature_fraction"])


@keys
class SGBTKeys(Keys):
    """Keys of second-order boosting of stream trees; those not fixed by its paper are marked "ours"."""

    budget: int = integer(100, help="M: boosting steps, a tree each, of each of several classes against the rest")
    learning_rate: float = real(0.0125, above=0.0, most=1.0, help="factor of what every tree adds")
    feature_fraction: float = real(0.75, above=0.0, most=1.0, help="share of the features that a tree may look at")
    weights: str = choice(
        "hessian", "one", help="weight of an example with the target -g/h: h, as the loss has it, or 1, as MOA has it"
    )
    repeats: int = integer(
        1, most=100, help="above 1: an example is learnt ceil(repeats h) times, each with the weight 1 (SGBT_MI)"
    )
    skip: int = integer(1, help="one example in so many, at random, is not learnt (SGBT_SK); 1: all are")
    grace_period: int = integer(25, help="examples that a leaf learns from one attempt to split it to the next")
    delta: float = real(0.05, above=0.0, below=1.0, help="of Hoeffding's bound: smaller splits later")
    tie: float = real(0.05, least=0.0, help="a leaf is split whatever is best once the bound is below it")
    drift_alpha: float = real(0.005, least=0.0, help="rise of a branch's error, in deviations, that is no drift")
    drift_threshold: float = real(
        50.0, above=0.0, infinite=True, help="of Page & Hinkley's test of a branch's error; infinity: never any drift"
    )
    inherit: bool = boolean(False, help="new leaves begin with the mean of their side of the split, not with 0 (ours)")
    bins: int = integer(16, least=2, most=256, help="of the histogram that a leaf keeps of each feature (ours)")
    max_leaves: int = integer(500, least=2, help="leaves of a tree at most (ours: nothing in the paper bounds memory)")
    random_state: Any = None


_NUMBER = 8  # bytes
_COPY = 2 << 30  # the most bytes of floats that a library gets


def by_subset(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that hold ``budget`` samples, drawn at random, or all if there are fewer.

    >>> by_subset(500, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.samples_held': 500}
    """
    return {"algo.samples_held": _samples(budget, facts)}


def by_batches(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that read all samples, ``budget`` at a time."""
    return {"q": _samples(budget, facts)}


def by_bites(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Settings whose bite takes nine tenths of the samples held, and the fresh samples looked at the rest.

    >>> by_bites(500, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'r': 450, 'q': 50}
    """
    held = _samples(budget, facts)
    fresh = max(1, held // 10)
    if held - fresh < 2:
        raise BoostrunError(f"samples_held={budget:g}: a bite of two samples and a fresh one are needed")
    return {"r": held - fresh, "q": fresh}


def by_selection(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that use ``budget`` features, or all if there are fewer."""
    return {"algo.features_used": min(_whole("features", budget), facts["n_features"])}


def by_sampling(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Settings for trees that look at as many samples and features as the evaluations allow.

    If all features take more than 2 GiB as float32, only as many are drawn as can be looked at once on all samples:
    the others would need memory and hardly be used.

    >>> by_sampling(1e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.evaluations': 10000000}
    >>> by_sampling(1e8, {"n_samples": 60000, "n_features": 16775, "n_classes": 10})
    {'algo.evaluations': 100000000, 'algo.columns_drawn': 1666}
    """
    settings, once = {"algo.evaluations": _whole("evaluations", budget)}, max(2, int(budget / facts["n_samples"]))
    if 4 * facts["n_samples"] * facts["n_features"] > _COPY and once < facts["n_features"]:
        settings["algo.columns_drawn"] = once
    return settings


def by_draws(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that draw as many samples as the evaluations allow.

    >>> by_draws(1e6, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.samples_drawn': 1275}
    """
    draws = int(budget / facts["n_features"])
    if draws < facts["n_classes"]:
        raise BoostrunError(f"evaluations={budget:g}: {draws} samples of {facts['n_features']} features are too few")
    return {"algo.samples_drawn": draws}


def by_size(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with fewer and smaller trees."""
    return {"algo.model_bytes": _whole("model_bytes", budget)}


def by_weights(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with as many features as fit: each takes its place, its range, and a weight for each class.

    >>> by_weights(10_000, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.features_used': 95}
    """
    rows = 1 if facts["n_classes"] == 2 else facts["n_classes"]
    features = int((budget / _NUMBER - rows) / (rows + 3))
    if features < 1:
        raise BoostrunError(f"model_bytes={budget:g}: there is no room for one feature ({_NUMBER * (2 * rows + 3)})")
    return {"algo.features_used": min(features, facts["n_features"])}


def _samples(budget: float, facts: Mapping[str, Any]) -> int:
    if budget < facts["n_classes"]:
        raise BoostrunError(f"samples_held={budget:g}: one of each of {facts['n_classes']} classes is needed")
    return min(int(budget), facts["n_samples"])


def _whole(kind: str, budget: float) -> int:
    if budget < 1:
        raise BoostrunError(f"{kind}={budget:g}: at least 1 is needed")
    return int(budget)


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


_HOEFFDING = fields_of(HoeffdingTreeKeys)


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
    """Keys of ensembles of stream learners."""

    _: KW_ONLY
    n_models: int = integer(10, help="M: members")
    grace_period: int = renamed(_HOEFFDING["grace_period"], default=50)
    delta: float = renamed(_HOEFFDING["delta"], default=0.01)
    random_state: Any = None


@keys
class AdaptiveForestKeys(MembersKeys):
    """Keys of the adaptive random forest."""

    _: KW_ONLY
    tau: float = renamed(_HOEFFDING["tau"])
    max_depth: int | None = renamed(_HOEFFDING["max_depth"])
    leaf_prediction: str = renamed(_HOEFFDING["leaf_prediction"])
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
    """Keys of bagging and boosting with ADWIN in river."""

    _: KW_ONLY
    base: str = choice(
        "hoeffding", "gnb", "logistic",
        help="Hoeffding tree, Gaussian naive Bayes, logistic regression on standardised features (two classes)",
    )  # fmt: skip
    grace_period: int = renamed(_HOEFFDING["grace_period"])
    delta: float = renamed(_HOEFFDING["delta"])
    leaf_prediction: str = renamed(_HOEFFDING["leaf_prediction"])


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
    """Keys of any classifier like river's, beside its own."""

    _: KW_ONLY
    estimator: Any = None
    random_state: Any = None


@keys
class CapyMOAKeys(Keys):
    """Keys of learners of MOA."""

    _: KW_ONLY
    learner: str = choice(
        "AdaptiveRandomForestClassifier", "StreamingRandomPatches", "HoeffdingAdaptiveTree", "LeveragingBagging",
        "StreamingGradientBoostedTrees", help="the class of CapyMOA's",
    )  # fmt: skip
    n_models: int = integer(10, help="M: members, rounds of boosting; CapyMOA's own default is 100")
    max_features: float = real(0.6, above=0.0, most=1.0, help="share of the features that a tree, or a leaf, looks at")
    lambda_param: float = real(6.0, above=0.0, help="each example is learnt Poisson(lambda_param) times")
    grace_period: int = renamed(_HOEFFDING["grace_period"])
    confidence: float = renamed(_HOEFFDING["delta"], default=0.001)
    learning_rate: float = real(0.0125, above=0.0, help="factor of every step")
    percentage_of_features: int = integer(75, most=100, help="of the features, that a tree looks at")
    random_state: Any = None
