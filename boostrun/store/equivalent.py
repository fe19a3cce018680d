"""Which digests stand for code that computes the same: ``equivalent.json`` beside the published records.

Records are never rewritten. If code changes and its results do not, a row leads from the digest in the record to
today's: ``kind``, ``old``, ``new``, and more for readers. The kinds are:

- ``same tree``: both digests were computed on the same sources, by two formulas;
- ``same content``: two keys of feature banks whose files are all equal;
- ``rerun``: some seeds were repeated with the new code and their results were equal to the bit. That is a sample, not a
  proof.

``frozen`` maps the digests of whole modules, which records until 2026-11 carry, to digests of definitions;
``scripts/freeze_digests.py`` computed both on one tree.
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
    path = results / NAME
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
    path = results / NAME
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"rows": []}
    if row not in content["rows"]:
        write_whole(path, text_of({**content, "rows": [*content["rows"], row]}).encode())


def text_of(content: Mapping[str, Any]) -> str:
    """The text of the file: a line for each frozen digest of today, and for each row."""
    kinds = []
    for kind, found in content.get("frozen", {}).items():
        pairs = ",\n".join(f"{json.dumps(new)}: {json.dumps(sorted(olds))}" for new, olds in sorted(found.items()))
        kinds.append(f"{json.dumps(kind)}: {{\n{pairs}\n}}")
    joined = ",\n".join(kinds)
    rows = ",\n".join(sorted(json.dumps(row, sort_keys=True) for row in content["rows"]))
    return f'{{"frozen": {{\n{joined}\n}}, "rows": [\n{rows}\n]}}\n'
