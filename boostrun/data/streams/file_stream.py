"""Your own file as a drifting stream: its rows in their order, each predicted before it is learnt, in constant memory.

CSV (.csv, .csv.gz) with a line of names, .npy, .npz with the arrays x and y, Parquet, or ARFF as MOA writes it. The
file is looked through once, for its classes and for values that cannot be learnt from; what was found is remembered. So
all classes are known from the start, whenever their first example comes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.digests import FileDigests
from boostrun.data.files import given_file, reading, user_path
from boostrun.data.stream_readers import opened
from boostrun.data.stream_set import Facts
from boostrun.data.streams.file_readers import ENDINGS, FilePart, is_arff
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "file_stream")
_LOOK = 1  # goes up when another look at a file would find something else


@dataclass(frozen=True)
class FileStream:
    """A stream that is read while it is learnt, with what :class:`.DriftStream` has but the arrays.

    ``labels`` are the classes as they stand in the file, sorted; ``n_samples`` the number of its rows.
    """

    name: str
    part: FilePart
    labels: np.ndarray
    n_samples: int
    changes: np.ndarray = field(default_factory=lambda: np.array([], np.int64))
    holdouts: tuple = ()
    facts: dict = field(default_factory=dict)

    def __len__(self) -> int:
        return self.n_samples

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as text, in the order of their numbers."""
        return tuple(map(str, self.labels.tolist()))

    def blocks(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The examples in their order, x (m, d) float64 and class numbers y (m,) int64, m at most ``size``."""
        with reading(self.part.path, self.part.path.suffix):
            for values, labels in self.part.reader().in_order(size):
                codes = np.searchsorted(self.labels, labels)
                if not (self.labels[np.minimum(codes, len(self.labels) - 1)] == labels).all():
                    raise BoostrunError(f"{self.part.path} was changed while it was read; run it again")
                yield values.astype(np.float64, copy=False), codes.astype(np.int64)


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return (
        "dataset.path=FILE.csv, FILE.parquet or FILE.arff dataset.label=COLUMN; FILE.npy dataset.label=Y.npy or the "
        "NUMBER of a column (without dataset.label the last column); FILE.npz with x and y"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which is missing."""
    part = _part(options, data_root)
    return {"data": part.path, **({"labels": part.label} if isinstance(part.label, Path) else {})}


def located(options: Mapping, data_root: Path, folder: Path) -> dict:
    """``options`` with an absolute path, from ``folder``, else from ``data_root``, for a process elsewhere."""
    keys = ("path", "label") if Path(str(options["label"])).suffix == ".npy" else ("path",)
    found = {key: folder.absolute() / Path(str(options[key])).expanduser() for key in keys}
    return {**options, **{key: str(path if path.exists() else options[key]) for key, path in found.items()}}


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> FileStream:
    """The stream of the file, checked from end to end; nothing is drawn.

    Raises BoostrunError for NaN (unless ``missing`` says what it is), infinite values, text among the attributes, rows
    of another length, labels that are no classes, and a file with one class only.
    """
    part = _part(options, data_root)
    with FileDigests(data_root) as digests:
        what = f"file stream {_LOOK}, labels {digests.of(part.label) if isinstance(part.label, Path) else part.label!r}"
        what += f", missing {part.missing}" if part.missing != "error" else ""
        facts = Facts(**json.loads(digests.derived(part.path, what, lambda _: _look(part))))
    if len(facts.classes) < 2:
        raise BoostrunError(
            f"{part.path}: all {facts.rows} rows have the same label ({facts.classes[0]}); a classifier needs at least "
            "two classes"
        )
    return FileStream("file_stream", part, np.array(facts.classes, facts.label_type), facts.rows)


def _look(part: FilePart) -> str:
    with reading(part.path, part.path.suffix):
        _refuse_nameless(part.path)
        return json.dumps(asdict(part.look()))


def _part(options: Mapping, data_root: Path) -> FilePart:
    path, label = given_file(options, "path", data_root), options["label"]
    if path.suffix not in ENDINGS:
        raise BoostrunError(f"{path} ends in none of {', '.join(ENDINGS)}, which dataset=file_stream reads")
    if path.suffix == ".npz" and label is not None:
        raise BoostrunError(f"dataset.label={label} has no use: the labels of an .npz file are its array y")
    if path.suffix == ".npy" and label is not None:
        label = int(label) if str(label).lstrip("-").isdigit() else given_file(options, "label", data_root)
    return FilePart(user_path(path, data_root), label, options.get("missing", "error"))


def _refuse_nameless(path: Path) -> None:
    """A CSV file whose first line is an example would lose it unnoticed."""
    from boostrun.data.csv import has_names

    if path.suffix not in (".csv", ".gz") or is_arff(path):
        return
    with opened(path) as text, io.TextIOWrapper(io.BufferedReader(text), encoding="utf-8-sig") as lines:
        cells = [[cell.strip(' "\n') for cell in line.split(",")] for line, _ in zip(lines, range(2))]
    if cells and not has_names(*cells):
        raise BoostrunError(f"{path} begins with numbers; a CSV file needs a first line of columns' names")
