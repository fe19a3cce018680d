"""Inputs of methods: a table (a feature bank), chunks (files larger than memory), or a stream whose concept drifts.

A data set declares which of the three it gives, or names its own class, ``module:Class``. An input knows which settings
it uses, the key of its content, the files built once, and how a trial opens it. Heavy modules are imported only
when data are read.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from boostrun.errors import BoostrunError, ReservoirSizeError

if TYPE_CHECKING:
    from boostrun.evaluation import Seeds
    from boostrun.methods.declaration import Method

_INPUTS = {
    "table": "boostrun.inputs.bank:BankInput",
    "chunks": "boostrun.inputs.bank:ChunksInput",
    "stream": "boostrun.inputs.bank:StreamInput",
}


@dataclass(frozen=True)
class Places:
    """Folders and the memory limit; nothing here changes a result."""

    data_root: Path
    cache_root: Path
    memory_mb: int = 1024
    folder: Path = Path()
    n_jobs: int = 1


class Input(Protocol):
    """How a data set of one kind is identified, prepared and opened. ``dataset`` and ``features`` are those of a cell.

    ``changes`` says whether what is opened differs from trial to trial; otherwise a process opens it once.
    """

    changes: bool

    def refuse(self, name: str, method: Method, dataset: Mapping, features: Mapping, root: Mapping) -> None:
        """Raise BoostrunError if the method cannot learn from this input, or a key does not apply to it."""

    def of_cell(self, dataset: Mapping, run: Mapping) -> dict[str, Any]:
        """The data set's keys, and other settings that decide what is read, for the cell."""

    def key(self, dataset: Mapping, features: Mapping, places: Places) -> str:
        """sha256 (hex) of the content; builds nothing. DataMissingError if files are missing."""

    def modules(self, dataset: Mapping) -> Sequence[str]:
        """Dotted names of the modules that decide what is handed out, besides what :meth:`key` covers."""

    def prepare(self, dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
        """Build or check once, before the first trial; returns what :meth:`fits` looks at."""

    def fits(self, prepared: Any, cell: Any) -> None:
        """Raise BoostrunError where a cell's budget does not fit what was prepared."""

    def open(self, dataset: Mapping, features: Mapping, places: Places, key: str, seeds: Seeds, budget: Mapping) -> Any:
        """The data for an evaluation. BoostrunError if they are not those of ``key``."""

    def close(self, dataset: Mapping, places: Places, key: str) -> None:
        """Raise BoostrunError if the data changed while they were read."""


def input_of(gives: str) -> Input:
    """The input for a data set's kind: table, chunks, stream, or "module:Class".

    >>> type(input_of("stream")).__name__
    'StreamInput'
    """
    module, _, name = _INPUTS.get(gives, gives).partition(":")
    return getattr(importlib.import_module(module), name)()


def check_reservoir(cell: Any, samples: int, classes: int) -> None:
    """Refuse a reservoir with fewer samples than there are classes, or with more than there are samples."""
    r, q, name = cell.budget.get("r"), cell.budget.get("q"), cell.dataset["name"]
    if r is None or q is None:
        return
    if r < classes:
        raise BoostrunError(
            f"r={r}: the reservoir would hold fewer samples than {name} has classes ({classes}); r must be at least "
            f"{classes}"
        )
    if r + q > samples:
        error = ReservoirSizeError(
            f"r={r} and q={q}: together more samples than the {samples} that {name} has for training; r + q must be at "
            f"most {samples}, as in r={samples // 2} q={samples // 2}"
        )
        error.fits = samples // 2 if "path" in cell.dataset and samples >= 2 * classes else 0
        raise error


def refuse_keys(dataset: str, root: Mapping, advice: Mapping[str, str]) -> None:
    """Raise BoostrunError for top-level keys that do not apply to a data set; ``advice`` names what to set instead."""
    for key, instead in advice.items():
        if root[key] is not None:
            raise BoostrunError(f"dataset={dataset} does not take {key}={root[key]:g}{instead}")
