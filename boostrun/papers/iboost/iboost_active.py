"""IBoost that asks for a label only where its committee is unsure, within a budget of labels."""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.plain import allocating_kernel, part
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import committee, iboost
from boostrun.papers.iboost.kernels.committee import _draw as draw
from boostrun.papers.iboost.keys import IBoostActiveKeys

_STEP = 0.01  # s: how far the threshold moves at an example, Zliobaite et al.'s
_GRAIN = 1 << 52  # of a uniform number


@allocating_kernel
def test_then_train(samples, labels, state, settings, budget, uncertain, threshold, met, predictions):
    """Predict each row, and learn it if its label is asked for; see :mod:`.iboost`.

    The first ``settings.start`` labels are asked for, and of the rest at most the share ``budget``: where
    :func:`unsure` says so, or at random. ``threshold`` (1,) float64, ``met`` (1,) int64: rows so far. Cost of a row
    whose label is not asked for: M responses.
    """
    n = state.labels.shape[0]
    classes, votes, sums = np.empty(state.born.shape[0], np.int64), np.empty(settings.n_classes), np.empty(n)
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[iboost.SIZE], settings.n_classes, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[iboost.SIZE], votes)
        asks, asked = True, state.counts[iboost.SEEN]
        if asked >= settings.start and budget < 1.0:
            if uncertain:
                asks = unsure(surety(votes, state), budget, threshold, state.random)
            else:
                asks = uniform(state.random) < budget
            asks = asks and asked - settings.start < budget * (met[0] - settings.start)
        met[0] += 1
        if asks:
            iboost.learn(samples[e], labels[e], asked % n, False, state, settings, classes, sums)


@part
def surety(votes, state):
    """The lead of the class with most ``votes`` (K,) over the next one, as a share of all coefficients: from 0 to 1,
    |F| / sum_j b_j of two classes."""
    total, first, second = 0.0, -np.inf, -np.inf
    for j in range(state.counts[iboost.SIZE]):
        total += state.coefficients[j]
    for c in range(votes.shape[0]):
        if votes[c] > first:
            first, second = votes[c], first
        elif votes[c] > second:
            second = votes[c]
    lead = (first - second) / (2.0 if votes.shape[0] == 2 else 1.0)
    return lead / total if total > 0.0 else 0.0


@part
def unsure(sure, budget, threshold, random):
    """Whether ``sure`` is below ``threshold`` times a normal number of mean and deviation 1. If so the threshold falls
    by s, else it rises by s budget / (1 - budget): it stands still where the share ``budget`` is below it."""
    factor = 1.0 + math.sqrt(-2.0 * math.log(uniform(random))) * math.cos(2.0 * math.pi * uniform(random))
    below = sure < threshold[0] * factor
    threshold[0] *= 1.0 - _STEP if below else 1.0 + _STEP * budget / (1.0 - budget)
    threshold[0] = min(max(threshold[0], 1e-9), 1.0)
    return below


@part
def uniform(random):
    """A number between 0 and 1, neither of them."""
    return (draw(random, _GRAIN) + 0.5) / _GRAIN


class IBoostActiveClassifier(IBoostActiveKeys, IBoostClassifier):
    """IBoost that learns the examples whose label it has asked for; all others it predicts::

        the first n labels are asked for, so that the window is full;  theta = 1
        on x:  c = |F(x)| / sum_j b_j   (of several classes the lead of the first over the second, as a share)
          unsure where c < theta N(1, 1)
          theta *= 1 - s if unsure, else 1 + s B / (1 - B),   s = 0.01,  B the budget
          asks if unsure and no more than the share B of what came after the first n has been asked for
          if it asks: IBoost learns (x, y)

    That is RandVarUncertainty, a variable threshold that is drawn anew at each example, so that some labels are asked
    for where the committee is sure and a change is noticed there too. Two things are ours: the threshold rises by
    s B / (1 - B) and not by s, with which half of all examples are unsure, whatever the budget; and the budget is of
    all examples so far, not of the last hundred, so that it is never exceeded; of one above a half some may be
    left. ``ask="random"`` asks for as many labels, whatever the committee says. ``partial_fit`` and ``learn_one`` look
    at no label that is not asked for.

    Of more than two classes the code vectors are SAMME's. With ``label_budget=1`` it is
    :class:`boostrun.papers.iboost.iboost.IBoostClassifier` with the same parameters, bit for bit.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Attributes
    ----------
    classes_, betas_, n_added_, n_removed_negative_, n_removed_budget_ : as there.
    n_seen_ : int, examples.
    n_asked_ : int, labels asked for, which are the examples learnt.

    Notes
    -----
    An example whose label is not asked for costs M responses. The rule was chosen among VarUncertainty,
    RandVarUncertainty, both with the step above, and a share of random questions, on SEA of 20,000 examples with the
    seeds 1000 and 1001, with 0 and 10 % of the labels wrong.

    References
    ----------
    .. [1] I. Zliobaite, A. Bifet, B. Pfahringer and G. Holmes, "Active Learning With Drifting Streaming Data", IEEE
       Transactions on Neural Networks and Learning Systems 25, 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (4000, 3))
    >>> y = X[:, 0] + X[:, 1] <= 8
    >>> model = IBoostActiveClassifier(budget=50, label_budget=0.1)
    >>> bool((model.test_then_train(X, y) == y)[1000:].mean() > 0.93), model.n_asked_ <= 200 + 0.1 * 3800 + 1
    (True, True)
    """

    scale, update_every, adds_per_event, remove, multiclass, loss = "half", "1", 1, "smallest", "samme", "samme"

    @property
    def n_seen_(self) -> int:
        check_is_fitted(self)
        return int(self._met[0])

    @property
    def n_asked_(self) -> int:
        return int(super().n_seen_)

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._threshold, self._met = np.ones(1), np.zeros(1, np.int64)

    def _learn(self, X, y):
        predictions = np.empty(len(X), np.int64)
        test_then_train(
            X, y, self._state, self._settings, float(self.label_budget), self.ask == "uncertain", self._threshold,
            self._met, predictions,
        )  # fmt: skip
        self._check_finite(self._state)
        return predictions
