"""MNIST, CIFAR-10, STL-10 and Caltech-101, read with torchvision, which is imported when one of them is first read.

The paths below the data root are torchvision's. The first three are also read from ``<name>.npz``.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.data.arrays import read_npz_file
from boostrun.data.dataset import Parts
from boostrun.data.digests import FileDigests
from boostrun.data.files import images_in, listing, reading
from boostrun.data.options import in_range
from boostrun.errors import BoostrunError, DataMissingError

# md5 of published files, from torchvision's source
PUBLISHED: dict[str, dict[str, str]] = {
    "mnist": {
        "MNIST/raw/train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "MNIST/raw/train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
        "MNIST/raw/t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
        "MNIST/raw/t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
    },
    "cifar10": {
        "cifar-10-batches-py/data_batch_1": "c99cafc152244af753f735de768cd75f",
        "cifar-10-batches-py/data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "cifar-10-batches-py/data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "cifar-10-batches-py/data_batch_4": "634d18415352ddfa80567beed471001a",
        "cifar-10-batches-py/data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        "cifar-10-batches-py/test_batch": "40351d587109b95175f43aff81a1287e",
        "cifar-10-batches-py/batches.meta": "5ff9c542aee3614f3951f8cda6e48888",
    },
    "stl10": {
        "stl10_binary/train_X.bin": "918c2871b30a85fa023e0c44e0bee87f",
        "stl10_binary/train_y.bin": "5a34089d4802c674881badbb80307741",
        "stl10_binary/test_X.bin": "7f263ba9f9e0b06b93213547f721ac82",
        "stl10_binary/test_y.bin": "36f9794fa4beb8a2c72628de14fa638e",
    },
}
_OPERATORS = ("nms", "qnms")


def verify_published(name: str, data_root: Path) -> int:
    """Compare the files of a set that are present with the published md5; returns how many were compared.

    Raises BoostrunError with both checksums if a file differs.
    """
    compared = 0
    with FileDigests(data_root) as digests:
        for place, expected in PUBLISHED[name].items():
            path = Path(data_root) / place
            if not path.is_file():
                continue
            found = digests.of(path, "md5")
            if found != expected:
                raise BoostrunError(
                    f"{path} is damaged: expected md5 {expected}, found {found}; remove the file and fetch it again "
                    f"(boostrun data {name})"
                )
            compared += 1
    return compared


def torchvision_datasets():
    """The module torchvision.datasets.

    Some builds of torchvision do not find their compiled operators beside some builds of torch, and stop at import
    with "operator torchvision::nms does not exist". The data sets need none of them, so the two that the import
    looks up are declared (not implemented), and the import is tried again.

    Raises BoostrunError if torchvision is not installed or cannot be imported.
    """
    try:
        try:
            from torchvision import datasets
        except RuntimeError as error:
            if "torchvision::" not in str(error):
                raise
            _declare_operators()
            from torchvision import datasets
    except ImportError as error:
        raise BoostrunError(
            "this data set is read with torchvision, which is not installed: pip install 'boostrun[images]'; "
            "or put the arrays x_train, y_train, x_test, y_test into <data_root>/<name>.npz"
        ) from error
    except (RuntimeError, OSError) as error:
        raise BoostrunError(
            f"torchvision cannot be imported ({' '.join(str(error).split())[:160]}); install matching versions of "
            "torch and torchvision, or put x_train, y_train, x_test, y_test into <data_root>/<name>.npz"
        ) from error
    return datasets


def _declare_operators() -> None:
    from torch import library

    for half in [name for name in sys.modules if name == "torchvision" or name.startswith("torchvision.")]:
        del sys.modules[half]
    for operator in _OPERATORS:
        with contextlib.suppress(RuntimeError):  # torch refuses to declare an operator twice
            library.define(f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def download(cls: str, data_root: Path, places: str) -> None:
    """Let the class ``cls`` of torchvision.datasets download its files; a failure says where they belong."""
    datasets = torchvision_datasets()
    try:
        Path(data_root).mkdir(parents=True, exist_ok=True)
        getattr(datasets, cls)(str(data_root), download=True)
    except Exception as error:  # urllib, ssl, zipfile and torchvision each have their own
        raise DataMissingError(
            f"{cls} could not be downloaded ({' '.join(str(error).split())[:160]}); put there by hand: {places}"
        ) from error


def _raw(cls):
    """The class, made to read the verified files: MNIST prefers an older version's ``processed/*.pt``."""
    return type(cls.__name__, (cls,), {"_check_legacy_exist": lambda self: False})


