"""What a command line names: ``algo=estimator algo.class=module:Class``, or ``algo=module:Class``; and a stream,
``dataset=module:function``.

Such a class is a method of the catalogue for as long as the process lives, such a function a data set, called by where
it is. Only what a person types is imported so, never what a file of settings names.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from boostrun.config import catalogue
from boostrun.config.words import listed, parse
from boostrun.errors import BoostrunError
from boostrun.extend import keys, objects
from boostrun.methods.declaration import Method, Part

_CLASS = "algo.class"
_taken: dict[str, tuple[str, ...]] = {}  # module:Class -> keys that only its **keywords take
_streams: set[str] = set()  # module:function


def translated(overrides: Sequence[str], config_dir: str | None = None) -> list[str]:
    """The words with each class in the place of the method that takes one; the classes, and functions that are streams,
    are in the catalogue then.

    Raises BoostrunError where a class or function is not there, is none, or is missing.

    >>> translated(["algo=geem,estimator", "algo.class=sklearn.svm:SVC", "r=50"])
    ['algo=geem,sklearn.svm:SVC', 'r=50']
    """
    if not any(word.startswith(("algo=", "dataset=", f"{_CLASS}=")) for word in overrides):
        return list(overrides)
    typed = {override.key_or_group: override for override in parse(overrides)}
    folder = os.path.realpath(config_dir or ".")
    for name in _values(typed["dataset"]) if "dataset" in typed else []:
        if ":" in name and name not in _streams:
            objects.allow(name, folder)
            take_stream(name)
    names = _values(typed["algo"]) if "algo" in typed else []
    takers = [name for name in names if name in catalogue.names("algo") and catalogue.methods()[name].takes_class]
    if not takers and not any(":" in name for name in names):
        return list(overrides)
    classes = _values(typed[_CLASS]) if takers and _CLASS in typed else []
    if takers and not classes:
        raise BoostrunError(f"algo={takers[0]} needs a class: {_CLASS}=module:Class, as in {_CLASS}=sklearn.svm:SVC")
    given = [key.removeprefix("algo.") for key in typed if key.startswith("algo.") and key != _CLASS]
    found = [each for name in names for each in (classes if name in takers else [name])]
    for where in [*classes, *(name for name in names if ":" in name)]:
        objects.allow(where, folder)
        take(where, given)
    return [
        f"algo={','.join(found)}" if word.startswith("algo=") else word
        for word in overrides if not (takers and word.startswith(f"{_CLASS}="))
    ]  # fmt: skip


def _values(override: Any) -> list[str]:
    return listed(override) if override.is_sweep_override() else [str(override.value())]


def take(where: str, given: Collection[str]) -> None:
    """Put an allowed class into the catalogue, as the method that takes one has it; ``given`` are keys that it may take
    by its ``**keywords``.
    """
    cls = objects.obtain(where)
    base = _taker_of(cls)
    more = tuple(name for name in given if name not in {field.name for field in dataclasses.fields(base.keys)})
    own = keys.budget_of(cls, where, base.class_like)
    budget = {symbol: f"{base.takes_class}.{name}" for symbol, name in own.items()}
    part = Part(where, keys.of_class(cls, where, more, base.class_like))
    summary = f"{where}, named on the command line"
    catalogue.add(
        "algo", where,
        dataclasses.replace(base, parts={base.takes_class: part}, budget=budget, summary=summary, takes_class=""),
    )  # fmt: skip
    _taken[where] = more


def take_stream(where: str) -> None:
    """Put an allowed function into the catalogue, as a stream of what it yields."""
    catalogue.add("dataset", where, keys.of_stream(objects.obtain(where), where))
    _streams.add(where)


def _taker_of(cls: Any) -> Method:
    """The method that takes such a class: the first that asks for nothing which it lacks, else the first."""
    takers = [method for method in catalogue.methods().values() if method.takes_class]
    able = (one for one in takers if all(callable(getattr(cls, name, None)) for name in one.class_like))
    return next(able, takers[0])


def is_typed(values: Mapping[str, Any]) -> bool:
    """Whether the values of a cell's algo, or of its data set, are of a class or function that was named so."""
    return values.get("name") in _taken or values.get("name") in _streams


def keywords_of(where: str) -> tuple[str, ...]:
    """The keys that a class which was named so takes by its ``**keywords`` alone."""
    return _taken[where]


def forget() -> None:
    """None is named any more."""
    _taken.clear()
    _streams.clear()
