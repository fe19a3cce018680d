"""One-vs-rest scores and labels, and a boosted ensemble of any hypotheses that consist of numbers and arrays."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods import archive
from boostrun.methods.archive import Array
from boostrun.methods.weak_learner import Binner


def problems(classes: np.ndarray) -> list:
    """The positive class of each binary problem: every class, or only the second of two.

    Raises BoostrunError if there is only one class.

    >>> problems(np.array(["a", "b"]))
    ['b']
    >>> problems(np.array([0, 1, 2]))
    [0, 1, 2]
    """
    if len(classes) < 2:
        raise BoostrunError(f"the labels hold only one class, {classes.tolist()[0]!r}; two are needed to tell apart")
    positives = list(classes) if len(classes) > 2 else [classes[1]]
    return [p.item() if isinstance(p, np.generic) else p for p in positives]


def decision(scores: np.ndarray) -> np.ndarray:
    """Scores (K, n) in the shape of scikit-learn: (n,) for a single problem, (n, K) otherwise."""
    return scores[0] if len(scores) == 1 else scores.T


def predict(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Labels (n,) from scores (K, n): the sign of a single score (0 counts as positive), else the largest."""
    index = (scores[0] >= 0).astype(np.intp) if len(scores) == 1 else scores.argmax(axis=0)
    return classes[index]


FORMAT = "boostrun.HypothesisEnsemble/1"
_PREFIX = "hypothesis_"  # of the arrays' names in a file
# fields of a hypothesis with such names hold columns: a negative one would be read from the end
_COLUMNS = ("feature", "features", "column", "columns", "*_feature", "*_column")
_LAYOUT = {
    "kind": Array("text"),
    "coefficients": Array("float64", "rows T", values="summable"),
    f"{_PREFIX}*": Array("number", "rows T ..."),
    **{f"{_PREFIX}{name}": Array("number", "rows T ...", least=0, below="d", optional=True) for name in _COLUMNS},
    "edges": Array("float", "d E", values="infinite", order="rising", optional=True),
}


