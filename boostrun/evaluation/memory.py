"""How much memory a learner takes: what can be reached from it, each thing counted once."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

# code, and what belongs to everybody
_SHARED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_COMPILED = ("numba.core.", "numba.np.", "_thread")


def size_in_bytes(thing: Any) -> int:
    """Bytes of an object and of all that it holds, at any depth: arrays, containers, attributes and slots.

    An array that looks into another counts as the whole of that other. Code does not count, and of an object of a
    compiled library only what Python sees: that of LightGBM keeps its trees elsewhere. Cost: one visit an object.

    >>> size_in_bytes(np.zeros(1000)) >= 8000, size_in_bytes([np.zeros(1000)[:1]] * 50) < 9000
    (True, True)
    """
    seen: dict[int, Any] = {}
    waiting, total = [thing], 0
    while waiting:
        one = waiting.pop()
        while isinstance(one, np.ndarray) and isinstance(one.base, np.ndarray):
            one = one.base
        if id(one) in seen or isinstance(one, _SHARED) or type(one).__module__.startswith(_COMPILED):
            continue
        seen[id(one)] = one  # kept, so that no other object takes its place
        total += sys.getsizeof(one, 0)
        if isinstance(one, np.ndarray):
            if not one.flags.owndata:
                total += one.nbytes
            if one.dtype.hasobject:
                waiting += one.ravel().tolist()
        else:
            waiting += _held(one)
    return total


def _held(one: Any) -> list:
    """What an object holds itself."""
    if isinstance(one, (str, bytes, bytearray, int, float, complex, np.generic)):
        return []
    found: list = []
    if isinstance(one, dict):
        found += [*one.keys(), *one.values()]
    elif isinstance(one, (list, tuple, set, frozenset)) or type(one).__name__ == "deque":
        found += one
    found += [attributes] if (attributes := getattr(one, "__dict__", None)) else []
    for cls in type(one).__mro__:
        slots = vars(cls).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and (value := getattr(one, slot, None)) is not None:
                found.append(value)
    return found
