"""Our stream learners among river's: the type that its pipelines, metrics and checks ask for."""

from __future__ import annotations

from collections.abc import Iterator

from river import base

from boostrun.config import catalogue
from boostrun.methods.declaration import obtain
from boostrun.methods.scikit_learn import clone
from boostrun.methods.stream_learner import StreamLearner


class RiverLearner(base.Classifier):
    """A stream learner as a classifier of river; needs river, ``pip install 'boostrun[streams]'``.

    Parameters
    ----------
    learner : StreamLearner
        Copied untrained; it is not changed.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from boostrun import IBoostClassifier
    >>> model = RiverLearner(IBoostClassifier(n_window=100, budget=20))
    >>> bool(evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.8)
    True
    """

    def __init__(self, learner: StreamLearner):
        self.learner = learner
        self._model = clone(learner)

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict]:
        """Any stream learner that is declared, untrained."""
        learning = (obtain(method.target) for method in catalogue.methods().values() if "stream" in method.inputs)
        yield {"learner": next(found for found in learning if issubclass(found, StreamLearner))()}

    def learn_one(self, x: dict, y) -> None:
        """Learn one example; see :meth:`StreamLearner.learn_one`."""
        self._model.learn_one(x, y)

    def predict_one(self, x: dict, **kwargs):
        """The label of one example; None before the first has been learnt."""
        return self._model.predict_one(x)
