"""IBoost of logistic regressions, or of copies of an object of scikit-learn's or river's.

IBoost of classifiers that stand elsewhere, between two additions: all have answered the rows up to the next.

The committee is that of :mod:`.iboost`, of several classes that of :mod:`.iboost_mm`; a row of its ``models`` holds the
place of a classifier, of which there are M + 1.

IBoost of Hoeffding trees, compiled.

IBoost of Hoeffding trees on a chunk of a stream: a tree is a pass over the window, oldest example first.

The committee is that of :mod:`.iboost`, whose row of ``models`` holds the number of a tree here; there is one tree more
than members, and the first that is no member's is fitted anew. An example of the normalised weight w counts n w in a
tree, so that a window counts n.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from boostrun.kernels import hoeffding
from boostrun.kernels.plain import allocating_kernel, kernel, part, written_in
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost import fitted_members, iboost
from boostrun.papers.iboost import iboost as kernels
from boostrun.papers.iboost.baselines import rules_of
from boostrun.papers.iboost.fitted_loops import until_next
from boostrun.papers.iboost.iboost import SEEN, SIZE, IBoostClassifier, _mm, enter, refresh, weights_for_newcomer
from boostrun.papers.iboost.iboost import append as append_iboost
from boostrun.papers.iboost.kernels import bases, committee
from boostrun.papers.iboost.kernels import iboost_mm as mm
from boostrun.papers.iboost.kernels.committee import _BLOCK, CommitteeMembers, _voted, above_zero, weigh
from boostrun.papers.iboost.keys import IBoostFittedKeys, IBoostGeemKeys, IBoostTreesKeys
from boostrun.papers.reservoir.geem import Geem
from boostrun.papers.reservoir.strategies import Batch


@allocating_kernel
def follow_two_classes(said, X, y, state, settings, out):
    """Predict each row and then let it enter: ``said`` (M + 1, k), what the classifier in each place says of the rows
    of X (k, d) with codes y (k,), and ``out`` (k,) the committee's answers. Cost a row M + b operations, or b n M."""
    classes, sums = np.empty(state.born.shape[0], np.int64), np.empty(state.labels.shape[0])
    votes = np.empty(settings.n_classes)
    for e in range(X.shape[0]):
        out[e] = _answer(said, e, state, classes, votes)
        iboost.enter(X[e], y[e], state.counts[SEEN] % sums.shape[0], state, settings, classes, sums)


@allocating_kernel
def follow_several(said, X, y, state, settings, out):
    """The same with the loss of several classes."""
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
    """See :func:`.iboost.weights_for_newcomer`."""
    return iboost.weights_for_newcomer(state, settings, weights)


@allocating_kernel
def append(state, settings, leaver, place, said, weights):
    """See :func:`.iboost.append`; the newcomer's ``place`` is its number."""
    iboost.append(state, settings, leaver, np.array([float(place)]), said, weights)


@kernel
def weigh_several(state, settings, slopes, weights):
    """See :func:`.iboost_mm.slopes_for_newcomer`; the ``weights`` (n,) are those of the right answers."""
    leaver, total = mm.slopes_for_newcomer(state, settings, settings.cap, slopes)
    mm.weights_of(slopes, state.labels, total, weights)
    return leaver


@allocating_kernel
def append_several(state, settings, leaver, place, said, slopes):
    """See :func:`.iboost_mm.append`."""
    mm.append(state, settings, leaver, np.array([float(place)]), said, slopes)


