"""Boosters that see one sample at a time and keep none: Oza's, OSBoost, OCP, BiSC, Leistner's
(Lefakis & Fleuret 2013), with their kernels. Labels are -1 and +1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numba import njit

from boostrun.errors import BoostrunError
from boostrun.kernels import project_on_simplex
from boostrun.methods.stumps import Stump

__all__ = [
    "OCP",
    "Bisc",
    "FixedStumps",
    "Leistner",
    "OSBoost",
    "Oza",
    "boost_selectors",
    "checked",
    "convex_coefficients",
    "gradient_boost_selectors",
    "oza",
    "smooth_weights",
]


_LEAST_ERROR = 1e-6  # keeps weights finite where an error underflows


@njit(cache=True)
def oza(samples, labels, features, thresholds, polarities, right, wrong):
    """Online AdaBoost's weights lambda_sc and lambda_sw (Oza & Russell 2001, figure 3), stumps being given.

    ``right``, ``wrong`` (T,) float64, changed in place: the weight each stump has met and got right or wrong. With
    lambda = 1 at the first stump: right += lambda, then lambda *= (right + wrong) / (2 right) if h(x) = y; else the
    same with ``wrong``. Cost O(n T): a chain of one division a pair, about 20 cycles.
    """
    for i in range(labels.shape[0]):
        weight = 1.0
        for t in range(features.shape[0]):
            vote = polarities[t] if samples[i, features[t]] >= thresholds[t] else -polarities[t]
            if vote == labels[i]:
                right[t] += weight
                mine = right[t]
            else:
                wrong[t] += weight
                mine = wrong[t]
            if mine > 0.0:  # a weight may underflow to zero before anything else was met
                weight *= (right[t] + wrong[t]) / (2.0 * mine)


@njit(cache=True)
def smooth_weights(samples, labels, features, thresholds, polarities, gamma, theta, met, edges):
    """OSBoost's smooth sample weights (Chen, Lin & Lu 2012, algorithm 1), stumps being given.

    With z = 0 and w = 1 at the first stump: z += y h(x) - theta, then w = 1 if z <= 0 else (1 - gamma)^(z / 2).
    ``met``, ``edges`` (T,) float64, changed in place: sum of w and of w y h(x), on which a stump would have
    been trained. Cost O(n T), with a power for every pair whose z is positive.
    """
    decay = 0.5 * np.log1p(-gamma)
    for i in range(labels.shape[0]):
        z, weight = 0.0, 1.0
        for t in range(features.shape[0]):
            vote = polarities[t] if samples[i, features[t]] >= thresholds[t] else -polarities[t]
            met[t] += weight
            edges[t] += weight * labels[i] * vote
            z += labels[i] * vote - theta
            weight = 1.0 if z <= 0.0 else np.exp(decay * z)


@njit(cache=True)
def convex_coefficients(samples, labels, features, thresholds, polarities, theta, rate, seen, coefficients, votes):
    """Online convex programming over the simplex (Chen, Lin & Lu 2012, section 4; Zinkevich 2003).

    The loss of sample t is max(0, theta - y sum_i a_i h_i(x)). Where it is positive: a += eta_t y h(x), projected, with
    eta_t = rate sqrt(2 / (T t)): the simplex's diameter over the gradient's norm over sqrt(t). ``coefficients`` (T,)
    float64, changed in place; ``votes`` (T,) float64, working memory; ``seen``, samples before these.
    Cost O(n T), a few times more on samples with a loss.
    """
    size = features.shape[0]
    for i in range(labels.shape[0]):
        score = 0.0
        for t in range(size):
            votes[t] = polarities[t] if samples[i, features[t]] >= thresholds[t] else -polarities[t]
            score += coefficients[t] * votes[t]
        if labels[i] * score < theta:
            step = labels[i] * rate * np.sqrt(2.0 / (size * (seen + i + 1.0)))
            for t in range(size):
                coefficients[t] += step * votes[t]
            project_on_simplex(coefficients)


@njit(cache=True)
def boost_selectors(
    samples, labels, fresh, features, means, counts, wrong, base, totals, pooled, chosen, least, misses, barred, errors,
    keys, seen, every,
):  # fmt: skip
    """On-line boosting for feature selection with one pool shared by all selectors (Grabner & Bischof 2006).

    Each sample trains every learner of the pool, passes the selectors with lambda = 1 at the first, and (one sample
    in ``every``, ``seen`` having come before) replaces the worst learner that no selector took by the feature in
    ``fresh`` (n,) int64. A selector adds lambda to its
    counts of every learner, takes the one with the least error e among those still free (of equals the one it had,
    then the first), and hands on lambda / (2 (1 - e)) if that one is right, lambda / (2 e) if wrong.

    State, changed in place, for K selectors and M learners: ``features`` (M,) int64; ``means``, ``counts`` (2, M)
    float64 of the classes -1 and +1; ``wrong`` (K, M), ``base`` (K, M) and ``totals`` (K,): learner m of selector k has
    lambda_wrong = wrong[k, m] and lambda_wrong + lambda_corr = totals[k] - base[k, m], so that the passing weight need
    not be added to every pair; ``pooled`` (2, M) float64, the sums of ``wrong`` and ``base`` over selectors; ``chosen``
    (K,) int64 and ``least`` (K,) float64, the learner taken and its error. Working memory: ``misses``, ``barred``,
    ``errors`` (M,) of the type of ``wrong``; ``keys``, ``errors`` seen as integers of that width. Rows over M may be
    padded, ``barred`` being infinite there: a multiple of 64 leaves vector code no remainder.

    Cost K M pairs a sample: two values read and one written (12 bytes in float32), a division, and two scans for the
    least. Measured 0.33 ns a pair, 0.41 ns with the logistic weights, where adding to both counts of every pair takes
    0.15 ns and does nothing else.
    """
    for i in range(labels.shape[0]):
        _train_pool(samples[i], labels[i], features, means, counts, misses)
        barred[: features.shape[0]] = 0.0
        weight = 1.0
        spent = 0.0
        for k in range(totals.shape[0]):
            spent += weight
            totals[k] += weight
            best = _select(wrong[k], base[k], totals[k], weight, misses, barred, errors, keys, chosen[k])
            error = min(max(np.float64(errors[best]), _LEAST_ERROR), 1.0 - _LEAST_ERROR)
            chosen[k], least[k], barred[best] = best, error, np.inf
            if misses[best] == 0.0:
                weight /= 2.0 * (1.0 - error)
            elif misses[best] == 1.0:
                weight /= 2.0 * error
        due = (seen + i + 1) % every == 0
        _replace_worst(due, spent, fresh[i], features, counts, wrong, base, totals, pooled, misses, barred)


@njit(cache=True)
def gradient_boost_selectors(
    samples, labels, fresh, features, means, counts, wrong, base, totals, pooled, chosen, least, misses, barred, errors,
    keys, seen, every,
):  # fmt: skip
    """On-line GradientBoost with the logistic loss (Leistner et al. 2009): as :func:`boost_selectors`, but a sample
    comes to each selector with the weight -l'(y F) = 1 / (1 + exp(y F)), F the score of the selectors before it.
    """
    for i in range(labels.shape[0]):
        _train_pool(samples[i], labels[i], features, means, counts, misses)
        barred[: features.shape[0]] = 0.0
        margin = 0.0
        spent = 0.0
        for k in range(totals.shape[0]):
            weight = 1.0 / (1.0 + np.exp(min(margin, 500.0)))
            spent += weight
            totals[k] += weight
            best = _select(wrong[k], base[k], totals[k], weight, misses, barred, errors, keys, chosen[k])
            error = min(max(np.float64(errors[best]), _LEAST_ERROR), 1.0 - _LEAST_ERROR)
            chosen[k], least[k], barred[best] = best, error, np.inf
            margin += (1.0 - 2.0 * misses[best]) * max(0.0, 0.5 * np.log((1.0 - error) / error))
        due = (seen + i + 1) % every == 0
        _replace_worst(due, spent, fresh[i], features, counts, wrong, base, totals, pooled, misses, barred)


@njit(cache=True)
def _train_pool(sample, label, features, means, counts, misses):
    """Class means of every learner with one more sample, and ``misses`` (M,): 0 right, 1 wrong, 1/2 no answer.

    The threshold lies midway between the means, and the side of the larger mean is that mean's class. A learner
    whose means are equal, or that has not met both classes, gives no answer. Cost O(M).
    """
    mine = 1 if label > 0.0 else 0
    for m in range(features.shape[0]):
        x = np.float64(sample[features[m]])
        counts[mine, m] += 1.0
        means[mine, m] += (x - means[mine, m]) / counts[mine, m]
        low, high = means[0, m], means[1, m]
        if counts[1 - mine, m] == 0.0 or low == high:
            misses[m] = 0.5
        else:
            positive = (x >= low / 2 + high / 2) == (high > low)
            misses[m] = 0.0 if positive == (mine == 1) else 1.0


@njit(cache=True, error_model="numpy")
def _select(wrong, base, total, weight, misses, barred, errors, keys, incumbent):
    """Add ``weight`` times ``misses`` to ``wrong``, all errors wrong / (total - base), and the place of the least.

    Errors are not negative, so their bit patterns ``keys`` order as they do, and integers have a vectorised minimum.
    """
    step = wrong.dtype.type(weight)
    total = wrong.dtype.type(total)
    for m in range(misses.shape[0]):
        wrong[m] += step * misses[m]
        errors[m] = wrong[m] / (total - base[m]) + barred[m]
    least = keys[0]
    for m in range(keys.shape[0]):
        least = keys[m] if keys[m] < least else least
    if keys[incumbent] == least:
        return incumbent
    best = np.int32(keys.shape[0])
    for m in range(keys.shape[0]):  # no early end: it would cost the vector code
        place = np.int32(m) if keys[m] == least else np.int32(keys.shape[0])
        best = place if place < best else best
    return np.int64(best)


@njit(cache=True)
def _replace_worst(due, spent, feature, features, counts, wrong, base, totals, pooled, misses, barred):
    """If ``due``, give the free learner with the largest error over all selectors a fresh feature. Cost O(M + K).

    That error is sum_k lambda_wrong / sum_k (lambda_wrong + lambda_corr); ``spent`` is the weight all selectors have
    given the sample. Counts restart at lambda_wrong = lambda_corr = 1, as they began at first.
    """
    total = totals.sum()
    worst, largest = -1, -1.0
    for m in range(features.shape[0]):
        pooled[0, m] += spent * misses[m]
        error = pooled[0, m] / (total - pooled[1, m])
        if barred[m] == 0.0 and error > largest:
            worst, largest = m, error
    if worst < 0 or not due:
        return
    features[worst] = feature
    counts[:, worst] = 0.0
    pooled[0, worst], pooled[1, worst] = 0.0, 0.0
    for k in range(totals.shape[0]):
        wrong[k, worst], base[k, worst] = 1.0, totals[k] - 2.0
        pooled[0, worst] += 1.0
        pooled[1, worst] += totals[k] - 2.0


class FixedStumps(ABC):
    """Stumps in flat arrays as the kernels read them, and ``seen``, the number of samples learnt from.

    Parameters
    ----------
    stumps : sequence of T stumps, at least one; their order matters, each meets samples reweighted by those before it.
    """

    def __init__(self, stumps: Sequence[Stump]):
        if not len(stumps):
            raise BoostrunError("an online booster with fixed learners needs at least one stump")
        self.stumps = [Stump(*stump) for stump in stumps]
        self.seen = 0
        self._flat = (
            np.array([stump.feature for stump in self.stumps], np.int32),
            np.array([stump.threshold for stump in self.stumps], np.float64),
            np.array([stump.polarity for stump in self.stumps], np.float64),
        )

    @property
    @abstractmethod
    def coefficients(self) -> np.ndarray:
        """(T,) float64, how much each stump counts."""

    def partial_fit(self, samples: np.ndarray, labels: np.ndarray):
        """Learn from samples (n, d) and labels (n,) of -1 and +1, one after the other. Cost O(n T)."""
        samples, labels = checked(samples, labels, 1 + int(self._flat[0].max()))
        self._learn(samples, labels)
        self.seen += len(labels)
        return self

    @abstractmethod
    def _learn(self, samples: np.ndarray, labels: np.ndarray) -> None:
        """Learn from checked samples, one after the other."""

    def learners(self) -> list[tuple[Stump, float]]:
        """(stump, coefficient) of each, for :meth:`boostrun.methods.stumps.StumpEnsemble.of`."""
        return list(zip(self.stumps, self.coefficients.tolist()))


def checked(samples, labels, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples and labels as the kernels take them, or a BoostrunError; at least ``n_features`` columns are needed."""
    samples, labels = np.asarray(samples), np.asarray(labels, np.float64)
    if samples.ndim != 2 or labels.shape != samples.shape[:1]:
        raise BoostrunError(f"samples must be (n, d) and labels (n,), not {samples.shape} and {labels.shape}")
    if samples.shape[1] < n_features:
        raise BoostrunError(f"samples have {samples.shape[1]} features; the learners look at {n_features}")
    if not (np.abs(labels) == 1.0).all():
        raise BoostrunError("labels must be -1 or +1")
    if samples.dtype.kind not in "buif" or not (samples.dtype.kind != "f" or np.isfinite(samples).all()):
        raise BoostrunError("samples must be finite numbers")
    return np.ascontiguousarray(samples), labels


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
    pool_size : number M of learners, at least K; 2 K by default. With M = K no learner is ever free to be replaced.
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

    _kernel = staticmethod(boost_selectors)

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
        """(stump, coefficient) of each selector, for :meth:`boostrun.methods.stumps.StumpEnsemble.of`."""
        low, high = self.means[:, self.chosen]
        features, thresholds = self.features[self.chosen].tolist(), (low / 2 + high / 2).tolist()
        polarities = np.where(high > low, 1, -1).tolist()
        return list(zip(map(Stump, features, thresholds, polarities), self.coefficients.tolist()))


