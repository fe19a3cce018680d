"""IBoost with ADWIN: a window that is long while the concept stands still, and short after it has moved."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.plain import allocating_kernel, part
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import adwin, committee, iboost
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.iboost.kernels.committee import weigh
from boostrun.papers.iboost.keys import IBoostAdwinKeys

ACTIVE, EAGER, DETECTED, PRUNED = range(4)  # places in ``counts``
_WIDTH = 0  # place in the counts of an ADWIN


@allocating_kernel
def test_then_train(samples, labels, state, settings, adwins, counts, delta, least, predictions):
    """Predict each row, look whether the concept has changed, and learn it; see :mod:`.drift_iboost`.

    ``adwins`` hold one window; ``counts`` (4,) int64: the newest examples that count, additions left to be made
    whatever the period, detections, classifiers that went for one. After a detection ``least`` examples count at least,
    and as many additions follow. Cost a row as there, and O(1); a detection costs M n.
    """
    n = state.labels.shape[0]
    classes, votes, sums = np.empty(state.born.shape[0], np.int64), np.empty(settings.n_classes), np.empty(n)
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[iboost.SIZE], settings.n_classes, classes)
        said = predictions[e] = committee.vote(classes, state.coefficients, state.counts[iboost.SIZE], votes)
        if state.counts[iboost.SEEN] >= settings.start and _rises(adwins, said != labels[e], delta):
            _forget(state, settings, counts, min(max(adwins.counts[0, _WIDTH], least), n), sums)
            counts[EAGER] = least
            counts[DETECTED] += 1
            committee.ask(
                samples[e], settings.family, state.models, state.counts[iboost.SIZE], settings.n_classes, classes
            )
        slot, eager = state.counts[iboost.SEEN] % n, counts[EAGER] > 0
        iboost.learn(samples[e], labels[e], slot, eager, state, settings, classes, sums)
        counts[ACTIVE] = min(counts[ACTIVE] + 1, n)
        counts[EAGER] = max(counts[EAGER] - 1, 0)


@part
def _rises(adwins, wrong, delta):
    """Whether the window of errors is cut by this one, and what is left of it errs more."""
    before = adwin.estimate(adwins, 0)
    cut = adwin.add(adwins, 0, 1.0 if wrong else 0.0, delta, False)
    return cut and adwin.estimate(adwins, 0) > before


@part
def _forget(state, settings, counts, active, weights):
    """The newest ``active`` examples are all that count, at most as many as before; a classifier whose error on them,
    weighted by exp(-z), exceeds chance goes."""
    n, newest = state.labels.shape[0], state.counts[iboost.SEEN] - 1
    for age in range(active, n):
        state.mass[(newest - age) % n] = 0.0
    counts[ACTIVE] = min(counts[ACTIVE], active)
    iboost.refresh(state, settings)
    weigh(state.margins, state.mass, weights)
    for j in range(state.counts[iboost.SIZE] - 1, -1, -1):  # the last one takes the row of one that goes
        error = 0.0
        for i in range(n):
            error += weights[i] if state.right[j, i] < 0 else 0.0
        if error > 1.0 - 1.0 / settings.n_classes:
            iboost.remove(state, settings, j)
            counts[PRUNED] += 1


class IBoostAdwinClassifier(IBoostAdwinKeys, IBoostClassifier):
    """IBoost on the newest n_t of n examples, n_t decided by an ADWIN of the committee's errors::

        on (x, y):  ADWIN meets 1[F(x) is wrong];  if it was cut and its mean rose:
                        n_t = its width, at least n_least, at most n
                        z, w = exp(-z) on these n_t examples;  every f_j with a weighted error above chance goes
                        a classifier is added at each of the next n_least examples, whatever the period
                    n_t = min(n_t + 1, n);  IBoost learns (x, y) on the newest n_t

    Until something is detected it is :class:`boostrun.papers.iboost.iboost.IBoostClassifier` with the same parameters,
    bit for bit; examples that count no longer have no part in weights, steps or fits.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : as there.
    n_active_ : int, n_t: how many examples count.
    n_detections_, n_removed_wrong_ : int, changes found, and classifiers that went for them.

    Notes
    -----
    Cost and memory of IBoost; a detection costs M n once, and n_least additions.

    References
    ----------
    .. [1] A. Bifet and R. Gavalda, "Learning from Time-Changing Data with Adaptive Windowing", SDM 2007.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (6000, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= np.where(np.arange(6000) < 3000, 8, 13), 1, -1)
    >>> plain, adaptive = IBoostClassifier(n_window=1000), IBoostAdwinClassifier(n_window=1000)
    >>> right, better = (model.test_then_train(X, y) == y for model in (plain, adaptive))
    >>> bool((right[:3000] == better[:3000]).all()), bool(better[3000:3600].mean() > right[3000:3600].mean() + 0.05)
    (True, True)
    """

    uses_change_detector = True

    scale, update_every, adds_per_event, remove, multiclass, loss = "half", "1", 1, "smallest", "samme", "samme"

    @property
    def n_active_(self) -> int:
        check_is_fitted(self)
        return int(self._watch[ACTIVE])

    @property
    def n_detections_(self) -> int:
        check_is_fitted(self)
        return int(self._watch[DETECTED])

    @property
    def n_removed_wrong_(self) -> int:
        check_is_fitted(self)
        return int(self._watch[PRUNED])

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._adwins, self._watch = Adwins.empty(1), np.zeros(4, np.int64)
        if self.detector != "adwin":
            from boostrun.papers.iboost import monitored

            self._detectors = monitored.detectors(self.detector, 1)

    def _learn(self, X, y):
        if self.detector != "adwin":
            from boostrun.papers.iboost import monitored

            predictions = monitored.follow(self, X, y)
            self._check_finite(self._state)
            return predictions
        predictions = np.empty(len(X), np.int64)
        test_then_train(
            X, y, self._state, self._settings, self._adwins, self._watch, float(self.delta), int(self.n_least),
            predictions,
        )  # fmt: skip
        self._check_finite(self._state)
        return predictions
