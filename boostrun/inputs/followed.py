"""A drifting stream as an evaluation sees it: which seed draws what, and how the data set wants it measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError

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
