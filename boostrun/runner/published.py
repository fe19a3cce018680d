"""With which settings the table that lies in an item's folder was made: some are published smaller than the item asks.

``boostrun reproduce`` writes what was changed by hand, and to which values it was narrowed, into the notes of the
table; whoever shows the item without words of his own reads it from there, so that all show one table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

NARROWED, CHANGED = "narrowed to:", "changed by hand:"
_LINE = re.compile(rf"^- (?:{NARROWED}|{CHANGED}) (.*)$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z]\w*(\.\w+)*=[\w.,+-]+")  # words of a file that may be composed again


def notes(narrowed: Sequence[str], changed: Sequence[str]) -> list[str]:
    """The lines of a table that say what was typed beside the item's name.

    >>> notes(["dataset=mnist"], ["T=1000", "trials=3"])
    ['narrowed to: dataset=mnist', 'changed by hand: T=1000 trials=3']
    """
    return [f"{what} {' '.join(words)}" for what, words in ((NARROWED, narrowed), (CHANGED, changed)) if words]


def published(folder: Path) -> list[str]:
    """The overrides with which the ``table.md`` of a folder was made; none where there is none, or nothing to say."""
    try:
        text = (folder / "table.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    words = [word for line in _LINE.findall(text) for word in line.replace("\\", "").split()]
    return [word for word in words if _PLAIN.fullmatch(word)]


def as_published(name: str, results: str | Path, typed: Sequence[str]) -> list[str]:
    """The overrides that show an item as it is published, with those that are typed in place of its own.

    >>> as_published("reservoir/table3", "no/such/folder", ["r=100"])
    ['r=100']
    """
    keys = {word.partition("=")[0] for word in typed}
    return [*(word for word in published(Path(results) / name) if word.partition("=")[0] not in keys), *typed]
