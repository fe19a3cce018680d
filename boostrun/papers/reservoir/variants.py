"""Beyond the paper: a budget on features inside the loop, data split in parts, a reservoir that feeds any learner.

With a budget on features the reservoir decides which samples are held (Lefakis & Fleuret 2013), and a policy of
adaptive sampling finds each round's stump (Dubout & Fleuret 2014).
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.evaluation.staged import Staged
from boostrun.methods.estimator import Held, component_of
from boostrun.methods.probabilities import Link
from boostrun.methods.stumps import Stump, StumpLearner, find_stump
from boostrun.methods.weak_learner import LOSSES, Binner, Logistic, WeakLearner, as_weak_learner
from boostrun.papers.reservoir.classifier import (
    MASS_RATIO,
    MergedReservoir,
    MergedSharedReservoir,
    Reservoir,
    ReservoirClassifier,
    ReservoirPart,
    SharedReservoir,
)
from boostrun.papers.reservoir.keys import (
    LEARNERS,
    OF_WEAK_LEARNERS,
    BudgetedReservoirKeys,
    LearnerReservoirKeys,
    SplitReservoirKeys,
)
from boostrun.papers.reservoir.strategies import MergedParts, Strategy, WSam


class BudgetedReservoir(Reservoir):
    """A :class:`Reservoir` whose rounds evaluate at most ``budget`` (feature, sample) pairs.

    ``policy`` chooses a feature on the samples that stay, as if they were the training set; its threshold is then the
    best one on all of them. Samples are uint8 codes. ``families`` are (name, start, stop), or None for one of all.
    """

    def __init__(
        self, draws, r: int, q: int, loss, learner: WeakLearner, policy, budget: int, families,
        rng: np.random.Generator,
    ):  # fmt: skip
        from boostrun.papers.adaptive.adaboost_mh import Board
        super().__init__(draws, r, q, loss, learner)
        self.policy = policy
        columns = np.ascontiguousarray(self.samples[:r].T)
        self.board = Board(columns, families or [("all", 0, len(columns))], budget, "weight", rng)
        if hasattr(policy, "start"):
            policy.start(self.board)

    def _find(self, kept: np.ndarray, signed_weights: np.ndarray) -> Stump:
        total = np.abs(signed_weights).sum() or 1.0
        self.board.codes = np.ascontiguousarray(self.samples[kept].T)
        self.board.begin_step((signed_weights / total).astype(np.float32)[:, None])
        feature = self.policy.choose(self.board)
        self.board.charge("refit", self.r)
        stump, edge = find_stump(np.ascontiguousarray(self.samples[:, [feature]]), signed_weights, kept)
        if hasattr(self.policy, "learn"):
            self.policy.learn(min(edge / total, 1.0 - 1e-6))
        return stump._replace(feature=feature)


class BudgetedReservoirClassifier(BudgetedReservoirKeys, ReservoirClassifier):
    """Reservoir boosting within a budget of evaluations; refuses other weak learners, exact searches and ``shared``.

    Parameters
    ----------
    {parameters}
    families : list of (name, start, stop) or None
        Feature families for policies; by default those of the source.
    max_bins : int from 2 to 256
    warm_start : bool, see :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`.
    random_state : int, RandomState or None

    Attributes
    ----------
    ledger_ : dict of (T,) arrays, evaluations of each round by account, over all binary problems.
    evaluations_ : int, those charged.

    The others are those of ReservoirClassifier.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.random.default_rng(0).integers(0, 256, (200, 30)).astype(np.uint8)
    >>> source = ArraySource(samples, samples[:, 3] >= 90, seed=0)
    >>> model = BudgetedReservoirClassifier("wsam", Q=5, reservoir_size=20, n_estimators=5, random_state=0)
    >>> model.fit_source(source).evaluations_, model.samples_drawn_
    (500, 140)
    """

    def _begin(self, source, entropy: int):
        self._known = self.families if self.families is not None else getattr(source, "families", None)
        if not self._known and getattr(self._own_policy(), "needs_families", False):
            name = self.policy if isinstance(self.policy, str) else type(self.policy).__name__
            raise BoostrunError(
                f"policy {name} chooses among families of features: give families=[(name, start, "
                "stop), ...]"
            )
        return super()._begin(source, entropy)

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        rng = np.random.default_rng(np.random.SeedSequence(numbers))
        budget = int(self.budget_multiplier * r)
        return BudgetedReservoir(
            draws, r, q, LOSSES[self.loss], self._learner, self._own_policy(), budget, self._known, rng
        )

    def _own_policy(self) -> Any:
        """A policy for one problem: a copy of an object, or one by name, with our Q where its own has a default."""
        if not isinstance(self.policy, str):
            return copy.deepcopy(self.policy)
        found = catalogue.part("policies", self.policy)
        own = dataclasses.fields(found) if dataclasses.is_dataclass(found) else ()
        takes_q = any(field.name == "Q" and field.default is not None for field in own)
        return found(Q=self.Q) if takes_q else found()

    def _finish(self) -> None:
        from boostrun.papers.adaptive.adaboost_mh import ACCOUNTS, CHARGED
        ledgers = [reservoir.board.ledger for reservoir, *_ in self._problems]
        self.ledger_ = {
            account: np.sum([[step[account] for step in ledger] for ledger in ledgers], axis=0) for account in ACCOUNTS
        }
        self.evaluations_ = int(sum(self.ledger_[account].sum() for account in CHARGED))
        super()._finish()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._own_policy()
        if self.shared or self.stump_search == "exact":
            raise BoostrunError("a budget of features needs a reservoir for each class and stump_search='histogram'")
        if not isinstance(self._own_learner(), StumpLearner):
            raise BoostrunError("a budget of features is one for stumps: weak_learner='stump' is needed")


class BudgetedStaged(Staged):
    """Like :class:`boostrun.evaluation.staged.Staged`, with the evaluations in cost and curve."""

    def curve(self, model: Any, data: Any, marks: Sequence[int]) -> dict[str, Any]:
        """Evaluations charged, and all that found stumps, by the end of each number of rounds."""
        from boostrun.papers.adaptive.classifier import evaluations
        charged, all_ = evaluations(model.ledger_)
        return {
            "evaluations": [int(charged[t - 1]) for t in marks],
            "all_evaluations": [int(all_[t - 1]) for t in marks],
        }

    def extra(self, model: Any, data: Any, curve: dict[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
        """Evaluations by account, over all rounds."""
        cost: dict[str, Any] = {f"evaluations_{account}": int(spent.sum()) for account, spent in model.ledger_.items()}
        return {}, cost | {"evaluations": model.evaluations_}


class SplitReservoirClassifier(SplitReservoirKeys, ReservoirClassifier):
    """``parts`` learners, each with its own reservoir of r samples and its own part of the data; or one learner of all.

    The parts are disjoint, of equal size and drawn at random: of many files, each has row groups of its own. Learners
    never meet before their scores are averaged. The ensemble then has ``parts`` times T weak learners a class, the t-th
    of all learners together, and ``staged_`` attributes as many values, ``staged_train_seconds_`` of the slowest one.

    With ``rounds="merged"`` there is one learner, as of one reservoir of r samples and ``parts`` times q fresh ones.
    Each round each part draws q samples, and offers those at hand with the smallest keys E / w, E standard exponential.
    The offers are merged (Hübschle-Schneider & Sanders 2019), one weak learner a class is trained on the r samples that
    stay, and sent to all parts. WSam keeps the r smallest keys, in distribution what one reservoir keeps. Any other
    strategy keeps r of the r + q smallest, their masses over their chances to be among them.

    Parts can be on machines of their own: ``n_jobs`` workers of joblib's backend in force, loky, dask or ray. When one
    dies, its parts alone are trained again. Every part needs samples of every class: there are no more parts than
    samples of the rarest class, which a warning says. Other attributes are those of
    :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`; ``peak_samples_held_`` are those of one part.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256
    warm_start : bool, of no effect; refused with ``rounds="merged"``
    n_jobs : int or None, parts at a time, None: one; the result does not depend on it
    random_state : int, RandomState or None

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] >= 90, seed=0)
    >>> sizes = {"parts": 2, "reservoir_size": 20, "n_estimators": 5, "random_state": 0}
    >>> for rounds in ("independent", "merged"):
    ...     model = SplitReservoirClassifier("wsam", rounds=rounds, **sizes).fit_source(source)
    ...     print(model.ensemble_.n_rounds, model.peak_samples_held_, model.samples_drawn_)
    10 40 280
    5 32 260
    """

    def _fit(self, source, entropy: int):
        """Train on a source that can be divided, see :meth:`boostrun.data.source.ArraySource.split`."""
        self._check_parameters()
        if not callable(getattr(source, "split", None)):
            raise BoostrunError(f"a {type(source).__name__} cannot be split among workers")
        parts = self.parts
        if hasattr(source, "labels"):
            self.classes_, counts = np.unique(source.labels, return_counts=True)
            parts = min(parts, int(counts.min()))
        else:  # of files larger than memory
            self.classes_ = source.class_labels()
        if parts < self.parts:
            fewer = f"parts={self.parts}, but the rarest class has {parts} samples: the data are split into {parts}"
            warnings.warn(fewer, UserWarning, stacklevel=3)
        parameters = {name: getattr(self, name) for name in ReservoirClassifier._get_param_names()}
        if self.rounds == "merged":
            made = [partial(ReservoirPart, parameters, part, k, entropy) for k, part in enumerate(source.split(parts))]
            with Held(made, self.n_jobs) as self._objects:
                super()._fit(source, entropy)
            del self._objects
            return self
        makers = []
        for part, seed in zip(source.split(parts), np.random.SeedSequence(entropy).spawn(parts)):
            own = {"random_state": int(seed.generate_state(1)[0]), "warm_start": False}
            makers.append(partial(partial, ReservoirClassifier(**parameters | own).fit_source, part))
        with Held(makers, self.n_jobs) as objects:
            workers = objects.ask([()] * parts, anew=True)
        ensembles = [worker.ensemble_ for worker in workers]
        self.ensemble_ = type(ensembles[0]).average(ensembles)
        rounds = np.repeat(np.arange(self.n_estimators), parts)
        self.staged_samples_drawn_ = np.sum([worker.staged_samples_drawn_ for worker in workers], axis=0)[rounds]
        self.staged_train_seconds_ = np.max([worker.staged_train_seconds_ for worker in workers], axis=0)[rounds]
        self.samples_drawn_per_problem_ = [n for worker in workers for n in worker.samples_drawn_per_problem_]
        self.samples_drawn_ = sum(worker.samples_drawn_ for worker in workers)
        self.peak_samples_held_ = max(worker.peak_samples_held_ for worker in workers)
        self.covariance_restarts_ = sum(worker.covariance_restarts_ for worker in workers)
        return self

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        if self.rounds == "independent":
            return super()._reservoir(draws, r, q, numbers)
        strategy, parts, model = self._own_strategy(), len(self._objects), self  # type: Any, int, Any
        if self._binner is None:  # the first samples of all parts set the bins of all problems
            values = self._objects.ask([("values", -(-(r + q) // parts))] * parts, anew=True)
            model._binner = None if values[0] is None else Binner(np.concatenate(values), self.max_bins)
        exact = type(strategy) is WSam
        shares, most = [len(some) for some in np.array_split(np.arange(r), parts)], r if exact else r + q
        begin = [(numbers[1], draws.positives, self._binner, share + q, most) for share in shares]
        kind = MergedSharedReservoir if self.shared else MergedReservoir
        reservoir = kind(MergedParts(self._objects, begin, exact), r, most - r, LOSSES[self.loss], self._learner)
        reservoir.begin(strategy.carry_mass)
        return reservoir

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.rounds == "merged" and self.warm_start:
            raise BoostrunError("rounds=merged does not take warm_start: each fit starts with new parts")


# -- one reservoir for all classes that feeds a learner


def softmax_gradients(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """|p_k - y_k| (n, K) float64 of the softmax p of scores (K, n); labels (n, K) are +1.0 for the class, else -1.0.

    For two classes, K = 1, p is 1 / (1 + exp(-F)).

    >>> softmax_gradients(np.log([[2.0], [1.0], [1.0]]), np.array([[1.0, -1.0, -1.0]])).tolist()
    [[0.5, 0.25, 0.25]]
    """
    if len(scores) == 1:
        return expit(-labels * scores.T)
    found = softmax(scores.T, axis=1)
    return np.where(labels > 0.0, 1.0 - found, found)


class Softmax(Logistic):
    """The loss of a reservoir of all classes: weights are the gradients of the softmax loss by the scores."""

    def __init__(self, reservoir: SharedReservoir):
        self.reservoir = reservoir

    def weights(self, margins: np.ndarray) -> np.ndarray:
        """(n, K) of the margins y_k F_k (n, K) of the samples at hand."""
        labels = self.reservoir.labels
        return softmax_gradients((labels * margins).T, labels)


def training_weights(corrected: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Weights (r,) of mean 1 for kept samples with corrected weights w~ and gradients g, (r,) each: w~ / g, which is
    mass times 1 / p, relative to its mean, within the bounds of :data:`MASS_RATIO`.

    >>> training_weights(np.array([0.2, 0.2]), np.array([0.1, 0.3])).round(6).tolist()
    [1.5, 0.5]
    """
    ratios = np.maximum(corrected, 0.0) / np.maximum(gradients, 1e-12)
    if not ratios.any():
        return np.ones(len(ratios))
    ratios = np.clip(ratios / ratios.mean(), *MASS_RATIO)
    return ratios / ratios.mean()


