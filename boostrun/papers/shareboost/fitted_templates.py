"""Patch templates as they were fitted, without what they were fitted on: for models that are read from a file."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost.templates import Templates, _tiled


class FittedTemplates(Templates):
    """Features of filters (F, patch, patch), masks (C, h, w) and maxima (C F,), all float32, as `Templates.fitted`.

    >>> ones = np.ones((1, 2, 2), np.float32)
    >>> FittedTemplates(ones, ones, np.full(1, 4.0, np.float32))(np.full((1, 3, 3), 255, np.uint8)).tolist()
    [[1.0]]
    """

    def __init__(self, filters: np.ndarray, masks: np.ndarray, maxima: np.ndarray):
        self.options = {"patch": filters.shape[1], "centres": len(filters), "masks": len(masks)}
        self.n_jobs, self.progress = 1, False
        self._tiles = _tiled(filters.reshape(len(filters), -1))
        self._masks = masks.reshape(len(masks), -1)
        self._factor = np.divide(1, maxima, out=np.zeros_like(maxima), where=maxima > 0)
