"""Reservoir boosting that asks for a label only after it has chosen to keep a sample (the paper's future work).

The strategies are the same; what they are told of a sample whose label is not known is a guess: the label's sign by the
ensemble so far, and the weight to be expected if the ensemble's probability p = 1 / (1 + exp(-F)) were right,
p w(F) + (1 - p) w(-F). GEEM needs labels for nothing else, and Max becomes uncertainty sampling.
"""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.weak_learner import LOSSES, WeakLearner
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.loop import Reservoir
from boostrun.papers.reservoir.strategies import Batch, Strategy, checked


class ActiveReservoir(Reservoir):
    """A :class:`boostrun.papers.reservoir.loop.Reservoir` that looks at the label of a sample only once it is kept.

    ``asked`` holds the labels asked for by the end of each round. Samples that are let go unasked cost no label.
    """

    def __init__(self, draws, r: int, q: int, loss, learner: WeakLearner):
        super().__init__(draws, r, q, loss, learner)
        self.known = np.zeros(r + q, bool)
        self.asked: list[int] = []

    def _select(self, strategy: Strategy, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        self.known &= self.arrived < len(self.asked)  # whoever arrived since the last choice is new
        guesses = np.where(self.scores > 0.0, 1.0, -1.0)
        guesses[self.scores == 0.0] = rng.choice([-1.0, 1.0], np.count_nonzero(self.scores == 0.0))
        probability = 1.0 / (1.0 + np.exp(-self.scores))
        expected = probability * self.loss.weights(self.scores) + (1.0 - probability) * self.loss.weights(-self.scores)
        labels = np.where(self.known, self.labels, guesses)
        true = self.masses * self.loss.weights(self.labels * self.scores)
        weights = np.where(self.known, true, self.masses * expected)
        batch = Batch(self.samples, labels, weights, self.arrived, self.scores, self.masses)
        kept, corrected = checked(strategy(batch, self.r, rng), (self.r,), self.r + self.q)
        if strategy.carry_mass:
            self._carry_mass(kept, corrected, weights[kept])
        self.asked.append((self.asked[-1] if self.asked else 0) + np.count_nonzero(~self.known[kept]))  # type: ignore[arg-type]
        self.known[kept] = True
        # what a kept sample stands for was decided by its guess; its own weight is known now
        share = np.divide(true[kept], weights[kept], out=np.ones(self.r), where=weights[kept] > 0.0)
        return kept, corrected * share


class ActiveReservoirClassifier(ReservoirClassifier):
    """Reservoir boosting by labels asked for.

    Parameters are those of :class:`boostrun.papers.reservoir.classifier.ReservoirClassifier`, of which neither
    ``balanced`` nor ``shared`` may be set: both need labels that nobody has asked for. One against the rest, each class
    has a reservoir and asks questions of its own: "is it this class?" is one label.

    Attributes
    ----------
    labels_asked_ : int, over all classes.
    staged_labels_asked_ : (T,) array, by the end of each round.

    The others are those of ReservoirClassifier.

    >>> from boostrun.data.source import ArraySource
    >>> samples = np.arange(200, dtype=np.uint8)[:, None]
    >>> source = ArraySource(samples, samples[:, 0] >= 90, seed=0)
    >>> model = ActiveReservoirClassifier("max", reservoir_size=20, n_estimators=5, random_state=0).fit_source(source)
    >>> model.samples_drawn_, 20 < model.labels_asked_ < 140
    (140, True)
    """

    def _reservoir(self, draws, r: int, q: int, numbers: list[int]):
        return ActiveReservoir(draws, r, q, LOSSES[self.loss], self._learner)

    def _finish(self) -> None:
        self.staged_labels_asked_ = np.sum([reservoir.asked for reservoir, *_ in self._problems], axis=0)
        self.labels_asked_ = int(self.staged_labels_asked_[-1])
        super()._finish()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.balanced or self.shared:
            raise BoostrunError("balanced and shared need the labels of samples that nobody has asked for yet")
