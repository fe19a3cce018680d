"""Feature pipelines, and the quantised feature bank that holds their codes.

A pipeline is a module with a class `Pipeline` (or a class declared as "package.module:Class"), made as
`Pipeline(options)` from the keys it is declared with, or those in the module's `DEFAULTS`. It has `name`,
`fit(images)`, `__call__(images) -> (n, d) float32`, `describe()`, and optionally `families(d) -> [(name, start,
stop)]`. `fit` sees training images only. Before use its attributes `n_jobs`, `progress`, `saved` and `first_split` are
set:

- `fit` may keep arrays in `saved` (see `boostrun.features.store`) and finds them there when a killed build resumes. If
  it keeps `edges`, (1 or d, bins - 1) increasing float32, codes are made with them in place of quantiles.
- `first_split`, a `boostrun.features.bank.FirstSplit`, is for state fitted once for all random splits of a data set.

A bank is built again when the code of a function or class that `Pipeline` uses changes; `SOURCES` names further code to
watch, as "module:name". With `VALUES = True` a module makes a value bank instead of codes (see
`boostrun.features.build`); with `MISSING = True` it works column by column and takes missing values (see
`boostrun.data.dataset`). For features of your own one function is enough: `boostrun.extend.pipeline` makes a pipeline
from it, see docs/howto/extending.md.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from boostrun.config import catalogue, defaults
from boostrun.data.options import loader_of, offered, read_roots
from boostrun.errors import BoostrunError

if TYPE_CHECKING:
    from boostrun.data.dataset import Dataset
    from boostrun.features.bank import Bank
    from boostrun.features.build import ValueBank

# The code that decides a bank's content, besides the pipeline and the loader.
_BUILD = ("boostrun.data:load", "boostrun.features.build:build")
_BUILD_VALUES = ("boostrun.features.build:build_values",)
_BUILD_EXACT = ("boostrun.features.columns:ExactColumns",)  # of tables of the user's: no column of the others needs it


def open_bank(
    dataset: Mapping,
    features: Mapping,
    data_root: Path,
    cache_root: Path,
    progress: bool = False,
    n_jobs: int = 1,
    *,
    memory_mb: int = 1024,
    verify: bool = False,
) -> Bank | ValueBank:
    """Open the bank of a data set's features; build it first, once for all processes, unless it exists.

    A killed or interrupted build resumes. Files of a bank that may have changed since the last check are hashed; a
    damaged bank is built again, with a line on stderr.

    Parameters
    ----------
    dataset, features : mappings with `name` and its keys
    data_root, cache_root : Path
        The bank lies in `<cache_root>/banks/<key>/`.
    progress : bool
        Show progress on stderr.
    n_jobs : int
        Processes or threads that compute features; the result does not depend on it.
    memory_mb : int
        Memory of one block of work while building, and of reading a user's table, in MiB; the result does not depend on
        it.
    verify : bool
        Hash all files, including those that have not changed.

    Raises
    ------
    BoostrunError
        Wrong keys or data, data that changed during the build, a full disk, a cache root that cannot be written.
    """
    from boostrun.data import digests
    from boostrun.features import store as seal
    from boostrun.features.bank import Bank
    from boostrun.features.build import ValueBank
    from boostrun.features.store import locked

    digests.keep(data_root, cache_root)
    key = bank_key(dataset, features, data_root)
    folder = Path(cache_root) / "banks" / key
    computed, options = _pipeline(features)
    found = seal.look(folder, verify) if (folder / "meta.json").is_file() else None
    if found is None or found.damage:
        from boostrun.data import changed, load
        from boostrun.features.bank import CheckedSplit
        from boostrun.features.build import build, build_values
        from boostrun.features.columns import ExactColumns
        from boostrun.features.store import (
            finish,
            finished_elsewhere,
            make_folder,
            out_of_room,
            place_to_build,
            remove,
        )  # fmt: skip
        from boostrun.features.store import (
            sweep_banks as sweep,
        )

        pipeline = computed.Pipeline(options)  # refuses a device that is not there before anything is written
        pipeline.n_jobs, pipeline.progress = n_jobs, progress
        pipeline.first_split = CheckedSplit(dataset, features, data_root, cache_root, key)
        make_folder(folder.parent)
        with locked(folder):
            if folder.exists():  # another process may have built it meanwhile
                _remove_damaged(folder, verify)
            if not ((folder / "meta.json").is_file() or finished_elsewhere(folder)):
                sweep(folder.parent, building=key)
                here = place_to_build(folder)
                with out_of_room(folder):
                    data = load(dataset, Path(data_root), memory_mb, folder.parent)
                if key_of(dataset, features, data.checksum) != key:
                    raise changed(dataset)
                if not computed.MISSING:
                    data = _without_missing(data, str(features.get("name")))
                if computed.VALUES:
                    _refuse_whole(data, str(features.get("name")), memory_mb)
                    build_values(data, pipeline, options, here, key=key, progress=progress)
                else:
                    if _is_exact(dataset, computed):
                        pipeline = ExactColumns(pipeline, options["bins"], options["bin_samples"], data.missing)
                    build(data, pipeline, options, here, key=key, progress=progress, memory_mb=memory_mb)
                if bank_key(dataset, features, data_root) != key:  # a user's function may read while the bank is built
                    remove(here)
                    raise changed(dataset)
                finish(here, folder)
            found = seal.look(folder)
    if found.spoilt or found.sha256:
        with contextlib.suppress(BoostrunError), locked(folder, wait=False) as free:  # a folder that is read-only
            if free:
                seal.note(folder, found.sha256, found.states)
        _remove_samples(folder, found.spoilt)
    return (ValueBank if computed.VALUES else Bank)(folder)


def _refuse_whole(data: Dataset, name: str, memory_mb: int) -> None:
    """Raise BoostrunError if features that need all training samples at once, and a copy, exceed the memory limit."""
    from boostrun.data.dataset import Rows

    copies = 2 if data.missing is None or not len(data.missing) else 4  # gaps are filled, and marked in added columns
    needed = copies * data.x_train.nbytes >> 20
    if isinstance(data.x_train, Rows) and needed > memory_mb:
        raise BoostrunError(
            f"features={name} are fitted on all {len(data.x_train)} training samples of {data.name} at once, which "
            f"takes {needed} MiB; set run.memory_mb={needed}, or take fewer samples or columns"
        )


def _without_missing(data: Dataset, name: str) -> Dataset:
    """The data set; BoostrunError if it has missing values and the features need complete samples."""
    from dataclasses import replace

    from boostrun.data.dataset import columns_with

    if data.missing is None:
        return data
    for part, x in (("training", data.x_train), ("test", data.x_test)):
        if len(found := columns_with(x)):
            raise BoostrunError(
                f"features={name} are made of complete samples, and the {part} part of {data.name} has missing values, "
                f"first in column {found[0]}; fill or remove them, or take features=raw"
            )
    return replace(data, missing=None)


def _remove_damaged(folder: Path, verify: bool) -> None:
    """Remove a bank, whose lock is held, if it is still damaged."""
    from boostrun.features import store as seal
    from boostrun.features.store import remove

    if not (damage := seal.look(folder, verify).damage):
        return
    print(f"boostrun: the feature bank {folder} is damaged ({damage}); it is built again", file=sys.stderr)
    remove(folder)
    if folder.exists():
        raise BoostrunError(f"the feature bank {folder} is damaged ({damage}) and cannot be removed; remove the folder")


def _remove_samples(folder: Path, names: Sequence[str]) -> None:
    """Remove damaged files that are rebuilt on demand."""
    for name in names:
        print(f"boostrun: {folder / name} is not what was written; it is made again", file=sys.stderr)
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise BoostrunError(f"{folder / name} is damaged and cannot be removed; remove the file") from error


def bank_key(dataset: Mapping, features: Mapping, data_root: Path) -> str:
    """sha256 (hex) of the data's checksum, the features config and the code that computes them; builds nothing."""
    from boostrun.data import checksum

    _pipeline(features)  # report its errors first
    return key_of(dataset, features, checksum(dataset, data_root))


