"""What methods learn from: a table (a feature bank), chunks (files larger than memory), a stream whose concept drifts.

A data set says which of the three it gives (or names a class of its own, ``module:Class``). An input knows what of a
configuration it has a use for, what identifies its content, what has to be built once, and how a trial opens it.
Nothing heavy is imported until data are touched.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from boostrun.errors import BoostrunError

if TYPE_CHECKING:
    from boostrun.evaluation import Seeds
    from boostrun.methods.declaration import Method

_INPUTS = {
    "table": "boostrun.inputs.bank:BankInput",
    "chunks": "boostrun.inputs.chunks:ChunksInput",
    "stream": "boostrun.inputs.bank:StreamInput",
}


@dataclass(frozen=True)
class Places:
    """Where things lie, and how much memory may be used: nothing here decides a result."""

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
        """Raise BoostrunError with one sentence where the method cannot learn from it, or a key has no use."""

    def of_cell(self, dataset: Mapping, run: Mapping) -> dict[str, Any]:
        """The data set's keys, and what else of the settings decides what is read, for the cell."""

    def key(self, dataset: Mapping, features: Mapping, places: Places) -> str:
        """sha256 (hex) of the content; nothing is built. DataMissingError where it is not there."""

    def modules(self, dataset: Mapping) -> Sequence[str]:
        """Dotted names of the modules that decide what is handed out, besides what :meth:`key` covers."""

    def prepare(self, dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
        """Build or check once, before the first trial; returns what :meth:`fits` looks at."""

    def fits(self, prepared: Any, cell: Any) -> None:
        """Raise BoostrunError where a cell's budget does not fit what was prepared."""

    def open(self, dataset: Mapping, features: Mapping, places: Places, key: str, seeds: Seeds, budget: Mapping) -> Any:
        """What an evaluation is run on. BoostrunError where it is not what ``key`` says."""

    def close(self, dataset: Mapping, places: Places, key: str) -> None:
        """Raise BoostrunError where the data have changed while they were read."""


def input_of(gives: str) -> Input:
    """The input of what a data set gives.

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
        raise BoostrunError(
            f"r={r} and q={q}: together more samples than the {samples} that {name} has for training; r + q must be at "
            f"most {samples}"
        )


def refuse_keys(dataset: str, root: Mapping, advice: Mapping[str, str]) -> None:
    """Refuse keys at the top of the config that a data set has no use for; ``advice`` says what to do instead."""
    for key, instead in advice.items():
        if root[key] is not None:
            raise BoostrunError(f"dataset={dataset} has no use for {key}={root[key]:g}{instead}")
