"""A method of the catalogue made small, and what it is tried on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.conformance import blame, samples
from boostrun.data.source import ArraySource
from boostrun.methods.declaration import Method, obtain

KINDS = ("codes", "values", "products", "stumps", "anchors")  # of features: the first that it learns from is tried
_SMALL = {"r": 30, "q": 30, "n": 20, "M": 20}  # what a check can afford and learn with; other budgets are at most 10


def small_budget(method: Method, given: Mapping[str, int]) -> dict[str, int]:
    """A budget that a check can afford, but for what is ``given``."""
    budget: dict[str, int] = {}
    for key, default in method.budget_defaults.items():
        usual = budget[default] if isinstance(default, str) else min(default, _SMALL.get(key, 10))
        budget[key] = given.get(key, usual)
    return budget


class Subject:
    """The method ``name`` of the catalogue with the keys ``values`` and a ``budget``.

    Attributes: ``X`` (120, 6), codes or values as it declares, and ``y``, three classes that lie well apart; ``table``,
    the same as an evaluation sees it. ``follows``: it learns from streams alone, example by example.
    """

    def __init__(self, name: str, values: Mapping[str, Any], budget: Mapping[str, int]):
        self.name, self.values, self.budget = name, dict(values), dict(budget)
        self.method = catalogue.methods()[name]
        self.cls = obtain(self.method.target)
        self.own = blame.files_of(self.method.target)
        kinds = [kind for kind in KINDS if kind in self.method.inputs]
        self.follows = not kinds
        self.table = samples.table(kinds[0] if kinds else "values")
        self.X, self.y = self.table.inputs("train"), self.table.labels("train")

    @property
    def plain(self) -> tuple[str, dict[str, Any], dict[str, int]]:
        """What it is made of: another process makes the same."""
        return self.name, self.values, self.budget

    def make(self, seed: int = 0) -> Any:
        """A new estimator, as the runner makes it."""
        return self.method.make(self.values, self.budget, {"random_state": seed, "n_jobs": 1})

    def along_streams(self) -> Subject:
        """The same, trained along a stream of the same samples."""
        other = Subject(*self.plain)
        other.follows = True
        return other

    def source(self, seed: int, kind: type[ArraySource] = ArraySource) -> ArraySource:
        """The training samples as a source, as the runner has it."""
        made = self.table.source(np.random.SeedSequence(seed))
        if kind is not ArraySource:
            watched = kind(made.samples, made.labels, made.seed, columns=made.columns)
            watched.families = made.families
            return watched
        return made

    def train(self, model: Any, seed: int = 0) -> Any:
        """Fit from a Filter where it can draw from one, as the runner does, along a stream, or to the arrays."""
        if self.follows:
            model.test_then_train(self.X, self.y, np.unique(self.y))
        elif callable(getattr(model, "fit_source", None)):
            model.fit_source(self.source(seed))
        else:
            model.fit(self.X, self.y)
        return model

    def trained(self, seed: int = 0) -> Any:
        """One that is trained as the runner trains it."""
        return self.train(self.make(seed), seed)


def answers(model: Any, X: np.ndarray) -> np.ndarray:
    """What it says of X: the finest there is, scores before labels."""
    for name in ("decision_function", "predict_proba"):
        scores = getattr(model, name, None)  # not a Protocol: scikit-learn's have one for some parameters only
        if scores is not None:
            return np.asarray(scores(X))
    return np.asarray(model.predict(X))
