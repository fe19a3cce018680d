"""Data split over workers, one reservoir each, the ensembles averaged (the paper's future work)."""

from __future__ import annotations

import inspect

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.ensemble import StumpEnsemble
from boostrun.papers.reservoir.boosting import ReservoirBoosting


class SplitBoosting(ReservoirBoosting):
    """``parts`` learners, each with a reservoir of r samples and a part of the data to itself.

    Parameters are those of ReservoirBoosting and ``parts``. The parts are disjoint, of equal size and drawn at random;
    the learners never meet before their scores are averaged, so that each could run on a machine of its own: here they
    run one after the other. The ensemble has ``parts`` times T stumps a class, whose round t holds the t-th stump of
    every learner, and ``staged_train_seconds_`` are those of the slowest learner.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] >= 90, seed=0)
    >>> model = SplitBoosting("wsam", parts=2, reservoir_size=20, n_estimators=5, random_state=0).fit_source(source)
    >>> model.ensemble_.n_rounds, model.peak_samples_held_, model.samples_drawn_
    (10, 40, 280)
    """

    def __init__(self, strategy="geem", *, parts=4, **parameters):
        super().__init__(strategy, **parameters)
        self.parts = parts

    def fit_source(self, source):
        """Train on a source that can be divided, see :meth:`boostrun.data.source.ArraySource.split`."""
        if not hasattr(source, "split"):
            raise BoostrunError(f"a {type(source).__name__} cannot be split among workers")
        self.n_features_in_, self.classes_ = source.n_features, source.class_labels()
        names = inspect.signature(ReservoirBoosting).parameters
        seeds = np.random.SeedSequence(self._entropy()).spawn(self.parts)
        workers = []
        for part, seed in zip(source.split(self.parts), seeds):
            parameters = {name: getattr(self, name) for name in names}
            parameters["random_state"] = int(seed.generate_state(1)[0])
            workers.append(ReservoirBoosting(**parameters).fit_source(part))
        self.ensemble_ = StumpEnsemble.average([worker.ensemble_ for worker in workers])
        rounds = np.repeat(np.arange(self.n_estimators), self.parts)
        self.staged_samples_drawn_ = np.sum([worker.staged_samples_drawn_ for worker in workers], axis=0)[rounds]
        self.staged_train_seconds_ = np.max([worker.staged_train_seconds_ for worker in workers], axis=0)[rounds]
        self.samples_drawn_per_problem_ = [n for worker in workers for n in worker.samples_drawn_per_problem_]
        self.samples_drawn_ = sum(worker.samples_drawn_ for worker in workers)
        self.peak_samples_held_ = max(worker.peak_samples_held_ for worker in workers)
        self.covariance_restarts_ = sum(worker.covariance_restarts_ for worker in workers)
        return self
