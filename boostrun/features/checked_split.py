"""The first split of data that may be changed while a bank is built of them: what is kept is of what its key says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from boostrun.features.first_split import FirstSplit
from boostrun.features.store import Journal


class CheckedSplit(FirstSplit):
    """As `FirstSplit`, for a build of the bank ``key``; raises BoostrunError where the data are others by now."""

    def __init__(self, dataset: Mapping, features: Mapping, data_root: Path, cache_root: Path, key: str):
        super().__init__(dataset, features, data_root, cache_root)
        self._key = key if self._is_first else ""

    def images(self, images: np.ndarray) -> np.ndarray:
        """The training images of split 0; `images` are those of the data set itself, read already."""
        if self._is_first:
            return images
        from boostrun.data import changed, load
        from boostrun.features import key_of

        data = load(self._dataset, self._data_root)
        if self._key and key_of(self._dataset, self._features, data.checksum) != self._key:
            raise changed(self._dataset)
        return data.x_train

    @contextmanager
    def kept(self) -> Iterator[Journal]:
        """The journal of what was fitted, locked."""
        from boostrun.data import changed

        with super().kept() as journal:
            key = journal.folder.name
            if self._key and self._key != key:
                raise changed(self._dataset)
            self._key = key
            yield journal
