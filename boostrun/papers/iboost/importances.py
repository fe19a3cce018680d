"""How much a committee relies on each feature: |coefficient| of the stumps that look at it, or of the trees that do."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from boostrun.kernels.hoeffding import FEATURE, LEFT, RIGHT, HoeffdingTrees
from boostrun.methods.probabilities import width_of
from boostrun.papers.iboost.holdout import CommitteeMembers


def of_committee(classifier) -> np.ndarray | str:
    """Of one committee."""
    return _of_stumps(classifier, lambda: [classifier.members()])


def of_iboost(classifier) -> np.ndarray | str:
    """Of one committee, or of one a class."""
    return _of_stumps(classifier, classifier._committees)


def of_trees(classifier) -> np.ndarray | str:
    """Of Hoeffding trees: |coefficient| of each, shared out to its splits, each half as much as the one above it."""
    out = np.zeros(classifier.n_features_in_)
    made: Iterable[CommitteeMembers] = classifier._committees()
    for members in made:
        for model, coefficient in zip(members.models[: members.size], members.coefficients):
            _add_splits(classifier._trees, int(classifier._trees.roots[int(model[0])]), abs(coefficient), out)
    return out


def _add_splits(trees: HoeffdingTrees, node: int, share: float, out: np.ndarray) -> None:
    """Add ``share`` to the feature of a split, and half of it below on either side; a leaf looks at no feature."""
    waiting = [(node, share)]
    while waiting:
        node, share = waiting.pop()
        if trees.nodes[node, LEFT] >= 0:
            out[trees.nodes[node, FEATURE]] += share
            waiting += [(int(trees.nodes[node, side]), share / 2) for side in (LEFT, RIGHT)]


def _of_stumps(classifier, committees) -> np.ndarray | str:
    if classifier.base != "stump":
        return f"a classifier with base={classifier.base!r} looks at all features"
    out = np.zeros(width_of(classifier))
    made: Iterable[CommitteeMembers] = committees()
    for members in made:
        features = members.models[: members.size, 0].astype(np.int64)
        out += np.bincount(features, np.abs(members.coefficients[: members.size]), len(out))
    return out
