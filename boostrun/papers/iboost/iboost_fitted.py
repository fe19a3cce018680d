"""IBoost with other base classifiers, and IBoost on a memory that GEEM chooses.

The base classifiers are logistic regressions, copies of an object, or Hoeffding trees. They are kept outside the
committee of :mod:`.iboost` (several classes: :mod:`.kernels.iboost_mm`), in M + 1 places; a row of its ``models`` holds
the place of a member. A new classifier is fitted in a free place to the window, oldest example first, with the weights
n w_i, so that the window has the weight n.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from boostrun.kernels import allocating_kernel, hoeffding, kernel, part, written_in
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost import fitted_members, iboost
from boostrun.papers.iboost.baselines import rules_of
from boostrun.papers.iboost.fitted_loops import until_next
from boostrun.papers.iboost.iboost import (
    SEEN,
    SIZE,
    IBoostClassifier,
    enter,
    refresh,
    several_classes,
    weights_for_newcomer,
)
from boostrun.papers.iboost.kernels import bases, committee
from boostrun.papers.iboost.kernels import iboost_mm as mm
from boostrun.papers.iboost.kernels.committee import BLOCK, CommitteeMembers, above_zero, vote_rows_of, weigh
from boostrun.papers.iboost.keys import IBoostFittedKeys, IBoostGeemKeys, IBoostTreesKeys
from boostrun.papers.reservoir.geem import Geem
from boostrun.papers.reservoir.strategies import Batch


@allocating_kernel
def follow_two_classes(said, X, y, state, settings, out):
    """Predict each row and let it enter the window. ``said`` (M + 1, k) are the answers of the classifier in each place
    to the rows X (k, d) with codes y (k,); ``out`` (k,) gets the committee's answers."""
    classes, sums = np.empty(state.born.shape[0], np.int64), np.empty(state.labels.shape[0])
    votes = np.empty(settings.n_classes)
    for e in range(X.shape[0]):
        out[e] = _answer(said, e, state, classes, votes)
        iboost.enter(X[e], y[e], state.counts[SEEN] % sums.shape[0], state, settings, classes, sums)


@allocating_kernel
def follow_several(said, X, y, state, settings, out):
    """:func:`follow_two_classes` with the loss of several classes."""
    n = state.labels.shape[0]
    classes, slopes = np.empty(state.born.shape[0], np.int64), np.empty((n, settings.n_classes))
    votes = np.empty(settings.n_classes)
    for e in range(X.shape[0]):
        out[e] = _answer(said, e, state, classes, votes)
        mm.learn(X[e], y[e], state.counts[SEEN] % n, state, settings, classes, slopes)


@written_in
def _answer(said, e, state, classes, votes):
    size = state.counts[SIZE]
    for j in range(size):
        classes[j] = said[int(state.models[j, 0]), e]
    return committee.vote(classes, state.coefficients, size, votes)


@kernel
def weigh_newcomers(state, settings, weights):
    """:func:`.iboost.weights_for_newcomer`, callable from Python."""
    return iboost.weights_for_newcomer(state, settings, weights)


@allocating_kernel
def append(state, settings, leaver, place, said, weights):
    """:func:`.iboost.append`, callable from Python; the model's only number is its ``place``."""
    iboost.append(state, settings, leaver, np.array([float(place)]), said, weights)


@kernel
def weigh_several(state, settings, slopes, weights):
    """:func:`.iboost_mm.slopes_for_newcomer`, callable from Python; ``weights`` (n,) are the slopes of the right
    answers."""
    leaver, total = mm.slopes_for_newcomer(state, settings, settings.cap, slopes)
    mm.weights_of(slopes, state.labels, total, weights)
    return leaver


@allocating_kernel
def append_several(state, settings, leaver, place, said, slopes):
    """:func:`.iboost_mm.append`, callable from Python."""
    mm.append(state, settings, leaver, np.array([float(place)]), said, slopes)


