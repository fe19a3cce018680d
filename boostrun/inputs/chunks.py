"""Files larger than memory, read in chunks while they are trained on and tested: ``dataset=stream``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boostrun.data.stream_set import StreamSet
from boostrun.errors import BoostrunError
from boostrun.evaluation import Seeds
from boostrun.inputs import Places, check_reservoir, refuse_keys

if TYPE_CHECKING:
    from boostrun.methods.declaration import Method


class Chunks:
    """A streamed set as an evaluation sees it.

    Parameters
    ----------
    data : StreamSet
    limit_mib : float, MiB for the buffers of all Filters together, and afterwards for chunks of the test part
    bins : int, quantile bins a feature; real values are binned on the first samples drawn
    """

    def __init__(self, data: StreamSet, limit_mib: float, bins: int):
        self.data, self.limit_mib, self.bins = data, limit_mib, bins
        self.classes = tuple(map(str, data.classes.tolist()))
        self.kind = np.dtype(data.train_facts.dtype).name

    def source(self, seed: np.random.SeedSequence) -> Any:
        """The training part as a source of samples with a shuffle buffer a binary problem."""
        return self.data.source(self.limit_mib, seed)

    def set_up(self, model: Any) -> None:
        """Pass the number of bins to the learner, which bins the samples it draws."""
        model.max_bins = self.bins

    def costs_of(self, source: Any) -> dict[str, Any]:
        """``buffer_rows``: the capacity in samples of each binary problem's buffer."""
        return {"buffer_rows": source.buffer_rows()[0]}

    def test_chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The test part in the order of its file: values (d, m) and labels (m,)."""
        return self.data.test_chunks(self.limit_mib)

    def sample(self) -> Made:
        """Forty generated samples of five features of the same type, for compiling a method."""
        return Made(np.dtype(self.data.train_facts.dtype))


class Made:
    """Random samples of three classes, as chunks hand them out."""

    def __init__(self, dtype: np.dtype):
        self._samples = np.random.default_rng(0).integers(0, 256, (40, 5), dtype=np.uint8).astype(dtype)

    def source(self, seed: np.random.SeedSequence) -> Any:
        """All of them, from a Filter."""
        from boostrun.data.source import ArraySource

        return ArraySource(self._samples, np.arange(40) % 3, seed, np.ascontiguousarray(self._samples.T))

    def test_chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All of them, as one chunk."""
        yield np.ascontiguousarray(self._samples.T), np.arange(40) % 3


class ChunksInput:
    """Streamed sets; see :class:`boostrun.inputs.Input`."""

    changes = True

    def refuse(self, name: str, method: Method, dataset: Mapping, features: Mapping, root: Mapping) -> None:
        """Raise BoostrunError for methods that need all samples, computed features, and subsets."""
        from boostrun.config import catalogue, defaults

        where = f"dataset={dataset['name']}"
        if "chunks" not in method.inputs:
            able = [each for each, other in catalogue.methods().items() if "chunks" in other.inputs]
            raise BoostrunError(
                f"algo '{name}' needs all samples in memory, and {where} hands out few at a time; use one that draws "
                f"from a filter: {', '.join(able)}"
            )
        if features["name"] != "raw":
            raise BoostrunError(
                f"features={features['name']}: {where} is trained on as it lies on the disk, so features=raw is the "
                "only choice"
            )
        if features["bin_samples"] != defaults("features", "raw")["bin_samples"]:
            raise BoostrunError(
                f"{where} has no use for features.bin_samples={features['bin_samples']}: bins are fitted on the first "
                "samples that the learner draws"
            )
        refuse_keys(
            dataset["name"], root,
            {
                "holdout": ": give the samples to choose settings on as dataset.test_path",
                "train_samples": ": give a shorter file",
            },
        )  # fmt: skip

    def of_cell(self, dataset: Mapping, run: Mapping) -> dict[str, Any]:
        """The data set's keys and ``memory_limit``: the size of a shuffle buffer decides the order of samples."""
        return {**dataset, "memory_limit": run["memory_limit"]}

    def key(self, dataset: Mapping, features: Mapping, places: Places) -> str:
        """sha256 (hex) of the files."""
        from boostrun.data import stream_set

        return stream_set.key(_own(dataset), places.data_root)

    def modules(self, dataset: Mapping) -> Sequence[str]:
        """The code that reads and shuffles the set."""
        return (f"{__name__}:Chunks", f"{__name__}:ChunksInput", "boostrun.data.stream_set:open_set")

    def prepare(self, dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
        """Read the files once and check them; builds nothing."""
        return self._chunks(dataset, features, places)

    def fits(self, prepared: Any, cell: Any) -> None:
        """Raise BoostrunError if a reservoir does not fit the training part, or the buffers the memory."""
        facts = prepared.data.train_facts
        check_reservoir(cell, facts.rows, len(prepared.classes))
        if np.dtype(facts.dtype) == np.uint8 and prepared.bins != 256:
            raise BoostrunError(
                f"features.bins={prepared.bins}: {prepared.data.train.path} holds 8-bit values, which are their own "
                "bins"
            )
        buffer_rows(prepared, cell.budget.get("r", 1) + cell.budget.get("q", 0))

    def open(self, dataset: Mapping, features: Mapping, places: Places, key: str, seeds: Seeds, budget: Mapping) -> Any:
        """The set, with paths relative to the command's folder resolved."""
        return self._chunks(dataset, features, places)

    def close(self, dataset: Mapping, places: Places, key: str) -> None:
        """Raise BoostrunError if files changed during the run."""
        if self.key(_located(dataset, places), {}, places) != key:
            raise BoostrunError("the files of the streamed set were changed while they were read; run it again")

    def _chunks(self, dataset: Mapping, features: Mapping, places: Places) -> Chunks:
        from boostrun.data import stream_set

        data = stream_set.open_set(_own(_located(dataset, places)), places.data_root)
        return Chunks(data, dataset["memory_limit"], features["bins"])


def buffer_rows(chunks: Chunks, held: int = 1) -> int:
    """Samples that the shuffle buffer of each binary problem has room for.

    Raises BoostrunError if these are fewer than the ``held`` samples that the learner draws at once.
    """
    data, limit = chunks.data, chunks.limit_mib
    problems = "the buffer" if data.problems == 1 else f"each of the {data.problems} buffers (one a class)"
    try:
        rows, _ = data.source(limit, 0).buffer_rows()
    except BoostrunError:
        raise BoostrunError(
            f"run.memory_limit={limit} (MiB) is too little for {problems} of rows of {data.train_facts.features} "
            "values; raise it"
        ) from None
    if rows < held:
        raise BoostrunError(
            f"run.memory_limit={limit} (MiB) is too little: {problems} has room for {rows} samples, and the learner "
            f"draws {held} at once; raise it, or lower r or q"
        )
    return rows


def _own(dataset: Mapping) -> dict[str, Any]:
    return {key: value for key, value in dataset.items() if key != "memory_limit"}


def _located(dataset: Mapping, places: Places) -> Mapping:
    """The data set with whole paths, for a worker in another folder."""
    from boostrun.data import stream_set

    return stream_set.located(dataset, places.data_root, places.folder) if places.folder != Path() else dataset
