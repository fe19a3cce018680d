"""md5 of published files, as torchvision's source has them; the paths are torchvision's, below the data root."""

from __future__ import annotations

from pathlib import Path

from boostrun.data.digests import FileDigests
from boostrun.errors import BoostrunError

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


def verify(name: str, data_root: Path) -> int:
    """Compare the published files of one set that are there; returns how many were compared.

    Raises
    ------
    BoostrunError
        A file is not what was published: the message gives both checksums.
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
