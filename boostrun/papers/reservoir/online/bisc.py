"""On-line boosting by selectors over a shared pool of learners (Grabner & Bischof 2006)."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.stump import Stump
from boostrun.papers.reservoir.kernels import online as kernels
from boostrun.papers.reservoir.online.fixed import checked

_PAD = 64  # learners a row is filled up to, for vector code without a remainder


class Bisc:
    """K selectors, each standing for one learner out of a pool that all of them share::

        for each sample (x, y):
            train every learner of the pool on (x, y)
            lambda = 1
            for each selector k:
                add lambda to the selector's lambda_corr or lambda_wrong of every learner
                take the free learner with the least e = lambda_wrong / (lambda_wrong + lambda_corr)
                lambda *= 1 / (2 (1 - e)) if that one is right, 1 / (2 e) if wrong
            give the worst free learner a fresh random feature
        a_k = 1/2 log((1 - e_k) / e_k), 0 if e_k >= 1/2

    A learner models a feature by one Gaussian a class; only the means enter its threshold, midway between them, and
    its sign. Counts begin at 1. A learner that cannot tell the classes apart yet counts as half wrong.
    The worst learner is the one with the largest error over all selectors together.

    Parameters
    ----------
    n_features : d, the number of features to choose from.
    n_selectors : K.
    pool_size : number M of learners, at least K; 2 K by default. With M = K none is ever free to be replaced.
    rng : numpy Generator, for the features of the pool.
    replace_every : samples between two replacements; 1 as published. Learners that are replaced at every sample have
        little time to show what they can do: 50 scored up to three points more on 10,000 samples of MNIST.
    dtype : float32 halves the memory traffic and holds counts to seven digits, enough for some ten million samples.

    Memory O(K M), whatever the number of samples; cost O(K M) a sample.

    >>> rng = np.random.default_rng(0)
    >>> samples = rng.integers(0, 256, (500, 10), dtype=np.uint8)
    >>> labels = np.where(samples[:, 3] >= 128, 1, -1)
    >>> booster = Bisc(10, n_selectors=3, rng=rng).partial_fit(samples, labels)
    >>> booster.learners()[0][0].feature
    3
    """

    _kernel = staticmethod(kernels.boost_selectors)

    def __init__(
        self, n_features: int, n_selectors: int = 250, pool_size: int | None = None, rng=None, replace_every: int = 1,
        dtype=np.float32,
    ):  # fmt: skip
        size = 2 * n_selectors if pool_size is None else pool_size
        if n_selectors < 1 or n_features < 1:
            raise BoostrunError(f"n_selectors={n_selectors} and n_features={n_features}: at least 1 of each is needed")
        if size < n_selectors:
            raise BoostrunError(f"pool_size={size}: {n_selectors} selectors need at least as many learners")
        if replace_every < 1:
            raise BoostrunError(f"replace_every={replace_every}: a whole number of at least 1 is needed")
        self.n_features, self.replace_every = n_features, replace_every
        self.seen = 0
        self._rng = np.random.default_rng(rng)
        # every feature once before any comes again
        passes = [self._rng.permutation(n_features) for _ in range(-(-size // n_features))]
        self.features = np.concatenate(passes)[:size].astype(np.int64)
        self.means, self.counts = np.zeros((2, size)), np.zeros((2, size))
        self.chosen, self.errors = np.arange(n_selectors), np.full(n_selectors, 0.5)
        width = -(-size // _PAD) * _PAD
        self._wrong = np.ones((n_selectors, width), dtype)
        self._base = np.full((n_selectors, width), -2.0, dtype)
        self._totals = np.zeros(n_selectors)
        self._pooled = np.outer((1.0, -2.0), np.full(size, n_selectors))
        misses, barred, errors = np.zeros((3, width), dtype)
        barred[size:] = np.inf
        self._scratch = (misses, barred, errors, errors.view(f"i{errors.itemsize}"))

    def partial_fit(self, samples: np.ndarray, labels: np.ndarray):
        """Learn from samples (n, d) and labels (n,) of -1 and +1, one after the other."""
        samples, labels = checked(samples, labels, self.n_features)
        self._kernel(
            samples, labels, self._rng.integers(self.n_features, size=len(labels)), self.features, self.means,
            self.counts, self._wrong, self._base, self._totals, self._pooled, self.chosen, self.errors, *self._scratch,
            self.seen, self.replace_every,
        )  # fmt: skip
        self.seen += len(labels)
        return self

    @property
    def coefficients(self) -> np.ndarray:
        """(K,) float64, how much the learner of each selector counts; at least 0."""
        return np.maximum(0.0, 0.5 * np.log((1.0 - self.errors) / self.errors))

    def learners(self) -> list[tuple[Stump, float]]:
        """(stump, coefficient) of each selector, for :meth:`boostrun.methods.ensemble.StumpEnsemble.of`."""
        low, high = self.means[:, self.chosen]
        features, thresholds = self.features[self.chosen].tolist(), (low / 2 + high / 2).tolist()
        polarities = np.where(high > low, 1, -1).tolist()
        return list(zip(map(Stump, features, thresholds, polarities), self.coefficients.tolist()))
