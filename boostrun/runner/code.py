"""Which code decides what a cell computes: the roots of its digest, and the facts that stand in no body.

Everything that decides counts: the method and what its budget is called, the evaluation, what opens the input, the
hold-out and the subset where they are used, the seeds. What else there is to choose from does not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from boostrun.data import is_drifting, is_streamed, loader_module
from boostrun.runner import algorithms
from boostrun.runner.cell import Cell

_NARROWED = {"holdout": "boostrun.runner.holdout:Holdout", "train_samples": "boostrun.runner.fewer:Fewer"}


class Code(NamedTuple):
    """Roots and facts of a digest, see :func:`boostrun.digest.source_digest`."""

    roots: tuple[str, ...]
    facts: dict[str, Any]


def code_of(cell: Cell) -> Code:
    """What decides the result of a cell.

    >>> cell = Cell({"name": "wsam"}, {"name": "mnist", "holdout": 0.2}, {"bins": 16}, {"r": 20, "q": 10})
    >>> code_of(cell).roots[-2:]
    ('boostrun.features.bank:Bank', 'boostrun.runner.holdout:Holdout')
    >>> code_of(cell).facts
    {'method': 'wsam', 'budget': {'r': 'reservoir_size', 'q': 'batch_size'}}
    """
    roots, facts = algorithms.deciding(cell.algo, cell.budget)
    return Code((*roots, "boostrun.runner.protocol", "boostrun.runner.make", *_inputs(cell)), facts)


def _inputs(cell: Cell) -> tuple[str, ...]:
    """Roots of what opens the input of a cell."""
    dataset: dict[str, Any] = dict(cell.dataset)
    if is_drifting(dataset):
        return loader_module(dataset), "boostrun.data.streams:draw"
    if is_streamed(dataset):
        return "boostrun.runner.streamed", "boostrun.data.stream_set:open_set"
    # a pipeline without bins keeps values
    bank = "boostrun.features.bank:Bank" if "bins" in cell.features else "boostrun.features.values:ValueBank"
    return (bank, *(root for key, root in _NARROWED.items() if dataset.get(key)))
