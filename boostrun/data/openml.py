"""A data set of openml.org, fetched once with scikit-learn and kept below the data root as a table of text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.config import defaults
from boostrun.data import table
from boostrun.data.csv import CsvPieces
from boostrun.data.dataset import Parts
from boostrun.errors import BoostrunError, DataMissingError

DEFAULTS = defaults("dataset", "openml")

_MEMORY_MB = 1024


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return (
        f"dataset.data_id=61 or dataset.data_name=iris (dataset.version=1); kept in {Path(data_root) / 'openml'} "
        "after `boostrun data openml ...` has fetched it"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    path = _path(options, data_root)
    if not path.is_file():
        raise DataMissingError(
            f"{_title(options)} is not in {path.parent}; `boostrun data openml {_overrides(options)}` fetches it "
            f"(or put the table there as {path.name}, the label in its last column)"
        )
    return {"data": path}


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    return read_within(options, data_root, _MEMORY_MB)


def read_within(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB, however large the table is; what is beyond is in a file in ``scratch``."""
    pieces = CsvPieces(files(options, data_root)["data"], memory_mb)
    return table.parts_of(pieces, None, {**options, "label": None}, memory_mb, scratch)


def fetch(options: Mapping, data_root: Path) -> None:
    """Download through scikit-learn (its own copies go to <data_root>/openml as well) and keep one table."""
    from sklearn.datasets import fetch_openml

    path = _path(options, data_root)
    which = {"data_id": options["data_id"]} if options["data_id"] is not None else {"name": options["data_name"]}
    if options["version"] is not None:
        which["version"] = options["version"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        found = fetch_openml(**which, data_home=str(path.parent), as_frame=True, parser="auto")
    except Exception as error:  # network, HTTP, ARFF and checksum errors have no common type
        raise DataMissingError(
            f"{_title(options)} could not be fetched from openml.org ({' '.join(str(error).split())[:160]}); "
            f"put the table there by hand as {path}, the label in its last column"
        ) from error
    if found.target is None or getattr(found.target, "ndim", 1) != 1:
        raise BoostrunError(f"{_title(options)} has no single label column; boostrun cannot use it")
    whole = found.data.assign(**{str(found.target.name): found.target})
    half = path.with_name(path.name + ".half")
    try:
        whole.to_csv(half, index=False, compression="gzip")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _path(options: Mapping, data_root: Path) -> Path:
    if (options["data_id"] is None) == (options["data_name"] is None):
        raise BoostrunError("dataset=openml needs either dataset.data_id=NUMBER or dataset.data_name=NAME")
    stem = str(options["data_id"] if options["data_id"] is not None else options["data_name"])
    if not all(c.isalnum() or c in "-_.() " for c in stem):
        raise BoostrunError(f"dataset.data_name={stem!r} is no name of an OpenML data set")
    version = f"-v{options['version']}" if options["version"] is not None else ""
    return Path(data_root) / "openml" / f"{stem}{version}.csv.gz"


def _title(options: Mapping) -> str:
    return f"OpenML data set {options['data_id'] if options['data_id'] is not None else options['data_name']}"


def _overrides(options: Mapping) -> str:
    return " ".join(
        f"dataset.{key}={options[key]}" for key in ("data_id", "data_name", "version") if options[key] is not None
    )