class IBoostElsewhere(IBoostClassifier):
    """Base of IBoosts whose classifiers are kept in M + 1 places outside the committee; one place is always free."""

    _families: ClassVar[dict[str, int]] = {"elsewhere": bases.ELSEWHERE}
    _family = "elsewhere"
    grow, flip_bad, var_floor = False, False, 1e-3
    scale, update_every, adds_per_event, remove, multiclass, loss = "half", "1", 1, "smallest", "samme", "mm"

    @abstractmethod
    def _answers(self, j: int, X: np.ndarray) -> np.ndarray:
        """Codes (k,) of the rows of X (k, d) by member j."""

    def decision_function(self, X) -> np.ndarray:
        """Two classes: F(x), (k,). More: the coefficients that vote for each class, (k, K)."""
        check_is_fitted(self)
        scores = self._scored(self._checked(X, reset=False))[1]
        return above_zero(scores[0]) if len(scores) == 1 else scores.T

    def members(self) -> None:
        """None: the members are not rows of numbers."""
        return None

    def answers_on(self, X):
        """A function that returns the current committee's labels of the rows of X; members that do not grow answer
        once."""
        return HeldElsewhere(self, X)

    def _predict(self, X):
        return self._scored(X)[0]

    def _scored(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes (k,) and scores of X, F(x) (1, k) or votes (K, k), computed in blocks of rows."""
        n_classes, size = self._settings.n_classes, len(self.betas_)
        codes, scores = np.empty(len(X), np.int64), np.empty((1 if n_classes == 2 else n_classes, len(X)))
        for first in range(0, len(X), BLOCK):
            part = slice(first, first + BLOCK)
            said = np.empty((size, len(codes[part])), np.min_scalar_type(n_classes - 1))
            for j in range(size):
                said[j] = self._answers(j, X[part])
            codes[part], scores[:, part] = self._counted(said)
        return codes, scores

    def _counted(self, said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes and scores from the members' answers ``said`` (m, k)."""
        state, n_classes = self._state, self._settings.n_classes
        members = CommitteeMembers(
            bases.ELSEWHERE, state.models, state.coefficients, len(said), n_classes, signed=True
        )  # fmt: skip
        return vote_rows_of(members, said, np.arange(len(said)))

    def _grow_codes(self, n_classes):
        self._settings = self._numbers(n_classes)
        self._states = [several_classes().grown(self._state, n_classes)]
        self._refresh()

    def _widen(self, n_features):
        """A new feature was 0 so far."""
        state = self._state
        self._states = [state._replace(columns=bases.widen_columns(state.columns, n_features))]
        return True


class HeldElsewhere:
    """Labels of one hold-out ``x`` (t, d), the same to the bit as ``predict``. A member that does not grow answers
    once; it is identified by the example at which it was added."""

    def __init__(self, learner: IBoostElsewhere, x: np.ndarray):
        self._learner, self._x = learner, np.array(x, np.float64, order="C")
        self._said: dict[int, np.ndarray] = {}

    def __call__(self) -> np.ndarray:
        """Labels (t,) by the current committee."""
        learner = self._learner
        if learner.grow or not len(learner.betas_):
            return learner.predict(self._x)
        before = self._said
        self._said = {
            born: before[born] if born in before else learner._answers(j, self._x)
            for j, born in enumerate(learner._state.born[: len(learner.betas_)].tolist())
        }
        return learner._labels_of(learner._counted(np.stack([*self._said.values()]))[0])


class IBoostFittedClassifier(IBoostFittedKeys, IBoostElsewhere):
    """IBoost with logistic regressions, or with copies of an object, as base classifiers.

    A classifier is fitted to the window and does not change afterwards. The regression is that of ``algo=ocb
    algo.base=logistic``. An object of scikit-learn needs ``sample_weight`` in its ``fit``, one of river ``w`` in its
    ``learn_one``. Only ``example="random"`` and the object itself are random.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of ``example="random"``.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : see :class:`boostrun.IBoostClassifier`

    Notes
    -----
    An example costs M answers and M + b operations, an addition a fit and n answers (regressions: O(n K
    d)). Between two additions all members answer at once. Memory is n (M + 8 d) bytes and M + 1 classifiers. For
    several classes the loss is ``loss="mm"`` of :class:`boostrun.IBoostClassifier`. Committees of objects can be
    pickled, but not saved.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (600, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= 8, 1, -1)
    >>> model = IBoostFittedClassifier(base=DecisionTreeClassifier(max_depth=2), n_window=100, budget=5, period=20)
    >>> bool((model.test_then_train(X, y) == y)[300:].mean() > 0.8)
    True
    """

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._models = np.zeros((self.budget + 1, bases.width(self._others.family, n_features, n_classes)))
        self._fitted = self._others.fresh(self.budget + 1, n_classes, n_features)

    @property
    def _others(self) -> fitted_members.FittedMembers:
        return fitted_members.members_of(self)

    @property
    def _n_classes(self) -> int:
        return self._settings.n_classes

    def _learn(self, X, y):
        out, end, n = np.empty(len(X), np.int64), 0, self.n_window
        follow = follow_several if self._by_pairs else follow_two_classes
        while end < len(X):
            first, end = end, end + until_next(int(self._state.counts[SEEN]), n, self.period)
            follow(self._said(X[first:end]), X[first:end], y[first:end], self._state, self._settings, out[first:end])
            if end <= len(X):
                self._add()
        self._check_finite(self._state)
        return out

    def _said(self, X: np.ndarray) -> np.ndarray:
        """Codes (M + 1, k) of the rows of X (k, d) by the member in each place; 0 for the others."""
        said = np.zeros((self.budget + 1, len(X)), np.min_scalar_type(self._n_classes - 1))
        for place in self._places():
            said[place] = self._others.said(X, place, place + 1)[0]
        return said

    def _places(self) -> list[int]:
        return self._state.models[: self._state.counts[SIZE], 0].astype(int).tolist()

    def _add(self) -> None:
        """Fit a classifier to the weighted window in a free place; it becomes a member if it is better than chance."""
        state, settings, n = self._state, self._settings, self.n_window
        weights, slopes, said = np.empty(n), np.empty((n, self._n_classes)), np.empty(n, np.int64)
        place = min(set(range(self.budget + 1)).difference(self._places()))
        if self._by_pairs:
            leaver = weigh_several(state, settings, slopes, weights)
        else:
            leaver = weigh_newcomers(state, settings, weights)
        order = (state.counts[SEEN] + np.arange(n)) % n  # the oldest first
        X = np.ascontiguousarray(state.columns.T[order])
        self._others.fit(place, X, state.labels[order], weights[order])
        said[order] = self._others.said(X, place, place + 1)[0]
        if self._by_pairs:
            append_several(state, settings, leaver, place, said, slopes)
        else:
            append(state, settings, leaver, place, said, weights)

    def _answers(self, j, X):
        place = int(self._state.models[j, 0])
        return self._others.said(X, place, place + 1)[0]

    def _grow_codes(self, n_classes):
        """Keep the classifiers, which never answer with a class they have not seen."""
        family, d = self._others.family, self.n_features_in_
        self._models = bases.grow_models(family, self._models, d, n_classes)
        super()._grow_codes(n_classes)

    def _widen(self, n_features):
        """Keep the classifiers, which ignore the new features."""
        family, d = self._others.family, self.n_features_in_
        self._models = bases.widen_models(family, self._models, self._n_classes, d, n_features)
        self._fitted = self._others.widened(n_features)
        return super()._widen(n_features)


class IBoostGeemClassifier(IBoostGeemKeys, IBoostClassifier):
    """IBoost on a memory of n examples, chosen by GEEM, and up to q new ones::

        on (x, y):  IBoost learns (x, y) on the memory and the new examples;  w_i = m_i exp(-z_i), m_i = 1 if new
        every q examples:  all m_i shrink by 2^(-q / half_life)
            GEEM keeps those n of the n + q examples that hold the largest expected edge under w

    Everything else is as in :class:`boostrun.IBoostClassifier`. The combination is ours: the paper has a window, and
    GEEM's paper no drift. Without fading, examples of a past concept may stay for good. Unlike in reservoir boosting
    the corrected weights are not carried over: over the thousands of choices of a stream one example would end up with
    all the weight. For K > 2 classes GEEM adds up the K problems of one class against the rest.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : see :class:`boostrun.IBoostClassifier`

    Notes
    -----
    Every q examples a choice costs (n + q)^2 d for the covariance and (n + q)^3 for its inverse. An example
    costs as much, and needs as much memory, as in IBoost with a window of n + q; add 8 (n + q)^2 bytes.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (3000, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= 8, 1, -1)
    >>> model = IBoostGeemClassifier(n_window=40, batch_size=10, half_life=200)
    >>> bool((model.test_then_train(X, y) == y)[1000:].mean() > 0.94)
    True
    """

    scale, update_every, adds_per_event, remove, multiclass, loss = "half", "1", 1, "smallest", "samme", "samme"
    _constant = ("_geem",)

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._states = [self._empty(n_features, n_classes, self.n_window + self.batch_size)]
        self._geem = Geem(float(self.ridge), self.covariance_dims)
        self._rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(1,)))

    def _learn(self, X, y):
        predictions, scores, done = np.empty(len(X), np.int64), np.empty(len(X)), 0
        while done < len(X):
            free = np.flatnonzero(self._state.mass == 0.0)
            part = slice(done, done + len(free))
            iboost.test_then_train(
                X[part], y[part], free, self._state, self._settings, predictions[part], scores[part]
            )  # fmt: skip
            done += len(free)
            if done <= len(X):  # no slot is free
                self._choose()
        self._check_finite(self._state)
        return predictions

    def _choose(self) -> None:
        """Keep n of the slots, all of which are in use, and free the others."""
        state, n_classes = self._state, self._settings.n_classes
        weights = np.empty(len(state.mass))
        self._refresh()
        state.mass[:] *= 0.5 ** (self.batch_size / (self.n_window if self.half_life is None else self.half_life))
        weigh(state.margins, state.mass, weights)
        samples = np.ascontiguousarray(state.columns.T)
        signs = np.where(state.labels[:, None] == np.arange(n_classes), 1.0, -1.0)
        if n_classes == 2:
            batch = Batch(samples, signs[:, 1], weights, state.labels)
            kept, _ = self._geem(batch, self.n_window, self._rng)
        else:
            batch = Batch(samples, signs, np.repeat(weights[:, None], n_classes, axis=1), state.labels)
            kept, _ = self._geem.for_all_classes(batch, self.n_window, self._rng)
        state.mass[np.delete(np.arange(len(weights)), kept)] = 0.0


