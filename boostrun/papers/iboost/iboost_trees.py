"""IBoost of Hoeffding trees, compiled."""

from __future__ import annotations

import numpy as np

from boostrun.kernels import hoeffding
from boostrun.papers.iboost.hoeffding_rules import rules_of
from boostrun.papers.iboost.iboost_elsewhere import IBoostElsewhere
from boostrun.papers.iboost.kernels import iboost_trees as kernels
from boostrun.papers.iboost.keys import IBoostTreesKeys

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
        rest, loop = (self._rules, self.grow, int(self._splits)), kernels.test_then_train
        if self._by_pairs:
            loop = _several().test_then_train
        while (first := loop(X, y, self._state, self._settings, self._trees, *rest, first, predictions)) < len(X):
            self._trees = self._trees.doubled()
        self._check_finite(self._state)
        return predictions

    def _answers(self, j, X):
        codes = np.empty(len(X), np.min_scalar_type(self._settings.n_classes - 1))
        kernels.answer_rows(self._trees, int(self._state.models[j, 0]), X, self._rules, codes)
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