def _imported(module: str, needs: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise BoostrunError(
            f"learner={needs}: {module.partition('.')[0]} is not installed: pip install 'boostrun[rivals]'"
        ) from None


class EstimatorModel:
    """An estimator with ``partial_fit``, on features scaled to [0, 1] by the smallest and largest values so far.

    It learns from float32 and scores in float64: in float32 a row's scores would depend on the rows beside it.
    """

    def __init__(self, estimator: Any, k: int, repeats: int, seed: int):
        self.estimator, self.k, self.repeats = estimator, k, repeats
        self.least, self.largest = np.float64(np.inf), np.float64(-np.inf)
        self.weighs = "sample_weight" in inspect.signature(estimator.partial_fit).parameters
        known = estimator.get_params() if callable(getattr(estimator, "get_params", None)) else {}
        if known.get("random_state", 0) is None:
            estimator.set_params(random_state=seed)

    def learn(self, samples: np.ndarray, y: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> None:
        """Pass over samples (r, d) of class numbers y (r,), or drawn again by their weights where it takes none."""
        self.least = np.minimum(self.least, samples.min(axis=0))
        self.largest = np.maximum(self.largest, samples.max(axis=0))
        X, given = self._scaled(samples).astype(np.float32), {"sample_weight": weights} if self.weighs else {}
        if not self.weighs and np.ptp(weights) > 1e-9:
            drawn = rng.choice(len(y), len(y), p=weights / weights.sum())
            X, y = X[drawn], y[drawn]
        for _ in range(self.repeats):
            self.estimator.partial_fit(X, y, classes=np.arange(self.k), **given)

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """(K, n) float64 of samples (n, d): logarithms of probabilities if it has any, else its decision function."""
        size = max(1, 2**23 // samples.shape[1])
        return np.concatenate([self._of(samples[at : at + size]) for at in range(0, len(samples), size)], axis=1)

    def _of(self, samples: np.ndarray) -> np.ndarray:
        X = self._scaled(samples)
        if (proba := getattr(self.estimator, "predict_proba", None)) is not None:
            found = np.log(np.clip(proba(X), 1e-15, 1.0)).T
            found = found[1:] - found[:1] if self.k == 2 else found
        else:
            found = np.atleast_2d(self.estimator.decision_function(X).T).astype(np.float64)
        if found.shape != (self.k if self.k > 2 else 1, len(X)) or not np.isfinite(found).all():
            raise BoostrunError(f"{type(self.estimator).__name__} gave no finite score for each sample and class")
        return found

    def _scaled(self, samples: np.ndarray) -> np.ndarray:
        width = self.largest - self.least
        return (samples - self.least) / np.where(width > 0.0, width, 1.0)

    def frozen(self) -> EstimatorModel:
        """A copy that does not change with further learning; the state of Adam is left out."""
        found = copy.copy(self)
        found.estimator = copy.deepcopy(self.estimator)
        vars(found.estimator).pop("_optimizer", None)
        return found


class LightGBMModel:
    """LightGBM that goes on from its model (``init_model``) with some trees a class each round."""

    def __init__(self, k: int, seed: int, trees: int, leaves: int, rate: float):
        self.k, self.trees = k, trees
        self.booster: Any = None
        self.parameters = {
            "objective": "binary" if k == 2 else "multiclass", "num_class": 1 if k == 2 else k, "learning_rate": rate,
            "num_leaves": leaves, "lambda_l2": 1.0, "boost_from_average": False, "seed": seed % 2**31,
            "num_threads": 1, "deterministic": True, "force_row_wise": True, "verbose": -1,
        }  # fmt: skip

    def learn(self, samples: np.ndarray, y: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> None:
        """Grow trees on samples (r, d) of class numbers y (r,) and weights (r,); a leaf has a 25th of r at least."""
        import lightgbm

        parameters = self.parameters | {"min_data_in_leaf": max(1, len(y) // 25)}
        data = lightgbm.Dataset(samples.astype(np.float32), y, weight=weights, params=parameters)
        self.booster = lightgbm.train(
            parameters, data, self.trees, init_model=self.booster, keep_training_booster=True
        ).free_dataset()

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """(K, n) float64 of samples (n, d)."""
        return np.atleast_2d(self.booster.predict(samples.astype(np.float32), raw_score=True, num_threads=1).T)

    def frozen(self) -> LightGBMModel:
        """A copy that does not change with further learning."""
        return copy.copy(self)


class GoesOn(WeakLearner):
    """A learner of all classes that goes on from its model. ``make(k, seed)`` gives the empty model of k classes."""

    codes = False

    def __init__(self, make: Callable[[int, int], Any]):
        self.make, self.rounds, self.stages = make, 0, dict[int, Any]()

    def find(self, samples, signed_weights):
        """No hypothesis of one class."""
        return None

    def begin(self, k: int, seed: int) -> None:
        """An empty model."""
        self.model = self.make(k, seed)

    def learn(self, samples: np.ndarray, labels: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> None:
        """A round on samples (r, d) with labels (r, K) and weights (r,); some models are kept for curves."""
        y = labels.argmax(axis=1) if labels.shape[1] > 1 else (labels[:, 0] > 0.0).astype(np.intp)
        self.model.learn(samples, y, weights, rng)
        self.rounds += 1
        digits = 10 ** (len(str(self.rounds)) - 1)  # 1, 2, 3, 5, 7, 10, ..., 100, 125, ..., 1000, 1250, ...
        if self.rounds % (digits // 4 or digits) == 0 if digits > 10 else self.rounds / digits in (1, 2, 3, 5, 7):
            self.stages[self.rounds] = self.model.frozen()

    def ensemble(self, problems, binner):
        """The model so far, or one without rounds whose scores are 0."""
        if problems[0] is not self:
            return LearnedModel({}, len(problems))
        k = self.model.k
        return LearnedModel({**self.stages, self.rounds: self.model.frozen()}, k if k > 2 else 1)


class LearnedModel:
    """Models of a learner after some numbers of rounds, in rising order; K = ``n_problems`` rows of scores."""

    def __init__(self, stages: dict[int, Any], n_problems: int):
        self.stages, self.n_problems, self.n_rounds = stages, n_problems, max(stages, default=1)

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 for ``samples`` (n, d)."""
        return self._after(self.n_rounds, samples)

    def staged_decision(self, columns: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield scores (K, n) for ``columns`` (d, n) after ``stages``, each by the last model not later than it."""
        samples, last = np.ascontiguousarray(columns.T), (-1, np.empty(0))
        for stage in stages:
            known = max((rounds for rounds in self.stages if rounds <= stage), default=0)
            last = last if last[0] == known else (known, self._after(known, samples))
            yield last[1]

    def _after(self, rounds: int, samples: np.ndarray) -> np.ndarray:
        model = self.stages.get(rounds)
        return np.zeros((self.n_problems, len(samples))) if model is None else model.scores(samples)

    def save(self, path: Any, **extra: Any) -> Any:
        """Raises BoostrunError."""
        raise BoostrunError("only vote trees and stumps are saved as arrays: use pickle for a model of another learner")


class LearnerReservoir(SharedReservoir):
    """A :class:`SharedReservoir` that feeds a learner which goes on, and then scores all samples at hand."""

    learner: GoesOn

    def __init__(self, draws, r: int, q: int, loss, learner: GoesOn):
        super().__init__(draws, r, q, loss, learner)
        self.members, self.problems = [], [learner]  # type: ignore[list-item]

    def boost(self, rounds, strategy: Strategy, coefficient, shrinkage, rng: np.random.Generator) -> None:
        """Learn for so many rounds."""
        begun = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)
        first = len(self.drawn)
        for t in range(first, first + rounds):
            gradients = self.loss.weights(self.labels * self.scores.T).sum(axis=1)
            kept, corrected = self._select(strategy, rng)
            weights = training_weights(corrected.sum(axis=1), gradients[kept])
            self.learner.learn(self.samples[kept], self.labels[kept], weights, rng)
            self._refill(kept, t + 1)
            self.drawn.append(self.draws.drawn)
            self.seconds.append(time.perf_counter() - begun)

    def _refill(self, kept, t) -> None:
        super()._refill(kept, t)
        self.scores = self.learner.model.scores(self.samples)


class LearnerReservoirClassifier(LearnerReservoirKeys, ReservoirClassifier):
    """One reservoir for all classes that feeds a learner, with the softmax loss.

    A strategy sees |p_k - y_k| of each sample and class, times the sample's mass, as its weights; p is the softmax of
    the scores. Trees and stumps are one a class and round, trained with the corrected weights w~. Any other learner
    goes on from its model each round, on the r kept samples with the weights sum_k w~_ik / sum_k |p_ik - y_ik|, scaled
    to a mean of 1: the mass of a sample over the chance of its choice. With ``rand``, ``max``, ``window`` and
    ``stump_weights="w"`` these are equal unless masses differ. Then the learner scores all r + q samples. Samples are
    drawn as by ``ReservoirClassifier(shared=True)``. ``loss`` and ``weak_learner`` have no effect, ``coefficient`` has
    one with ``learner="stump"`` alone; ``balanced=True`` and ``shared=False`` are refused.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, of trees and stumps; other learners see the values, scaled to [0, 1].
    warm_start : bool, see :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`.
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : the ensemble of trees or stumps; of another learner its models after 1, 2, 3, 5, 7, 10, ... rounds, by
        which predictions of other stages are made too.

    The others are those of ReservoirClassifier. An estimator without ``sample_weight`` in ``partial_fit`` gets the kept
    samples drawn again in proportion to the weights.

    References
    ----------
    .. [1] B. Ibragimov and G. Gusev, "Minimal Variance Sampling in Stochastic Gradient Boosting", NeurIPS 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> sizes = {"reservoir_size": 100, "n_estimators": 60, "random_state": 0}
    >>> for learner in ("tree", "mlp", GaussianNB(var_smoothing=0.01)):
    ...     model = LearnerReservoirClassifier("mvs", learner=learner, **sizes).fit(X[:1400], y[:1400])
    ...     print(round(model.score(X[1400:], y[1400:]), 1), model.samples_drawn_, model.peak_samples_held_)
    0.9 6200 200
    0.8 6200 200
    0.8 6200 200
    """

    def _own_learner(self) -> WeakLearner:
        if not isinstance(self.learner, str) or self.learner not in LEARNERS[:2]:
            return GoesOn(copy.copy(self)._empty)
        known = copy.copy(self)
        known.weak_learner = self.learner
        return as_weak_learner(component_of(known, "weak_learner", OF_WEAK_LEARNERS))

    def _empty(self, k: int, seed: int) -> Any:
        if self.learner == "lightgbm":
            return LightGBMModel(k, seed, self.trees, self.leaves, self.shrinkage)
        return EstimatorModel(self._estimator(), k, self.repeats, seed)

    def _estimator(self) -> Any:
        if not isinstance(self.learner, str):
            return copy.deepcopy(self.learner)
        where = "sklearn.neural_network:MLPClassifier" if self.learner == "mlp" else self.learner
        module, _, name = where.partition(":")
        found = getattr(_imported(module, self.learner), name, None)
        if found is None or not callable(getattr(found, "partial_fit", None)):
            raise BoostrunError(f"learner={self.learner}: there is no such class with partial_fit")
        batch = min(self.minibatch, self.reservoir_size)
        mlp = {"hidden_layer_sizes": (self.hidden,), "learning_rate_init": self.step_size, "batch_size": batch}
        return found(**(mlp if self.learner == "mlp" else {}))

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        kind: Any = SharedReservoir
        if isinstance(self._learner, GoesOn):
            kind = LearnerReservoir
            self._learner.begin(len(self.classes_), int(np.random.SeedSequence(numbers).generate_state(1)[0] % 2**31))
        reservoir = kind(draws, r, q, None, self._learner)
        reservoir.loss = Softmax(reservoir)
        return reservoir

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self.shared:
            raise BoostrunError("shared=False: a learner of all classes has one reservoir")
        from boostrun.papers.reservoir.geem import Geem
        if not isinstance(self._own_learner(), GoesOn):
            return
        if isinstance(self._own_strategy(), Geem):
            raise BoostrunError("GEEM chooses samples for stumps: learner=stump or learner=tree is needed")
        if self.learner == "lightgbm":
            _imported("lightgbm", "lightgbm")
        else:
            self._estimator()


def of_softmax(classifier) -> Link:
    """The softmax of the scores; for two classes 1 / (1 + exp(-F))."""

    def shares(scores: np.ndarray) -> np.ndarray:
        return softmax(np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores, axis=1)

    return Link(shares)


class LearnerStaged(Staged):
    """Like :class:`boostrun.evaluation.staged.Staged`, with the bytes of the model's pickle as a cost."""

    def check(self, model: Any, data: Any) -> None:
        """Raise BoostrunError for parameters that do not fit together, or a library that is missing."""
        model._check_parameters()

    def extra(self, model: Any, data: Any, curve: dict[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
        """Bytes of the model after the last round."""
        found = model.ensemble_
        last = found.stages[found.n_rounds] if isinstance(found, LearnedModel) else found
        return {}, {"model_bytes": len(pickle.dumps(last))}
