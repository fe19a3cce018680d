"""Building a bank block by block: images in, codes out; the result depends on neither block size nor n_jobs.

Peak memory: the data set as its loader holds it, plus about `memory_mb` MiB for a block of images with its features
and codes, plus what the pipeline keeps per thread. Edges are fitted on at most `bin_samples` training samples, whose
features go through a temporary file, not through memory.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from boostrun.data.dataset import Dataset
from boostrun.errors import BoostrunError
from boostrun.features.bank import FORMAT, SPLITS, sha256_of
from boostrun.features.progress import Progress
from boostrun.features.store import create_array, out_of_room, remove
from boostrun.kernels.quantise import fit_edges, quantise

_MOST_ROWS = 4096  # a page of codes of each feature; larger blocks are no faster and make progress jumpy
_SUBSET_SEED = 20130905  # of the training samples that edges are fitted on: always the same ones


def build(
    dataset: Dataset, pipeline, options: dict, folder: Path, *, key: str, progress: bool = False, memory_mb: int = 1024
) -> None:
    """Write the bank of `dataset` to `folder`, by way of `<folder>.tmp`; the caller holds its lock.

    Parameters
    ----------
    dataset : Dataset
    pipeline : object with fit(images), __call__(images) -> (n, d) float32, name, describe()
    options : the features config, with `bins` and `bin_samples`
    folder : Path, which does not exist yet
    key : str, written into the bank
    progress : bool, show progress on stderr
    memory_mb : int, size of a block of work in MiB

    Raises
    ------
    BoostrunError
        Features that are NaN or infinite, a full disk. Nothing is left behind.
    """
    temporary = folder.with_name(folder.name + ".tmp")
    remove(temporary)
    try:
        with out_of_room(folder):
            temporary.mkdir()
            _write(dataset, pipeline, options, temporary, key=key, progress=progress, memory_mb=memory_mb)
            temporary.rename(folder)
    finally:
        remove(temporary)


def subset(n: int, most: int) -> np.ndarray:
    """Increasing indices of the at most `most` of `n` training samples that edges are fitted on; always the same.

    >>> subset(3, 10)
    array([0, 1, 2])
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(_SUBSET_SEED).choice(n, most, replace=False))


def _write(dataset, pipeline, options, folder, *, key, progress, memory_mb) -> None:
    started = time.perf_counter()
    bins = options["bins"]
    exact = pipeline.name == "raw" and dataset.x_train.dtype == np.uint8 and bins == 256
    pipeline.fit(dataset.x_train)
    width = _features(pipeline, dataset.x_train[:1]).shape[1]
    rows = block_rows(width, int(np.prod(dataset.x_train.shape[1:])) * dataset.x_train.itemsize, memory_mb)
    if exact:
        edges = np.arange(1, 256, dtype=np.float32)[None]
    else:
        edges = _fit_edges(dataset.x_train, pipeline, options, folder, width=width, rows=rows, progress=progress)
    _save(folder / "edges.npy", edges)
    for split, images, labels in (
        ("train", dataset.x_train, dataset.y_train),
        ("test", dataset.x_test, dataset.y_test),
    ):
        codes = create_array(folder / f"codes_{split}.npy", np.uint8, (width, len(images)))

        def store(start: int, features: np.ndarray, codes=codes) -> None:
            if exact:
                codes[:, start : start + len(features)] = features.T
                return
            block = np.empty(features.shape[::-1], dtype=np.uint8)
            quantise(features, edges, block)
            codes[:, start : start + len(features)] = block

        _in_blocks(
            images, None if exact else pipeline, rows, store, Progress(f"features ({split})", len(images), progress)
        )
        codes.flush()
        _save(folder / f"labels_{split}.npy", np.asarray(labels, dtype=np.int64))
    _write_meta(dataset, pipeline, options, folder, key=key, width=width, seconds=time.perf_counter() - started)


def block_rows(width: int, image_bytes: int, memory_mb: int) -> int:
    """Samples per block: features (float32), codes and their transposition, and the images, within `memory_mb` MiB."""
    return int(max(1, min(_MOST_ROWS, memory_mb * 2**20 // (6 * width + 5 * image_bytes))))


def _in_blocks(images, pipeline, rows: int, use: Callable, progress: Progress) -> None:
    """use(start, features) for each block of images; without a pipeline the flattened bytes themselves."""
    with progress:
        for start in range(0, len(images), rows):
            block = images[start : start + rows]
            use(start, block.reshape(len(block), -1) if pipeline is None else _features(pipeline, block))
            progress.advance(len(block))


def _features(pipeline, images: np.ndarray) -> np.ndarray:
    features = pipeline(images)
    if features.ndim != 2 or len(features) != len(images):
        raise BoostrunError(
            f"features={pipeline.name} made the shape {features.shape} of {len(images)} images; (n, d) is expected"
        )
    features = np.ascontiguousarray(features, dtype=np.float32)
    good = np.isfinite(features)
    if not good.all():
        raise BoostrunError(
            f"features={pipeline.name} made {int((~good).sum())} values that are NaN or infinite in a block of "
            f"{len(images)} samples, first in feature {int(np.flatnonzero(~good.all(axis=0))[0])}"
        )
    return features


def _fit_edges(images, pipeline, options, folder, *, width, rows, progress) -> np.ndarray:
    chosen = subset(len(images), options["bin_samples"])
    path = folder / "subset.npy"
    columns = create_array(path, np.float32, (width, len(chosen)))
    with Progress("quantile bins", len(chosen), progress) as shown:
        for start in range(0, len(chosen), rows):
            block = _features(pipeline, images[chosen[start : start + rows]])
            columns[:, start : start + len(block)] = block.T
            shown.advance(len(block))
    edges = np.empty((width, options["bins"] - 1), dtype=np.float32)
    step = max(1, 2**24 // len(chosen))
    for first in range(0, width, step):
        fit_edges(np.sort(columns[first : first + step], axis=1), edges[first : first + step])
    del columns
    path.unlink()
    return edges


def _save(path: Path, array: np.ndarray) -> None:
    stored = create_array(path, array.dtype, array.shape)
    stored[...] = array
    stored.flush()


def _write_meta(dataset, pipeline, options, folder, *, key, width, seconds) -> None:
    names = ["edges.npy", *(f"{kind}_{split}.npy" for kind in ("codes", "labels") for split in SPLITS)]
    files = {name: {"bytes": (folder / name).stat().st_size, "sha256": sha256_of(folder / name)} for name in names}
    content = "".join(files[name]["sha256"] for name in names if not name.startswith("edges"))
    families = pipeline.families(width) if hasattr(pipeline, "families") else [(pipeline.name, 0, width)]
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
    with open(folder / "meta.json", "w") as stream:
        json.dump(meta, stream, indent=1)
