"""OnlineBoost: AdaBoost of learners that learn one example at a time (Oza & Russell 2001)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost.incremental import IncrementalEnsemble
from boostrun.papers.iboost.kernels import online_boost as kernels
from boostrun.papers.iboost.keys import OnlineBoostKeys


class OnlineBoostClassifier(OnlineBoostKeys, IncrementalEnsemble):
    """Online AdaBoost of ``budget`` classifiers that learn, naive Bayes or trees, which never leave::

        on (x, y):  lambda = 1
          for each member f_j:
              k ~ Poisson(lambda);  train f_j on (x, y) with weight k
              if f_j(x) = y:  right_j += lambda;  lambda *= (right_j + wrong_j) / (2 right_j)
              else:           wrong_j += lambda;  lambda *= (right_j + wrong_j) / (2 wrong_j)
        predict:  argmax_c sum_j alpha_j 1[f_j(x) = c],
                  alpha_j = ln((1 - e_j) / e_j),  e_j = wrong_j / (right_j + wrong_j)

    The rule of lambda is that of :class:`boostrun.papers.reservoir.online.oza.Oza`, whose stumps are given and stay as
    they are.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    MOA differs: it uses T / (2 right_j), T the number of examples, and stops the vote at the first member with e_j of 0
    or above 1/2. river's ``AdaBoostClassifier`` is ``vote="proba", bad_weight=1``. Ties go to the second of two
    classes, else to the lowest. Cost O(M K d) an example.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> model = OnlineBoostClassifier(budget=5, random_state=0)
    >>> predicted = model.test_then_train(X, X[:, 0] > X[:, 1])
    >>> bool((predicted == (X[:, 0] > X[:, 1])).mean() > 0.9)
    True
    """

    _draws_weights = True
    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = False
    keeps_window = False

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self.sums_ = np.zeros((self.budget, 2))
        self._order = np.arange(self.budget)
        self._learns = np.ones(self.budget, np.uint8)
        self._misses = np.zeros(self.budget)

    @property
    def betas_(self) -> np.ndarray:
        """(M,) float64, the coefficients alpha_j of the members in the order of the boosting."""
        return np.array([kernels.coefficient(self.sums_, j, *self._rule[:2]) for j in self._order])

    @property
    def _rule(self) -> tuple[float, bool, bool]:
        return float(self.bad_weight), bool(self.negative_votes), self.vote == "proba"

    def _learn(self, X, y):
        return self._followed(
            kernels.online_boost, X, y, self.spread_, float(self.var_floor), self.sums_, self._order, self._learns,
            self._rng, self._members.rule, *self._rule, self._shares, self._votes, self._misses,
        )[0]  # fmt: skip

    def _predict(self, X):
        members = np.arange(self.budget)
        bad_weight, negative, proba = self._rule
        coefficients = np.array([kernels.coefficient(self.sums_, j, bad_weight, negative) for j in members])
        if len(self._votes) > 2 and not coefficients.any():
            return self._voted(X, members[[kernels.least_wrong(self.sums_)]], np.ones(1))
        return self._voted(X, members, coefficients, proba)