@allocating_kernel
def test_then_train(samples, labels, state, settings, trees, rules, grow, splits, first, predictions):
    """Predict each row from ``first`` on, then learn it: ``samples`` (k, d), ``labels`` and ``predictions`` (k,)
    int64. Returns k, or the row at which ``trees`` (M + 1) lack the room for ``splits`` splits. A row costs M
    answers, with ``grow`` also M updates and n M operations; an addition n updates and n answers, with ``grow`` n M
    answers."""
    n = state.labels.shape[0]
    classes, said = np.empty(state.born.shape[0], np.int64), np.empty(n, np.int64)
    votes, sums, weights = np.empty(settings.n_classes), np.empty(n), np.empty(n)
    sample = np.empty(samples.shape[1])
    for e in range(first, samples.shape[0]):
        if not hoeffding.has_room(trees, splits):
            return e
        ask(trees, state.models, state.counts[SIZE], samples[e], rules, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[SIZE], votes)
        slot = state.counts[SEEN] % n
        if not enter(samples[e], labels[e], slot, state, settings, classes, sums):
            continue
        past = state.counts[SEEN] - settings.start
        due = past % settings.period == 0
        if grow and past > 0:
            refresh(state, settings)
            weigh(state.margins, state.mass, weights)
            teach(trees, state.models, state.counts[SIZE], samples[e], labels[e], n * weights[slot], rules)
            if due:
                for j in range(state.counts[SIZE]):
                    answer_window(trees, int(state.models[j, 0]), state.columns, rules, sample, said)
                    for i in range(n):
                        state.right[j, i] = 1 if said[i] == state.labels[i] else -1
                refresh(state, settings)
        if due:
            leaver = weights_for_newcomer(state, settings, weights)
            tree = fit(trees, state, slot, weights, rules, sample, said)
            iboost.append(state, settings, leaver, np.array([float(tree)]), said, weights)
    return samples.shape[0]


