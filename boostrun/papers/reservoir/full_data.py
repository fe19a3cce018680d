"""Boosting that sees all samples: the kernels, MadaBoost, weighted sampling and subsampling
(Lefakis & Fleuret 2013).
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from boostrun.errors import BoostrunError
from boostrun.kernels import Team, released, shared, stumps
from boostrun.methods.preparation import transposed
from boostrun.methods.stumps import Stump
from boostrun.methods.weak_learner import Binner, WeakLearner

_TOGETHER = 8  # dense features in flight: additions to different counters do not wait for each other
_CHUNK = 1 << 16  # rows that a 16-bit number tells apart


@njit(cache=True)
def describe_columns(columns):
    """Which codes every feature takes, its most frequent one, and how often it takes another.

    Parameters: ``columns`` (d, n) uint8. Returns ``(present (d, 256) bool, common (d,) uint8, others (d,) int64)``.
    Cost O(d (n + 256)), once a data set.
    """
    d, n = columns.shape
    present = np.zeros((d, 256), np.bool_)
    common = np.zeros(d, np.uint8)
    others = np.zeros(d, np.int64)
    counts = np.zeros(4 * 256, np.int64)
    for feature in range(d):
        column = columns[feature]
        counts[:] = 0
        whole = n - n % 4
        for i in range(0, whole, 4):
            for lane in range(4):
                counts[np.uint64(lane * 256) + np.uint64(column[np.uint64(i + lane)])] += 1
        for i in range(whole, n):
            counts[column[i]] += 1
        most = np.int64(-1)
        for code in range(256):
            count = counts[code] + counts[256 + code] + counts[512 + code] + counts[768 + code]
            present[feature, code] = count > 0
            if count > most:
                most = count
                common[feature] = code
        others[feature] = n - most
    return present, common, others


@njit(cache=True)
def gather_entries(columns, features, common, others):
    """The entries of some features that differ from their most frequent code, in order of their rows.

    Parameters: ``columns`` (d, n) uint8; ``features`` (s,) int64; ``common`` (d,) uint8 and ``others`` (d,) int64 of
    :func:`describe_columns`. Returns ``(starts (s, chunks + 1) int64, rows (m,) uint16, codes (m,) uint8)``: the
    entries of feature ``features[j]`` whose rows lie in the c-th chunk of 65,536 stand at ``starts[j, c]`` to
    ``starts[j, c + 1]``; ``rows`` count from the chunk's first. Cost O(s n), once a data set; 3 bytes an entry.
    """
    n = columns.shape[1]
    chunks = (n + _CHUNK - 1) // _CHUNK
    size = 0
    for j in range(features.shape[0]):
        size += others[features[j]]
    starts = np.zeros((features.shape[0], chunks + 1), np.int64)
    rows = np.empty(size, np.uint16)
    codes = np.empty(size, np.uint8)
    at = 0
    for j in range(features.shape[0]):
        column = columns[features[j]]
        usual = common[features[j]]
        for c in range(chunks):
            starts[j, c] = at
            for i in range(c * _CHUNK, min(n, (c + 1) * _CHUNK)):
                if column[i] != usual:
                    rows[at] = i - c * _CHUNK
                    codes[at] = column[i]
                    at += 1
        starts[j, chunks] = at
    return starts, rows, codes


@njit(cache=True)
def best_stump_of_columns(columns, present, common, dense, sparse, starts, rows, codes, weights):
    """The stump with the largest absolute edge on all samples.

    Parameters: ``columns`` (d, n) uint8; ``present``, ``common`` of :func:`describe_columns`; ``dense`` (p,) int64,
    features read in full; ``sparse`` (s,) int64, features read by their entries ``starts``, ``rows``, ``codes`` of
    :func:`gather_entries`; ``weights`` (n,) int64, signed weights ``w_i y_i`` in fixed point.
    Returns ``(feature, left, right, edge)``: two neighbouring codes of the feature, and the signed edge S - 2 C of
    "x_d >= theta" for theta between them, C the sum of signed weights below (Lefakis & Fleuret 2013, section 3). Among
    equals the lowest feature wins, then the lowest gap; ``(-1, 0, 0, 0)`` when no feature takes two values.

    Cost: for a dense feature, per sample, one load and one addition to a cached counter (eight features share the load
    of a weight); for a sparse one, one addition per entry; and 256 additions per feature. At least d n bytes are read,
    for sparse features 3 per entry.
    """
    total = np.int64(0)
    for i in range(weights.shape[0]):
        total += weights[i]
    best = (-1, 0, 0, np.int64(0))
    histogram = np.zeros(_TOGETHER * 256, np.int64)
    group = np.zeros(_TOGETHER, np.int64)
    for first in range(0, dense.shape[0], _TOGETHER):
        width = min(_TOGETHER, dense.shape[0] - first)
        for k in range(_TOGETHER):  # the last group is filled up with its last feature
            group[k] = dense[first + min(k, width - 1)]
        _add_columns(columns, group, weights, histogram)
        for k in range(width):
            best = _scan(histogram[k * 256 : (k + 1) * 256], present[group[k]], total, group[k], best)
        histogram[:] = 0
    for j in range(sparse.shape[0]):
        feature = sparse[j]
        _add_entries(starts[j], rows, codes, weights, histogram)
        rest = total
        for code in range(256):
            for lane in range(1, 4):
                histogram[code] += histogram[lane * 256 + code]
            rest -= histogram[code]
        histogram[common[feature]] += rest
        best = _scan(histogram[:256], present[feature], total, feature, best)
        histogram[:1024] = 0
    return best


@njit(cache=True)
def _add_columns(columns, group, weights, histogram):
    """histogram[k, code] += weight over all samples, for the eight features of ``group`` side by side."""
    c0, c1, c2, c3 = columns[group[0]], columns[group[1]], columns[group[2]], columns[group[3]]
    c4, c5, c6, c7 = columns[group[4]], columns[group[5]], columns[group[6]], columns[group[7]]
    for i in range(weights.shape[0]):
        at = np.uint64(i)
        weight = weights[at]
        # one array and constant offsets: eight pointers to parts of it would not all stay in registers
        histogram[np.uint64(c0[at])] += weight
        histogram[np.uint64(c1[at]) + np.uint64(256)] += weight
        histogram[np.uint64(c2[at]) + np.uint64(512)] += weight
        histogram[np.uint64(c3[at]) + np.uint64(768)] += weight
        histogram[np.uint64(c4[at]) + np.uint64(1024)] += weight
        histogram[np.uint64(c5[at]) + np.uint64(1280)] += weight
        histogram[np.uint64(c6[at]) + np.uint64(1536)] += weight
        histogram[np.uint64(c7[at]) + np.uint64(1792)] += weight


@njit(cache=True)
def _add_entries(starts, rows, codes, weights, histogram):
    """histogram[lane, code] += weight over the entries of one feature, dealt to four lanes in turn."""
    h0, h1, h2, h3 = histogram[0:256], histogram[256:512], histogram[512:768], histogram[768:1024]
    for c in range(starts.shape[0] - 1):
        chunk = weights[c * _CHUNK :]
        begin, end = starts[c], starts[c + 1]
        whole = end - (end - begin) % 4
        for i in range(begin, whole, 4):
            at = np.uint64(i)
            h0[np.uint64(codes[at])] += chunk[np.uint64(rows[at])]
            h1[np.uint64(codes[at + np.uint64(1)])] += chunk[np.uint64(rows[at + np.uint64(1)])]
            h2[np.uint64(codes[at + np.uint64(2)])] += chunk[np.uint64(rows[at + np.uint64(2)])]
            h3[np.uint64(codes[at + np.uint64(3)])] += chunk[np.uint64(rows[at + np.uint64(3)])]
        for i in range(whole, end):
            h0[codes[i]] += chunk[rows[i]]


@njit(cache=True)
def _scan(histogram, present, total, feature, best):
    """The better of ``best`` and the best gap of one feature's (256,) histogram."""
    here, left, right, edge = best
    largest = abs(edge) if here >= 0 else np.int64(-1)
    below = np.int64(0)
    last = -1  # the latest code seen, `below` the sum up to it
    for code in range(256):
        if not present[code]:
            continue
        if last >= 0:
            signed = total - 2 * below
            if abs(signed) > largest or (abs(signed) == largest and feature < here):
                largest = abs(signed)
                here, left, right, edge = feature, last, code, signed
        below += histogram[code]
        last = code
    return here, left, right, edge


