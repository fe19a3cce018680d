"""The level of chance."""

from __future__ import annotations

from sklearn.dummy import DummyClassifier


class MajorityClassifier(DummyClassifier):
    """Always the most frequent class: scikit-learn's dummy, in a module of ours so that a digest does not follow all of
    scikit-learn.
    """

    def __init__(self) -> None:
        super().__init__(strategy="most_frequent")
