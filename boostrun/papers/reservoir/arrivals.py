"""``partial_fit`` of the reservoirs and of the online boosters: the loops of ``fit`` on samples as they arrive.

``fit`` draws samples from a Filter(); here a Filter hands out what has arrived. A reservoir draws its fresh samples at
the end of a round. That draw waits until they are there (:class:`_Refill`), so that at most r + q samples are held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.data.source import Filter
from boostrun.errors import BoostrunError
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.fitting import Arrivals
from boostrun.methods.stumps import FIELDS, StumpEnsemble, StumpLearner
from boostrun.papers.reservoir.classifier import RULES, ReservoirClassifier
from boostrun.papers.reservoir.geem import Geem
from boostrun.papers.reservoir.online import Bisc
from boostrun.papers.reservoir.online_classifier import _METHODS, _in_units_of_x

_LEAST_LOOK = 64  # samples that are looked at together, at least


class ArrivedBatch:
    """A batch that fills up with the next samples that arrive, half of them (rounded up) of the class ``positive``, if
    there is one. ``looked_at`` counts the samples that came until it was complete.
    """

    def __init__(self, positive: Any = None):
        self.positive = positive
        self.want(0)

    def want(self, n: int) -> None:
        """Begin an empty batch."""
        self.missing = {True: n, False: 0} if self.positive is None else {True: (n + 1) // 2, False: n // 2}
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.looked_at = 0

    @property
    def complete(self) -> bool:
        """Whether the batch has all its samples."""
        return not any(self.missing.values())

    def look(self, samples: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> int:
        """Take what is missing; returns the number of samples looked at, all unless the batch is complete."""
        if self.complete:
            return 0
        kinds = np.ones(len(labels), bool) if self.positive is None else labels == self.positive
        taken = np.zeros(len(labels), bool)
        for kind in (True, False):
            places = np.flatnonzero(kinds == kind)[: self.missing[kind]]
            taken[places] = True
            self.missing[kind] -= len(places)
        looked_at = int(np.flatnonzero(taken)[-1]) + 1 if self.complete else len(labels)
        self.parts.append((samples[taken], labels[taken], weights[taken]))
        self.looked_at += looked_at
        return looked_at


class ArrivedFilter(Filter):
    """A Filter that hands out a batch that is complete."""

    def __init__(self, batch: ArrivedBatch, capacity: int):
        super().__init__(None, capacity, None)  # type: ignore[arg-type]
        self.batch = batch
        self.weights = np.empty(0)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The batch, a copy."""
        self._hold(n)
        self.drawn += self.batch.looked_at
        samples, labels, self.weights = map(np.concatenate, zip(*self.batch.parts))
        return samples, labels

    def draw_balanced(self, n: int, positive) -> tuple[np.ndarray, np.ndarray]:
        """The batch, which is balanced already."""
        return self.draw(n)


class ArrivedSource:
    """Samples that have arrived, as a source; stream k hands out the k-th of ``batches``, or the only one."""

    families = None

    def __init__(self, classes: np.ndarray, n_features: int, batches: Sequence[ArrivedBatch]):
        self.classes, self.n_features, self.batches = classes, n_features, batches

    def class_labels(self) -> np.ndarray:
        """The distinct labels, sorted."""
        return self.classes

    def open(self, capacity: int, stream: int = 0) -> ArrivedFilter:
        """A Filter whose user may hold ``capacity`` samples."""
        return ArrivedFilter(self.batches[min(stream, len(self.batches) - 1)], capacity)


class _Refill:
    """Stands for ``_refill`` of a reservoir, and puts it off until :meth:`now`."""

    def __init__(self, reservoir: Any):
        self.reservoir, self.due = reservoir, ()

    def __call__(self, *due: Any) -> None:
        self.due = due

    def now(self) -> None:
        type(self.reservoir)._refill(self.reservoir, *self.due)


