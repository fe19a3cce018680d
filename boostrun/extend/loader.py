"""A user's data set as a loader: see `boostrun.data` for the interface of loaders.

A data set is a function of its keys that returns ``(x, y)`` or ``(x_train, y_train, x_test, y_test)`` (or
`boostrun.data.dataset.Parts`); or a class made from its keys, with ``read(data_root)`` that returns the same and
``files(data_root)``, the files it reads. ``data_root``, the folder of the data sets, is not a key.

Each trial splits ``(x, y)`` again. Whether there is a test part is known from an attribute ``has_test_part`` of the
function or class; without it the data are read once a process to find out.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from boostrun import extend
from boostrun.data.dataset import Parts
from boostrun.digest import digest_now, look_again
from boostrun.errors import BoostrunError, DataMissingError

_BOOSTRUNS = ("name", "class", "test_fraction", "split_seed")
DEFAULTS = {"test_fraction": 0.2, "split_seed": None, "class": "???", "given": None, "source": "???", "content": None}


@runtime_checkable
class FromFiles(Protocol):
    """A class of data sets that names the files it reads; their contents identify it."""

    def files(self, data_root: Path) -> Iterable[str | Path]:
        """Their paths."""


def config_for(dataset: Mapping, data_root: Path) -> Mapping:
    """The config of a user's data set as `boostrun.data` takes it; other configs unchanged.

    Adds ``source``, the digest of its code, and, if it names no files, ``content``, the digest of the arrays it
    returns, for which it is read once a process.
    """
    if "class" not in dataset:
        return dataset
    given, where = given_to(dataset), dataset["class"]
    content = None if reads_files(extend.obtain(where)) else _returned(where, _key(given), str(data_root)).content
    return {
        **{key: value for key, value in dataset.items() if key not in given},
        "loader": __name__, "given": given, "source": digest_now([where]), "content": content,
    }  # fmt: skip


def given_to(dataset: Mapping) -> dict[str, Any]:
    """The keys that the user's function or class takes.

    >>> given_to({"name": "moons", "class": "moons:moons", "test_fraction": 0.2, "split_seed": None, "n": 60})
    {'n': 60}
    """
    return {key: value for key, value in dataset.items() if key not in _BOOSTRUNS}


def has_test_part(dataset: Mapping, data_root: Path) -> bool:
    """Whether a user's data set has a test part: by its attribute, else by reading it."""
    where = dataset["class"]
    said = getattr(extend.obtain(where), "has_test_part", None)
    return said if isinstance(said, bool) else _returned(where, _key(given_to(dataset)), str(data_root)).has_test_part


def reads_files(thing: Callable[..., Any]) -> bool:
    """Whether a data set is a class that names the files it reads."""
    return inspect.isclass(thing) and issubclass(thing, FromFiles)


def places(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return f"it is what {options['class']} returns"


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files a data set names, in its order; DataMissingError for a missing one."""
    where = options["class"]
    thing = extend.obtain(where)
    if not reads_files(thing):
        return {}
    made = extend.call(where, thing, **(options["given"] or {}))
    found = {f"{i:06d}": Path(path) for i, path in enumerate(extend.call(where, made.files, Path(data_root)))}
    for path in found.values():
        if not path.is_file():
            raise DataMissingError(f"no file {path}, which {where} reads")
    return found


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set; BoostrunError if it fails or returns something else."""
    return read_parts(options["class"], options["given"] or {}, data_root)


def read_parts(where: str, given: Mapping, data_root: Path) -> Parts:
    """The parts that the data set ``where`` returns for these keys."""
    thing = extend.obtain(where)
    if inspect.isclass(thing):
        made = extend.call(where, thing, **given)
        if not callable(getattr(made, "read", None)):
            raise BoostrunError(f"{where} is no data set: a class needs read(data_root)")
        parts = extend.call(where, made.read, Path(data_root))
    else:
        root = {"data_root": Path(data_root)} if "data_root" in inspect.signature(thing).parameters else {}
        parts = extend.call(where, thing, **given, **root)
    if not isinstance(parts, tuple) or not 2 <= len(parts) <= len(Parts._fields):
        got = f"a tuple of {len(parts)}" if isinstance(parts, tuple) else f"an object of type {type(parts).__name__}"
        raise BoostrunError(f"{where} must return (x, y) or (x_train, y_train, x_test, y_test), not {got}")
    return Parts(*parts)


def content_digest(parts: Parts) -> str:
    """sha256 (hex) of all arrays of a data set."""
    total = hashlib.sha256()
    for name, part in zip(Parts._fields, parts):
        if part is None or name in ("classes", "columns"):
            total.update(repr(None if part is None else list(map(str, part))).encode())
            continue
        array = np.ascontiguousarray(part)
        array = array.astype(str) if array.dtype == object else array
        total.update(f"{name}{array.dtype.str}{array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()


class _Returned(NamedTuple):
    content: str | None
    """The digest of the data; None for a loader that names its files, which are hashed instead."""
    has_test_part: bool


@functools.lru_cache(maxsize=8)
def _returned(where: str, given: str, data_root: str) -> _Returned:
    parts = read_parts(where, json.loads(given), Path(data_root))
    content = None if reads_files(extend.obtain(where)) else content_digest(parts)
    return _Returned(content, parts.x_test is not None)


def forget() -> None:
    """Call the functions of data and read sources again: in a Python session they may have changed meanwhile."""
    look_again()
    _returned.cache_clear()


def _key(given: Mapping) -> str:
    return json.dumps(given, sort_keys=True)