class Leistner(Bisc):
    """:class:`Bisc` with the weights of the logistic loss in place of lambda::

        for each sample (x, y):
            train every learner of the pool on (x, y)
            F = 0
            for each selector k:
                w = -l'(y F) = 1 / (1 + exp(y F))
                add w to the selector's counts of every learner, and take the best free one, as Bisc does
                F += a_k h_k(x)
            give the worst free learner a fresh random feature

    Weights stay within [0, 1], so that a mislabelled sample cannot carry the selectors away.
    """

    _kernel = staticmethod(gradient_boost_selectors)


_CLIP = 1e-3  # errors are kept this far from 0 and 1, as the reservoir methods keep theirs


class Oza(FixedStumps):
    """Online AdaBoost over stumps that are given::

        for each sample (x, y):
            lambda = 1
            for each stump h_t:
                [train h_t Poisson(lambda) times on (x, y)]
                if h_t(x) = y:  sc_t += lambda;  lambda *= (sc_t + sw_t) / (2 sc_t)
                else:           sw_t += lambda;  lambda *= (sc_t + sw_t) / (2 sw_t)
        a_t = 1/2 log((1 - e_t) / e_t),  e_t = sw_t / (sc_t + sw_t)

    The bracketed line is the only use of Poisson draws, and a stump that is given needs no training: nothing random is
    left. The published vote has log((1 - e) / e), twice ours, for every learner; a stump with e above 1/2 thus votes
    with its opposite. Errors are clipped to [1e-3, 1 - 1e-3]; a stump that has met nothing counts 0.

    >>> from boostrun.methods.stumps import Stump
    >>> booster = Oza([Stump(0, 2.0, 1), Stump(1, 2.0, 1)])
    >>> samples = np.array([[0, 3], [1, 1], [2, 2], [3, 0]], dtype=np.uint8)
    >>> booster.partial_fit(samples, np.array([-1, -1, 1, 1])).coefficients.round(2).tolist()
    [3.45, 0.0]
    """

    def __init__(self, stumps):
        super().__init__(stumps)
        self.right = np.zeros(len(self.stumps))
        self.wrong = np.zeros(len(self.stumps))

    @property
    def coefficients(self) -> np.ndarray:
        met = self.right + self.wrong
        errors = np.divide(self.wrong, met, out=np.full(len(met), 0.5), where=met > 0.0).clip(_CLIP, 1.0 - _CLIP)
        return 0.5 * np.log((1.0 - errors) / errors)

    def _learn(self, samples, labels) -> None:
        oza(samples, labels, *self._flat, self.right, self.wrong)


