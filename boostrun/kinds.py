"""Kinds of configuration values: each makes a dataclass field that knows what it accepts and how to say so."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """How a value is read: ``read(value)`` gives the plain value or None; ``allowed`` says what it accepts."""

    read: Callable[[Any], Any]
    allowed: str
    choices: tuple[str, ...] = ()


def _field(default, kind: Kind):
    return dataclasses.field(default=default, metadata={"kind": kind})


def whole(default, least: int = 1, most: int | None = None):
    """A whole number in a range; 1e3 counts as 1000."""

    def read(value):
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or value != value // 1:
            return None
        value = int(value)
        return value if value >= least and (most is None or value <= most) else None

    text = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    return _field(default, Kind(read, text))


def number(default, above: float | None = None, least: float | None = None, most: float | None = None):
    """A finite number in a range."""

    def read(value):
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return None
        value = float(value)
        fits = (
            (above is None or value > above) and (least is None or value >= least) and (most is None or value <= most)
        )
        return value if fits and abs(value) < float("inf") else None

    limits = {"above": above, "of at least": least, "of at most": most}
    bounds = " and ".join(f"{words} {bound:g}" for words, bound in limits.items() if bound is not None)
    return _field(default, Kind(read, f"a number {bounds}".rstrip()))


def choice(default: str, *allowed: str):
    """One of some words."""
    words = (default, *allowed)
    return _field(default, Kind(lambda value: value if value in words else None, f"one of {', '.join(words)}", words))


def flag(default: bool):
    """true or false."""
    return _field(default, Kind(lambda value: value if isinstance(value, bool) else None, "true or false"))


def text(default):
    """Any text; a default of None may stay null."""

    def read(value):
        return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "" else None

    return _field(default, Kind(read, "a text"))


def names(*allowed: str):
    """A list of some words, in their order here, each once; null for all of them. One word alone is a list of it."""

    def read(value):
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not value or not all(word in allowed for word in value):
            return None
        return [word for word in allowed if word in value]

    return _field(None, Kind(read, f"null or a list of some of {', '.join(allowed)}", allowed))


def dimensions(default: str):
    """auto, all, or a number of dimensions."""

    def read(value):
        fits = value in ("auto", "all") or (isinstance(value, int) and not isinstance(value, bool) and value >= 1)
        return value if fits else None

    return _field(default, Kind(read, "auto, all, or a whole number of at least 1"))


def name_or_place(default: str | int):
    """A name, or a place counted from 0."""

    def read(value):
        fits = (isinstance(value, str) and value) or (
            isinstance(value, numbers.Integral) and not isinstance(value, bool) and value >= 0
        )
        return (value if isinstance(value, str) else int(value)) if fits else None

    return _field(default, Kind(read, "a name or a whole number of at least 0"))


def or_tuned(field):
    """What ``field`` takes, or the word ``tuned``: the value that ``boostrun tune`` has chosen."""
    kind = field.metadata["kind"]

    def read(value):
        return value if value == "tuned" else kind.read(value)

    return _field(field.default, Kind(read, f"{kind.allowed}, or tuned,", ("tuned",)))


def workers(default: int):
    """A number of workers, or -1 for all cores."""

    def read(value):
        return value if isinstance(value, int) and not isinstance(value, bool) and (value >= 1 or value == -1) else None

    return _field(default, Kind(read, "a whole number of at least 1, or -1 for all cores,"))