def _describe_in_threads(team: Team, columns):
    """:func:`describe_columns`: threads have blocks of features."""
    if len(spans := team.spans(len(columns), columns.shape[1])) < 2:
        return NotImplemented
    found = team.each(lambda start, stop: released(describe_columns)(columns[start:stop]), spans)
    return tuple(map(np.concatenate, zip(*found)))


def _gather_in_threads(team: Team, columns, features, common, others):
    """:func:`gather_entries`: threads have blocks of features."""
    if len(spans := team.spans(len(features), 2 * columns.shape[1])) < 2:
        return NotImplemented
    found = team.each(lambda a, b: released(gather_entries)(columns, features[a:b], common, others), spans)
    before = np.cumsum([0, *(len(rows) for _, rows, _ in found[:-1])])
    starts = np.concatenate([part[0] + at for part, at in zip(found, before)])
    return starts, *(np.concatenate([part[k] for part in found]) for k in (1, 2))


def _best_in_threads(team: Team, columns, present, common, dense, sparse, starts, rows, codes, weights):
    """:func:`best_stump_of_columns`: threads have blocks of dense features, or of sparse ones."""
    n, nothing = len(weights), np.zeros(0, np.int64)
    of_dense = team.spans(len(dense), n)
    of_sparse = team.spans(len(sparse), len(rows) / max(1, len(sparse)))
    if len(of_dense) + len(of_sparse) < 3:
        return NotImplemented
    blocks = [(dense[a:b], nothing, starts[:0]) for a, b in of_dense]
    blocks += [(nothing, sparse[a:b], starts[a:b]) for a, b in of_sparse]
    known = columns, present, common

    def work(k, _):
        return released(best_stump_of_columns)(*known, *blocks[k], rows, codes, weights)

    found = [best for best in team.each(work, [(k, k + 1) for k in range(len(blocks))]) if best[0] >= 0]
    return min(found, key=lambda best: (-abs(best[3]), best[0]), default=(-1, 0, 0, 0))


