"""CIFAR-10 (Krizhevsky 2009): 60,000 colour images of 32x32 in ten classes; torchvision's layout, or cifar10.npz."""

from __future__ import annotations

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.vision import TorchvisionSet

DEFAULTS = defaults("dataset", "cifar10")
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def _published(data_root: str, cifar10) -> Parts:
    train, test = (cifar10(data_root, train=part, download=False) for part in (True, False))
    return Parts(train.data, np.asarray(train.targets), test.data, np.asarray(test.targets))


_SET = TorchvisionSet("cifar10", "CIFAR10", "unpacked from cifar-10-python.tar.gz", _published, CLASSES)
places, files, verify, read, fetch = _SET.places, _SET.files, _SET.verify, _SET.read, _SET.fetch
