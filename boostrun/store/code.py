"""Which code decides what a cell computes, and which of its definitions changed since a record was made.

A run notes the definitions of its code in ``.code`` of the store, one file per digest; ``code.json`` beside published
records holds theirs. Both are read only for stale records. Without them a command can only say that the code changed.
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
from boostrun.store.cell import Cell
from boostrun.store.equivalent import Equivalent

NAME = "code.json"
_LENGTH = 12  # hexadecimal digits kept of the hash of a definition's text


class Code(NamedTuple):
    """Roots and facts of a digest, see :func:`boostrun.digest.source_digest`."""

    roots: tuple[str, ...]
    facts: dict[str, Any]


def code_of(cell: Cell) -> Code:
    """The code that decides the result of a cell: its method, evaluation, input and seeds, and only code they use.

    >>> cell = Cell({"name": "wsam"}, {"name": "mnist"}, {"name": "raw", "bins": 16}, {"r": 20, "q": 10})
    >>> code_of(cell).roots[0], code_of(cell).facts["budget"]
    ('boostrun.papers.reservoir.classifier:ReservoirClassifier', {'r': 'reservoir_size', 'q': 'batch_size'})
    """
    method, input_ = catalogue.method(cell.algo), input_of(catalogue.dataset(cell.dataset).gives)
    named = [catalogue.part_target(room, name) for _, room, name in method.components(cell.algo)]
    roots = (
        method.target, method.evaluation, *(part.target for part in method.parts.values()), *named,
        "boostrun.methods.declaration:arguments", "boostrun.evaluation.measures:train_and_test",
        *input_.modules(cell.dataset),
    )  # fmt: skip
    facts = {
        "budget": {symbol: parameter for symbol, parameter in method.budget.items() if symbol in cell.budget},
        "fixed": dict(method.fixed),
        "parts": {name: {"names": dict(part.names)} for name, part in method.parts.items()},
        "not_keys": {"": _not_keys(method.keys), **{name: _not_keys(part.keys) for name, part in method.parts.items()}},
    }
    return Code(roots, facts)


def _not_keys(keys: type) -> dict[str, str]:
    """The parameters that no key sets, with the default that they always have."""
    return {
        one.name: repr(one.default) for one in dataclasses.fields(keys)
        if "kind" not in one.metadata and one.default is not dataclasses.MISSING
    }  # fmt: skip


# -- what changed ------------------------------------------------------------------------------------------------------


def note(store: Path, source: str, roots: Sequence[str]) -> None:
    """Note the definitions behind a digest in a store, unless they are noted or cannot be."""
    path = store / ".code" / source
    if not path.exists():
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(definitions(roots), indent=0, sort_keys=True).encode())


def definitions(roots: Sequence[str]) -> dict[str, str]:
    """Dotted name of each definition that the roots reach -> beginning of the hash of its text."""
    return {name: text[:_LENGTH] for name, text in reached(roots).definitions.items()}


def publish(results: Path, store: Path, sources: Iterable[str]) -> None:
    """Copy the notes of a store about these digests beside the published records. Raises OSError."""
    known = _published(results)
    more = {source: found for source in {*sources} - known.keys() if (found := _read(store / ".code" / source))}
    if more:
        write_whole(results / NAME, notes_text({**known, **more}).encode())


def notes_text(known: Mapping[str, Mapping[str, str]]) -> str:
    """Notes by digest as one text: a numbered line per definition, then its numbers per digest."""
    lines = sorted({f"{name} {text}" for found in known.values() for name, text in found.items()})
    number = {line: place for place, line in enumerate(lines)}
    rows = ",\n".join(
        f"{json.dumps(source)}: {sorted(number[f'{name} {text}'] for name, text in known[source].items())}"
        for source in sorted(known)
    )
    return f'{{"definitions": {json.dumps(lines, indent=0)}, "digests": {{\n{rows}\n}}}}\n'


def since(source: str, roots: Sequence[str], store: Path, results: Path, equivalent: Equivalent) -> list[str]:
    """The names of the definitions that differ between the code of a digest and today's; empty if none were noted.

    A definition that was moved or renamed does not differ.
    """
    for digest in (source, *sorted(equivalent.leads_to(source))):
        if before := _read(store / ".code" / digest) or _published(results).get(digest, {}):
            return changed(before, definitions(roots))
    return []


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names of the definitions that were edited; if none were, of those added or removed.

    >>> changed({"a.f": "1", "a.g": "2", "a.h": "3"}, {"a.f": "1", "b.g": "2", "a.h": "4"})
    ['a.h']
    """
    edited = [name for name in before.keys() & now.keys() if before[name] != now[name]]
    gone = {name: text for name, text in before.items() if name not in now}
    new = {name: text for name, text in now.items() if name not in before}
    more = [name for name, text in gone.items() if text not in new.values()]
    more += [name for name, text in new.items() if text not in gone.values()]
    return sorted(edited) or sorted(more)


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
