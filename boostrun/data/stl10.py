"""STL-10 (Coates, Ng & Lee 2011): 5,000 training and 8,000 test images of 96x96; torchvision's layout, or stl10.npz."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.published import PUBLISHED
from boostrun.data.vision import TorchvisionSet

DEFAULTS = defaults("dataset", "stl10")
CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")
_SET = TorchvisionSet("stl10", list(PUBLISHED["stl10"]), "unpacked from stl10_binary.tar.gz")
places, files, verify = _SET.places, _SET.files, _SET.verify


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    return _SET.read(options, data_root, _published)._replace(classes=CLASSES)


def fetch(options: Mapping, data_root: Path) -> None:
    """Download the published files under the data root."""
    _SET.fetch(options, data_root, lambda root, datasets: datasets.STL10(str(root), download=True))


def _published(data_root: Path, datasets) -> Parts:
    # torchvision also asks for the 2.6 GB of unlabelled images, which no classifier here reads; without this they
    # would have to be there.
    class Labelled(datasets.STL10):
        train_list = datasets.STL10.train_list[:2]

    parts = []
    for split in ("train", "test"):
        part = Labelled(str(data_root), split=split, download=False)
        parts += [np.ascontiguousarray(part.data.transpose(0, 2, 3, 1)), part.labels.astype(np.int64)]
    return Parts(*parts)
