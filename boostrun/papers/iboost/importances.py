"""How much a committee of stumps relies on each feature: |coefficient| of the stumps that look at it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from boostrun.methods.importances import width_of
from boostrun.papers.iboost.holdout import CommitteeMembers


def of_committee(classifier) -> np.ndarray | str:
    """Of one committee."""
    return _of_stumps(classifier, lambda: [classifier.members()])


def of_iboost(classifier) -> np.ndarray | str:
    """Of one committee, or of one a class."""
    return _of_stumps(classifier, classifier._committees)


def _of_stumps(classifier, committees) -> np.ndarray | str:
    if classifier.base != "stump":
        return f"a classifier with base={classifier.base!r} looks at all features"
    out = np.zeros(width_of(classifier))
    made: Iterable[CommitteeMembers] = committees()
    for members in made:
        features = members.models[: members.size, 0].astype(np.int64)
        out += np.bincount(features, np.abs(members.coefficients[: members.size]), len(out))
    return out