@part
def ask(trees, models, size, sample, rules, classes):
    """``classes`` (M,) gets the answers of ``size`` members to ``sample`` (d,)."""
    for j in range(size):
        classes[j] = hoeffding.answer(trees, int(models[j, 0]), sample, rules)


@part
def teach(trees, models, size, sample, label, weight, rules):
    """Train all members on one example."""
    for j in range(size):
        hoeffding.learn(trees, int(models[j, 0]), sample, label, weight, rules)


@part
def answer_window(trees, tree, columns, rules, sample, said):
    """``said`` (n,) int64 gets a tree's answers to the window ``columns`` (d, n); ``sample`` (d,) is scratch."""
    for i in range(columns.shape[1]):
        for r in range(sample.shape[0]):
            sample[r] = columns[r, i]
        said[i] = hoeffding.answer(trees, tree, sample, rules)


@part
def fit(trees, state, newest, weights, rules, sample, said):
    """Train the first unused tree from scratch on the window in order, slot ``newest`` last, each example with n times
    its weight. ``said`` (n,) gets its answers; ``sample`` (d,) is scratch. Returns its number."""
    n, tree = state.labels.shape[0], 0
    j = 0
    while j < state.counts[SIZE]:
        if state.models[j, 0] == tree:
            tree, j = tree + 1, 0
        else:
            j += 1
    hoeffding.forget(trees, tree)
    for k in range(1, n + 1):
        i = (newest + k) % n
        for r in range(sample.shape[0]):
            sample[r] = state.columns[r, i]
        hoeffding.learn(trees, tree, sample, state.labels[i], n * weights[i], rules)
    answer_window(trees, tree, state.columns, rules, sample, said)
    return tree


