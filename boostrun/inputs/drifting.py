"""A stream whose concept may change, for learners that follow it example by example."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun.config import catalogue, defaults
from boostrun.errors import BoostrunError
from boostrun.evaluation import Seeds
from boostrun.inputs import Places, refuse_keys
from boostrun.methods.declaration import Method

_FIRST = 200  # examples before the first test on a hold-out of a learner without a window: the usual length of one
_POINTS = 100  # of a curve
_WINDOW = 500  # examples of a point of a curve: an accuracy of fewer is known to no better than 5 %


@dataclass(frozen=True)
class Followed:
    """A stream, and how a data set wants it measured: see :class:`boostrun.evaluation.prequential.OnStream`.

    ``kind`` is the type of its values, ``first`` the example from which hold-outs are tested, ``delay`` how many
    examples labels are late, ``scored_after`` how many do not count in metrics; ``eval_every`` and ``fading`` are None
    where the data set is not measured so.
    """

    stream: Any
    first: int
    eval_every: Any
    window: Any
    fading: Any
    curve_every: Any
    kind: str = "stream"
    delay: int = 0
    measures: str = "accuracy"
    scored_after: int = 0


def open_stream(draw: Callable[..., Any], dataset: Mapping, data_root: Path, seeds: Any, budget: Mapping) -> Followed:
    """The stream of a data set and its hold-outs, the same for all methods: ``draw`` is given a seed for each.

    Without ``seeds`` both are 0: to look at it before a trial starts. Where the data set does not say it, a curve has a
    point after each hundredth of the stream, whatever its length, over a window of as many examples, at least 500.
    """
    given = () if seeds is None else (seeds.split, seeds.filter)
    stream = draw(dataset, data_root, *given)
    scored_after = dataset.get("scored_after", 0)
    if scored_after >= len(stream):
        raise BoostrunError(f"dataset.scored_after={scored_after}: the stream has {len(stream)} examples, none is left")
    curve_every = dataset.get("curve_every") or max(1, -(-len(stream) // _POINTS))
    return Followed(
        stream, max(budget.get("n", _FIRST), scored_after), dataset.get("eval_every"),
        dataset.get("window") or max(curve_every, _WINDOW), dataset.get("fading"), curve_every,
        delay=dataset.get("delay", 0), measures=dataset.get("measures", "accuracy"), scored_after=scored_after,
    )  # fmt: skip


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
        return (*loader, "boostrun.data.streams:draw", "boostrun.inputs.drifting:open_stream")

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
