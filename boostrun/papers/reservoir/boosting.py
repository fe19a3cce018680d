"""Reservoir boosting of several classes: parameters, one binary problem a class, the ensemble they make.

Free of scikit-learn, whose import takes a second, so that a worker that trains from a feature bank starts at once; the
estimator for arrays is :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`.
"""

from __future__ import annotations

import importlib

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.errors import BoostrunError
from boostrun.methods import one_vs_all, parameters
from boostrun.methods.binning import Binner
from boostrun.methods.ensemble import StumpEnsemble
from boostrun.methods.losses import LOSSES
from boostrun.methods.stump import SEARCHES
from boostrun.papers.reservoir.coefficients import RULES
from boostrun.papers.reservoir.loop import Reservoir
from boostrun.papers.reservoir.shared import SharedReservoir

# name -> (module, class, the parameters it takes); a module is imported only when its strategy is used
_GEEM = ("ridge", "covariance_dims", "carry_mass", "swap_rounds")
STRATEGIES = {
    "rand": ("strategies", "Rand", ()),
    "max": ("strategies", "Max", ()),
    "window": ("strategies", "Window", ()),
    "wsam": ("strategies", "WSam", ("stump_weights",)),
    "geem": ("geem", "Geem", _GEEM),
    "geem_lattice": ("geem", "GeemLattice", (*_GEEM, "lattice_size")),
}


