"""The code that decides a cell's result, its changes since a record was made, and digests that stand for equal code.

A run notes the definitions of its code in ``.code`` of the store, one file per digest; ``code.json`` beside published
records holds theirs. Both are read only for stale records. Without them a command can only say that the code changed.

Records are never rewritten. If code changes and its results do not, a row of ``equivalent.json`` beside the published
records leads from the digest in the record to today's: ``kind``, ``old``, ``new``, and more for readers. The kinds are:

- ``same tree``: both digests were computed on the same sources, by two formulas;
- ``same content``: two keys of feature banks whose files are all equal;
- ``rerun``: some seeds were repeated with the new code and their results were equal to the bit. That is a sample, not a
  proof.

``frozen`` maps the digests of whole modules, which records until 2026-11 carry, to digests of definitions;
a script of 2026-11 (``freeze_digests.py``, in the history) computed both on one tree.
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
from boostrun.errors import BoostrunError
from boostrun.files import write_whole
from boostrun.inputs import input_of
from boostrun.methods.declaration import ON_CHIP, ON_HELD_OUT
from boostrun.store.cell import Cell

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
    method, gives = catalogue.method(cell.algo), catalogue.dataset(cell.dataset).gives
    named = [catalogue.part_target(room, name) for _, room, name in method.components(cell.algo)]
    named += [ON_HELD_OUT] * method.stops_early(cell.algo) + [ON_CHIP] * bool(cell.algo.get("flash_bytes"))
    roots = (
        method.target, method.evaluation_of(gives), *(part.target for part in method.parts.values()), *named,
        "boostrun.methods.declaration:arguments", "boostrun.evaluation.measures:train_and_test",
        *input_of(gives).modules(cell.dataset),
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


# -- digests of code that computes the same ----------------------------------------------------------------------------

EQUIVALENT_NAME = "equivalent.json"
SAME_TREE, SAME_CONTENT, RERUN = "same tree", "same content", "rerun"
_PROOFS = (SAME_TREE, SAME_CONTENT)
_KINDS = (*_PROOFS, RERUN)


class Equivalent:
    """The equivalences between digests.

    >>> rows = [{"kind": SAME_TREE, "old": "a", "new": "b"}, {"kind": RERUN, "old": "b", "new": "c"}]
    >>> known = Equivalent(rows)
    >>> known.kind("a", "a"), known.kind("a", "b"), known.kind("a", "c"), known.kind("c", "a")
    ('same tree', 'same tree', 'rerun', '')
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()):
        self._next: dict[str, dict[str, set[str]]] = {kind: {} for kind in _KINDS}
        self._known: dict[tuple[str, str], str] = {}  # thousands of records have few digests
        for row in rows:
            self._next[row["kind"]].setdefault(row["old"], set()).add(row["new"])

    @classmethod
    def read(cls, results: Path) -> Equivalent:
        """The equivalences in a folder of results; none without the file. BoostrunError if the file is damaged."""
        return cls(read_rows(results))

    def kind(self, old: str, new: str) -> str:
        """How ``old`` leads to ``new``: "same tree" by proofs alone, "rerun" otherwise, empty if it does not."""
        if (old, new) not in self._known:
            proved = old == new or new in self._reached(old, _PROOFS)
            sampled = RERUN if not proved and new in self.leads_to(old) else ""
            self._known[old, new] = SAME_TREE if proved else sampled
        return self._known[old, new]

    def leads_to(self, old: str) -> set[str]:
        """All digests that ``old`` leads to."""
        return self._reached(old, _KINDS)

    def _reached(self, old: str, kinds: tuple[str, ...]) -> set[str]:
        reached, waiting = set[str](), [old]
        while waiting:
            digest = waiting.pop()
            found = set().union(*(self._next[kind].get(digest, ()) for kind in kinds)) - reached
            reached |= found
            waiting += found
        return reached


def read_rows(results: Path) -> list[dict[str, Any]]:
    """The rows of ``equivalent.json`` in a folder, the frozen ones first; none without the file.

    Raises BoostrunError if the file is damaged.
    """
    path = results / EQUIVALENT_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        frozen = content.get("frozen", {})
        rows = [{"kind": kind, "old": old, "new": new} for kind in frozen for new in frozen[kind]
                for old in frozen[kind][new]]  # fmt: skip
        rows += content["rows"]
        for row in rows:
            if row["kind"] not in _KINDS or not all(isinstance(row[end], str) for end in ("old", "new")):
                raise ValueError(f"a row is {row}")
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        raise BoostrunError(f"{path} is no list of equivalent digests ({why}); take it from the repository") from None
    return rows


def add_row(results: Path, row: Mapping[str, Any]) -> None:
    """Add a row to the ``equivalent.json`` of a folder unless it has it."""
    path = results / EQUIVALENT_NAME
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"rows": []}
    if row not in content["rows"]:
        write_whole(path, rows_text({**content, "rows": [*content["rows"], row]}).encode())


def rows_text(content: Mapping[str, Any]) -> str:
    """The text of the file: a line for each frozen digest of today, and for each row."""
    kinds = []
    for kind, found in content.get("frozen", {}).items():
        pairs = ",\n".join(f"{json.dumps(new)}: {json.dumps(sorted(olds))}" for new, olds in sorted(found.items()))
        kinds.append(f"{json.dumps(kind)}: {{\n{pairs}\n}}")
    joined = ",\n".join(kinds)
    rows = ",\n".join(sorted(json.dumps(row, sort_keys=True) for row in content["rows"]))
    return f'{{"frozen": {{\n{joined}\n}}, "rows": [\n{rows}\n]}}\n'
