"""Digests of code kept from one command to the next: a memory that says itself whether it still holds.

It holds while every source that was read for it is the same by its sha256, every module that was looked for is where it
was, or not there, and the code that finds digests is this.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from boostrun.files import remember, remembered


class DigestMemory:
    """Digests by what was asked, and what they were found with: all that was looked for and read in this process.

    Parameters
    ----------
    where : where a module of this name is, looked for now; None where there is none
    surroundings : what else decides a digest, as plain values
    """

    def __init__(self, where: Callable[[str], list | None], surroundings: Callable[[], list]) -> None:
        self._where, self._surroundings = where, surroundings
        self.forget()

    def forget(self) -> None:
        """Know nothing."""
        self.digests: dict[str, str] = {}
        self.found: dict[str, list | None] = {}  # by name of module: where it is, see _where
        self.read: dict[str, str] = {}  # by file: sha256
        self.active, self.loaded, self.fresh, self.mixed = False, False, False, False

    def of(self, asked: object, find: Callable[[], str]) -> str:
        """The digest, remembered or found; found where nothing is to be remembered now."""
        if not self.active:
            return find()
        key = json.dumps(asked)
        if key not in self.digests:
            self.digests[key] = find()
            self.fresh = True
        return self.digests[key]

    def saw(self, name: str, where: list | None) -> None:
        """A module was looked for."""
        self.found[name] = where

    def has_read(self, path: Path, content: bytes) -> None:
        """A source was read; where it has changed meanwhile nothing is remembered of this process."""
        sha = hashlib.sha256(content).hexdigest()
        self.mixed |= self.read.setdefault(str(path), sha) != sha

    def load(self, places: Sequence[Path]) -> None:
        """Take what holds of the first memory there is, once a process."""
        if self.loaded or self.digests:
            return
        self.loaded = True
        known = next((one for one in map(remembered, places) if one), None)
        with contextlib.suppress(OSError, KeyError, TypeError, AttributeError):
            if known is not None and self._holds(known):
                self.digests, self.read = dict(known["digests"]), dict(known["read"])

    def _holds(self, known: Mapping[str, Any]) -> bool:
        return (
            known["by"] == self._surroundings()
            and all(sha_of(path) == sha for path, sha in known["read"].items())
            and all(self._where(name) == where for name, where in known["found"].items())
        )

    def save(self, places: Sequence[Path]) -> None:
        """Keep what was found, where something was."""
        if self.fresh and not self.mixed:
            content = {"by": self._surroundings(), "read": self.read, "found": self.found, "digests": self.digests}
            remember(places, content)
            self.fresh = False


def sha_of(path: str) -> str:
    """sha256 (hex) of a file's bytes; raises OSError."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def looked_for(name: str) -> ModuleSpec | None:
    """Where a module is, without importing it or its packages; None where there is none."""
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top) if top else None
    except (ImportError, ValueError):  # ValueError: a module made by hand, such as __main__
        spec = PathFinder.find_spec(top)
    found = top
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        found = f"{found}.{part}"
        places = spec.submodule_search_locations
        try:
            spec = PathFinder.find_spec(found, places)
        except KeyError:  # a folder without __init__: the import system wants its parent imported
            spec = ModuleSpec(found, None, is_package=True)
            spec.submodule_search_locations = [str(Path(place, part)) for place in places if Path(place, part).is_dir()]
    return spec


def where_is(spec: ModuleSpec | None) -> list | None:
    """Of what was found: file, folders of its package, whether it is a file; None for nothing."""
    if spec is None:
        return None
    places = spec.submodule_search_locations
    return [spec.origin, None if places is None else list(places), bool(spec.has_location)]
