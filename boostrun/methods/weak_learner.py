"""The seam behind a loop of boosting: what finds weak hypotheses, and how the ensemble keeps them.

A weak learner says how a hypothesis is found; a hypothesis is a NamedTuple of numbers and arrays that votes when it is
called. Scores, saving and loading follow. A tree of depth 2, which asks one stump which of two others votes:

>>> from typing import NamedTuple
>>> from boostrun.methods.stump import find_stump
>>> class Tree(NamedTuple):
...     stumps: np.ndarray  # (3, 3): feature, threshold and polarity of the root, the stump below it, the one above
...     def __call__(self, samples):
...         above = [samples[:, int(feature)] >= threshold for feature, threshold, _ in self.stumps]
...         below, over = (np.where(above[k], 1.0, -1.0) * self.stumps[k, 2] for k in (1, 2))
...         return np.where(above[0], over, below)
>>> class Depth2(WeakLearner):
...     def find(self, samples, signed_weights):
...         root, _ = find_stump(samples, signed_weights)
...         above = samples[:, root.feature] >= root.threshold
...         halves = (find_stump(samples, signed_weights * half)[0] for half in (~above, above))
...         return Tree(np.array([root, *halves], float))

>>> from boostrun import ReservoirClassifier
>>> X = np.random.default_rng(0).random((800, 4))
>>> y = (X[:, 0] > 0.5) ^ (X[:, 2] > 0.4)  # no stump tells these apart
>>> model = ReservoirClassifier(weak_learner=Depth2(), reservoir_size=60, n_estimators=30, random_state=0).fit(X, y)
>>> bool(model.score(X, y) > 0.85), type(model.ensemble_).__name__
(True, 'HypothesisEnsemble')
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.binning import Binner


class WeakLearner(ABC):
    """Base of weak learners: ``find`` is all that one needs; the other methods may be overridden to be quicker.

    Attributes
    ----------
    codes : bool
        Whether real values are binned before they are looked at: samples are then uint8 codes. 8-bit data are their
        own codes either way.
    whole_steps : bool
        Whether votes are real numbers that say themselves how far to step, as the leaves of a tree do: no rule for a
        coefficient is asked then, and shrinkage alone multiplies them. Otherwise votes are -1.0 and +1.0.
    """

    codes: bool = True
    whole_steps: bool = False

    @abstractmethod
    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Any:
        """A hypothesis h with a large edge sum_i w_i y_i h(x_i), h(x) = -1.0 or +1.0.

        Parameters
        ----------
        samples : (n, d) array
        signed_weights : (n,) float64, w_i y_i; weights may be negative.

        Returns a NamedTuple of numbers and arrays, of the same shapes each time, with ``h(samples) -> (n,) float64``.
        """

    def find_among(self, samples: np.ndarray, rows: np.ndarray, signed_weights: np.ndarray) -> Any:
        """The hypothesis for some ``rows`` (n,) of ``samples`` (m, d), and their weights (n,)."""
        return self.find(samples[rows], signed_weights)

    def votes(self, hypothesis: Any, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Votes (n,) float64 for some ``rows`` (n,) of ``samples`` (m, d), -1.0 and +1.0 but for whole steps."""
        votes = np.asarray(hypothesis(samples[rows]), np.float64)
        if votes.shape != rows.shape:
            raise BoostrunError(
                f"{type(hypothesis).__name__} gave votes of the shape {votes.shape} for {len(rows)} samples"
            )
        return votes

    def step(self, rule: Callable, agreement: np.ndarray, margins: np.ndarray, weights: np.ndarray, loss: Any) -> float:
        """How far to go along a hypothesis, before shrinkage: by the ``rule``, or 1 where votes are whole steps.

        ``agreement`` (n,) = y_i h(x_i), ``margins`` (n,) = y_i F(x_i) and ``weights`` (n,) are those of the samples
        that it was found on.
        """
        return 1.0 if self.whole_steps else rule(agreement, margins, weights, loss)

    def of_columns(self, columns: np.ndarray) -> Callable | None:
        """A search on all samples of feature-major codes ``columns`` (d, n), which may learn once what never changes.

        It is called with signed weights (n,), and returns a hypothesis and its votes (n,) float64. None where this
        learner has no such search, and :meth:`find` is asked.
        """
        return None

    def idle(self, samples: np.ndarray) -> Any:
        """A hypothesis that fills rounds in which nothing is learnt, with a coefficient of 0; ``samples`` are some."""
        return self.find(samples[:1], np.zeros(1))

    def members(self) -> Members:
        """The hypotheses of one binary problem: none yet."""
        return Members(self)

    def ensemble(self, problems: Sequence[Sequence[tuple[Any, float]]], binner: Binner | None) -> Any:
        """The ensemble of K lists of (hypothesis, coefficient), all of one length T.

        ``binner`` made the codes that hypotheses look at; None where they look at values as they are. What is returned
        has ``decision(samples)``, ``staged_decision(columns, stages)``, ``n_rounds``, ``n_problems``, ``average``,
        ``save`` and ``load`` as :class:`boostrun.methods.ensemble.StumpEnsemble` has them.
        """
        from boostrun.methods.hypothesis_ensemble import HypothesisEnsemble

        return HypothesisEnsemble.of(problems, binner)


class Members:
    """The hypotheses of one binary problem as they come: ``learners``, a list of (hypothesis, coefficient)."""

    def __init__(self, learner: WeakLearner):
        self.learner = learner
        self.learners: list[tuple[Any, float]] = []

    def add(self, hypothesis: Any, step: float) -> None:
        """One more; raises BoostrunError where it is no NamedTuple."""
        if not isinstance(hypothesis, tuple) or not getattr(hypothesis, "_fields", ()):
            raise BoostrunError(
                f"{type(self.learner).__name__} found a {type(hypothesis).__name__}: a hypothesis is a NamedTuple of "
                "numbers and arrays"
            )
        self.learners.append((hypothesis, step))

    def add_scores(self, samples: np.ndarray, rows: np.ndarray, since: int, scores: np.ndarray) -> None:
        """``scores[rows]`` += step times vote, of every hypothesis from number ``since`` on."""
        for hypothesis, step in self.learners[since:]:
            scores[rows] += step * self.learner.votes(hypothesis, samples, rows)


class _Found(WeakLearner):
    """A person's own object that has ``find``, and nothing of the rest."""

    def __init__(self, found: Any):
        self.found = found
        self.codes = bool(getattr(found, "codes", True))
        self.whole_steps = bool(getattr(found, "whole_steps", False))

    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Any:
        return self.found.find(samples, signed_weights)


def as_weak_learner(found: Any) -> WeakLearner:
    """An object with ``find(samples, signed_weights)`` as a :class:`WeakLearner`, which it may be already."""
    return found if isinstance(found, WeakLearner) else _Found(found)
