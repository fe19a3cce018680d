"""Modules run as their source stands: bytecode counts only where it was made of a source with these bytes.

Python takes the bytecode in ``__pycache__`` for that of a source of the same size and, to the second, the same time of
its last change. After an edit of one digit in a file whose time is set back (``touch -r``, ``rsync -t``, a snapshot) it
runs the old code, while the digest of the source tells the new. Python knows another kind of bytecode, "checked": it
holds a hash of its source. Here that kind alone counts, and is what is written; other Pythons take it too.

This holds of boostrun's modules, of what packages with an entry point of ours have installed, and of every folder on
the Python path that is neither the standard library's nor ``site-packages``. To read and hash the sources of a command
takes 2 ms; all of scikit-learn and pandas would take 50 ms in each process, and 4 s once, so they are left to Python.
"""

from __future__ import annotations

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


class FreshLoader(SourceFileLoader):
    """Python's own loader of sources, to which bytecode without the hash of the source is none."""

    _source: bytes | None = None

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module; the source is read once, so that what is compared is what is compiled."""
        self._source = super().get_data(self.path)
        try:
            return super().get_code(fullname)
        finally:
            self._source = None

    def get_data(self, path: str) -> bytes:
        """The bytes of a file; OSError for bytecode that was not made of this source."""
        if self._source is None:
            return super().get_data(path)
        if path == self.path:
            return self._source
        data = super().get_data(path)
        if data[4:_HEAD] != _CHECKED + source_hash(self._source):
            raise OSError(f"{path} was not made of {self.path} as it stands")
        return data

    def set_data(self, path: str, data: bytes, **more: Any) -> None:  # type: ignore[override]
        """Write bytecode with the hash of its source; nothing where the folder cannot be written."""
        if self._source is not None:
            data = data[:4] + _CHECKED + source_hash(self._source) + data[_HEAD:]
        super().set_data(path, data, **more)


class Finder:
    """Finds no module itself: it lets the others find it, and gives it a :class:`FreshLoader` where that counts."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """What the finders behind this one find."""
        behind = False
        for finder in list(sys.meta_path):
            if behind and (find := getattr(finder, "find_spec", None)) and (spec := find(name, path, target)):
                return _fresh(spec)
            behind |= finder is cls
        return None


def install() -> None:
    """From now on modules that count run as their source stands; called again it changes nothing."""
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)


def again(names: dict[str, Any]) -> None:
    """Run a module once more, of its source, where Python may have run bytecode of an older one: at the end of the two
    modules that are imported before there is :class:`Finder`. ``names`` are the module's, with ``_again`` then.

    From then on there is bytecode of the right kind, which Python compares itself.
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
    """Whether a module in this file may be boostrun's or a plug-in's."""
    if path.startswith(_OURS):
        return True
    for room in _INSTALLED:
        root, found, inside = path.rpartition(f"{os.sep}{room}{os.sep}")
        if found:
            return inside.partition(os.sep)[0].removesuffix(".py") in _plugged_into(f"{root}{os.sep}{room}")
    return not path.startswith(_LIBRARY)


def _plugged_into(folder: str) -> frozenset[str]:
    if folder not in _of_plugins:
        _of_plugins[folder] = frozenset()  # for what is imported meanwhile
        from boostrun.plugins import modules_of

        _of_plugins[folder] = modules_of(folder)
    return _of_plugins[folder]


again(globals())
