"""What is fitted once for all random splits of a data set: on its split 0, kept beside the banks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from boostrun.features.store import Journal, locked, make_folder, out_of_room


class FirstSplit:
    """The split 0 of a data set (`split_seed=0`; the data set itself where it has no such key), for one pipeline.

    What is fitted on it lies in `<cache_root>/codebooks/<key>/`, where key is that of the bank of split 0.

    Parameters
    ----------
    dataset, features : mappings with `name` and its keys
    data_root, cache_root : Path
    """

    def __init__(self, dataset: Mapping, features: Mapping, data_root: Path, cache_root: Path):
        self._is_first = not dataset.get("split_seed")
        self._dataset = dict(dataset) if self._is_first else {**dataset, "split_seed": 0}
        self._features, self._data_root, self._cache_root = features, Path(data_root), Path(cache_root)

    def images(self, images: np.ndarray) -> np.ndarray:
        """The training images of split 0; `images` are those of the data set itself, read already."""
        if self._is_first:
            return images
        from boostrun.data import load

        return load(self._dataset, self._data_root).x_train

    @contextmanager
    def kept(self) -> Iterator[Journal]:
        """The journal of what was fitted, locked: of processes at work on several splits, one fits, the others wait."""
        from boostrun.features import bank_key

        key = bank_key(self._dataset, self._features, self._data_root)
        folder = self._cache_root / "codebooks" / key
        make_folder(folder.parent)
        with locked(folder), out_of_room(folder):
            yield Journal(folder, key)
