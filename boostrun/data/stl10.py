"""STL-10 (Coates, Ng & Lee 2011): 5,000 training and 8,000 test images of 96x96; torchvision's layout, or stl10.npz."""

from __future__ import annotations

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.vision import TorchvisionSet

DEFAULTS = defaults("dataset", "stl10")
CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")


def _published(data_root: str, stl10) -> Parts:
    # torchvision also asks for the 2.6 GB of unlabelled images, which no classifier here reads; without this they
    # would have to be there.
    class Labelled(stl10):
        train_list = stl10.train_list[:2]

    parts = []
    for split in ("train", "test"):
        part = Labelled(data_root, split=split, download=False)
        parts += [np.ascontiguousarray(part.data.transpose(0, 2, 3, 1)), part.labels.astype(np.int64)]
    return Parts(*parts)


_SET = TorchvisionSet("stl10", "STL10", "unpacked from stl10_binary.tar.gz", _published, CLASSES)
places, files, verify, read, fetch = _SET.places, _SET.files, _SET.verify, _SET.read, _SET.fetch
