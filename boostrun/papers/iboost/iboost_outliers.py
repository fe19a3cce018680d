"""IBoost without outliers: examples that the committee contradicts too strongly count neither in fits nor in steps."""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.plain import allocating_kernel, part
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import bases, committee, iboost
from boostrun.papers.iboost.kernels.committee import start_order
from boostrun.papers.iboost.keys import IBoostOutliersKeys

_MEMORY = 50.0  # examples that the share of contradicted ones looks back over


@allocating_kernel
def test_then_train(samples, labels, state, settings, silent, limit, most, share, removed, predictions):
    """Predict each row, judge it, and learn it; an outlier takes its slot with mass 0. See :mod:`.iboost`.

    ``silent`` are the settings without steps. What :func:`contradicts` finds is an outlier unless ``share`` (1,)
    float64, the fading share of such examples, exceeds ``most``: then the concept has changed, and those in the window
    come back. ``removed`` (1,) int64 counts outliers. Cost a row as there, and n.
    """
    n = state.labels.shape[0]
    classes, votes, sums = np.empty(state.born.shape[0], np.int64), np.empty(settings.n_classes), np.empty(n)
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[iboost.SIZE], settings.n_classes, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[iboost.SIZE], votes)
        slot, outlier = state.counts[iboost.SEEN] % n, False
        if state.counts[iboost.SIZE] > 0:
            outlier = contradicts(classes, labels[e], state, settings, limit)
            share[0] += ((1.0 if outlier else 0.0) - share[0]) / _MEMORY
            if outlier and share[0] > most:
                outlier = False
                for i in range(n):
                    state.mass[i] = 1.0
        if iboost.enter(samples[e], labels[e], slot, state, silent if outlier else settings, classes, sums):
            if outlier:
                state.mass[slot] = 0.0
                removed[0] += 1
            past = state.counts[iboost.SEEN] - settings.start
            if past == 0 and settings.family == bases.STUMP:
                start_order(state.columns, state.order)
            if past % settings.period == 0:
                for _ in range(settings.additions):
                    iboost.add(state, settings)


@part
def contradicts(classes, label, state, settings, limit):
    """Whether the margin of an example that the members give ``classes`` (M,) is below -``limit`` times the mean
    absolute margin of the window's slots in use."""
    margin, sure, used = 0.0, 0.0, 0.0
    for j in range(state.counts[iboost.SIZE]):
        right = 1.0 if classes[j] == label else -1.0
        margin += state.coefficients[j] * (settings.middle + settings.half * right)
    for i in range(state.labels.shape[0]):
        if state.mass[i] > 0.0:
            sure += abs(state.margins[i])
            used += 1.0
    return used > 0.0 and margin < 0.0 and margin * used < -limit * sure


class IBoostOutliersClassifier(IBoostOutliersKeys, IBoostClassifier):
    """IBoost that takes examples for mislabelled which its committee is sure are of another class::

        on (x, y):  z = sum_j b_j a_j,  the margin before anything is learnt
          (x, y) is contradicted where z < -outlier_margin mean_i |z_i|,  i over the window's examples in use,
                         z_i as they were at the last addition
          s += (1[contradicted] - s) / 50
          contradicted, s <= change_share:  an outlier, in the window with mass 0; no steps are made
          contradicted, s >  change_share:  the concept has changed; all in the window count again
          IBoost learns (x, y)

    Exponential weights go to what is contradicted most, which is how wrong labels win; an example that an ensemble gets
    wrong with a large margin is the one to take for mislabelled (Karmaker & Kwek cut off large weights, w = exp(-z),
    Feng, Quan & Dauphin large margins; there the training set stands still). A change that moves a border contradicts
    what lies near it, where the committee is not sure, and goes on being learnt; one that turns the concept around
    contradicts most new examples, and then none of them is an outlier.

    Of more than two classes the code vectors are SAMME's. With ``outlier_margin`` infinity it is
    :class:`boostrun.papers.iboost.iboost.IBoostClassifier` with the same parameters, bit for bit.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : as there.
    n_outliers_ : int, examples that were outliers when they came.

    Notes
    -----
    Cost and memory of IBoost, and n operations an example. The defaults 0.25, 0.3 and 50 were chosen on SEA of 20,000
    examples with the seeds 1000 and 1001, with 0 and 10 % of the labels wrong; with 20 %, with concepts turned round,
    and the guard's memory of 50, on seed 1000 alone.

    References
    ----------
    .. [1] A. Karmaker and S. Kwek, "A boosting approach to remove class label noise", International Journal of Hybrid
       Intelligent Systems 3, 2006.
    .. [2] W. Feng, Y. Quan and G. Dauphin, "Label Noise Cleaning with an Adaptive Ensemble Method Based on Noise
       Detection Metric", Sensors 20, 2020.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (4000, 3))
    >>> truth = X[:, 0] + X[:, 1] <= 8
    >>> y = truth ^ (rng.random(4000) < 0.1)
    >>> plain, wary = IBoostClassifier(budget=50).fit(X, y), IBoostOutliersClassifier(budget=50).fit(X, y)
    >>> bool((wary.predict(X) == truth).mean() > (plain.predict(X) == truth).mean() + 0.05)
    True
    """

    scale, update_every, adds_per_event, remove, multiclass, loss = "half", "1", 1, "smallest", "samme", "samme"

    @property
    def n_outliers_(self) -> int:
        check_is_fitted(self)
        return int(self._removed[0])

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._share, self._removed = np.zeros(1), np.zeros(1, np.int64)

    def _learn(self, X, y):
        predictions = np.empty(len(X), np.int64)
        limit = math.inf if self.outlier_margin is None else float(self.outlier_margin)
        test_then_train(
            X, y, self._state, self._settings, self._settings._replace(n_steps=0), limit, float(self.change_share),
            self._share, self._removed, predictions,
        )  # fmt: skip
        self._check_finite(self._state)
        return predictions
