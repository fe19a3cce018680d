"""Online SmoothBoost as a stream learner: members that learn, each example with a weight (Chen, Lin & Lu 2012)."""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.plain import kernel, part, project_on_simplex
from boostrun.papers.iboost.incremental import IncrementalEnsemble
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.keys import SmoothBoostKeys


@part
def smooth_one(learners, x, y, gamma, floor, rule, margins):
    """One example through all members, z = 0 and w = 1 at the first::

        m = 1 if f_j(x) = y, else -1;  z += m - gamma / (2 + gamma)
        train f_j on (x, y) with weight w;  w = 1 if z <= 0, else (1 - gamma)^(z / 2)

    ``margins`` (M,) are the m. Cost O(M K d).
    """
    z, weight, decay = 0.0, 1.0, 0.5 * math.log1p(-gamma)
    for j in range(margins.shape[0]):
        margins[j] = 1.0 if bayes.answer(learners, j, x, rule) == y else -1.0
        z += margins[j] - gamma / (2.0 + gamma)
        bayes.train(learners, j, x, y, weight, floor, rule)
        weight = 1.0 if z <= 0.0 else math.exp(decay * z)


@kernel
def smooth_boost(
    X, y, learners, spread, var_floor, coefficients, counts, gamma, rate, convex, rule, margins, votes, out
):  # fmt: skip
    """Each row of X (k, d) with its class y (k,): ``out`` its class by the members' vote, then :func:`smooth_one`.

    With ``convex`` the ``coefficients`` a (M,) learn, where sum_j a_j m_j < gamma / (2 + gamma), by a step of
    ``rate`` sqrt(2 / (M t)) m from example t on and a projection on the simplex. ``counts`` (1,) int64, examples seen.
    """
    members = margins.shape[0]
    for i in range(X.shape[0]):
        for c in range(votes.shape[0]):
            votes[c] = 0.0
        for j in range(members):
            votes[bayes.answer(learners, j, X[i], rule)] += coefficients[j]
        out[i] = bayes.winner(votes)
        bayes.see(spread, X[i], var_floor)
        smooth_one(learners, X[i], y[i], gamma, spread.floor, rule, margins)
        counts[0] += 1
        score = 0.0
        for j in range(members):
            score += coefficients[j] * margins[j]
        if convex and score < gamma / (2.0 + gamma):
            for j in range(members):
                coefficients[j] += rate * math.sqrt(2.0 / (members * counts[0])) * margins[j]
            project_on_simplex(coefficients)


class SmoothBoostClassifier(SmoothBoostKeys, IncrementalEnsemble):
    """OSBoost and OCP of ``budget`` members that learn, Hoeffding trees if nothing else is said::

        on (x, y):  z = 0;  w = 1
          for each member f_j:
              m_j = 1 if f_j(x) = y, else -1
              train f_j on (x, y) with weight w
              z += m_j - theta;  w = 1 if z <= 0, else (1 - gamma)^(z / 2)          theta = gamma / (2 + gamma)
        coefficients "uniform" (OSBoost):  a_j = 1 / M
        coefficients "convex" (OCP):  where sum_j a_j m_j < theta:
              a = projection on the simplex of a + learning_rate sqrt(2 / (M t)) m,  t the number of examples
        predict:  argmax_c sum_j a_j 1[f_j(x) = c]

    Weights never exceed 1: an example that is right so far counts less, and none counts much, which is what label noise
    asks for. For two classes m_j is y f_j(x), as in the paper; of more it is right or wrong, which the paper does not
    have. Nothing is drawn. Ties go to the second of two classes, else to the lowest. The methods ``osboost`` and
    ``ocp`` are the same rules over stumps picked beforehand, which learn nothing.

    Parameters
    ----------
    {parameters}

    Cost O(M K d) an example.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = SmoothBoostClassifier(budget=5, base="gnb").partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = False
    keeps_window = False
    random_state = 0  # nothing is drawn

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._weights, self._misses = np.full(self.budget, 1.0 / self.budget), np.zeros(self.budget)
        self._clock = np.zeros(1, np.int64)

    @property
    def betas_(self) -> np.ndarray:
        """(M,) float64, the coefficients, which sum to 1."""
        return self._weights.copy()

    def _learn(self, X, y):
        return self._followed(
            smooth_boost, X, y, self.spread_, float(self.var_floor), self._weights, self._clock,
            float(self.gamma), float(self.learning_rate), self.coefficients == "convex", self._members.rule,
            self._misses, self._votes,
        )[0]  # fmt: skip

    def _predict(self, X):
        return self._voted(X, np.arange(self.budget), self._weights)
