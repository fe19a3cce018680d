"""The three inputs: a table, as a feature bank memory-mapped by every trial; a stream whose concept may change; chunks
of files larger than memory, read while they are trained on and tested (``dataset=stream``)."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boostrun.config import catalogue, defaults
from boostrun.data.options import without_parts
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.evaluation import Seeds
from boostrun.inputs import Places, check_reservoir, refuse_keys
from boostrun.methods.declaration import Method

if TYPE_CHECKING:
    from boostrun.data.stream_set import StreamSet

_HELD_OUT_SEED = 20131205  # of the permutation that splits: the same samples are held out in every trial
_SUBSET_SEED = 20111213  # of the permutation that samples are taken from: the same ones in every trial


class Table:
    """The two parts, train and test, of a feature bank.

    Parameters
    ----------
    bank : Bank or ValueBank, see :mod:`boostrun.features`
    kind : str
        Its features: codes, values, products, stumps or anchors.
    rows : mapping or None
        Which samples of the bank's *training* part each part has, by name; a part that is not named is the bank's own.

    Attributes
    ----------
    classes : tuple of str
    families : list of (name, start, stop)
    meta : dict, the content of its meta.json
    """

    def __init__(self, bank: Any, kind: str = "codes", rows: dict[str, np.ndarray] | None = None):
        self.bank, self.kind, self.rows = bank, kind, rows or {}
        self.classes, self.meta = bank.classes, bank.meta
        self.families = getattr(bank, "families", [])
        self._copied: dict[tuple[str, str], np.ndarray] = {}

    def held_out(self, fraction: float, copies: int = 0) -> Table:
        """The training part split in two, of which ``fraction`` plays the test part: for choosing settings.

        The real test part is never opened; bins and dictionaries were fitted on the whole training part, without its
        labels. Where originals are followed by ``copies`` distortions of all of them, those of an original that is
        held out are in neither part.
        """
        originals = len(self.bank.labels("train")) // (copies + 1)
        order = np.random.default_rng(_HELD_OUT_SEED).permutation(originals)
        cut = round(fraction * originals)
        kept = np.sort(order[cut:])
        rows = {
            "test": np.sort(order[:cut]),
            "train": np.concatenate([originals * copy + kept for copy in range(copies + 1)]),
        }
        return Table(self.bank, self.kind, rows)

    def subset(self, count: int) -> Table:
        """``count`` training samples, the same for every trial (all if there are fewer), and the whole test part."""
        order = np.random.default_rng(_SUBSET_SEED).permutation(len(self.labels("train")))
        chosen = np.sort(order[:count])
        train = self.rows["train"][chosen] if "train" in self.rows else chosen
        return Table(self.bank, self.kind, {**self.rows, "train": train})

    def samples(self, split: str) -> np.ndarray:
        """(n, d) uint8, sample-major, read-only."""
        return self._part("samples", split, lambda whole, rows: whole[rows])

    def codes(self, split: str) -> np.ndarray:
        """(d, n) uint8, feature-major, read-only."""
        return self._part("codes", split, lambda whole, rows: np.take(whole, rows, axis=1))

    def values(self, split: str) -> np.ndarray:
        """(n, d) float64 of a bank of values, read-only."""
        return self._part("values", split, lambda whole, rows: whole[rows])

    def labels(self, split: str) -> np.ndarray:
        """(n,) int64, class numbers."""
        return self._part("labels", split, lambda whole, rows: whole[rows])

    def inputs(self, split: str) -> np.ndarray:
        """The input of a classifier: values (n, d) if the features are numbers, else codes."""
        return self.values(split) if self.kind == "values" else self.samples(split)

    def fitted(self) -> dict[str, np.ndarray]:
        """Arrays that the pipeline fitted on the whole training part, by name."""
        return self.bank.fitted()

    def source(self, seed: np.random.SeedSequence) -> ArraySource:
        """The training part as a source of samples, with columns if it has codes, and its families."""
        columns = None if self.kind == "values" else self.codes("train")
        source = ArraySource(self.inputs("train"), self.labels("train"), seed, columns=columns)
        source.families = self.families or None
        return source

    def test_chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The test part as one chunk: codes (d, n) and labels (n,)."""
        yield self.codes("test"), self.labels("test")

    @classmethod
    def made(cls, kind: str = "codes") -> Table:
        """Forty generated samples of five features, for compiling a method."""
        return cls(_Made(), kind)

    def sample(self) -> Table:
        """Forty generated samples of this table's kind."""
        return Table.made(self.kind)

    def set_up(self, model: Any) -> None:
        """Nothing: a table needs no settings of the learner."""

    def costs_of(self, source: ArraySource) -> dict[str, Any]:
        """No costs beyond those of the evaluation."""
        return {}

    def _part(self, name: str, split: str, take: Any) -> np.ndarray:
        if split not in self.rows:
            return getattr(self.bank, name)(split)
        if (name, split) not in self._copied:
            array = np.ascontiguousarray(take(getattr(self.bank, name)("train"), self.rows[split]))
            array.setflags(write=False)  # read-only as in a bank: another type to the compiler
            self._copied[name, split] = array
        return self._copied[name, split]


