"""Parameters as JSON and back: plain values, and our own objects that are made of plain values."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_PLAIN = (bool, int, float, str, type(None))


class NotPlain(ValueError):
    """A value that a file does not keep."""


def arguments_of(thing) -> dict[str, Any]:
    """Constructor arguments, its own and its bases', of an object that keeps them under their names."""
    made = [vars(cls)["__init__"] for cls in type(thing).__mro__ if "__init__" in vars(cls) and cls is not object]
    names = {name for init in made for name, it in inspect.signature(init).parameters.items() if it.kind in _NAMED}
    return {name: vars(thing)[name] for name in sorted(names & vars(thing).keys())}


def encode(name: str, value) -> Any:
    """The value of a parameter as JSON has it; raises NotPlain.

    >>> encode("groups", [(0, 1), np.float64(0.5)])
    [{'tuple': [0, 1]}, 0.5]
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return value.item()
    if type(value) is list:
        return [encode(name, each) for each in value]
    if type(value) is tuple:
        return {"tuple": [encode(name, each) for each in value]}
    if type(value) is dict:
        return {"dict": [[encode(name, key), encode(name, each)] for key, each in value.items()]}
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, Path):
        return {"path": str(value)}
    word = _word(type(value))
    if _class(name, word) is type(value):
        keys = arguments_of(value)
        return {"object": word, "keys": {key: encode(key, each) for key, each in keys.items()}}
    raise NotPlain(f"{name} is a {type(value).__name__}")


def decode(name: str, value) -> Any:
    """What :func:`encode` was given. Makes plain values and objects of our own; raises ValueError for anything else."""
    if isinstance(value, list):
        return [decode(name, each) for each in value]
    if not isinstance(value, Mapping):
        return value
    match value:
        case {"tuple": each}:
            return tuple(decode(name, one) for one in each)
        case {"dict": pairs}:
            return {decode(name, key): decode(name, each) for key, each in pairs}
        case {"array": numbers, "dtype": kind}:
            return np.array(numbers, dtype=np.dtype(kind))
        case {"path": text}:
            return Path(text)
        case {"object": cls, "keys": keys} if (found := _class(name, cls)) is not None:
            return found(**{key: decode(key, each) for key, each in keys.items()})
    raise ValueError(f"{name}={value!r} is no parameter")


def _word(cls: type) -> str:
    """What a file calls a class: its name, unless its module's ``SAVED_AS`` (word -> class) has another word."""
    others = getattr(importlib.import_module(cls.__module__), "SAVED_AS", {})
    return next((word for word, one in others.items() if one is cls), cls.__name__)


def _class(name: str, word: str) -> type | None:
    """The class that a file calls so, among the objects that the parameter may be."""
    from boostrun.config import catalogue

    module = catalogue.parts("objects").get(name)
    if module is None:
        return None
    place = importlib.import_module(module)
    found = getattr(place, "SAVED_AS", {}).get(word) or getattr(place, word, None)
    return found if isinstance(found, type) and found.__module__.startswith(module) else None
