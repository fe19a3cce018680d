"""The online boosters of the reservoir paper's Table 4, and their kin over stumps drawn at random (section 4.2)."""

from __future__ import annotations

import numpy as np

from boostrun.config import fields
from boostrun.errors import BoostrunError
from boostrun.methods import estimator
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.estimator import StumpClassifier
from boostrun.methods.probabilities import LINKS, Link, margin_link
from boostrun.methods.stumps import FIELDS, Stump, StumpEnsemble, StumpLearner, find_stump
from boostrun.methods.weak_learner import LOSSES, Binner
from boostrun.papers.reservoir.classifier import ReservoirClassifier, log_odds
from boostrun.papers.reservoir.geem import Geem
from boostrun.papers.reservoir.keys import OnlineRivalKeys, RandomStumpsKeys
from boostrun.papers.reservoir.online import OCP, Bisc, Leistner, OSBoost, Oza

# name -> (where the stumps come from, the online method); None: the method finds its own
_METHODS = {
    "oza": ("subset", Oza),
    "osboost": ("subset", OSBoost),
    "ocp": ("subset", OCP),
    "bisc": (None, Bisc),
    "leistner": (None, Leistner),
    "geem_oza": ("geem", Oza),
    "geem_osboost": ("geem", OSBoost),
    "geem_ocp": ("geem", OCP),
}
_PAPER_R = 250  # Table 4's reservoir, whose draws the online methods are given


def offline_logitboost(samples: np.ndarray, labels: np.ndarray, rounds: int, shrinkage: float) -> list:
    """LogitBoost on a few samples held at once: list of (stump, step).

    ``samples`` (n, d) uint8 codes, ``labels`` (n,) float64 of -1 and +1. Cost O(rounds d (n + 256)).
    """
    loss, scores, learners = LOSSES["logistic"], np.zeros(len(labels)), []
    for _ in range(rounds):
        weights = loss.weights(labels * scores)
        stump, _ = find_stump(samples, weights * labels)
        votes = stump(samples)
        step = shrinkage * log_odds(labels * votes, labels * scores, weights, loss)
        scores += step * votes
        learners.append((stump, step))
    return learners


class OnlineRivalClassifier(OnlineRivalKeys, StumpClassifier):
    """Boosted stumps by a method that sees one sample at a time and keeps none.

    Several classes are learnt one against the rest, each from a stream of its own. The methods are those of
    :mod:`boostrun.papers.reservoir.online`.

    Parameters
    ----------
    {parameters}
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

    def fit(self, X, y, **given):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels. The arrays are read through a Filter().

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input, ``sample_weight`` among it.
        """
        if given:
            raise BoostrunError(
                f"{', '.join(given)}: fit takes X and y alone, for an online method meets every sample as one example "
                "of weight 1"
            )
        source, _, entropy = self._source(X, y)
        return self._fit(source, entropy)

    def fit_source(self, source):
        """Train on a source of samples, see :class:`boostrun.data.source.ArraySource`."""
        self.n_features_in_ = source.n_features
        return self._fit(source, self._entropy())

    def _fit(self, source, entropy: int):
        """Train; all randomness but the Filters' follows from the whole number ``entropy``."""
        self._check_parameters()
        self.classes_ = source.class_labels()
        positives = one_vs_all.problems(self.classes_)
        origin, online = _METHODS[self.method]
        if origin == "geem":
            filters, stumps = self._stumps_by_geem(source, entropy)
        elif origin == "subset":
            filters, stumps = self._stumps_by_subset(source, positives)
        else:
            filters, stumps = self._open(source, self.batch_size, positives), [None] * len(positives)
        seed, seen = np.random.SeedSequence(entropy).spawn(2)[1], self._samples_seen(source)
        boosters = []
        for k, (positive, child) in enumerate(zip(positives, seed.spawn(len(positives)))):
            booster = self._booster(online, stumps[k], source.n_features, np.random.default_rng(child))
            self._stream(booster, filters[k], positive, seen)
            boosters.append(booster)
        self.ensemble_ = StumpEnsemble.of([booster.learners() for booster in boosters])
        self.samples_drawn_per_problem_ = [filter_.drawn for filter_ in filters]
        self.samples_drawn_ = sum(self.samples_drawn_per_problem_)
        self.peak_samples_held_ = max(filter_.peak_held for filter_ in filters)
        return self

    def _open(self, source, capacity: int, positives) -> list:
        return [source.open(capacity=capacity, stream=k) for k in range(len(positives))]

    def _stumps_by_subset(self, source, positives) -> tuple[list, list]:
        """A Filter a problem with nothing held, and stumps by LogitBoost on the first samples drawn, in units of x."""
        filters, stumps, binner = self._open(source, max(self.subset_size, self.batch_size), positives), [], None
        for filter_, positive in zip(filters, positives):
            samples, labels = filter_.draw(self.subset_size)
            if samples.dtype != np.uint8:
                binner = binner or Binner(samples, self.max_bins)  # the first draws set the bins of all problems
                samples = binner.encode(samples)
            signs = np.where(labels == positive, 1.0, -1.0)
            learners = offline_logitboost(samples, signs, self.n_estimators, self.shrinkage)
            filter_.release(self.subset_size)
            stumps.append(_in_units_of_x(StumpEnsemble.of([learners]), binner))
        return filters, stumps

    def _stumps_by_geem(self, source, entropy: int) -> tuple[list, list]:
        """GEEM's ensemble, learnt with the parameters it has by default; its Filters then go on where it left them."""
        shared = _KeptFilters(source)
        geem = ReservoirClassifier(
            Geem(), weak_learner=StumpLearner(), reservoir_size=self.reservoir_size, n_estimators=self.n_estimators,
            shrinkage=self.shrinkage, max_bins=self.max_bins, random_state=entropy,
        ).fit_source(shared)  # fmt: skip
        for filter_ in shared.filters:
            filter_.release(filter_.held)
        ensembles = [
            StumpEnsemble(*(getattr(geem.ensemble_, name)[k : k + 1] for name in FIELDS))
            for k in range(geem.ensemble_.n_problems)
        ]
        return shared.filters, [_in_units_of_x(ensemble, None) for ensemble in ensembles]

    def _booster(self, online, stumps, n_features: int, rng: np.random.Generator):
        if issubclass(online, Bisc):
            return online(n_features, self.n_estimators, self.pool_size, rng, self.replace_every)
        wanted = {Oza: (), OSBoost: ("gamma",), OCP: ("gamma", "learning_rate")}[online]
        return online(stumps, **{key: getattr(self, key) for key in wanted})

    def _samples_seen(self, source) -> int:
        """The number of samples to see: as with r = q = 250 in T rounds, at most one pass over the source."""
        if self.samples_seen is not None:
            return self.samples_seen
        drawn = _PAPER_R * (self.n_estimators + 2)
        return min(drawn, len(source.labels)) if hasattr(source, "labels") else drawn

    def _stream(self, booster, filter_, positive, seen: int) -> None:
        """Show the booster ``seen`` fresh samples, at most ``batch_size`` in memory at a time."""
        batch = min(self.batch_size, filter_.capacity)
        for start in range(0, seen, batch):
            n = min(batch, seen - start)
            samples, labels = filter_.draw(n)
            booster.partial_fit(samples, np.where(labels == positive, 1.0, -1.0))
            filter_.release(n)

    def _check_parameters(self) -> None:
        fields.check(self)
        estimator.bins(self)
        if self.pool_size is not None and self.pool_size < self.n_estimators:
            raise BoostrunError(f"pool_size={self.pool_size}: {self.n_estimators} selectors need as many learners")


