"""IBoost of Hoeffding trees, compiled.

IBoost of Hoeffding trees on a chunk of a stream: a tree is a pass over the window, oldest example first.

The committee is that of :mod:`.iboost`, whose row of ``models`` holds the number of a tree here; there is one tree more
than members, and the first that is no member's is fitted anew. An example of the normalised weight w counts n w in a
tree, so that a window counts n.
"""

from __future__ import annotations

import numpy as np

from boostrun.kernels import hoeffding
from boostrun.kernels.plain import allocating_kernel, kernel, part
from boostrun.papers.iboost.hoeffding import rules_of
from boostrun.papers.iboost.iboost_fitted import IBoostElsewhere
from boostrun.papers.iboost.kernels import committee
from boostrun.papers.iboost.kernels.committee import weigh
from boostrun.papers.iboost.kernels.iboost import SEEN, SIZE, append, enter, refresh, weights_for_newcomer
from boostrun.papers.iboost.keys import IBoostTreesKeys


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
            append(state, settings, leaver, np.array([float(tree)]), said, weights)
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
