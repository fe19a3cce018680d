"""What a fit is asked for, and the columns of a table with very many, screened before its search
(:mod:`boostrun.runner.within`).

A bank of 860,000 columns takes minutes and gigabytes, and a model of 20 features reads 20 of them. So each column is
looked at once, by the rank test of Kruskal and Wallis, on the rows that trials train on: not on those held out, and not
on the test part. Those with the largest statistic become a small table. Its columns keep their names, those of an array
are named by their numbers, so that a saved model finds its columns in samples of the full width.
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import njit

from boostrun.config.fields import GROUPS, PLACES, Settings
from boostrun.config.words import quoted, single_values
from boostrun.data.arrays import KEYS
from boostrun.data.columns import PLAIN
from boostrun.data.csv import files
from boostrun.data.dataset import forget, names_of, parts_of_rows
from boostrun.data.files import given_file, user_path
from boostrun.data.formats import source_of
from boostrun.data.table import TableParts, parts_of
from boostrun.errors import BoostrunError
from boostrun.files import replacing
from boostrun.inputs.bank import Table
from boostrun.runner.plan import block_mib, roots
from boostrun.runner.search import HOLDOUT
from boostrun.runner.worker import peak_memory_mb

_EACH, _LEAST = 100, 1000  # columns that are kept for each feature of the budget, and at least
_WIDE = 10  # an array is screened if it has so many times as many columns as are kept
_COLUMNS = 4096  # of a block whose values are sorted
_BYTES = 1 << 27  # of an array's rows that are read before its pages are released


@dataclass
class Request:
    """The ``words`` without algo, the ``algos`` if some are named, the ``budgets`` and the ``output``.

    ``command`` is the command line, for records, and ``again`` the one that repeats all of it. ``arrays`` are samples
    (n, d) and labels (n,) that were not written to the file that ``words`` name, as there are very many columns.
    ``screened`` are facts about the columns that were kept, if they were screened, and ``peak`` the bytes that this
    process had taken at most by then.
    """

    words: list[str]
    algos: tuple[str, ...]
    budgets: dict[str, float]
    output: Path
    command: Sequence[str] = ()
    again: str = ""
    config_dir: str | None = None
    quiet: bool = False
    arrays: tuple[np.ndarray, np.ndarray] | None = None
    screened: Mapping[str, Any] | None = None
    peak: float = 0.0

    @property
    def data_words(self) -> list[str]:
        """The words without the keys of methods: they say what is read, where and how."""
        others = {*GROUPS[1:], *PLACES, "n_jobs", "name"}
        return [word for word in self.words if word.partition("=")[0].partition(".")[0] in others]

    @property
    def typed(self) -> list[str]:
        """The keys of methods among the words, which a search leaves as they are."""
        return [word.partition("=")[0] for word in self.words if word not in self.data_words]


_OF_FIT = {
    "trials": "fit decides how often it tries what", "holdout": "fit holds out a fifth of the training rows",
    "train_samples": "held=500 is a budget of samples", "tuned": "fit chooses all values itself",
    "seed": "fit parts the rows by dataset.split_seed=0",
}  # fmt: skip


def check_words(words: Sequence[str]) -> None:
    """Raise BoostrunError for words with several values, and for those that a fit decides itself."""
    given = single_values(words)
    if clash := next((key for key in _OF_FIT if key in given), ""):
        raise BoostrunError(f"{clash}: {_OF_FIT[clash]}; leave it out")


def kept_of(columns: int, budgets: Mapping[str, float]) -> int:
    """How many of so many columns are kept: 100 for each feature of the budget, at least 1,000; 0: all are.

    >>> kept_of(860_000, {"features": 20}), kept_of(5000, {"features": 20}), kept_of(860_000, {"seconds": 60})
    (2000, 0, 0)
    """
    kept = max(_LEAST, _EACH * int(budgets.get("features", columns)))
    return kept if columns >= _WIDE * kept else 0


def rank_statistics(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """H of the rank test of Kruskal and Wallis for each column, corrected for ties; 0 for a constant column.

    With N samples, n_k of class k, whose ranks have the sum R_k, and t samples at each distinct value::

        H = (12 / (N (N + 1)) sum_k R_k^2 / n_k - 3 (N + 1)) / (1 - sum_t (t^3 - t) / (N^3 - N))

    Parameters: ``x`` (n, d) numbers, compared in single precision, NaN below all others; ``y`` (n,) class numbers.
    Returns (d,) float64. Cost: a sort of n numbers of 64 bits a column, and 8 n bytes for each of 4,096 columns.

    References: W. H. Kruskal and W. A. Wallis, "Use of ranks in one-criterion variance analysis", Journal of the
    American Statistical Association, 1952.

    >>> x = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]])
    >>> rank_statistics(x, np.array([0, 0, 1, 1])).round(3).tolist()
    [2.4, 0.0]
    """
    y = np.asarray(y, np.int64)
    counts = np.bincount(y)
    out = np.empty(x.shape[1])
    for first in range(0, x.shape[1], _COLUMNS):
        columns = np.ascontiguousarray(x[:, first : first + _COLUMNS].T, dtype=np.float32)
        keys = np.empty(columns.shape, np.uint64)
        _fill(columns.view(np.uint32), y, keys)
        keys.sort(axis=1)
        _statistics(keys, counts, out[first : first + _COLUMNS])
    return out


@njit(cache=True)
def _fill(bits, y, keys):
    """keys[j, i] = the rank order of a value, of its ``bits`` (d, n) uint32, above the class of its sample."""
    top, all_bits, shift = np.uint64(0x80000000), np.uint64(0xFFFFFFFF), np.uint64(32)
    for j in range(bits.shape[0]):
        for i in range(bits.shape[1]):
            order = np.uint64(bits[j, i])
            size = order & (top - np.uint64(1))
            if size > np.uint64(0x7F800000):  # NaN
                order = np.uint64(0)
            elif size == np.uint64(0):  # 0 and -0 are equal
                order = top
            elif order >= top:
                order = all_bits - order
            else:
                order = order + top
            keys[j, i] = (order << shift) | np.uint64(y[i])


@njit(cache=True)
def _statistics(keys, counts, out):
    """H of each row of sorted ``keys`` (d, n) uint64, which hold values above classes, into ``out`` (d,)."""
    n = keys.shape[1]
    sums = np.empty(len(counts))
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for j in range(keys.shape[0]):
        sums[:] = 0.0
        ties, start = 0.0, 0
        while start < n:
            stop = start + 1
            while stop < n and keys[j, stop] >> shift == keys[j, start] >> shift:
                stop += 1
            rank = 0.5 * (start + stop + 1)
            for i in range(start, stop):
                sums[keys[j, i] & low] += rank
            size = float(stop - start)
            ties += size * size * size - size
            start = stop
        total = 0.0
        for k in range(len(counts)):
            if counts[k] > 0:
                total += sums[k] * sums[k] / counts[k]
        cubes = float(n) * n * n - n
        out[j] = (12.0 / (n * (n + 1.0)) * total - 3.0 * (n + 1.0)) / (1.0 - ties / cubes) if ties < cubes else 0.0


def best_columns(x: np.ndarray, y: np.ndarray, rows: np.ndarray, count: int, where: str = "X") -> np.ndarray:
    """The ``count`` columns of ``x`` (n, d) with the largest rank statistic on the samples ``rows``, ascending.

    Of equal statistics, those of the first columns count as larger. ``y`` (n,) are class numbers. A memory map is read
    in blocks of columns, whose pages are released. Raises BoostrunError for a value that is infinite.
    """
    statistics = np.empty(x.shape[1])
    step = max(_COLUMNS, _COLUMNS * int(_BYTES // (_COLUMNS * x.itemsize * max(1, len(x)))))
    limit = np.finfo(np.float32).max
    for first in range(0, x.shape[1], step):
        block = x[:, first : first + step][rows]
        if block.dtype.kind == "f" and (bad := np.abs(block) > limit).any():
            row, column = np.argwhere(bad)[0]
            raise BoostrunError(
                f"{where} has {block[row, column]:g} in row {rows[row] + 1}, column {first + column}: infinite or "
                "beyond float32; fill or remove such values"
            )
        statistics[first : first + step] = rank_statistics(block, y[rows])
        _release(x)
    return np.sort(np.argsort(-statistics, kind="stable")[:count])


def _taken(x: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """x[:, columns], of a memory map with few pages in memory at a time."""
    if not x.flags.c_contiguous and x.strides[0] < x.strides[1]:  # column by column
        return np.ascontiguousarray(x[:, columns])
    out = np.empty((len(x), len(columns)), x.dtype)
    step = max(1, _BYTES // max(1, x.itemsize * x.shape[1]))
    for start in range(0, len(x), step):
        out[start : start + step] = x[start : start + step][:, columns]
        _release(x)
    return out


def _release(x: np.ndarray) -> None:
    """Let the pages of a memory map leave the memory; those of a private map may hold changes, and stay."""
    if isinstance(x, np.memmap) and x.mode in ("r", "r+") and (mapped := getattr(x, "_mmap", None)) is not None:
        forget(mapped)


def narrowed(request: Request, settings: Settings) -> Request:
    """The request for a table of the best columns, beside the output; itself if nothing is to be screened.

    Screened are arrays, of a request or of an .npy or .npz file with two-dimensional samples, and tables of plain
    numbers. An array that is stored as it is, is mapped into memory; a compressed one is unpacked to an unnamed file
    below the cache root. A table is read as a whole.
    """
    if request.arrays is not None:
        arrays = {"x": request.arrays[0], "y": request.arrays[1]}
        return _screened(request, settings.dataset, arrays, "X", roots(settings)[0])
    if "features" not in request.budgets:
        return request
    data_root, cache_root = roots(settings)
    cache_root.mkdir(parents=True, exist_ok=True)
    if "types" in settings.dataset:
        return _of_table(request, settings)
    if settings.dataset["name"] != "npz":
        return request
    path = given_file(settings.dataset, "path", data_root)
    with contextlib.ExitStack() as stack:
        try:
            arrays = stack.enter_context(_arrays(path, cache_root, request.budgets))
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error):  # the loader has the sentence
            return request
        return _screened(request, settings.dataset, arrays, str(path), data_root) if arrays else request


def _of_table(request: Request, settings: Settings) -> Request:
    """The same for a table that is read; itself for one with few columns, with some that are not plain numbers, or with
    parts that are no random ones."""
    data_root, cache_root = roots(settings)
    options = {**settings.dataset, "split_seed": settings.dataset["split_seed"] or 0}
    memory, places = block_mib(settings), files(options, data_root)
    tables = {part: source_of(str(path), path, options, memory, cache_root) for part, path in places.items()}
    if not kept_of(len(tables["data"].names), request.budgets) or options["group"] or options["split"] != "random":
        return request
    parts = parts_of(tables["data"], tables.get("test"), options, memory, cache_root)
    assert isinstance(parts, TableParts)
    if any(form != PLAIN for form in parts.forms.values()):
        return request
    y_train, y_test = parts.y_train, parts.y_test
    assert parts.x_test is not None and y_test is not None
    if parts.classes is not None:
        y_train, y_test = (np.array(parts.classes)[numbers] for numbers in (y_train, y_test))
    arrays = dict(zip(KEYS, (parts.x_train, y_train, parts.x_test, y_test)))
    kept = [word for word in request.words if not word.startswith("dataset")]
    found = replace(request, words=kept)
    return _screened(found, options, arrays, tables["data"].where, data_root, parts.columns, parts.label)


def _screened(
    request: Request, options: Mapping[str, Any], arrays: Mapping[str, np.ndarray], where: str, data_root: Path,
    names: Sequence[str] | None = None, label: str = "label",
) -> Request:  # fmt: skip
    """Write the best columns, and the labels, beside the output: ``m.columns.parquet``, and the test part if any.

    ``names`` are those of all columns, by default their numbers.
    """
    keys = KEYS if KEYS[0] in arrays else ("x", "y")
    x, labels = arrays[keys[0]], names_of(arrays[keys[1]], f"{keys[1]} of {where}")
    if len(labels) != len(x):
        raise BoostrunError(f"{where} has {len(x)} rows and {len(labels)} labels")
    ranks = np.unique(labels, return_inverse=True)[1]
    options = {**options, "split_seed": options["split_seed"] or 0}
    train = np.arange(len(x)) if keys is KEYS else parts_of_rows(options, ranks)[0]
    bank: Any = SimpleNamespace(labels=lambda part: ranks[train], classes=(), meta={})
    rows = train[Table(bank).held_out(HOLDOUT).rows["train"]]
    columns = best_columns(x, ranks, rows, kept_of(x.shape[1], request.budgets), where)
    stem = request.output.stem
    path = request.output.with_name(f"{stem}.columns.parquet")
    tables, test = [str(path)], request.output.with_name(f"{stem}.columns.test.parquet")
    for written, key in itertools.product((path, test), ("path", "test_path")):
        read = user_path(options.get(key), data_root)
        if written.exists() and read.exists() and written.samefile(read):
            raise BoostrunError(f"{written} is read, and would be written over: name another model, -o FILE")
    named = [str(column) if names is None else names[column] for column in columns]
    _write(path, _taken(x, columns), labels, named, label)
    words = [word for word in request.words if word.partition("=")[0] not in ("dataset", "dataset.path")]
    words += [f"dataset={quoted(str(path))}", f"dataset.label={quoted(label)}"]
    if keys is KEYS:
        _write(test, _taken(arrays[keys[2]], columns), names_of(arrays[keys[3]], f"{keys[3]} of {where}"), named, label)
        words.append(f"dataset.test_path={quoted(str(test))}")
        tables.append(str(test))
    facts = {"kept": len(columns), "of": x.shape[1], "rows": len(rows), "tables": tables}
    return replace(request, words=words, arrays=None, screened=facts, peak=1e6 * (peak_memory_mb() or 0.0))


def _write(path: Path, x: np.ndarray, labels: np.ndarray, names: Sequence[str], label: str) -> None:
    """Write samples (n, k) and their labels as a table with these names of columns."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    kind = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype.newbyteorder("=")
    values = {name: np.ascontiguousarray(column, kind) for name, column in zip(names, x.T)}
    with replacing(path) as file:
        write_table(pa.table({**values, label: labels}), file)


