"""MNIST (LeCun et al. 1998): 70,000 hand-written digits of 28x28; torchvision's layout, or mnist.npz."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.digests import FileDigests
from boostrun.data.files import reading
from boostrun.data.vision import TorchvisionSet
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "mnist")


def _published(data_root: str, mnist) -> Parts:
    train, test = (mnist(data_root, train=part, download=False) for part in (True, False))
    return Parts(
        train.data.numpy(),
        train.targets.numpy().astype(np.int64),
        test.data.numpy(),
        test.targets.numpy().astype(np.int64),
    )


_SET = TorchvisionSet("mnist", "MNIST", "unpacked from the .gz files of the authors", _published)
places, files, read, fetch = _SET.places, _SET.files, _SET.read, _SET.fetch


def verify(options: Mapping, data_root: Path) -> str:
    """md5 of the .gz files, and that the unpacked files, which are what is read, hold the same bytes."""
    said = _SET.verify(options, data_root)
    if _SET.archive(data_root).is_file():
        return said
    with FileDigests(data_root) as digests:
        for place in _SET.needed:
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
    return said


def _unpacked_sha256(packed: Path) -> str:
    digest = hashlib.sha256()
    with gzip.open(packed) as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
