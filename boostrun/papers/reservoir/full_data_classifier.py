"""Sub-sampling and full-data boosting as a scikit-learn classifier."""

from __future__ import annotations

from boostrun.methods.estimator import StumpClassifier
from boostrun.papers.reservoir.full_data import FullDataBoosting


class FullDataClassifier(StumpClassifier, FullDataBoosting):
    """Boosted stumps by the methods that reservoir boosting is compared with (Lefakis & Fleuret 2013, Table 5).

    Several classes are learnt one against the rest, one after the other.

    Parameters
    ----------
    method : {"wss", "mada", "fix", "filterboost", "all"}
        ``wss``: r of all samples each round, drawn by weight; ``mada``: drawn by bounded weight, then reweighted;
        ``fix``: r samples drawn once; ``filterboost``: r fresh samples each round, accepted by weight; ``all``: every
        sample, every round.
    reservoir_size : int, the paper's r; of no effect for ``all``.
    n_estimators : int, the paper's T: stumps a binary problem.
    loss : {"logistic", "exponential"}
        LogitBoost's weights or AdaBoost's.
    coefficient : {"log_odds", "line_search", "newton"}
        Rule for the step along a stump, multiplied by ``shrinkage``, on the samples that the stump was trained on.
    shrinkage : float in (0, 1]
    max_rejections : int
        ``filterboost`` only: a problem stops when a round rejects more than this many samples for each one wanted.
    stump_search : {"histogram", "exact"}
        Search on at most ``max_bins`` quantile bins, fitted on at most 10,000 samples (``fix`` and ``filterboost``:
        the first drawn), or on the values as they are. 8-bit data are their own bins.
    max_bins : int from 2 to 256
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : StumpEnsemble, thresholds in units of X.
    classes_ : (n_classes,) array
    samples_drawn_ : int, calls of Filter() over all binary problems; all N a problem for ``wss``, ``mada``, ``all``.
    samples_drawn_per_problem_ : list of int
    staged_samples_drawn_, staged_train_seconds_ : (T,) arrays
        Samples drawn and training seconds, all problems together, by the end of each round.
    peak_samples_held_ : int; N for ``wss``, ``mada``, ``all``, r for ``fix``, at most 2 r for ``filterboost``.
    rounds_trained_ : list of int, below T for problems whose filter ran dry.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.
    .. [2] C. Domingo and O. Watanabe, "MadaBoost: A Modification of AdaBoost", COLT 2000.
    .. [3] J. Bradley and R. Schapire, "FilterBoost: Regression and Classification on Large Datasets", NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = FullDataClassifier("mada", reservoir_size=50, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> clf.score(X[1400:], y[1400:]) > 0.8
    True
    """

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        Cost a round and class: O(r d), and O(n) for ``wss`` and ``mada``; O(n d) for ``all``.
        """
        source, seed, _ = self._source(X, y)
        return self._fit(source, seed)
