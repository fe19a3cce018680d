"""Hooks of Python's import: call a function when a module is imported, and import modules from their current source.

By default Python accepts bytecode in ``__pycache__`` if the source has the same size and, to the second, the same time.
After an edit of one digit in a file whose time is set back (``touch -r``, ``rsync -t``, a snapshot) it runs the old
code, while the digest is that of the new source. Python's "checked" bytecode holds a hash of its source; here only that
kind is accepted and written.

This applies to boostrun's modules, to plug-in packages, and to every folder on the Python path except the standard
library and ``site-packages``. Hashing the sources of a command takes 2 ms; scikit-learn and pandas would take 50 ms a
process, and 4 s once, so they are left to Python.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import source_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

_CHECKED = b"\x03\0\0\0"  # flags of bytecode that holds the hash of its source, to be compared at every import
_HEAD = 16  # bytes: magic number, flags, hash
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
_of_plugins: dict[str, frozenset[str]] = {}  # folder of installed packages -> names of plug-ins' modules
IMPORTED: list[tuple[ModuleType, bytes]] = []
"""Modules of a person's own, each with the source that Python has run; again for one that was loaded again."""


def when_imported(name: str, target: str) -> None:
    """Call ``target``, "module:function", with the module ``name`` now or right after it is imported.

    >>> when_imported("json.tool", "builtins:print")
    >>> import json.tool
    <module 'json.tool' from ...>
    """
    if name in sys.modules:
        _call(target, sys.modules[name])
    else:
        sys.meta_path.insert(0, _Waiting(name, target))


class _Waiting:
    """A finder that finds nothing itself: it waits for one module, lets the others find it, and removes itself."""

    def __init__(self, name: str, target: str) -> None:
        self._name, self._target = name, target

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self._name:
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def and_call(module: Any) -> None:
                execute(module)
                _call(self._target, module)

            spec.loader.exec_module = and_call  # type: ignore[method-assign]
        return spec


def _call(target: str, module: Any) -> None:
    where, _, function = target.partition(":")
    getattr(importlib.import_module(where), function)(module)


class FreshLoader(SourceFileLoader):
    """Python's source loader, which ignores bytecode without the hash of the source."""

    _source: bytes | None = None
    _run = b""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and keep the source of one that is not boostrun's."""
        super().exec_module(module)
        if not self.path.startswith(_OURS):
            IMPORTED.append((module, self._run))

    def get_code(self, fullname: str) -> CodeType | None:
        """The module's code; the source is read once, so that the compiled bytes are the compared ones."""
        self._source = self._run = super().get_data(self.path)
        try:
            return super().get_code(fullname)
        finally:
            self._source = None

    def get_data(self, path: str) -> bytes:
        """The bytes of a file; OSError for bytecode made from another source."""
        if self._source is None:
            return super().get_data(path)
        if path == self.path:
            return self._source
        data = super().get_data(path)
        if data[4:_HEAD] != _CHECKED + source_hash(self._source):
            raise OSError(f"{path} was not made from the current {self.path}")
        return data

    def set_data(self, path: str, data: bytes, **more: Any) -> None:  # type: ignore[override]
        """Write bytecode with the hash of its source; skipped if the folder cannot be written."""
        if self._source is not None:
            data = data[:4] + _CHECKED + source_hash(self._source) + data[_HEAD:]
        super().set_data(path, data, **more)


class Finder:
    """A finder that lets the others find a module, and gives it a :class:`FreshLoader` if the module counts."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """The spec found by the later finders."""
        behind = False
        for finder in list(sys.meta_path):
            if behind and (find := getattr(finder, "find_spec", None)) and (spec := find(name, path, target)):
                return _fresh(spec)
            behind |= finder is cls
        return None


def install() -> None:
    """Import modules that count as their source stands from now on; calling it again changes nothing."""
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)
        for module in list(sys.modules.values()):  # as they stand now, which is as near as can be known
            path = getattr(module, "__file__", None) or ""
            parts = path.split(os.sep)
            if path.endswith(".py") and not path.startswith((_OURS, _LIBRARY)) and not {*_INSTALLED} & {*parts}:
                try:
                    with open(path, "rb") as file:
                        IMPORTED.append((module, file.read()))
                except OSError:
                    continue


def again(names: dict[str, Any]) -> None:
    """Run a module again from its source if Python may have run old bytecode.

    Called at the end of the two modules imported before :class:`Finder` exists. ``names`` are the module's globals,
    with ``_again`` set. It writes bytecode of the checked kind, which Python compares itself from then on.
    """
    spec, loader = names["__spec__"], names["__loader__"]
    if type(loader) is SourceFileLoader and "_again" not in names:
        names["_again"] = True
        try:
            with open(spec.cached, "rb") as file:
                compared = file.read(_HEAD)[4:8] == _CHECKED
        except (OSError, TypeError):
            compared = False
        if not compared:
            exec(FreshLoader(spec.name, loader.path).get_code(spec.name), names)  # type: ignore[arg-type]


def _fresh(spec: ModuleSpec) -> ModuleSpec:
    loader = spec.loader
    if type(loader) is SourceFileLoader and _counts(str(loader.path)):
        spec.loader = FreshLoader(loader.name, loader.path)
    return spec


def _counts(path: str) -> bool:
    """Whether a module in this file may belong to boostrun or a plug-in."""
    if path.startswith(_OURS):
        return True
    for room in _INSTALLED:
        root, found, inside = path.rpartition(f"{os.sep}{room}{os.sep}")
        if found:
            return inside.partition(os.sep)[0].removesuffix(".py") in _plugged_into(f"{root}{os.sep}{room}")
    return not path.startswith(_LIBRARY)


def _plugged_into(folder: str) -> frozenset[str]:
    if folder not in _of_plugins:
        _of_plugins[folder] = frozenset()  # for modules imported meanwhile
        from boostrun.plugins import modules_of

        _of_plugins[folder] = modules_of(folder)
    return _of_plugins[folder]


again(globals())
