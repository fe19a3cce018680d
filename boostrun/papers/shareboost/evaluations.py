"""Evaluations: models with shared features, measured along their whole path; the pool of a table's training part."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from boostrun.evaluation import Evaluation, Result, Seeds
from boostrun.evaluation.staged import TARGETS, accuracy_pct, by_features, errors, metrics_of, wrong
from boostrun.papers.shareboost.coded import CodedPool
from boostrun.papers.shareboost.model import cost_of_all_cells, cost_with_patches_once, template_costs, template_names
from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.papers.shareboost.pools import DensePool, Pool, ProductPool
from boostrun.papers.shareboost.stumps import BinnedStumpPool

NUMBERS = frozenset({"values", "products", "anchors"})  # kinds of features that are not codes
_SEED = 20111212  # draws the samples that pieces are scored on


def pool_of(data, constant: bool = False) -> Pool:
    """The candidates on the training part of a table; ``constant``: stumps include the constant."""
    kind = data.kind
    if kind == "values":
        return DensePool(np.array(data.values("train")))
    if kind == "products":
        return ProductPool(np.array(data.values("train")), data.meta["features"]["scale"])
    if kind == "stumps":
        return BinnedStumpPool(data.codes("train"), constant=constant)
    fitted = data.fitted()
    if kind == "anchors":
        points = np.array(data.values("train"))
        width, count = points.shape[1], data.meta["features"]["score_samples"]
        rows = None
        if count is not None and count < len(points):
            rows = np.sort(np.random.default_rng(_SEED).choice(len(points), count, replace=False))
        return PiecewisePool(points, fitted["anchors"], fitted["radii"], np.zeros(width), np.eye(width), rows)
    if "filters" in fitted:
        return CodedPool(data.codes("train"), template_costs(fitted), template_names(fitted))
    return CodedPool(data.codes("train"))


def samples_of(data, split: str) -> np.ndarray:
    """(n, d) samples of one part, as the models of :func:`pool_of` take them; codes are a view of the table."""
    return data.values(split) if data.kind in NUMBERS else data.codes(split).T


class Clock(NamedTuple):
    """Times at which a trial began, its candidates were ready, and it was trained."""

    begun: float
    prepared: float
    trained: float

    def cost(self, **more: float) -> dict[str, float]:
        """Seconds of each part, testing until now included, and ``more``."""
        return {
            "train_seconds": self.trained - self.prepared,
            "prepare_seconds": self.prepared - self.begun,
            **more,
            "test_seconds": time.perf_counter() - self.trained,
        }


class PoolPath(Evaluation):
    """Base for estimators with ``fit_pool(pool, y)``."""

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile by training ``small`` on the candidates of ``data``, so that types and layouts are the same.

        The code for large data is compiled too, because ``data`` may be a small rehearsal.
        """
        pool = self.pool(small, data)
        pool.large_from = 0
        small.fit_pool(pool, data.labels("train"))

    def pool(self, model: Any, data: Any) -> Pool:
        """The candidates of a trial."""
        return pool_of(data)

    def train(self, model: Any, data: Any) -> Clock:
        """Fit ``model`` to the training part of ``data``."""
        begun = time.perf_counter()
        labels, pool = data.labels("train"), self.pool(model, data)
        prepared = time.perf_counter()
        model.fit_pool(pool, labels)
        return Clock(begun, prepared, time.perf_counter())