class _Made:
    """A bank of forty random samples, three classes and one family."""

    classes, families = ("0", "1", "2"), [("all", 0, 5)]

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        rng = np.random.default_rng(0)
        self._samples = rng.integers(0, 256, (40, 5), dtype=np.uint8)
        self._values = self._samples.astype(np.float64)
        self._codes = np.ascontiguousarray(self._samples.T)
        for array in (self._samples, self._values, self._codes):
            array.setflags(write=False)

    def samples(self, split: str) -> np.ndarray:
        return self._samples

    def values(self, split: str) -> np.ndarray:
        return self._values

    def codes(self, split: str) -> np.ndarray:
        return self._codes

    def labels(self, split: str) -> np.ndarray:
        return np.arange(40) % 3


def opened(bank: Any, dataset: Mapping, features: Mapping) -> Table:
    """The table of ``bank``, with hold-out and subset as in the cell's ``dataset``."""
    table = Table(bank, catalogue.pipelines()[features["name"]].gives)
    if fraction := dataset.get("holdout"):
        table = table.held_out(fraction, dataset.get(catalogue.dataset(dataset).copies, 0))
    if count := dataset.get("train_samples"):
        table = table.subset(count)
    return table


_BINNED = 10_000  # samples of files larger than memory


class BankInput:
    """Tables; see :class:`boostrun.inputs.Input`."""

    changes = False

    def refuse(self, name: str, method: Method, dataset: Mapping, features: Mapping, root: Mapping) -> None:
        """Raise BoostrunError for features the method cannot be trained on, and for methods that follow a stream."""
        gives = catalogue.pipelines()[features["name"]].gives
        if gives in method.inputs:
            return
        known = catalogue.pipelines()
        fitting = ", ".join(each for each, pipeline in known.items() if pipeline.gives in method.inputs)
        if not fitting:
            streams = ", ".join(each for each, found in catalogue.datasets().items() if found.gives in method.inputs)
            raise BoostrunError(
                f"algo '{name}' follows a stream, and dataset={dataset['name']} is none; the streams are {streams}"
            )
        raise BoostrunError(f"algo '{name}' cannot be trained on features={features['name']}; it takes {fitting}")

    def of_cell(self, dataset: Mapping, run: Mapping) -> dict[str, Any]:
        """The data set's keys; groups, and rows in order of time, are held out by the loader."""
        by_loader = "held_out" in dataset and dataset["split"] != "random"
        return {"held_out" if key == "holdout" and by_loader else key: value for key, value in dataset.items()}

    def key(self, dataset: Mapping, features: Mapping, places: Places) -> str:
        """The key of the feature bank."""
        from boostrun.features import bank_key

        return bank_key(*_configs(dataset, features, places), places.data_root)

    def modules(self, dataset: Mapping) -> Sequence[str]:
        """The code that reads the bank and selects parts of it; the key covers the content."""
        return (
            "boostrun.inputs.bank:opened", "boostrun.inputs.bank:Table", "boostrun.features.bank:Bank",
            "boostrun.features.build:ValueBank",
        )  # fmt: skip

    def prepare(self, dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
        """Build the bank unless it exists; returns its table."""
        return opened(_open(dataset, features, places, progress), dataset, features)

    def fits(self, prepared: Any, cell: Any) -> None:
        """Raise BoostrunError if a reservoir does not fit the training part."""
        check_reservoir(cell, len(prepared.bank.labels("train")), len(prepared.classes))

    def open(self, dataset: Mapping, features: Mapping, places: Places, key: str, seeds: Seeds, budget: Mapping) -> Any:
        """The table, with hold-out and subset as in the cell."""
        bank = _by_key(places.cache_root / "banks" / key) if "class" not in dataset else None
        bank = bank or _open(dataset, features, places, False)  # by its key: a node of a cluster may not see the data
        if bank.meta["key"] != key:
            from boostrun import data

            raise data.other_each_time(dataset) if "class" in dataset else data.changed(dataset)
        return opened(bank, dataset, features)

    def close(self, dataset: Mapping, places: Places, key: str) -> None:
        """Nothing: a bank never changes."""


def _configs(dataset: Mapping, features: Mapping, places: Places) -> tuple[Mapping, Mapping]:
    from boostrun.extend import loader, pipeline

    return loader.config_for(without_parts(dataset), places.data_root), pipeline.config_for(features)


def _by_key(folder: Path) -> Any:
    from boostrun.features.bank import Bank
    from boostrun.features.build import ValueBank

    if not (folder / "meta.json").is_file():
        return None
    return (Bank if (folder / "edges.npy").is_file() else ValueBank)(folder)


def _open(dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
    from boostrun.features import open_bank

    return open_bank(
        *_configs(dataset, features, places), places.data_root, places.cache_root, progress, places.n_jobs,
        memory_mb=places.memory_mb,
    )  # fmt: skip


_FIRST = 200  # examples before the first test on a hold-out of a learner without a window: the usual length of one
_POINTS = 100  # of a curve
_WINDOW = 500  # examples of a point of a curve: an accuracy of fewer is known to no better than 5 %


@dataclass(frozen=True)
class Followed:
    """A stream and how it is measured, see :class:`boostrun.evaluation.prequential.OnStream`.

    ``kind`` is the type of its values, ``first`` the number of examples before the first hold-out test, ``delay`` the
    number of examples by which labels are late, ``scored_after`` the number of examples left out of metrics;
    ``eval_every`` and ``fading`` are None if the data set is not measured that way.
    """

    stream: Any
    first: int
    eval_every: Any
    window: Any
    fading: Any
    curve_every: Any
    kind: str = "stream"
    delay: int = 0
    measures: str = "accuracy"
    scored_after: int = 0


def open_stream(draw: Callable[..., Any], dataset: Mapping, data_root: Path, seeds: Any, budget: Mapping) -> Followed:
    """The stream of a data set and its hold-outs, the same for all methods; ``draw`` gets a seed for each.

    Without ``seeds`` both are 0, for a look at the stream before trials start. By default a curve has a point after
    each hundredth of the stream, over a window of as many examples, at least 500.
    """
    given = () if seeds is None else (seeds.split, seeds.filter)
    stream = draw(dataset, data_root, *given)
    scored_after = dataset.get("scored_after", 0)
    if scored_after >= len(stream):
        raise BoostrunError(f"dataset.scored_after={scored_after}: the stream has {len(stream)} examples, none is left")
    curve_every = dataset.get("curve_every") or max(1, -(-len(stream) // _POINTS))
    return Followed(
        stream, max(budget.get("n", _FIRST), scored_after), dataset.get("eval_every"),
        dataset.get("window") or max(curve_every, _WINDOW), dataset.get("fading"), curve_every,
        delay=dataset.get("delay", 0), measures=dataset.get("measures", "accuracy"), scored_after=scored_after,
    )  # fmt: skip


class StreamInput:
    """Drifting streams; see :class:`boostrun.inputs.Input`."""

    changes = True

    def refuse(self, name: str, method: Method, dataset: Mapping, features: Mapping, root: Mapping) -> None:
        """Raise BoostrunError for methods that do not follow a stream, computed features, and subsets."""
        where = f"dataset={dataset['name']}"
        if "stream" not in method.inputs:
            able = ", ".join(each for each, other in catalogue.methods().items() if "stream" in other.inputs)
            raise BoostrunError(f"algo '{name}' cannot follow the stream {where}; {able} can")
        if dict(features) != {"name": "raw", **defaults("features", "raw")}:
            raise BoostrunError(f"{where} is learnt as it is: features=raw with its defaults is needed")
        refuse_keys(dataset["name"], root, dict.fromkeys(("holdout", "train_samples"), ": it is a stream"))

    def of_cell(self, dataset: Mapping, run: Mapping) -> dict[str, Any]:
        """The data set's keys as they are."""
        return dict(dataset)

    def key(self, dataset: Mapping, features: Mapping, places: Places) -> str:
        """sha256 (hex) of the files, or of the generator's keys."""
        from boostrun.data import checksum

        return checksum(dataset, places.data_root)

    def modules(self, dataset: Mapping) -> Sequence[str]:
        """The code that draws and measures the stream."""
        from boostrun.data.options import draw_roots

        return (*draw_roots(dataset), "boostrun.data.streams:draw", "boostrun.inputs.bank:open_stream")

    def prepare(self, dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
        """Draw the stream once, so that its errors are reported before a trial starts."""
        from boostrun.data.streams import draw

        return open_stream(draw, _whole(dataset), places.data_root, None, {})

    def fits(self, prepared: Any, cell: Any) -> None:
        """Nothing: every budget fits a stream."""

    def open(self, dataset: Mapping, features: Mapping, places: Places, key: str, seeds: Seeds, budget: Mapping) -> Any:
        """The stream and its hold-outs, the same for all methods."""
        from boostrun.data import loader_module
        from boostrun.data.streams import draw

        located = getattr(importlib.import_module(loader_module(dataset)), "located", None)
        if located is not None:
            dataset = located(dataset, places.data_root, places.folder)
        return open_stream(draw, _whole(dataset), places.data_root, seeds, budget)

    def close(self, dataset: Mapping, places: Places, key: str) -> None:
        """Raise BoostrunError if files changed during the run."""
        from boostrun.data import changed, checksum

        if checksum(dataset, places.data_root, places.folder) != key:
            raise changed(dataset)


def _whole(dataset: Mapping) -> dict[str, Any]:
    """A cell's data set with the keys that the cell omits."""
    return {**defaults("dataset", str(dataset["name"])), **dataset}


# -- chunks ------------------------------------------------------------------------------------------------------------


class Chunks:
    """A streamed set as an evaluation sees it.

    Parameters
    ----------
    data : StreamSet
    limit_mib : float, MiB for the buffers of all Filters together, and afterwards for chunks of the test part
    bins : int, quantile bins a feature
    coded : bool, whether samples are codes, by bins of samples from many places; otherwise the learner may bin them
    """

    def __init__(self, data: StreamSet, limit_mib: float, bins: int, coded: bool = False):
        self.data, self.limit_mib, self.bins, self.coded = data, limit_mib, bins, coded
        self.classes = tuple(map(str, data.classes.tolist()))
        self.kind = np.dtype(data.train_facts.dtype).name
        self._binner: Any = None
        self._source: Any = None

    def for_model(self, model: Any) -> Chunks:
        """The same as ``model`` learns from them: coded if it takes codes, and the files can be read from any place."""
        learner = getattr(model, "_own_learner", None)
        coded = self.kind != "uint8" and self.data.train.anywhere and learner is not None and learner().codes
        return Chunks(self.data, self.limit_mib, self.bins, coded)

    def source(self, seed: np.random.SeedSequence | int, limit_mib: float | None = None) -> Any:
        """The training part as a source of samples with a shuffle buffer a binary problem."""
        self._source = self.data.source(limit_mib or self.limit_mib, seed)
        self._source.encode = self._bins().encode if self.coded else None
        return self._source

    def set_up(self, model: Any) -> None:
        """Hand out codes, also from the source that was made last, if ``model`` takes them; else it bins for itself."""
        model.max_bins = self.bins
        self.coded = self.for_model(model).coded
        self._source.encode = self._bins().encode if self.coded else None

    def costs_of(self, source: Any) -> dict[str, Any]:
        """``buffer_rows``: the capacity in samples of each binary problem's buffer."""
        return {"buffer_rows": source.buffer_rows()[0]}

    def test_chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The test part in the order of its file: values, or codes, (d, m) and labels (m,)."""
        for columns, labels in self.data.test_chunks(self.limit_mib / (1 + self.coded)):
            yield np.ascontiguousarray(self._bins().encode(columns.T).T) if self.coded else columns, labels

    def sample(self) -> Made:
        """Forty generated samples of five features of the same type, for compiling a method."""
        made = Made(np.dtype(self.data.train_facts.dtype))
        return made.coded() if self.coded else made

    def _bins(self) -> Any:
        """The bins of samples from many places, fitted once, before a pass begins: open files take memory."""
        from boostrun.methods.weak_learner import Binner, RowBinner

        if self._binner is None:
            some = self.data.train.reader().some(_BINNED)  # a Binner sorts a copy: a few columns at a time
            blocks = np.array_split(some, 1 + some.shape[1] // 64, axis=1)
            self._binner = RowBinner(np.concatenate([Binner(block, self.bins).edges for block in blocks]))
        return self._binner


class Made:
    """Random samples of three classes, as chunks hand them out."""

    def __init__(self, dtype: np.dtype):
        self._samples = np.random.default_rng(0).integers(0, 256, (40, 5), dtype=np.uint8).astype(dtype)

    def coded(self) -> Made:
        """The same as codes; compiles what encodes values."""
        from boostrun.methods.weak_learner import Binner, RowBinner

        RowBinner(Binner(self._samples).edges).encode(self._samples)
        return Made(np.dtype(np.uint8))

    def source(self, seed: np.random.SeedSequence) -> Any:
        """All of them, from a Filter."""
        return ArraySource(self._samples, np.arange(40) % 3, seed, np.ascontiguousarray(self._samples.T))

    def test_chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All of them, as one chunk."""
        yield np.ascontiguousarray(self._samples.T), np.arange(40) % 3


class ChunksInput:
    """Streamed sets; see :class:`boostrun.inputs.Input`."""

    changes = True

    def refuse(self, name: str, method: Method, dataset: Mapping, features: Mapping, root: Mapping) -> None:
        """Raise BoostrunError for methods that need all samples, computed features, and subsets."""
        from boostrun.data.lake import is_lake

        where, groups = f"dataset={dataset['name']}", "row_groups" in method.inputs
        if groups and not is_lake(dataset["path"]):
            raise BoostrunError(
                f"algo '{name}' gives each part row groups of its own: dataset.path=FOLDER, or a pattern of many files"
            )
        if "chunks" not in method.inputs and not groups:
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
                f"{where} does not take features.bin_samples={features['bin_samples']}: bins are fitted on 10,000 "
                "samples, or on the first that the learner draws"
            )
        reasons = {"train_samples": ": give a shorter file"}
        if not is_lake(dataset["path"]):  # some of whose row groups are held out
            reasons["holdout"] = ": give the samples to choose settings on as dataset.test_path"
        refuse_keys(dataset["name"], root, reasons)

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
        model = catalogue.method(cell.algo).make(cell.algo, cell.budget, {"random_state": 0})
        buffer_rows(prepared.for_model(model), cell.budget.get("r", 1) + cell.budget.get("q", 0))

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
        rows, _ = chunks.source(0).buffer_rows()
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


def least_limit(chunks: Chunks, held: int, least: int = 16) -> int:
    """The smallest ``run.memory_limit`` (MiB), about, whose buffers have room for ``held`` samples each."""
    limit = least
    while True:
        with contextlib.suppress(BoostrunError):
            rows = chunks.source(0, limit).buffer_rows()[0]
            if rows >= held:
                return limit
            limit = max(limit, int(limit * held / rows))
        limit += 1 + limit // 64


def facts_of(table: Table | Chunks, whole: Table | Chunks | None = None) -> dict[str, int]:
    """Sizes of the training part of a table: ``n_samples``, ``n_features``, ``n_classes``, ``n_families``.

    ``n_training`` is the number of samples of ``whole``, if ``table`` is ``whole`` without those held out.
    """
    all_: Any = whole or table
    if isinstance(table, Chunks):
        part = table.data.train_facts
        left, n, d, families = part.rows, all_.data.train_facts.rows, part.features, 1
    else:
        left, families = len(table.labels("train")), max(1, len(table.families))
        n, d = all_.inputs("train").shape  # of the whole, which is not copied
    return {
        "n_samples": left,
        "n_features": int(d),
        "n_classes": len(table.classes),
        "n_families": families,
        "n_training": int(n),
    }


def _own(dataset: Mapping) -> dict[str, Any]:
    return {key: value for key, value in dataset.items() if key != "memory_limit"}


def _located(dataset: Mapping, places: Places) -> Mapping:
    """The data set with whole paths, for a worker in another folder."""
    from boostrun.data import stream_set

    return stream_set.located(dataset, places.data_root, places.folder) if places.folder != Path() else dataset
