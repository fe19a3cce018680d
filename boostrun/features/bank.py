"""The feature bank: the quantised features of a data set, feature-major, memory-mapped, built once.

Also the state that pipelines fit once for all random splits of a data set (on split 0), kept beside the banks and
checked against the data a bank is built from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.features import store as seal
from boostrun.features.store import Journal, create_array, locked, make_folder, out_of_room, sha256_of
from boostrun.files import owner, sweep

FORMAT = 1
SPLITS = ("train", "test")
_BLOCK = 1024  # side of the square tiles of a transposition: 1 MiB, stays in the L2 cache


class Bank:
    """A bank on disk, opened read-only; cheap to open, to pickle and to share between processes.

    Code c of a feature means: c of its edges are <= its value. Hence code >= c exactly when value >= edges[f, c - 1],
    and a stump found on codes is a stump on raw values. Features in `fitted()["columns"]`, see
    `boostrun.features.columns`, have edges between codes; `boostrun.methods.preparation.edges_of` gives those of raw
    values.

    Parameters
    ----------
    folder : Path, a finished bank
    verify : bool, hash the codes again and compare (file sizes are always compared)

    Attributes
    ----------
    classes : tuple of str
    n_features : int
    key : str, names the bank (see `boostrun.features.bank_key`)
    checksum : str, sha256 (hex) of codes and labels of both parts
    families : list of (name, start, stop), the features of each family
    edges : float32, (n_features, bins - 1), increasing, padded with +inf; read-only

    Raises
    ------
    BoostrunError
        No bank, or its files are not what they were when it was built.
    """

    def __init__(self, folder: Path, verify: bool = False):
        self.folder = Path(folder)
        try:
            meta = json.loads((self.folder / "meta.json").read_text())
            self.key, self.checksum = meta["key"], meta["checksum"]
            self.classes = tuple(meta["classes"])
            self.n_features = meta["n_features"]
            self.families = [tuple(family) for family in meta["families"]]
            self._sizes, files = meta["n_samples"], meta["files"]
            self.meta = meta
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BoostrunError(f"{self.folder} is no readable feature bank ({error}); remove the folder") from error
        for name, known in files.items():
            self._check(name, known, verify)
        self.edges = np.broadcast_to(self._open("edges.npy"), (self.n_features, meta["bins"] - 1))

    def __reduce__(self):
        return Bank, (self.folder,)

    def __repr__(self) -> str:
        sizes = " + ".join(str(self._sizes[split]) for split in SPLITS)
        return f"Bank({sizes} samples, {self.n_features} features, {len(self.classes)} classes, {self.key[:12]})"

    def codes(self, split: str) -> np.ndarray:
        """Codes of one part ("train" or "test"), (n_features, n) uint8, feature-major read-only memory map."""
        return self._open(f"codes_{_split(split)}.npy")

    def labels(self, split: str) -> np.ndarray:
        """Class indices of one part, (n,) int64."""
        return np.array(self._open(f"labels_{_split(split)}.npy"))

    def samples(self, split: str) -> np.ndarray:
        """The same codes with samples as rows, (n, n_features) uint8, read-only memory map.

        Transposed block by block on first use, once for all processes, and kept beside the codes.
        """
        name = f"samples_{_split(split)}.npy"
        shape = (self._sizes[split], self.n_features)
        path = self.folder / name
        if not path.exists():
            with locked(self.folder), out_of_room(self.folder):
                if not path.exists():
                    _transpose(self.codes(split), path, shape)
        samples = self._open(name)
        if samples.shape != shape:
            raise BoostrunError(f"{path} has the shape {samples.shape}, not {shape}; remove the file")
        return samples

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes of raw feature values by the same rule: (n, n_features) -> (n, n_features) uint8.

        Values are compared as float32, as in the build of the bank.
        """
        from boostrun.kernels.stumps import quantise

        values = np.ascontiguousarray(values, dtype=np.float32)
        if values.ndim != 2 or values.shape[1] != self.n_features:
            raise BoostrunError(f"values must have the shape (n, {self.n_features}), not {values.shape}")
        if not np.isfinite(values).all():
            raise BoostrunError(f"values hold {int((~np.isfinite(values)).sum())} entries that are NaN or infinite")
        codes = np.empty(values.shape[::-1], dtype=np.uint8)
        quantise(values, np.asarray(self._open("edges.npy")), codes)
        return np.ascontiguousarray(codes.T)

    def fitted(self) -> dict[str, np.ndarray]:
        """Arrays that the pipeline fitted on the training part, by name; empty if it keeps none."""
        path = self.folder / "fitted.npz"
        if not path.is_file():
            return {}
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return dict(arrays)
        except Exception as error:  # a damaged archive raises any of a dozen kinds
            raise BoostrunError(f"{path} cannot be read ({error}); remove the folder") from error

    def _open(self, name: str) -> np.ndarray:
        try:
            return np.load(self.folder / name, mmap_mode="r", allow_pickle=False)
        except Exception as error:  # a damaged head raises any of a dozen kinds
            raise BoostrunError(f"{self.folder / name} cannot be read ({error}); remove the folder") from error

    def _check(self, name: str, known: dict, verify: bool) -> None:
        path = self.folder / name
        size = path.stat().st_size if path.is_file() else 0
        if size != known["bytes"]:
            raise BoostrunError(
                f"{path} has {size} bytes where {known['bytes']} were written; "
                f"remove the folder {self.folder} and it is built again"
            )
        if verify and (found := sha256_of(path)) != known["sha256"]:
            raise BoostrunError(
                f"{path} has the checksum {found} where {known['sha256']} was written; "
                f"remove the folder {self.folder} and it is built again"
            )


