"""Building a bank block by block: images in, codes out; the result depends on neither block size nor n_jobs.

A killed build resumes: fitted state and finished blocks are kept in a journal.

Peak memory: the data set as its loader holds it, plus about `memory_mb` MiB for a block of images with its features
and codes, plus the pipeline's own memory per thread. Edges are fitted on at most `bin_samples` training samples, whose
features go through a temporary file.

Columns of a table with missing values become two features, see `boostrun.data.dataset`: quantile bins of the values
present, and one more edge and bin for the missing ones.

A value bank holds features in double precision, for methods that are not trained on codes. The module of its pipeline
has `VALUES = True`, its output is (n, d) float64, and after `fit` its `fitted` maps names to arrays that the bank
keeps. It sees missing values as column means, with columns that mark them.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from boostrun.data.dataset import Dataset, filled, means_of, two_sided
from boostrun.errors import BoostrunError
from boostrun.features.bank import FORMAT, SPLITS, sha256_of
from boostrun.features.store import Journal, Progress, create_array, out_of_room, remove
from boostrun.kernels.stumps import fit_edges, quantise

_MOST_ROWS = 4096  # a page of codes of each feature; larger blocks are no faster and make progress jumpy
_SUBSET_SEED = 20130905  # of the training samples that edges are fitted on: always the same ones


def build(
    dataset: Dataset, pipeline, options: dict, folder: Path, *, key: str, progress: bool = False, memory_mb: int = 1024
) -> None:
    """Write the bank of `dataset` to `folder`, by way of `<folder>.tmp`; the caller holds its lock.

    Killed or interrupted, it leaves `<folder>.tmp`, from which the next build of the same bank resumes; the finished
    bank is the same to the byte.

    Parameters
    ----------
    dataset : Dataset
    pipeline : object with fit(images), __call__(images) -> (n, d) float32, name, describe(); its attribute `saved` is
        set to the journal, where `fit` may keep arrays by name (`save`) and find them again (`load`)
    options : the features config, with `bins` and `bin_samples`
    folder : Path, which does not exist yet
    key : str, written into the bank
    progress : bool, show progress on stderr
    memory_mb : int, size of a block of work in MiB

    Raises
    ------
    BoostrunError
        Features that are NaN or infinite, a full disk. The temporary folder is removed.
    """
    temporary = folder.with_name(folder.name + ".tmp")
    try:
        with out_of_room(folder):
            journal = Journal(temporary, key)
            _write(dataset, pipeline, options, journal, key=key, progress=progress, memory_mb=memory_mb)
            (temporary / "bank").rename(folder)
    except Exception:  # not on an interrupt: the folder can be resumed
        remove(temporary)
        raise
    remove(temporary)


def subset(n: int, most: int) -> np.ndarray:
    """Increasing indices of the at most `most` of `n` training samples that edges are fitted on; always the same.

    >>> subset(3, 10)
    array([0, 1, 2])
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(_SUBSET_SEED).choice(n, most, replace=False))


def _write(dataset, pipeline, options, journal, *, key, progress, memory_mb) -> None:
    bins, missing = options["bins"], dataset.missing
    exact = pipeline.name == "raw" and dataset.x_train.dtype == np.uint8 and bins == 256
    pipeline.saved = journal
    pipeline.fit(dataset.x_train)
    probe = _features(pipeline, dataset.x_train[:1], missing)
    journal.require_same("probe", probe)
    width, folder = probe.shape[1], journal.folder / "bank"
    folder.mkdir(exist_ok=True)
    rows = block_rows(width, int(np.prod(dataset.x_train.shape[1:])) * dataset.x_train.itemsize, memory_mb)
    if exact:
        edges = np.arange(1, 256, dtype=np.float32)[None]
    else:
        edges = _fit_edges(dataset, pipeline, options, journal, width=width, rows=rows, progress=progress)
    _save(folder / "edges.npy", edges)
    for split, images, labels in (
        ("train", dataset.x_train, dataset.y_train),
        ("test", dataset.x_test, dataset.y_test),
    ):
        path = folder / f"codes_{split}.npy"
        codes, done = journal.columns(path, np.uint8, (width, len(images)))
        with Progress(f"features ({split})", len(images), progress, done=done) as shown:
            for start in range(done, len(images), rows):
                images_here = images[start : start + rows]
                codes[:, start : start + rows] = _codes(images_here, None if exact else pipeline, edges, missing)
                journal.finished(path, codes, start, start + len(images_here))
                shown.advance(len(images_here))
        codes.flush()
        _save(folder / f"labels_{split}.npy", np.asarray(labels, dtype=np.int64))
    _write_meta(dataset, pipeline, options, folder, key=key, width=width, seconds=journal.seconds())


