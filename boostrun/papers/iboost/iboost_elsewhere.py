"""IBoost whose classifiers are no rows of numbers: trees, regressions, objects."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost import wider
from boostrun.papers.iboost.holdout import _BLOCK, CommitteeMembers, _voted, above_zero
from boostrun.papers.iboost.iboost import IBoostClassifier, _mm
from boostrun.papers.iboost.kernels import bases


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
        self._states = [state._replace(columns=wider.columns(state.columns, n_features))]
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
