"""AdaBoost.MH with adaptive sampling as a scikit-learn classifier."""

from __future__ import annotations

import numpy as np

from ..estimator import StumpClassifier
from ..vote_ensemble import VoteEnsemble
from .adaboost_mh import AdaBoostMH


class AdaBoostMHClassifier(StumpClassifier, AdaBoostMH):
    """Discrete AdaBoost.MH: stumps with a vote for every class, found within a budget of evaluations a step.

    Parameters
    ----------
    policy : policy object, or one of
        "uniform_naive", "uniform_1q", "uniform_q1", "best_family", "ucb", "exp3p", "eps_greedy", "tasting_1q",
        "tasting_q1", "mas_naive", "mas_1q", "mas_q1", "fixed_sample", "laminating", "tasting_laminating",
        "tasting_ucb".
        Which features, on which samples, are looked at in a step. A name stands for the policy with its defaults; an
        object of :mod:`boostrun.sampling.policies` has parameters of its own, as ``Laminating(Q=64)``. It is copied,
        never changed.
    n_estimators : int, T: stumps.
    budget_multiplier : float
        Evaluated (feature, sample) pairs a step, in units of the number N of samples: the paper's C over N. Asking for
        more is an error, whatever the policy: Q features on all samples need ``budget_multiplier >= Q``.
    sampling : {"weight", "uniform"}, how samples are drawn where not all are looked at.
    init : {"uniform", "balanced"}
        Every (sample, class) the same weight at first, or the true and the false classes half of it each.
    families : list of (name, start, stop) or None
        Which features belong together: ``start`` to ``stop - 1``. Most policies choose among families; None: all
        features are one.
    max_bins : int from 2 to 256, quantile bins; 8-bit data are their own bins.
    edge_gaps : bool
        Also look at all features in every step, uncounted, and tell by how much the best of them beats the one chosen.
    warm_start : bool, a larger ``n_estimators`` adds rounds instead of starting anew.
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : VoteEnsemble, thresholds in units of X.
    classes_ : (n_classes,) array
    staged_log10_loss_, staged_train_seconds_ : (T,) arrays
        log10 of mean_il exp(-y_il F_l(x_i)) on the training set, and training seconds, by the end of each step.
    staged_edge_gap_ : (T,) array, only with ``edge_gaps``: largest edge of all features less that of the one chosen.
    ledger_ : dict of (T,) int arrays
        Evaluations a step by account: selection and pilot are charged to the budget, tasting, refit and update not.
    evaluations_ : int, charged evaluations of all steps.
    feature_importances_ : (d,) array, each feature's share of sum |alpha|.

    References
    ----------
    .. [1] C. Dubout and F. Fleuret, "Adaptive Sampling for Large Scale Boosting", JMLR 15, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = AdaBoostMHClassifier("laminating", n_estimators=100, random_state=0).fit(X[:1400], y[:1400])
    >>> clf.score(X[1400:], y[1400:]) > 0.85
    True
    >>> from boostrun.sampling.policies import Laminating
    >>> clf = AdaBoostMHClassifier(Laminating(Q=16), n_estimators=2, random_state=0).fit(X, y)
    >>> int(clf.ledger_["selection"][0])  # 16 on 280 samples, 8 on 560, 4 on 1120, 2 on all 1797
    17034
    """

    _model_type = VoteEnsemble

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input. Cost a step: at most
        ``budget_multiplier * n`` evaluations, and the update of n K weights.
        """
        source, seed, _ = self._source(X, y)
        return self._fit(source, np.random.default_rng(seed))

    @property
    def feature_importances_(self) -> np.ndarray:
        return self.ensemble_.importances(self.n_features_in_)
