"""The first few classes of a data set along a random order of all of them."""

from __future__ import annotations

import numpy as np

from boostrun.data.dataset import Parts
from boostrun.errors import BoostrunError


def chosen(names: list[str], count: int | None, seed: int, dataset: str) -> list[str]:
    """The first ``count`` classes of the random order number ``seed``, sorted as ``names`` are; all of them for None.

    A larger count with the same seed adds classes and drops none. Raises BoostrunError for more than there are.

    >>> chosen(["a", "b", "c"], 2, 0, "letters")
    ['a', 'c']
    """
    if count is None:
        return names
    if not 2 <= count <= len(names):
        raise BoostrunError(f"dataset.classes={count}: {dataset} has from 2 to {len(names)} of them")
    first = np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(names))[:count]
    return [names[place] for place in np.sort(first)]


def narrowed(parts: Parts, count: int | None, seed: int, dataset: str) -> Parts:
    """``parts`` with a split of their own, left with the samples of the classes :func:`chosen`."""
    if count is None:
        return parts
    kept = chosen(sorted(set(parts.y_train.tolist())), count, seed, dataset)
    train, test = np.isin(parts.y_train, kept), np.isin(parts.y_test, kept)  # type: ignore[arg-type]
    return Parts(parts.x_train[train], parts.y_train[train], parts.x_test[test], parts.y_test[test])  # type: ignore[index]
