"""Raw pixels or columns, flattened; their thresholds as candidate features, from the same bank; and exact columns.

`boostrun.features.build` compares columns as float32, which keeps seven digits. If the bins of a column of a table
need more, by the samples that edges are fitted on, the build gets the column's codes, made here from float64 edges.
These edges lie in the bank's `fitted.npz`; `boostrun.methods.preparation.edges_of` joins them with the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

MISSING = True
_PIECE = 2**22  # values that are compared at a time


class Raw:
    """Flattened pixels (row by row, channels last) or the columns of a table.

    >>> Raw({})(np.zeros((2, 8, 8), np.uint8)).shape
    (2, 64)
    """

    name = "raw"

    def __init__(self, options: Mapping):
        pass

    def fit(self, images: np.ndarray) -> Raw:
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(images.reshape(len(images), -1), dtype=np.float32)

    def describe(self) -> str:
        return "raw pixels or columns, flattened"


class Stumps(Raw):
    """Like `Raw`."""

    def describe(self) -> str:
        return "thresholds of raw pixels or columns"


class ExactColumns(Raw):
    """Like `Raw`, with codes in place of the columns whose bins need float64.

    Parameters
    ----------
    raw : Raw
    bins, bin_samples : int, as in the features config
    missing : (m,) int64 or None, columns with missing values, see `boostrun.data.dataset`

    Attributes
    ----------
    columns_ : (c,) int64, the columns that are codes, after `fit`; edges_ : (c, bins - 1) float64, their edges

    >>> from boostrun.features.store import NoJournal
    >>> x = np.array([[1.7e12, 0.5], [1.7e12 + 1, 2.5], [1.7e12 + 2, 4.5]])
    >>> exact = ExactColumns(Raw({}), 256, 10000, None)
    >>> exact.saved = NoJournal()
    >>> exact.fit(x)(x).tolist()
    [[0.0, 0.5], [1.0, 2.5], [2.0, 4.5]]
    """

    saved: Any

    def __init__(self, raw: Raw, bins: int, bin_samples: int, missing: np.ndarray | None):
        self.raw, self.bins, self.bin_samples = raw, bins, bin_samples
        self.missing = np.empty(0, np.int64) if missing is None else missing

    def fit(self, x: np.ndarray) -> ExactColumns:
        """Find the columns of training samples (n, d) whose bins need float64, and fit their edges."""
        found = dict(self._found(x)) if x.dtype == np.float64 and x.ndim == 2 else {}
        self.columns_ = np.array([*found], np.int64)
        self.edges_ = np.array([*found.values()], np.float64).reshape(len(found), self.bins - 1)
        if found:
            self.saved.beside("fitted", **self._both_sides(x.shape[1]))
        return self

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(n, d) float32 of samples (n, d); NaN stays NaN."""
        out = self.raw(x)
        if len(self.columns_):
            values = x[:, self.columns_]
            out[:, self.columns_] = np.where(np.isnan(values), np.nan, _codes(values, self.edges_))
        return out

    def describe(self) -> str:
        """The description by the pipeline of all columns."""
        return self.raw.describe()

    def _found(self, x: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        from boostrun.features.build import subset  # not above: the key of a bank needs this module without kernels
        from boostrun.kernels.stumps import needs_double

        chosen = subset(len(x), self.bin_samples)
        step = max(1, _PIECE // len(chosen))
        for first in range(0, x.shape[1], step):
            for column, values in enumerate(x[chosen, first : first + step].T, first):
                present = np.sort(values[~np.isnan(values)])
                edges = np.full(self.bins - 1, np.inf)
                if needs_double(present, edges[: self.bins - 2 if column in self.missing else None]):
                    yield column, edges

    def _both_sides(self, width: int) -> dict[str, np.ndarray]:
        """The columns and their edges with those of missing values, and the copies of such columns."""
        edges = self.edges_.copy()
        gaps = np.isin(self.columns_, self.missing)
        edges[gaps] = np.roll(self.edges_[gaps], 1, axis=1)
        edges[gaps, 0] = np.finfo(np.float32).min
        copies = width + np.searchsorted(self.missing, self.columns_[gaps])
        return {
            "columns": np.concatenate([self.columns_, copies]),
            "edges": np.concatenate([edges, self.edges_[gaps]]),
        }  # fmt: skip


def _codes(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(n, d) uint8 codes of values (n, d) of the dtype of the edges (d, bins - 1)."""
    from boostrun.kernels.stumps import quantise

    codes = np.empty(values.shape[::-1], np.uint8)
    quantise(np.ascontiguousarray(values), edges, codes)
    return codes.T
