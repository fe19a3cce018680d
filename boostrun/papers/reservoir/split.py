"""Data split over workers, one reservoir each, the ensembles averaged (the paper's future work)."""

from __future__ import annotations

import warnings

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.keys import SplitReservoirKeys


class SplitReservoirClassifier(SplitReservoirKeys, ReservoirClassifier):
    """``parts`` learners, each with a reservoir of r samples and a part of the data to itself.

    The parts are disjoint, of equal size and drawn at random; the learners never meet before their scores are averaged,
    so that each could run on a machine of its own: here they run one after the other. The ensemble has ``parts`` times
    T weak learners a class, whose round t holds the t-th of every learner, and ``staged_train_seconds_`` are those of
    the slowest learner. Every part needs samples of every class: there are no more parts than samples of the rarest
    class, which a warning says. Other attributes are those of
    :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256
    warm_start : bool, of no effect.
    random_state : int, RandomState or None

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] >= 90, seed=0)
    >>> model = SplitReservoirClassifier("wsam", parts=2, reservoir_size=20, n_estimators=5, random_state=0)
    >>> model.fit_source(source).ensemble_.n_rounds, model.peak_samples_held_, model.samples_drawn_
    (10, 40, 280)
    """

    def _fit(self, source, entropy: int):
        """Train on a source that can be divided, see :meth:`boostrun.data.source.ArraySource.split`."""
        self._check_parameters()
        if not callable(getattr(source, "split", None)):
            raise BoostrunError(f"a {type(source).__name__} cannot be split among workers")
        self.classes_, counts = np.unique(source.labels, return_counts=True)
        parts = min(self.parts, int(counts.min()))
        if parts < self.parts:
            warnings.warn(
                f"parts={self.parts}, but the rarest class has {parts} samples: the data are split into {parts}",
                UserWarning,
                stacklevel=3,
            )
        seeds = np.random.SeedSequence(entropy).spawn(parts)
        workers = []
        for part, seed in zip(source.split(parts), seeds):
            parameters = {name: getattr(self, name) for name in ReservoirClassifier._get_param_names()}
            parameters |= {"random_state": int(seed.generate_state(1)[0]), "warm_start": False}
            workers.append(ReservoirClassifier(**parameters).fit_source(part))
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
