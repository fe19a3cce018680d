"""IBoost of logistic regressions, or of copies of an object of scikit-learn's or river's."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost import fitted_members, wider
from boostrun.papers.iboost.fitted_loops import until_next
from boostrun.papers.iboost.iboost_elsewhere import IBoostElsewhere
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels import iboost_fitted as kernels
from boostrun.papers.iboost.kernels.iboost import SEEN, SIZE
from boostrun.papers.iboost.keys import IBoostFittedKeys


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
        follow = kernels.follow_several if self._by_pairs else kernels.follow
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
            leaver = kernels.weigh_several(state, settings, slopes, weights)
        else:
            leaver = kernels.weigh(state, settings, weights)
        order = (state.counts[SEEN] + np.arange(n)) % n  # the oldest first
        X = np.ascontiguousarray(state.columns.T[order])
        self._others.fit(place, X, state.labels[order], weights[order])
        said[order] = self._others.said(X, place, place + 1)[0]
        if self._by_pairs:
            kernels.append_several(state, settings, leaver, place, said, slopes)
        else:
            kernels.append(state, settings, leaver, place, said, weights)

    def _answers(self, j, X):
        place = int(self._state.models[j, 0])
        return self._others.said(X, place, place + 1)[0]

    def _grow_codes(self, n_classes):
        """Classifiers stay, and never answer with a class that they have not met."""
        family, d = self._others.family, self.n_features_in_
        self._models = wider.classes(family, self._models, d, n_classes)
        super()._grow_codes(n_classes)

    def _widen(self, n_features):
        """Classifiers do not look at the new features."""
        family, d = self._others.family, self.n_features_in_
        self._models = wider.models(family, self._models, self._n_classes, d, n_features)
        self._fitted = self._others.widened(n_features)
        return super()._widen(n_features)