class _Smooth(FixedStumps):
    def __init__(self, stumps, gamma: float):
        super().__init__(stumps)
        if not 0.0 < gamma < 1.0:
            raise BoostrunError(f"gamma={gamma!r}: a number between 0 and 1 is needed")
        self.gamma, self.theta = gamma, gamma / (2.0 + gamma)


class OSBoost(_Smooth):
    """OSBoost over stumps that are given::

        for each sample (x, y):
            z = 0;  w = 1
            for each stump h_t:
                z += y h_t(x) - theta                              theta = gamma / (2 + gamma)
                [train h_t on (x, y) with weight w]
                w = 1 if z <= 0 else (1 - gamma)^(z / 2)
        a_t = 1

    The vote is uniform whatever the samples (1 and not 1 / T: whole numbers add up exactly, and a tie is a tie). With
    stumps that are given, OSBoost thus learns nothing, and its score is that of the stumps alone. ``met`` and
    ``edges`` (T,) keep sum w and sum w y h_t(x), the weights each stump would have been trained with: edges / met of at
    least gamma everywhere is the paper's condition on weak learners.
    """

    def __init__(self, stumps, gamma: float = 0.1):
        super().__init__(stumps, gamma)
        self.met = np.zeros(len(self.stumps))
        self.edges = np.zeros(len(self.stumps))

    @property
    def coefficients(self) -> np.ndarray:
        return np.ones(len(self.stumps))

    def _learn(self, samples, labels) -> None:
        smooth_weights(samples, labels, *self._flat, self.gamma, self.theta, self.met, self.edges)


