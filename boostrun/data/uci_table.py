"""What the loaders of UCI's text tables share: named files below ``uci/``, and labels in the first or last column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.data.dataset import Parts
from boostrun.data.files import reading
from boostrun.data.labels import stratified
from boostrun.errors import BoostrunError, DataMissingError

FOLDER = "uci"


class UciTable:
    """A table of numbers with one column of labels and a split of its own, in files without a line of names.

    Parameters
    ----------
    name : str, of the data set
    train : str, the file with the training samples, below ``uci/``
    test : str or int
        The file with the test samples; or how many of the first rows of ``train`` are for training, the rest for tests.
    width : int, attributes
    separator : str, between two columns, as pandas takes it
    label_first : bool, the label is the first column, not the last
    """

    def __init__(
        self, name: str, train: str, test: str | int, width: int, separator: str = ",", label_first: bool = False
    ):
        self.name, self.train, self.test, self.width = name, train, test, width
        self.separator, self.label_first = separator, label_first
        self.needed = [train] if isinstance(test, int) else [train, test]

    def places(self, options: Mapping, data_root: Path) -> str:
        """Which file belongs where, as a clause for a sentence."""
        where = " and ".join(str(Path(data_root) / FOLDER / needed) for needed in self.needed)
        return f"{where}, as the UCI repository has {'it' if len(self.needed) == 1 else 'them'}"

    def files(self, options: Mapping, data_root: Path) -> dict[str, Path]:
        """The files that are read, by logical name; DataMissingError says which belongs where."""
        found = {needed: Path(data_root) / FOLDER / needed for needed in self.needed}
        absent = [needed for needed, path in found.items() if not path.is_file()]
        if absent:
            raise DataMissingError(
                f"dataset={self.name} is not there ({' and '.join(absent)}); it belongs at "
                f"{self.places(options, data_root)}"
            )
        return found

    def read(self, options: Mapping, data_root: Path) -> Parts:
        """The arrays of the data set: attributes (n, width) float64, labels as they stand.

        With ``split`` 0 they have the published split, with another number a random one of all samples, stratified, of
        the same sizes but for rounding.
        """
        parts = self._published(self.files(options, data_root))
        return _split_again(parts, options["split"]) if options["split"] else parts

    def _published(self, found: Mapping[str, Path]) -> Parts:
        x, y = self._table(found[self.train])
        if not isinstance(self.test, int):
            return Parts(x, y, *self._table(found[self.test]))
        if len(x) <= self.test:
            raise BoostrunError(
                f"{found[self.train]} holds {len(x)} rows; dataset={self.name} has its first {self.test} for training "
                "and the rest for tests"
            )
        return Parts(x[: self.test], y[: self.test], x[self.test :], y[self.test :])

    def _table(self, path: Path) -> tuple[np.ndarray, np.ndarray]:
        import pandas

        with reading(path, "a table of text"):
            frame = pandas.read_csv(path, sep=self.separator, header=None, skipinitialspace=True)
        if frame.shape[1] != self.width + 1:
            raise BoostrunError(
                f"{path} has {frame.shape[1]} columns; dataset={self.name} has {self.width} attributes and a label"
            )
        label = frame.columns[0 if self.label_first else -1]
        attributes = frame.drop(columns=label)
        odd = [column for column, dtype in attributes.dtypes.items() if dtype.kind not in "iuf"]
        if odd:
            raise BoostrunError(f"{path} has text in column {odd[0] + 1}; attributes must be numbers")
        return attributes.to_numpy(dtype=np.float64), frame[label].to_numpy()


def _split_again(parts: Parts, number: int) -> Parts:
    x, y = np.concatenate([parts.x_train, parts.x_test]), np.concatenate([parts.y_train, parts.y_test])
    train, test = stratified(y, len(parts.y_test) / len(y), number)  # type: ignore[arg-type]
    return Parts(x[train], y[train], x[test], y[test])
