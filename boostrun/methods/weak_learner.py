"""The seam behind a loop of boosting: what finds weak hypotheses, and how the ensemble keeps them.

A weak learner says how a hypothesis is found; a hypothesis is a NamedTuple of numbers and arrays that votes when it is
called. Scores, saving and loading follow. A tree of depth 2, which asks one stump which of two others votes:

>>> from typing import NamedTuple
>>> from boostrun.methods.stumps import find_stump
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
from scipy.special import expit

from boostrun.errors import BoostrunError
from boostrun.kernels.quantise import fit_edges, quantise


class Binner:
    """At most ``bins`` quantile bins a feature; ``code >= c`` exactly when ``value >= edges[feature, c - 1]``.

    >>> binner = Binner(np.array([[1.0], [2.0], [4.0]]), bins=256)
    >>> binner.encode(np.array([[0.0], [1.5], [9.0]]))
    array([[0],
           [1],
           [2]], dtype=uint8)
    >>> binner.thresholds(np.array([0, 0]), np.array([1, 2]))
    array([1.5, 3. ])
    """

    def __init__(self, values: np.ndarray, bins: int = 256):
        self.edges = np.empty((values.shape[1], bins - 1), values.dtype)
        fit_edges(np.sort(np.ascontiguousarray(values.T), axis=1), self.edges)

    @classmethod
    def of(cls, edges: np.ndarray) -> Binner:
        """Bins with known ``edges`` (d, bins - 1), in increasing order, filled up with infinity."""
        binner = cls.__new__(cls)
        binner.edges = edges
        return binner

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes (n, d) uint8 of values (n, d) of the dtype that the bins were fitted on. Cost O(n d log bins)."""
        codes = np.empty((values.shape[1], len(values)), np.uint8)
        quantise(np.ascontiguousarray(values), self.edges, codes)
        return np.ascontiguousarray(codes.T)

    def thresholds(self, features: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """The value at which a feature's code becomes ``codes`` (any shape); minus infinity for code 0."""
        codes = codes.astype(np.intp)
        values = self.edges[features, np.maximum(codes - 1, 0)].astype(np.float64)
        return np.where(codes > 0, values, -np.inf)


_LARGEST_EXPONENT = 500.0  # exp(500) is finite, and so are sums of many of them


class Logistic:
    """log(1 + exp(-m)) of the margin m = y F: LogitBoost's loss, the default of Lefakis & Fleuret (2013).

    >>> loss = Logistic()
    >>> float(loss.weights(np.array([0.0]))[0])
    0.5
    """

    name = "logistic"

    def value(self, margins: np.ndarray) -> np.ndarray:
        """Loss of each margin, (n,) float64; never overflows."""
        return np.logaddexp(0.0, -margins)

    def weights(self, margins: np.ndarray) -> np.ndarray:
        """Minus the derivative, w = 1 / (1 + exp(m)), (n,) float64 in [0, 1]."""
        return expit(-margins)

    def weight_ratio(self, margins: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """weights(moved) / weights(margins), (n,) float64, exact where both weights vanish."""
        return np.exp(np.logaddexp(0.0, margins) - np.logaddexp(0.0, moved))

    def bend(self, margins: np.ndarray) -> np.ndarray:
        """Second derivative over weight, 1 - w, (n,) float64 in [0, 1]."""
        return expit(margins)


class Exponential:
    """exp(-m): AdaBoost's loss; the paper found it unstable in a reservoir.

    Exponents are cut at 500, so that weights stay finite; a margin that low means the run has diverged already.
    """

    name = "exponential"

    def value(self, margins: np.ndarray) -> np.ndarray:
        """Loss of each margin, (n,) float64."""
        return np.exp(np.minimum(-margins, _LARGEST_EXPONENT))

    weights = value

    def weight_ratio(self, margins: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """weights(moved) / weights(margins), (n,) float64."""
        return np.exp(np.minimum(margins - moved, _LARGEST_EXPONENT))

    def bend(self, margins: np.ndarray) -> np.ndarray:
        """Second derivative over weight: 1 everywhere, (n,) float64."""
        return np.ones_like(margins)


LOSSES = {loss.name: loss for loss in (Logistic(), Exponential())}


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
        ``save`` and ``load`` as :class:`boostrun.methods.stumps.StumpEnsemble` has them.
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