@kernel
def answer_rows(trees, tree, X, rules, codes):
    """``codes`` (k,) of uint8 or wider gets one tree's answers to the rows of X (k, d)."""
    for i in range(X.shape[0]):
        codes[i] = hoeffding.answer(trees, tree, X[i], rules)


_MOST_DEPTH = 30  # deepest trees whose splits are bounded by their depth


class IBoostTreesClassifier(IBoostTreesKeys, IBoostElsewhere):
    """IBoost with Hoeffding trees, those of ``algo=vfdt``, as base classifiers.

    A tree is trained by one pass over the window. Then it stays as it is, or with ``grow`` it also learns each new
    example with the weight n w; its answers on the window are then renewed every ``period`` examples. Only
    ``example="random"`` is random.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of ``example="random"``.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : see :class:`boostrun.IBoostClassifier`

    Notes
    -----
    An example costs M answers of a tree, O(depth + K d) each, and M + b operations; with ``grow`` also M
    updates and n M operations. An addition costs n updates and answers, with ``grow`` n M answers. Memory is n (M + 8
    d) bytes and M + 1 trees. For several classes the loss is ``loss="mm"`` of :class:`boostrun.IBoostClassifier`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (600, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= 8, 1, -1)
    >>> model = IBoostTreesClassifier(n_window=100, budget=5, period=20)
    >>> bool((model.test_then_train(X, y) == y)[300:].mean() > 0.8)
    True
    """

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._trees = hoeffding.HoeffdingTrees.fresh(self.budget + 1, n_classes, n_features)

    @property
    def _rules(self) -> hoeffding.Rules:
        return rules_of(self, self.split_delta, self.max_depth)

    @property
    def _splits(self) -> int:
        """Upper bound on all trees' splits for one example: each needs ``grace_period`` of the window's weight n."""
        leaves = 2 ** min(self._rules.max_depth, _MOST_DEPTH)
        fitted = min(leaves, self.n_window // self.grace_period + 1, self.n_window)
        return fitted + (self.budget if self.grow else 0)

    def _learn(self, X, y):
        predictions, first = np.empty(len(X), np.int64), 0
        rest, loop = (self._rules, self.grow, int(self._splits)), test_then_train
        if self._by_pairs:
            loop = _several().test_then_train
        while (first := loop(X, y, self._state, self._settings, self._trees, *rest, first, predictions)) < len(X):
            self._trees = self._trees.doubled()
        self._check_finite(self._state)
        return predictions

    def _answers(self, j, X):
        codes = np.empty(len(X), np.min_scalar_type(self._settings.n_classes - 1))
        answer_rows(self._trees, int(self._state.models[j, 0]), X, self._rules, codes)
        return codes

    def _grow_codes(self, n_classes):
        self._trees = self._trees.grown(n_classes)
        super()._grow_codes(n_classes)

    def _widen(self, n_features):
        """Leaves observe the new feature from now on."""
        self._trees = self._trees.wider(n_features)
        return super()._widen(n_features)


def _several():
    """The loop for several classes, imported (and compiled) only if needed."""
    from boostrun.papers.iboost.kernels import iboost_trees_mm

    return iboost_trees_mm