class OCP(_Smooth):
    """OSBoost's coefficients by online convex programming::

        a = (1/T, ..., 1/T)
        for sample (x, y) number t:
            if y sum_i a_i h_i(x) < theta:
                a = projection on the simplex of a + eta_t y h(x)

    with eta_t = learning_rate sqrt(2 / (T t)), Zinkevich's step for the simplex's diameter sqrt(2) and gradients of
    norm sqrt(T). The margin theta is the one that OSBoost's bound is about.

    >>> from boostrun.methods.stumps import Stump
    >>> booster = OCP([Stump(0, 2.0, 1), Stump(1, 2.0, 1)])
    >>> samples = np.array([[0, 3], [1, 1], [2, 2], [3, 0]], dtype=np.uint8)
    >>> booster.partial_fit(samples, np.array([-1, -1, 1, 1])).coefficients
    array([1., 0.])
    """

    def __init__(self, stumps, gamma: float = 0.1, learning_rate: float = 1.0):
        super().__init__(stumps, gamma)
        if not 0.0 < learning_rate < np.inf:
            raise BoostrunError(f"learning_rate={learning_rate!r}: a number above 0 is needed")
        self.learning_rate = learning_rate
        self._coefficients = np.full(len(self.stumps), 1.0 / len(self.stumps))

    @property
    def coefficients(self) -> np.ndarray:
        return self._coefficients.copy()

    def _learn(self, samples, labels) -> None:
        convex_coefficients(
            samples, labels, *self._flat, self.theta, self.learning_rate, self.seen, self._coefficients,
            np.empty(len(self.stumps)),
        )  # fmt: skip
