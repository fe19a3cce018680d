"""Groups of columns that are taken together, as when they cost the same to compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.pools.dense import DensePool
from boostrun.papers.shareboost.pools.pool import Pool, checksum


class GroupPool(Pool):
    """Groups of columns of ``samples`` (n, d); a group's score is the sum of its columns' (section 3).

    ``groups``: lists of column numbers; a column may be in several. Raises BoostrunError for a group that is empty or
    names a column that is not there.

    >>> pool = GroupPool(np.array([[1.0, 0.0, 1.0], [-1.0, 2.0, 1.0]]), [[0, 1], [2]])
    >>> pool.scores(np.array([[0.5, -0.5], [-0.5, 0.5]]))
    array([2., 0.])
    """

    kind = "columns"

    def __init__(self, samples: np.ndarray, groups: Sequence[Sequence[int]]):
        self._dense = DensePool(samples)
        self.groups = [np.asarray(group, np.int64).ravel() for group in groups]
        self.n_samples, self.n_candidates, self.rounding = len(samples), len(self.groups), self._dense.rounding
        if not self.groups:
            raise BoostrunError("groups=[]: at least one group of columns is needed")
        for number, group in enumerate(self.groups):
            if len(group) == 0:
                raise BoostrunError(f"group {number} holds no column")
            if group.min() < 0 or group.max() >= samples.shape[1]:
                raise BoostrunError(f"group {number} names a column that is not one of 0 to {samples.shape[1] - 1}")
        self._members = np.concatenate(self.groups)
        self._starts = np.cumsum([0, *map(len, self.groups)])

    def scores(self, residuals, units=None, normalised=False):
        if units is None:
            return np.add.reduceat(self._dense.scores(residuals, None, normalised)[self._members], self._starts[:-1])
        groups = [self.groups[unit] for unit in units]
        members, place = np.unique(np.concatenate(groups), return_inverse=True)
        starts = np.cumsum([0, *map(len, groups)])[:-1]
        return np.add.reduceat(self._dense.scores(residuals, members, normalised)[place], starts)

    def columns(self, candidate):
        return self._dense.samples[:, self.groups[candidate]].astype(np.float64)

    def feature(self, candidate):
        return {"index": self.groups[candidate]}

    def describe(self, candidate):
        return " ".join(f"x{column}" for column in self.groups[candidate])

    def reaches(self):
        return np.add.reduceat(self._dense.reaches()[self._members], self._starts[:-1])

    def fingerprint(self):
        return checksum(self._dense.samples, self._members, self._starts)
