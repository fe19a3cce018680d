"""The reservoir's rivals, which may look at all data or sample them otherwise (Lefakis & Fleuret 2013, Table 5).

FilterBoost (Bradley & Schapire 2007): every round trains on r fresh samples that passed a filter by weight.

::

    for t = 1..T:
        A <- {}
        while |A| < r:
            x, y <- Filter() ; put it into A with probability w(y F_{t-1}(x)) = 1 / (1 + exp(y F_{t-1}(x)))
            if max_rejections * r samples were rejected this round: return F_{t-1}
        h_t, a_t <- stump and step from A, unweighted: the filter has done the weighting

Their filter runs dry when F's loss weights are small nearly everywhere, and then their algorithm returns what it has;
so do we: a problem that needs more than ``max_rejections`` rejections a sample wanted (1000: weights below 0.1 % on
average) stops, the samples of its unfinished round are not used, its remaining rounds hold stumps with coefficient 0,
and no further calls are made. The limit is looked at between batches of r calls, so a round may pass it by r - 1.
Theirs estimates the edge on a second accepted set and sizes both sets by its confidence; here both are the same r.
Where samples have weights of their own, the probability is multiplied by theirs over the largest.
With ``loss="exponential"`` the probability is min(1, exp(-y F)), the filter of MadaBoost (Domingo & Watanabe 2000).

Boosting on samples that stay: Fix draws r of them before training, All takes every sample of the source.

::

    A <- r calls of Filter()           (Fix; every binary problem gets the same r samples)
    for t = 1..T:
        w <- loss weights of F_{t-1} on A
        h_t <- argmax_h <h o y, w>_A
        a_t <- coefficient from A

LogitBoost's weights with ``loss="logistic"``, AdaBoost (Freund & Schapire 1997) with ``loss="exponential"`` and
``shrinkage=1``, the method that Lefakis & Fleuret (2013, Table 5) name.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.config import fields
from boostrun.methods import estimator
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.estimator import StumpClassifier, component_of
from boostrun.methods.hypothesis_ensemble import HypothesisEnsemble
from boostrun.methods.stumps import Stump, StumpEnsemble, StumpLearner
from boostrun.methods.weak_learner import LOSSES, as_weak_learner
from boostrun.papers.reservoir import full_data
from boostrun.papers.reservoir.classifier import RULES, log_odds
from boostrun.papers.reservoir.full_data import Course, CourseSettings, Everything, Mada, Wss
from boostrun.papers.reservoir.keys import OF_WEAK_LEARNERS, FullDataKeys


class FilterBoost:
    """Rejection by weight, with at most 2 r samples at hand: those accepted, and a batch that waits to be looked at."""

    def __init__(self, source, settings: CourseSettings, rng: np.random.Generator):
        self.source, self.settings = source, settings
        self.binner = None

    def train(self, k: int, positive, course: Course, rng: np.random.Generator) -> None:
        """One binary problem. Cost a round: O(r d) for a stump, O(t) for each call of Filter()."""
        settings = self.settings
        filter_ = WeightFilter(self, self.source.open(capacity=2 * settings.r, stream=k), positive, rng)
        everyone, uniform = np.arange(settings.r), np.ones(settings.r)
        for _ in range(settings.rounds):
            accepted = filter_.accept()
            if accepted is None:
                break
            samples, y, scores = accepted
            hypothesis = settings.learner.find_among(samples, everyone, y)
            step = settings.step(settings.learner.votes(hypothesis, samples, everyone), y, scores, uniform)
            filter_.members.add(hypothesis, step)
            course.add(hypothesis, step, filter_.draws.drawn)
        if course.rounds_trained < settings.rounds:
            course.fill(settings.rounds, filter_.draws.drawn, settings.learner.idle(filter_.batch))
        course.peak_held = filter_.draws.peak_held


class WeightFilter:
    """Accepted samples of one binary problem. ``accepted``, ``rejected``: counts over all rounds; with ``waiting``
    samples not looked at yet they add up to the samples drawn.
    """

    def __init__(self, method: FilterBoost, draws, positive, rng: np.random.Generator):
        self.method, self.draws, self.positive, self.rng = method, draws, positive, rng
        self.members = method.settings.learner.members()  # the ensemble that weighs samples
        self.accepted = self.rejected = self.waiting = 0
        self.batch: Any = None
        self._labels: Any = None
        self._shares: Any = None  # of the heaviest sample's weight, where samples have weights

    def accept(self):
        """r samples that passed the filter of the ensemble so far: ``(samples, y, scores)``; None when it ran dry."""
        settings = self.method.settings
        r, rejected_before = settings.r, self.rejected
        samples = y = scores = None
        n = 0
        while n < r:
            if self.rejected - rejected_before >= settings.max_rejections * r:
                self.draws.release(n)
                return None
            batch, labels, margins_scores = self._look()
            chances = np.minimum(settings.loss.weights(labels * margins_scores), 1.0)
            if self._shares is not None:
                chances *= self._shares[-self.waiting :]
            passed = np.flatnonzero(self.rng.random(len(labels)) < chances)[: r - n]
            looked_at = int(passed[-1]) + 1 if len(passed) == r - n else len(labels)
            if samples is None:
                samples, y, scores = np.empty((r, batch.shape[1]), batch.dtype), np.empty(r), np.empty(r)
            place = slice(n, n + len(passed))
            samples[place], y[place], scores[place] = batch[passed], labels[passed], margins_scores[passed]
            n += len(passed)
            self.accepted += len(passed)
            self.rejected += looked_at - len(passed)
            self.draws.release(looked_at - len(passed))
            self.waiting -= looked_at
        self.draws.release(r)  # let go at the end of the round, after the stump; no draw comes before
        return samples, y, scores

    def _look(self):
        """The samples that wait, or else r fresh ones, scored by the ensemble."""
        if self.waiting == 0:
            values, labels = self.draws.draw(self.method.settings.r)
            self.batch, self._labels = self._codes(values), np.where(labels == self.positive, 1.0, -1.0)
            self.waiting = len(labels)
            if (weights := getattr(self.draws, "weights", None)) is not None:
                self._shares = weights / self.method.source.weights.max()
        batch, labels = self.batch[-self.waiting :], self._labels[-self.waiting :]
        scores = np.zeros(self.waiting)
        self.members.add_scores(batch, np.arange(self.waiting), 0, scores)
        return batch, labels, scores

    def _codes(self, values: np.ndarray) -> np.ndarray:
        method = self.method
        if method.binner is None:  # the first r samples drawn set the bins of all problems
            method.binner = method.settings.binner_for(values)  # type: ignore[assignment]
        return values if method.binner is None else method.binner.encode(values)


_SPARSE = 0.4  # a feature is read by its uncommon entries when they are fewer: an entry costs about two codes


class All:
    """Ordinary boosting on all samples of a source, every round."""

    def __init__(self, source, settings: CourseSettings, rng: np.random.Generator):
        self.settings = settings
        self.data = Everything(source, settings, rng, columns=True)
        self.binner = self.data.binner
        self.search = self._search()

    def train(self, k: int, positive, course: Course, rng: np.random.Generator) -> None:
        """One binary problem on the samples at hand. Cost a round: one pass over the codes, and O(n)."""
        settings, data = self.settings, self.data
        data.begin(positive)
        course.peak_held, signed = data.n, np.empty(data.n)
        for _ in range(settings.rounds):
            weights = data.weights(settings.loss)
            hypothesis, step = self._round(weights, np.multiply(weights, data.y, out=signed))
            course.add(hypothesis, step, data.n)

    def _search(self) -> Any:
        """The search on the codes of all samples; None if the learner reads samples directly."""
        columns, learner = self.data.columns, self.settings.learner
        if columns is None or not learner.codes:
            return None
        return ColumnSearch(columns) if isinstance(learner, StumpLearner) else learner.of_columns(columns)

    def _round(self, weights: np.ndarray, signed: np.ndarray) -> tuple[Any, float]:
        """A hypothesis and the step along it, which the scores of all samples have taken."""
        settings, data = self.settings, self.data
        if isinstance(self.search, ColumnSearch):
            stump, right, wrong = self.search(signed)
            if settings.rule is log_odds:  # the exact sums are at hand
                ends, sums = np.array([1.0, -1.0]), np.array([right, wrong])
                step = settings.shrinkage * log_odds(ends, None, sums, settings.loss)
            else:
                step = settings.step(stump(data.samples), data.y, data.scores, weights)
            data.advance(stump, step)
            return stump, step
        if self.search is not None:
            hypothesis, votes = self.search(signed)
        else:
            hypothesis = settings.learner.find(data.samples, signed)
            votes = settings.learner.votes(hypothesis, data.samples, np.arange(data.n))
        step = settings.step(votes, data.y, data.scores, weights)
        data.scores += step * votes
        return hypothesis, step


class Fix(All):
    """Ordinary boosting on r samples drawn once."""

    def __init__(self, source, settings: CourseSettings, rng: np.random.Generator):
        draws = source.open(capacity=settings.r)
        samples, labels = draws.draw(settings.r)
        super().__init__(
            SimpleNamespace(samples=samples, labels=labels, weights=getattr(draws, "weights", None)), settings, rng
        )


class ColumnSearch:
    """Search for the best stump on all samples of feature-major codes; sort orders are computed once.

    Called with signed weights w_i y_i (n,), returns the stump :func:`boostrun.methods.stumps.find_stump` returns, and
    the sums of the weights that it gets right and wrong, exact up to one common factor.
    """

    def __init__(self, columns: np.ndarray):
        self.columns = columns
        self.present, self.common, others = full_data.describe_columns(columns)
        varies = self.present.sum(axis=1) > 1
        few = others <= _SPARSE * columns.shape[1]
        self.dense, self.sparse = np.flatnonzero(varies & ~few), np.flatnonzero(varies & few)
        self.entries = full_data.gather_entries(columns, self.sparse, self.common, others)
        self.weights = np.empty(columns.shape[1], np.int64)

    def __call__(self, signed: np.ndarray) -> tuple[Stump, float, float]:
        total, whole = full_data.fixed_point(signed, self.weights)
        feature, left, right, edge = full_data.best_stump_of_columns(  # type: ignore[call-arg]
            self.columns, self.present, self.common, self.dense, self.sparse, *self.entries, self.weights
        )
        if feature < 0:
            edge, stump = whole, Stump(0, 0.0, 1 if whole >= 0 else -1)
        else:
            stump = Stump(int(feature), float((left + right + 1) // 2), 1 if edge >= 0 else -1)
        agreed = (total + abs(int(edge))) // 2
        return stump, float(agreed), float(total - agreed)


class FullDataClassifier(FullDataKeys, StumpClassifier):
    """Boosted weak learners by the methods that reservoir boosting is compared with (Lefakis & Fleuret 2013, Table 5).

    Several classes are learnt one against the rest, one after the other.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, quantile bins of a feature, fitted on at most 10,000 samples (``fix`` and
        ``filterboost``: the first drawn).
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : StumpEnsemble, thresholds in units of X; or the ensemble class of another weak learner.
    classes_ : (n_classes,) array
    samples_drawn_ : int, calls of Filter() over all binary problems; all N a problem for ``wss``, ``mada``, ``all``.
    samples_drawn_per_problem_ : list of int
    staged_samples_drawn_, staged_train_seconds_ : (T,) arrays
        Samples drawn and training seconds, all problems together, by the end of each round.
    peak_samples_held_ : int; N for ``wss``, ``mada``, ``all``, r for ``fix``, at most 2 r for ``filterboost``.
    rounds_trained_ : list of int, below T for problems whose filter ran dry.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.
    .. [2] C. Domingo and O. Watanabe, "MadaBoost: A Modification of AdaBoost", COLT 2000.
    .. [3] J. Bradley and R. Schapire, "FilterBoost: Regression and Classification on Large Datasets", NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = FullDataClassifier("mada", reservoir_size=50, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> clf.score(X[1400:], y[1400:]) > 0.8
    True
    """

    _model_types = (StumpEnsemble, HypothesisEnsemble, "boostrun.methods.tree:TreeEnsemble")

    def fit(self, X, y, sample_weight=None):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        ``sample_weight`` (n,) are weights of at least 0, of which only ratios matter: they multiply those of the loss.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        Cost a round and class: O(r d), and O(n) for ``wss`` and ``mada``; O(n d) for ``all``.
        """
        source, _, entropy = self._source(X, y, sample_weight)
        return self._fit(source, entropy)

    def fit_source(self, source):
        """Train on a source of samples. ``wss``, ``mada`` and ``all`` read ``source.samples`` and ``source.labels``,
        and ``source.columns`` (d, n) if it has them; ``fix`` and ``filterboost`` only draw from a Filter.
        """
        self.n_features_in_ = source.n_features
        return self._fit(source, self._entropy())

    def _fit(self, source, entropy: int):
        """Train; all randomness but the Filters' follows from the whole number ``entropy``."""
        fields.check(self)
        estimator.bins(self)
        self.classes_ = source.class_labels()
        learner = as_weak_learner(component_of(self, "weak_learner", OF_WEAK_LEARNERS))
        settings = CourseSettings(
            self.reservoir_size, self.n_estimators, LOSSES[self.loss], RULES[self.coefficient], self.shrinkage,
            self.max_rejections, learner, self.max_bins,
        )  # fmt: skip
        positives = one_vs_all.problems(self.classes_)
        bins_seed, *seeds = np.random.SeedSequence(entropy).spawn(2)[1].spawn(len(positives) + 1)
        begun = time.perf_counter()
        with threadpool_limits(1, user_api="blas"):
            made: Any = {"wss": Wss, "mada": Mada, "fix": Fix, "all": All, "filterboost": FilterBoost}[self.method]
            method = made(source, settings, np.random.default_rng(bins_seed))
            courses = []
            for k, (positive, child) in enumerate(zip(positives, seeds)):
                courses.append(Course(begun))
                method.train(k, positive, courses[-1], np.random.default_rng(child))
                begun = time.perf_counter()
        self.ensemble_ = learner.ensemble([course.learners for course in courses], method.binner)
        self._finish(courses)
        return self

    def _finish(self, courses) -> None:
        """Read the counts off the trained problems."""
        self.staged_samples_drawn_ = np.sum([course.drawn for course in courses], axis=0)
        self.staged_train_seconds_ = np.sum([course.seconds for course in courses], axis=0)
        self.samples_drawn_per_problem_ = [course.drawn[-1] for course in courses]
        self.samples_drawn_ = sum(self.samples_drawn_per_problem_)
        self.peak_samples_held_ = max(course.peak_held for course in courses)
        self.rounds_trained_ = [course.rounds_trained for course in courses]