def key_of(dataset: Mapping, features: Mapping, data: str) -> str:
    """The key of the bank of a data set with the checksum ``data``."""
    import hashlib
    import json

    from boostrun.digest import names_of_banks, roots_in

    computed, options = _pipeline(features)
    module, _, name = pipeline_target(features).partition(":")
    parts = [
        _BUILD, (*roots_in(module, [name]), *computed.SOURCES),
        (*read_roots(dataset), *loader_of(dataset).SOURCES),
        *([_BUILD_VALUES] if computed.VALUES else [_BUILD_EXACT] if _is_exact(dataset, computed) else ()),
    ]  # fmt: skip
    whole = {"data": data, "features": options, "source": [name for part in parts for name in names_of_banks(part)]}
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()


def _is_exact(dataset: Mapping, computed: _Computed) -> bool:
    """Whether these features are the columns of a table of the user's."""
    return computed.MISSING and not computed.VALUES and ("missing" in loader_of(dataset).DEFAULTS or "class" in dataset)


def pipeline_target(features: Mapping) -> str:
    """ "module:Class" of the pipeline that computes these features.

    >>> pipeline_target({"name": "raw"})
    'boostrun.features.columns:Raw'
    """
    return f"{features['pipeline']}:Pipeline" if features.get("pipeline") else catalogue.pipeline(features).target


class _Computed(NamedTuple):
    """The interface of a pipeline's module."""

    Pipeline: Any
    DEFAULTS: Mapping | None = None
    SOURCES: tuple[str, ...] = ()
    VALUES: bool = False
    MISSING: bool = False


def _pipeline(features: Mapping) -> tuple[_Computed, dict]:
    """The pipeline's module, and its checked options."""
    from boostrun.data.options import in_range, merge, require

    dotted, _, name = pipeline_target(features).partition(":")
    try:
        module = importlib.import_module(dotted)
    except ModuleNotFoundError as error:
        if error.name and not dotted.startswith(error.name):
            raise
        raise BoostrunError(f"features '{features.get('name')}': there is no module {dotted}") from error
    found = vars(module) | {key: vars(module)[name] for key in ("Pipeline",) if name in vars(module)}
    computed = offered(_Computed, SimpleNamespace(**found), "pipeline", "features")
    common = {} if computed.VALUES else defaults("features", "raw")
    if computed.DEFAULTS is None and features.get("pipeline"):
        raise BoostrunError(f"the pipeline {dotted} has no DEFAULTS; see the head of boostrun/features/__init__.py")
    declared = defaults("features", str(features.get("name"))) if computed.DEFAULTS is None else computed.DEFAULTS
    options = merge(features, {**common, **declared}, "features")
    require(options, "features")
    if common:
        in_range(options, "features", "bins", 2, 256)
        in_range(options, "features", "bin_samples", 1)
    return computed, options
