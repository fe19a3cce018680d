"""A data set as a table: its feature bank, built once, then memory-mapped by every trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.evaluation import Seeds
from boostrun.inputs import Places, check_reservoir
from boostrun.methods.declaration import Method

_OF_RUN = ("holdout", "train_samples")  # what counts to the cell's data set, and does not to the bank


class BankInput:
    """Tables; see :class:`boostrun.inputs.Input`."""

    changes = False

    def refuse(self, name: str, method: Method, dataset: Mapping, features: Mapping, root: Mapping) -> None:
        """Features that the method cannot be trained on, and methods that follow a stream."""
        gives = catalogue.pipelines()[features["name"]].gives
        if gives in method.inputs:
            return
        known = catalogue.pipelines()
        fitting = ", ".join(each for each, pipeline in known.items() if pipeline.gives in method.inputs)
        if not fitting:
            streams = ", ".join(each for each, found in catalogue.datasets().items() if found.gives in method.inputs)
            raise BoostrunError(
                f"algo '{name}' follows a stream, and dataset={dataset['name']} is none; the streams are {streams}"
            )
        raise BoostrunError(f"algo '{name}' cannot be trained on features={features['name']}; it takes {fitting}")

    def of_cell(self, dataset: Mapping, run: Mapping) -> dict[str, Any]:
        """The data set's keys as they are."""
        return dict(dataset)

    def key(self, dataset: Mapping, features: Mapping, places: Places) -> str:
        """The key of the feature bank."""
        from boostrun.features import bank_key

        return bank_key(*_configs(dataset, features, places), places.data_root)

    def modules(self, dataset: Mapping) -> Sequence[str]:
        """How a table hands out its bank, whose content the key covers, and which part of it."""
        return (
            "boostrun.inputs.opened:opened", "boostrun.inputs.table:Table", "boostrun.features.bank:Bank",
            "boostrun.features.values:ValueBank",
        )  # fmt: skip

    def prepare(self, dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
        """Build the bank where it is not there yet; returns its table."""
        from boostrun.inputs.opened import opened

        return opened(_open(dataset, features, places, progress), dataset, features)

    def fits(self, prepared: Any, cell: Any) -> None:
        """A reservoir must fit the training part."""
        check_reservoir(cell, len(prepared.bank.labels("train")), len(prepared.classes))

    def open(self, dataset: Mapping, features: Mapping, places: Places, key: str, seeds: Seeds, budget: Mapping) -> Any:
        """The table, held out or cut as the cell says."""
        from boostrun.inputs.opened import opened

        bank = _by_key(places.cache_root / "banks" / key) if "class" not in dataset else None
        bank = bank or _open(dataset, features, places, False)  # by its key: a node of a cluster may not see the data
        if bank.meta["key"] != key:
            from boostrun import data

            raise data.other_each_time(dataset) if "class" in dataset else data.changed(dataset)
        return opened(bank, dataset, features)

    def close(self, dataset: Mapping, places: Places, key: str) -> None:
        """A bank does not change."""


def _configs(dataset: Mapping, features: Mapping, places: Places) -> tuple[Mapping, Mapping]:
    from boostrun.extend import loader, pipeline

    own = {key: value for key, value in dataset.items() if key not in _OF_RUN}
    return loader.config_for(own, places.data_root), pipeline.config_for(features)


def _by_key(folder: Path) -> Any:
    from boostrun.features.bank import Bank
    from boostrun.features.values import ValueBank

    if not (folder / "meta.json").is_file():
        return None
    return (Bank if (folder / "edges.npy").is_file() else ValueBank)(folder)


def _open(dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
    from boostrun.features import open_bank

    return open_bank(
        *_configs(dataset, features, places), places.data_root, places.cache_root, progress, places.n_jobs,
        memory_mb=places.memory_mb,
    )  # fmt: skip
