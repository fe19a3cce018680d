"""Oza's and Chen's online boosting over stumps drawn at random (Lefakis & Fleuret 2013, section 4.2)."""

from __future__ import annotations

import numpy as np

from boostrun.methods.stump import Stump
from boostrun.papers.reservoir.keys import RandomStumpsKeys
from boostrun.papers.reservoir.online_classifier import OnlineRivalClassifier


class RandomStumpsClassifier(RandomStumpsKeys, OnlineRivalClassifier):
    """An online booster that is given stumps drawn at random in place of those that LogitBoost finds on a subset.

    A stump looks at a feature drawn uniformly of those that take two values or more among ``subset_size`` samples, and
    parts them between two consecutive values drawn uniformly. Its polarity is random too, or the one with fewer errors
    on them. Samples are drawn, held and let go as for the stumps of LogitBoost. Attributes are those of
    :class:`boostrun.papers.reservoir.online_classifier.OnlineRivalClassifier`.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, of no effect: thresholds lie between values of X.
    random_state : int, RandomState or None

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RandomStumpsClassifier("oza", subset_size=300, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> clf.ensemble_.n_rounds
    40
    """

    def _fit(self, source, entropy: int):
        self._draws = np.random.default_rng(np.random.SeedSequence(entropy).spawn(3)[2])
        try:
            return super()._fit(source, entropy)
        finally:
            del self._draws

    def _stumps_by_subset(self, source, positives):
        filters, stumps = self._open(source, max(self.subset_size, self.batch_size), positives), []
        for filter_, positive in zip(filters, positives):
            samples, labels = filter_.draw(self.subset_size)
            signs = np.where(labels == positive, 1.0, -1.0)
            stumps.append(random_stumps(samples, signs, self.n_estimators, self.polarity == "better", self._draws))
            filter_.release(self.subset_size)
        return filters, stumps


def random_stumps(
    samples: np.ndarray, labels: np.ndarray, count: int, better: bool, rng: np.random.Generator
) -> list[Stump]:
    """``count`` stumps on random features of samples (n, d), each midway between two values that follow one another.

    ``better``: of the two polarities the one with fewer errors on ``labels`` (n,) of -1 and +1, +1 where they are
    level; otherwise a random one. Where no feature takes two values all stumps are constant. Cost O(n d + count n).

    >>> samples, labels = np.array([[0.0, 5.0], [0.0, 7.0]]), np.array([1.0, -1.0])
    >>> found = random_stumps(samples, labels, 2, True, np.random.default_rng(0))
    >>> found == 2 * [Stump(feature=1, threshold=6.0, polarity=-1)]
    True
    """
    varying = np.flatnonzero((samples != samples[0]).any(axis=0))
    found = []
    for _ in range(count):
        polarity = int(rng.choice((-1, 1)))
        if len(varying):
            feature = int(rng.choice(varying))
            values = np.unique(samples[:, feature])
            place = rng.integers(len(values) - 1)
            stump = Stump(feature, float(values[place] + (values[place + 1] - values[place]) / 2.0), 1)
        else:
            stump = Stump(0, -np.inf, 1)
        if better:
            polarity = 1 if stump(samples) @ labels >= 0.0 else -1
        found.append(stump._replace(polarity=polarity))
    return found
