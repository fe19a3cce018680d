"""Learners of streams: classifiers for river and scikit-learn that learn one example at a time.

The classes of all methods that follow a stream, of our papers and of installed ones, and further learners of papers
(``Paper.streams``). Each is a :class:`boostrun.methods.stream_learner.StreamLearner` and is imported on first use. They
do not need river; if it is installed, they are classifiers of river:

>>> from river import base, datasets, evaluate, metrics, preprocessing
>>> from boostrun.streams import IBoostClassifier
>>> model = preprocessing.StandardScaler() | IBoostClassifier(n_window=100, budget=20)
>>> isinstance(model, base.Classifier)
True
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.8
True
"""

from __future__ import annotations

import importlib


def _learners() -> dict[str, str]:
    """Class -> module."""
    from boostrun.config import catalogue

    targets = (method.target.partition(":") for method in catalogue.methods().values() if "stream" in method.inputs)
    found = {name: where for where, _, name in targets}
    for paper in catalogue.papers().values():
        found |= paper.streams
    return found


def __getattr__(name: str):
    if name == "__all__":
        return sorted(_learners())
    where = None if name.startswith("_") else _learners().get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(where), name)


def __dir__() -> list[str]:
    return sorted(_learners())
