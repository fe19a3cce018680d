"""Papers that packages bring which are not ours: read with care, and left out, with the reason, where one is broken.

What a broken one fails with must end no command that wants nothing of it: it is told in one line at the end.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from boostrun.config.fields import fields_of
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import Method, obtain
from boostrun.methods.paper import DataSet, Paper, Pipeline, SavedModel

_HOLDS: dict[str, type] = {
    "methods": Method,
    "datasets": DataSet,
    "features": Pipeline,
    "models": SavedModel,
    "frontier": Collection,
}
_KINDS: dict[str, Any] = {  # how a type begins in a declaration -> what is taken for one
    "str": str, "type": type, "Mapping": Mapping, "frozenset": Collection, "tuple": Collection,
    "Path": (Path, type(None)),
}  # fmt: skip
_COLUMNS = ({"metric"}, {"table", "item"}, {"mean", "value"})  # of reference figures: one of each
_LONGEST = 300  # characters of what an error says


class LeftOut(NamedTuple):
    """Something that is installed and cannot be read.

    ``what`` it is, with its name; ``where``: module:OBJECT; ``why``: the error; ``brings``: names that it would bring,
    None where that is not known.
    """

    what: str
    name: str
    where: str
    why: str
    brings: frozenset[str] | None = None

    def __str__(self) -> str:
        """One sentence, without its full stop."""
        return f"{self.what} '{self.name}' ({self.where}) cannot be read and is left out: {self.why}"

    def may_bring(self, word: str) -> bool:
        """Whether it would bring what is called so, as far as is known."""
        return self.brings is None or word in self.brings


def said(error: BaseException) -> str:
    """An error in one line: its kind and what it says; of a sentence for people the sentence alone."""
    try:
        text = " ".join(str(error).split())[:_LONGEST]
    except Exception:  # it is somebody else's class
        text = ""
    if text and isinstance(error, BoostrunError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def read(where: str) -> Paper:
    """The paper that ``module:OBJECT`` names; raises whatever goes wrong."""
    found = obtain(where)
    if not isinstance(found, Paper):
        raise BoostrunError(f"it is no boostrun.methods.paper.Paper but of type {type(found).__name__}")
    return found


def check(paper: Paper) -> None:
    """Raise what is wrong with a declaration or with the files that it names, as far as that would end a command."""
    _check_kinds(paper, "it")
    for room, kind in _HOLDS.items():
        for name, one in getattr(paper, room).items():
            if not isinstance(name, str) or not isinstance(one, kind):
                raise BoostrunError(f"{name!r} among its {room} is of type {type(one).__name__}")
            if dataclasses.is_dataclass(kind):
                _check_kinds(one, f"'{name}' among its {room}")
    for method in paper.methods.values():
        _ = method.fields, method.budget_defaults
    for keys in [one.keys for room in (paper.datasets, paper.features) for one in room.values()]:
        fields_of(keys)
    if paper.items is not None:
        for path in sorted(paper.items.rglob("*.yaml")):
            _check_yaml(path, Mapping)
    if paper.claims is not None:
        _check_yaml(paper.claims, list)
    if paper.reference is not None:
        figures_in(paper.reference)


def brought(paper: Paper | None) -> frozenset[str] | None:
    """All names that a paper brings, and those of the classes of its methods; None where it does not say them."""
    if paper is None:
        return None
    try:
        rooms = [one.name for one in dataclasses.fields(paper) if isinstance(getattr(paper, one.name), Mapping)]
        names = {name for room in rooms for name in getattr(paper, room)}
        return frozenset(names | {method.target.partition(":")[2] for method in paper.methods.values()})
    except Exception:  # a declaration of wrong types
        return None


def figures_in(path: Path) -> list[dict[str, str]]:
    """The lines of a file of reference figures, as they stand; OSError or ValueError where it cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = csv.DictReader(stream, restkey="", restval="")
            found, columns = list(lines), lines.fieldnames or ()
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if not columns:
        raise ValueError("there is no column in it")
    for wanted in _COLUMNS:
        if wanted.isdisjoint(columns):
            raise ValueError(f"it has no column {' or '.join(sorted(wanted))}")
    for number, line in enumerate(found, 2):
        if "" in line and "" not in columns:
            raise ValueError(f"row {number} has more fields than there are columns")
    return found


def _check_kinds(thing: Any, what: str) -> None:
    for one in dataclasses.fields(thing):
        value = getattr(thing, one.name)
        for begins, kind in _KINDS.items():
            wrong = isinstance(value, str) and begins in ("frozenset", "tuple")
            if str(one.type).startswith(begins) and (wrong or not isinstance(value, kind)):
                raise BoostrunError(f"{one.name} of {what} is of type {type(value).__name__}")


def _check_yaml(path: Path, kind: type) -> None:
    from boostrun.config import quick_yaml

    try:
        content = quick_yaml.load(path.read_text(encoding="utf-8"))
    except Exception as error:  # YAML raises a dozen kinds
        raise BoostrunError(f"{path} cannot be read: {said(error)}") from None
    if not isinstance(content, kind):
        raise BoostrunError(f"{path} holds no {'keys' if kind is Mapping else 'list'}")
