"""IBoost that asks for a label only where its committee is unsure, within a budget of labels."""

from __future__ import annotations

import numpy as np

from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import iboost_active as kernels
from boostrun.papers.iboost.keys import IBoostActiveKeys


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
        kernels.test_then_train(
            X, y, self._state, self._settings, float(self.label_budget), self.ask == "uncertain", self._threshold,
            self._met, predictions,
        )  # fmt: skip
        self._check_finite(self._state)
        return predictions
