"""Your own table as a data set, and the tables of openml.org."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.data.dataset import Parts
from boostrun.data.files import given_file
from boostrun.data.formats import source_of
from boostrun.data.options import check
from boostrun.data.table import parts_of
from boostrun.data.text import TextTable
from boostrun.errors import BoostrunError, DataMissingError

_MEMORY_MB = 1024


def places(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return (
        "dataset.path=FILE (text, .parquet, .arrow, .arff or .xlsx), one sample a row; dataset.label=COLUMN (else the "
        "last), and dataset.test_path=FILE for test samples in a second file"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files of the table; raises DataMissingError if one is missing."""
    check(options)
    found = {"data": given_file(options, "path", data_root)}
    if options.get("test_path"):
        found["test"] = given_file(options, "test_path", data_root)
    return found


def read(options: Mapping, data_root: Path) -> Parts:
    """The features and labels of the table, with its split."""
    return read_within(options, data_root, _MEMORY_MB)


def read_within(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB; larger arrays go to a file in ``scratch``."""
    tables = {
        part: source_of(str(path), path, options, memory_mb, scratch)
        for part, path in files(options, data_root).items()
    }
    return parts_of(tables["data"], tables.get("test"), options, memory_mb, scratch)


# -- openml: a data set of openml.org, fetched once with scikit-learn and kept below the data root as a table of text


def places_openml(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return (
        f"dataset.data_id=61 or dataset.data_name=iris (dataset.version=1); kept in {Path(data_root) / 'openml'} "
        "after `boostrun data openml ...` has fetched it"
    )


def files_openml(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The file of the table; raises DataMissingError if it has not been fetched."""
    path = _openml_path(options, data_root)
    if not path.is_file():
        raise DataMissingError(
            f"{_openml_title(options)} is not in {path.parent}; `boostrun data openml {_overrides(options)}` fetches "
            f"it (or put the table there as {path.name}, the label in its last column)"
        )
    return {"data": path}


def read_openml(options: Mapping, data_root: Path) -> Parts:
    """The features and labels of the table."""
    return read_within_openml(options, data_root, _MEMORY_MB)


def read_within_openml(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB; larger arrays go to a file in ``scratch``."""
    path = files_openml(options, data_root)["data"]
    return parts_of(TextTable(str(path), path, {}, memory_mb), None, {**options, "label": None}, memory_mb, scratch)


def fetch_openml(options: Mapping, data_root: Path) -> None:
    """Download with scikit-learn, whose own copies go to <data_root>/openml too, and keep one table."""
    from sklearn import datasets

    path = _openml_path(options, data_root)
    which = {"data_id": options["data_id"]} if options["data_id"] is not None else {"name": options["data_name"]}
    if options["version"] is not None:
        which["version"] = options["version"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        found = datasets.fetch_openml(**which, data_home=str(path.parent), as_frame=True, parser="auto")
    except Exception as error:  # network, HTTP, ARFF and checksum errors have no common type
        raise DataMissingError(
            f"{_openml_title(options)} could not be fetched from openml.org ({' '.join(str(error).split())[:160]}); "
            f"put the table there by hand as {path}, the label in its last column"
        ) from error
    if found.target is None or getattr(found.target, "ndim", 1) != 1:
        raise BoostrunError(f"{_openml_title(options)} has no single label column; boostrun cannot use it")
    whole = found.data.assign(**{str(found.target.name): found.target})
    half = path.with_name(path.name + ".half")
    try:
        whole.to_csv(half, index=False, compression="gzip")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _openml_path(options: Mapping, data_root: Path) -> Path:
    if (options["data_id"] is None) == (options["data_name"] is None):
        raise BoostrunError("dataset=openml needs either dataset.data_id=NUMBER or dataset.data_name=NAME")
    stem = str(options["data_id"] if options["data_id"] is not None else options["data_name"])
    if not all(c.isalnum() or c in "-_.() " for c in stem):
        raise BoostrunError(f"dataset.data_name={stem!r} is not a name of an OpenML data set")
    version = f"-v{options['version']}" if options["version"] is not None else ""
    return Path(data_root) / "openml" / f"{stem}{version}.csv.gz"


def _openml_title(options: Mapping) -> str:
    return f"OpenML data set {options['data_id'] if options['data_id'] is not None else options['data_name']}"


def _overrides(options: Mapping) -> str:
    keys = ("data_id", "data_name", "version")
    return " ".join(f"dataset.{key}={options[key]}" for key in keys if options[key] is not None)
