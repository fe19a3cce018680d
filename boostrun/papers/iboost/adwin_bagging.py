"""AdWin Bagging: online bagging whose worst member begins anew when an error rises (Bifet et al. 2009)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost.incremental import IncrementalEnsemble
from boostrun.papers.iboost.kernels import adwin_bagging as kernels
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.iboost.keys import AdwinBaggingKeys


class AdwinBaggingClassifier(AdwinBaggingKeys, IncrementalEnsemble):
    """Online bagging of ``budget`` classifiers, naive Bayes or trees, each with an ADWIN of its errors::

        on (x, y):  for each member f_j:
            train f_j on (x, y) with weight Poisson(1)
            ADWIN_j meets 1[f_j(x) != y];  change if it was cut and its mean rose
        if change:  the member with the largest mean, and its ADWIN, begin anew
        predict:  majority of the members

    river's ``ADWINBaggingClassifier`` feeds ADWIN with *correctness*, hence replaces the best member when accuracy
    rises, and empties an ADWIN at the update after a detection: ``monitor="correct", after="reset", vote="proba"``.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Cost O(M K d) an example.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = AdwinBaggingClassifier(budget=5, random_state=0).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    _draws_weights = True
    uses_change_detector = True
    updates_base_online = True
    adds_and_removes = True
    keeps_window = True  # the ADWINs

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._adwins = Adwins.empty(self.budget)
        self.n_replaced_ = 0
        if self.detector != "adwin":
            from boostrun.papers.iboost import monitored

            self._detectors = monitored.detectors(self.detector, self.budget)

    def _learn(self, X, y):
        if self.detector != "adwin":
            from boostrun.papers.iboost import monitored

            return monitored.bag(self, X, y)
        out, replaced = self._followed(
            kernels.bag, X, y, self.spread_, float(self.var_floor), self._adwins, self._rng, self._members.rule,
            float(self.delta), self.after == "reset", self.monitor == "correct", self.vote == "proba", self._shares,
            self._votes,
        )  # fmt: skip
        self.n_replaced_ += replaced
        return out

    def _predict(self, X):
        has_say = (self.learners_.weight.sum(axis=1) > 0.0).astype(np.float64)
        return self._voted(X, np.arange(self.budget), has_say, self.vote == "proba")
