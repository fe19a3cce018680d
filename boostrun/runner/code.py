"""Which code decides what a cell computes: the roots of its digest, and the facts that stand in no body.

Everything that decides counts: the method and what its budget is called, the evaluation, what opens the input, the
seeds. What else there is to choose from does not.

Which definitions have changed since a record was made.

A run notes the definitions of its code in ``.code`` of the store, a file a digest; ``code.json`` beside published
records holds theirs. Nothing is read of either but for a record that is stale. Both are memories: without them a
command says only that the code has changed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from boostrun.config import catalogue
from boostrun.digest import reached
from boostrun.files import write_whole
from boostrun.inputs import input_of
from boostrun.methods.declaration import Method
from boostrun.runner.cell import Cell
from boostrun.runner.equivalent import Equivalent


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
        "boostrun.methods.keys:arguments", "boostrun.evaluation.measures:train_and_test",
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


NAME = "code.json"
_LENGTH = 12  # hexadecimal digits of the hash of a definition's text


def note(store: Path, source: str, roots: Sequence[str]) -> None:
    """Note in a store the definitions behind a digest, where they are not noted yet and can be."""
    path = _place(store, source)
    if not path.exists():
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(definitions(roots), indent=0, sort_keys=True).encode())


def definitions(roots: Sequence[str]) -> dict[str, str]:
    """Dotted name of each definition that roots reach -> beginning of the hash of its own text."""
    return {name: text[:_LENGTH] for name, text in reached(roots).definitions.items()}


def publish(results: Path, store: Path, sources: Iterable[str]) -> None:
    """Put the notes of a store about digests beside published records. Raises OSError."""
    known = _published(results)
    more = {source: found for source in {*sources} - known.keys() if (found := _read(_place(store, source)))}
    if more:
        write_whole(results / NAME, spelled({**known, **more}).encode())


def spelled(known: Mapping[str, Mapping[str, str]]) -> str:
    """Notes by digest as one text: each definition once, a line each, and their numbers by digest."""
    lines = sorted({f"{name} {text}" for found in known.values() for name, text in found.items()})
    number = {line: place for place, line in enumerate(lines)}
    digests = {
        source: sorted(number[f"{name} {text}"] for name, text in found.items()) for source, found in known.items()
    }
    rows = ",\n".join(f"{json.dumps(source)}: {json.dumps(digests[source])}" for source in sorted(digests))
    return f'{{"definitions": {json.dumps(lines, indent=0)}, "digests": {{\n{rows}\n}}}}\n'


def since(source: str, roots: Sequence[str], store: Path, results: Path, equivalent: Equivalent) -> list[str]:
    """Names of the definitions that differ between the code of a digest and today's; empty where none are noted.

    A definition that was moved or renamed does not differ.
    """
    for digest in (source, *sorted(equivalent.leads_to(source))):
        if before := _read(_place(store, digest)) or _published(results).get(digest, {}):
            return changed(before, definitions(roots))
    return []


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names whose definitions differ: edited, added or gone.

    >>> changed({"a.f": "1", "a.g": "2", "a.h": "3"}, {"a.f": "1", "b.g": "2", "a.h": "4"})
    ['a.h']
    """
    edited = [name for name in before.keys() & now.keys() if before[name] != now[name]]
    gone = {name: text for name, text in before.items() if name not in now}
    new = {name: text for name, text in now.items() if name not in before}
    more = [name for name, text in gone.items() if text not in new.values()]
    more += [name for name, text in new.items() if text not in gone.values()]
    return sorted(edited) or sorted(more)


def _place(store: Path, source: str) -> Path:
    return store / ".code" / source


def _published(results: Path) -> dict[str, dict[str, str]]:
    content = _read(results / NAME)
    with contextlib.suppress(KeyError, IndexError, ValueError, TypeError, AttributeError):
        pairs = [line.split(" ") for line in content["definitions"]]
        return {source: dict(pairs[number] for number in numbers) for source, numbers in content["digests"].items()}
    return {}


def _read(path: Path) -> dict:
    with contextlib.suppress(OSError, ValueError):
        content = json.loads(path.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}