def _in_units_of_x(ensemble: StumpEnsemble, binner: Binner | None) -> list[Stump]:
    """The stumps of a single problem, with thresholds on values instead of codes where a binner made the codes."""
    if binner is not None:
        ensemble.thresholds = binner.thresholds(ensemble.features, ensemble.thresholds)
    columns = (getattr(ensemble, name)[0].tolist() for name in FIELDS[:3])
    return list(map(Stump, *columns))


class _KeptFilters:
    """A source that remembers the Filters it opened, so that a second learner can go on drawing from them."""

    def __init__(self, source):
        self.source, self.filters = source, []

    def __getattr__(self, name):
        return getattr(self.source, name)

    def open(self, capacity: int, stream: int = 0):
        self.filters.append(self.source.open(capacity=capacity, stream=stream))
        return self.filters[-1]


class RandomStumpsClassifier(RandomStumpsKeys, OnlineRivalClassifier):
    """An online booster that is given stumps drawn at random in place of those that LogitBoost finds on a subset.

    A stump looks at a feature drawn uniformly of those that take two values or more among ``subset_size`` samples, and
    parts them between two consecutive values drawn uniformly. Its polarity is random too, or the one with fewer errors
    on them. Samples are drawn, held and let go as for the stumps of LogitBoost. ``method`` is "oza", "osboost" or
    "ocp": the others make their stumps themselves, and are as without random ones. Attributes are those of
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

    ``better``: of the two polarities the one with fewer errors on ``labels`` (n,) of -1 and +1, +1 if they are
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


# the loss that each online rival's coefficients minimise; the votes of the others minimise none
_ONLINE = {
    "oza": "exponential", "bisc": "exponential", "geem_oza": "exponential",  # AdaBoost's 1/2 log((1 - e) / e)
    "leistner": "logistic",
}  # fmt: skip


def of_reservoir(classifier) -> Link | str:
    """The link of the loss; none for reservoirs that are filled with equal numbers of positive and negative samples."""
    if classifier.balanced:
        return "balanced=True trains on other shares of the classes than the data have, and does not keep theirs"
    return of_full_data(classifier)


def of_full_data(classifier) -> Link | str:
    """The link of the loss; FilterBoost accepts with min(1, exp(-y F)), the slope of a loss with a linear tail."""
    if getattr(classifier, "method", "") == "filterboost" and classifier.loss == "exponential":
        return margin_link(1.0)  # p min(1, exp(-F)) = (1 - p) min(1, exp(F))
    return LINKS.get(classifier.loss) or f"loss={classifier.loss!r} is not known"


def of_online(classifier) -> Link | str:
    """The link of the loss of the method."""
    loss = _ONLINE.get(classifier.method)
    return LINKS[loss] if loss else f"the votes of method={classifier.method!r} minimise no loss that tells them"
