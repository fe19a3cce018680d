"""A part that a method is given, by name or as an object: a strategy, a policy, a weak learner.

What is asked of it is said by the paper whose methods use it: ``checks`` of its declaration.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from boostrun.config import catalogue
from boostrun.conformance import Check
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain

ROOMS = {"strategies": "a strategy", "policies": "a policy", "weak_learners": "a weak learner"}


def part_checks(room: str, where: str, given: Mapping[str, Any]) -> list[Check]:
    """All checks of the part ``where`` made with the parameters ``given``; BoostrunError where nobody says any."""
    known = catalogue.parts("checks")
    if room not in known:
        raise BoostrunError(f"no installed paper says what is asked of {ROOMS[room]}")
    return obtain(known[room])(maker(where, given))


def maker(where: str, given: Mapping[str, Any]) -> Callable[[], Any]:
    """A function that makes a new part: a class is made with what is ``given``, a function or object is as it is."""
    thing = obtain(where)
    return (lambda: thing(**given)) if inspect.isclass(thing) else (lambda: thing)


def room_of(thing: Any) -> str:
    """The room that a class, function or object belongs to, by what it can do; empty where it is no part."""
    if callable(getattr(thing, "choose", None)):
        return "policies"
    if callable(getattr(thing, "find", None)):
        return "weak_learners"
    called = getattr(thing, "__call__", None) if inspect.isclass(thing) else thing  # noqa: B004 (its signature)
    if callable(called) and not (inspect.isclass(thing) and "__call__" not in _own_names(thing)):
        try:
            names = [name for name in inspect.signature(called).parameters if name != "self"]
        except (TypeError, ValueError):
            return ""
        if names[:1] == ["batch"] and len(names) == 3:
            return "strategies"
    return ""


def _own_names(cls: type) -> set[str]:
    return {name for base in cls.__mro__ if base is not object for name in vars(base)}
