"""Reservoir boosting as a scikit-learn classifier."""

from __future__ import annotations

from boostrun.methods.estimator import StumpClassifier
from boostrun.papers.reservoir.boosting import ReservoirBoosting


class ReservoirClassifier(StumpClassifier, ReservoirBoosting):
    """Boosted stumps learnt from a stream of samples while holding at most r + q of them.

    Several classes are learnt one against the rest, one after the other, each with a reservoir of its own.

    Parameters
    ----------
    strategy : {"geem", "geem_lattice", "wsam", "rand", "max", "window"}
        Which r of the r + q samples at hand to keep each round.
    reservoir_size : int, the paper's r.
    batch_size : int or None, the paper's q: fresh samples a round; None means r.
    n_estimators : int, the paper's T: stumps a binary problem.
    loss : {"logistic", "exponential"}
    coefficient : {"log_odds", "line_search", "newton"}
        Rule for the step along a stump, multiplied by ``shrinkage``.
    shrinkage : float in (0, 1]
    stump_weights : {"uniform", "w"}
        WSam only: weights of the kept samples for the stump.
    ridge, covariance_dims, carry_mass, swap_rounds, lattice_size
        GEEM only, see :class:`boostrun.papers.reservoir.geem.Geem`.
    balanced : bool
        Draw half of the samples of a binary problem from its positive class.
    shared : bool
        One reservoir, and one stream of samples, for all classes: the cost of choosing is that of one binary problem.
    stump_search : {"histogram", "exact"}
        Search on at most ``max_bins`` quantile bins fitted on the first r + q samples drawn, or on the values as they
        are. 8-bit data are their own bins, and both searches then give the same ensemble.
    max_bins : int from 2 to 256
    warm_start : bool
        Keep the reservoirs after ``fit``; a larger ``n_estimators`` then adds rounds instead of starting anew.
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : StumpEnsemble, thresholds in units of X.
    classes_ : (n_classes,) array
    samples_drawn_ : int, calls of Filter() over all binary problems.
    samples_drawn_per_problem_ : list of int
    staged_samples_drawn_, staged_train_seconds_ : (T,) arrays
        Samples drawn and training seconds, all problems together, by the end of each round.
    peak_samples_held_ : int, never above r + q.
    covariance_restarts_ : int, how often GEEM had to raise its ridge.

    Notes
    -----
    Fewer than r + q samples in all are handed out again in further shuffled passes.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = ReservoirClassifier(reservoir_size=50, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> round(clf.score(X[1400:], y[1400:]), 2)
    0.85
    >>> clf.peak_samples_held_
    100
    """

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels. The arrays are read through a Filter().

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        Cost a round and class: O((r + q) d) for "histogram", and for GEEM O((r + q)^3) more.
        """
        source, seed, _ = self._source(X, y)
        return self._fit(source, seed)
