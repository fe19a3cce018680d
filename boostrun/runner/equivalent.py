"""Which digests stand for code that computes the same: ``equivalent.json`` beside the published records.

Records are never rewritten. ``frozen`` leads from the digests of whole modules, which records until 2026-11 carry, to
those of definitions; ``scripts/freeze_digests.py`` applied both formulas to one tree. Rows come when code changes and
its results do not: they lead from the digest that a record carries to today's. A row holds ``kind``, ``old`` and
``new``, and more for people. ``same tree``: both digests were found on the same sources, by two formulas. ``same
content``: two keys of banks of which all files are equal. ``rerun``: some seeds were repeated with the new code and
came out equal to the bit, which is a sample and no proof.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.files import write_whole

NAME = "equivalent.json"
SAME_TREE, SAME_CONTENT, RERUN = "same tree", "same content", "rerun"
_PROOFS = (SAME_TREE, SAME_CONTENT)


class Equivalent:
    """Rows of equivalence, asked for the way from one digest to another.

    >>> rows = [{"kind": SAME_TREE, "old": "a", "new": "b"}, {"kind": RERUN, "old": "b", "new": "c"}]
    >>> known = Equivalent(rows)
    >>> known.kind("a", "a"), known.kind("a", "b"), known.kind("a", "c"), known.kind("c", "a")
    ('same tree', 'same tree', 'rerun', '')
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()):
        self._next: dict[str, dict[str, set[str]]] = {kind: {} for kind in (*_PROOFS, RERUN)}
        self._kinds: dict[tuple[str, str], str] = {}  # found before: thousands of records have few digests
        for row in rows:
            self._next[row["kind"]].setdefault(row["old"], set()).add(row["new"])

    @classmethod
    def read(cls, results: Path) -> Equivalent:
        """The rows of a folder of results; none where it has no such file. BoostrunError where it is damaged."""
        return cls(read_rows(results))

    def kind(self, old: str, new: str) -> str:
        """How ``old`` leads to ``new``: by proofs alone ("same tree"), by a rerun somewhere, or, empty, not at all."""
        if (old, new) not in self._kinds:
            proved = old == new or new in self._reached(old, _PROOFS)
            sampled = RERUN if not proved and new in self._reached(old, (*_PROOFS, RERUN)) else ""
            self._kinds[old, new] = SAME_TREE if proved else sampled
        return self._kinds[old, new]

    def leads_to(self, old: str) -> set[str]:
        """The digests that ``old`` leads to, however."""
        return self._reached(old, (*_PROOFS, RERUN))

    def _reached(self, old: str, kinds: tuple[str, ...]) -> set[str]:
        reached, waiting = set[str](), [old]
        while waiting:
            digest = waiting.pop()
            found = set().union(*(self._next[kind].get(digest, ()) for kind in kinds)) - reached
            reached |= found
            waiting += found
        return reached


def read_rows(results: Path) -> list[dict[str, Any]]:
    """The rows of ``equivalent.json`` in a folder, what is frozen first; none where there is no such file.

    Raises BoostrunError where the file is damaged.
    """
    path = results / NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        frozen = content.get("frozen", {})
        rows = [{"kind": kind, "old": old, "new": new} for kind in frozen for new in frozen[kind]
                for old in frozen[kind][new]]  # fmt: skip
        rows += content["rows"]
        for row in rows:
            if row["kind"] not in (*_PROOFS, RERUN) or not all(isinstance(row[end], str) for end in ("old", "new")):
                raise ValueError(f"a row is {row}")
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        raise BoostrunError(f"{path} is no list of equivalent digests ({told}); take it from the repository") from None
    return rows


def add_row(results: Path, row: Mapping[str, Any]) -> None:
    """Put a row into the ``equivalent.json`` of a folder, unless it is there."""
    path = results / NAME
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"rows": []}
    if row not in content["rows"]:
        write_whole(path, spelled({**content, "rows": [*content["rows"], row]}).encode())


def spelled(content: Mapping[str, Any]) -> str:
    """The file as a text: a line for each digest of today that is frozen, and for each row."""
    kinds = []
    for kind, found in content.get("frozen", {}).items():
        pairs = (f"{json.dumps(new)}: {json.dumps(sorted(olds))}" for new, olds in sorted(found.items()))
        kinds.append(f"{json.dumps(kind)}: {{\n{_lines(pairs)}\n}}")
    rows = _lines(sorted(json.dumps(row, sort_keys=True) for row in content["rows"]))
    return f'{{"frozen": {{\n{_lines(kinds)}\n}}, "rows": [\n{rows}\n]}}\n'


def _lines(texts: Iterable[str]) -> str:
    return ",\n".join(texts)
