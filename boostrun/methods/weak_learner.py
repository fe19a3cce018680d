"""Weak learners: the objects that find the hypotheses of a boosting loop; and its losses and bins.

A weak learner defines how a hypothesis is found. A hypothesis is a NamedTuple of numbers and arrays that votes when it
is called. Nothing else is needed for scores, saving and loading. A tree of depth 2, in which one stump chooses which of
two others votes:

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


class Binner:
    """At most ``bins`` quantile bins for each feature; ``code >= c`` exactly if ``value >= edges[feature, c - 1]``.

    >>> binner = Binner(np.array([[1.0], [2.0], [4.0]]), bins=256)
    >>> binner.encode(np.array([[0.0], [1.5], [9.0]]))
    array([[0],
           [1],
           [2]], dtype=uint8)
    >>> binner.thresholds(np.array([0, 0]), np.array([1, 2]))
    array([1.5, 3. ])
    """

    def __init__(self, values: np.ndarray, bins: int = 256):
        from boostrun.kernels.stumps import fit_edges

        self.edges = np.empty((values.shape[1], bins - 1), values.dtype)
        fit_edges(np.sort(np.ascontiguousarray(values.T), axis=1), self.edges)

    @classmethod
    def of(cls, edges: np.ndarray) -> Binner:
        """Bins with known ``edges`` (d, bins - 1), in increasing order and padded with infinity."""
        binner = cls.__new__(cls)
        binner.edges = edges
        return binner

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes (n, d) uint8 of values (n, d), which have the dtype of the fit. Cost O(n d log bins)."""
        from boostrun.kernels.stumps import quantise

        codes = np.empty((values.shape[1], len(values)), np.uint8)
        quantise(np.ascontiguousarray(values), self.edges, codes)
        return np.ascontiguousarray(codes.T)

    def thresholds(self, features: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """The value at which a feature's code becomes ``codes`` (any shape); minus infinity for code 0."""
        codes = codes.astype(np.intp)
        values = self.edges[features, np.maximum(codes - 1, 0)].astype(np.float64)
        return np.where(codes > 0, values, -np.inf)


class RowBinner:
    """The bins of a :class:`Binner`, whose ``encode`` is in the digests of published records, for many chunks of rows.

    >>> RowBinner(Binner(np.array([[1.0], [2.0], [4.0]])).edges).encode(np.array([[0.0], [1.5], [9.0]])).ravel()
    array([0, 1, 2], dtype=uint8)
    """

    def __init__(self, edges: np.ndarray):
        from boostrun.kernels.stumps import cells_of

        self._cells = cells_of(edges)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """As :meth:`Binner.encode`, in a twentieth of its time."""
        from boostrun.kernels.stumps import quantise_rows

        return quantise_rows(np.ascontiguousarray(values), *self._cells)


_LARGEST_EXPONENT = 500.0  # exp(500) is finite, and so are sums of many of them


class Logistic:
    """log(1 + exp(-m)) of the margin m = y F: the loss of LogitBoost, the default of Lefakis & Fleuret (2013).

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
        """weights(moved) / weights(margins), (n,) float64, exact even if both weights underflow."""
        return np.exp(np.logaddexp(0.0, margins) - np.logaddexp(0.0, moved))

    def bend(self, margins: np.ndarray) -> np.ndarray:
        """Second derivative over weight, 1 - w, (n,) float64 in [0, 1]."""
        return expit(margins)


class Exponential:
    """exp(-m): the loss of AdaBoost, which the paper found unstable in a reservoir.

    Exponents are limited to 500, so that weights stay finite; with such a margin the run has diverged already.
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
    """Base of weak learners. Only ``find`` is required; other methods may be overridden for speed.

    Attributes
    ----------
    codes : bool
        Whether real values are binned first, so that samples are uint8 codes. 8-bit data are always their own codes.
    whole_steps : bool
        Whether votes are real numbers that include the length of the step, such as the leaves of a tree: then there is
        no rule for a coefficient, and only shrinkage multiplies them. Otherwise votes are -1.0 and +1.0.
    """

    codes: bool = True
    whole_steps: bool = False

    @abstractmethod
    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Any:
        """A hypothesis h with a large edge sum_i w_i y_i h(x_i), where h(x) is -1.0 or +1.0.

        Parameters
        ----------
        samples : (n, d) array
        signed_weights : (n,) float64, w_i y_i; weights may be negative.

        Returns a NamedTuple of numbers and arrays, of the same shapes in each call, with ``h(samples)`` (n,) float64.
        """

    def find_among(self, samples: np.ndarray, rows: np.ndarray, signed_weights: np.ndarray) -> Any:
        """A hypothesis for some ``rows`` (n,) of ``samples`` (m, d) and their weights (n,)."""
        return self.find(samples[rows], signed_weights)

    def votes(self, hypothesis: Any, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Votes (n,) float64 for some ``rows`` (n,) of ``samples`` (m, d): -1.0 and +1.0, or whole steps."""
        votes = np.asarray(hypothesis(samples[rows]), np.float64)
        if votes.shape != rows.shape:
            raise BoostrunError(
                f"{type(hypothesis).__name__} gave votes of the shape {votes.shape} for {len(rows)} samples"
            )
        return votes

    def step(self, rule: Callable, agreement: np.ndarray, margins: np.ndarray, weights: np.ndarray, loss: Any) -> float:
        """The coefficient of a hypothesis before shrinkage: from the ``rule``, or 1 if votes are whole steps.

        ``agreement`` (n,) = y_i h(x_i), ``margins`` (n,) = y_i F(x_i) and ``weights`` (n,) are those of the samples
        that it was found on.
        """
        return 1.0 if self.whole_steps else rule(agreement, margins, weights, loss)

    def of_columns(self, columns: np.ndarray) -> Callable | None:
        """A search on all samples of codes ``columns`` (d, n), which may compute once what never changes; or None.

        It is called with signed weights (n,), and returns a hypothesis and its votes (n,) float64. Without one the loop
        calls :meth:`find`.
        """
        return None

    def idle(self, samples: np.ndarray) -> Any:
        """A hypothesis for rounds in which nothing is learned; its coefficient is 0. ``samples`` are any samples."""
        return self.find(samples[:1], np.zeros(1))

    def members(self) -> Members:
        """An empty list of hypotheses for one binary problem."""
        return Members(self)

    def ensemble(self, problems: Sequence[Sequence[tuple[Any, float]]], binner: Binner | None) -> Any:
        """The ensemble of K lists of (hypothesis, coefficient), all of length T.

        ``binner`` made the codes that hypotheses look at; None if they look at raw values. The ensemble has
        ``decision(samples)``, ``staged_decision(columns, stages)``, ``n_rounds``, ``n_problems``, ``average``, ``save``
        and ``load``, see :class:`boostrun.methods.stumps.StumpEnsemble`.
        """
        from boostrun.methods.hypothesis_ensemble import HypothesisEnsemble

        return HypothesisEnsemble.of(problems, binner)


class Members:
    """The hypotheses of one binary problem in the order found: ``learners``, a list of (hypothesis, coefficient)."""

    def __init__(self, learner: WeakLearner):
        self.learner = learner
        self.learners: list[tuple[Any, float]] = []

    def add(self, hypothesis: Any, step: float) -> None:
        """Add a hypothesis; raises BoostrunError if it is not a NamedTuple."""
        if not isinstance(hypothesis, tuple) or not getattr(hypothesis, "_fields", ()):
            raise BoostrunError(
                f"{type(self.learner).__name__} found a {type(hypothesis).__name__}: a hypothesis is a NamedTuple of "
                "numbers and arrays"
            )
        self.learners.append((hypothesis, step))

    def add_scores(self, samples: np.ndarray, rows: np.ndarray, since: int, scores: np.ndarray) -> None:
        """Add step times vote to ``scores[rows]``, for every hypothesis from number ``since`` on."""
        for hypothesis, step in self.learners[since:]:
            scores[rows] += step * self.learner.votes(hypothesis, samples, rows)


class _Found(WeakLearner):
    """A user's object that has only ``find``."""

    def __init__(self, found: Any):
        self.found = found
        self.codes = bool(getattr(found, "codes", True))
        self.whole_steps = bool(getattr(found, "whole_steps", False))

    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Any:
        return self.found.find(samples, signed_weights)


def as_weak_learner(found: Any) -> WeakLearner:
    """A :class:`WeakLearner` for any object with ``find(samples, signed_weights)``; a weak learner itself unchanged."""
    return found if isinstance(found, WeakLearner) else _Found(found)
