"""Few features for the whole ensemble, which come one by one: the greedy choice of ShareBoost, for stumps and trees."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.keys import FewFeaturesKeys
from boostrun.papers.adaptive.policies.policy import Policy


class FewFeatures(FewFeaturesKeys, Policy):
    """The best of those features that boosting has, one of which is new every few rounds, until there are k::

        J = {};  for each round t = 1, 2, ...:
            every rounds_a_feature rounds, while |J| < k:  one more may come
            for the stump of the round, or each split of its tree:
                C = Q of all features if one more may come, else Q of J
                j = the feature of C with the largest edge;  J = J + {j}

    Shalev-Shwartz et al. (2011) choose so for a linear model, which they train to its optimum before the next feature
    comes; here a few rounds of boosting take the place of that. All classes share J. What is drawn is uniform, and
    Q n evaluations are charged a step. ``Q=None`` is as many as its budget buys: where it buys all features
    (``budget_multiplier`` of at least their number), nothing is drawn.

    Parameters
    ----------
    {parameters}

    >>> from sklearn.datasets import load_digits
    >>> from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> policy = FewFeatures(features_used=8)
    >>> clf = AdaBoostMHClassifier(policy, n_estimators=60, weak_learner="tree", depth=4, budget_multiplier=64)
    >>> clf = clf.fit(X[:1400], y[:1400])
    >>> int((clf.feature_importances_ > 0).sum()), clf.score(X[1400:], y[1400:]) > 0.75
    (8, True)

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Wexler and A. Shashua, "ShareBoost: Efficient multiclass learning with feature
       sharing", NIPS 2011.
    """

    def start(self, board) -> None:
        """Forget all features; raises BoostrunError when the budget of a step does not buy Q of them, or one."""
        self._all = board.n
        self._q = min(board.budget // board.n if self.Q is None else self.Q, board.n_features)
        if not 1 <= self._q <= board.budget // board.n:
            raise BoostrunError(
                f"Q={self._q or 1} features on all {board.n} samples cost {(self._q or 1) * board.n} evaluations a "
                f"step, and its budget is {board.budget}; raise budget_multiplier"
            )
        self._few = board.n_features if self.features_used is None else self.features_used
        self._used = np.zeros(board.n_features, bool)
        self._rounds = 0

    def choose(self, board) -> int:
        if board.n == self._all:  # the whole tree, or the stump: a new round
            self._may_use = min(self._few, self._rounds // self.rounds_a_feature + 1)
            self._rounds += 1
        features = self._candidates(board)
        best = int(features[np.argmax(board.edges(features)[0])])
        self._used[best] = True
        return best

    def _candidates(self, board) -> np.ndarray:
        if self._used.sum() < self._may_use:
            return board.draw(self._q)
        used = np.flatnonzero(self._used)
        return used if len(used) <= self._q else np.sort(board.rng.choice(used, self._q, replace=False))
