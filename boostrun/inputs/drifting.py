"""A stream whose concept may change, for learners that follow it example by example."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from boostrun.config import catalogue, defaults
from boostrun.errors import BoostrunError
from boostrun.evaluation import Seeds
from boostrun.inputs import Places, refuse_keys
from boostrun.inputs.followed import open_stream
from boostrun.methods.declaration import Method


class StreamInput:
    """Drifting streams; see :class:`boostrun.inputs.Input`."""

    changes = True

    def refuse(self, name: str, method: Method, dataset: Mapping, features: Mapping, root: Mapping) -> None:
        """Methods that do not follow a stream, features that would have to be computed, subsets."""
        where = f"dataset={dataset['name']}"
        if "stream" not in method.inputs:
            able = ", ".join(each for each, other in catalogue.methods().items() if "stream" in other.inputs)
            raise BoostrunError(f"algo '{name}' cannot follow the stream {where}; {able} can")
        if dict(features) != {"name": "raw", **defaults("features", "raw")}:
            raise BoostrunError(f"{where} is learnt as it is: features=raw with its defaults is needed")
        refuse_keys(dataset["name"], root, dict.fromkeys(("holdout", "train_samples"), ": it is a stream"))

    def of_cell(self, dataset: Mapping, run: Mapping) -> dict[str, Any]:
        """The data set's keys as they are."""
        return dict(dataset)

    def key(self, dataset: Mapping, features: Mapping, places: Places) -> str:
        """That of the files, or of what is generated."""
        from boostrun.data import checksum

        return checksum(dataset, places.data_root)

    def modules(self, dataset: Mapping) -> Sequence[str]:
        """What draws the stream, with which seeds, and how it is measured."""
        from boostrun.data import loader_module
        from boostrun.digest import roots_in

        loader = roots_in(loader_module(dataset), ("draw", "located", "NEEDS"))
        return (*loader, "boostrun.data.streams:draw", "boostrun.inputs.followed:open_stream")

    def prepare(self, dataset: Mapping, features: Mapping, places: Places, progress: bool) -> Any:
        """Draw it once: what is wrong with it is said before a trial starts."""
        from boostrun.data.streams import draw

        return open_stream(draw, _whole(dataset), places.data_root, None, {})

    def fits(self, prepared: Any, cell: Any) -> None:
        """Every budget fits a stream."""

    def open(self, dataset: Mapping, features: Mapping, places: Places, key: str, seeds: Seeds, budget: Mapping) -> Any:
        """The stream and its hold-outs, the same for all methods."""
        from boostrun.data import loader_module
        from boostrun.data.streams import draw

        located = getattr(importlib.import_module(loader_module(dataset)), "located", None)
        if located is not None:
            dataset = located(dataset, places.data_root, places.folder)
        return open_stream(draw, _whole(dataset), places.data_root, seeds, budget)

    def close(self, dataset: Mapping, places: Places, key: str) -> None:
        """Refused where its files are others than at the start of the run."""
        from boostrun.data import changed, checksum

        if checksum(dataset, places.data_root, places.folder) != key:
            raise changed(dataset)


def _whole(dataset: Mapping) -> dict[str, Any]:
    """A cell's data set with the keys that the cell leaves out."""
    return {**defaults("dataset", str(dataset["name"])), **dataset}