@contextmanager
def _arrays(path: Path, scratch: Path, budgets: Mapping[str, float]) -> Iterator[dict[str, np.ndarray]]:
    """The arrays of a file by name, memory maps if they are wide tables of numbers; empty if the samples are not."""
    if path.suffix.lower() == ".npy":
        table = np.load(path, mmap_mode="r", allow_pickle=False)
        wide = _is_wide(table.shape, table.dtype, budgets)
        yield {"x": table[:, :-1], "y": np.array(table[:, -1])} if wide else {}
        return
    with zipfile.ZipFile(path) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
        keys = KEYS if set(KEYS) <= names else ("x", "y")
        found: dict[str, np.ndarray] = {}
        for key in keys if set(keys) <= names else ():
            with archive.open(f"{key}.npy") as member:
                version = np.lib.format.read_magic(member)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, by_columns, dtype = read(member)
                if key.startswith("y"):
                    found[key] = _labels(member, shape, dtype)
                    continue
                if not _is_wide(shape, dtype, budgets):
                    yield {}
                    return
                offset = member.tell()
                info = archive.getinfo(f"{key}.npy")
                file: Any = path
                if info.compress_type == zipfile.ZIP_STORED:
                    with open(path, "rb") as raw:
                        raw.seek(info.header_offset + 26)
                        offset += info.header_offset + 30 + sum(np.frombuffer(raw.read(4), "<u2").tolist())
                else:
                    file, offset = tempfile.TemporaryFile(dir=scratch), 0  # noqa: SIM115
                    shutil.copyfileobj(member, file, 1 << 22)
                found[key] = np.memmap(file, dtype, "r", offset, shape, "F" if by_columns else "C")
        yield found


def _labels(member: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.hasobject:
        raise ValueError("pickled labels")
    return np.frombuffer(member.read(), dtype).reshape(shape)


def _is_wide(shape: tuple[int, ...], dtype: np.dtype, budgets: Mapping[str, float]) -> bool:
    return len(shape) == 2 and shape[0] > 0 and dtype.kind in "biuf" and kept_of(shape[1], budgets) > 0
