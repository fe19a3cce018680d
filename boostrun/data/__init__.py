"""Data sets: `load` reads one, `checksum` identifies its content without decoding it.

A loader is a module with these names. A module of several data sets has functions that end in the name of the data
set, such as `read_digits`.

- `files(options, data_root) -> {logical name: Path}`: the files to read; raises DataMissingError if one is missing.
- `places(options, data_root) -> str`: which file belongs where, as a clause of a sentence.
- `read(options, data_root) -> Parts`: the arrays. A stream whose concept may change has `draw` instead, see
  `boostrun.data.streams`.
- `read_within(options, data_root, memory_mb, scratch) -> Parts` (optional): like `read`, within a number of MiB. Larger
  arrays go to an unnamed file in the folder `scratch` (None: the system's folder of temporary files).
- `verify(options, data_root) -> str` (optional): compares the files with published checksums.
- `fetch(options, data_root)` (optional): downloads the files.
- `has_test_part(options, data_root) -> bool` (optional): whether the user's files say which samples are for tests.
- `parameters(options) -> dict` (optional): the values that decide the data besides the files; by default all options.
- `located(options, data_root, folder) -> options` (optional): the options with absolute paths, for a process that does
  not run in `folder`.
- `content_digest(parts) -> str` (optional): a digest of the value of `read`, compared with the option `content`.
- `DEFAULTS` (optional): the keys and their defaults ("???" = required); by default those of the declaration.
- `SOURCES` (optional): definitions as "module:name" that decide the arrays and that `read` does not name.

`boostrun.data.options.Loader` declares them. A function of your own can be a data set too, see
docs/howto/extending.md and `boostrun.extend.loader`.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boostrun.config import late_keys
from boostrun.data.options import Loader, loader_module, loader_of, merge, offered, require, split_fraction
from boostrun.errors import BoostrunError, DataMissingError

if TYPE_CHECKING:
    from boostrun.data.dataset import Dataset

# Keys that say where files lie. The same file elsewhere is the same data.
_PLACES = ("path", "test_path", "name", "loader")


def load(config: Mapping, data_root: Path, memory_mb: int = 1024, scratch: Path | None = None) -> Dataset:
    """Read and check a data set.

    Parameters
    ----------
    config : mapping with `name` and the loader's keys
    data_root : Path, the folder of the data sets
    memory_mb : int, memory for reading a table of the user's, in MiB
    scratch : Path or None, the folder for the part of such a table that is larger; None: the system's folder

    Raises
    ------
    DataMissingError
        A file is missing; the message says which file belongs where.
    BoostrunError
        A key, a file or its content is wrong, or a file was changed while it was read.

    >>> load({"name": "digits"}, Path("datasets")).x_train.shape
    (1438, 8, 8)
    """
    import numpy as np

    from boostrun.data.dataset import finish, named

    data_root = Path(data_root)
    loader, options = _loader(config, data_root)
    if loader.read is None:
        raise BoostrunError(f"dataset={config['name']} is a stream, which is never read as a whole")
    digest = checksum(config, data_root)
    loader.verify(options, data_root)
    within = loader.read_within
    parts = within(options, data_root, memory_mb, scratch) if within else loader.read(options, data_root)
    returned, known = _checks(config).content_digest, options.get("content")
    if returned and known and returned(parts) != known:
        raise other_each_time(config)
    if np.shape(parts.x_train)[:1] == (0,):
        raise BoostrunError(f"{config['name']} holds no samples")
    parts = named(parts, str(config["name"]))
    whole = finish(
        str(config["name"]), parts, digest, options.get("test_fraction", 0.2), options.get("split_seed", 0),
        options.get("missing", "error"),
    )  # fmt: skip
    if checksum(config, data_root) != digest:
        raise changed(config)
    return whole


def changed(config: Mapping) -> BoostrunError:
    """The error for a data set that was changed while it was read."""
    return BoostrunError(f"the files of dataset={config['name']} were changed while they were read; run it again")


def other_each_time(config: Mapping) -> BoostrunError:
    """The error for a data set of the user's that returned other samples when it was called again."""
    return BoostrunError(f"{config['class']} gives other samples each time: seed its random numbers by a key")


