"""IBoost as a stream learner: boosting that follows a drifting concept (Grbovic & Vucetic 2011).

IBoost on a chunk of a stream (Grbovic & Vucetic 2011; sections 3 and 4), for any number of classes.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, NamedTuple

import numpy as np

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.kernels.plain import allocating_kernel, allocating_part, part, written_in
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.kernels import bases, committee
from boostrun.papers.iboost.kernels.committee import (
    CommitteeMembers,
    HeldOut,
    above_zero,
    margin_of,
    margins_of,
    predicted,
    shift,
    slide,
    start_order,
    step_batch,
    step_newest,
    step_random,
    weigh,
)
from boostrun.papers.iboost.keys import IBoostKeys

SEEN, SIZE, DIRTY, ADDED, NEGATIVE, BUDGET = range(6)  # places in CommitteeState.counts
_REFRESH = 1000  # examples after which margins kept by differences alone are summed anew


class CommitteeState(NamedTuple):
    """Window and committee; M classifiers at most, n slots, d features. All arrays are changed in place.

    ``columns`` (d, n) float64, ``labels`` (n,) int64, ``order`` (d, n) int32 for stumps; ``mass`` (n,) float64, for how
    many examples a slot stands, 0 if it is not in use; ``right`` (M, n) int8, +1 where a classifier is right on a slot
    and -1 where it is wrong; ``margins`` z (n,) float64, stale while ``counts[DIRTY]``; ``coefficients`` b (M,)
    float64; ``born`` (M,) int64, the example at which it was added; ``models`` (M, width) float64; ``counts`` (6,)
    int64; ``random`` (1,) uint64, the state of splitmix64.
    """

    columns: np.ndarray
    labels: np.ndarray
    order: np.ndarray
    mass: np.ndarray
    right: np.ndarray
    margins: np.ndarray
    coefficients: np.ndarray
    born: np.ndarray
    models: np.ndarray
    counts: np.ndarray
    random: np.ndarray


class Numbers(NamedTuple):
    """Parameters as numbers: see :class:`boostrun.papers.iboost.iboost.IBoostClassifier`.

    The first classifier is added after ``start`` examples. ``middle`` and ``half`` are those of :mod:`.margins`;
    ``eta`` counts (K - 1)^2 times; ``cap`` is infinite for the literal gradient; ``scale`` is 1, or 2 for coefficients
    as printed.
    """

    n_classes: int
    family: int
    start: int
    period: int
    n_steps: int
    batch: bool
    newest: bool
    log_gradient: bool
    steps_every: int
    additions: int
    drop_oldest: bool
    flip_bad: bool
    middle: float
    half: float
    eta: float
    cap: float
    eps_min: float
    scale: float
    var_floor: float


@allocating_kernel
def test_then_train(samples, labels, slots, state, settings, predictions, scores):
    """Predict each row and then learn it: ``samples`` (k, d) float64, ``labels`` and ``predictions`` (k,) int64.

    Row e takes slot ``slots[e]`` of the window (int64); ``scores`` (k,) is F(x) before it is learnt, of two classes.
    Cost a row as section 4.1 says; nothing is allocated but at additions.
    """
    classes = np.empty(state.born.shape[0], np.int64)
    votes, sums = np.empty(settings.n_classes), np.empty(state.labels.shape[0])
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[SIZE], settings.n_classes, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[SIZE], votes)
        scores[e] = votes[1]
        learn(samples[e], labels[e], slots[e], False, state, settings, classes, sums)


@part
def learn(sample, label, slot, eager, state, settings, classes, sums):
    """One example into a slot of the window, and what follows; ``eager`` adds a classifier though none is due.

    ``classes`` (M,) are the classifiers' answers; ``sums`` (n,) is scratch.
    """
    if enter(sample, label, slot, state, settings, classes, sums):
        past = state.counts[SEEN] - settings.start
        if eager or past % settings.period == 0:
            if past == 0 and settings.family == bases.STUMP:
                start_order(state.columns, state.order)
            for _ in range(settings.additions):
                add(state, settings)


@part
def enter(sample, label, slot, state, settings, classes, sums):
    """The example takes its slot, the coefficients take their steps, the negative ones go. False while the window
    fills."""
    state.counts[SEEN] += 1
    past = state.counts[SEEN] - settings.start
    replace(sample, label, slot, state, settings, classes)
    if past > 0:
        if settings.n_steps > 0 and past % settings.steps_every == 0 and state.counts[SIZE] > 0:
            step(slot, state, settings, sums)
            state.counts[DIRTY] = 1
        prune(state, settings)
        if settings.n_steps == 0 and state.counts[SEEN] % _REFRESH == 0:
            refresh(state, settings)
    return past >= 0


@written_in
def replace(sample, label, slot, state, settings, classes):
    """What stood in the slot leaves it to the newest: case (10), this slot only."""
    if settings.family == bases.STUMP and state.counts[SEEN] > settings.start:
        slide(state.columns, state.order, slot, sample)
    else:
        for r in range(sample.shape[0]):
            state.columns[r, slot] = sample[r]
    state.labels[slot], state.mass[slot] = label, 1.0
    for j in range(state.counts[SIZE]):
        state.right[j, slot] = 1 if classes[j] == label else -1
    state.margins[slot] = margin_of(
        state.right, state.coefficients, state.counts[SIZE], slot, settings.middle, settings.half
    )  # fmt: skip


@written_in
def step(slot, state, settings, sums):
    """Equations (8) and (9)."""
    right, b, size = state.right, state.coefficients, state.counts[SIZE]
    middle, half, n_steps, eta, cap = settings.middle, settings.half, settings.n_steps, settings.eta, settings.cap
    if settings.batch:
        step_batch(right, b, size, state.mass, middle, half, n_steps, eta, cap, settings.log_gradient, sums)
    elif settings.newest:
        step_newest(right, b, size, slot, state.margins, middle, half, n_steps, eta, cap)
    else:
        step_random(right, b, size, state.mass, state.random, middle, half, n_steps, eta, cap)


@written_in
def prune(state, settings):
    """Classifiers with negative coefficients go."""
    j = committee.first_negative(state.coefficients, state.counts[SIZE])
    while j < state.counts[SIZE]:
        remove(state, settings, j)
        state.counts[NEGATIVE] += 1
        j = committee.first_negative(state.coefficients, state.counts[SIZE])


@written_in
def remove(state, settings, j):
    """Delete classifier j, case (11)."""
    if not state.counts[DIRTY]:
        shift(state.right, j, -state.coefficients[j], settings.middle, settings.half, state.margins)
    committee.move_last(j, state.counts[SIZE], state.right, state.coefficients, state.born, state.models)
    state.counts[SIZE] -= 1


@written_in
def refresh(state, settings):
    """All margins anew, case (6)."""
    margins_of(
        state.right, state.coefficients, state.counts[SIZE], settings.middle, settings.half, state.margins
    )  # fmt: skip
    state.counts[DIRTY] = 0


@allocating_part
def add(state, settings):
    """Fit a classifier by (1) to the weights exp(-z), and add it with its coefficient; case (4).

    With a full budget the weights are those without the weakest, which goes if the newcomer is better than chance.
    """
    weights, model = np.empty(state.labels.shape[0]), np.empty(state.models.shape[1])
    said = np.empty(state.labels.shape[0], np.int64)
    leaver = weights_for_newcomer(state, settings, weights)
    bases.fit_to_used(
        settings.family, state.columns, state.order, state.labels, state.mass, weights, settings.n_classes,
        settings.var_floor, model,
    )  # fmt: skip
    bases.respond_window(settings.family, model, state.columns, settings.n_classes, said)
    if settings.flip_bad and settings.n_classes == 2 and committee.error_of(said, state.labels, weights) > 0.5:
        bases.flip(settings.family, model)
        bases.respond_window(settings.family, model, state.columns, settings.n_classes, said)
    append(state, settings, leaver, model, said, weights)


@written_in
def weights_for_newcomer(state, settings, weights):
    """Fill ``weights`` (n,) with what the next classifier is fitted to; returns who goes for it, -1 for nobody."""
    if state.counts[DIRTY]:
        refresh(state, settings)
    leaver = -1
    for i in range(weights.shape[0]):
        weights[i] = state.margins[i]
    if state.counts[SIZE] == state.born.shape[0]:
        leaver = committee.weakest(state.coefficients, state.born, state.counts[SIZE], settings.drop_oldest)
        shift(state.right, leaver, -state.coefficients[leaver], settings.middle, settings.half, weights)
    weigh(weights, state.mass, weights)
    return leaver


@written_in
def append(state, settings, leaver, model, said, weights):
    """Add a classifier, if it is better than chance: its numbers ``model``, its answers ``said`` (n,) on the window,
    which has the normalised ``weights``; ``leaver`` goes for it, unless it is -1. Returns whether it was added."""
    error = committee.error_of(said, state.labels, weights)
    coefficient = committee.coefficient_of(error, settings.eps_min, settings.scale, settings.n_classes)
    better = coefficient >= 0.0
    if better:
        if leaver >= 0:
            remove(state, settings, leaver)
            state.counts[BUDGET] += 1
        size = state.counts[SIZE]
        state.coefficients[size], state.born[size] = coefficient, state.counts[SEEN]
        for i in range(said.shape[0]):
            state.right[size, i] = 1 if said[i] == state.labels[i] else -1
        for i in range(model.shape[0]):
            state.models[size, i] = model[i]
        shift(state.right, size, coefficient, settings.middle, settings.half, state.margins)
        state.counts[SIZE] += 1
        state.counts[ADDED] += 1
    return better


_EPS_MIN = {"stump": 0.2, "gnb": 0.3, "bnb": 0.3, "elsewhere": 0.3}
_ETA = {"stochastic": 3e-3, "batch": 1e-3}
# the same of more than two classes with loss="mm"
_EPS_MIN_OF_SEVERAL = {"stump": 0.2, "gnb": 0.4, "bnb": 0.4, "elsewhere": 0.4}
_ETA_OF_SEVERAL = {"stochastic": 1e-2, "batch": 1e-3}
_EXAMPLES_A_CLASS = 5  # a window with fewer falls far behind; measured in docs/papers/iboost.md


class IBoostClassifier(IBoostKeys, StreamLearner):
    """IBoost: a committee that is kept while the data in a sliding window change.

    After every example, once the window is full::

        the oldest example leaves the window, the newest enters
        n_steps steps of descent on the exponential cost of the window move the coefficients:
            stochastic (9)  b_j += eta a_ji exp(-z_i)                     i the newest example, or one drawn
            batch      (8)  b_j += eta sum_i a_ji exp(-z_i)
        classifiers with b_j < 0 are deleted
        every ``period`` examples: w_i = exp(-z_i); fit a classifier to the weighted window; b = 1/2 ln((1 - e) / e);
            with a full budget the classifier with the smallest b_j goes for it

    with a_ji = y_i f_j(x_i) and z_i = sum_j b_j a_ji. Until the window is full nothing is learnt, and the second class
    (the first of more than two) is predicted.

    Of K > 2 classes every wrong one counts against the right one (AdaBoost.MM)::

        v_c = sum of the b_j of those that say c;  u_i = sum over c != y of exp(v_c - v_y)
        slope of f_j on example i:  g if it is right, -g exp(v_s - v_y) / u_i if it says s;  g = min(u_i, grad_cap)
        steps add eta times the slopes, on one example or on all;  the fit has the weights g, a stump the slopes
        b = 1/2 ln((1 - e) / e), e the wrong ones' share of the newcomer's slopes

    which of two is the above. ``loss="samme"`` has SAMME's code vectors instead: a_ji is 1 / (K - 1) where f_j is right
    and -1 / (K - 1)^2 where it is wrong, chance is e = 1 - 1/K, and eta counts (K - 1)^2 times. ``multiclass="ovr"`` is
    an IBoost of two classes for each, against the rest, and the largest F(x) wins.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, of ``example="random"``.

    Attributes
    ----------
    classes_ : (n_classes,) array
    betas_ : (m,) array, coefficients of the committee as it stands; one committee after the other with "ovr".
    n_seen_ : int, examples learnt.
    n_added_, n_removed_negative_, n_removed_budget_ : int, classifiers added, and removed by either rule.

    Notes
    -----
    An example costs M responses and M + b operations (stochastic, newest), b M (random) or 2 b n M (batch); an addition
    M n and a fit to the window. Memory is n (M + 8 d) bytes and M classifiers, whatever the length of the stream; cost
    and memory K times as much with "ovr" of K > 2 classes. There a class met for the first time later on gets a
    committee of its own, and a third one makes the two begin anew; the window is kept.

    References
    ----------
    .. [1] M. Grbovic and S. Vucetic, "Tracking Concept Change with Incremental Boosting by Minimization of the Evolving
       Exponential Loss", ECML PKDD 2011.
    .. [2] I. Mukherjee and R. E. Schapire, "A Theory of Multiclass Boosting", JMLR 14, 2013.
    .. [3] J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2, 2009.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (6000, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= np.where(np.arange(6000) < 3000, 8, 13), 1, -1)
    >>> model = IBoostClassifier(n_window=200, budget=50)
    >>> right = model.test_then_train(X, y) == y
    >>> bool(right[2000:3000].mean() > 0.95), bool(right[3000:3100].mean() < 0.85), bool(right[5000:].mean() > 0.95)
    (True, True, True)
    """

    uses_change_detector = False
    updates_base_online = False
    adds_and_removes = True
    keeps_window = True

    _families: ClassVar[dict[str, int]] = {"stump": bases.STUMP, "gnb": bases.GNB, "bnb": bases.BNB}

    def decision_function(self, X) -> np.ndarray:
        """F(x) = sum_j b_j f_j(x), (k,), for two classes; coefficients that vote for each class, (k, K), for more, or
        F(x) of each class against the rest. The second of two classes is predicted where F(x) > 0; where it is 0, as it
        is until the window is full, that class is predicted too, and the least number above 0 stands for it."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self._settings.n_classes == 2:
            scores = np.stack([predicted(members, X)[1][0] for members in self._committees()])
            return above_zero(scores[0]) if len(scores) == 1 else scores.T
        return predicted(self.members(), X)[1].T  # type: ignore[arg-type]

    def members(self) -> CommitteeMembers | None:
        """The committee as numbers, not copied; None where there is one a class."""
        return self._committees()[0] if len(self._states) == 1 else None

    def answers_on(self, X: np.ndarray) -> HeldOut:
        """Labels of the rows of X by the committee as it stands, each time it is called."""
        return HeldOut(self, X)

    def _committees(self) -> list[CommitteeMembers]:
        family, n_classes = self._settings.family, self._settings.n_classes
        return [
            CommitteeMembers(family, state.models, state.coefficients, int(state.counts[SIZE]), n_classes, signed=True)
            for state in self._states
        ]

    @property
    def betas_(self) -> np.ndarray:
        check_is_fitted(self)
        return np.concatenate([state.coefficients[: state.counts[SIZE]] for state in self._states])

    @property
    def n_seen_(self) -> int:
        check_is_fitted(self)
        return int(self._state.counts[SEEN])

    @property
    def n_added_(self) -> int:
        return self._count(ADDED)

    @property
    def n_removed_negative_(self) -> int:
        return self._count(NEGATIVE)

    @property
    def n_removed_budget_(self) -> int:
        return self._count(BUDGET)

    def _count(self, place: int) -> int:
        check_is_fitted(self)
        return sum(int(state.counts[place]) for state in self._states)

    @property
    def _state(self) -> CommitteeState:
        return self._states[0]

    def _begin(self, n_features: int, n_classes: int) -> None:
        self._check_parameters()
        self._check_room(n_classes, 2)
        self._seed = self._entropy()
        if self.multiclass == "ovr" and n_classes > 2:
            self._settings = self._numbers(2)
            self._states = [self._empty(n_features, 2, self.n_window, c) for c in range(n_classes)]
        else:
            self._settings = self._numbers(n_classes)
            state = self._empty(n_features, n_classes, self.n_window)
            self._states = [_mm().begun(state, n_classes) if self._by_pairs else state]

    @property
    def _by_pairs(self) -> bool:
        """Whether each wrong class counts against the right one; of two classes that is what always is done."""
        return self.loss == "mm" and self._settings.n_classes > 2

    def _empty(self, n_features: int, n_classes: int, slots: int, number: int = 0) -> CommitteeState:
        """A window of so many slots, none in use, and a committee without members, the ``number``-th of several."""
        M = self.budget
        ordered = (n_features, slots) if self._family == "stump" else (0, 0)
        size = bases.width(self._settings.family, n_features, n_classes)
        seed = np.random.SeedSequence(self._seed, spawn_key=(number,) if number else ())
        return CommitteeState(
            columns=np.zeros((n_features, slots)), labels=np.zeros(slots, np.int64), order=np.zeros(ordered, np.int32),
            mass=np.zeros(slots), right=np.zeros((M, slots), np.int8), margins=np.zeros(slots),
            coefficients=np.zeros(M), born=np.zeros(M, np.int64), models=np.zeros((M, size)),
            counts=np.zeros(6, np.int64), random=seed.generate_state(1, np.uint64),
        )  # fmt: skip

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        slots = (self._state.counts[SEEN] + np.arange(len(X))) % self.n_window
        predictions, scores = np.empty(len(X), np.int64), np.empty((len(self._states), len(X)))
        if self._by_pairs:
            _mm().test_then_train(X, y, slots, self._state, self._settings, self._settings.cap, predictions)
            self._check_finite(self._state)
            return predictions
        for c, state in enumerate(self._states):
            labels = y if len(self._states) == 1 else (y == c).astype(np.int64)
            test_then_train(X, labels, slots, state, self._settings, predictions, scores[c])
            self._check_finite(state)
        return predictions if len(self._states) == 1 else scores.argmax(axis=0)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        found = [predicted(members, X) for members in self._committees()]
        return found[0][0] if len(found) == 1 else np.stack([scores[0] for _, scores in found]).argmax(axis=0)

    def _check_finite(self, state: Any) -> None:
        sums = state.votes if self._by_pairs else state.margins
        if not (np.isfinite(state.coefficients).all() and np.isfinite(sums).all()):
            raise BoostrunError(
                f"the coefficients are no longer finite after {self.n_seen_} examples: grad_cap={self.grad_cap!r} and "
                f"eta={self.eta!r} let the steps grow; grad_cap=1 bounds them"
            )

    def _grow(self, n_classes: int) -> None:
        self._check_room(n_classes, n_classes - 1)
        if self.multiclass == "ovr":
            self._grow_one_vs_rest(n_classes)
        else:
            self._grow_codes(n_classes)

    def _grow_one_vs_rest(self, n_classes: int) -> None:
        """A committee for each new class, which no example in the window has; all begin anew where there were two."""
        old = self._states
        known = [old[0].labels == c for c in range(2)] if len(old) == 1 else []
        self._states = [] if known else old
        for c in range(len(self._states), n_classes):
            state = self._empty(self.n_features_in_, 2, len(old[0].labels), c)
            for name in ("columns", "order", "mass"):
                getattr(state, name)[:] = getattr(old[0], name)
            state.labels[:] = known[c] if c < len(known) else 0
            state.counts[SEEN] = old[0].counts[SEEN]
            self._states.append(state)

    def _grow_codes(self, n_classes: int) -> None:
        """Classifiers stay, and so do their coefficients; a naive Bayes never answers with a class it has not met."""
        state, d = self._state, self.n_features_in_
        self._settings = self._numbers(n_classes)
        models = bases.grow_models(self._settings.family, state.models, d, n_classes)
        self._states = [state._replace(models=models)]
        if self._by_pairs:
            self._states = [_mm().grown(self._state, n_classes)]
        self._refresh()

    def _widen(self, n_features: int) -> bool:
        """Classifiers stay, and do not look at the new features."""
        d, family, n_classes = self.n_features_in_, self._settings.family, self._settings.n_classes
        self._states = [
            state._replace(
                columns=bases.widen_columns(state.columns, n_features),
                order=bases.widen_order(state.order, n_features) if self._family == "stump" else state.order,
                models=bases.widen_models(family, state.models, n_classes, d, n_features),
            )
            for state in self._states
        ]
        return True

    def _refresh(self) -> None:
        """All margins anew."""
        state, settings = self._state, self._settings
        if self._by_pairs:
            _mm().refresh(state)
            return
        margins_of(state.right, state.coefficients, state.counts[SIZE], settings.middle, settings.half, state.margins)
        state.counts[DIRTY] = 0

    @property
    def _family(self) -> str:
        """Which family the classifiers are of."""
        return self.base

    def _numbers(self, n_classes: int) -> Numbers:
        right, wrong = 1.0 / (n_classes - 1), -1.0 / (n_classes - 1) ** 2
        pairs = self.loss == "mm" and n_classes > 2
        eta = float((_ETA_OF_SEVERAL if pairs else _ETA)[self.update] if self.eta is None else self.eta)
        eps_min = (_EPS_MIN_OF_SEVERAL if pairs else _EPS_MIN)[self._family]
        return Numbers(
            n_classes=n_classes,
            family=self._families[self._family],
            start=int(self.n_window),
            period=int(self.period),
            n_steps=int(self.n_steps),
            batch=self.update == "batch",
            newest=self.example == "newest",
            log_gradient=self.gradient == "log",
            steps_every=int(self.period) if self.update_every == "p" else 1,
            additions=int(self.adds_per_event),
            drop_oldest=self.remove == "oldest",
            flip_bad=bool(self.flip_bad),
            middle=0.5 * (right + wrong),
            half=0.5 * (right - wrong),
            eta=eta if pairs else eta * (n_classes - 1) ** 2,
            cap=math.inf if self.grad_cap is None else float(self.grad_cap),
            eps_min=float(eps_min if self.eps_min is None else self.eps_min),
            scale=2.0 if self.scale == "literal" else 1.0,
            var_floor=float(self.var_floor),
        )

    def _check_room(self, n_classes: int, before: int) -> None:
        """A warning, once a stream, where the window is too short for so many classes; ``before`` were known."""
        enough = self.n_window >= _EXAMPLES_A_CLASS * n_classes
        warned = before > 2 and self.n_window < _EXAMPLES_A_CLASS * before
        if n_classes > 2 and not enough and not warned:
            warnings.warn(
                f"n_window={self.n_window} is short for {n_classes} classes: IBoost follows them with "
                f"{_EXAMPLES_A_CLASS} examples a class or more, n_window={_EXAMPLES_A_CLASS * n_classes}",
                UserWarning,
                stacklevel=2,
            )

    def _check_parameters(self) -> None:
        fields.check(self)
        if self.gradient == "log" and self.update != "batch":
            raise BoostrunError("gradient='log' divides by the cost of the whole window: it needs update='batch'")


def _mm():
    """What compiles for several classes alone."""
    from boostrun.papers.iboost.kernels import iboost_mm

    return iboost_mm
