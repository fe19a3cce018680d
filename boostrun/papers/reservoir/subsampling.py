"""What the full-data and sub-sampling methods share: settings, the course of one binary problem, and the loop of
those that weigh all N samples each round and train on r of them.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels import stumps
from boostrun.methods.stump import Stump
from boostrun.methods.weak_learner import Binner, WeakLearner
from boostrun.papers.reservoir.kernels import full_data

_BINNING_SAMPLES = 10_000  # real values are binned on this many samples at most


@dataclass(frozen=True)
class CourseSettings:
    """Parameters of :class:`boostrun.papers.reservoir.full_data_classifier.FullDataClassifier`, names resolved."""

    r: int
    rounds: int
    loss: Any
    rule: Callable
    shrinkage: float
    max_rejections: int
    learner: WeakLearner
    max_bins: int

    def binner_for(self, samples: np.ndarray) -> Binner | None:
        """Quantile bins fitted on the first 10,000 samples; None where values are searched as they are."""
        if not self.learner.codes or samples.dtype == np.uint8:
            return None
        return Binner(samples[:_BINNING_SAMPLES], self.max_bins)

    def step(self, votes, labels, scores, weights) -> float:
        """The step along a hypothesis by the rule, from its votes on the samples it was trained on."""
        return self.shrinkage * self.learner.step(self.rule, labels * votes, labels * scores, weights, self.loss)


class Course:
    """How one binary problem went: ``learners``, and by the end of each round ``drawn`` and ``seconds``."""

    def __init__(self, begun: float):
        self._begun = begun
        self.learners: list[tuple[Any, float]] = []
        self.drawn: list[int] = []
        self.seconds: list[float] = []
        self.peak_held = 0
        self.rounds_trained = 0

    def add(self, hypothesis: Any, step: float, drawn: int) -> None:
        """A round ended with this hypothesis and step."""
        self.learners.append((hypothesis, step))
        self.drawn.append(drawn)
        self.seconds.append(time.perf_counter() - self._begun)
        self.rounds_trained += 1

    def fill(self, rounds: int, drawn: int, idle: Any) -> None:
        """Learning ended early: rounds without effect, of the hypothesis ``idle``, up to ``rounds``."""
        trained = self.rounds_trained
        while len(self.learners) < rounds:
            self.add(idle, 0.0, drawn)
        self.rounds_trained = trained


class Everything:
    """All N samples of a source, resident: ``samples`` (N, d) or None, ``columns`` (d, N) codes or None, ``labels``,
    ``shares`` (N,), the samples' own weights, or None.

    8-bit samples are used where they lie (memory maps welcome); real values are encoded once unless the search is
    exact. ``columns=True`` asks for feature-major codes, which cost one transposition unless the source has them.
    """

    def __init__(self, source, settings: CourseSettings, rng: np.random.Generator, columns: bool = False):
        for name in ("samples", "labels"):
            if not hasattr(source, name):
                raise BoostrunError(
                    f"this method looks at all samples every round, and a {type(source).__name__} does not hold them; "
                    "fix and filterboost only draw from it"
                )
        self.learner = settings.learner
        self.samples, self.labels = source.samples, np.asarray(source.labels)
        self.n = len(self.labels)
        self.shares = getattr(source, "weights", None)
        self.columns = getattr(source, "columns", None)
        if self.columns is not None and self.columns.shape != self.samples.shape[::-1]:
            raise BoostrunError(
                f"the source's columns have the shape {self.columns.shape}, but its samples {self.samples.shape}"
            )
        self.binner = None
        if self.samples.dtype != np.uint8:
            self.columns = None
            if settings.learner.codes:
                some = rng.permutation(self.n)[:_BINNING_SAMPLES]
                self.binner = settings.binner_for(self.samples[np.sort(some)])
                self.samples = self.binner.encode(self.samples)  # type: ignore[union-attr]
        if columns and self.columns is None and settings.learner.codes:
            self.columns = transposed(self.samples)

    def begin(self, positive) -> None:
        """Labels -1 and +1 of one binary problem, and scores of zero."""
        self.y = np.where(self.labels == positive, 1.0, -1.0)
        self.scores = np.zeros(self.n)

    def advance(self, hypothesis: Any, step: float) -> None:
        """scores += step * h. Cost of a stump O(N): contiguous with columns, one cache line a sample without."""
        if not isinstance(hypothesis, Stump):
            self.scores += step * self.learner.votes(hypothesis, self.samples, np.arange(self.n))
            return
        feature = np.array([hypothesis.feature], np.int32)
        threshold, signed = np.array([hypothesis.threshold]), np.array([hypothesis.polarity * step])
        if self.columns is not None:
            stumps.add_scores_by_feature(self.columns, feature, threshold, signed, self.scores)
        else:
            stumps.add_scores(self.samples, np.arange(self.n), feature, threshold, signed, self.scores)

    def weights(self, loss) -> np.ndarray:
        """Loss weights (N,) of all samples, times their own where they have any."""
        out = np.empty(self.n)
        kernel = full_data.logistic_weights if loss.name == "logistic" else full_data.exponential_weights
        kernel(self.y, self.scores, out)
        return out if self.shares is None else out * self.shares


class SubSampling(ABC):
    """The loop of the methods that weigh all N samples each round, draw r of them and train on those.

    A method says how to draw. All N samples count as drawn once, and as held: they, or their scores, are looked at
    every round.
    """

    def __init__(self, source, settings: CourseSettings, rng: np.random.Generator):
        self.settings = settings
        self.data = Everything(source, settings, rng)
        self.binner = self.data.binner

    def train(self, k: int, positive, course: Course, rng: np.random.Generator) -> None:
        """One binary problem. Cost a round: O(N) for weights and scores, O(r d) for a stump."""
        settings, data = self.settings, self.data
        data.begin(positive)
        course.peak_held = data.n
        for _ in range(settings.rounds):
            rows, weights = self.pick(data, settings.r, settings.loss, rng)
            y = data.y[rows]
            hypothesis = settings.learner.find_among(data.samples, rows, weights * y)
            votes = settings.learner.votes(hypothesis, data.samples, rows)
            step = settings.step(votes, y, data.scores[rows], weights)
            data.advance(hypothesis, step)
            course.add(hypothesis, step, data.n)

    @abstractmethod
    def pick(self, data: Everything, r: int, loss, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The rows (r,) int64 that the hypothesis is trained on, and their weights (r,) float64."""


def draw_proportionally(weights: np.ndarray, r: int, rng: np.random.Generator) -> np.ndarray:
    """r rows with replacement, in proportion to ``weights`` (N,), ascending; uniformly when all weights vanish."""
    return full_data.draw_proportionally(weights, rng.standard_exponential(r + 1))


def transposed(samples: np.ndarray) -> np.ndarray:
    """Feature-major copy (d, n) of sample-major codes, by square tiles that stay cached."""
    n, d = samples.shape
    out = np.empty((d, n), samples.dtype)
    for i in range(0, n, 1024):
        for f in range(0, d, 1024):
            out[f : f + 1024, i : i + 1024] = samples[i : i + 1024, f : f + 1024].T
    return out