shared(describe_columns, _describe_in_threads)
shared(gather_entries, _gather_in_threads)
shared(best_stump_of_columns, _best_in_threads)


@njit(cache=True)
def logistic_weights(labels, scores, out):
    """out_i = 1 / (1 + exp(y_i F_i)), the weights of LogitBoost, in one pass: O(n).

    Parameters: ``labels`` (n,) float64 of -1 and +1; ``scores`` (n,) float64; ``out`` (n,) float64.
    """
    for i in range(labels.shape[0]):
        out[i] = 1.0 / (1.0 + np.exp(labels[i] * scores[i]))


@njit(cache=True)
def fixed_point(signed_weights, out):
    """Fill ``out`` (n,) with the integers of :func:`boostrun.kernels.stumps.fixed_point`.

    Returns the sum of their absolute values, and their sum. In memory of NumPy's, which has large pages, this takes a
    quarter of that function's time.
    """
    n, total = signed_weights.shape[0], 0.0
    for i in range(n):
        total += abs(signed_weights[i])
    size, whole = np.int64(0), np.int64(0)
    if not total > 0.0:
        out[:] = 0
        return size, whole
    scale = math.ldexp(1.0, 60 - math.frexp(total)[1])
    for i in range(n):
        weight = np.int64(np.rint(signed_weights[i] * scale))
        out[i] = weight
        size += abs(weight)
        whole += weight
    return size, whole


@njit(cache=True)
def exponential_weights(labels, scores, out):
    """out_i = exp(-y_i F_i), exponents cut at 500: the weights of AdaBoost, in one pass: O(n); see above."""
    for i in range(labels.shape[0]):
        out[i] = np.exp(min(-labels[i] * scores[i], 500.0))


@njit(cache=True)
def bounded_weights(labels, scores, out):
    """out_i = min(1, exp(-y_i F_i)), the weights of MadaBoost (Domingo & Watanabe 2000), in one pass: O(n)."""
    for i in range(labels.shape[0]):
        out[i] = np.exp(min(-labels[i] * scores[i], 0.0))


@njit(cache=True)
def draw_by_gaps(weights, gaps):
    """Rows drawn with replacement, each in proportion to its weight, in ascending order.

    Parameters: ``weights`` (n,) float64, at least 0; ``gaps`` (r + 1,) float64, exponential variates, whose running
    sums over their total are r sorted uniform numbers (Devroye 1986, section V.3). Returns (r,) int64;
    rows are drawn uniformly when all weights vanish.
    One walk along both running sums: O(n + r), no sorting and no (n,) table.
    """
    n, r = weights.shape[0], gaps.shape[0] - 1
    total = 0.0
    last = 0  # rounding must not lead past the last row with any weight
    for i in range(n):
        total += weights[i]
        if weights[i] > 0.0:
            last = i
    rows = np.empty(r, np.int64)
    if not total > 0.0:  # no weight left: every row alike
        unit = n / gaps.sum()
        mark = 0.0
        for k in range(r):
            mark += gaps[k] * unit
            rows[k] = min(np.int64(mark), n - 1)
        return rows
    unit = total / gaps.sum()
    row = 0
    reached = weights[0]
    mark = 0.0
    for k in range(r):
        mark += gaps[k] * unit
        while reached <= mark and row < last:
            row += 1
            reached += weights[row]
        rows[k] = row
    return rows


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
        """Learning ended early: pad to ``rounds`` with ``idle`` at step 0; ``rounds_trained`` does not count these."""
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
        self._weights = np.empty(self.n)

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
        """Loss weights (N,) of all samples, times the sample weights if given; the next call overwrites them."""
        out = self._weights
        kernel = logistic_weights if loss.name == "logistic" else exponential_weights
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
    return draw_by_gaps(weights, rng.standard_exponential(r + 1))


class Mada(SubSampling):
    """Draw by bounded weight, then weigh by loss weight over the chance of being drawn."""

    def pick(self, data, r, loss, rng):
        bounded = np.empty(data.n)
        bounded_weights(data.y, data.scores, bounded)
        if data.shares is not None:
            bounded *= data.shares
        rows = draw_proportionally(bounded, r, rng)
        weights, chances = loss.weights(data.y[rows] * data.scores[rows]), bounded[rows]
        if data.shares is not None:
            weights *= data.shares[rows]
        # as the margin grows both vanish, and their ratio tends to 1 for either loss
        ratio = np.divide(weights, chances, out=np.ones(r), where=chances > 0.0)
        total = bounded.sum()
        return rows, ratio * (total / r if total > 0.0 else 1.0)


class Wss(SubSampling):
    """Draw in proportion to the loss weights, then train with equal weights."""

    def pick(self, data, r, loss, rng):
        return draw_proportionally(data.weights(loss), r, rng), np.ones(r)
