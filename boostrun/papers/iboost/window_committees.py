"""Committees whose members are fitted to a window and do not change afterwards, with their kernels.

AdaBoost trained again and again on the newest examples, Online Coordinate Boosting (OCB: AdaBoost once, then only the
coefficients learn), and Fast and Light Boosting (FLB: one classifier a block).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostrun.config import fields
from boostrun.kernels import allocating_kernel, allocating_part, kernel, part, written_in
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels.committee import CommitteeMembers, HeldOut, predicted, slide, start_order
from boostrun.papers.iboost.kernels.incremental import winner
from boostrun.papers.iboost.keys import AdaBoostKeys, FLBKeys, OCBKeys

_SURE, _FLOOR = 1e-10, 1e-6  # an error below the first is replaced by the second
SEEN, SIZE = 0, 1  # places in ``counts``


@allocating_kernel
def adaboost(family, columns, order, labels, n_classes, var_floor, models, coefficients, weights):
    """Train at most M = len(``coefficients``) rounds; returns their number.

    w_i = exp(-z_i) / sum, e the weighted error of the classifier fitted to w, b = 1/2 ln((1 - e) / e), z_i += b a_i. K
    > 2 classes use SAMME's code vectors: a = 1 / (K - 1) if right, -1 / (K - 1)^2 if wrong, b = (K - 1)^2 / K (ln((1 -
    e) / e) + ln(K - 1)). A round with an error below 1e-10 is the last one; one no better than chance is dropped. Fills
    ``models`` (M, width) and ``coefficients`` (M,); ``weights`` (n,) end as exp(-z), the largest of them 1.
    """
    n = labels.shape[0]
    right_way = 1.0 / (n_classes - 1)
    wrong_way = -(right_way**2)
    margins, said = np.zeros(n), np.empty(n, np.int64)
    for i in range(n):
        weights[i] = 1.0
    for j in range(coefficients.shape[0]):
        total, error = 0.0, 0.0
        for i in range(n):
            total += weights[i]
        for i in range(n):
            weights[i] /= total
        bases.fit(family, columns, order, labels, weights, n_classes, var_floor, models[j])
        bases.respond_window(family, models[j], columns, n_classes, said)
        for i in range(n):
            error += weights[i] if said[i] != labels[i] else 0.0
        if not error < 1.0 - 1.0 / n_classes - _SURE:
            _from_margins(margins, weights)
            return j
        sure = error < _SURE
        error = _FLOOR if sure else error
        coefficient = math.log((1.0 - error) / error) + math.log(n_classes - 1.0)
        coefficient *= (n_classes - 1) ** 2 / n_classes
        coefficients[j] = coefficient
        for i in range(n):
            margins[i] += coefficient * (right_way if said[i] == labels[i] else wrong_way)
        _from_margins(margins, weights)
        if sure:
            return j + 1
    return coefficients.shape[0]


@written_in
def _from_margins(margins, weights):
    """``weights`` = exp(-(z_i - min z)), which cannot overflow."""
    least = np.inf
    for i in range(margins.shape[0]):
        least = min(least, margins[i])
    for i in range(margins.shape[0]):
        weights[i] = math.exp(least - margins[i])


@part
def committee(family, models, coefficients, size, sample, n_classes, votes):
    """Class with the largest sum of coefficients of the first ``size`` classifiers; ``votes`` (K,) is scratch."""
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for j in range(size):
        votes[bases.respond(family, models, j, sample, n_classes)] += coefficients[j]
    return winner(votes)


@part
def enter(family, columns, order, labels, seen, sample, label):
    """Store example number ``seen`` (from 0) in the slot of the oldest; sort the window when it becomes full."""
    n = labels.shape[0]
    slot = seen % n
    if seen >= n and family == bases.STUMP:
        slide(columns, order, slot, sample)
    else:
        for r in range(sample.shape[0]):
            columns[r, slot] = sample[r]
    labels[slot] = label
    if seen == n - 1 and family == bases.STUMP:
        start_order(columns, order)


@allocating_kernel
def retrain(
    X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, period, lazy, out
):
    """For each row: predict it with the last committee, store it, and every ``period`` rows run :func:`adaboost`;
    ``lazy`` skips a training that a later one in the same chunk replaces. ``counts`` (2,): examples seen, committee
    size."""
    n, length = labels.shape[0], y.shape[0]
    votes, weights = np.empty(n_classes), np.empty(n)
    for i in range(length):
        out[i] = committee(family, models, coefficients, counts[SIZE], X[i], n_classes, votes)
        enter(family, columns, order, labels, counts[SEEN], X[i], y[i])
        counts[SEEN] += 1
        past = counts[SEEN] - n
        if past >= 0 and past % period == 0 and not (lazy and i + period < length):
            counts[SIZE] = adaboost(family, columns, order, labels, n_classes, var_floor, models, coefficients, weights)


_LEAST_SUM, _MOST_CHANGE, _MOST_WEIGHT = 1e-12, 1.0, 1e100


@allocating_kernel
def update(margins, positive, negative, coefficients, size, sign, offset):
    """Learn one example; ``margins`` (M,) are m_j = +1 if classifier j of ``size`` is right, else -1.

    ``positive`` and ``negative`` (M, o + 1) hold W+_jk and W-_jk at [j, j - k]: sums of d_j over the examples on which
    f_j and f_k are both right, or both wrong. A new coefficient changes the weights of all past examples by a factor,
    computed as if the m_k were independent given m_j. ``sign`` is 1, or -1 as in MOA for W-. ``offset`` = 1/2 ln(K -
    1), as in SAMME, is added to each coefficient, so that it is 0 at chance. Cost O(M o).
    """
    changes = np.empty(size)
    weight = 1.0
    for j in range(size):
        back = min(j, positive.shape[1] - 1)
        up, down = 1.0, 1.0
        for k in range(j - back, j):
            grow, shrink = math.exp(changes[k]), math.exp(-changes[k])
            share = positive[j, j - k] / positive[j, 0]
            up *= share * shrink + (1.0 - share) * grow
            share = negative[j, j - k] / negative[j, 0]
            down *= share * grow + (1.0 - share) * shrink if sign > 0 else share * shrink + (1.0 - share) * grow
        for k in range(j - back, j + 1):
            plus = weight if margins[j] > 0 and margins[k] > 0 else 0.0
            minus = weight if margins[j] < 0 and margins[k] < 0 else 0.0
            positive[j, j - k] = max(positive[j, j - k] * up + plus, _LEAST_SUM)
            negative[j, j - k] = max(negative[j, j - k] * down + minus, _LEAST_SUM)
        fresh = 0.5 * math.log(positive[j, 0] / negative[j, 0]) + offset
        changes[j] = min(max(fresh - coefficients[j], -_MOST_CHANGE), _MOST_CHANGE)
        coefficients[j] = fresh
        weight = min(weight * math.exp(-fresh * margins[j]), _MOST_WEIGHT)


@allocating_part
def begin(family, columns, order, labels, n_classes, var_floor, models, coefficients, positive, negative):
    """Run AdaBoost on the first examples, put their weights into the sums, and compute the coefficients from the
    sums. Returns the number of classifiers."""
    n = labels.shape[0]
    said, weights = np.empty(n, np.int64), np.empty(n)
    size = adaboost(family, columns, order, labels, n_classes, var_floor, models, coefficients, weights)
    right = np.empty((size, n), np.uint8)
    for i in range(n):
        weights[i] = 1.0
    for j in range(size):
        bases.respond_window(family, models[j], columns, n_classes, said)
        for i in range(n):
            right[j, i] = said[i] == labels[i]
            for k in range(j - min(j, positive.shape[1] - 1), j + 1):
                if right[j, i] and right[k, i]:
                    positive[j, j - k] += weights[i]
                elif not right[j, i] and not right[k, i]:
                    negative[j, j - k] += weights[i]
            half = coefficients[j] * (0.5 * n_classes / (n_classes - 1) ** 2)  # as for two classes
            weights[i] *= math.exp(-half if right[j, i] else half)
    for j in range(size):
        coefficients[j] = 0.5 * math.log(positive[j, 0] / negative[j, 0]) + 0.5 * math.log(n_classes - 1.0)
    return size


@allocating_kernel
def boost(
    X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, positive, negative, sign,
    out,
):  # fmt: skip
    """For each row: predict it, then :func:`update`, or :func:`begin` once the window is full."""
    n = labels.shape[0]
    votes, margins, offset = np.empty(n_classes), np.empty(models.shape[0]), 0.5 * math.log(n_classes - 1.0)
    for i in range(X.shape[0]):
        size = counts[SIZE]
        out[i] = committee(family, models, coefficients, size, X[i], n_classes, votes)
        if counts[SEEN] >= n:
            for j in range(size):
                margins[j] = 1.0 if bases.respond(family, models, j, X[i], n_classes) == y[i] else -1.0
            update(margins, positive, negative, coefficients, size, sign, offset)
        else:
            enter(family, columns, order, labels, counts[SEEN], X[i], y[i])
            if counts[SEEN] == n - 1:
                counts[SIZE] = begin(
                    family, columns, order, labels, n_classes, var_floor, models, coefficients, positive, negative
                )
        counts[SEEN] += 1


@allocating_kernel
def follow(said, y, n_classes, coefficients, positive, negative, sign, out):
    """Predict each row, ``out`` (k,), from all members' answers ``said`` (m, k), and :func:`update` the
    coefficients."""
    size = said.shape[0]
    votes, margins, offset = np.empty(n_classes), np.empty(size), 0.5 * math.log(n_classes - 1.0)
    for i in range(said.shape[1]):
        votes[:] = 0.0
        for j in range(size):
            votes[said[j, i]] += coefficients[j]
            margins[j] = 1.0 if said[j, i] == y[i] else -1.0
        out[i] = winner(votes)
        update(margins, positive, negative, coefficients, size, sign, offset)


_LEAST_BLOCKS = 5  # no alarm before them
BLOCKS, ALARMS = 2, 3  # places in ``counts``, after SEEN and SIZE
COUNT, MEAN, SQUARES = 0, 1, 2  # places in ``errors``


@kernel
def alarming(errors, error, length, z):
    """Whether the error of a block is more than ``z`` standard deviations above the mean since the last alarm.

    At least 5 blocks are needed. The deviation is at least the binomial one of ``length`` examples, at a mean of at
    least 1 / length. ``errors`` (3,), their count, mean and squared deviations, take in the error, or are emptied by an
    alarm.
    """
    count, mean = errors[COUNT], errors[MEAN]
    if count >= _LEAST_BLOCKS:
        usual = max(mean, 1.0 / length)
        deviation = max(math.sqrt(errors[SQUARES] / (count - 1.0)), math.sqrt(usual * (1.0 - usual) / length))
        if error > mean + z * deviation:
            errors[COUNT] = errors[MEAN] = errors[SQUARES] = 0.0
            return True
    errors[COUNT] += 1.0
    errors[MEAN] += (error - mean) / errors[COUNT]
    errors[SQUARES] += (error - mean) * (error - errors[MEAN])
    return False


@kernel
def block_weights(missed, error, weights):
    """Weights of sum 1: (1 - e) / e where the committee errs, relative to 1 elsewhere; e is kept in [1/n, 1/2]."""
    n = missed.shape[0]
    error = min(max(error, 1.0 / n), 0.5)
    total = 0.0
    for i in range(n):
        weights[i] = (1.0 - error) / error if missed[i] else 1.0
        total += weights[i]
    for i in range(n):
        weights[i] /= total


@written_in
def learn_block(family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, errors, z):
    """Learn a full block: check for an alarm, then fit one classifier in the place of the oldest. Cost M n and a
    fit."""
    n = labels.shape[0]
    missed, weights = np.zeros(n, np.uint8), np.empty(n)
    votes, sample = np.empty(n_classes), np.empty(columns.shape[0])
    error = 0.0
    if counts[SIZE] > 0:
        for i in range(n):
            for r in range(sample.shape[0]):
                sample[r] = columns[r, i]
            said = committee(family, models, coefficients, counts[SIZE], sample, n_classes, votes)
            missed[i] = said != labels[i]
            error += missed[i]
        error /= n
        if alarming(errors, error, n, z):
            counts[SIZE] = counts[BLOCKS] = 0
            counts[ALARMS] += 1
            for i in range(n):
                missed[i] = 0
    block_weights(missed, error, weights)
    if family == bases.STUMP:
        start_order(columns, order)
    place = counts[BLOCKS] % models.shape[0]
    bases.fit(family, columns, order, labels, weights, n_classes, var_floor, models[place])
    coefficients[place] = 1.0
    counts[BLOCKS] += 1
    counts[SIZE] = min(counts[BLOCKS], models.shape[0])


@allocating_kernel
def blocks(
    X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, errors, z, out
):  # fmt: skip
    """For each row: predict it and store it; learn the block when it is full."""
    n = labels.shape[0]
    votes = np.empty(n_classes)
    for i in range(X.shape[0]):
        size = counts[SIZE]
        out[i] = committee(family, models, coefficients, size, X[i], n_classes, votes)
        slot = counts[SEEN] % n
        for r in range(X.shape[1]):
            columns[r, slot] = X[i, r]
        labels[slot] = y[i]
        counts[SEEN] += 1
        if slot == n - 1:
            learn_block(family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, errors, z)


FAMILIES = {"stump": bases.STUMP, "gnb": bases.GNB, "bnb": bases.BNB}


class Committee(StreamLearner):
    """Base of methods whose members are fitted to a window and vote with coefficients.

    It has at most ``budget`` members of the family ``base``: ``stump``, ``gnb`` (Gaussian naive Bayes; ``var_floor``
    times a feature's variance in the window is added to every variance), ``bnb`` (Bernoulli), ``logistic`` regression,
    ``hoeffding`` trees, or copies of an object of scikit-learn or river. When a new class appears later, the committee
    starts again without members.
    """

    def _begin(self, n_features: int, n_classes: int) -> None:
        fields.check(self)
        others = self._others
        self._family = FAMILIES[self.base] if others is None else others.family
        self._n_features = n_features
        self._counts = np.zeros(2, np.int64)
        self._make_room(n_classes)

    def _make_room(self, n_classes: int) -> None:
        self._n_classes = n_classes
        self._models = np.zeros((self.budget, bases.width(self._family, self._n_features, n_classes)))
        self._coefficients = np.zeros(self.budget)
        self._counts[SIZE] = 0
        self._fitted = () if self._others is None else self._others.fresh(self.budget, n_classes, self._n_features)

    def _open_window(self, length: int) -> None:
        """An empty window of ``length`` examples: columns, their sorted order, class codes."""
        shape = (self._n_features, length)
        self._window = np.zeros(shape), np.zeros(shape, np.int32), np.zeros(length, np.int64)

    def _grow(self, n_classes: int) -> None:
        self._make_room(n_classes)

    def _widen(self, n_features: int) -> bool:
        """Keep the members, which ignore the new features."""
        columns, order, labels = self._window
        self._window = bases.widen_columns(columns, n_features), bases.widen_order(order, n_features), labels
        self._models = bases.widen_models(self._family, self._models, self._n_classes, self._n_features, n_features)
        if self._others is not None:
            self._fitted = self._others.widened(n_features)
        self._n_features = n_features
        return True

    @property
    def _others(self) -> Any:
        """The members if no compiled loop fits them, else None."""
        if isinstance(self.base, str) and self.base in FAMILIES:
            return None
        from boostrun.papers.iboost import fitted_members

        return fitted_members.members_of(self)

    def _loop(self, kernel: Any) -> Any:
        """The loop of ``kernel`` for these members."""
        return kernel if self._others is None else self._others.loop(kernel)

    @property
    def n_seen_(self) -> int:
        """Number of examples learnt."""
        return int(self._counts[SEEN])

    @property
    def betas_(self) -> np.ndarray:
        """(m,) float64, coefficients of the members."""
        return self._coefficients[: self._counts[SIZE]].copy()

    def members(self) -> CommitteeMembers | None:
        """The committee as numbers, not copied; None if its members are not numbers."""
        if self._family == bases.ELSEWHERE:
            return None
        size = int(self._counts[SIZE])
        return CommitteeMembers(self._family, self._models, self._coefficients, size, self._n_classes, signed=False)

    def answers_on(self, X: np.ndarray) -> Any:
        """A function that returns the current committee's labels of the rows of X; a member answers once."""
        fields.check(self)
        return HeldOut(self, X) if self._others is None else self._others.held(X)

    def _predict(self, X):
        members = self.members()
        return self._others.voted(X)[0] if members is None else predicted(members, X)[0]


class AdaBoostWindowClassifier(AdaBoostKeys, Committee):
    """AdaBoost with at most ``budget`` rounds on the ``n_window`` newest examples, every ``period`` examples.

    Training starts with the first full window; until then the second class is predicted (the first of more than two).
    Between trainings the last committee predicts. Training stops early at an error below 1e-10, whose classifier gets
    the coefficient of the error 1e-6, or at an error no better than chance. It is deterministic.

    Parameters
    ----------
    {parameters}

    A class that appears later starts a training at once. A training costs M fits to n examples.

    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 3))
    >>> model = AdaBoostWindowClassifier(n_window=100, budget=20, period=10).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = False
    adds_and_removes = False
    keeps_window = True

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._open_window(self.n_window)

    def _grow(self, n_classes):
        super()._grow(n_classes)
        if self.n_seen_ >= self.n_window:
            self._counts[SIZE] = self._loop(adaboost)(
                self._family, *self._window, n_classes, float(self.var_floor), self._models, self._coefficients,
                np.empty(self.n_window),
            )  # fmt: skip

    def _learn(self, X, y):
        out = np.empty(len(y), np.int64)
        self._loop(retrain)(
            X, y, self._family, *self._window, self._n_classes, float(self.var_floor), self._models,
            self._coefficients, self._counts, self.period, bool(self.lazy), out,
        )  # fmt: skip
        return out


class OCBClassifier(OCBKeys, Committee):
    """Online Coordinate Boosting: AdaBoost on the first ``n_window`` examples; then only its coefficients learn::

        d = 1;  for j = 1..M, with m_j = +1 if f_j is right on the example, else -1:
            up   = prod_k [q e^-D_k + (1 - q) e^D_k],  q = W+_jk / W+_jj      k from j - order to j - 1
            down = prod_k [q e^D_k + (1 - q) e^-D_k],  q = W-_jk / W-_jj
            W+_jk = W+_jk up + d 1[m_j = m_k = 1];  W-_jk = W-_jk down + d 1[m_j = m_k = -1]
            a = 1/2 ln(W+_jj / W-_jj);  D_j = a - alpha_j;  alpha_j = a;  d *= e^(-a m_j)

    These are AdaBoost's coefficients on all examples so far, if the m_k are independent given m_j. Bounds: W at least
    1e-12, |D| at most 1, d at most 1e100. For K classes 1/2 ln(K - 1) is added to a, as in SAMME. Until the first
    ``n_window`` examples have arrived, the second class is predicted (the first of more than two). A class that appears
    after them is never predicted. It is deterministic.

    Parameters
    ----------
    {parameters}

    Cost O(M order) an example.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (1000, 3))
    >>> model = OCBClassifier(n_window=100, budget=20).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    _poor_score = True  # its classifiers know the first 200 of the 300 examples of scikit-learn's check
    uses_change_detector = False
    updates_base_online = False
    adds_and_removes = False
    keeps_window = False

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._open_window(self.n_window)
        back = self.budget - 1 if self.order is None else min(self.order, self.budget - 1)
        self._sums = np.full((2, self.budget, back + 1), float(self.smoothing))

    def _grow(self, n_classes):
        if self.n_seen_ < self.n_window:
            super()._grow(n_classes)

    def _hold(self, state):
        """Take the numbers of a state, which knows only the classes of its window."""
        known, self.classes_ = self.classes_, self.classes_[: state.numbers["_n_classes"]]
        super()._hold(state)
        self.classes_ = known

    def _learn(self, X, y):
        out = np.empty(len(y), np.int64)
        self._loop(boost)(
            X, y, self._family, *self._window, self._n_classes, float(self.var_floor), self._models,
            self._coefficients, self._counts, *self._sums, 1 if self.signs == "derived" else -1, out,
        )  # fmt: skip
        return out