def final_values(curve: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The curve's last values of ``names``."""
    return {name: curve[name][-1] for name in names}


class SharePath(PoolPath):
    """Every predictor of ShareBoost's path, scored on the test part.

    For each number T of features (or groups) the curve holds test error and accuracy, training loss, gradient score of
    the feature taken, non-zero columns, multiply-adds of a prediction, cumulative seconds of selection and
    optimisation, and the inner solver's residual. A path that ends before the requested T (no loss or no candidate
    left) keeps its last point. The curve also holds ``selected``, the features in order; ``weights``, the last W_T, a
    row for each column; and ``misclassified``, [number, predicted class, true class] of each error of the last
    predictor. Metrics are those of the last predictor, and the first T with a test error below 1 %, if any.
    """

    def pool(self, model: Any, data: Any) -> Pool:
        """The candidates; stumps include the constant, unless ``bias`` says otherwise."""
        return pool_of(data, constant=model.bias in ("auto", "pool"))

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` and score every predictor of its path; ``seeds`` are not used."""
        clock = self.train(model, data)
        truth, samples, known = data.labels("test"), samples_of(data, "test"), len(data.classes)
        found, predicted = errors(model.model_.staged_scores(samples), truth, known)
        path = {"test_error_pct": found, "test_accuracy_pct": [100.0 - error for error in found], **_by_round(model)}
        curve = by_features(range(1, len(found) + 1), path, upto=model.n_features)
        curve |= {"selected": model.selected_.tolist(), "misclassified": wrong(predicted, truth)}
        if (model.model_.widths == 1).all():
            curve["weights"] = model.path_[-1].tolist()
        metrics = _metrics(model, data, curve)
        cost = clock.cost(**final_values(curve, "select_seconds", "optimise_seconds"))
        # rounds from a checkpoint took their seconds in an earlier run
        cost["train_seconds"] = max(cost["train_seconds"], cost["select_seconds"] + cost["optimise_seconds"])
        return {"metrics": metrics, "cost": cost, "curve": curve}


def _by_round(model: Any) -> dict[str, list]:
    path = model.model_
    select, optimise = np.cumsum(model.seconds_select_), np.cumsum(model.seconds_optimise_)
    curve = {
        "train_loss": model.train_loss_, "score": model.scores_, "nonzero_columns": path.nonzero_columns,
        "multiply_adds": path.multiply_adds, "train_seconds": select + optimise, "select_seconds": select,
        "optimise_seconds": optimise, "inner_residual": model.inner_residual_,
        "inner_iterations": model.inner_iterations_, "candidates_scored": model.scored_, "saturated": model.saturated_,
    }  # fmt: skip
    return {name: values.tolist() for name, values in curve.items()}


def _metrics(model: Any, data: Any, curve: dict[str, Any]) -> dict[str, float]:
    metrics = metrics_of(curve) | final_values(curve, "train_loss", "nonzero_columns", "multiply_adds")
    metrics |= {"features": len(model.selected_), "test_errors": len(curve["misclassified"])}
    below = [t for t, error in zip(curve["T"], curve["test_error_pct"]) if error < 1.0]
    if below:
        metrics["rounds_to_pass_below_1pct"] = below[0]
    fitted = data.fitted()
    if "filters" in fitted:
        weights = model.model_.n_classes * len(model.selected_)
        metrics["multiply_adds_patches_once"] = cost_with_patches_once(fitted, model.selected_) + weights
        metrics["multiply_adds_all_cells"] = cost_of_all_cells(fitted, model.selected_) + weights
    return metrics


class OvrPath(PoolPath):
    """Every number of features a class, scored on the test part.

    The curve's T is the number of different features over all classes; each T has the last point that uses no more.
    ``per_class`` and ``summed`` are the features a class and their sum. Targets are reported in both counts.
    """

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` and score it for every number of features a class; ``seeds`` are not used."""
        clock = self.train(model, data)
        staged = model.model_.staged_scores(samples_of(data, "test"))
        select, optimise = np.cumsum(model.seconds_select_), np.cumsum(model.seconds_optimise_)
        path = {
            "test_error_pct": errors(staged, data.labels("test"), len(data.classes))[0],
            "train_loss": model.train_loss_.tolist(),
            "multiply_adds": model.model_.multiply_adds.tolist(),
            "select_seconds": select.tolist(),
            "optimise_seconds": optimise.tolist(),
            "train_seconds": (select + optimise).tolist(),
            "summed": model.n_sum_.tolist(),
            "per_class": list(range(1, model.model_.n_rounds + 1)),
        }
        curve = by_features(model.n_union_, path)
        metrics = metrics_of(curve) | final_values(curve, "train_loss", "multiply_adds", "summed")
        metrics["features"] = int(model.n_union_[-1])
        for target in TARGETS:
            reached = [count for count, error in zip(path["summed"], path["test_error_pct"]) if error <= target]
            if reached:
                metrics[f"summed_features_to_{target}_pct"] = reached[0]
        cost = clock.cost(**final_values(curve, "select_seconds", "optimise_seconds"))
        return {"metrics": metrics, "cost": cost, "curve": curve}


class NormPath(PoolPath):
    """Every point of the mixed norm's path, scored on the test part.

    The curve's T is the number of non-zero columns. ``path`` holds the points themselves: columns, lambda, training
    loss, certificate (a bound of the objective's distance from its minimum, as a share of it) and test error; with
    ``debias`` also the test error of the refitted weights.
    """

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` and score every point of its path; ``seeds`` are not used."""
        clock = self.train(model, data)
        truth, samples, known = data.labels("test"), samples_of(data, "test"), len(data.classes)
        path = {
            "test_error_pct": errors(model.model_.staged_scores(samples), truth, known)[0],
            "train_loss": model.train_loss_.tolist(),
            "train_seconds": np.cumsum(model.seconds_).tolist(),
            "multiply_adds": model.model_.multiply_adds.tolist(),
            "lambda": model.lambdas_.tolist(),
            "certificate": (model.gap_ / model.objective_).tolist(),
        }
        if model.debias:
            path["test_error_pct_debiased"] = errors(model.model_.staged_scores(samples, True), truth, known)[0]
        curve: dict[str, Any] = by_features(model.n_columns_, path, model.max_columns or 0)
        metrics = metrics_of(curve) | {"train_loss": curve["train_loss"][-1], "certificate": max(path["certificate"])}
        metrics["features"] = int(model.n_columns_[-1])
        curve["path"] = {"columns": model.n_columns_.tolist(), **path}
        return {"metrics": metrics, "cost": clock.cost(), "curve": curve}


class JointPath(Evaluation):
    """Every round of JointBoost, scored on the test part.

    The curve's T is the number of different (feature, threshold) used; each T has the last round that uses no more,
    which ``rounds`` names.
    """

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile by training ``small`` on ``data``."""
        small.fit(data.samples("train"), data.labels("train"))

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` to the codes of the training part and score every round; ``seeds`` are not used."""
        samples, labels = data.samples("train"), data.labels("train")
        begun = time.perf_counter()
        model.fit(samples, labels)
        trained = time.perf_counter()
        staged = model.stumps_.staged_decision(data.samples("test"))
        path = {
            "test_error_pct": errors(staged, data.labels("test"), len(data.classes))[0],
            "log10_loss": model.staged_log10_loss_.tolist(),
            "select_seconds": np.cumsum(model.seconds_select_).tolist(),
            "optimise_seconds": np.cumsum(model.seconds_optimise_).tolist(),
            "train_seconds": np.cumsum(model.seconds_select_ + model.seconds_optimise_).tolist(),
            "rounds": list(range(1, model.rounds + 1)),
        }
        curve = by_features(model.n_used_, path, upto=model.rounds)
        metrics = metrics_of(curve) | {"log10_loss": curve["log10_loss"][-1], "features": int(model.n_used_[-1])}
        cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
        cost |= final_values(curve, "select_seconds", "optimise_seconds")
        return {"metrics": metrics, "cost": cost, "curve": curve}


class Whole(Evaluation):
    """Test error, number of errors and multiply-adds of a prediction, for classifiers with ``multiply_adds_``.

    The curve holds ``misclassified``, as ShareBoost's does.
    """

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` to the values (or codes) of the training part, and test it; ``seeds`` are not used."""
        read = data.values if data.kind in NUMBERS else data.samples
        train, test = read("train"), read("test")
        begun = time.perf_counter()
        model.fit(train, data.labels("train"))
        trained = time.perf_counter()
        truth, predicted = data.labels("test"), model.predict(test)
        accuracy = accuracy_pct(predicted, truth)
        metrics = {"test_error_pct": 100.0 - accuracy, "test_accuracy_pct": accuracy}
        curve = {"misclassified": wrong(predicted, truth)}
        metrics |= {"test_errors": len(curve["misclassified"]), "multiply_adds": int(model.multiply_adds_)}
        cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
        return {"metrics": metrics | self.extra(model), "cost": cost, "curve": curve}

    def extra(self, model: Any) -> dict[str, float]:
        """Further metrics of a subclass."""
        return {}


class Machines(Whole):
    """Kernel machines: also the chosen C and gamma, ``support_vectors`` of any machine and ``support_sum`` over all."""

    def extra(self, model: Any) -> dict[str, float]:
        return {
            "support_vectors": int(model.n_support_union_),
            "support_sum": int(model.n_support_sum_),
            "C": float(model.C_),
            "gamma": float(model.gamma_),
        }
