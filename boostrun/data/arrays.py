"""Data sets of numbers: an .npz file of the user's, scikit-learn's digits, UCI's tables."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.data.dataset import Parts, chosen_classes, stratified
from boostrun.data.files import given_file, reading
from boostrun.errors import BoostrunError, DataMissingError

KEYS = ("x_train", "y_train", "x_test", "y_test")


def places_npz(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return (
        "dataset.path=FILE.npz with the keys x_train, y_train, x_test, y_test, or x and y (split by class); or "
        "FILE.npy with the labels in its last column"
    )


def files_npz(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The file to read; raises DataMissingError if it is missing."""
    return {"data": given_file(options, "path", data_root)}


def has_test_part_npz(options: Mapping, data_root: Path) -> bool:
    """Whether the file holds a test part."""
    import zipfile

    with (
        contextlib.suppress(OSError, zipfile.BadZipFile),
        zipfile.ZipFile(given_file(options, "path", data_root)) as archive,
    ):
        return {f"{key}.npy" for key in KEYS} <= set(archive.namelist())
    return False


def read_npz(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the file; the last column of a table (n, d + 1) in .npy are the labels."""
    path = given_file(options, "path", data_root)
    if path.suffix.lower() != ".npy":
        return read_npz_file(path)
    with reading(path, "an .npy file"):
        table = np.load(path, allow_pickle=False)
    if table.ndim != 2 or table.shape[1] < 2:
        raise BoostrunError(f"{path} has the shape {table.shape}; samples are rows whose last column is the label")
    return Parts(table[:, :-1], table[:, -1])


def read_npz_file(path: Path) -> Parts:
    """The four arrays (or x and y) of an .npz file.

    Raises BoostrunError for another kind of file, a damaged one, other keys, and pickled objects.
    """
    # Opened here: NumPy does not close a damaged file.
    with reading(path, "an .npz file"), open(path, "rb") as stream:
        content = np.load(stream, allow_pickle=False)
        if not isinstance(content, np.lib.npyio.NpzFile):
            raise BoostrunError(f"{path} is a single array; an .npz file with the keys {', '.join(KEYS)} is expected")
        with content:
            keys = KEYS if all(key in content.files for key in KEYS) else ("x", "y")
            if not all(key in content.files for key in keys):
                raise BoostrunError(
                    f"{path} has the keys {', '.join(content.files) or '(none)'}; "
                    f"expected: {', '.join(KEYS)}, or x and y"
                )
            return Parts(*(content[key] for key in keys))  # type: ignore[arg-type]


# -- digits: scikit-learn's copy of UCI's hand-written digits, 1,797 images of 8x8 with values 0..16


def places_digits(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return "nothing to fetch: the data ship with scikit-learn"


def files_digits(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The file to read, found without the second that an import of scikit-learn takes."""
    spec = importlib.util.find_spec("sklearn")
    path = Path(spec.origin).parent / "datasets" / "data" / "digits.csv.gz" if spec and spec.origin else None
    if path is None or not path.is_file():
        raise BoostrunError("dataset=digits needs scikit-learn with its data files: pip install scikit-learn")
    return {"digits.csv.gz": path}


def read_digits(options: Mapping, data_root: Path) -> Parts:
    """The images, uint8, and their digits."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return Parts(digits.images.astype(np.uint8), digits.target.astype(np.int64))


# -- UCI's text tables Pendigits, StatLog, Isolet and Letter, in files below ``uci/`` of the data root

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
        """The files that are needed and their places, as a clause of a sentence."""
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
