"""Your own files larger than memory: `dataset=stream`, read in chunks while it is trained on and tested.

The other loaders hand over arrays, of which a feature bank is built. This one opens a `StreamSet`, of which nothing is
copied: files are hashed and looked through once, and what was found is remembered beside their digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from boostrun.config import defaults
from boostrun.data.files import given_file, reading
from boostrun.errors import BoostrunError

if TYPE_CHECKING:
    from boostrun.data.dataset import Parts
    from boostrun.data.digests import FileDigests
    from boostrun.data.stream_parts import Facts, SetPart, StreamSet

DEFAULTS = defaults("dataset", "stream")
_LOOK = 1  # goes up when another look at a file would find something else: what is remembered is then found anew
_ENDINGS = {".npy": ".npy", ".csv": "CSV", ".gz": "CSV", ".parquet": "Parquet"}


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return (
        "dataset.path=X.npy dataset.label=Y.npy dataset.test_path=X_TEST.npy dataset.test_label=Y_TEST.npy (or "
        "dataset.label=NUMBER of the column that holds the labels); or dataset.path=FILE.csv dataset.label=COLUMN "
        "dataset.test_path=FILE.csv (or both .parquet); without dataset.label the last column"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which is missing."""
    found = {}
    for name, part in _parts(options, data_root).items():
        found[name] = part.path
        if isinstance(part.label, Path):
            found[f"{name}_labels"] = part.label
    return found


def parameters(options: Mapping) -> dict:
    """What besides the files' contents makes the data: the label's column, where it is one."""
    return {"label": None if _labels_are_files(options) else options["label"]}


def located(options: Mapping, data_root: Path, folder: Path) -> dict:
    """`options` with absolute paths, from `folder`, else from `data_root`, for a process that is in another folder."""
    keys = ("path", "test_path", *(("label", "test_label") if _labels_are_files(options) else ()))
    found = dict(options)
    for key in keys:
        places = [base / Path(str(options[key])).expanduser() for base in (folder.absolute(), data_root.absolute())]
        found[key] = str(next((place for place in places if place.exists()), places[0]))
    return found


def read(options: Mapping, data_root: Path) -> Parts:
    """Never: raises BoostrunError."""
    raise BoostrunError("dataset=stream is read in chunks and never as a whole; use dataset=npz or csv for arrays")


def verify(options: Mapping, data_root: Path) -> str:
    """What is in the files, in a few words; BoostrunError where they cannot be trained on."""
    import numpy as np

    found = open_set(options, data_root)
    train, test = found.train_facts, found.test_facts
    return (
        f"{train.rows} training and {test.rows} test samples of {train.features} features ({np.dtype(train.dtype)}), "
        f"{len(train.classes)} classes"
    )


def key(dataset: Mapping, data_root: Path) -> str:
    """sha256 (hex) of the data's checksum and of this loader's source: what a trial on a streamed set reads."""
    from boostrun.data import checksum
    from boostrun.digest import names_of_banks

    (source,) = names_of_banks([f"{__name__}:open_set"])
    whole = {"data": checksum(dataset, data_root), "source": source}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def open_set(options: Mapping, data_root: Path) -> StreamSet:
    """The two parts of a streamed set, checked; each file is looked through once, then remembered.

    Parameters
    ----------
    options : mapping with the keys of `dataset=stream`
    data_root : Path, where files are looked for that are not found from the current folder

    Raises
    ------
    DataMissingError
        A file is not there.
    BoostrunError
        Files that cannot be read, do not fit each other, or hold NaN, infinite values or unusable labels.
    """
    from boostrun.data.digests import FileDigests
    from boostrun.data.stream_parts import StreamSet

    parts = _parts(options, data_root)
    with FileDigests(data_root) as digests:
        facts = {name: _facts(part, digests) for name, part in parts.items()}
    return StreamSet(parts["train"], parts["test"], facts["train"], facts["test"], options["chunk_rows"])


def _facts(part: SetPart, digests: FileDigests) -> Facts:
    from boostrun.data.stream_parts import Facts

    where = digests.of(part.label) if isinstance(part.label, Path) else f"in column {part.label!r}"

    def look(_) -> str:
        with reading(part.path, _ENDINGS[part.path.suffix]):
            _refuse_nameless(part.path)
            return json.dumps(asdict(part.look()))

    return Facts(**json.loads(digests.derived(part.path, f"stream look {_LOOK}, labels {where}", look)))


def _parts(options: Mapping, data_root: Path) -> dict[str, SetPart]:
    from boostrun.data.stream_parts import SetPart

    train, test = given_file(options, "path", data_root), given_file(options, "test_path", data_root)
    if _ending(train) != _ending(test):
        raise BoostrunError(f"{train} is {_ending(train)} but {test} is {_ending(test)}; both must be of one kind")
    label, test_label = options["label"], options["test_label"]
    if _labels_are_files(options):
        if test_label is None:
            raise BoostrunError(
                f"dataset.label={label} is a file, so dataset.test_label=... must name that of the test part"
            )
        labels = given_file(options, "label", data_root), given_file(options, "test_label", data_root)
        return {"train": SetPart(train, labels[0]), "test": SetPart(test, labels[1])}
    if test_label is not None:
        raise BoostrunError(
            f"dataset.test_label={test_label} has no use: the labels stand in a column of dataset.path, and so do "
            "those of dataset.test_path"
        )
    column = _number(label) if _ending(train) == ".npy" and label is not None else label
    return {"train": SetPart(train, column), "test": SetPart(test, column)}


def _labels_are_files(options: Mapping) -> bool:
    label = options["label"]
    return _ending(options["path"]) == ".npy" and label is not None and _number(label) is None


def _ending(path) -> str:
    """.npy, CSV or Parquet, by the end of the file's name."""
    suffix = Path(str(path)).suffix
    if suffix not in _ENDINGS:
        raise BoostrunError(f"{path} is neither .npy nor .csv (or .csv.gz) nor .parquet, which dataset=stream reads")
    return _ENDINGS[suffix]


def _number(label) -> int | None:
    try:
        return int(label)
    except ValueError:
        return None


def _refuse_nameless(path: Path) -> None:
    """A CSV file whose first line is a sample would lose it unnoticed."""
    from boostrun.data.csv import has_names

    if _ENDINGS[path.suffix] != "CSV":
        return
    import io

    from boostrun.data.stream_readers import opened

    with opened(path) as text, io.TextIOWrapper(io.BufferedReader(text), encoding="utf-8-sig") as stream:
        lines = [stream.readline().strip() for _ in range(2)]
    cells = [[cell.strip(' "') for cell in line.split(",")] for line in lines if line]
    if cells and not has_names(*cells):
        raise BoostrunError(f"{path} begins with numbers; a streamed CSV file needs a first line of columns' names")
