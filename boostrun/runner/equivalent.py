"""Which digests stand for code that computes the same: ``equivalent.json`` beside the published records.

Records are never rewritten. When the formula of the digest changes, or code changes and its results do not, rows here
lead from the digest that a record carries to today's. A row holds ``kind``, ``old`` and ``new``, and what else a person
wants to know of it. ``same tree``: both digests were found on one and the same sources, by two formulas. ``same
content``: two keys of banks of which all files are equal. ``rerun``: some seeds were repeated with the new code and
came out equal to the bit, which is a sample and no proof.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError

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

    def _reached(self, old: str, kinds: tuple[str, ...]) -> set[str]:
        reached, waiting = set[str](), [old]
        while waiting:
            digest = waiting.pop()
            found = set().union(*(self._next[kind].get(digest, ()) for kind in kinds)) - reached
            reached |= found
            waiting += found
        return reached


def read_rows(results: Path) -> list[dict[str, Any]]:
    """The rows of ``equivalent.json`` in a folder, none where there is no such file.

    Raises BoostrunError where the file is damaged.
    """
    path = results / NAME
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        for row in rows:
            if row["kind"] not in (*_PROOFS, RERUN) or not all(isinstance(row[end], str) for end in ("old", "new")):
                raise ValueError(f"a row is {row}")
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        raise BoostrunError(f"{path} is no list of equivalent digests ({told}); take it from the repository") from None
    return rows
