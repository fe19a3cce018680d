"""Keys of the data sets."""

from __future__ import annotations

from dataclasses import dataclass

from ..kinds import number, text, whole
from .base import MISSING


@dataclass
class Dataset:
    """A data set with a split of its own."""

    name: str = MISSING


@dataclass
class SplitDataset(Dataset):
    """A data set that boostrun splits, the same way every time."""

    test_fraction: float = number(0.2, above=0.0, most=0.9)
    split_seed: int = whole(0, least=0)


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
    chunk_rows: int = whole(4096)


@dataclass
class ImageFolder(FileDataset):
    """Folders of images."""

    size: int = whole(32)


@dataclass
class Inria(Dataset):
    """The INRIA person set."""

    windows_per_image: int = whole(10)
    split_seed: int = whole(0, least=0)


@dataclass
class Caltech101(Dataset):
    """Caltech-101."""

    train_per_class: int = whole(15)
    test_per_class: int = whole(20)
    split_seed: int = whole(0, least=0)
    size: int = whole(64, least=8)


@dataclass
class OpenML(SplitDataset):
    """A data set of openml.org."""

    data_id: int | None = whole(None)
    data_name: str | None = text(None)
    version: int | None = whole(None)


@dataclass
class UciTable(Dataset):
    """A table with a published split, 0, and random ones by number."""

    split: int = whole(0, least=0)


@dataclass
class Letter(UciTable):
    """UCI Letter; the first ``classes`` classes of a random order of all 26."""

    classes: int | None = whole(None, least=2, most=26)
    class_order: int = whole(0, least=0)


@dataclass
class Chars74K(SplitDataset):
    """Chars74K's computer fonts; the first ``classes`` classes of a random order of the 36 digits and capitals."""

    test_fraction: float = number(0.4, above=0.0, most=0.9)
    classes: int | None = whole(None, least=2, most=36)
    class_order: int = whole(0, least=0)
    size: int = whole(28, least=8)


@dataclass
class MnistExpanded(Dataset):
    """MNIST with ``copies`` elastic distortions of each training image."""

    copies: int = whole(5, least=0)
    alpha: float = number(34.0, least=0.0)
    sigma: float = number(4.0, above=0.0)
    seed: int = whole(0, least=0)


DATASETS: dict[str, type] = {
    "digits": SplitDataset, "mnist": Dataset, "cifar10": Dataset, "stl10": Dataset, "caltech101": Caltech101,
    "inria": Inria, "pedestrians": Dataset, "npz": FileDataset, "csv": TableDataset, "parquet": TableDataset,
    "image_folder": ImageFolder, "openml": OpenML, "stream": Stream, "pendigits": UciTable, "statlog": UciTable,
    "isolet": UciTable, "letter": Letter, "chars74k": Chars74K, "mnist_expanded": MnistExpanded,
}  # fmt: skip