class FLBClassifier(FLBKeys, Committee):
    """Fast and Light Boosting, reconstructed: one classifier for each block of ``n_window`` examples, an unweighted
    vote::

        on each full block B:
            e = error of the committee on B
            if e > mean + z sd of the errors so far (at least 5 blocks):  committee and errors start again
            w_i = (1 - e) / e if the committee errs on i, else 1          e kept in [1 / n_window, 1/2]
            fit a classifier to (B, w); if there are more than ``budget``, delete the oldest

    sd is at least the binomial one, sqrt(mean (1 - mean) / n_window), with a mean of at least 1 / n_window, so that one
    error after perfect blocks is no alarm. The original's second stage, which tells gradual from abrupt change, is not
    reproduced. Until the first block is full, the second class is predicted (the first of more than two). It is
    deterministic.

    Parameters
    ----------
    {parameters}

    Cost M responses an example, twice, and a fit a block.

    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = FLBClassifier(n_window=100, budget=20).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    _poor_score = True  # the 300 examples of scikit-learn's check are one block, one classifier
    uses_change_detector = True
    updates_base_online = True  # as in the paper's table, although a block's classifier does not change
    adds_and_removes = True
    keeps_window = True

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._counts, self._errors = np.zeros(4, np.int64), np.zeros(3)
        self._open_window(self.n_window)

    def _grow(self, n_classes):
        super()._grow(n_classes)
        self._counts[BLOCKS] = 0
        self._errors[:] = 0.0

    @property
    def n_alarms_(self) -> int:
        """Number of times the committee started again because the error had jumped."""
        return int(self._counts[ALARMS])

    def _learn(self, X, y):
        out = np.empty(len(y), np.int64)
        self._loop(blocks)(
            X, y, self._family, *self._window, self._n_classes, float(self.var_floor), self._models,
            self._coefficients, self._counts, self._errors, float(self.z), out,
        )  # fmt: skip
        return out