def _split(split: str) -> str:
    if split not in SPLITS:
        raise BoostrunError(f"a bank has the parts train and test, not {split!r}")
    return split


def _transpose(codes: np.ndarray, path: Path, shape: tuple[int, int]) -> None:
    sweep(path.parent)  # a killed transposition leaves a file as large as the bank
    half = path.with_name(f".{path.name}.{owner()}-0.tmp")
    try:
        out = create_array(half, np.uint8, shape)
        for i in range(0, shape[0], _BLOCK):
            for f in range(0, shape[1], _BLOCK):
                out[i : i + _BLOCK, f : f + _BLOCK] = codes[f : f + _BLOCK, i : i + _BLOCK].T
        out.flush()
        seal.note(path.parent, {path.name: sha256_of(half)}, {})
        half.rename(path)
    finally:
        half.unlink(missing_ok=True)


class FirstSplit:
    """Split 0 of a data set (`split_seed=0`; the data set itself if it has no such key), for one pipeline.

    The fitted state lies in `<cache_root>/codebooks/<key>/`, with the key of the bank of split 0.

    Parameters
    ----------
    dataset, features : mappings with `name` and its keys
    data_root, cache_root : Path
    """

    def __init__(self, dataset: Mapping, features: Mapping, data_root: Path, cache_root: Path):
        self._is_first = not dataset.get("split_seed")
        self._dataset = dict(dataset) if self._is_first else {**dataset, "split_seed": 0}
        self._features, self._data_root, self._cache_root = features, Path(data_root), Path(cache_root)

    def images(self, images: np.ndarray) -> np.ndarray:
        """The training images of split 0; `images` are those of the data set itself, already read."""
        if self._is_first:
            return images
        from boostrun.data import load

        return load(self._dataset, self._data_root).x_train

    @contextmanager
    def kept(self) -> Iterator[Journal]:
        """The locked journal of the fitted state: one process fits, others at work on other splits wait."""
        from boostrun.features import bank_key

        key = bank_key(self._dataset, self._features, self._data_root)
        folder = self._cache_root / "codebooks" / key
        make_folder(folder.parent)
        with locked(folder), out_of_room(folder):
            yield Journal(folder, key)


class CheckedSplit(FirstSplit):
    """Like `FirstSplit`, for a build of the bank ``key``; raises BoostrunError if the data have changed."""

    def __init__(self, dataset: Mapping, features: Mapping, data_root: Path, cache_root: Path, key: str):
        super().__init__(dataset, features, data_root, cache_root)
        self._key = key if self._is_first else ""

    def images(self, images: np.ndarray) -> np.ndarray:
        """The training images of split 0; `images` are those of the data set itself, already read."""
        if self._is_first:
            return images
        from boostrun.data import changed, load
        from boostrun.features import key_of

        data = load(self._dataset, self._data_root)
        if self._key and key_of(self._dataset, self._features, data.checksum) != self._key:
            raise changed(self._dataset)
        return data.x_train

    @contextmanager
    def kept(self) -> Iterator[Journal]:
        """The locked journal of the fitted state."""
        from boostrun.data import changed

        with super().kept() as journal:
            key = journal.folder.name
            if self._key and self._key != key:
                raise changed(self._dataset)
            self._key = key
            yield journal