def block_rows(width: int, image_bytes: int, memory_mb: int) -> int:
    """Samples per block: features (float32), codes and their transposition, and the images, within `memory_mb` MiB."""
    return int(max(1, min(_MOST_ROWS, memory_mb * 2**20 // (6 * width + 5 * image_bytes))))


def _codes(images: np.ndarray, pipeline, edges: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """Codes of a block of images, (d, n) uint8; without a pipeline the flattened bytes themselves."""
    if pipeline is None:
        return images.reshape(len(images), -1).T
    features = _features(pipeline, images, missing)
    codes = np.empty(features.shape[::-1], dtype=np.uint8)
    quantise(features, edges, codes)
    return codes


def _features(pipeline, images: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """(n, d) float32; infinite where ``missing`` is given and the image, a row of a table, has NaN."""
    features = pipeline(images)
    if features.ndim != 2 or len(features) != len(images):
        raise BoostrunError(
            f"features={pipeline.name} made the shape {features.shape} of {len(images)} images; (n, d) is expected"
        )
    features = np.ascontiguousarray(features, dtype=np.float32)
    good = np.isfinite(features)
    if missing is not None and good.shape == images.shape:  # a column is a feature
        good |= np.isnan(images)
    if not good.all():
        raise BoostrunError(
            f"features={pipeline.name} made {int((~good).sum())} values that are NaN or infinite in a block of "
            f"{len(images)} samples, first in feature {int(np.flatnonzero(~good.all(axis=0))[0])}"
        )
    return features if missing is None else two_sided(features, missing)


def _fit_edges(dataset, pipeline, options, journal, *, width, rows, progress) -> np.ndarray:
    images, missing = dataset.x_train, dataset.missing
    saved = journal.load("edges")
    if saved is not None:
        return saved["edges"]
    chosen = subset(len(images), options["bin_samples"])
    path = journal.folder / "subset.npy"
    columns, done = journal.columns(path, np.float32, (width, len(chosen)))
    with Progress("quantile bins", len(chosen), progress, done=done) as shown:
        for start in range(done, len(chosen), rows):
            block = _features(pipeline, images[chosen[start : start + rows]], missing)
            columns[:, start : start + len(block)] = block.T
            journal.finished(path, columns, start, start + len(block))
            shown.advance(len(block))
    edges = np.empty((width, options["bins"] - 1), dtype=np.float32)
    step = max(1, 2**24 // len(chosen))
    for first in range(0, width, step):
        fit_edges(np.sort(columns[first : first + step], axis=1), edges[first : first + step])
    if missing is not None:
        _fit_edges_of_missing(columns, missing, edges)
    journal.save("edges", edges=edges)
    del columns
    path.unlink()
    return edges


def _fit_edges_of_missing(columns: np.ndarray, missing: np.ndarray, edges: np.ndarray) -> None:
    """Fill the rows of ``edges`` of the columns ``missing`` and of their copies, the last rows.

    Quantiles of the values present, one bin fewer, with an edge below or above all numbers: -inf is code 0, +inf the
    last.
    """
    first_copy = len(columns) - len(missing)
    for copy, column in enumerate(missing, first_copy):
        there = columns[column][np.isfinite(columns[column])]
        inner = np.full((1, edges.shape[1] - 1), np.inf, dtype=np.float32)
        if len(there):
            fit_edges(np.sort(there)[None], inner)
        edges[column] = [np.finfo(np.float32).min, *inner[0]]
        edges[copy] = [*inner[0], np.inf]


def _save(path: Path, array: np.ndarray) -> None:
    stored = create_array(path, array.dtype, array.shape)
    stored[...] = array
    stored.flush()


def _write_meta(dataset, pipeline, options, folder, *, key, width, seconds) -> None:
    names = ["edges.npy", *(f"{kind}_{split}.npy" for kind in ("codes", "labels") for split in SPLITS)]
    files = {name: {"bytes": (folder / name).stat().st_size, "sha256": sha256_of(folder / name)} for name in names}
    content = "".join(files[name]["sha256"] for name in names if not name.startswith("edges"))
    families = getattr(pipeline, "families", lambda d: [(pipeline.name, 0, d)])(width)
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
        "bins": options["bins"],
        "families": families,
        "files": files,
        "build_seconds": round(seconds, 3),
    }
    if dataset.missing is not None:
        meta["missing"] = {"columns": dataset.missing.tolist()}
    with open(folder / "meta.json", "w") as stream:
        json.dump(meta, stream, indent=1)


_ROWS = 4096  # samples whose features are computed at a time: bounds what a pipeline holds


class ValueBank:
    """A value bank on disk, opened read-only; cheap to open and to pickle.

    Attributes
    ----------
    classes : tuple of str
    n_features : int
    key, checksum : str, as in `boostrun.features.bank.Bank`
    meta : dict, the content of its meta.json; `meta["features"]` is the config

    Raises
    ------
    BoostrunError
        No value bank, or its files have changed since it was built.
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
        """Arrays that the pipeline fitted on the training part, by name."""
        with np.load(self.folder / "fitted.npz", allow_pickle=False) as arrays:
            return dict(arrays)


def build_values(dataset: Dataset, pipeline, options: dict, folder: Path, *, key: str, progress: bool = False) -> None:
    """Write the value bank of `dataset` to `folder`, by way of `<folder>.tmp`; the caller holds its lock.

    Raises BoostrunError for features that are NaN or infinite and for a full disk; the temporary folder is removed.
    """
    temporary = folder.with_name(folder.name + ".tmp")
    remove(temporary)
    try:
        with out_of_room(folder):
            temporary.mkdir()
            _write_values(dataset, pipeline, options, temporary, key=key, progress=progress)
            temporary.rename(folder)
    finally:
        remove(temporary)


def _write_values(dataset: Dataset, pipeline, options: dict, folder: Path, *, key: str, progress: bool) -> None:
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
