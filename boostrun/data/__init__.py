"""Where samples come from: `load` reads a data set, `checksum` identifies its content without decoding it.

A loader is one module with

- `DEFAULTS`: its config keys and their default values ("???" = must be given);
- `files(options, data_root) -> {logical name: Path}`: the files that it reads, or DataMissingError;
- `read(options, data_root) -> Parts`: the arrays;
- `places(options, data_root) -> str`: which file belongs where, as a clause;
- optional `read_within(options, data_root, memory_mb, scratch) -> Parts`: the same as `read`, in so many MiB, what is
  beyond in a nameless file in the folder `scratch` (None: the system's own for such things);
- or, for a stream whose concept may change, `draw` instead of `read`: see `boostrun.data.streams`;
- optional `verify(options, data_root) -> str`: compare with published checksums; optional `fetch(options, data_root)`;
- optional `SOURCES`: definitions that decide what is read and that `read` does not name, as "module:name";
- optional `has_test_part(options, data_root) -> bool`: whether a person's own files say which samples are for tests;
- optional `parameters(options) -> dict`: what besides the files' contents makes the data (else all options);
- optional `located(options, data_root, folder) -> options`, with absolute paths, for a process that is not in `folder`;
- optional `content_digest(parts) -> str`: what `read` returned, to compare with the option `content`;

as `boostrun.data.options.Loader` and `_Checks` declare them.

A data set of your own is a function, docs/extending.md; `boostrun.extend.loader` makes a loader of it.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boostrun.config import catalogue, defaults, late_keys
from boostrun.errors import BoostrunError, DataMissingError

if TYPE_CHECKING:
    from boostrun.data.dataset import Dataset
    from boostrun.data.options import Loader

# Keys that say where files lie, not what is in them: the same file elsewhere is the same data.
_PLACES = ("path", "test_path", "name", "loader")


def loader_module(config: Mapping) -> str:
    """Dotted name of the module that reads this data set.

    >>> loader_module({"name": "digits"})
    'boostrun.data.digits'
    """
    return str(config["loader"]) if config.get("loader") else catalogue.dataset(config).loader


def load(config: Mapping, data_root: Path, memory_mb: int = 1024, scratch: Path | None = None) -> Dataset:
    """Read a data set, checked: shapes, labels, finite values (or missing ones, where a table may have them).

    Parameters
    ----------
    config : mapping with `name` and the loader's keys
    data_root : Path, the folder that holds the data sets
    memory_mb : int, what reading a table of one's own may take, in MiB
    scratch : Path or None, a folder for what of such a table is beyond that; None: the system's own

    Raises
    ------
    DataMissingError
        The files are not there; the message says which belongs where.
    BoostrunError
        A key, a file or its content is wrong, or a file was changed while it was read.

    >>> load({"name": "digits"}, Path("datasets")).x_train.shape
    (1438, 8, 8)
    """
    import numpy as np

    from boostrun.data.checks import finish
    from boostrun.data.labels import named

    data_root = Path(data_root)
    loader, options = _loader(config, data_root)
    if loader.read is None:
        raise BoostrunError(f"dataset={config['name']} is a stream in an order of its own, with no test part")
    digest = checksum(config, data_root)
    loader.verify(options, data_root)
    within = loader.read_within
    parts = within(options, data_root, memory_mb, scratch) if within else loader.read(options, data_root)
    returned, known = _checks(config).content_digest, options.get("content")
    if returned and known and returned(parts) != known:
        raise other_each_time(config)
    if np.shape(parts.x_train)[:1] == (0,):
        raise BoostrunError(f"{config['name']}: there is no sample in it")
    parts = named(parts, str(config["name"]))
    whole = finish(
        str(config["name"]), parts, digest, options.get("test_fraction", 0.2), options.get("split_seed", 0),
        options.get("missing", "error"),
    )  # fmt: skip
    if checksum(config, data_root) != digest:
        raise changed(config)
    return whole


def changed(config: Mapping) -> BoostrunError:
    """What is said of a data set that was written to while it was read."""
    return BoostrunError(f"the files of dataset={config['name']} were changed while they were read; run it again")


def other_each_time(config: Mapping) -> BoostrunError:
    """What is said of a person's own data set that returned something else when it was called again."""
    return BoostrunError(f"{config['class']} gives other samples each time: seed its random numbers by a key")


def checksum(config: Mapping, data_root: Path, folder: Path | None = None) -> str:
    """sha256 (hex) of the files' contents and the parameters of the split; the same as `load(...).checksum`.

    Paths that were typed are looked for from ``folder``, where a command was given that this process is not in.
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
    """What is there of a data set, verified where checksums are published, or which file belongs where: one line.

    Raises BoostrunError where a file is there but not what was published.
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
    """Download a data set where its loader can, and verify it; returns one sentence.

    Raises
    ------
    DataMissingError
        Nothing can be downloaded: the message says which file belongs where.
    BoostrunError
        A file is there but not what was published.
    """
    data_root = Path(data_root)
    loader, options = _loader(config, data_root)
    try:
        loader.files(options, data_root)
    except DataMissingError:
        if loader.fetch is None:
            raise
        loader.fetch(options, data_root)
    return describe(config, data_root)


class _Checks(NamedTuple):
    """A loader's names for looking again at what was read."""

    located: Callable[[Mapping, Path, Path], Mapping] = lambda options, data_root, folder: options
    content_digest: Callable[[Any], str] | None = None
    """None: no option says what is returned."""


def _checks(config: Mapping) -> _Checks:
    from boostrun.data.options import offered

    return offered(_Checks, importlib.import_module(loader_module(config)), "loader", "data")


def _open_loader(config: Mapping) -> tuple[Loader, dict]:
    """What the loader's module offers, and its options with missing ones still "???"."""
    from boostrun.data.options import Loader, merge, offered

    dotted = loader_module(config)
    try:
        module = importlib.import_module(dotted)
    except ModuleNotFoundError as error:
        if error.name and not dotted.startswith(error.name):
            raise
        raise BoostrunError(f"dataset '{config.get('name')}': there is no module {dotted} to load it with") from error
    loader = offered(Loader, module, "loader", "data")
    declared = defaults("dataset", str(config.get("name"))) if loader.DEFAULTS is None else loader.DEFAULTS
    options = merge(config, declared, "dataset")
    if options.get("split_seed", 0) is None:
        options["split_seed"] = 0  # asked for by nobody's trial: see boostrun.data.options
    return loader, options


def _loader(config: Mapping, data_root: Path) -> tuple[Loader, dict]:
    """The same, checked: no option is missing."""
    from boostrun.data.options import require, split_fraction

    loader, options = _open_loader(config)
    try:
        require(options, "dataset")
    except BoostrunError as error:
        raise BoostrunError(f"{error}: {loader.places(options, data_root)}") from None
    if "test_fraction" in options:
        split_fraction(options)
    return loader, options
