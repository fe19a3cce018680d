"""IBoost: boosting on a sliding window whose concept drifts (Grbovic & Vucetic, ECML PKDD 2011).

The loop on a chunk of a stream, for any number of classes, and the estimator. The arithmetic is in
:mod:`.kernels.committee`, the base classifiers in :mod:`.kernels.bases`, the loss of several classes in
:mod:`.kernels.iboost_mm`.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, NamedTuple

import numpy as np

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.kernels import allocating_kernel, allocating_part, part, written_in
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.kernels import bases, committee
from boostrun.papers.iboost.kernels.committee import CommitteeMembers, HeldOut, above_zero, predicted
from boostrun.papers.iboost.keys import IBoostKeys

SEEN, SIZE, DIRTY, ADDED, NEGATIVE, BUDGET = range(6)  # places in CommitteeState.counts
_REFRESH = 1000  # examples after which margins that were updated by differences are summed again


class CommitteeState(NamedTuple):
    """Window and committee: at most M classifiers, n slots, d features. All arrays are changed in place.

    ``columns`` (d, n) float64 and ``labels`` (n,) int64 are the window; ``order`` (d, n) int32 sorts it for stumps;
    ``mass`` (n,) float64 is the number of examples a slot stands for, 0 for an unused slot. ``right`` (M, n) int8 is +1
    if a classifier is right on a slot, else -1. ``margins`` z (n,) float64 are stale while ``counts[DIRTY]`` is 1.
    ``coefficients`` b (M,) float64, ``born`` (M,) int64 (the example at which a classifier was added), ``models`` (M,
    width) float64, ``counts`` (6,) int64, ``random`` (1,) uint64 (the state of splitmix64).
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
    """The parameters of :class:`IBoostClassifier` as numbers.

    The first classifier is added after ``start`` examples. ``middle`` and ``half`` are explained in
    :mod:`.kernels.committee`. ``eta`` includes the factor (K - 1)^2; ``cap`` is infinite for the literal gradient;
    ``scale`` is 1, or 2 for coefficients as printed.
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
    """Predict each row, then learn it: ``samples`` (k, d) float64, ``labels`` and ``predictions`` (k,) int64. Row e
    takes slot ``slots[e]`` of the window; ``scores`` (k,) is F(x) of two classes before. Only additions allocate."""
    classes = np.empty(state.born.shape[0], np.int64)
    votes, sums = np.empty(settings.n_classes), np.empty(state.labels.shape[0])
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[SIZE], settings.n_classes, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[SIZE], votes)
        scores[e] = votes[1]
        learn(samples[e], labels[e], slots[e], False, state, settings, classes, sums)


@part
def learn(sample, label, slot, eager, state, settings, classes, sums):
    """Learn one example, and add a classifier if one is due or ``eager``. ``classes`` (M,) are the classifiers' answers
    to the example; ``sums`` (n,) is scratch."""
    if enter(sample, label, slot, state, settings, classes, sums):
        past = state.counts[SEEN] - settings.start
        if eager or past % settings.period == 0:
            if past == 0 and settings.family == bases.STUMP:
                committee.start_order(state.columns, state.order)
            for _ in range(settings.additions):
                add(state, settings)


@part
def enter(sample, label, slot, state, settings, classes, sums):
    """Store the example, take the gradient steps, delete negative classifiers. False until the window is full."""
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
    """Overwrite a slot with the newest example; only this slot gets a new margin, case (10)."""
    if settings.family == bases.STUMP and state.counts[SEEN] > settings.start:
        committee.slide(state.columns, state.order, slot, sample)
    else:
        for r in range(sample.shape[0]):
            state.columns[r, slot] = sample[r]
    state.labels[slot], state.mass[slot] = label, 1.0
    for j in range(state.counts[SIZE]):
        state.right[j, slot] = 1 if classes[j] == label else -1
    state.margins[slot] = committee.margin_of(
        state.right, state.coefficients, state.counts[SIZE], slot, settings.middle, settings.half
    )  # fmt: skip


@written_in
def step(slot, state, settings, sums):
    """Gradient steps by equation (8) or (9)."""
    right, b, size = state.right, state.coefficients, state.counts[SIZE]
    middle, half, n_steps, eta, cap = settings.middle, settings.half, settings.n_steps, settings.eta, settings.cap
    if settings.batch:
        committee.step_batch(right, b, size, state.mass, middle, half, n_steps, eta, cap, settings.log_gradient, sums)
    elif settings.newest:
        committee.step_newest(right, b, size, slot, state.margins, middle, half, n_steps, eta, cap)
    else:
        committee.step_random(right, b, size, state.mass, state.random, middle, half, n_steps, eta, cap)


@written_in
def prune(state, settings):
    """Delete classifiers with negative coefficients."""
    j = committee.first_negative(state.coefficients, state.counts[SIZE])
    while j < state.counts[SIZE]:
        remove(state, settings, j)
        state.counts[NEGATIVE] += 1
        j = committee.first_negative(state.coefficients, state.counts[SIZE])


@written_in
def remove(state, settings, j):
    """Delete classifier j, case (11)."""
    if not state.counts[DIRTY]:
        committee.shift(state.right, j, -state.coefficients[j], settings.middle, settings.half, state.margins)
    committee.move_last(j, state.counts[SIZE], state.right, state.coefficients, state.born, state.models)
    state.counts[SIZE] -= 1


@written_in
def refresh(state, settings):
    """Compute all margins from the coefficients, case (6)."""
    committee.margins_of(
        state.right, state.coefficients, state.counts[SIZE], settings.middle, settings.half, state.margins
    )  # fmt: skip
    state.counts[DIRTY] = 0


@allocating_part
def add(state, settings):
    """Fit a classifier to the weights exp(-z), equation (1), and add it with its coefficient, case (4). With a full
    budget the weights leave out the weakest classifier, which goes if the new one is better than chance."""
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
    """Fill ``weights`` (n,) for the fit of the next classifier. Returns the classifier that goes for it, or -1."""
    if state.counts[DIRTY]:
        refresh(state, settings)
    leaver = -1
    for i in range(weights.shape[0]):
        weights[i] = state.margins[i]
    if state.counts[SIZE] == state.born.shape[0]:
        leaver = committee.weakest(state.coefficients, state.born, state.counts[SIZE], settings.drop_oldest)
        committee.shift(state.right, leaver, -state.coefficients[leaver], settings.middle, settings.half, weights)
    committee.weigh(weights, state.mass, weights)
    return leaver


@written_in
def append(state, settings, leaver, model, said, weights):
    """Add a classifier if it is better than chance; returns whether it was added. ``model`` are its numbers,
    ``said`` (n,) its answers on the window, ``weights`` (n,) sum to 1. ``leaver`` goes for it unless it is -1."""
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
        committee.shift(state.right, size, coefficient, settings.middle, settings.half, state.margins)
        state.counts[SIZE] += 1
        state.counts[ADDED] += 1
    return better


_EPS_MIN = {"stump": 0.2, "gnb": 0.3, "bnb": 0.3, "elsewhere": 0.3}
_ETA = {"stochastic": 3e-3, "batch": 1e-3}
# for more than two classes with loss="mm"
_EPS_MIN_OF_SEVERAL = {"stump": 0.2, "gnb": 0.4, "bnb": 0.4, "elsewhere": 0.4}
_ETA_OF_SEVERAL = {"stochastic": 1e-2, "batch": 1e-3}
_EXAMPLES_A_CLASS = 5  # with fewer in the window accuracy falls sharply; measured in docs/papers/iboost.md


class IBoostClassifier(IBoostKeys, StreamLearner):
    """IBoost: a committee that is updated while a sliding window moves over the stream.

    After each example, once the window is full::

        the oldest example leaves the window, the newest enters
        n_steps gradient steps on the exponential cost of the window move the coefficients:
            stochastic (9)  b_j += eta a_ji exp(-z_i)                     i the newest example, or a random one
            batch      (8)  b_j += eta sum_i a_ji exp(-z_i)
        classifiers with b_j < 0 are deleted
        every ``period`` examples: w_i = exp(-z_i); fit a classifier to the weighted window; b = 1/2 ln((1 - e) / e);
            if the budget is full, it replaces the classifier with the smallest b_j

    with a_ji = y_i f_j(x_i) and z_i = sum_j b_j a_ji. Until the window is full IBoost learns nothing and predicts the
    second class (the first of more than two).

    For K > 2 classes every wrong class counts against the right one (AdaBoost.MM)::

        v_c = sum of the b_j of the classifiers that say c;  u_i = sum over c != y of exp(v_c - v_y)
        slope of f_j on example i:  g if it is right, -g exp(v_s - v_y) / u_i if it says s;  g = min(u_i, grad_cap)
        a step adds eta times the slopes of one example or of all;  fits use the weights g, stumps the slopes
        b = 1/2 ln((1 - e) / e), e the share of the wrong answers in the new classifier's slopes

    For two classes both are the same. ``loss="samme"`` uses SAMME's code vectors: a_ji is 1 / (K - 1) if f_j is right
    and -1 / (K - 1)^2 if it is wrong, chance is e = 1 - 1/K, and eta is multiplied by (K - 1)^2. ``multiclass="ovr"``
    trains one IBoost for each class against the rest; the largest F(x) wins.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of ``example="random"``.

    Attributes
    ----------
    classes_ : (n_classes,) array
    betas_ : (m,) array, coefficients of the current committee; with "ovr" of all committees, one after the other.
    n_seen_ : int, number of examples learnt.
    n_added_, n_removed_negative_, n_removed_budget_ : int, number of classifiers added, deleted for a negative
        coefficient, and replaced because the budget was full.

    Notes
    -----
    An example costs M responses and M + b operations (stochastic, newest), b M (random) or 2 b n M (batch). An addition
    costs M n and a fit to the window. Memory is n (M + 8 d) bytes and M classifiers, whatever the length of the stream.
    With "ovr" and K > 2 classes cost and memory are K times as high. There a class that appears later gets a new
    committee; a third class replaces the one committee of two classes by three new ones and keeps the window.

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
        """Scores of the rows of X (k, d).

        Two classes: F(x) = sum_j b_j f_j(x), (k,); the second class is predicted where it is above 0. At exactly 0 (as
        before the window is full) the second class is predicted too, and the smallest positive number is returned. More
        classes: (k, K), the sum of the coefficients that vote for each class, or with "ovr" each class's F(x).
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self._settings.n_classes == 2:
            scores = np.stack([predicted(members, X)[1][0] for members in self._committees()])
            return above_zero(scores[0]) if len(scores) == 1 else scores.T
        return predicted(self.members(), X)[1].T  # type: ignore[arg-type]

    def members(self) -> CommitteeMembers | None:
        """The committee as numbers, not copied; None if there is one for each class."""
        return self._committees()[0] if len(self._states) == 1 else None

    def answers_on(self, X: np.ndarray) -> HeldOut:
        """A function that returns the current committee's labels of the rows of X."""
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
            self._states = [several_classes().begun(state, n_classes) if self._by_pairs else state]

    @property
    def _by_pairs(self) -> bool:
        """Whether the loss sets each wrong class against the right one, for more than two classes."""
        return self.loss == "mm" and self._settings.n_classes > 2

    def _empty(self, n_features: int, n_classes: int, slots: int, number: int = 0) -> CommitteeState:
        """An empty window of ``slots`` slots and an empty committee, committee ``number`` of several."""
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
            several_classes().test_then_train(X, y, slots, self._state, self._settings, self._settings.cap, predictions)
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
                f"the coefficients are no longer finite after {self.n_seen_} examples: with grad_cap={self.grad_cap!r} "
                f"and eta={self.eta!r} the steps grow without bound; grad_cap=1 bounds them"
            )

    def _grow(self, n_classes: int) -> None:
        self._check_room(n_classes, n_classes - 1)
        if self.multiclass == "ovr":
            self._grow_one_vs_rest(n_classes)
        else:
            self._grow_codes(n_classes)

    def _grow_one_vs_rest(self, n_classes: int) -> None:
        """Add an empty committee for each new class. If there were two classes, replace their committee by new ones."""
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
        """Keep classifiers and coefficients; a naive Bayes never answers with a class it has not seen."""
        state, d = self._state, self.n_features_in_
        self._settings = self._numbers(n_classes)
        models = bases.grow_models(self._settings.family, state.models, d, n_classes)
        self._states = [state._replace(models=models)]
        if self._by_pairs:
            self._states = [several_classes().grown(self._state, n_classes)]
        self._refresh()

    def _widen(self, n_features: int) -> bool:
        """Keep the classifiers, which ignore the new features."""
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
        state, settings = self._state, self._settings
        if self._by_pairs:
            several_classes().refresh(state)
            return
        committee.margins_of(
            state.right, state.coefficients, state.counts[SIZE], settings.middle, settings.half, state.margins
        )
        state.counts[DIRTY] = 0

    @property
    def _family(self) -> str:
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
        """Warn, once a stream, if the window is too short for this many classes; ``before`` were known."""
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
            raise BoostrunError("gradient='log' needs update='batch': it divides by the cost of the whole window")


def several_classes():
    """The loop for several classes, imported (and compiled) only if needed."""
    from boostrun.papers.iboost.kernels import iboost_mm

    return iboost_mm