class TorchvisionSet:
    """The loader of a published set: reads `<name>.npz` if it exists, else torchvision's layout.

    Parameters
    ----------
    name : str, of the data set
    cls : str, of its class in torchvision.datasets
    source : str, where the files come from, for messages
    published : function (data_root, class) -> Parts, which reads torchvision's layout
    classes : tuple of str, names of the classes, if they have any
    """

    def __init__(self, name: str, cls: str, source: str, published, classes: tuple[str, ...] | None = None):
        self.name, self.cls, self.source, self.published, self.classes = name, cls, source, published, classes
        self.needed = [place.removesuffix(".gz") for place in PUBLISHED[name]]  # the files that torchvision reads

    def archive(self, data_root: Path) -> Path:
        return Path(data_root) / f"{self.name}.npz"

    def places(self, options: Mapping, data_root: Path) -> str:
        """The files that are needed and their places, as a clause of a sentence."""
        return (
            f"{', '.join(Path(f).name for f in self.needed)} in {(Path(data_root) / self.needed[0]).parent} "
            f"({self.source}), or {self.archive(data_root)} with x_train, y_train, x_test, y_test"
        )

    def files(self, options: Mapping, data_root: Path) -> dict[str, Path]:
        """The files to read, by name; raises DataMissingError if one is missing."""
        if self.archive(data_root).is_file():
            return {self.archive(data_root).name: self.archive(data_root)}
        found = {place: Path(data_root) / place for place in self.needed}
        absent = [str(path) for path in found.values() if not path.is_file()]
        if absent:
            raise DataMissingError(
                f"dataset={self.name} lacks {absent[0]}"
                f"{f' and {len(absent) - 1} more files' if len(absent) > 1 else ''}; it needs "
                f"{self.places(options, data_root)}; `boostrun data {self.name}` fetches them"
            )
        return found

    def verify(self, options: Mapping, data_root: Path) -> str:
        """Compare the files with the published md5; returns a clause about it."""
        if self.archive(data_root).is_file():
            return "an .npz file has no published checksum"
        return (
            f"{verify_published(self.name, data_root)} of {len(PUBLISHED[self.name])} published md5 sums compared and "
            "right"
        )

    def read(self, options: Mapping, data_root: Path) -> Parts:
        """The arrays, with the published split."""
        if self.archive(data_root).is_file():
            parts = read_npz_file(self.archive(data_root))
        else:
            datasets = torchvision_datasets()
            with reading((Path(data_root) / self.needed[0]).parent, f"{self.name} in torchvision's layout"):
                parts = self.published(str(data_root), _raw(getattr(datasets, self.cls)))
        return parts._replace(classes=self.classes) if self.classes else parts

    def fetch(self, options: Mapping, data_root: Path) -> None:
        """Download the published files."""
        download(self.cls, data_root, self.places(options, data_root))


# -- MNIST (LeCun et al. 1998): 70,000 hand-written digits of 28x28


def _published_mnist(data_root: str, mnist) -> Parts:
    train, test = (mnist(data_root, train=part, download=False) for part in (True, False))
    return Parts(
        train.data.numpy(),
        train.targets.numpy().astype(np.int64),
        test.data.numpy(),
        test.targets.numpy().astype(np.int64),
    )


_MNIST = TorchvisionSet("mnist", "MNIST", "unpacked from the .gz files of the authors", _published_mnist)
places_mnist, files_mnist, read_mnist, fetch_mnist = _MNIST.places, _MNIST.files, _MNIST.read, _MNIST.fetch


def verify_mnist(options: Mapping, data_root: Path) -> str:
    """Compare the .gz files with the published md5, and the unpacked files, which are read, with the .gz files."""
    verified = _MNIST.verify(options, data_root)
    if _MNIST.archive(data_root).is_file():
        return verified
    with FileDigests(data_root) as digests:
        for place in _MNIST.needed:
            packed, path = Path(data_root) / f"{place}.gz", Path(data_root) / place
            if not packed.is_file():
                continue
            with reading(packed, "a gzip file"):
                expected = digests.derived(packed, "unpacked", _unpacked_sha256)
            found = digests.of(path)
            if found != expected:
                raise BoostrunError(
                    f"{path} is damaged: expected sha256 {expected} (of {packed.name} unpacked), found {found}; "
                    "unpack it again"
                )
    return verified


def _unpacked_sha256(packed: Path) -> str:
    digest = hashlib.sha256()
    with gzip.open(packed) as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


# -- one digit of MNIST against the others

places_mnist_digit, files_mnist_digit, verify_mnist_digit = places_mnist, files_mnist, verify_mnist
fetch_mnist_digit = fetch_mnist


def read_mnist_digit(options: Mapping, data_root: Path) -> Parts:
    """MNIST in two classes, the ``digit`` and the others."""
    parts = read_mnist(options, data_root)
    digit = options["digit"]
    train, test = ((labels == digit).astype(np.int64) for labels in (parts.y_train, parts.y_test))
    return parts._replace(y_train=train, y_test=test, classes=("others", str(digit)))


# -- CIFAR-10 (Krizhevsky 2009): 60,000 colour images of 32x32 in ten classes


