"""Which code decides what a cell computes: the roots of its digest, and the facts that stand in no body.

Everything that decides counts: the method and what its budget is called, the evaluation, what opens the input, the
seeds. What else there is to choose from does not.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from boostrun.config import catalogue
from boostrun.inputs import input_of
from boostrun.methods.declaration import Method
from boostrun.runner.cell import Cell


class Code(NamedTuple):
    """Roots and facts of a digest, see :func:`boostrun.digest.source_digest`."""

    roots: tuple[str, ...]
    facts: dict[str, Any]


def code_of(cell: Cell) -> Code:
    """What decides the result of a cell.

    >>> cell = Cell({"name": "wsam"}, {"name": "mnist"}, {"name": "raw", "bins": 16}, {"r": 20, "q": 10})
    >>> code_of(cell).roots[0], code_of(cell).facts["budget"]
    ('boostrun.papers.reservoir.classifier:ReservoirClassifier', {'r': 'reservoir_size', 'q': 'batch_size'})
    """
    method, input_ = catalogue.method(cell.algo), input_of(catalogue.dataset(cell.dataset).gives)
    named = [catalogue.part_target(room, name) for _, room, name in method.components(cell.algo)]
    roots = (
        method.target, method.evaluation, *(part.target for part in method.parts.values()), *named,
        "boostrun.methods.making:arguments", "boostrun.evaluation.trial:train_and_test",
        *input_.modules(cell.dataset),
    )  # fmt: skip
    return Code(roots, _facts(method, cell))


def _facts(method: Method, cell: Cell) -> dict[str, Any]:
    """What of a declaration decides, besides the values in the cell."""
    return {
        "budget": {symbol: parameter for symbol, parameter in method.budget.items() if symbol in cell.budget},
        "fixed": dict(method.fixed),
        "parts": {name: {"names": dict(part.names)} for name, part in method.parts.items()},
        "not_keys": {"": _not_keys(method.keys), **{name: _not_keys(part.keys) for name, part in method.parts.items()}},
    }


def _not_keys(keys: type) -> dict[str, str]:
    """Parameters that no key sets, with the default that they always have."""
    return {
        one.name: repr(one.default) for one in dataclasses.fields(keys)
        if "kind" not in one.metadata and one.default is not dataclasses.MISSING
    }  # fmt: skip
