"""Keys of the data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boostrun.config.fields import MISSING, choice, integer, real, rising, text


@dataclass
class DatasetKeys:
    """A data set with a split of its own."""


@dataclass
class SplitDatasetKeys(DatasetKeys):
    """A data set that boostrun splits, the same way every time."""

    test_fraction: float = real(0.2, above=0.0, most=0.9, help="share of the samples that is tested on")
    split_seed: int = integer(0, least=0, help="of the split, the same for every trial")


@dataclass
class OwnDatasetKeys(DatasetKeys):
    """A person's own data: without a test part of their own each trial splits them anew, all methods alike."""

    test_fraction: float = real(0.2, above=0.0, most=0.9, help="share of the samples that is tested on")
    split_seed: int | None = integer(
        None, least=0, help="of the split, then the same for every trial; null: each trial's own seed"
    )


@dataclass
class FileDatasetKeys(OwnDatasetKeys):
    """A person's own data in a file or folder."""

    path: str = text(MISSING, help="the file or folder")


def _missing() -> str:
    return choice("data", "error", help="empty cells, NaN: data in a bin of their own, or refused")


@dataclass
class ArraysDatasetKeys(FileDatasetKeys):
    """Arrays of samples and labels."""

    missing: str = _missing()


@dataclass
class TableDatasetKeys(FileDatasetKeys):
    """A table with one row a sample."""

    test_path: str | None = text(None, help="a file of its own to test on")
    label: str | None = text(None, help="a column; null: the last one")
    split: str = choice(
        "random", "groups", "time",
        help="which rows are tested on: random ones of each class, whole groups, or the last ones",
    )  # fmt: skip
    group: str | None = text(None, help="split=groups: the column that says whose a row is; it is no feature")
    missing: str = _missing()


@dataclass
class StreamKeys(DatasetKeys):
    """Files larger than memory, read in chunks: .npy, CSV or Parquet, with a test part in files of its own."""

    path: str = text(MISSING, help="the training file")
    label: str | None = text(
        None, help=".npy: a file of labels or a column number; CSV, Parquet: a column; null: the last column"
    )
    test_path: str = text(MISSING, help="the file to test on")
    test_label: str | None = text(None, help="where label is a file: that of the test part")
    chunk_rows: int = integer(4096, help="read at a time, in random order; fewer mix a sorted file better")


@dataclass
class ImageFolderKeys(FileDatasetKeys):
    """Folders of images."""

    size: int = integer(32, help="pixels of the sides that images are brought to")


@dataclass
class InriaKeys(DatasetKeys):
    """The INRIA person set."""

    windows_per_image: int = integer(10, help="background windows of each photograph")
    split_seed: int = integer(0, least=0, help="of the windows' places")


@dataclass
class Caltech101Keys(DatasetKeys):
    """Caltech-101."""

    train_per_class: int = integer(15, help="images of each class to train on")
    test_per_class: int = integer(20, help="images of each class to test on")
    split_seed: int = integer(0, least=0, help="of the draw of images")
    size: int = integer(64, least=8, help="pixels of the sides that images are brought to")


@dataclass
class OpenMLKeys(OwnDatasetKeys):
    """A data set of openml.org."""

    data_id: int | None = integer(None, help="number of the data set")
    data_name: str | None = text(None, help="its name, where no number is given")
    version: int | None = integer(None, help="its version")
    missing: str = _missing()


@dataclass
class UciTableKeys(DatasetKeys):
    """A table with a published split, 0, and random ones by number."""

    split: int = integer(0, least=0, help="0 is the published one; 1, 2, ...: random ones of the same size")


@dataclass
class LetterKeys(UciTableKeys):
    """UCI Letter; the first ``classes`` classes of a random order of all 26."""

    classes: int | None = integer(None, least=2, most=26, help="so many of them; null: all")
    class_order: int = integer(0, least=0, help="which random order of the classes they are the first of")


@dataclass
class Chars74KKeys(SplitDatasetKeys):
    """Chars74K's computer fonts; the first ``classes`` of a random order of the digits and capitals that are there."""

    test_fraction: float = real(0.4, above=0.0, most=0.9, help="of the fonts")
    classes: int | None = integer(None, least=2, most=36, help="so many of them; null: all that are there, of 36")
    class_order: int = integer(0, least=0, help="which random order of the classes they are the first of")
    size: int = integer(28, least=8, help="pixels of the sides of an image")


@dataclass
class FollowedKeys(DatasetKeys):
    """What every stream that is followed has: how much of it is, when labels come, and what is measured."""

    first: int | None = integer(None, absent=None, help="the first examples alone; null, or more than there are: all")
    delay: int = integer(
        0, least=0, absent=0, help="an example's label is learnt after so many examples more were predicted"
    )
    scored_after: int = integer(
        0, least=0, absent=0, help="metrics count after so many examples, which are learnt; tune chooses by them alone"
    )
    measures: str = choice(
        "accuracy", "all", absent="accuracy",
        help="all: also kappas, recovery of predictions after each change, memory and time as curves",
    )  # fmt: skip


@dataclass
class DriftingStreamKeys(FollowedKeys):
    """A stream whose concept may change, tested example by example, each before it is learnt.

    Accuracy is measured over the last ``window`` examples and fading by ``fading``, every ``curve_every`` examples.
    """

    window: int | None = integer(
        None, help="examples that the curve is a mean over; null: from one point to the next, at least 500"
    )
    fading: float = real(0.999, above=0.0, most=1.0, help="factor of an older example's weight in the fading accuracy")
    curve_every: int | None = integer(
        None, help="examples from one point of the curve to the next; null: a hundredth of the stream"
    )


@dataclass
class OwnStreamKeys(DriftingStreamKeys):
    """A person's own examples, in their order."""

    measures: str = choice(
        "all", "accuracy", help="accuracy: no kappas, no recovery of predictions, no memory and time as curves"
    )
    missing: str = choice(
        "error", "last", help="empty cells, NaN, ? of ARFF: refused, or the value that the column had last, 0 at first"
    )
    changes_at: Sequence[int] | None = rising(
        absent=None, help="the concept changes after so many examples, where you know; recovery is measured after each"
    )


@dataclass
class FileStreamKeys(OwnStreamKeys):
    """A person's own file, its rows in their order."""

    path: str = text(MISSING, help="the file")
    label: str | None = text(
        None,
        help="a column; of .npy also a file of labels; null: the last column; none for .npz, whose arrays are x and y",
    )


@dataclass
class ConceptStreamKeys(FollowedKeys):
    """A stream with a hold-out a concept, on which the model is tested every ``eval_every`` examples."""

    eval_every: int = integer(20, help="examples from one test on the hold-out to the next")
