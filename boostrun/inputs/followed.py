"""A drifting stream as an evaluation sees it: which seed draws what, and how the data set wants it measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FIRST = 200  # examples before the first test on a hold-out of a learner without a window: the usual length of one


@dataclass(frozen=True)
class Followed:
    """A stream, and how a data set wants it measured: see :class:`boostrun.evaluation.prequential.OnStream`.

    ``kind`` is the type of its values, ``first`` the example from which hold-outs are tested; None where the data set
    is not measured so.
    """

    stream: Any
    first: int
    eval_every: Any
    window: Any
    fading: Any
    curve_every: Any
    kind: str = "stream"


def open_stream(draw: Callable[..., Any], dataset: Mapping, data_root: Path, seeds: Any, budget: Mapping) -> Followed:
    """The stream of a data set and its hold-outs, the same for all methods: ``draw`` is given a seed for each.

    Without ``seeds`` both are 0: to look at it before a trial starts.
    """
    given = () if seeds is None else (seeds.split, seeds.filter)
    measured = {name: dataset.get(name) for name in ("eval_every", "window", "fading", "curve_every")}
    return Followed(draw(dataset, data_root, *given), budget.get("n", _FIRST), **measured)  # type: ignore[arg-type]
