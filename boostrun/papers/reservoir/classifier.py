"""Reservoir boosting (Lefakis & Fleuret 2013): the loop of one binary problem, the rules for its step, the classifiers.

Every rule for the step sees the reservoir only: ``agreement`` (n,) = y_i h(x_i), -1 or +1, ``margins`` (n,) =
y_i F(x_i) before the step, and the corrected weights ``weights`` (n,) that the stump was trained with. Steps stay
within +-1/2 log((1 - 1e-3) / 1e-3) = +-3.45, the step for an error of one in a thousand (the paper leaves the rule
open).

:class:`ActiveReservoirClassifier` requests labels only for the samples it keeps (the paper's future work). Before that,
strategies see a guess: the label's sign by the ensemble so far, and the expected weight p w(F) + (1 - p) w(-F) under
the ensemble's probability p = 1 / (1 + exp(-F)). GEEM needs labels for nothing else, and Max becomes uncertainty
sampling.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.methods import estimator
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.estimator import StumpClassifier, component_of
from boostrun.methods.hypothesis_ensemble import HypothesisEnsemble
from boostrun.methods.stumps import StumpEnsemble
from boostrun.methods.weak_learner import LOSSES, Binner, WeakLearner, as_weak_learner
from boostrun.papers.reservoir.keys import OF_STRATEGIES, OF_WEAK_LEARNERS, ReservoirKeys
from boostrun.papers.reservoir.strategies import Batch, KeyedReservoir, Strategy, as_strategy, checked, others

CLIP = 1e-3
LIMIT = 0.5 * np.log((1.0 - CLIP) / CLIP)


def log_odds(agreement, margins, weights, loss) -> float:
    """a = 1/2 log((1 - e) / e), with e the weighted error clipped to [1e-3, 1 - 1e-3]; 0 when no weight is left.

    >>> round(log_odds(np.array([1.0, 1.0, -1.0]), np.zeros(3), np.ones(3), None), 6)
    0.346574
    """
    total = weights.sum()
    if not total > 0.0:  # corrected weights may be negative; their sum can vanish
        weights = np.abs(weights)
        total = weights.sum()
        if total == 0.0:
            return 0.0
    error = min(max(weights[agreement < 0].sum() / total, CLIP), 1.0 - CLIP)
    return 0.5 * float(np.log((1.0 - error) / error))


def line_search(agreement, margins, weights, loss) -> float:
    """Minimiser over the step of sum_i M_i loss(margin_i + a agreement_i), M_i = w~_i / w_i at least 0.

    M_i says how many samples the kept one stands for, so the sum is the corrected-weight loss on the reservoir.
    """
    from scipy.optimize import brentq

    pull = np.maximum(weights, 0.0) * agreement

    def slope(step: float) -> float:
        return -float(np.dot(pull, loss.weight_ratio(margins, margins + step * agreement)))

    if slope(LIMIT) <= 0.0:
        return LIMIT if pull.any() else 0.0
    if slope(-LIMIT) >= 0.0:
        return -LIMIT
    return float(brentq(slope, -LIMIT, LIMIT, xtol=1e-8))


def newton(agreement, margins, weights, loss) -> float:
    """One Newton step from 0 on the objective of :func:`line_search`."""
    weights = np.maximum(weights, 0.0)
    curvature = float(np.dot(weights, loss.bend(margins)))
    return float(np.clip(np.dot(weights, agreement) / curvature, -LIMIT, LIMIT)) if curvature > 0.0 else 0.0


RULES = {rule.__name__: rule for rule in (log_odds, line_search, newton)}


MASS_RATIO = (0.05, 20.0)  # how much a kept sample's mass may change in one round


def arrival_masses(draws, n: int) -> np.ndarray:
    """The masses (n,) of the samples drawn last: their weights if ``draws`` has them, else 1."""
    weights = getattr(draws, "weights", None)
    return np.ones(n) if weights is None else weights


class Reservoir:
    """The r + q samples at hand of one binary problem, with their scores and masses.

    Parameters
    ----------
    draws : the paper's Filter(): ``draw(n) -> (samples (n, d), labels (n,) of -1.0 and +1.0)``, ``release(n)`` when
        samples are let go, and the count ``drawn``; it may have ``weights`` (n,) of the samples drawn last.
    r, q : sizes of the reservoir and of the fresh batch.
    loss : a loss of :mod:`boostrun.methods.weak_learner`.
    learner : the weak learner.

    The scores of kept samples are carried along and grow by one hypothesis a round; only fresh samples are scored by
    the whole ensemble, O(q t).
    """

    def __init__(self, draws, r: int, q: int, loss, learner: WeakLearner):
        self.draws, self.r, self.q, self.loss, self.learner = draws, r, q, loss, learner
        self.samples, self.labels = draws.draw(r + q)
        self.scores = np.zeros(r + q)
        self.masses = arrival_masses(draws, r + q)
        self.arrived = np.zeros(r + q, np.int64)
        self.members = learner.members()
        self.problems = [self.members.learners]  # one binary problem
        self.drawn: list[int] = []  # samples drawn by the end of each round
        self.seconds: list[float] = []  # training time by the end of each round

    def boost(
        self, rounds: int, strategy: Strategy, coefficient: Callable, shrinkage: float, rng: np.random.Generator
    ) -> None:
        """Add ``rounds`` hypotheses to ``members``."""
        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        first = len(self.members.learners)
        for t in range(first, first + rounds):
            kept, corrected = self._select(strategy, rng)
            labels = self.labels[kept]
            hypothesis = self._find(kept, corrected * labels)
            votes = self.learner.votes(hypothesis, self.samples, kept)
            margins = labels * self.scores[kept]
            step = shrinkage * self.learner.step(coefficient, labels * votes, margins, corrected, self.loss)
            self.members.add(hypothesis, step)
            self.members.add_scores(self.samples, kept, t, self.scores)
            self._refill(kept, t + 1)
            self.drawn.append(self.draws.drawn)
            self.seconds.append(time.perf_counter() - begun)

    def let_go(self) -> None:
        """Give the samples at hand back; no hypothesis can be added then."""
        self.draws.release(self.r + self.q)
        del self.samples, self.labels, self.scores, self.masses, self.arrived

    def _select(self, strategy: Strategy, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The places of the samples that stay, and the weights (r,) that the weak learner is trained with."""
        weights = self.masses * self.loss.weights(self.labels * self.scores)
        batch = Batch(self.samples, self.labels, weights, self.arrived, self.scores, self.masses)
        kept, corrected = checked(strategy(batch, self.r, rng), (self.r,), self.r + self.q)
        if strategy.carry_mass:
            self._carry_mass(kept, corrected, weights[kept])
        return kept, corrected

    def _find(self, kept: np.ndarray, signed_weights: np.ndarray) -> Any:
        """The hypothesis with the largest edge on the samples that stay."""
        return self.learner.find_among(self.samples, kept, signed_weights)

    def _carry_mass(self, kept, corrected, weights) -> None:
        """c_j *= w~_j / w_j, clipped, then scaled so that the reservoir's masses sum to r."""
        ratio = np.divide(corrected, weights, out=np.ones_like(weights), where=weights > 0.0)
        masses = self.masses[kept] * np.clip(ratio, *MASS_RATIO)
        self.masses[kept] = masses * (self.r / masses.sum())

    def _refill(self, kept, t) -> None:
        """Put q fresh samples where the discarded ones stood, and score them by the t hypotheses so far."""
        discarded = others(kept, self.r + self.q)
        self.draws.release(self.q)
        self.samples[discarded], self.labels[discarded] = self.draws.draw(self.q)
        self.scores[discarded] = 0.0
        self.masses[discarded] = arrival_masses(self.draws, self.q)
        self.arrived[discarded] = t
        self.members.add_scores(self.samples, discarded, 0, self.scores)


