"""Copies of an object of river or scikit-learn as members of online ensembles.

The functions have the names of those in :mod:`.kernels.incremental`; the loops that call them run as Python.
"""

from __future__ import annotations

import copy
import inspect
import math
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.scikit_learn import clone

_SEEDS = 2**31 - 1

__all__ = ["Copies", "answer", "forget", "probabilities", "see", "train", "winner"]


def winner(votes: np.ndarray) -> int:
    """Class with the most votes (K,). Ties go to the second of two classes, else to the first."""
    return int(votes[1] >= votes[0]) if len(votes) == 2 else int(votes.argmax())


class Copies:
    """``count`` untrained copies of ``model``, which itself is not changed.

    ``model`` has ``learn_one`` and ``predict_one`` (river) or ``partial_fit`` and ``predict`` (scikit-learn).
    ``weight`` (M, K) float64 is the weight of each class that each copy has learnt. An object without weights learns an
    example as often as its weight says, which must be a whole number. ``rng`` seeds the copies of an object whose seed
    is None.
    """

    def __init__(self, model: Any, weight: np.ndarray, models: list, rng: np.random.Generator):
        self.model, self.weight, self.models, self.rng = model, weight, models, rng

    @classmethod
    def fresh(cls, model: Any, count: int, n_classes: int, rng: np.random.Generator) -> Copies:
        models = [_untrained(model, int(rng.integers(_SEEDS))) for _ in range(count)]
        return cls(model, np.zeros((count, n_classes)), models, rng)

    def grown(self, n_classes: int) -> Copies:
        """With room for more classes. Objects of scikit-learn, which must know all classes from the start, start
        again."""
        wider = Copies.fresh(self.model, len(self.weight), n_classes, self.rng)
        if hasattr(self.model, "learn_one"):
            wider.weight[:, : self.weight.shape[1]] = self.weight
            wider.models = self.models
        return wider

    def train(self, j: int, x: np.ndarray, y: int, weight: float) -> None:
        self.weight[j, y] += weight
        model, rivers = self.models[j], hasattr(self.model, "learn_one")
        learn = model.learn_one if rivers else model.partial_fit
        takes = "w" if rivers else "sample_weight"
        weighted = takes in inspect.signature(learn).parameters
        if not weighted and weight != int(weight):
            raise BoostrunError(
                f"{type(self.model).__name__} takes no weights, but this ensemble uses the weight {weight:g}"
            )
        for _ in range(1 if weighted else int(weight)):
            if rivers:
                learn(_named(x), int(y), **({"w": weight} if weighted else {}))
            else:
                more = {"sample_weight": np.array([weight])} if weighted else {}
                learn(x[None], np.array([y]), classes=np.arange(self.weight.shape[1]), **more)

    def met(self, j: int) -> bool:
        return bool(self.weight[j].any())

    def answer(self, j: int, x: np.ndarray) -> int:
        """The predicted class; before the first example the second of two classes, else the first."""
        nothing = int(self.weight.shape[1] == 2)
        if not self.met(j):
            return nothing
        if hasattr(self.model, "predict_one"):
            said = self.models[j].predict_one(_named(x))
            return nothing if said is None else int(said)
        return int(self.models[j].predict(x[None])[0])

    def probabilities(self, j: int, x: np.ndarray, out: np.ndarray) -> None:
        out[:] = 0.0
        if not self.met(j):
            return
        if hasattr(self.model, "predict_proba_one"):
            for c, share in self.models[j].predict_proba_one(_named(x)).items():
                out[int(c)] = share
        elif hasattr(self.models[j], "predict_proba"):
            out[:] = self.models[j].predict_proba(x[None])[0]
        else:
            out[self.answer(j, x)] = 1.0


def see(spread, x, share) -> None:
    """Objects do not use the features' spread."""


def train(learners: Copies, j, x, y, weight, floor, rule) -> None:
    """Train copy j on the row x (d,) of class y with a weight; ``floor`` and ``rule`` are unused."""
    learners.train(j, x, y, weight)


def answer(learners: Copies, j, x, rule) -> int:
    """Class code of the row x (d,) by copy j."""
    return learners.answer(j, x)


def probabilities(learners: Copies, j, x, rule, out) -> None:
    """Probabilities of the classes of the row x (d,) by copy j, into ``out`` (K,)."""
    learners.probabilities(j, x, out)


def forget(learners: Copies, j) -> None:
    """Replace copy j by an untrained one without weight."""
    learners.models[j] = _untrained(learners.model, int(learners.rng.integers(_SEEDS)))
    learners.weight[j] = 0.0


def _untrained(model: Any, seed: int) -> Any:
    """An untrained copy; ``seed`` replaces a seed that is None."""
    if hasattr(model, "learn_one"):
        copied = model.clone() if hasattr(model, "clone") else copy.deepcopy(model)
        asked: dict[str, Any] = copied._get_params() if hasattr(copied, "_get_params") else {}
        return copied.clone({"seed": seed}) if asked.get("seed", 0) is None else copied
    copied = clone(model)
    names = [name for name, value in copied.get_params().items() if value is None]
    seeds = {name: seed for name in names if name.rpartition("__")[2] == "random_state"}
    return copied.set_params(**seeds) if seeds else copied


def _named(x: np.ndarray) -> dict[int, float]:
    """The features of an example by their places, without the missing ones."""
    return {place: value for place, value in enumerate(x.tolist()) if not math.isnan(value)}
