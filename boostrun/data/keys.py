"""Keys of the data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from boostrun.config.fields import MISSING, boolean, choice, integer, kinds_of_columns, names, real, rising, text


@dataclass
class DatasetKeys:
    """A data set with a published split."""


@dataclass
class SplitDatasetKeys(DatasetKeys):
    """A data set that boostrun splits, the same way in every trial."""

    test_fraction: float = real(0.2, above=0.0, most=0.9, help="share of the samples for tests")
    split_seed: int = integer(0, least=0, help="seed of the split, the same for every trial")


@dataclass
class OwnDatasetKeys(DatasetKeys):
    """Your own data. Without a test part each trial makes a new split, the same one for all methods."""

    test_fraction: float = real(0.2, above=0.0, most=0.9, help="share of the samples for tests")
    split_seed: int | None = integer(
        None, least=0, help="seed of the split, then the same for every trial; null: each trial's own seed"
    )


@dataclass
class FileDatasetKeys(OwnDatasetKeys):
    """Your own data in a file or folder."""

    path: str = text(MISSING, help="the file or folder")


def _missing() -> str:
    return choice("data", "error", help="empty cells, NaN: data in their own bin, or refused")


@dataclass
class ArraysDatasetKeys(FileDatasetKeys):
    """Arrays of samples and labels."""

    missing: str = _missing()


@dataclass
class TableDatasetKeys(FileDatasetKeys):
    """A table with one sample a row."""

    test_path: str | None = text(None, help="a second file, for tests")
    label: str | None = text(None, help="a column; null: the last one")
    split: str = choice(
        "random", "groups", "time",
        help="rows for tests: random ones of each class, whole groups, or the last ones",
    )  # fmt: skip
    group: str | None = text(None, help="split=groups: the column of the groups, which is no feature")
    held_out: float | None = real(
        None, above=0.0, below=1.0, absent=None, help="what holdout= sets if split is groups or time"
    )
    missing: str = _missing()
    types: Mapping[str, str] | None = kinds_of_columns(absent=None, help="of columns: {code: category, day: date_dmy}")
    drop: Sequence[str] | None = names(absent=None, help="columns to leave out")
    na: Sequence[str] | None = names(absent=None, help="words for a missing value; null: the usual ones of pandas")
    decimal: str | None = choice(None, "point", "comma", absent=None, help="of numbers; null: where it is unmistakable")
    sep: str | None = text(None, absent=None, help="comma, semicolon, tab, bar, blank, a character; null: as rows say")
    header: bool | None = boolean(
        None, absent=None, help="whether the first row holds names; null: as the rows below it say"
    )
    encoding: str | None = text(None, absent=None, help="of the text; null: UTF-8, or as its first bytes say")


WRITTEN = ("sep", "header", "encoding", "na", "decimal", "types", "drop")
"""Keys of a table that say how it is written."""


@dataclass
class StreamKeys(DatasetKeys):
    """Files larger than memory, read in chunks: .npy, CSV or Parquet, or folders of Parquet, Arrow or CSV."""

    path: str = text(MISSING, help="the training file; or a folder, a pattern (*.parquet), an address (s3://...)")
    label: str | None = text(
        None, help=".npy: a file of labels or a column number; CSV, Parquet: a column; null: the last column"
    )
    test_path: str | None = text(None, help="the test part, as path")
    test_share: float | None = real(
        None, above=0.0, below=1.0, absent=None, help="share of the row groups of a folder that are the test part"
    )
    test_label: str | None = text(None, help="if label is a file: the file of the test labels")
    chunk_rows: int = integer(4096, help="rows read at a time, in random order; fewer mix a sorted file better")


@dataclass
class ImageFolderKeys(FileDatasetKeys):
    """Folders of images."""

    size: int = integer(32, help="side of the resized images, in pixels")


@dataclass
class InriaKeys(DatasetKeys):
    """The INRIA person set."""

    windows_per_image: int = integer(10, help="background windows of each photograph")
    split_seed: int = integer(0, least=0, help="seed of the windows' places")
    backgrounds: int | None = integer(None, help="background windows drawn for training; null: all")


@dataclass
class Caltech101Keys(DatasetKeys):
    """Caltech-101."""

    train_per_class: int = integer(15, help="training images of each class")
    test_per_class: int = integer(20, help="test images of each class")
    split_seed: int = integer(0, least=0, help="seed of the draw of images")
    size: int = integer(64, least=8, help="side of the resized images, in pixels")


@dataclass
class OpenMLKeys(OwnDatasetKeys):
    """A data set of openml.org."""

    data_id: int | None = integer(None, help="number of the data set")
    data_name: str | None = text(None, help="its name, instead of the number")
    version: int | None = integer(None, help="its version")
    missing: str = _missing()


@dataclass
class UciTableKeys(DatasetKeys):
    """A table with a published split, number 0, and random ones."""

    split: int = integer(0, least=0, help="0: the published split; 1, 2, ...: random ones of the same size")


@dataclass
class LetterKeys(UciTableKeys):
    """UCI Letter; the first ``classes`` classes of a random order of all 26."""

    classes: int | None = integer(None, least=2, most=26, help="number of classes; null: all")
    class_order: int = integer(0, least=0, help="number of the random order of the classes")


@dataclass
class MnistDigitKeys(DatasetKeys):
    """One digit of MNIST against the others."""

    digit: int = integer(3, least=0, most=9, help="the second class; the other nine digits are the first")


@dataclass
class Chars74KKeys(SplitDatasetKeys):
    """Chars74K's computer fonts; the first ``classes`` of a random order of the digits and capitals in the folder."""

    test_fraction: float = real(0.4, above=0.0, most=0.9, help="share of the fonts for tests")
    classes: int | None = integer(None, least=2, most=36, help="number of classes; null: all in the folder, at most 36")
    class_order: int = integer(0, least=0, help="number of the random order of the classes")
    size: int = integer(28, least=8, help="side of the resized images, in pixels")


