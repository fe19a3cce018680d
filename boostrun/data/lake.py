"""Many files as one table larger than memory: a folder, a pattern, or an address, for ``dataset=stream``.

A file is a part, or each of its row groups (Parquet) and batches (Arrow). A pass over the training part reads the parts
in random order, a chunk at a time, so that a few pages or one batch are held. Folders named ``key=value`` are columns.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import glob
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from boostrun.data.columns import as_text, form_of_type
from boostrun.data.dataset import names_of
from boostrun.data.digests import remembered
from boostrun.data.files import reading, user_path
from boostrun.data.parquet import names_in
from boostrun.data.stream import StreamSource
from boostrun.data.stream_readers import PLACES, SEED, IteratorPass, check_finite
from boostrun.data.stream_set import MOST_CLASSES, Facts, SetPart, StreamSet, needs_float64, too_many_classes
from boostrun.data.table import plain_labels
from boostrun.errors import BoostrunError, DataMissingError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_BUFFER = 1 << 16  # bytes of a column of Parquet that are read ahead
_ENDS = 1 << 12  # bytes at either end of a file that its fingerprint covers
_NUMBER = re.compile(r"[-+]?\d*\.?\d+(e[-+]?\d+)?", re.IGNORECASE)
_NULL = "__HIVE_DEFAULT_PARTITION__"
_KINDS = {
    ".parquet": "Parquet", ".parq": "Parquet", ".pq": "Parquet", ".arrow": "Arrow", ".feather": "Arrow",
    ".ipc": "Arrow", ".csv": "CSV", ".gz": "CSV",
}  # fmt: skip


def located(place: str, data_root: Path, folder: Path) -> str:
    """A place for a process that does not run in ``folder``: an absolute path, or an address as it is."""
    if "://" in place:
        return place
    paths = [os.path.join(root.absolute(), os.path.expanduser(place)) for root in (folder, data_root)]
    return next((path for path in paths if glob.glob(path)), paths[0])


def is_lake(place: Any) -> bool:
    """Whether ``dataset.path`` names several files, an address, or an Arrow file; a name without an ending is a folder.

    >>> is_lake("s3://bucket/rows"), is_lake("rows/*.parquet"), is_lake("rows"), is_lake("rows.csv")
    (True, True, True, False)
    """
    text, ending = str(place), Path(str(place)).suffix
    several = "://" in text or any(letter in text for letter in "*?[") or os.path.isdir(os.path.expanduser(text))
    return several or not ending or _KINDS.get(ending) == "Arrow"


class RowGroup(NamedTuple):
    """Rows that are read together: all of a file, or a row group or batch of it; ``rows`` is -1 if unknown."""

    file: str
    number: int
    rows: int

    @property
    def words(self) -> str:
        """Its name in a sentence."""
        return self.file if self.number < 0 else f"row group {self.number} of {self.file}"


class Lake:
    """The files below a place, and their parts.

    Parameters
    ----------
    place : a folder, a pattern as ``rows/*.parquet``, a file, or an address of pyarrow.fs or fsspec
    data_root : where a relative path is looked up that is not in the current folder

    Files and folders whose names begin with a dot or ``_`` are no rows. A folder with ``_delta_log`` is a Delta table,
    of which the files of its newest version are read. The column ``label`` of csv files, once it is set, is text.
    Raises BoostrunError if there is no file, for files of two kinds, and for a file whose columns are not those of the
    first.
    """

    def __init__(self, place: str, data_root: Path):
        self.place, self.base, self.label = place, "", ""
        self.filesystem, self.files = self._listed(place, data_root)
        if not self.files:
            raise DataMissingError(f"no file of rows at {place} (dataset.path; looked in {Path.cwd()} and {data_root})")
        kinds = {_KINDS.get(Path(file).suffix, Path(file).suffix or "without an ending"): file for file in self.files}
        if odd := [file for kind, file in kinds.items() if kind not in _KINDS.values()]:
            raise BoostrunError(f"{odd[0]} is neither .parquet nor .arrow nor .csv: name the others, as in *.parquet")
        if len(kinds) > 1:
            one, other = list(kinds.values())[:2]
            raise BoostrunError(f"{place} holds files of two kinds, {one} and {other}: name those of one kind")
        self.kind = next(iter(kinds))
        self.fixed = {file: self._in_names(file) for file in self.files}

    def _listed(self, place: str, data_root: Path) -> tuple[FileSystem, list[str]]:
        from pyarrow import fs

        if "://" not in place:
            local = fs.LocalFileSystem()
            path = os.path.abspath(user_path(place, data_root))
            pattern = [at for at, letter in enumerate(path) if letter in "*?["]
            if pattern and not os.path.isdir(path):
                self.base = os.path.dirname(path[: pattern[0]])
                found = filter(os.path.isfile, glob.glob(path, recursive=True))
                return local, sorted(name for name in found if not _hidden(name.removeprefix(self.base)))
            if os.path.isdir(os.path.join(path, "_delta_log")):
                self.base = path
                return local, _of_delta(path)
            return local, self._below(local, path)
        try:
            filesystem, path = fs.FileSystem.from_uri(place)
        except Exception:  # an address that pyarrow does not know
            filesystem, path = _of_fsspec(place)
        return filesystem, self._below(filesystem, path)

    def _below(self, filesystem: FileSystem, path: str) -> list[str]:
        from pyarrow import fs

        self.base = path
        try:
            info = filesystem.get_file_info(path)
            if info.type == fs.FileType.File:
                return [path]
            if info.type == fs.FileType.NotFound:
                return []
            infos = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
        except Exception as error:
            raise BoostrunError(f"{self.place} cannot be listed: {_short(error)}") from None
        names = [one.path for one in infos if one.type == fs.FileType.File]
        return sorted(name for name in names if not _hidden(name.removeprefix(path)))

    def _in_names(self, file: str) -> dict[str, str | None]:
        """The columns that a file's folders name, as in kind=a/part-0.parquet; None for Hive's word for null."""
        words = [word.partition("=") for word in file.removeprefix(self.base).split("/")[:-1]]
        return {name: None if value == _NULL else unquote(value) for name, equals, value in words if equals and name}

    def fingerprint(self) -> str:
        """sha256 (hex) of the names of the files below the place, their sizes, and both ends of each, 4 KiB.

        The end of a Parquet file usually tells of changed rows, by statistics and sizes; in Arrow and csv a change in
        the middle that keeps a file's size is not seen. Cost: one open file after the other.
        """
        digest = hashlib.sha256()
        for file in self.files:
            with self.opened(file) as stream:
                size = stream.size()
                digest.update(f"{file.removeprefix(self.base)} {size} ".encode())
                digest.update(stream.read(_ENDS))
                stream.seek(max(0, size - _ENDS))
                digest.update(stream.read(_ENDS))
        return digest.hexdigest()

    @contextlib.contextmanager
    def opened(self, file: str, words: str = "") -> Iterator[Any]:
        """A file to read; any error of reading becomes a BoostrunError that names it, or what ``words`` say is read."""
        try:
            stream = self.filesystem.open_input_file(file)
        except FileNotFoundError:
            raise BoostrunError(f"{file} has gone since the files were listed; run it again") from None
        except OSError as error:
            raise BoostrunError(f"{file} cannot be read: {_short(error)}") from None
        with stream, reading(Path(words or file), f"a file of {self.kind}"):
            yield stream

    def look(self) -> tuple[list[str], list[RowGroup]]:
        """The names of the columns, and the parts; reads what each file says of itself, and compares the columns."""
        names: list[str] = []
        parts: list[RowGroup] = []
        kinds: dict[str, tuple[tuple[str, bool], str]] = {}
        for file, fixed in self.fixed.items():
            with self.opened(file) as stream:
                schema, counts = self._described(stream, file)
            own = schema.names
            columns = [*own, *(name for name in fixed if name not in own)]
            if twice := [name for name, times in Counter(columns).items() if times > 1]:
                raise BoostrunError(f"{file} has two columns named {twice[0]}")
            if names and columns != names:
                lacking = [name for name in names if name not in columns]
                more = [name for name in columns if name not in names]
                how = f"lacks {lacking[0]}" if lacking else f"has {more[0]} too" if more else "has another order"
                raise BoostrunError(f"{file} has other columns than {self.files[0]}: it {how}")
            names = columns
            for name, kind in zip(own, schema.types):
                if _types().is_null(kind):
                    continue
                form = form_of_type(kind).kind, getattr(kind, "tz", None) is None
                first, place = kinds.setdefault(name, (form, file))
                if form != first and name != self.label:
                    what = f"a {form[0]}" if form[0] != first[0] else "another kind of time zone"
                    raise BoostrunError(f"{file} has {what} in the column {name}, other than {place} ({first[0]})")
            parts += [RowGroup(file, number, rows) for number, rows in counts]
        return names, parts

    def _described(self, stream: Any, file: str) -> tuple[Any, list[tuple[int, int]]]:
        """The schema of a file, without an index that pandas has stored, and (number, rows) of its parts."""
        import pyarrow

        if self.kind == "Parquet":
            from pyarrow.parquet import ParquetFile

            whole = ParquetFile(stream)
            data, schema = whole.metadata, whole.schema_arrow
            schema = pyarrow.schema([schema.field(name) for name in names_in(schema, file)])
            groups = [(number, data.row_group(number).num_rows) for number in range(data.num_row_groups)]
            return schema, [one for one in groups if one[1]]
        if self.kind == "Arrow":
            batches = pyarrow.ipc.open_file(stream)
            return batches.schema, [(number, -1) for number in range(batches.num_record_batches)]
        schema = self._csv(stream, file).schema
        if all(_NUMBER.fullmatch(name) for name in schema.names):
            raise BoostrunError(f"the first line of {file} holds numbers, and names of the columns are needed")
        return schema, [(-1, -1)]

    def _csv(self, stream: Any, file: str) -> Any:
        """The reader of a csv file, whose whole numbers are read as floats: later ones may have fractions."""
        import pyarrow
        from pyarrow import csv

        types = {self.label: pyarrow.large_string()} if self.label else {}
        for again in (False, True):
            stream.seek(0)
            packed = pyarrow.CompressedInputStream(stream, "gzip") if file.endswith(".gz") else stream
            reader = csv.open_csv(
                packed, csv.ReadOptions(use_threads=False), convert_options=csv.ConvertOptions(column_types=types)
            )
            whole = [field.name for field in reader.schema if _types().is_integer(field.type)]
            if again or not whole:
                break
            types |= dict.fromkeys(whole, pyarrow.float64())
        return reader

    def batches(self, part: RowGroup, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """Arrow batches of a part, with these columns and at most ``rows`` rows each."""
        fixed = self.fixed[part.file]
        own = [name for name in columns if name not in fixed]
        with self.opened(part.file, part.words) as stream:
            for batch in self._read(stream, part, own, rows):
                for start in range(0, len(batch), rows):
                    piece = batch.slice(start, rows)
                    for name in columns:
                        if name in fixed:
                            piece = piece.append_column(name, _repeated(fixed[name], len(piece)))
                    yield piece

    def _read(self, stream: Any, part: RowGroup, columns: list[str], rows: int) -> Iterator[Any]:
        if self.kind == "Parquet":
            from pyarrow.parquet import ParquetFile

            file = ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False)  # pre_buffer holds whole row groups
            yield from file.iter_batches(rows, row_groups=[part.number], columns=columns, use_threads=False)
        elif self.kind == "Arrow":
            import pyarrow

            yield pyarrow.ipc.open_file(stream).get_batch(part.number).select(columns)
        else:
            yield from (batch.select(columns) for batch in self._csv(stream, part.file))


def _repeated(word: str | None, count: int) -> Any:
    """An Arrow array of ``word`` ``count`` times, or of nulls; Arrow's own function would import pandas."""
    import pyarrow

    if word is None:
        return pyarrow.nulls(count, pyarrow.string())
    one = word.encode()
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(len(one))
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(one * count)]
    return pyarrow.Array.from_buffers(pyarrow.string(), count, buffers)


def _hidden(path: str) -> bool:
    return any(word.startswith((".", "_")) for word in path.split("/"))


def _of_delta(path: str) -> list[str]:
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise BoostrunError(f"{path} is a Delta table: pip install 'boostrun[lake]'") from None
    with reading(Path(path), "a Delta table"):
        return sorted(unquote(uri.removeprefix("file://")) for uri in DeltaTable(path).file_uris())


def _of_fsspec(place: str) -> tuple[FileSystem, str]:
    from pyarrow import fs

    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise BoostrunError(f"{place} is an address of fsspec: pip install 'boostrun[lake]'") from None
    try:
        found, path = url_to_fs(place)
    except Exception as error:  # an unknown protocol, or the package of a known one
        raise BoostrunError(f"{place} cannot be opened: {_short(error)}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(found)), path


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__


# -- samples


class LakeReader:
    """Reader of some parts of a lake, see :mod:`boostrun.data.stream_readers`; values are numbers, dates or times.

    Parameters
    ----------
    columns : names of all columns
    label : name of the label's column
    dtype : of the values
    classes : label as text -> label, of all labels; needed to read labels
    """

    def __init__(
        self, lake: Lake, parts: Sequence[RowGroup], columns: Sequence[str], label: str, dtype: str,
        classes: Mapping[str, Any] | None = None,
    ):  # fmt: skip
        self.classes = dict(classes or {})
        self.kind = np.array(list(self.classes.values())).dtype
        self.lake, self.parts, self.columns, self.label = lake, parts, list(columns), label
        self.name, self.dtype = lake.place, np.dtype(dtype)
        self.features = [name for name in columns if name != label]
        self.n_features = len(self.features)
        self.bytes_per_row_read = 24 * len(self.columns)  # Arrow's columns, one of them decoded, and a block

    def find_classes(self) -> np.ndarray:
        """The distinct labels of all files."""
        return np.unique(np.array(list(self.classes.values()), self.kind))

    def words(self) -> tuple[int, list[str]]:
        """The number of rows, and the distinct labels as text, sorted, from one pass over the labels alone.

        Raises BoostrunError if there are too many of them, and for rows without one.
        """
        rows, found = 0, set[str]()
        for part in self.parts:
            for batch in self.lake.batches(part, [self.label], 1 << 16):
                column = batch.column(self.label)
                numbers = _whole(column)
                words = self._packed(column, part)[0] if numbers is None else map(str, np.unique(numbers).tolist())
                found |= {*words}
                rows += len(batch)
                if len(found) > MOST_CLASSES:
                    raise BoostrunError(too_many_classes(part.file))
        return rows, sorted(found)

    def begin(self, rng: np.random.Generator, chunk_rows: int) -> IteratorPass:
        """A pass over the parts in random order, in chunks of at most ``chunk_rows``."""
        order = rng.permutation(len(self.parts))
        return IteratorPass(self, self._chunks([self.parts[place] for place in order], chunk_rows))  # type: ignore[arg-type]

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the parts, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        return self._chunks(self.parts, chunk_rows)

    def some(self, count: int) -> np.ndarray:
        """(m, d) values, the first of up to a hundred random parts, the same each time; m is at most ``count``."""
        order = np.random.default_rng(SEED).permutation(len(self.parts))[:PLACES]
        rows, found = -(-count // len(order)), []
        for part in (self.parts[place] for place in order):
            batch = next(self.lake.batches(part, self.features, rows), None)
            found += [] if batch is None else [self._values(batch, part)]
        if not found:
            raise BoostrunError(f"{self.name} holds no samples")
        values = np.concatenate(found)[:count]
        check_finite(values, self.name)
        return values

    def _chunks(self, parts: Sequence[RowGroup], chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for part in parts:
            for batch in self.lake.batches(part, self.columns, chunk_rows):
                yield self._values(batch.select(self.features), part), self._labels(batch, part)

    def _values(self, batch: Any, part: RowGroup) -> np.ndarray:
        if gone := [name for name in self.features if batch.column(name).null_count]:
            raise BoostrunError(f"{part.words} has rows without a value in the column {gone[0]}; fill or remove them")
        with np.errstate(over="ignore"):  # values that are too large become infinite, and are refused as such
            if all(_is_number(kind) for kind in batch.schema.types):
                return np.asarray(batch.to_tensor()).astype(self.dtype, copy=False)
            block = np.empty((len(batch), self.n_features), self.dtype)
            for place, name in enumerate(self.features):
                column = batch.column(name)
                try:
                    block[:, place], bad = form_of_type(column.type).numbers(column)
                except BoostrunError as error:
                    raise BoostrunError(f"{part.words} holds {error} in the column {name}") from None
                if bad.any():
                    raise BoostrunError(
                        f"{part.words} holds text in the column {name}; numbers are needed: write a column of 0 and 1 "
                        "for each text"
                    )
        return block

    def _labels(self, batch: Any, part: RowGroup) -> np.ndarray:
        column = batch.column(self.label)
        if self.kind == np.int64 and (numbers := _whole(column)) is not None:
            return numbers
        words, places = self._packed(column, part)
        try:
            return np.array([self.classes[word] for word in words], self.kind)[places]
        except KeyError as error:
            raise BoostrunError(f"{part.words} has the label {error}, which it had not before; run it again") from None

    def _packed(self, column: Any, part: RowGroup) -> tuple[list[str], np.ndarray]:
        """The distinct labels of a column as text, and the place of each row's among them."""
        try:
            packed = as_text(column).dictionary_encode()
        except BoostrunError as error:
            raise BoostrunError(f"{part.words} holds {error} as labels (column {self.label})") from None
        words = packed.dictionary.to_pylist()
        if packed.null_count or "" in words:
            raise BoostrunError(f"{part.words} has rows without a label (column {self.label})")
        return words, np.from_dlpack(packed.indices)


def _whole(column: Any) -> np.ndarray | None:
    """A column of signed whole numbers (n,) int64, all of them there; None if it is none."""
    if not _types().is_signed_integer(column.type) or column.null_count:
        return None
    return np.from_dlpack(column).astype(np.int64)  # Arrow's own method would import pandas


def _is_number(kind: Any) -> bool:
    large = _types().is_uint64(kind) or _types().is_float16(kind)
    return not large and (_types().is_integer(kind) or _types().is_floating(kind))


@functools.cache
def _types() -> Any:
    from pyarrow import types

    return types


@dataclass(frozen=True)
class LakePart(SetPart):
    """Some parts of a lake as a part of a streamed set."""

    reads: LakeReader | None = field(default=None, kw_only=True)

    @property
    def anywhere(self) -> bool:
        return True

    def reader(self, limit: float = 0.0) -> Any:
        return self.reads

    def facts(self, rows: int, words: Sequence[str]) -> Facts:
        """The facts of the part, from its labels alone: values are checked when they are drawn."""
        reader: Any = self.reads
        if not rows:
            raise BoostrunError(f"{self.path} holds no samples")
        found = np.unique(np.array([reader.classes[word] for word in words], reader.kind))
        names_of(found, str(self.path))  # raises BoostrunError for fractions
        return Facts(
            rows, reader.n_features, reader.dtype.str, found.tolist(), found.dtype.str, list(reader.columns)
        )  # fmt: skip


class LakeSource(StreamSource):
    """A streamed source of row groups, which can be split."""

    def split(self, parts: int) -> list[LakeSource]:
        """``parts`` sources, each with row groups of its own, drawn at random, and its share of the memory.

        Raises BoostrunError if there are fewer row groups than parts.
        """
        groups = self.reader.parts
        if len(groups) < parts:
            raise BoostrunError(f"{self.reader.name} has {len(groups)} row groups: {parts} parts need one each")
        seeds = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, 2**31)).spawn(parts + 1)
        own = np.array_split(np.random.default_rng(seeds[0]).permutation(len(groups)), parts)
        return [self._of([groups[place] for place in np.sort(some)], parts, seed) for some, seed in zip(own, seeds[1:])]

    def _of(self, groups: Sequence[RowGroup], parts: int, seed: np.random.SeedSequence) -> LakeSource:
        reader = copy.copy(self.reader)
        reader.parts = groups
        limit = self.memory_limit_mb / parts
        own = LakeSource(
            reader, classes=self.class_labels(), chunk_rows=self.chunk_rows, memory_limit_mb=limit, seed=seed
        )
        own.encode = self.encode
        return own


class LakeSet(StreamSet):
    """A streamed set of lakes."""

    def source(self, limit_mib: float, seed: Any) -> LakeSource:
        """The training part as a source, see :class:`StreamSet`."""
        return LakeSource(
            self.train.reader(), classes=self.classes, chunk_rows=self.chunk_rows, memory_limit_mb=limit_mib, seed=seed
        )


def key(options: Mapping, data_root: Path) -> str:
    """A digest of the files of both parts, see :meth:`Lake.fingerprint`."""
    return _digest_of(_lakes(options, data_root), options)


def _digest_of(lakes: Sequence[Lake], options: Mapping) -> str:
    found = [lake.fingerprint() for lake in lakes]
    return hashlib.sha256(json.dumps([found, options["label"], options.get("test_share")]).encode()).hexdigest()


def _lakes(options: Mapping, data_root: Path) -> list[Lake]:
    test = options["test_path"]
    if (test is None) == (options.get("test_share") is None):
        raise BoostrunError("either dataset.test_path=... names the test part, or dataset.test_share=0.1 takes a tenth")
    return [Lake(str(place), data_root) for place in (options["path"], test) if place is not None]


def open_lake(options: Mapping, data_root: Path) -> LakeSet:
    """The two parts of a streamed set of lakes, checked; labels are read through once, then remembered."""
    lakes, names, parts = _lakes(options, data_root), [], []
    content = _digest_of(lakes, options)
    for lake in lakes:
        found, own = lake.look()
        names.append(found)
        parts.append(own)
    label = _label_in(names[0], options["label"], lakes[0].place)
    for lake, columns in zip(lakes, names):
        if label not in columns:
            raise BoostrunError(f"{lake.place} has no column '{label}', the label of {lakes[0].place}")
        lake.label = label if lake.kind == "CSV" else ""
    if len(lakes) == 1:
        parts = [*_shared(parts[0], lakes[0], options["test_share"])]
        lakes, names = lakes * 2, names * 2
    if share := options.get("holdout"):  # settings are chosen on other row groups of the training part
        parts = [*_shared(parts[0], lakes[0], share, "holdout")]
        lakes, names = [lakes[0]] * 2, [names[0]] * 2
    what, looks = f"{content} {label} {options.get('holdout')}", []
    for place, (lake, columns, own) in enumerate(zip(lakes, names, parts)):
        look = functools.partial(_words_of, LakeReader(lake, own, columns, label, "f8"))
        looks.append(json.loads(remembered(data_root, f"labels {place} {what}", look)))
    words = sorted({word for _, found in looks for word in found})
    classes = dict(zip(words, plain_labels(words).tolist()))  # labels of all files are of one kind
    dtype = "<f8" if needs_float64(LakeReader(lakes[0], parts[0], names[0], label, "f8", classes)) else "<f4"
    both = []
    for lake, columns, groups, (rows, found) in zip(lakes, names, parts, looks):
        reader = LakeReader(lake, groups, columns, label, dtype, classes)
        part = LakePart(Path(lake.place), label, dtype=dtype, reads=reader)
        both.append((part, part.facts(rows, found)))
    (train, train_facts), (test, test_facts) = both
    return LakeSet(train, test, train_facts, test_facts, options["chunk_rows"])


def _words_of(reader: LakeReader) -> str:
    return json.dumps(reader.words())


def _label_in(names: Sequence[str], label: Any, place: str) -> str:
    found = names[-1] if label is None else str(label)
    if found not in names:
        raise BoostrunError(f"{place} has no column {label!r} (its columns: {', '.join(names[:12])})")
    if len(names) < 2:
        raise BoostrunError(f"{place} has the label column {found!r} and no other")
    return found


def _shared(
    parts: Sequence[RowGroup], lake: Lake, share: float, salt: str = "test_share"
) -> tuple[list[RowGroup], list[RowGroup]]:
    """Parts for training and for tests, which the digests of their names and of ``salt`` choose."""
    train: list[RowGroup] = []
    test: list[RowGroup] = []
    for part in parts:
        name = f"{salt} {part.file.removeprefix(lake.base)} {part.number}"
        place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2.0**64
        (test if place < share else train).append(part)
    if not train or not test:
        raise BoostrunError(
            f"{lake.place} has {len(parts)} row groups, and {salt}={share:g} of them leaves none for "
            f"{'tests' if train else 'training'}: write smaller row groups"
        )
    return train, test
