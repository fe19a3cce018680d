"""Keys of the data sets."""

from __future__ import annotations

from dataclasses import dataclass

from boostrun.config.fields import MISSING, integer, real, text


@dataclass
class Dataset:
    """A data set with a split of its own."""


@dataclass
class SplitDataset(Dataset):
    """A data set that boostrun splits, the same way every time."""

    test_fraction: float = real(0.2, above=0.0, most=0.9)
    split_seed: int = integer(0, least=0)


@dataclass
class FileDataset(SplitDataset):
    """A person's own data in a file or folder."""

    path: str = text(MISSING)


@dataclass
class TableDataset(FileDataset):
    """A table with one row a sample."""

    test_path: str | None = text(None)
    label: str | None = text(None)


@dataclass
class Stream(Dataset):
    """Files larger than memory, read in chunks: .npy or CSV, with a test part in files of its own."""

    path: str = text(MISSING)
    label: str | None = text(None)
    test_path: str = text(MISSING)
    test_label: str | None = text(None)
    chunk_rows: int = integer(4096)


@dataclass
class ImageFolder(FileDataset):
    """Folders of images."""

    size: int = integer(32)


@dataclass
class Inria(Dataset):
    """The INRIA person set."""

    windows_per_image: int = integer(10)
    split_seed: int = integer(0, least=0)


@dataclass
class Caltech101(Dataset):
    """Caltech-101."""

    train_per_class: int = integer(15)
    test_per_class: int = integer(20)
    split_seed: int = integer(0, least=0)
    size: int = integer(64, least=8)


@dataclass
class OpenML(SplitDataset):
    """A data set of openml.org."""

    data_id: int | None = integer(None)
    data_name: str | None = text(None)
    version: int | None = integer(None)


@dataclass
class UciTable(Dataset):
    """A table with a published split, 0, and random ones by number."""

    split: int = integer(0, least=0)


@dataclass
class Letter(UciTable):
    """UCI Letter; the first ``classes`` classes of a random order of all 26."""

    classes: int | None = integer(None, least=2, most=26)
    class_order: int = integer(0, least=0)


@dataclass
class Chars74K(SplitDataset):
    """Chars74K's computer fonts; the first ``classes`` classes of a random order of the 36 digits and capitals."""

    test_fraction: float = real(0.4, above=0.0, most=0.9)
    classes: int | None = integer(None, least=2, most=36)
    class_order: int = integer(0, least=0)
    size: int = integer(28, least=8)


@dataclass
class MnistExpanded(Dataset):
    """MNIST with ``copies`` elastic distortions of each training image."""

    copies: int = integer(5, least=0)
    alpha: float = real(34.0, least=0.0)
    sigma: float = real(4.0, above=0.0)
    seed: int = integer(0, least=0)


@dataclass
class DriftingStream(Dataset):
    """A stream whose concept may change, tested example by example, each before it is learnt.

    Accuracy is measured over the last ``window`` examples and fading by ``fading``, every ``curve_every`` examples.
    """

    window: int = integer(10_000)
    fading: float = real(0.999, above=0.0, most=1.0)
    curve_every: int = integer(10_000)


@dataclass
class FileStream(DriftingStream):
    """A person's own file, its rows in their order."""

    path: str = text(MISSING)
    label: str | None = text(None)


@dataclass
class ConceptStream(Dataset):
    """A stream with a hold-out a concept, on which the model is tested every ``eval_every`` examples."""

    eval_every: int = integer(20)
