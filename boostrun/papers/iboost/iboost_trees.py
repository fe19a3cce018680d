"""IBoost of Hoeffding trees, compiled."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from boostrun.kernels import hoeffding
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost import wider
from boostrun.papers.iboost.holdout import CommitteeMembers, _voted, above_zero
from boostrun.papers.iboost.iboost import _ETA_OF_SEVERAL, IBoostClassifier, _mm
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels import iboost_trees as kernels
from boostrun.papers.iboost.keys import IBoostTreesKeys

_LEAVES = {"mc": hoeffding.MAJORITY, "nb": hoeffding.BAYES, "nba": hoeffding.ADAPTIVE}
_EPS_MIN_OF_SEVERAL = 0.4
_MOST_DEPTH = 30  # of trees whose splits are counted by their depth


class IBoostTreesClassifier(IBoostTreesKeys, IBoostClassifier):
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

    _families: ClassVar[dict[str, int]] = {"htree": bases.ELSEWHERE}
    base, var_floor, flip_bad = "htree", 1e-3, False
    scale, update_every, adds_per_event, remove, multiclass, loss = "half", "1", 1, "smallest", "samme", "mm"

    def decision_function(self, X) -> np.ndarray:
        """F(x), (k,), for two classes; coefficients that vote for each class, (k, K), for more."""
        check_is_fitted(self)
        votes, _ = self._voted(self._checked(X, reset=False))
        return above_zero(votes[:, 1]) if votes.shape[1] == 2 else votes

    def members(self) -> None:
        """None: trees are no rows of numbers."""
        return None

    def answers_on(self, X):
        """Labels of the rows of X by the committee as it stands, each time it is called; a tree is asked once."""
        return HeldTrees(self, X)

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._trees = hoeffding.HoeffdingTrees.fresh(self.budget + 1, n_classes, n_features)

    def _numbers(self, n_classes):
        numbers = super()._numbers(2)
        if n_classes == 2:
            return numbers
        return numbers._replace(
            n_classes=n_classes,
            eta=float(_ETA_OF_SEVERAL[self.update] if self.eta is None else self.eta),
            eps_min=float(_EPS_MIN_OF_SEVERAL if self.eps_min is None else self.eps_min),
        )

    @property
    def _rules(self) -> hoeffding.Rules:
        return hoeffding.Rules(
            float(self.grace_period), float(self.split_delta), float(self.tie), _LEAVES[self.leaf], self._depth
        )  # fmt: skip

    @property
    def _depth(self) -> int:
        return 2**31 if self.max_depth is None else int(self.max_depth)

    @property
    def _splits(self) -> int:
        """Of all trees for one example, at most: a split needs ``grace_period`` of the window's weight n."""
        fitted = min(2 ** min(self._depth, _MOST_DEPTH), self.n_window // self.grace_period + 1, self.n_window)
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

    def _predict(self, X):
        return self._voted(X)[1]

    def _voted(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Votes (k, K), as :func:`boostrun.papers.iboost.kernels.committee.vote` counts, and codes (k,)."""
        votes, codes = np.empty((len(X), self._settings.n_classes)), np.empty(len(X), np.int64)
        state = self._state
        kernels.vote_rows(
            self._trees, state.models, state.coefficients, len(self.betas_), X, self._rules, votes, codes
        )  # fmt: skip
        return votes, codes

    def _answers(self, j: int, X: np.ndarray) -> np.ndarray:
        """What member j says of the rows of X (k, d), codes (k,)."""
        codes = np.empty(len(X), np.min_scalar_type(self._settings.n_classes - 1))
        kernels.answer_rows(self._trees, int(self._state.models[j, 0]), X, self._rules, codes)
        return codes

    def _grow_codes(self, n_classes):
        self._settings = self._numbers(n_classes)
        self._states, self._trees = [_mm().grown(self._state, n_classes)], self._trees.grown(n_classes)
        self._refresh()

    def _widen(self, n_features):
        """Leaves observe a new feature from now on; it has been 0 in the window."""
        state = self._state
        self._states = [state._replace(columns=wider.columns(state.columns, n_features))]
        self._trees = self._trees.wider(n_features)
        return True


class HeldTrees:
    """Predictions for one hold-out ``x`` (t, d), the same to the bit as the learner's own; a tree that does not grow is
    asked once, and known by the example at which it was added."""

    def __init__(self, learner: IBoostTreesClassifier, x: np.ndarray):
        self._learner, self._x = learner, np.array(x, np.float64, order="C")
        self._said: dict[int, np.ndarray] = {}

    def __call__(self) -> np.ndarray:
        """Labels (t,) by the learner as it stands."""
        learner = self._learner
        if learner.grow or not len(learner.betas_):
            return learner.predict(self._x)
        state, size, before = learner._state, len(learner.betas_), self._said
        self._said = {
            born: before[born] if born in before else learner._answers(j, self._x)
            for j, born in enumerate(state.born[:size].tolist())
        }
        n_classes = learner._settings.n_classes
        members = CommitteeMembers(bases.ELSEWHERE, state.models, state.coefficients, size, n_classes, signed=True)
        codes, _ = _voted(members, np.stack([*self._said.values()]), np.arange(size))
        return learner._labels_of(codes)


def _several():
    """What compiles for several classes alone."""
    from boostrun.papers.iboost.kernels import iboost_trees_mm

    return iboost_trees_mm
