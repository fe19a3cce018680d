"""Learners of streams: classifiers of river's kind, and of scikit-learn's, that learn one example at a time.

The classes of all methods that follow a stream, our papers' and those of papers installed beside, and what papers bring
besides (``Paper.streams``). Each is a :class:`boostrun.methods.stream_learner.StreamLearner` and is imported when it is
first asked for; river is not needed, and where it is there, ours are classifiers of its own:

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
