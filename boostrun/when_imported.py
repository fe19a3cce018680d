"""Call a function as soon as another library's module is imported, without importing it."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