@dataclass
class HypothesisEnsemble:
    """F_k(x) = sum_t coefficients[k, t] h_kt(x), where h_kt is a ``kind`` of the entries (k, t) of the arrays.

    Attributes
    ----------
    kind : the NamedTuple class of the hypotheses.
    arrays : field -> (K, T, ...) array; K = 1 for two classes, otherwise one row for each class.
    coefficients : (K, T) float64
    binner : makes the codes that hypotheses look at; None if they look at raw values.
    """

    kind: Callable[..., Any]
    arrays: dict[str, np.ndarray]
    coefficients: np.ndarray
    binner: Binner | None = None

    @classmethod
    def of(cls, problems: Sequence[Sequence[tuple[Any, float]]], binner: Binner | None = None) -> HypothesisEnsemble:
        """From K lists of (hypothesis, coefficient), all of length T >= 1.

        Raises BoostrunError if hypotheses differ in kind or in the shapes of their arrays, or hold objects.
        """
        kind = type(problems[0][0][0])
        arrays = {}
        for name in kind._fields:
            try:
                arrays[name] = np.array([[np.asarray(getattr(h, name)) for h, _ in learners] for learners in problems])
            except (ValueError, AttributeError):
                arrays[name] = np.empty(0, object)
            if arrays[name].dtype.kind not in "biuf":
                raise BoostrunError(f"{kind.__name__}.{name} must be numbers, of the same shape in every hypothesis")
        return cls(kind, arrays, np.array([[step for _, step in learners] for learners in problems]), binner)

    @property
    def n_problems(self) -> int:
        """K, the number of score rows."""
        return self.coefficients.shape[0]

    @property
    def n_rounds(self) -> int:
        """T, the number of hypotheses for each row."""
        return self.coefficients.shape[1]

    def hypothesis(self, k: int, t: int) -> Any:
        """The hypothesis h_kt."""
        return self.kind(*(array[k, t] for array in self.arrays.values()))

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 for ``samples`` (n, d); BoostrunError if a hypothesis cannot vote on them."""
        *_, scores = self._staged(samples, [self.n_rounds])
        return scores

    def staged_decision(self, columns: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield scores (K, n) after each number of rounds in ``stages`` (ascending), for ``columns`` (d, n).

        It is the same array each time, changed in place: copy it to keep it.
        """
        return self._staged(np.ascontiguousarray(columns.T), stages)

    def _staged(self, samples: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        codes = samples if self.binner is None else self.binner.encode(samples)
        scores, done = np.zeros((self.n_problems, len(codes))), 0
        for stage in stages:
            for k in range(self.n_problems):
                for t in range(done, stage):
                    scores[k] += self.coefficients[k, t] * self._votes(k, t, codes)
            done = stage
            yield scores

    def _votes(self, k: int, t: int, codes: np.ndarray) -> np.ndarray:
        """Votes (n,) of h_kt on ``codes`` (n, d); BoostrunError if it fails, or if a vote is not finite."""
        try:
            votes = np.asarray(self.hypothesis(k, t)(codes))
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise BoostrunError(f"{self.kind.__name__} number {t} of problem {k} cannot vote ({error})") from None
        if votes.shape != (len(codes),) or not np.isfinite(votes).all():
            raise BoostrunError(f"{self.kind.__name__} number {t} of problem {k} gave no finite vote for each sample")
        return votes

    @classmethod
    def average(cls, ensembles: Sequence[HypothesisEnsemble]) -> HypothesisEnsemble:
        """The ensemble whose scores are the mean of theirs; rounds are interleaved, all first rounds first.

        Raises BoostrunError if each has its own bins.
        """
        if any(ensemble.binner is not None for ensemble in ensembles):
            raise BoostrunError(
                "ensembles with bins of their own cannot be averaged: give 8-bit data, or a weak learner with codes = "
                "False"
            )

        def interleaved(arrays: Sequence[np.ndarray]) -> np.ndarray:
            stacked = np.stack(arrays, axis=2)
            return stacked.reshape(len(stacked), -1, *stacked.shape[3:])

        first = ensembles[0]
        arrays = {name: interleaved([ensemble.arrays[name] for ensemble in ensembles]) for name in first.arrays}
        coefficients = interleaved([ensemble.coefficients for ensemble in ensembles]) / len(ensembles)
        return cls(first.kind, arrays, coefficients)

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an .npz file without pickle, with ``extra`` arrays; returns its path."""
        kind = np.array(f"{self.kind.__module__}:{self.kind.__qualname__}")
        arrays = {f"{_PREFIX}{name}": array for name, array in self.arrays.items()}
        edges = {} if self.binner is None else {"edges": self.binner.edges}
        return archive.save(path, FORMAT, {"kind": kind, "coefficients": self.coefficients, **arrays, **edges} | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[HypothesisEnsemble, dict[str, np.ndarray]]:
        """The ensemble that :meth:`save` wrote, and the extra arrays. Never unpickles.

        The file names the class of the hypotheses. It must be imported already, or lie in the module of a weak learner
        of the catalogue: a file never causes another import. Raises BoostrunError if it is not found.
        """
        (kind, coefficients), extra = archive.load(path, FORMAT, ("kind", "coefficients"), _LAYOUT)
        arrays = {name.removeprefix(_PREFIX): extra.pop(name) for name in [*extra] if name.startswith(_PREFIX)}
        binner = Binner.of(extra.pop("edges")) if "edges" in extra else None
        return cls(_known(str(kind), path, [*arrays]), arrays, coefficients, binner), extra


def _known(where: str, path: str | Path, names: list[str]) -> Callable[..., Any]:
    """The hypothesis class "module:name", whose fields have these names."""
    from boostrun.config import catalogue

    module, _, qualname = where.partition(":")
    offered = {
        target.partition(":")[0] for paper in catalogue.papers().values() for target in paper.weak_learners.values()
    }
    if module in offered:
        importlib.import_module(module)
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    if not (isinstance(found, type) and issubclass(found, tuple) and list(getattr(found, "_fields", ())) == names):
        raise BoostrunError(f"{path} holds hypotheses of {where}, which is not there: import {module} first")
    return found
