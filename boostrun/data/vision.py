"""torchvision's data sets, imported only when one is first read, and what the loaders built on them share."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path

from boostrun.data.dataset import Parts
from boostrun.data.files import reading
from boostrun.data.npz import read_npz
from boostrun.data.published import PUBLISHED, verify
from boostrun.errors import BoostrunError, DataMissingError

_OPERATORS = ("nms", "qnms")


def torchvision_datasets():
    """The module torchvision.datasets.

    Some builds of torchvision do not find their compiled operators beside some builds of torch, and stop at import
    with "operator torchvision::nms does not exist". The data sets need none of them, so the two that the import
    looks up are declared (not implemented), and the import is tried again.

    Raises
    ------
    BoostrunError
        torchvision is not installed or cannot be imported.
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
        with contextlib.suppress(RuntimeError):  # torch refuses what is declared already
            library.define(f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def download(cls: str, data_root: Path, places: str) -> None:
    """Let the class ``cls`` of torchvision.datasets download its files; every failure says where they belong."""
    datasets = torchvision_datasets()
    try:
        Path(data_root).mkdir(parents=True, exist_ok=True)
        getattr(datasets, cls)(str(data_root), download=True)
    except Exception as error:  # urllib, ssl, zipfile and torchvision each have their own
        raise DataMissingError(
            f"{cls} could not be downloaded ({' '.join(str(error).split())[:160]}); put there by hand: {places}"
        ) from error


def _raw(cls):
    """The class, reading the files that are verified: MNIST would rather read an older version's ``processed/*.pt``."""
    return type(cls.__name__, (cls,), {"_check_legacy_exist": lambda self: False})


class TorchvisionSet:
    """What a loader of a published set does: `<name>.npz` where it is there, else torchvision's own layout.

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
        self.needed = [place.removesuffix(".gz") for place in PUBLISHED[name]]  # what torchvision reads

    def archive(self, data_root: Path) -> Path:
        return Path(data_root) / f"{self.name}.npz"

    def places(self, options: Mapping, data_root: Path) -> str:
        return (
            f"{', '.join(Path(f).name for f in self.needed)} in {(Path(data_root) / self.needed[0]).parent} "
            f"({self.source}), or {self.archive(data_root)} with x_train, y_train, x_test, y_test"
        )

    def files(self, options: Mapping, data_root: Path) -> dict[str, Path]:
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
        if self.archive(data_root).is_file():
            return "an .npz file has no published checksum"
        return f"{verify(self.name, data_root)} of {len(PUBLISHED[self.name])} published md5 sums compared and right"

    def read(self, options: Mapping, data_root: Path) -> Parts:
        """The arrays of the data set, with its own split where it has one."""
        if self.archive(data_root).is_file():
            parts = read_npz(self.archive(data_root))
        else:
            datasets = torchvision_datasets()
            with reading((Path(data_root) / self.needed[0]).parent, f"{self.name} in torchvision's layout"):
                parts = self.published(str(data_root), _raw(getattr(datasets, self.cls)))
        return parts._replace(classes=self.classes) if self.classes else parts

    def fetch(self, options: Mapping, data_root: Path) -> None:
        """Download the published files under the data root."""
        download(self.cls, data_root, self.places(options, data_root))
