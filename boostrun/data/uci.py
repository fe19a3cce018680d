"""UCI's text tables Pendigits, StatLog, Isolet and Letter, in files below ``uci/`` of the data root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.data.dataset import Parts, chosen_classes, stratified
from boostrun.data.files import reading
from boostrun.errors import BoostrunError, DataMissingError

FOLDER = "uci"


class UciTable:
    """A table of numbers with a column of labels and a published split, in files without a line of names.

    Parameters
    ----------
    name : str, of the data set
    train : str, the file of the training samples
    test : str or int
        The file of the test samples; or the number of training rows at the start of ``train``, the rest for tests.
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
        """Which file belongs where, as a clause of a sentence."""
        where = " and ".join(str(Path(data_root) / FOLDER / needed) for needed in self.needed)
        return f"{where}, as the UCI repository has {'it' if len(self.needed) == 1 else 'them'}"

    def files(self, options: Mapping, data_root: Path) -> dict[str, Path]:
        """The files to read, by name; raises DataMissingError if one is missing."""
        found = {needed: Path(data_root) / FOLDER / needed for needed in self.needed}
        absent = [needed for needed, path in found.items() if not path.is_file()]
        if absent:
            raise DataMissingError(
                f"dataset={self.name} is not there ({' and '.join(absent)}); it belongs at "
                f"{self.places(options, data_root)}"
            )
        return found

    def read(self, options: Mapping, data_root: Path) -> Parts:
        """The attributes (n, width) float64 and the labels as in the file.

        ``split`` 0 is the published split. Another number is a random stratified split of all samples, of the same
        sizes up to rounding.
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


# Alpaydin & Alimoglu: pen strokes of ten digits as 8 points, 7,494 + 3,498 samples of 16 integers
_PENDIGITS = UciTable("pendigits", "pendigits.tra", "pendigits.tes", width=16)
places_pendigits, files_pendigits, read_pendigits = _PENDIGITS.places, _PENDIGITS.files, _PENDIGITS.read

# Landsat: 3x3 pixels of four bands, labels 1-5 and 7, 4,435 + 2,000 samples of 36 integers
_STATLOG = UciTable("statlog", "sat.trn", "sat.tst", width=36, separator=r"\s+")
places_statlog, files_statlog, read_statlog = _STATLOG.places, _STATLOG.files, _STATLOG.read

# Cole & Fanty: spoken letters, 26 classes, parts 1-4 for training and 5 for tests, samples of 617 numbers
_ISOLET = UciTable("isolet", "isolet1+2+3+4.data", "isolet5.data", width=617)
places_isolet, files_isolet, read_isolet = _ISOLET.places, _ISOLET.files, _ISOLET.read

# Frey & Slate: 20,000 printed capitals as 16 integers, the first 16,000 for training
_LETTER = UciTable("letter", "letter-recognition.data", 16000, width=16, label_first=True)
places_letter, files_letter = _LETTER.places, _LETTER.files


def read_letter(options: Mapping, data_root: Path) -> Parts:
    """The published or a random split, with the first ``classes`` classes of the random order ``class_order``."""
    return _narrowed(_LETTER.read(options, data_root), options["classes"], options["class_order"], "letter")


def _narrowed(parts: Parts, count: int | None, seed: int, dataset: str) -> Parts:
    """``parts`` reduced to the samples of the classes :func:`.chosen_classes`."""
    if count is None:
        return parts
    kept = chosen_classes(sorted(set(parts.y_train.tolist())), count, seed, dataset)
    train, test = np.isin(parts.y_train, kept), np.isin(parts.y_test, kept)  # type: ignore[arg-type]
    return Parts(parts.x_train[train], parts.y_train[train], parts.x_test[test], parts.y_test[test])  # type: ignore[index]
