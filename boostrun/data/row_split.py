"""Which samples of a data set without a test part of its own are tested on: random ones, whole groups, or the last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostrun.data.labels import stratified
from boostrun.errors import BoostrunError


def parts_of_rows(
    options: Mapping[str, Any], labels: np.ndarray, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train and to test on, as ``split``, ``test_fraction`` and ``split_seed`` of ``options`` say.

    Parameters
    ----------
    labels : ndarray, (n,)
    groups : ndarray of int, (n,) or None, numbered as they appear; for ``split=groups``

    Returns
    -------
    train, test : ndarray of int64, increasing
    """
    fraction, seed = options["test_fraction"], options["split_seed"] or 0  # null: where it is nobody's trial
    if options.get("split") == "time":
        return last(len(labels), fraction)
    return stratified(labels, fraction, seed) if groups is None else whole_groups(labels, groups, fraction, seed)


def last(count: int, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """The last ``fraction`` of ``count`` rows are for tests: at least one, and never all.

    >>> [part.tolist() for part in last(5, 0.3)]
    [[0, 1, 2], [3, 4]]
    """
    first = count - min(max(round(fraction * count), 1), count - 1)
    return np.arange(first), np.arange(first, count)


def whole_groups(labels: np.ndarray, groups: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Split between groups, of each class about ``fraction`` for tests.

    Groups are looked at in random order; one goes to the test part if that brings the shares of the classes nearer to
    ``fraction``, and no class loses its last training sample. Where none does, the smallest that may goes there.

    Raises BoostrunError where every group holds all samples of some class.

    >>> train, test = whole_groups(np.array([0, 1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 2]), 0.34, seed=0)
    >>> len(train), len(test)
    (4, 2)
    """
    _, classes = np.unique(labels, return_inverse=True)
    total = np.bincount(classes)
    order = np.argsort(groups, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    taken, chosen, smallest = np.zeros(len(total)), [], None
    for group in np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(rows_of)):
        counts = np.bincount(classes[rows_of[group]], minlength=len(total))
        if ((taken + counts) >= total).any():
            continue
        if smallest is None or counts.sum() < len(rows_of[smallest]):
            smallest = group
        missing = fraction - taken / total
        if np.abs(missing - counts / total).sum() < np.abs(missing).sum():
            taken += counts
            chosen.append(group)
    if smallest is None:
        raise BoostrunError(
            f"dataset.split=groups: each of the {len(rows_of)} groups holds all samples of some class, so none can be "
            "tested on"
        )
    is_test = np.isin(groups, chosen or [smallest])
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)