@dataclass
class FollowedKeys(DatasetKeys):
    """Keys of every stream: how many examples are used, when labels come, and the measures."""

    first: int | None = integer(None, absent=None, help="only the first examples; null, or more than there are: all")
    delay: int = integer(
        0, least=0, absent=0, help="an example's label is learnt after so many further examples were predicted"
    )
    scored_after: int = integer(
        0, least=0, absent=0, help="metrics leave out so many first examples, which are learnt; tune uses them alone"
    )
    measures: str = choice(
        "accuracy", "all", absent="accuracy",
        help="all: also kappas, recovery of predictions after each change, memory and time as curves",
    )  # fmt: skip


@dataclass
class DriftingStreamKeys(FollowedKeys):
    """A stream whose concept may change; each example is predicted before it is learnt.

    Accuracy is measured over the last ``window`` examples and fading by ``fading``, every ``curve_every`` examples.
    """

    window: int | None = integer(
        None, help="examples for each mean of the curve; null: from one point to the next, at least 500"
    )
    fading: float = real(0.999, above=0.0, most=1.0, help="factor of an older example's weight in the fading accuracy")
    curve_every: int | None = integer(
        None, help="examples from one point of the curve to the next; null: a hundredth of the stream"
    )


@dataclass
class OwnStreamKeys(DriftingStreamKeys):
    """Your own examples, in their order."""

    measures: str = choice(
        "all", "accuracy", help="accuracy: no kappas, no recovery of predictions, no memory and time as curves"
    )
    missing: str = choice(
        "error", "last", help="empty cells, NaN, ? of ARFF: refused, or the last value of the column, 0 at first"
    )
    changes_at: Sequence[int] | None = rising(
        absent=None, help="numbers of examples after which the concept changes, if known; recovery is measured there"
    )


@dataclass
class FileStreamKeys(OwnStreamKeys):
    """Your own file, its rows in their order."""

    path: str = text(MISSING, help="the file")
    label: str | None = text(
        None,
        help="a column; for .npy also a file of labels; null: the last column; not for .npz, which has x and y",
    )


@dataclass
class ConceptStreamKeys(FollowedKeys):
    """A stream with a hold-out for each concept, on which the model is tested every ``eval_every`` examples."""

    eval_every: int = integer(20, help="examples from one test on the hold-out to the next")
