"""IBoost as a stream learner: boosting that follows a drifting concept (Grbovic & Vucetic 2011)."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import numpy as np

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost import baselines
from boostrun.papers.iboost.holdout import CommitteeMembers, HeldOut, above_zero, predicted
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels import iboost as kernels
from boostrun.papers.iboost.kernels.committee import margins_of
from boostrun.papers.iboost.keys import IBoostKeys

_EPS_MIN = {"stump": 0.2, "gnb": 0.3, "bnb": 0.3, "elsewhere": 0.3}
_ETA = {"stochastic": 3e-3, "batch": 1e-3}
# the same of more than two classes with loss="mm"
_EPS_MIN_OF_SEVERAL = {"stump": 0.2, "gnb": 0.4, "bnb": 0.4, "elsewhere": 0.4}
_ETA_OF_SEVERAL = {"stochastic": 1e-2, "batch": 1e-3}
_EXAMPLES_A_CLASS = 5  # a window with fewer falls far behind; measured in docs/papers/iboost.md


class IBoostClassifier(IBoostKeys, StreamLearner):
    """IBoost: a committee that is kept while the data in a sliding window change.

    After every example, once the window is full::

        the oldest example leaves the window, the newest enters
        n_steps steps of descent on the exponential cost of the window move the coefficients:
            stochastic (9)  b_j += eta a_ji exp(-z_i)                     i the newest example, or one drawn
            batch      (8)  b_j += eta sum_i a_ji exp(-z_i)
        classifiers with b_j < 0 are deleted
        every ``period`` examples: w_i = exp(-z_i); fit a classifier to the weighted window; b = 1/2 ln((1 - e) / e);
            with a full budget the classifier with the smallest b_j goes for it

    with a_ji = y_i f_j(x_i) and z_i = sum_j b_j a_ji. Until the window is full nothing is learnt, and the second class
    (the first of more than two) is predicted.

    Of K > 2 classes every wrong one counts against the right one (AdaBoost.MM)::

        v_c = sum of the b_j of those that say c;  u_i = sum over c != y of exp(v_c - v_y)
        slope of f_j on example i:  g if it is right, -g exp(v_s - v_y) / u_i if it says s;  g = min(u_i, grad_cap)
        steps add eta times the slopes, on one example or on all;  the fit has the weights g, a stump the slopes
        b = 1/2 ln((1 - e) / e), e the wrong ones' share of the newcomer's slopes

    which of two is the above. ``loss="samme"`` has SAMME's code vectors instead: a_ji is 1 / (K - 1) where f_j is right
    and -1 / (K - 1)^2 where it is wrong, chance is e = 1 - 1/K, and eta counts (K - 1)^2 times. ``multiclass="ovr"`` is
    an IBoost of two classes for each, against the rest, and the largest F(x) wins.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, of ``example="random"``.

    Attributes
    ----------
    classes_ : (n_classes,) array
    betas_ : (m,) array, coefficients of the committee as it stands; one committee after the other with "ovr".
    n_seen_ : int, examples learnt.
    n_added_, n_removed_negative_, n_removed_budget_ : int, classifiers added, and removed by either rule.

    Notes
    -----
    An example costs M responses and M + b operations (stochastic, newest), b M (random) or 2 b n M (batch); an addition
    M n and a fit to the window. Memory is n (M + 8 d) bytes and M classifiers, whatever the length of the stream; cost
    and memory K times as much with "ovr" of K > 2 classes. There a class met for the first time later on gets a
    committee of its own, and a third one makes the two begin anew; the window is kept.

    References
    ----------
    .. [1] M. Grbovic and S. Vucetic, "Tracking Concept Change with Incremental Boosting by Minimization of the Evolving
       Exponential Loss", ECML PKDD 2011.
    .. [2] I. Mukherjee and R. E. Schapire, "A Theory of Multiclass Boosting", JMLR 14, 2013.
    .. [3] J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2, 2009.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (6000, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= np.where(np.arange(6000) < 3000, 8, 13), 1, -1)
    >>> model = IBoostClassifier(n_window=200, budget=50)
    >>> right = model.test_then_train(X, y) == y
    >>> bool(right[2000:3000].mean() > 0.95), bool(right[3000:3100].mean() < 0.85), bool(right[5000:].mean() > 0.95)
    (True, True, True)
    """

    uses_change_detector = False
    updates_base_online = False
    adds_and_removes = True
    keeps_window = True

    _families: ClassVar[dict[str, int]] = {"stump": bases.STUMP, "gnb": bases.GNB, "bnb": bases.BNB}

    def decision_function(self, X) -> np.ndarray:
        """F(x) = sum_j b_j f_j(x), (k,), for two classes; coefficients that vote for each class, (k, K), for more, or
        F(x) of each class against the rest. The second of two classes is predicted where F(x) > 0; where it is 0, as it
        is until the window is full, that class is predicted too, and the least number above 0 stands for it."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self._settings.n_classes == 2:
            scores = np.stack([predicted(members, X)[1][0] for members in self._committees()])
            return above_zero(scores[0]) if len(scores) == 1 else scores.T
        return predicted(self.members(), X)[1].T  # type: ignore[arg-type]

    def members(self) -> CommitteeMembers | None:
        """The committee as numbers, not copied; None where there is one a class."""
        return self._committees()[0] if len(self._states) == 1 else None

    def answers_on(self, X: np.ndarray) -> HeldOut:
        """Labels of the rows of X by the committee as it stands, each time it is called."""
        return HeldOut(self, X)

    def _committees(self) -> list[CommitteeMembers]:
        family, n_classes = self._settings.family, self._settings.n_classes
        return [
            CommitteeMembers(
                family, state.models, state.coefficients, int(state.counts[kernels.SIZE]), n_classes, signed=True
            )
            for state in self._states
        ]

    @property
    def betas_(self) -> np.ndarray:
        check_is_fitted(self)
        return np.concatenate([state.coefficients[: state.counts[kernels.SIZE]] for state in self._states])

    @property
    def n_seen_(self) -> int:
        check_is_fitted(self)
        return int(self._state.counts[kernels.SEEN])

    @property
    def n_added_(self) -> int:
        return self._count(kernels.ADDED)

    @property
    def n_removed_negative_(self) -> int:
        return self._count(kernels.NEGATIVE)

    @property
    def n_removed_budget_(self) -> int:
        return self._count(kernels.BUDGET)

    def _count(self, place: int) -> int:
        check_is_fitted(self)
        return sum(int(state.counts[place]) for state in self._states)

    @property
    def _state(self) -> kernels.CommitteeState:
        return self._states[0]

    def _begin(self, n_features: int, n_classes: int) -> None:
        self._check_parameters()
        self._check_room(n_classes, 2)
        self._seed = self._entropy()
        if self.multiclass == "ovr" and n_classes > 2:
            self._settings = self._numbers(2)
            self._states = [self._empty(n_features, 2, self.n_window, c) for c in range(n_classes)]
        else:
            self._settings = self._numbers(n_classes)
            state = self._empty(n_features, n_classes, self.n_window)
            self._states = [_mm().begun(state, n_classes) if self._by_pairs else state]

    @property
    def _by_pairs(self) -> bool:
        """Whether each wrong class counts against the right one; of two classes that is what always is done."""
        return self.loss == "mm" and self._settings.n_classes > 2

    def _empty(self, n_features: int, n_classes: int, slots: int, number: int = 0) -> kernels.CommitteeState:
        """A window of so many slots, none in use, and a committee without members, the ``number``-th of several."""
        M = self.budget
        ordered = (n_features, slots) if self._family == "stump" else (0, 0)
        size = bases.width(self._settings.family, n_features, n_classes)
        seed = np.random.SeedSequence(self._seed, spawn_key=(number,) if number else ())
        return kernels.CommitteeState(
            columns=np.zeros((n_features, slots)), labels=np.zeros(slots, np.int64), order=np.zeros(ordered, np.int32),
            mass=np.zeros(slots), right=np.zeros((M, slots), np.int8), margins=np.zeros(slots),
            coefficients=np.zeros(M), born=np.zeros(M, np.int64), models=np.zeros((M, size)),
            counts=np.zeros(6, np.int64), random=seed.generate_state(1, np.uint64),
        )  # fmt: skip

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        slots = (self._state.counts[kernels.SEEN] + np.arange(len(X))) % self.n_window
        predictions, scores = np.empty(len(X), np.int64), np.empty((len(self._states), len(X)))
        if self._by_pairs:
            _mm().test_then_train(X, y, slots, self._state, self._settings, self._settings.cap, predictions)
            self._check_finite(self._state)
            return predictions
        for c, state in enumerate(self._states):
            labels = y if len(self._states) == 1 else (y == c).astype(np.int64)
            kernels.test_then_train(X, labels, slots, state, self._settings, predictions, scores[c])
            self._check_finite(state)
        return predictions if len(self._states) == 1 else scores.argmax(axis=0)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        found = [predicted(members, X) for members in self._committees()]
        return found[0][0] if len(found) == 1 else np.stack([scores[0] for _, scores in found]).argmax(axis=0)

    def _check_finite(self, state: Any) -> None:
        sums = state.votes if self._by_pairs else state.margins
        if not (np.isfinite(state.coefficients).all() and np.isfinite(sums).all()):
            raise BoostrunError(
                f"the coefficients are no longer finite after {self.n_seen_} examples: grad_cap={self.grad_cap!r} and "
                f"eta={self.eta!r} let the steps grow; grad_cap=1 bounds them"
            )

    def _grow(self, n_classes: int) -> None:
        self._check_room(n_classes, n_classes - 1)
        if self.multiclass == "ovr":
            self._grow_one_vs_rest(n_classes)
        else:
            self._grow_codes(n_classes)

    def _grow_one_vs_rest(self, n_classes: int) -> None:
        """A committee for each new class, which no example in the window has; all begin anew where there were two."""
        old = self._states
        known = [old[0].labels == c for c in range(2)] if len(old) == 1 else []
        self._states = [] if known else old
        for c in range(len(self._states), n_classes):
            state = self._empty(self.n_features_in_, 2, len(old[0].labels), c)
            for part in ("columns", "order", "mass"):
                getattr(state, part)[:] = getattr(old[0], part)
            state.labels[:] = known[c] if c < len(known) else 0
            state.counts[kernels.SEEN] = old[0].counts[kernels.SEEN]
            self._states.append(state)

    def _grow_codes(self, n_classes: int) -> None:
        """Classifiers stay, and so do their coefficients; a naive Bayes never answers with a class it has not met."""
        state, d = self._state, self.n_features_in_
        self._settings = self._numbers(n_classes)
        models = baselines.classes(self._settings.family, state.models, d, n_classes)
        self._states = [state._replace(models=models)]
        if self._by_pairs:
            self._states = [_mm().grown(self._state, n_classes)]
        self._refresh()

    def _widen(self, n_features: int) -> bool:
        """Classifiers stay, and do not look at the new features."""
        d, family, n_classes = self.n_features_in_, self._settings.family, self._settings.n_classes
        self._states = [
            state._replace(
                columns=baselines.columns(state.columns, n_features),
                order=baselines.orders(state.order, n_features) if self._family == "stump" else state.order,
                models=baselines.models(family, state.models, n_classes, d, n_features),
            )
            for state in self._states
        ]
        return True

    def _refresh(self) -> None:
        """All margins anew."""
        state, settings = self._state, self._settings
        if self._by_pairs:
            _mm().refresh(state)
            return
        margins_of(
            state.right, state.coefficients, state.counts[kernels.SIZE], settings.middle, settings.half, state.margins
        )
        state.counts[kernels.DIRTY] = 0

    @property
    def _family(self) -> str:
        """Which family the classifiers are of."""
        return self.base

    def _numbers(self, n_classes: int) -> kernels.Numbers:
        right, wrong = 1.0 / (n_classes - 1), -1.0 / (n_classes - 1) ** 2
        pairs = self.loss == "mm" and n_classes > 2
        eta = float((_ETA_OF_SEVERAL if pairs else _ETA)[self.update] if self.eta is None else self.eta)
        eps_min = (_EPS_MIN_OF_SEVERAL if pairs else _EPS_MIN)[self._family]
        return kernels.Numbers(
            n_classes=n_classes,
            family=self._families[self._family],
            start=int(self.n_window),
            period=int(self.period),
            n_steps=int(self.n_steps),
            batch=self.update == "batch",
            newest=self.example == "newest",
            log_gradient=self.gradient == "log",
            steps_every=int(self.period) if self.update_every == "p" else 1,
            additions=int(self.adds_per_event),
            drop_oldest=self.remove == "oldest",
            flip_bad=bool(self.flip_bad),
            middle=0.5 * (right + wrong),
            half=0.5 * (right - wrong),
            eta=eta if pairs else eta * (n_classes - 1) ** 2,
            cap=math.inf if self.grad_cap is None else float(self.grad_cap),
            eps_min=float(eps_min if self.eps_min is None else self.eps_min),
            scale=2.0 if self.scale == "literal" else 1.0,
            var_floor=float(self.var_floor),
        )

    def _check_room(self, n_classes: int, before: int) -> None:
        """A warning, once a stream, where the window is too short for so many classes; ``before`` were known."""
        enough = self.n_window >= _EXAMPLES_A_CLASS * n_classes
        warned = before > 2 and self.n_window < _EXAMPLES_A_CLASS * before
        if n_classes > 2 and not enough and not warned:
            warnings.warn(
                f"n_window={self.n_window} is short for {n_classes} classes: IBoost follows them with "
                f"{_EXAMPLES_A_CLASS} examples a class or more, n_window={_EXAMPLES_A_CLASS * n_classes}",
                UserWarning,
                stacklevel=2,
            )

    def _check_parameters(self) -> None:
        fields.check(self)
        if self.gradient == "log" and self.update != "batch":
            raise BoostrunError("gradient='log' divides by the cost of the whole window: it needs update='batch'")


def _mm():
    """What compiles for several classes alone."""
    from boostrun.papers.iboost.kernels import iboost_mm

    return iboost_mm
