"""The value bank: the features of a data set in double precision, for methods that are not trained on codes.

A pipeline of such features is as `boostrun.features` says; its module has `VALUES = True`, its output is (n, d) float64
and `fitted` of it, after `fit`, is a mapping of the arrays that it has learned, which are kept in the bank.

Of a table with missing values it sees the columns' means in their place and columns that say where they are, see
`boostrun.data.missing`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from boostrun.data.dataset import Dataset
from boostrun.data.missing import filled, means_of
from boostrun.errors import BoostrunError
from boostrun.features.bank import FORMAT, SPLITS, sha256_of
from boostrun.features.progress import Progress
from boostrun.features.store import create_array, out_of_room, remove

_ROWS = 4096  # samples whose features are computed at a time: bounds what a pipeline holds


class ValueBank:
    """A value bank on disk, opened read-only; cheap to open and to pickle.

    Attributes
    ----------
    classes : tuple of str
    n_features : int
    key, checksum : str, as those of `boostrun.features.bank.Bank`
    meta : dict, all that was written when it was built; `meta["features"]` is the config

    Raises
    ------
    BoostrunError
        No value bank, or its files are not what they were when it was built.
    """

    def __init__(self, folder: Path, verify: bool = False):
        self.folder = Path(folder)
        try:
            self.meta = json.loads((self.folder / "meta.json").read_text())
            self.key, self.checksum = self.meta["key"], self.meta["checksum"]
            self.classes = tuple(self.meta["classes"])
            self.n_features = self.meta["n_features"]
            files = self.meta["files"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BoostrunError(f"{self.folder} is no readable value bank ({error}); remove the folder") from error
        for name, known in files.items():
            path = self.folder / name
            size = path.stat().st_size if path.is_file() else 0
            if size != known["bytes"] or (verify and sha256_of(path) != known["sha256"]):
                raise BoostrunError(f"{path} is not what was written; remove {self.folder} and it is built again")

    def __reduce__(self):
        return ValueBank, (self.folder,)

    def values(self, split: str) -> np.ndarray:
        """Features of one part ("train" or "test"), (n, n_features) float64, read-only memory map."""
        return np.load(self.folder / f"values_{split}.npy", mmap_mode="r", allow_pickle=False)

    def labels(self, split: str) -> np.ndarray:
        """Class indices of one part, (n,) int64."""
        return np.load(self.folder / f"labels_{split}.npy", allow_pickle=False)

    def fitted(self) -> dict[str, np.ndarray]:
        """What the pipeline had learned of the training part, by name."""
        with np.load(self.folder / "fitted.npz", allow_pickle=False) as arrays:
            return dict(arrays)


def build_values(dataset: Dataset, pipeline, options: dict, folder: Path, *, key: str, progress: bool = False) -> None:
    """Write the value bank of `dataset` to `folder`, by way of `<folder>.tmp`; the caller holds its lock.

    Raises BoostrunError for features that are NaN or infinite and for a full disk; nothing is left behind.
    """
    temporary = folder.with_name(folder.name + ".tmp")
    remove(temporary)
    try:
        with out_of_room(folder):
            temporary.mkdir()
            _write(dataset, pipeline, options, temporary, key=key, progress=progress)
            temporary.rename(folder)
    finally:
        remove(temporary)


def _write(dataset: Dataset, pipeline, options: dict, folder: Path, *, key: str, progress: bool) -> None:
    missing, means = dataset.missing, np.empty(0)
    if missing is not None:
        means = means_of(dataset.x_train)

    def complete(x: np.ndarray) -> np.ndarray:
        return x if missing is None else filled(x, missing, means)

    pipeline.fit(dataset.x_train if missing is None or not len(missing) else complete(dataset.x_train))
    np.savez(folder / "fitted.npz", **pipeline.fitted)
    width = pipeline(complete(dataset.x_train[:1])).shape[1]
    for split, x, y in (("train", dataset.x_train, dataset.y_train), ("test", dataset.x_test, dataset.y_test)):
        values = create_array(folder / f"values_{split}.npy", np.float64, (len(x), width))
        with Progress(f"features ({split})", len(x), progress, "samples") as shown:
            for start in range(0, len(x), _ROWS):
                block = pipeline(complete(x[start : start + _ROWS]))
                if not np.isfinite(block).all():
                    raise BoostrunError(f"features={pipeline.name} made values that are NaN or infinite")
                values[start : start + len(block)] = block
                shown.advance(len(block))
        values.flush()
        np.save(folder / f"labels_{split}.npy", np.asarray(y, dtype=np.int64))
    names = [f"{kind}_{split}.npy" for kind in ("values", "labels") for split in SPLITS] + ["fitted.npz"]
    files = {name: {"bytes": (folder / name).stat().st_size, "sha256": sha256_of(folder / name)} for name in names}
    content = "".join(files[name]["sha256"] for name in names[:-1])  # type: ignore[misc]
    meta = {
        "format": FORMAT,
        "key": key,
        "checksum": hashlib.sha256(content.encode()).hexdigest(),
        "dataset": dataset.name,
        "data_checksum": dataset.checksum,
        "features": options,
        "pipeline": pipeline.describe(),
        "classes": list(dataset.classes),
        "n_features": width,
        "n_samples": {"train": len(dataset.x_train), "test": len(dataset.x_test)},
        "files": files,
    }
    if missing is not None:
        meta["missing"] = {"columns": missing.tolist(), "means": means.tolist()}
    (folder / "meta.json").write_text(json.dumps(meta, indent=1))