def checksum(config: Mapping, data_root: Path, folder: Path | None = None) -> str:
    """sha256 (hex) of the files' contents and the parameters of the split; equal to `load(...).checksum`.

    Relative paths are looked up from ``folder``, the folder of the command, if it is given.
    """
    import hashlib
    import json

    from boostrun.data.digests import FileDigests

    data_root = Path(data_root)
    loader, options = _loader(config, data_root)
    located = options if folder is None else _checks(config).located(options, data_root, folder)
    files = loader.files(located, data_root)
    with FileDigests(data_root) as digests:
        contents = {name: digests.of(path) for name, path in sorted(files.items())}
    late = {} if config.get("loader") else late_keys("dataset", str(config["name"]))
    parameters = {
        key: value for key, value in loader.parameters(options).items()
        if key not in _PLACES and not (key in late and value == late[key])
    }  # fmt: skip
    whole = json.dumps({"files": contents, "parameters": parameters}, sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()


def describe(config: Mapping, data_root: Path) -> str:
    """One line about a data set: its files, verified if checksums are published, or the missing ones.

    Raises BoostrunError if a file differs from the published one.
    """
    data_root = Path(data_root)
    name = config.get("name")
    loader, options = _open_loader(config)
    if any(value == "???" for value in options.values()):
        return f"{name}: {loader.places(options, data_root)}"
    try:
        files = loader.files(options, data_root)
    except DataMissingError as missing:
        return f"{name}: not there. {missing}"
    if not files:
        return f"{name}: {loader.places(options, data_root)}"
    size = sum(path.stat().st_size for path in files.values()) / 2**20
    first = next(iter(files.values()))
    where = str(first) if len(files) == 1 else f"{len(files)} files, the first {first}"
    verified = loader.verify(options, data_root)
    return f"{name}: {where} ({size:.1f} MiB; {verified}; checksum {checksum(config, data_root)[:16]})"


def fetch(config: Mapping, data_root: Path) -> str:
    """Download a data set if its files are missing, and verify it; returns the line of `describe`.

    Raises
    ------
    DataMissingError
        It cannot be downloaded; the message says which file belongs where.
    BoostrunError
        A file differs from the published one.
    """
    data_root = Path(data_root)
    loader, options = _loader(config, data_root)
    try:
        loader.files(options, data_root)
    except DataMissingError:
        if loader.fetch is None:
            raise
        new = [folder for folder in (data_root, *data_root.parents) if not folder.exists()]
        there = set() if new else set(data_root.iterdir())
        try:
            loader.fetch(options, data_root)
        except DataMissingError:
            made = [entry for entry in data_root.glob("*") if entry not in there and entry.is_dir()]
            below = [path for entry in made for path in (entry, *entry.rglob("*"))]
            for folder in (*sorted(below, reverse=True), *new):  # those that the download left empty
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise
    return describe(config, data_root)


class _Checks(NamedTuple):
    """A loader's functions for checking again what was read."""

    located: Callable[[Mapping, Path, Path], Mapping] = lambda options, data_root, folder: options
    content_digest: Callable[[Any], str] | None = None
    """None: no option says what is returned."""


def _checks(config: Mapping) -> _Checks:
    return offered(_Checks, importlib.import_module(loader_module(config)), "loader", "data")


def _open_loader(config: Mapping) -> tuple[Loader, dict]:
    """The loader and its options, which may still hold "???"."""
    loader = loader_of(config)
    options = merge(config, loader.DEFAULTS, "dataset")
    if options.get("split_seed", 0) is None:
        options["split_seed"] = 0  # outside a trial, whose seed it would be: see boostrun.data.options
    return loader, options


def _loader(config: Mapping, data_root: Path) -> tuple[Loader, dict]:
    """The loader and its options, none of which is missing."""
    loader, options = _open_loader(config)
    try:
        require(options, "dataset")
    except BoostrunError as error:
        raise BoostrunError(f"{error}: {loader.places(options, data_root)}") from None
    if "test_fraction" in options:
        split_fraction(options)
    return loader, options