class ReservoirArrivals(Arrivals):
    """A reservoir for each binary problem, or one for all; ``rounds`` counts those done."""

    model: ReservoirClassifier

    def __init__(self, model: Any):
        super().__init__(model)
        self.r = model.reservoir_size
        self.q = self.r if model.batch_size is None else model.batch_size
        self.problems: list[tuple[Any, Any, np.random.Generator]] = []
        self.batches: list[ArrivedBatch] = []
        self.entropy = model._entropy()
        self.rounds = self.published = 0

    @property
    def first(self) -> int:
        return self.r + self.q

    def learn(self, samples: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> int:
        if not self.batches:
            positives = one_vs_all.problems(self.classes) if self.model.balanced else [None]
            self.batches = [ArrivedBatch(positive) for positive in positives]
            self._want(self.r + self.q)
        at, block = 0, max(_LEAST_LOOK, self.r + self.q)
        while at < len(labels) and self.rounds < self.model.n_estimators:
            some = slice(at, at + block)
            at += max(batch.look(samples[some], labels[some], weights[some]) for batch in self.batches)
            if all(batch.complete for batch in self.batches):
                self._round()
        return at

    def _want(self, n: int) -> None:
        for batch in self.batches:
            batch.want(n)

    def _round(self) -> None:
        model = self.model
        with threadpool_limits(1, user_api="blas"):
            if self.problems:
                for reservoir, *_ in self.problems:
                    reservoir._refill.now()
            else:
                self.problems = [*model._begin(ArrivedSource(self.classes, self.width, self.batches), self.entropy)]
                for reservoir, *_ in self.problems:
                    reservoir._refill = _Refill(reservoir)
            self._want(self.q)
            for reservoir, strategy, rng in self.problems:
                reservoir.boost(1, strategy, RULES[model.coefficient], model.shrinkage, rng)
        self.rounds += 1

    def publish(self) -> None:
        model = self.model
        if not self.rounds:
            model.ensemble_ = nothing_learned(model._own_learner(), self.classes, self.width)
        elif self.published < self.rounds:
            kept = model._binner, model._learner
            model._problems = self.problems
            model._finish()
            model.__dict__.pop("_problems", None)
            model._binner, model._learner = kept
            model.peak_samples_held_ = sum(reservoir.draws.peak_held for reservoir, *_ in self.problems)
            self.published = self.rounds


def nothing_learned(learner: Any, classes: np.ndarray, width: int) -> Any:
    """An ensemble whose scores are 0."""
    idle = learner.idle(np.zeros((1, width), np.uint8))
    return learner.ensemble([[(idle, 0.0)] for _ in one_vs_all.problems(classes)], None)


class SplitArrivals(Arrivals):
    """Reservoirs that never meet: of ``parts`` samples in a row each gets one."""

    def __init__(self, model: Any):
        super().__init__(model)
        if model.balanced:
            raise BoostrunError("balanced and parts: reservoirs of one stream would not end their rounds together")
        if model.rounds == "merged":
            raise BoostrunError("rounds=merged: samples that arrive at one place need one reservoir only")
        own = {name: getattr(model, name) for name in ReservoirClassifier._get_param_names()}
        seeds = np.random.SeedSequence(model._entropy()).spawn(model.parts)
        workers = [ReservoirClassifier(**own | {"random_state": int(seed.generate_state(1)[0])}) for seed in seeds]
        self.workers = [ReservoirArrivals(worker) for worker in workers]
        self.waiting: list[tuple[np.ndarray, ...]] = []  # fewer samples than parts

    @property
    def first(self) -> int:
        return len(self.workers) * self.workers[0].first

    def learn(self, *fresh: np.ndarray) -> int:
        parts, before = len(self.workers), sum(len(labels) for _, labels, _ in self.waiting)
        fresh = tuple(map(np.concatenate, zip(*self.waiting, fresh)))
        dealt = len(fresh[1]) // parts * parts
        for k, worker in enumerate(self.workers):
            worker.classes, worker.width = self.classes, self.width
            worker.model.n_estimators = self.model.n_estimators
            used = worker.learn(*(each[k:dealt:parts] for each in fresh))
        self.waiting = [tuple(each[dealt:].copy() for each in fresh)]
        return len(fresh[1]) - before - (dealt - parts * used)

    def publish(self) -> None:
        model, workers = self.model, [worker.model for worker in self.workers]
        if not self.workers[0].rounds:
            model.ensemble_ = nothing_learned(model._own_learner(), self.classes, self.width)
            return
        for worker in self.workers:
            worker.publish()
        ensembles = [worker.ensemble_ for worker in workers]
        model.ensemble_ = type(ensembles[0]).average(ensembles)
        model.samples_drawn_per_problem_ = [n for worker in workers for n in worker.samples_drawn_per_problem_]
        model.samples_drawn_ = sum(worker.samples_drawn_ for worker in workers)
        model.peak_samples_held_ = max(worker.peak_samples_held_ for worker in workers)
        model.covariance_restarts_ = sum(worker.covariance_restarts_ for worker in workers)


class OnlineArrivals(Arrivals):
    """An online booster for each binary problem."""

    weighs = False

    def __init__(self, model: Any):
        super().__init__(model)
        self.origin, self.online = _METHODS[model.method]
        self.fills = self.online is not None and not issubclass(self.online, Bisc)
        self.entropy = model._entropy()
        self.boosters: list[Any] = []
        self.geem: ReservoirArrivals | None = None
        self.drawn, self.peak_held = 0, 1

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        for booster in self.boosters:
            if isinstance(booster, Bisc):  # the last array is the one before it, seen as integers
                *scratch, errors, _ = booster._scratch
                booster._scratch = (*scratch, errors, errors.view(f"i{errors.itemsize}"))

    @property
    def first(self) -> int:
        return {None: 0, "subset": self.model.subset_size, "geem": 2 * self.model.reservoir_size}[self.origin]

    def learn(self, samples: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> int:
        at, positives = 0, one_vs_all.problems(self.classes)
        if not self.boosters:
            at, stumps = self._stumps(positives, samples, labels, weights)
            if stumps is None:
                self.drawn += at
                return at
            seeds = np.random.SeedSequence(self.entropy).spawn(2)[1].spawn(len(positives))
            self.boosters = [
                self.model._booster(self.online, own, self.width, np.random.default_rng(seed))
                for own, seed in zip(stumps, seeds)
            ]
        for booster, positive in zip(self.boosters, positives):
            booster.partial_fit(samples[at:], np.where(labels[at:] == positive, 1.0, -1.0))
        self.drawn += len(labels)
        return len(labels)

    def _stumps(self, positives: list, *fresh: np.ndarray) -> tuple[int, list | None]:
        """The samples that were used, and stumps for each problem, or None if more samples are needed."""
        model = self.model
        if self.origin is None:
            return 0, [None] * len(positives)
        if self.origin == "subset":
            batch = ArrivedBatch()
            batch.want(model.subset_size)
            used = batch.look(*fresh)
            model._draws = np.random.default_rng(np.random.SeedSequence(self.entropy).spawn(3)[2])
            filters, stumps = model._stumps_by_subset(ArrivedSource(self.classes, self.width, [batch]), positives)
            del model._draws
            self.peak_held = filters[0].peak_held
            return used, stumps
        if self.geem is None:
            self.geem = ReservoirArrivals(ReservoirClassifier(
                Geem(), weak_learner=StumpLearner(), reservoir_size=model.reservoir_size,
                n_estimators=model.n_estimators, shrinkage=model.shrinkage, max_bins=model.max_bins,
                random_state=self.entropy,
            ))  # fmt: skip
            self.geem.classes, self.geem.width = self.classes, self.width
        used = self.geem.learn(*fresh)
        self.geem.publish()
        found = self.geem.model.ensemble_
        self.peak_held = self.geem.model.peak_samples_held_
        if self.geem.rounds < self.geem.model.n_estimators:
            model.ensemble_ = found
            return used, None
        self.geem = None
        rows = (StumpEnsemble(*(getattr(found, name)[k : k + 1] for name in FIELDS)) for k in range(found.n_problems))
        return used, [_in_units_of_x(row, None) for row in rows]

    def publish(self) -> None:
        model, problems = self.model, one_vs_all.problems(self.classes)
        if self.boosters:
            model.ensemble_ = StumpEnsemble.of([booster.learners() for booster in self.boosters])
        elif self.geem is None:
            model.ensemble_ = nothing_learned(StumpLearner(), self.classes, self.width)
        model.samples_drawn_per_problem_ = [self.drawn] * len(problems)
        model.samples_drawn_ = self.drawn * len(problems)
        model.peak_samples_held_ = self.peak_held