class IBoostElsewhere(IBoostClassifier):
    """Base of IBoosts whose rows of ``models`` hold the place of a classifier, M + 1 of them: one is no member's."""

    _families: ClassVar[dict[str, int]] = {"elsewhere": bases.ELSEWHERE}
    _family = "elsewhere"
    grow, flip_bad, var_floor = False, False, 1e-3
    scale, update_every, adds_per_event, remove, multiclass, loss = "half", "1", 1, "smallest", "samme", "mm"

    @abstractmethod
    def _answers(self, j: int, X: np.ndarray) -> np.ndarray:
        """What member j says of the rows of X (k, d), codes (k,)."""

    def decision_function(self, X) -> np.ndarray:
        """F(x), (k,), for two classes; coefficients that vote for each class, (k, K), for more."""
        check_is_fitted(self)
        scores = self._scored(self._checked(X, reset=False))[1]
        return above_zero(scores[0]) if len(scores) == 1 else scores.T

    def members(self) -> None:
        """None: they are no rows of numbers."""
        return None

    def answers_on(self, X):
        """Labels of the rows of X by the committee as it stands, each time it is called; a member that does not grow is
        asked once."""
        return HeldElsewhere(self, X)

    def _predict(self, X):
        return self._scored(X)[0]

    def _scored(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes (k,) and the sums that tell them, F(x) (1, k) or votes (K, k); a block of rows at a time."""
        n_classes, size = self._settings.n_classes, len(self.betas_)
        codes, scores = np.empty(len(X), np.int64), np.empty((1 if n_classes == 2 else n_classes, len(X)))
        for first in range(0, len(X), _BLOCK):
            part = slice(first, first + _BLOCK)
            said = np.empty((size, len(codes[part])), np.min_scalar_type(n_classes - 1))
            for j in range(size):
                said[j] = self._answers(j, X[part])
            codes[part], scores[:, part] = self._counted(said)
        return codes, scores

    def _counted(self, said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same where the members have answered, ``said`` (m, k)."""
        state, n_classes = self._state, self._settings.n_classes
        members = CommitteeMembers(
            bases.ELSEWHERE, state.models, state.coefficients, len(said), n_classes, signed=True
        )  # fmt: skip
        return _voted(members, said, np.arange(len(said)))

    def _grow_codes(self, n_classes):
        self._settings = self._numbers(n_classes)
        self._states = [_mm().grown(self._state, n_classes)]
        self._refresh()

    def _widen(self, n_features):
        """A new feature has been 0 in the window."""
        state = self._state
        self._states = [state._replace(columns=bases.widen_columns(state.columns, n_features))]
        return True


class HeldElsewhere:
    """Predictions for one hold-out ``x`` (t, d), the same to the bit as the learner's own; a member that does not grow
    is asked once, and known by the example at which it was added."""

    def __init__(self, learner: IBoostElsewhere, x: np.ndarray):
        self._learner, self._x = learner, np.array(x, np.float64, order="C")
        self._said: dict[int, np.ndarray] = {}

    def __call__(self) -> np.ndarray:
        """Labels (t,) by the learner as it stands."""
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
    """IBoost whose classifiers are logistic regressions, or copies of an object.

    A classifier is fitted to the window, oldest example first, with the weights n w_i, and stays as it is. A regression
    is that of ``algo=ocb algo.base=logistic``; an object of scikit-learn's needs ``sample_weight`` where it is fitted,
    one of river's ``w`` where it learns. Nothing is drawn but by ``example="random"`` and by the object itself.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, of ``example="random"``.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : as there.

    Notes
    -----
    An example costs M answers and M + b operations, an addition a fit and n answers: of regressions O(n K d). Between
    two additions all members answer at once. Memory is n (M + 8 d) bytes and M + 1 classifiers. Of several classes the
    loss is ``loss="mm"`` of :class:`boostrun.IBoostClassifier`. Committees of objects are pickled, not saved.

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
        return fitted_members.of(self)

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
        """What the member in each place says of the rows of X (k, d), codes (M + 1, k); 0 where there is none."""
        said = np.zeros((self.budget + 1, len(X)), np.min_scalar_type(self._n_classes - 1))
        for place in self._places():
            said[place] = self._others.said(X, place, place + 1)[0]
        return said

    def _places(self) -> list[int]:
        return self._state.models[: self._state.counts[SIZE], 0].astype(int).tolist()

    def _add(self) -> None:
        """A classifier is fitted in a free place to the window as it is weighed, and is a member if it is better than
        chance."""
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
        """Classifiers stay, and never answer with a class that they have not met."""
        family, d = self._others.family, self.n_features_in_
        self._models = bases.grow_models(family, self._models, d, n_classes)
        super()._grow_codes(n_classes)

    def _widen(self, n_features):
        """Classifiers do not look at the new features."""
        family, d = self._others.family, self.n_features_in_
        self._models = bases.widen_models(family, self._models, self._n_classes, d, n_features)
        self._fitted = self._others.widened(n_features)
        return super()._widen(n_features)


class IBoostGeemClassifier(IBoostGeemKeys, IBoostClassifier):
    """IBoost whose examples are a memory of n, chosen as GEEM's reservoir is, and up to q newcomers::

        on (x, y):  IBoost learns (x, y) on the memory and the newcomers;  w_i = m_i exp(-z_i), m_i = 1 for a newcomer
        every q examples:  all m_i fade by 2^(-q / half_life)
            of the n + q examples GEEM keeps the n that hold the largest expected edge under w

    The rest is :class:`boostrun.papers.iboost.iboost.IBoostClassifier`. All of this is ours: the paper has a window,
    and GEEM's paper no drift. Without fading, examples of a concept that is gone may stay for ever. The corrected
    weights are not carried over, as they are where reservoirs are boosted: in the thousands of choices of a stream they
    end with one example that has all the weight. For K > 2 classes GEEM adds up the K problems of one class against the
    rest.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : as there.

    Notes
    -----
    A choice costs (n + q)^2 d for the covariance and (n + q)^3 for its inverse, every q examples; an example costs what
    it costs IBoost with a window of n + q, whose memory it has, and 8 (n + q)^2 bytes.

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
            kernels.test_then_train(
                X[part], y[part], free, self._state, self._settings, predictions[part], scores[part]
            )  # fmt: skip
            done += len(free)
            if done <= len(X):  # no slot is free
                self._choose()
        self._check_finite(self._state)
        return predictions

    def _choose(self) -> None:
        """Of all slots, every one in use, n stay; the others are free."""
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
    """Predict each row from ``first`` on and then learn it: ``samples`` (k, d) float64, ``labels`` and ``predictions``
    (k,) int64. Returns k, or the row at which ``trees`` (M + 1) have no room for so many ``splits``.

    Cost a row M answers and, with ``grow``, M lessons and n M operations; an addition n lessons and n answers, with
    ``grow`` n M answers.
    """
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
            append_iboost(state, settings, leaver, np.array([float(tree)]), said, weights)
    return samples.shape[0]


@part
def ask(trees, models, size, sample, rules, classes):
    """``classes`` (M,) says what each of ``size`` members says of ``sample`` (d,)."""
    for j in range(size):
        classes[j] = hoeffding.answer(trees, int(models[j, 0]), sample, rules)


@part
def teach(trees, models, size, sample, label, weight, rules):
    """All members learn one example."""
    for j in range(size):
        hoeffding.learn(trees, int(models[j, 0]), sample, label, weight, rules)


@part
def answer_window(trees, tree, columns, rules, sample, said):
    """``said`` (n,) int64: what a tree says of the window, ``columns`` (d, n); ``sample`` (d,) is scratch."""
    for i in range(columns.shape[1]):
        for r in range(sample.shape[0]):
            sample[r] = columns[r, i]
        said[i] = hoeffding.answer(trees, tree, sample, rules)


@part
def fit(trees, state, newest, weights, rules, sample, said):
    """A tree that is no member's forgets, and meets the window in order, slot ``newest`` last, each example with n
    times its weight; ``said`` (n,) is what it answers then. ``sample`` (d,) is scratch. Returns its number."""
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
    """``codes`` (k,) uint8 or wider: what one tree says of the rows of X (k, d)."""
    for i in range(X.shape[0]):
        codes[i] = hoeffding.answer(trees, tree, X[i], rules)


_MOST_DEPTH = 30  # of trees whose splits are counted by their depth


class IBoostTreesClassifier(IBoostTreesKeys, IBoostElsewhere):
    """IBoost whose classifiers are Hoeffding trees, those of ``algo=vfdt``.

    A tree is fitted by one pass over the window, oldest example first, each example learnt with the weight n w_i. Then
    it stays as it is (frozen), or with ``grow`` it learns each newcomer with the weight n w too; what it says of the
    window is looked at again every ``period`` examples. Nothing is drawn but by ``example="random"``.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, of ``example="random"``.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : as there.

    Notes
    -----
    An example costs M answers of a tree, O(depth + K d) each, and M + b operations; with ``grow`` M lessons and n M
    operations more. An addition costs n lessons and answers, with ``grow`` n M answers. Memory is n (M + 8 d) bytes and
    M + 1 trees. Of several classes the loss is ``loss="mm"`` of :class:`boostrun.IBoostClassifier`.

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
        """Of all trees for one example, at most: a split needs ``grace_period`` of the window's weight n."""
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
    """What compiles for several classes alone."""
    from boostrun.papers.iboost.kernels import iboost_trees_mm

    return iboost_trees_mm
