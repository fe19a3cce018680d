"""The online boosters of the reservoir paper's Table 4 as a scikit-learn classifier."""

from __future__ import annotations

from boostrun.methods.estimator import StumpClassifier
from boostrun.papers.reservoir.online_rivals import OnlineRival


class OnlineRivalClassifier(StumpClassifier, OnlineRival):
    """Boosted stumps by a method that sees one sample at a time and keeps none.

    Several classes are learnt one against the rest, each from a stream of its own.

    Parameters
    ----------
    method : {"oza", "osboost", "ocp", "bisc", "leistner", "geem_oza", "geem_osboost", "geem_ocp"}
        See :mod:`boostrun.papers.reservoir.online`. "oza", "osboost" and "ocp" are given stumps by LogitBoost on a
        subset of the samples, those with "geem" by reservoir boosting with GEEM; "bisc" and "leistner" find their own.
    n_estimators : int, the paper's T = K: stumps (or selectors) a binary problem.
    subset_size : int
        Samples drawn for LogitBoost before the online phase, and let go before it.
    samples_seen : int or None
        Samples of the online phase a binary problem, besides those that the stumps are found on. None: as many as a
        reservoir with r = q = 250 draws in T rounds, 250 (T + 2), or one pass if that is smaller.
    batch_size : int, samples drawn at a time in the online phase; no result depends on it.
    shrinkage : float in (0, 1], of LogitBoost's and GEEM's steps.
    gamma : float in (0, 1), "osboost" and "ocp" only.
    learning_rate : float, "ocp" only.
    pool_size : int or None, learners that the selectors choose from; None means 2 K.
    replace_every : int, samples between two replacements of the worst learner that no selector took.
    reservoir_size : int, r = q of GEEM.
    max_bins : int from 2 to 256, quantile bins in which stumps are searched; 8-bit data are their own bins.
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : StumpEnsemble, thresholds in units of X.
    classes_ : (n_classes,) array
    samples_drawn_ : int, calls of Filter() over all binary problems.
    samples_drawn_per_problem_ : list of int
    peak_samples_held_ : int

    References
    ----------
    .. [1] N. Oza and S. Russell, "Online Bagging and Boosting", AISTATS 2001.
    .. [2] S.-T. Chen, H.-T. Lin and C.-J. Lu, "An Online Boosting Algorithm with Theoretical Justifications",
       ICML 2012.
    .. [3] H. Grabner and H. Bischof, "On-line Boosting and Vision", CVPR 2006.
    .. [4] C. Leistner, A. Saffari, P. Roth and H. Bischof, "On Robustness of On-line Boosting", ICCV Workshops 2009.
    .. [5] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = OnlineRivalClassifier("oza", subset_size=300, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> clf.peak_samples_held_
    300
    """

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels. The arrays are read through a Filter().

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        """
        source, _, entropy = self._source(X, y)
        return self._fit(source, entropy)