class ReservoirBoosting:
    """Reservoir boosting from a source of samples; parameters and attributes are those of ReservoirClassifier.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] >= 90, seed=0)
    >>> model = ReservoirBoosting("wsam", reservoir_size=20, n_estimators=5, random_state=0).fit_source(source)
    >>> model.peak_samples_held_, model.samples_drawn_
    (40, 140)
    """

    def __init__(
        self, strategy="geem", *, reservoir_size=250, batch_size=None, n_estimators=250, loss="logistic",
        coefficient="log_odds", shrinkage=0.5, stump_weights="uniform", ridge=1.0, covariance_dims="auto",
        carry_mass=True, swap_rounds=0, lattice_size=100, balanced=False, shared=False, stump_search="histogram",
        max_bins=256, warm_start=False, random_state=None,
    ):  # fmt: skip
        self.strategy = strategy
        self.reservoir_size = reservoir_size
        self.batch_size = batch_size
        self.n_estimators = n_estimators
        self.loss = loss
        self.coefficient = coefficient
        self.shrinkage = shrinkage
        self.stump_weights = stump_weights
        self.ridge = ridge
        self.covariance_dims = covariance_dims
        self.carry_mass = carry_mass
        self.swap_rounds = swap_rounds
        self.lattice_size = lattice_size
        self.balanced = balanced
        self.shared = shared
        self.stump_search = stump_search
        self.max_bins = max_bins
        self.warm_start = warm_start
        self.random_state = random_state

    def fit_source(self, source):
        """Train on a source of samples, see :class:`boostrun.data.source.ArraySource`."""
        self.n_features_in_ = source.n_features
        return self._fit(source, np.random.SeedSequence(self._entropy()).spawn(2)[1])

    def _entropy(self) -> int:
        """The whole number that all randomness follows from."""
        return int(self.random_state)

    def _fit(self, source, seed):
        self._check_parameters()
        r = self.reservoir_size
        q = r if self.batch_size is None else self.batch_size
        if not (self.warm_start and getattr(self, "_problems", None)):
            self._begin(source, seed, r, q)
        elif self.n_estimators < self.ensemble_.n_rounds:
            raise BoostrunError(
                f"n_estimators={self.n_estimators}: warm_start cannot take back {self.ensemble_.n_rounds} rounds"
            )
        with threadpool_limits(1, user_api="blas"):  # the matrices are too small for threads to pay
            for reservoir, strategy, rng in self._problems:
                reservoir.boost(
                    self.n_estimators - len(reservoir.drawn), strategy, RULES[self.coefficient], self.shrinkage,
                    self.stump_search, rng,
                )  # fmt: skip
        self._finish()
        return self

    def _begin(self, source, seed, r: int, q: int) -> None:
        """Open a Filter and make an empty reservoir for every binary problem."""
        self.classes_ = source.class_labels()
        self._binner = None
        self._problems = []
        positives = one_vs_all.problems(self.classes_)
        groups = [positives] if self.shared else [[positive] for positive in positives]
        for k, (group, child) in enumerate(zip(groups, seed.spawn(len(groups)))):
            draws = _SignedFilter(self, source.open(capacity=r + q, stream=k), group)
            self._problems.append((self._reservoir(draws, r, q), self._make_strategy(), np.random.default_rng(child)))

    def _reservoir(self, draws, r: int, q: int):
        """An empty reservoir: of one binary problem, or of all of them."""
        return (SharedReservoir if self.shared else Reservoir)(draws, r, q, LOSSES[self.loss])

    def _finish(self) -> None:
        """Read the ensemble and the counts off the trained reservoirs."""
        ensemble = StumpEnsemble.of([learners for reservoir, *_ in self._problems for learners in reservoir.problems])
        if self._binner is not None:
            ensemble.thresholds = self._binner.thresholds(ensemble.features, ensemble.thresholds)
        self.ensemble_ = ensemble
        reservoirs = [reservoir for reservoir, *_ in self._problems]
        self.staged_samples_drawn_ = np.sum([reservoir.drawn for reservoir in reservoirs], axis=0)
        self.staged_train_seconds_ = np.sum([reservoir.seconds for reservoir in reservoirs], axis=0)
        self.samples_drawn_per_problem_ = [reservoir.draws.drawn for reservoir in reservoirs]
        self.samples_drawn_ = sum(self.samples_drawn_per_problem_)
        self.peak_samples_held_ = max(reservoir.draws.peak_held for reservoir in reservoirs)
        self.covariance_restarts_ = sum(getattr(strategy, "restarts", 0) for _, strategy, _ in self._problems)
        if not self.warm_start:
            del self._problems, self._binner

    def _make_strategy(self):
        module, name, wanted = STRATEGIES[self.strategy]
        cls = getattr(importlib.import_module(f".{module}", __package__), name)
        return cls(**{key: getattr(self, key) for key in wanted})

    def _check_parameters(self) -> None:
        parameters.choice(self, "strategy", STRATEGIES)
        parameters.choice(self, "loss", LOSSES)
        parameters.choice(self, "coefficient", RULES)
        parameters.choice(self, "stump_search", SEARCHES)
        parameters.choice(self, "stump_weights", ("uniform", "w"))
        parameters.whole(self, "reservoir_size", "n_estimators", "lattice_size")
        parameters.whole(self, "batch_size", none=True)
        parameters.whole(self, "swap_rounds", least=0)
        parameters.share(self, "shrinkage")
        parameters.bins(self)
        if self.shared and self.balanced:
            raise BoostrunError("shared and balanced: a reservoir for all classes cannot be balanced for each of them")
        if self.shared and self.strategy == "geem_lattice":
            raise BoostrunError("strategy='geem_lattice' has no form for a reservoir shared by all classes")
        if self.shared and self.swap_rounds:
            raise BoostrunError("swap_rounds has no form for a reservoir shared by all classes")
        if not self.ridge >= 0.0:
            raise BoostrunError(f"ridge={self.ridge!r}: a number of at least 0 is needed")
        dims = self.covariance_dims
        if dims not in ("auto", "all") and not (isinstance(dims, (int, np.integer)) and dims >= 1):
            raise BoostrunError(f"covariance_dims={dims!r}: auto, all, or a whole number of at least 1 is needed")


class _SignedFilter:
    """A Filter as one reservoir sees it: labels -1 and +1, real values binned as the model asks.

    Labels are (n,) for one positive class, (n, classes) for several.
    """

    def __init__(self, model: ReservoirBoosting, filter_, positives):
        self.model, self.filter, self.positives = model, filter_, np.asarray(positives)

    @property
    def drawn(self) -> int:
        return self.filter.drawn

    @property
    def peak_held(self) -> int:
        return self.filter.peak_held

    def release(self, n: int) -> None:
        self.filter.release(n)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        if model.balanced:
            samples, labels = self.filter.draw_balanced(n, self.positives[0])
        else:
            samples, labels = self.filter.draw(n)
        if model.stump_search == "histogram" and samples.dtype != np.uint8:
            if model._binner is None:  # the first r + q samples drawn set the bins of all problems
                model._binner = Binner(samples, model.max_bins)  # type: ignore[assignment]
            samples = model._binner.encode(samples)  # type: ignore[attr-defined]
        signs = np.where(labels[:, None] == self.positives, 1.0, -1.0)
        return samples, signs if model.shared else signs[:, 0]
