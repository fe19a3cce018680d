"""Keys of the data sets."""

from __future__ import annotations

from dataclasses import dataclass

from ..kinds import choice, number, text, whole
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


@dataclass
class DriftingStream(Dataset):
    """A stream whose concept may change, tested example by example, each before it is learnt.

    Accuracy is measured over the last ``window`` examples and fading by ``fading``, every ``curve_every`` examples.
    """

    window: int = whole(10_000)
    fading: float = number(0.999, above=0.0, most=1.0)
    curve_every: int = whole(10_000)


@dataclass
class FileStream(DriftingStream):
    """A person's own file, its rows in their order."""

    path: str = text(MISSING)
    label: str | None = text(None)


@dataclass
class Led(DriftingStream):
    """LED: seven segments of a digit among 17 coin flips, exchanged as ``schedule`` says."""

    n_samples: int = whole(1_000_000)
    noise: float = number(0.1, least=0.0, most=0.5)
    schedule: str = choice("swap", "static", "moa_chain")
    width: int = whole(50_000)
    classes: str = text("binary")
    positive: str = text("12457")


@dataclass
class Rbf(DriftingStream):
    """Random radial basis functions that move."""

    n_samples: int = whole(1_000_000)
    n_features: int = whole(10)
    n_centroids: int = whole(10)
    n_drift_centroids: int = whole(10, least=0)
    speed: float = number(0.001, least=0.0)
    model_seed: int | None = whole(None, least=0)


@dataclass
class ConceptStream(Dataset):
    """A stream with a hold-out a concept, on which the model is tested every ``eval_every`` examples."""

    eval_every: int = whole(20)


@dataclass
class Sea(ConceptStream):
    """SEA: the sum of two attributes against a threshold that changes three times."""

    n_samples: int = whole(50_000, least=4)
    noise: float = number(0.0, least=0.0, most=0.5)
    holdout_per_concept: int = whole(2500)


@dataclass
class SantaFe(ConceptStream):
    """Santa Fe's laser series against a threshold that changes twice."""

    holdout: str = choice("segments", "disjoint")
    holdout_per_concept: int = whole(825)
    ramp: int = whole(0, least=0)


DRIFTING: dict[str, type] = {
    "sea": Sea, "led": Led, "rbf": Rbf, "santafe": SantaFe, "electricity": DriftingStream, "weather": DriftingStream,
    "file_stream": FileStream,
}  # fmt: skip

DATASETS: dict[str, type] = {
    "digits": SplitDataset, "mnist": Dataset, "cifar10": Dataset, "stl10": Dataset, "caltech101": Caltech101,
    "inria": Inria, "pedestrians": Dataset, "npz": FileDataset, "csv": TableDataset, "parquet": TableDataset,
    "image_folder": ImageFolder, "openml": OpenML, "stream": Stream, "pendigits": UciTable, "statlog": UciTable,
    "isolet": UciTable, "letter": Letter, "chars74k": Chars74K, "mnist_expanded": MnistExpanded,
    **DRIFTING,
}  # fmt: skip