def _published_cifar10(data_root: str, cifar10) -> Parts:
    train, test = (cifar10(data_root, train=part, download=False) for part in (True, False))
    return Parts(train.data, np.asarray(train.targets), test.data, np.asarray(test.targets))


_CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_CIFAR10 = TorchvisionSet(
    "cifar10", "CIFAR10", "unpacked from cifar-10-python.tar.gz", _published_cifar10, _CIFAR10_CLASSES
)
places_cifar10, files_cifar10, verify_cifar10 = _CIFAR10.places, _CIFAR10.files, _CIFAR10.verify
read_cifar10, fetch_cifar10 = _CIFAR10.read, _CIFAR10.fetch


# -- STL-10 (Coates, Ng & Lee 2011): 5,000 training and 8,000 test images of 96x96


def _published_stl10(data_root: str, stl10) -> Parts:
    # torchvision also asks for the 2.6 GB of unlabelled images, which no classifier here reads; without this they
    # would have to be there.
    class Labelled(stl10):
        train_list = stl10.train_list[:2]

    parts = []
    for split in ("train", "test"):
        part = Labelled(data_root, split=split, download=False)
        parts += [np.ascontiguousarray(part.data.transpose(0, 2, 3, 1)), part.labels.astype(np.int64)]
    return Parts(*parts)


_STL10_CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")
_STL10 = TorchvisionSet("stl10", "STL10", "unpacked from stl10_binary.tar.gz", _published_stl10, _STL10_CLASSES)
places_stl10, files_stl10, verify_stl10 = _STL10.places, _STL10.files, _STL10.verify
read_stl10, fetch_stl10 = _STL10.read, _STL10.fetch


# -- Caltech-101 (Fei-Fei et al. 2004): a number of training and test images of each class

_CALTECH101 = "caltech101/101_ObjectCategories"
_BACKGROUND = "BACKGROUND_Google"


def places_caltech101(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return f"{Path(data_root) / _CALTECH101}/<class>/image_0001.jpg ... (unpacked from caltech-101.zip)"


def files_caltech101(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files to read, by name; raises DataMissingError if they are missing."""
    folder = Path(data_root) / _CALTECH101
    if not folder.is_dir():
        raise DataMissingError(
            f"dataset=caltech101 is not there; it belongs at {places_caltech101(options, data_root)}; "
            "`boostrun data caltech101` fetches it"
        )
    found = {}
    for category in listing(folder):
        if category.name != _BACKGROUND and category.is_dir():
            found.update({f"{category.name}/{image.name}": image for image in images_in(category)})
    if not found:
        raise DataMissingError(f"{folder} holds no images; expected: {places_caltech101(options, data_root)}")
    return found


def read_caltech101(options: Mapping, data_root: Path) -> Parts:
    """Images (n, size, size, 3) uint8, with a random split of each class."""
    for key in ("train_per_class", "test_per_class", "size"):
        in_range(options, "dataset", key, 1)
    data_root = Path(data_root)
    if not (data_root / _CALTECH101 / _BACKGROUND).is_dir():
        raise BoostrunError(
            f"{data_root / _CALTECH101} lacks the folder {_BACKGROUND}, which torchvision expects; the set was not "
            "unpacked whole"
        )
    datasets = torchvision_datasets()
    with reading(data_root / _CALTECH101, "Caltech-101 in torchvision's layout"):
        whole = datasets.Caltech101(str(data_root), download=False)
    labels = np.asarray(whole.y, dtype=np.int64)
    train, test = choose(labels, options["train_per_class"], options["test_per_class"], options["split_seed"])
    names = tuple(whole.categories)
    return Parts(
        _images(whole, train, options["size"], data_root),
        labels[train],
        _images(whole, test, options["size"], data_root),
        labels[test],
        names,
    )


def fetch_caltech101(options: Mapping, data_root: Path) -> None:
    """Download the published files."""
    download("Caltech101", data_root, places_caltech101(options, data_root))


def choose(labels: np.ndarray, train: int, test: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Increasing indices of `train` random samples of each class, and of the next `test`, or all that are left.

    >>> [part.tolist() for part in choose(np.array([0, 0, 1, 1]), 1, 5, seed=0)]
    [[0, 2], [1, 3]]
    """
    shuffled = np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    sizes = np.bincount(labels)
    position = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_test = (position >= train) & (position < train + test)
    return np.sort(by_class[position < train]), np.sort(by_class[is_test])


def _images(whole, chosen: np.ndarray, size: int, data_root: Path) -> np.ndarray:
    from PIL import Image

    images = np.empty((len(chosen), size, size, 3), dtype=np.uint8)
    for row, index in enumerate(chosen):
        with reading(
            data_root / _CALTECH101 / whole.categories[whole.y[index]], f"an image (number {whole.index[index]})"
        ):
            image = whole[int(index)][0].convert("RGB")
            images[row] = np.asarray(image.resize((size, size), Image.Resampling.BILINEAR))
    return images