class SharedReservoir:
    """The r + q samples at hand of c one-against-the-rest problems, which learn side by side.

    Parameters are those of :class:`Reservoir`; ``draws`` gives labels (n, c) of -1.0 and
    +1.0. A strategy chooses samples by their weights summed over the classes, GEEM by the classes' summed objectives
    with one inverse for all, so that a round costs one selection instead of c, and a sample one draw instead of c.
    """

    def __init__(self, draws, r: int, q: int, loss, learner: WeakLearner):
        self.draws, self.r, self.q, self.loss, self.learner = draws, r, q, loss, learner
        self.samples, self.labels = draws.draw(r + q)
        classes = self.labels.shape[1]
        self.scores = np.zeros((classes, r + q))
        self.masses = np.repeat(arrival_masses(draws, r + q)[:, None], classes, axis=1)
        self.arrived = np.zeros(r + q, np.int64)
        self.members = [learner.members() for _ in range(classes)]
        self.problems = [members.learners for members in self.members]
        self.drawn: list[int] = []
        self.seconds: list[float] = []

    def boost(
        self, rounds: int, strategy: Strategy, coefficient: Callable, shrinkage: float, rng: np.random.Generator
    ) -> None:
        """Add ``rounds`` hypotheses to each problem."""
        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        first = len(self.drawn)
        for t in range(first, first + rounds):
            kept, corrected = self._select(strategy, rng)
            for k, members in enumerate(self.members):
                labels, weights = self.labels[kept, k], corrected[:, k]
                hypothesis = self.learner.find_among(self.samples, kept, weights * labels)
                votes = self.learner.votes(hypothesis, self.samples, kept)
                margins = labels * self.scores[k, kept]
                step = shrinkage * self.learner.step(coefficient, labels * votes, margins, weights, self.loss)
                members.add(hypothesis, step)
            self._refill(kept, t + 1)
            self.drawn.append(self.draws.drawn)
            self.seconds.append(time.perf_counter() - begun)

    def let_go(self) -> None:
        """Give the samples at hand back; no hypothesis can be added then."""
        self.draws.release(self.r + self.q)
        del self.samples, self.labels, self.scores, self.masses, self.arrived

    def _select(self, strategy: Strategy, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The places (r,) of the samples that stay, and the weights (r, c) that weak learners are trained with."""
        weights = self.masses * self.loss.weights(self.labels * self.scores.T)
        batch = Batch(self.samples, self.labels, weights, self.arrived, self.scores.T, self.masses)
        answer = strategy.for_all_classes(batch, self.r, rng)
        kept, corrected = checked(answer, (self.r, weights.shape[1]), self.r + self.q)
        if strategy.carry_mass:
            ratio = np.divide(corrected, weights[kept], out=np.ones_like(corrected), where=weights[kept] > 0.0)
            masses = self.masses[kept] * np.clip(ratio, *MASS_RATIO)
            self.masses[kept] = masses * (self.r / masses.sum(axis=0))
        return kept, corrected

    def _refill(self, kept, t) -> None:
        """Score the kept samples by the newest hypotheses, and put q fresh ones where the discarded stood."""
        discarded = others(kept, self.r + self.q)
        self.draws.release(self.q)
        self.samples[discarded], self.labels[discarded] = self.draws.draw(self.q)
        self.scores[:, discarded] = 0.0
        self.masses[discarded] = arrival_masses(self.draws, self.q)[:, None]
        self.arrived[discarded] = t
        for rows, since in ((kept, t - 1), (discarded, 0)):
            for members, scores in zip(self.members, self.scores):
                members.add_scores(self.samples, rows, since, scores)


# -- a reservoir of many parts of the data


class ReservoirPart:
    """The samples that one part of the data holds for a reservoir that all parts keep together.

    It holds at most r + q samples. Each round it draws keys for them, by their weights under the ensemble so far, and
    offers those with the smallest keys. It gets the numbers of those that stay in the common reservoir, and the
    hypothesis learned from them. All hypotheses so far score the q fresh samples that replace the others. See
    :class:`boostrun.papers.reservoir.strategies.MergedParts`.

    Parameters
    ----------
    parameters : of a ReservoirClassifier.
    source : the part's samples. Equal sources give equal answers to equal calls.
    number, entropy : int, of the part and of the run; they seed the keys.
    """

    def __init__(self, parameters: dict[str, Any], source, number: int, entropy: int):
        self.model = ReservoirClassifier(**parameters)
        self.model._learner = self.model._own_learner()
        self.source, self.number, self.entropy = source, number, entropy

    def __call__(self, what: str, *arguments: Any) -> Any:
        return getattr(self, what)(*arguments)

    def values(self, n: int) -> np.ndarray | None:
        """The first n samples (n, d) of all, for common bins; None if there is nothing to bin."""
        binned = self.model._learner.codes and self.source.dtype != np.uint8
        return self.source.open(capacity=n).draw(n)[0] if binned else None

    def begin(self, stream: int, positives: np.ndarray, binner: Any, n: int, most: int) -> tuple:
        """Draw n samples from a Filter, for the problems of these positive classes; offers ``most`` of them."""
        model, self.most = self.model, most
        model._binner = binner
        r, self.q = model.reservoir_size, model.batch_size or model.reservoir_size
        self.loss = LOSSES[model.loss]
        self.draws = _SignedFilter(model, self.source.open(capacity=r + self.q, stream=stream), positives)
        self.rng = np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(2, stream, self.number)))
        self.members = [model._learner.members() for _ in positives]
        self.live, self.arrived = np.zeros(r + self.q, bool), np.zeros(r + self.q, np.int64)
        samples, labels = self.draws.draw(n)
        self.samples = np.empty((r + self.q, samples.shape[1]), samples.dtype)
        self.labels = np.ones((r + self.q, len(positives)))
        self.scores, self.masses = np.zeros((len(positives), r + self.q)), np.ones_like(self.labels)
        self._hold(samples, labels, 0)
        return self._offer()

    def go_on(self, kept: np.ndarray, masses: np.ndarray | None, learned: list[tuple[Any, float]], t: int) -> tuple:
        """Keep the samples at the places ``kept`` (m,), with new masses (m, c) if there are any, and the hypothesis and
        its coefficient that each problem has learned; offers samples for round t.
        """
        self.draws.release(int(self.live.sum()) - len(kept))
        self.live[:] = False
        self.live[kept] = True
        if masses is not None:
            self.masses[kept] = masses
        for members, (hypothesis, step), scores in zip(self.members, learned, self.scores):
            members.add(hypothesis, step)
            members.add_scores(self.samples, kept, t - 1, scores)
        self._hold(*self.draws.draw(self.q), t)
        return self._offer()

    def _hold(self, samples: np.ndarray, labels: np.ndarray, t: int) -> None:
        """Put fresh samples at the first free places, and score them."""
        places = np.flatnonzero(~self.live)[: len(samples)]
        self.live[places] = True
        self.samples[places], self.labels[places] = samples, labels.reshape(len(labels), -1)
        self.masses[places], self.arrived[places] = arrival_masses(self.draws, len(samples))[:, None], t
        self.scores[:, places] = 0.0
        for members, scores in zip(self.members, self.scores):
            members.add_scores(self.samples, places, 0, scores)

    def _offer(self) -> tuple[KeyedReservoir, int, int]:
        """The samples of the smallest keys, and the counts of samples drawn and held."""
        rows = np.flatnonzero(self.live)
        labels, scores, masses = self.labels[rows], self.scores[:, rows].T, self.masses[rows]
        weights = (masses * self.loss.weights(labels * scores)).sum(axis=1)
        found = KeyedReservoir(self.most)
        found.add(
            KeyedReservoir.draw_keys(weights, self.rng), samples=self.samples[rows], labels=labels, scores=scores,
            masses=masses, weights=weights, arrived=self.arrived[rows], place=rows,
            part=np.full(len(rows), self.number),
        )  # fmt: skip
        return found, self.draws.drawn, self.draws.peak_held


class _Merged:
    """Methods of a reservoir over the samples that parts of the data offer. ``draws`` are MergedParts; ``carries`` is
    whether masses are sent back to the parts. ``q`` is 0 if the parts' keys have already chosen the samples.
    """

    def begin(self: Any, carries: bool) -> None:
        """Take what the parts offer first."""
        self.carries = carries
        self._take()

    def _take(self: Any) -> None:
        pool = self.draws.pool
        self.samples, self.labels, self.masses = pool["samples"], pool["labels"], pool["masses"]
        self.arrived, self.scores = pool["arrived"], np.ascontiguousarray(pool["scores"].T)
        if isinstance(self, Reservoir):
            self.labels, self.masses, self.scores = self.labels[:, 0], self.masses[:, 0], self.scores[0]

    def _refill(self: Any, kept: np.ndarray, t: int) -> None:
        masses = self.masses[kept].reshape(len(kept), -1) if self.carries else None
        self.draws.go_on(kept, masses, [learners[-1] for learners in self.problems], t)
        self._take()


class MergedReservoir(_Merged, Reservoir):
    """The reservoir of one binary problem over many parts of the data."""


class MergedSharedReservoir(_Merged, SharedReservoir):
    """The reservoir of all classes over many parts of the data."""


class ReservoirClassifier(ReservoirKeys, StumpClassifier):
    """Boosted weak learners, learnt from a stream of samples while holding at most r + q of them.

    Several classes are learnt one against the rest, one after the other, each with its own reservoir.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, quantile bins of a feature, fitted on the first r + q samples drawn.
    warm_start : bool
        Keep the reservoirs, of all classes, after ``fit``. A larger ``n_estimators`` then adds rounds instead of
        starting again; ``fit`` needs the same samples, and raises BoostrunError for others.
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : StumpEnsemble, thresholds in units of X; or the ensemble class of another weak learner.
    classes_ : (n_classes,) array
    samples_drawn_ : int, calls of Filter() over all binary problems.
    samples_drawn_per_problem_ : list of int
    staged_samples_drawn_, staged_train_seconds_ : (T,) arrays
        Samples drawn and training seconds, all problems together, by the end of each round.
    peak_samples_held_ : int
        Samples at hand at one time: r + q, as a reservoir is emptied before the next class begins; with ``warm_start``
        so many for each class.
    covariance_restarts_ : int, how often GEEM had to raise its ridge.

    Notes
    -----
    Fewer than r + q samples in all are handed out again in further shuffled passes. A strategy is a function or an
    object, see :mod:`boostrun.papers.reservoir.strategies`; a weak learner an object with ``find``, see
    :mod:`boostrun.methods.weak_learner`. One given by name takes the parameters it shares with the classifier.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = ReservoirClassifier(reservoir_size=50, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> round(clf.score(X[1400:], y[1400:]), 2)
    0.85
    >>> clf.peak_samples_held_
    100
    """

    _problems: list[tuple[Any, Strategy, np.random.Generator]]

    _model_types = (StumpEnsemble, HypothesisEnsemble, "boostrun.methods.tree:TreeEnsemble")

    def fit(self, X, y, sample_weight=None):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels. The arrays are read through a Filter().

        ``sample_weight`` (n,) are weights of at least 0, of which only ratios matter: the masses with which samples
        arrive, in place of 1.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        Cost a round and class: O((r + q) d) for "histogram", and for GEEM O((r + q)^3) more.
        """
        source, _, entropy = self._source(X, y, sample_weight)
        return self._fit(source, entropy)

    def fit_source(self, source):
        """Train on a source of samples, see :class:`boostrun.data.source.ArraySource`."""
        self.n_features_in_ = source.n_features
        return self._fit(source, self._entropy())

    def _fit(self, source, entropy: int):
        """Train; all randomness but the Filters' follows from the whole number ``entropy``."""
        self._check_parameters()
        going_on = self._problems if self.warm_start and getattr(self, "_problems", None) else None
        if going_on and self.n_estimators < self.ensemble_.n_rounds:
            raise BoostrunError(
                f"n_estimators={self.n_estimators}: warm_start cannot take back {self.ensemble_.n_rounds} rounds"
            )
        problems = []
        with threadpool_limits(1, user_api="blas"):  # the matrices are too small for threads to pay
            for reservoir, strategy, rng in going_on or self._begin(source, entropy):
                rounds = self.n_estimators - len(reservoir.drawn)
                reservoir.boost(rounds, strategy, RULES[self.coefficient], self.shrinkage, rng)
                problems.append((reservoir, strategy, rng))
                if not self.warm_start:
                    reservoir.let_go()
        self._problems = problems
        self._finish()
        return self

    def _begin(self, source, entropy: int) -> Iterator[tuple[Any, Strategy, np.random.Generator]]:
        """Open a Filter and fill a reservoir for one binary problem after the other, when its turn has come."""
        r = self.reservoir_size
        q = r if self.batch_size is None else self.batch_size
        self.classes_ = source.class_labels()
        self._binner = None
        self._learner = self._own_learner()
        positives = one_vs_all.problems(self.classes_)
        groups = [positives] if self.shared else [[positive] for positive in positives]
        seed = np.random.SeedSequence(entropy).spawn(2)[1]
        for k, (group, child) in enumerate(zip(groups, seed.spawn(len(groups)))):
            draws = _SignedFilter(self, source.open(capacity=r + q, stream=k), group)
            reservoir = self._reservoir(draws, r, q, [entropy, k])
            yield reservoir, self._own_strategy(), np.random.default_rng(child)

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        """An empty reservoir, of one binary problem or of all of them; ``numbers`` seed what it may need."""
        return (SharedReservoir if self.shared else Reservoir)(draws, r, q, LOSSES[self.loss], self._learner)

    def _finish(self) -> None:
        """Read the ensemble and the counts off the trained reservoirs."""
        reservoirs = [reservoir for reservoir, *_ in self._problems]
        learners = [learners for reservoir in reservoirs for learners in reservoir.problems]
        self.ensemble_ = self._learner.ensemble(learners, self._binner)
        self.staged_samples_drawn_ = np.sum([reservoir.drawn for reservoir in reservoirs], axis=0)
        self.staged_train_seconds_ = np.sum([reservoir.seconds for reservoir in reservoirs], axis=0)
        self.samples_drawn_per_problem_ = [reservoir.draws.drawn for reservoir in reservoirs]
        self.samples_drawn_ = sum(self.samples_drawn_per_problem_)
        held = [reservoir.draws.peak_held for reservoir in reservoirs]
        self.peak_samples_held_ = sum(held) if self.warm_start else max(held)
        self.covariance_restarts_ = sum(strategy.restarts for _, strategy, _ in self._problems)
        if not self.warm_start:
            del self._problems, self._binner, self._learner

    def _own_strategy(self) -> Strategy:
        return as_strategy(component_of(self, "strategy", OF_STRATEGIES))

    def _own_learner(self) -> WeakLearner:
        return as_weak_learner(component_of(self, "weak_learner", OF_WEAK_LEARNERS))

    def _check_parameters(self) -> None:
        fields.check(self)
        estimator.bins(self)
        if self.shared and self.balanced:
            raise BoostrunError("shared and balanced: a reservoir for all classes cannot be balanced for each of them")
        self._own_strategy().check(self.shared)
        self._own_learner()


class _SignedFilter:
    """A Filter as one reservoir sees it: labels -1 and +1, real values binned as the weak learner asks.

    Labels are (n,) for one positive class, (n, classes) for several.
    """

    def __init__(self, model: ReservoirClassifier, filter_, positives):
        self.model, self.filter, self.positives = model, filter_, np.asarray(positives)

    @property
    def drawn(self) -> int:
        return self.filter.drawn

    @property
    def peak_held(self) -> int:
        return self.filter.peak_held

    @property
    def weights(self) -> np.ndarray | None:
        return getattr(self.filter, "weights", None)

    def release(self, n: int) -> None:
        self.filter.release(n)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        if model.balanced:
            samples, labels = self.filter.draw_balanced(n, self.positives[0])
        else:
            samples, labels = self.filter.draw(n)
        if model._learner.codes and samples.dtype != np.uint8:
            if model._binner is None:  # the first r + q samples drawn set the bins of all problems
                model._binner = Binner(samples, model.max_bins)  # type: ignore[assignment]
            samples = model._binner.encode(samples)  # type: ignore[attr-defined]
        signs = np.where(labels[:, None] == self.positives, 1.0, -1.0)
        return samples, signs if model.shared else signs[:, 0]


class ActiveReservoir(Reservoir):
    """A :class:`Reservoir` that looks at the label of a sample only once it is kept.

    ``asked`` counts the labels requested by the end of each round. Samples discarded before that cost no label.
    """

    def __init__(self, draws, r: int, q: int, loss, learner: WeakLearner):
        super().__init__(draws, r, q, loss, learner)
        self.known = np.zeros(r + q, bool)
        self.asked: list[int] = []

    def _select(self, strategy: Strategy, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        self.known &= self.arrived < len(self.asked)  # samples that arrived since the last choice are new
        guesses = np.where(self.scores > 0.0, 1.0, -1.0)
        guesses[self.scores == 0.0] = rng.choice([-1.0, 1.0], np.count_nonzero(self.scores == 0.0))
        probability = 1.0 / (1.0 + np.exp(-self.scores))
        expected = probability * self.loss.weights(self.scores) + (1.0 - probability) * self.loss.weights(-self.scores)
        labels = np.where(self.known, self.labels, guesses)
        true = self.masses * self.loss.weights(self.labels * self.scores)
        weights = np.where(self.known, true, self.masses * expected)
        batch = Batch(self.samples, labels, weights, self.arrived, self.scores, self.masses)
        kept, corrected = checked(strategy(batch, self.r, rng), (self.r,), self.r + self.q)
        if strategy.carry_mass:
            self._carry_mass(kept, corrected, weights[kept])
        self.asked.append((self.asked[-1] if self.asked else 0) + np.count_nonzero(~self.known[kept]))  # type: ignore[arg-type]
        self.known[kept] = True
        # the ratio was decided by the guessed weight; the true one is known now
        share = np.divide(true[kept], weights[kept], out=np.ones(self.r), where=weights[kept] > 0.0)
        return kept, corrected * share


class ActiveReservoirClassifier(ReservoirClassifier):
    """Reservoir boosting that requests a label only for the samples it keeps.

    Parameters are those of :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`, of which neither
    ``balanced`` nor ``shared`` may be set: both need labels that have not been requested. One against the rest, each
    class has its own reservoir and requests its own labels: "is it this class?" is one label.

    Attributes
    ----------
    labels_asked_ : int, over all classes.
    staged_labels_asked_ : (T,) array, by the end of each round.

    The others are those of ReservoirClassifier.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] >= 90, seed=0)
    >>> model = ActiveReservoirClassifier("max", reservoir_size=20, n_estimators=5, random_state=0).fit_source(source)
    >>> model.samples_drawn_, 20 < model.labels_asked_ < 140
    (140, True)
    """

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        return ActiveReservoir(draws, r, q, LOSSES[self.loss], self._learner)

    def _finish(self) -> None:
        self.staged_labels_asked_ = np.sum([reservoir.asked for reservoir, *_ in self._problems], axis=0)
        self.labels_asked_ = int(self.staged_labels_asked_[-1])
        super()._finish()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.balanced or self.shared:
            raise BoostrunError("balanced and shared need labels that have not been requested")
