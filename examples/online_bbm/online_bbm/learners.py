"""AdaBoost.OL and Online BBM as classifiers of tables and as stream learners (Beygelzimer, Kale & Luo 2015)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostrun.errors import BoostrunError
from boostrun.methods import parameters
from boostrun.methods.stream_learner import StreamLearner

from . import kernels

BASES = ("nb", "perceptron")
FOLLOW = ("expert", "majority")
_BLOCK = 4096  # rows whose margins are in memory together


class OnlineBooster(StreamLearner):
    """Base of both: N weak learners, each of which meets every example once, with a weight set by those before it.

    ``fit`` passes once over the rows, ``partial_fit``, ``test_then_train`` and ``learn_one`` go on. More than two
    classes are told apart one against the rest.
    """

    def decision_function(self, X) -> np.ndarray:
        """Scores of the rows of X (n, d) in [-1, 1]: (n,) for two classes, of the second; (n, n_classes) for more."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        scores = np.concatenate([self._scores(said) for _, said in self._margins(X)])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Labels (n,) of the rows of X (n, d) by the first 1, 2, ..., N learners of the model as it stands."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        codes = np.empty((self.n_learners, len(X)), np.int64)
        for rows, said in self._margins(X):
            scores = self._prefixes(said)  # (K, rows, N)
            codes[:, rows] = (scores[0] >= 0.0).T if len(scores) == 1 else scores.argmax(axis=0).T
        for stage in codes:
            yield self.classes_[np.minimum(stage, len(self.classes_) - 1)]

    @abstractmethod
    def _scores(self, said: np.ndarray) -> np.ndarray:
        """Scores (n, K) for margins (K, n, N)."""

    @abstractmethod
    def _prefixes(self, said: np.ndarray) -> np.ndarray:
        """Scores (K, n, N) by the first 1, ..., N learners for margins (K, n, N)."""

    def _margins(self, X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Blocks of rows with the learners' margins (K, rows, N)."""
        for first in range(0, len(X), _BLOCK):
            rows = slice(first, min(first + _BLOCK, len(X)))
            yield rows, kernels.margins(self._booster, X[rows], self._perceptron)

    @property
    def _perceptron(self) -> bool:
        return self.base == "perceptron"

    def _begin(self, n_features: int, n_classes: int) -> None:
        parameters.whole(self, "n_learners")
        parameters.whole(self, "max_features", none=True)
        parameters.choice(self, "base", BASES)
        if not 0.0 <= self.var_floor < np.inf:
            raise BoostrunError(f"var_floor={self.var_floor!r}: a number of at least 0 is needed")
        self._rng = np.random.default_rng(np.random.SeedSequence(self._entropy()))
        every, few = np.arange(n_features), min(self.max_features or n_features, n_features)
        columns = np.stack(
            [
                every if few == n_features else np.sort(self._rng.choice(n_features, few, replace=False))
                for _ in range(self.n_learners)
            ]
        )
        self._booster = kernels.Booster.fresh(1 if n_classes == 2 else n_classes, columns, n_features, self._perceptron)

    def _grow(self, n_classes: int) -> None:
        while len(self._booster.alpha) < n_classes:
            self._booster = self._booster.with_class(self._perceptron)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        codes = np.empty(len(X), np.int64)
        for rows, said in self._margins(X):
            scores = self._scores(said)
            codes[rows] = scores[:, 0] >= 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return codes


class AdaBoostOL(OnlineBooster):
    """AdaBoost.OL (Algorithm 2): logistic weights, coefficients by online gradient descent, a random expert followed.

    On each example, y in {-1, +1}, with votes h_i of the learners, s_0 = 0 and F_i = sum_(j <= i) alpha_j h_j::

        answer sign F_i of the expert i followed
        for i = 1, ..., N:
            learner i learns (x, y) with weight 1 / (1 + exp(s_(i-1)))
            s_i = s_(i-1) + alpha_i y h_i
            alpha_i += 4 / sqrt(t) * y h_i / (1 + exp(s_i)), kept in [-2, 2]
            v_i *= exp(-1) if sign F_i is not y
        follow expert i with probability v_i / sum_j v_j

    There is nothing to tune: the edges of the learners are found as it goes. Examples are passed on with weights, which
    the paper calls AdaBoost.OL.W, not by rejection sampling.

    Parameters
    ----------
    n_learners : int, N.
    base : {"nb", "perceptron"}, Gaussian naive Bayes, or a perceptron on standardised features.
    follow : {"expert", "majority"}
        The expert drawn, as printed, or the vote of all weighted by v_i, without chance. One expert answers until the
        next example is learnt. Of more than two classes the largest mean margin wins: sum alpha_j m_j / sum |alpha_j|,
        m_j in [-1, 1].
    max_features : int or None
        Features each learner looks at, drawn at random; None is all. 1 makes naive Bayes a stump.
    var_floor : float, share of a feature's variance that is added to every variance of naive Bayes.
    random_state : int, RandomState or None, of the experts and of ``max_features``.

    Attributes
    ----------
    classes_ : (n_classes,) array
    alpha_ : (K, N) float64, coefficients; K is 1 for two classes, else their number.
    expert_ : (K,) int64, the expert followed now, counted from 0.
    expert_weights_ : (K, N) float64, v_i / sum v.

    References
    ----------
    .. [1] A. Beygelzimer, S. Kale and H. Luo, "Optimal and Adaptive Algorithms for Online Boosting", ICML 2015.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (4000, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5, "in", "out")
    >>> for n_learners in (1, 10):
    ...     right = AdaBoostOL(n_learners, random_state=0).test_then_train(X, y) == y
    ...     print(round(right[2000:].mean(), 2))
    0.85
    0.92
    """

    def __init__(
        self, n_learners=20, *, base="nb", follow="expert", max_features=None, var_floor=0.01, random_state=None
    ):
        self.n_learners = n_learners
        self.base = base
        self.follow = follow
        self.max_features = max_features
        self.var_floor = var_floor
        self.random_state = random_state

    @property
    def alpha_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._booster.alpha.copy()

    @property
    def expert_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._booster.expert.copy()

    @property
    def expert_weights_(self) -> np.ndarray:
        check_is_fitted(self)
        weights = np.exp(self._booster.log_experts)
        return weights / weights.sum(axis=1, keepdims=True)

    def _begin(self, n_features: int, n_classes: int) -> None:
        parameters.choice(self, "follow", FOLLOW)
        super()._begin(n_features, n_classes)

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        draws = self._rng.random((len(X), len(self._booster.alpha)))
        return kernels.adaboost_ol(
            self._booster, X, y, draws, self.follow == "majority", self._perceptron, float(self.var_floor)
        )

    def _scores(self, said: np.ndarray) -> np.ndarray:
        return kernels.adaboost_scores(self._booster, said, self.follow == "majority")

    def _prefixes(self, said: np.ndarray) -> np.ndarray:
        alpha = self._booster.alpha[:, None, :]
        if len(said) == 1:
            return np.cumsum(alpha * np.where(said >= 0.0, 1.0, -1.0), axis=2)
        return np.cumsum(alpha * said, axis=2) / np.maximum(np.cumsum(np.abs(alpha), axis=2), 1e-300)


class OnlineBBM(OnlineBooster):
    """Online BBM (Algorithm 1): boosting by majority, optimal where the edge of the learners is known.

    On each example, y in {-1, +1}, with votes h_i of the learners and s_i = sum_(j <= i) y h_j::

        answer sign sum_i h_i
        for i = 1, ..., N:
            k = floor((N - i - s_(i-1) + 1) / 2)
            w = C(N - i, k) (1/2 + edge/2)^k (1/2 - edge/2)^(N - i - k)
            learner i learns (x, y) with weight w / (the largest w that learner i can meet)

    w is the chance that the example is decided by learner i where those after it are right by a coin of that edge:
    examples that are settled, one way or the other, are let go.

    Parameters
    ----------
    n_learners : int, N.
    edge : float in (0, 1), gamma: learners are right on a share 1/2 + edge/2 of their weighted examples.
    base, max_features, var_floor : as in :class:`AdaBoostOL`.
    random_state : int, RandomState or None, of ``max_features``; nothing else is random.

    Attributes
    ----------
    classes_ : (n_classes,) array

    References
    ----------
    .. [1] A. Beygelzimer, S. Kale and H. Luo, "Optimal and Adaptive Algorithms for Online Boosting", ICML 2015.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (4000, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5, "in", "out")
    >>> for n_learners in (1, 10):
    ...     right = OnlineBBM(n_learners, edge=0.5).test_then_train(X, y) == y
    ...     print(round(right[2000:].mean(), 2))
    0.85
    0.98
    """

    def __init__(self, n_learners=20, *, edge=0.1, base="nb", max_features=None, var_floor=0.01, random_state=None):
        self.n_learners = n_learners
        self.edge = edge
        self.base = base
        self.max_features = max_features
        self.var_floor = var_floor
        self.random_state = random_state

    def _begin(self, n_features: int, n_classes: int) -> None:
        if not 0.0 < self.edge < 1.0:
            raise BoostrunError(f"edge={self.edge!r}: a number above 0 and below 1 is needed")
        super()._begin(n_features, n_classes)
        self._weights = kernels.bbm_weights(self.n_learners, self.edge)

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return kernels.online_bbm(self._booster, X, y, self._weights, self._perceptron, float(self.var_floor))

    def _scores(self, said: np.ndarray) -> np.ndarray:
        return kernels.bbm_scores(said)

    def _prefixes(self, said: np.ndarray) -> np.ndarray:
        votes = np.cumsum(np.where(said >= 0.0, 1.0, -1.0), axis=2)
        if len(said) == 1:
            return votes
        return votes + 0.5 * np.cumsum(said, axis=2) / np.arange(1, said.shape[2] + 1)  # ties, as in predict
