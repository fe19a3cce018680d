"""Boosted trees of LightGBM, XGBoost, CatBoost and scikit-learn, each with the budgets of :mod:`.forests`."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.rivals.forests import MoreTrees, Share, Trees, passes
from boostrun.rivals.keys import (
    CatBoostKeys,
    HistGradientKeys,
    LightGBMChunksKeys,
    LightGBMGossKeys,
    LightGBMKeys,
    LightGBMReuseKeys,
    XGBoostChunksKeys,
    XGBoostExternalKeys,
    XGBoostKeys,
)


class LightGBMClassifier(LightGBMKeys, Trees):
    """LightGBM's boosted trees, deterministic for a seed; its bytes are those of the text that it saves.

    Parameters
    ----------
    {parameters}
    """

    package = "lightgbm"

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        import lightgbm

        (n, d), k = X.shape, len(self.classes_)
        rows = self.columns_drawn is None  # with many columns every tree would copy them all, row by row
        parameters: dict[str, Any] = {
            "objective": "binary" if k == 2 else "multiclass", "num_class": 1 if k == 2 else k,
            "learning_rate": self.learning_rate, "num_leaves": leaves, "min_data_in_leaf": self.min_samples_leaf,
            "lambda_l2": self.l2, "feature_fraction": share.features / d, **self._sampling(share, n),
            **self._penalties(d), "seed": self._seed(), "num_threads": 1, "deterministic": True,
            "force_row_wise" if rows else "force_col_wise": True, "verbose": -1,
        }  # fmt: skip
        data = lightgbm.Dataset(X.astype(np.float32, copy=False), y, params=parameters)
        self.booster_ = lightgbm.train(parameters, data, share.rounds)

    def _sampling(self, share: Share, n: int) -> dict[str, Any]:
        """Parameters for the samples, of n, that a tree looks at."""
        return {"bagging_fraction": share.samples / n, "bagging_freq": int(share.samples < n)}

    def _penalties(self, d: int) -> dict[str, Any]:
        """Parameters for the cost of each of d features."""
        return {}

    def _evaluated(self, share: Share) -> int:
        return share.features * sum(map(_read, _listed(self.booster_.model_to_string(), "internal_count", "leaf_count",
                                                       "left_child", "right_child")))  # fmt: skip

    def _importances(self) -> np.ndarray:
        gain, splits = (self.booster_.feature_importance(kind) for kind in ("gain", "split"))
        return np.where(splits > 0, np.maximum(gain, np.finfo(float).tiny), 0.0)

    def _bytes(self, rounds: int) -> int:
        return len(self.booster_.model_to_string(num_iteration=rounds))

    def _cut(self, rounds: int) -> None:
        import lightgbm

        self.booster_ = lightgbm.Booster(model_str=self.booster_.model_to_string(num_iteration=rounds))

    @property
    def _most_leaves(self) -> int:
        return self.leaves

    @property
    def _smallest_bag(self) -> int:
        return 4 * self.min_samples_leaf

    def _features_of(self, d: int) -> int:
        return min(d, max(2, round(self.feature_fraction * d)))  # as the library rounds it

    def _scores(self, X: np.ndarray) -> np.ndarray:
        found = np.asarray(self.booster_.predict(self._chosen(X), num_threads=1))
        return np.column_stack([1.0 - found, found]) if found.ndim == 1 else found  # of two classes, the second

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.booster_.current_iteration()

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        X, done, total = self._chosen(X), 0, np.zeros(1)
        for count in rounds:
            more: Any = {"start_iteration": done, "num_iteration": count - done, "raw_score": True, "num_threads": 1}
            done, total = count, total + np.asarray(self.booster_.predict(X, **more))
            yield np.column_stack([-total, total]) if total.ndim == 1 else total


def _listed(text: str, *names: str) -> Iterator[list[list[int]]]:
    """For each tree in the text of a model, its lines of numbers with these names."""
    for tree in text.split("\nTree=")[1:]:
        lines = dict(line.partition("=")[::2] for line in tree.partition("\n\n")[0].splitlines())
        yield [[int(number) for number in lines.get(name, "").split()] for name in names]


def _read(tree: list[list[int]]) -> int:
    """The samples that were read for the histograms of a tree: the root's, and the smaller child's of each split.

    >>> _read([[10, 7], [3, 2, 5], [1, -2], [-1, -3]])
    15
    """
    internal, leaf, left, right = tree
    size = lambda child: internal[child] if child >= 0 else leaf[~child]  # noqa: E731
    return sum(internal[:1]) + sum(min(size(one), size(other)) for one, other in zip(left, right))


class LightGBMGossClassifier(LightGBMGossKeys, LightGBMClassifier):
    """LightGBM whose trees look at the samples of largest gradients, and at some of the others with a larger weight.

    The library looks at all samples in the first ``int(1 / learning_rate)`` rounds. A budget of evaluations reduces the
    features of a tree, down to the square root of all, then the number of rounds.

    Parameters
    ----------
    {parameters}
    """

    def _sampling(self, share: Share, n: int) -> dict[str, Any]:
        return {"data_sample_strategy": "goss", "top_rate": self.top_rate, "other_rate": self.other_rate}

    def _share(self, n: int, d: int) -> Share:
        features, rounds, sampled = self._features_of(d), self.n_estimators, math.ceil(self._sampled * n)
        if self.evaluations is None:
            return Share(rounds, sampled, features)
        whole = min(rounds, int(1.0 / self.learning_rate))  # rounds on all samples
        budget = self._budget / self._reads(n)
        few = min(features, max(2, round(math.sqrt(d))))
        features = min(features, max(few, int(budget / (whole * n + (rounds - whole) * sampled))))
        first = min(whole, int(budget / features / n))
        if first == 0:
            raise self._too_little(n * features * self._reads(n), Share(1, n, features))
        more = int((budget / features - whole * n) / sampled) if first == whole else 0
        return Share(first + min(rounds - whole, more), sampled, features)

    @property
    def _sampled(self) -> float:
        return self.top_rate + self.other_rate


class LightGBMReuseClassifier(LightGBMReuseKeys, LightGBMClassifier):
    """LightGBM whose splits cost, most of all the first one on a feature, so that small models reuse features.

    These are the library's penalties of cost-effective gradient boosting (Peter et al. 2017); both prices are keys.

    Parameters
    ----------
    {parameters}
    """

    def _penalties(self, d: int) -> dict[str, Any]:
        return {"cegb_penalty_feature_coupled": [self.feature_price] * d, "cegb_penalty_split": self.split_price}


_TRIALS = 10  # prices that are tried, each in a training
_SMALLEST = 1e-6  # the smallest price, relative to the largest gain of a split


class LightGBMPenaltyClassifier(LightGBMClassifier):
    """LightGBM with a price for the first split on a feature, the smallest found that keeps the budget of features.

    This is the coupled penalty of the library: the price is subtracted from the gain of a split until some tree has
    split on the feature. If a training without it uses more than ``features_used``, ten prices between a millionth of
    the largest gain and the largest gain are tried by bisection of their logarithms. The model with most features
    within the budget is kept.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    price_ : price of a feature, in the unit of gains; 0.0 if none was needed
    """

    def _grow(self, X: np.ndarray, y: np.ndarray) -> None:
        self.price_ = 0.0
        super()._grow(X, y)
        if self.features_used is None or self._used() <= self.features_used:
            return
        high = _largest_gain(self.booster_.model_to_string())
        low, most, best = _SMALLEST * high, -1, (0.0, self.booster_)
        for _ in range(_TRIALS):
            self.price_ = math.sqrt(low * high)
            super()._grow(X, y)
            if self._used() > self.features_used:
                low = self.price_
            else:
                high = self.price_
                if self._used() > most:
                    most, best = self._used(), (high, self.booster_)
        self.price_, self.booster_ = best

    def _used(self) -> int:
        return int(np.count_nonzero(self._importances()))

    def _penalties(self, d: int) -> dict[str, Any]:
        return {"cegb_penalty_feature_coupled": [self.price_] * d} if self.price_ else {}

    @property
    def _budget(self) -> float:
        return (self.evaluations or math.inf) / (1 if self.features_used is None else 1 + _TRIALS)


def _largest_gain(text: str) -> float:
    """The largest gain of all splits of a model.

    >>> _largest_gain("Tree=0\\nsplit_gain=3.5 12\\n\\nTree=1\\nsplit_gain=\\n")
    12.0
    """
    lines = [line.partition("=") for line in text.splitlines()]
    return max((float(gain) for name, _, gains in lines if name == "split_gain" for gain in gains.split()), default=0.0)


class XGBoostClassifier(XGBoostKeys, Trees):
    """XGBoost's boosted trees, deterministic for a seed; its bytes are those of the binary JSON that it saves.

    Parameters
    ----------
    {parameters}
    """

    package = "xgboost"
    leaf_bytes = 120

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        import xgboost

        (n, d), k = X.shape, len(self.classes_)
        parameters: dict[str, Any] = {
            "objective": "binary:logistic" if k == 2 else "multi:softprob", "learning_rate": self.learning_rate,
            "max_depth": self.depth, "max_leaves": leaves, "min_child_weight": self.min_weight_leaf,
            "lambda": self.l2, "colsample_bytree": (share.features + 0.5) / d if share.features < d else 1.0,
            "subsample": share.samples / n, "tree_method": "hist", "nthread": 1, "seed": self._seed(),
        }  # fmt: skip
        if k > 2:
            parameters["num_class"] = k
        data = xgboost.QuantileDMatrix(X.astype(np.float32, copy=False), y, nthread=1)
        self.booster_ = xgboost.train(parameters, data, share.rounds)

    def _trees(self) -> list[dict[str, Any]]:
        return json.loads(self.booster_.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]

    def _evaluated(self, share: Share) -> int:
        leaves = [tree["left_children"].count(-1) for tree in self._trees()]
        return round(share.features * share.samples * sum(map(passes, leaves)))

    def _importances(self) -> np.ndarray:
        gains = np.zeros(self.booster_.num_features())
        for tree in self._trees():
            splits = np.array(tree["left_children"]) >= 0
            gain = np.maximum(np.array(tree["loss_changes"]), np.finfo(float).tiny)
            np.add.at(gains, np.array(tree["split_indices"])[splits], gain[splits])
        return gains

    def _bytes(self, rounds: int) -> int:
        return len(self.booster_[:rounds].save_raw("ubj"))

    def _cut(self, rounds: int) -> None:
        self.booster_ = self.booster_[:rounds]

    @property
    def _most_leaves(self) -> int:
        return 2**self.depth

    def _features_of(self, d: int) -> int:
        return max(1, int(self.feature_fraction * d))  # as the library rounds it

    def _scores(self, X: np.ndarray) -> np.ndarray:
        found = self.booster_.inplace_predict(self._chosen(X).astype(np.float32)).astype(float)
        if found.ndim == 1:  # for two classes, that of the second
            return np.column_stack([1.0 - found, found])
        return found / found.sum(axis=1, keepdims=True)

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.booster_.num_boosted_rounds()

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        import xgboost

        data, done = xgboost.DMatrix(self._chosen(X).astype(np.float32), nthread=1), 0
        for count in rounds:
            total = self.booster_.predict(data, output_margin=True, iteration_range=(done, count))
            data.set_base_margin(total)
            done = count
            yield np.column_stack([-total, total]) if total.ndim == 1 else total


class CatBoostRivalClassifier(CatBoostKeys, Trees):
    """CatBoost's symmetric trees, deterministic for a seed; its bytes are those of the file that it saves.

    Parameters
    ----------
    {parameters}
    """

    package = "catboost"

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        import catboost

        n, d = X.shape
        parameters: dict[str, Any] = {"bootstrap_type": "Bernoulli", "subsample": share.samples / n}
        self.model_ = catboost.CatBoostClassifier(
            iterations=share.rounds, depth=int(np.log2(leaves or 2)), learning_rate=self.learning_rate,
            l2_leaf_reg=self.l2, rsm=share.features / d, random_seed=self._seed(), thread_count=1, verbose=False,
            allow_writing_files=False, **(parameters if share.samples < n else {}),
        ).fit(X.astype(np.float32), y)  # fmt: skip

    def _evaluated(self, share: Share) -> int:
        return share.features * share.samples * self.n_rounds_ * self.depth

    def _importances(self) -> np.ndarray:
        return np.asarray(self.model_.get_feature_importance())

    def _bytes(self, rounds: int) -> int:
        model = self.model_.copy()
        model.shrink(rounds)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            model.save_model(str(path), format="cbm")
            return path.stat().st_size

    def _cut(self, rounds: int) -> None:
        self.model_.shrink(rounds)

    def _reads(self, samples: int) -> float:
        return self.depth  # a level reads all samples, for all classes together

    @property
    def _trees_a_round(self) -> int:
        return 1

    @property
    def leaf_bytes(self) -> int:  # type: ignore[override]
        """A leaf has a value for each class."""
        return 8 * (1 if len(self.classes_) == 2 else len(self.classes_))

    @property
    def _most_leaves(self) -> int:
        return 2**self.depth

    def _features_of(self, d: int) -> int:
        return max(1, round(self.feature_fraction * d))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict_proba(self._chosen(X).astype(np.float32), thread_count=1)

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.model_.tree_count_

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        X, done, total = self._chosen(X).astype(np.float32), 0, np.zeros(1)
        for count in rounds:
            total = total + self.model_.predict(X, "RawFormulaVal", done, count, thread_count=1)
            done = count
            yield np.column_stack([-total, total]) if total.ndim == 1 else total


class HistGradientRivalClassifier(HistGradientKeys, Trees):
    """scikit-learn's HistGradientBoostingClassifier, deterministic for a seed; its bytes are those of its nodes.

    Parameters
    ----------
    {parameters}
    """

    package = "sklearn.ensemble"
    leaf_bytes = 112

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.model_ = HistGradientBoostingClassifier(
            learning_rate=self.learning_rate, max_iter=share.rounds, max_leaf_nodes=leaves,
            min_samples_leaf=self.min_samples_leaf, l2_regularization=self.l2, max_features=self.feature_fraction,
            early_stopping=False, random_state=self._seed(),
        ).fit(X, y)  # fmt: skip

    @property
    def _nodes(self) -> list[np.ndarray]:
        return [tree.nodes for trees in self.model_._predictors for tree in trees]

    def _evaluated(self, share: Share) -> int:
        return self.model_.n_features_in_ * sum(map(_read_bins, self._nodes))  # there are histograms of all features

    def _importances(self) -> np.ndarray:
        gains = np.zeros(self.model_.n_features_in_)
        for nodes in self._nodes:
            splits = nodes[nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"].astype(np.intp), np.maximum(splits["gain"], np.finfo(float).tiny))
        return gains

    def _bytes(self, rounds: int) -> int:
        return sum(tree.nodes.nbytes for trees in self.model_._predictors[:rounds] for tree in trees)

    def _cut(self, rounds: int) -> None:
        self.model_._predictors = self.model_._predictors[:rounds]

    @property
    def _most_leaves(self) -> int:
        return self.leaves

    def _features_of(self, d: int) -> int:
        return d

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict_proba(self._chosen(X))

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.model_.n_iter_

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        for count, scores in enumerate(self.model_.staged_predict_proba(self._chosen(X)), start=1):
            if count in rounds:
                yield scores


def _read_bins(nodes: np.ndarray) -> int:
    """Like :func:`_read`, for the nodes of scikit-learn."""
    splits = nodes[nodes["is_leaf"] == 0]
    count = nodes["count"].astype(np.int64)
    return int(count[0] + np.minimum(count[splits["left"]], count[splits["right"]]).sum())


# -- more rounds on fresh chunks


class LightGBMChunksClassifier(LightGBMChunksKeys, MoreTrees, LightGBMClassifier):
    """LightGBM that continues from its model (``init_model``) with some rounds on each fresh chunk.

    Parameters
    ----------
    {parameters}
    """

    def _begin(self) -> None:
        self.booster_: Any = None

    def _take(self, X: np.ndarray, y: np.ndarray, chunk: int) -> int:
        import lightgbm

        k = len(self.classes_)
        parameters: dict[str, Any] = {
            "objective": "binary" if k == 2 else "multiclass", "num_class": 1 if k == 2 else k,
            "learning_rate": self.learning_rate, "num_leaves": self.leaves,
            "min_data_in_leaf": max(1, min(self.min_samples_leaf, len(y) // 4)), "lambda_l2": self.l2,
            "feature_fraction": self._features_of(self._d) / self._d,
            "boost_from_average": False,  # a chunk may lack a class, which would never come back from minus infinity
            "seed": self._seed_of(chunk), "num_threads": 1, "deterministic": True, "force_row_wise": True,
            "verbose": -1,
        }  # fmt: skip
        data = lightgbm.Dataset(X.astype(np.float32, copy=False), y, params=parameters)
        self.booster_ = lightgbm.train(  # kept for training: otherwise the whole model is written as text each time
            parameters, data, self.rounds, init_model=self.booster_, keep_training_booster=True
        )
        return len(y)

    def _finish(self) -> None:
        self.booster_.free_dataset()
        super()._finish()


class XGBoostChunksClassifier(XGBoostChunksKeys, MoreTrees, XGBoostClassifier):
    """XGBoost that continues from its model with some rounds on each fresh chunk.

    The booster is updated in place, which gives the model of ``xgb_model`` without copying it each time.

    Parameters
    ----------
    {parameters}
    """

    def _begin(self) -> None:
        self.booster_: Any = None

    def _take(self, X: np.ndarray, y: np.ndarray, chunk: int) -> int:
        import xgboost

        # values, not bins, which earlier trees would read as values
        data = xgboost.DMatrix(X.astype(np.float32, copy=False), y, nthread=1)
        if self.booster_ is None:
            k, features = len(self.classes_), self._features_of(self._d)
            parameters: dict[str, Any] = {
                "objective": "binary:logistic" if k == 2 else "multi:softprob", "learning_rate": self.learning_rate,
                "max_depth": self.depth, "min_child_weight": self.min_weight_leaf, "lambda": self.l2,
                "colsample_bytree": (features + 0.5) / self._d if features < self._d else 1.0, "base_score": 0.5,
                "tree_method": "hist", "nthread": 1, "seed": self._first_seed, **({"num_class": k} if k > 2 else {}),
            }  # fmt: skip
            self.booster_ = xgboost.Booster(parameters, [data])
        for number in range(self.rounds):
            self.booster_.update(data, (chunk - 1) * self.rounds + number)
        return len(y)


# -- rows in files


class XGBoostExternalClassifier(XGBoostExternalKeys, XGBoostClassifier):
    """XGBoost on more rows than memory holds: it keeps their bins in files, and reads them again for each level.

    These are the library's pages of external memory. The rows are read three times, in batches: to count them, for the
    quantiles and for the bins. In memory the library keeps some of the pages, and for each row and class its label,
    score, gradients and node. The files take a byte for each value, and are removed after training.

    Parameters
    ----------
    {parameters}
    """

    @property
    def samples_held(self) -> int:  # type: ignore[override]
        """The samples of a batch."""
        return self.batch_size

    def refuse(self, n: int, d: int, k: int) -> None:
        """Nothing is refused: a batch may be larger than the data."""

    def _learn(self, source: Any) -> None:
        import xgboost

        self.classes_, n, d = source.class_labels(), len(source.labels), source.n_features
        k, features = len(self.classes_), self._features_of(d)
        if k < 2:
            raise BoostrunError("all samples are of one class: there is nothing to learn")
        parameters: dict[str, Any] = {
            "objective": "binary:logistic" if k == 2 else "multi:softprob", "learning_rate": self.learning_rate,
            "max_depth": self.depth, "min_child_weight": self.min_weight_leaf, "lambda": self.l2,
            "colsample_bytree": (features + 0.5) / d if features < d else 1.0, "tree_method": "hist", "nthread": 1,
            "seed": self._seed(), **({"num_class": k} if k > 2 else {}),
        }  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            batches = _batches(source, self.classes_, min(self.batch_size, n), Path(folder) / "bins")
            data = xgboost.ExtMemQuantileDMatrix(batches, nthread=1)
            self.booster_ = xgboost.train(parameters, data, self.n_estimators)
            del data
        self.peak_samples_held_, self.samples_drawn_ = batches.held, batches.drawn
        self.evaluations_ = self._evaluated(Share(self.n_estimators, n, features))
        self.columns_, self.n_features_used_ = None, int(np.count_nonzero(self._importances()))
        self.model_bytes_ = self._bytes(self.n_rounds_)


def _batches(source: Any, classes: np.ndarray, size: int, prefix: Path) -> Any:
    """The iterator that XGBoost asks for: each pass gives all samples of ``source`` in the same order."""
    import xgboost

    class Batches(xgboost.DataIter):
        def __init__(self) -> None:
            self.held = self.drawn = 0
            self.reset()
            super().__init__(cache_prefix=str(prefix), release_data=True)

        def reset(self) -> None:
            self._filter, self._left = source.open(capacity=size), len(source.labels)

        def next(self, input_data: Any) -> bool:
            count = min(size, self._left)
            if not count:
                return False
            X, y = self._filter.draw(count)
            input_data(data=X.astype(np.float32, copy=False), label=np.searchsorted(classes, y))
            self._filter.release(count)
            self._left -= count
            self.held, self.drawn = max(self.held, self._filter.peak_held), self.drawn + count
            return True

    return Batches()
