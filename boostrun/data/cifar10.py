"""CIFAR-10 (Krizhevsky 2009): 60,000 colour images of 32x32 in ten classes; torchvision's layout, or cifar10.npz."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.published import PUBLISHED
from boostrun.data.vision import TorchvisionSet

DEFAULTS = defaults("dataset", "cifar10")
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_SET = TorchvisionSet("cifar10", list(PUBLISHED["cifar10"]), "unpacked from cifar-10-python.tar.gz")
places, files, verify = _SET.places, _SET.files, _SET.verify


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    return _SET.read(options, data_root, _published)._replace(classes=CLASSES)


def fetch(options: Mapping, data_root: Path) -> None:
    """Download the published files under the data root."""
    _SET.fetch(options, data_root, lambda root, datasets: datasets.CIFAR10(str(root), download=True))


def _published(data_root: Path, datasets) -> Parts:
    train, test = (datasets.CIFAR10(str(data_root), train=part, download=False) for part in (True, False))
    return Parts(train.data, np.asarray(train.targets), test.data, np.asarray(test.targets))
