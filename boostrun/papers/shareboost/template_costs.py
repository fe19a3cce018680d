"""Multiply-adds of patch templates under masks, counted in three ways (Table 1; section 6 of the specification).

``fitted`` is what a bank of ``features=templates`` keeps: ``filters`` (F, s, s) and ``masks`` (C, h, w); feature number
c F + f belongs to mask c and filter f.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def of_each(fitted: Mapping[str, np.ndarray]) -> np.ndarray:
    """(C F,) int64: of each feature by itself, a window and a product with the mask at each cell that is not masked.

    >>> of_each({"filters": np.ones((2, 7, 7)), "masks": np.array([[[1.0, 0.0], [0.5, 0.2]]])})
    array([150, 150])
    """
    filters, masks = fitted["filters"], fitted["masks"]
    cells = np.count_nonzero(masks, axis=(1, 2))
    return np.repeat((filters[0].size + 1) * cells, len(filters))


def names(fitted: Mapping[str, np.ndarray]) -> list[str]:
    """Each feature in words."""
    count = len(fitted["filters"])
    return [f"filter {r % count} under mask {r // count}" for r in range(count * len(fitted["masks"]))]


def patches_once(fitted: Mapping[str, np.ndarray], chosen: np.ndarray) -> int:
    """Of the features ``chosen`` together, where a filter's response at a position is computed once for all masks."""
    filters, masks = fitted["filters"], fitted["masks"] > 0
    mask, filter_ = np.divmod(chosen, len(filters))
    cells = sum(int(np.count_nonzero(masks[mask[filter_ == f]].any(axis=0))) for f in np.unique(filter_))
    return filters[0].size * cells + int(np.count_nonzero(masks, axis=(1, 2))[mask].sum())


def all_cells(fitted: Mapping[str, np.ndarray], chosen: np.ndarray) -> int:
    """Of the features ``chosen``, each by itself at every position, masked or not."""
    return (fitted["filters"][0].size + 1) * fitted["masks"][0].size * len(chosen)
