"""What a module offers of the names that are declared for it: the one place where optional ones get their defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from boostrun.errors import BoostrunError

Offer = TypeVar("Offer", bound=NamedTuple)


class Loader(NamedTuple):
    """A loader's names, see :mod:`boostrun.data`; ``options`` are its checked keys."""

    files: Callable[[Mapping, Path], dict[str, Path]]
    places: Callable[[Mapping, Path], str]
    read: Callable[[Mapping, Path], Any] | None = None
    """None: a stream in an order of its own."""
    read_within: Callable[[Mapping, Path, int, Path | None], Any] | None = None
    """``read`` in so many MiB, with a folder for what is beyond; None: it has no use for them."""
    fetch: Callable[[Mapping, Path], None] | None = None
    """None: nothing can be downloaded."""
    verify: Callable[[Mapping, Path], str] = lambda options, data_root: "no published checksum to compare"
    has_test_part: Callable[[Mapping, Path], bool] = lambda options, data_root: False
    """Whether the files of a person's own data say which samples are for tests."""
    parameters: Callable[[Mapping], Mapping] = lambda options: options
    DEFAULTS: Mapping | None = None
    """None: those that it is declared with."""
    SOURCES: tuple[str, ...] = ()


def offered(declared: type[Offer], module: ModuleType, what: str, room: str) -> Offer:
    """The names that ``declared`` has fields for, as ``module`` defines them; those that it lacks have their defaults.

    Raises BoostrunError for a lacking name without a default: the head of boostrun's ``room`` tells what is
    needed of a ``what``.

    >>> import boostrun.data.digits
    >>> offered(Loader, boostrun.data.digits, "loader", "data").SOURCES
    ()
    """
    found = {name: vars(module)[name] for name in declared._fields if name in vars(module)}
    for name in declared._fields:
        if name not in found and name not in declared._field_defaults:
            needed = f"see the head of boostrun/{room}/__init__.py"
            raise BoostrunError(f"the {what} {module.__name__} has no {name}; {needed}")
    make: Any = declared
    return make(**found)
