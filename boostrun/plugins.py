"""What installed packages bring to boostrun by their entry points; nothing of theirs is imported.

Only packages whose ``entry_points.txt`` speaks of boostrun are looked at, so that a damaged one of somebody else's ends
nothing here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import NamedTuple


class Plugin(NamedTuple):
    """A package with entry points of boostrun's: its name, those of its modules at the top, and its entry points, or
    why they cannot be read."""

    name: str
    modules: frozenset[str]
    points: tuple[EntryPoint, ...]
    error: str = ""


def plugins() -> list[Plugin]:
    """All packages on the Python path that bring something; of two with one name the first, as Python finds it."""
    found: dict[str, Plugin] = {}
    for folder in dict.fromkeys(entry or os.getcwd() for entry in sys.path if isinstance(entry, str)):
        for plugin in _of(folder, _stamp(folder)):
            found.setdefault(plugin.name, plugin)
    return list(found.values())


def entry_points(group: str) -> list[EntryPoint]:
    """The entry points of a group: our own first, then by name and package."""
    found = ((plugin.name != "boostrun", point.name, plugin.name, point) for plugin in plugins()
             for point in plugin.points if point.group == group)  # fmt: skip
    return [point for *_, point in sorted(found, key=lambda one: one[:3])]


def modules_of(folder: str) -> frozenset[str]:
    """Names, at the top, of the modules that plug-ins have put into a folder."""
    return frozenset().union(*(plugin.modules for plugin in _of(folder, _stamp(folder))))


def _stamp(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=100)
def _of(folder: str, stamp: int) -> tuple[Plugin, ...]:
    """The plug-ins whose metadata lie in a folder that was changed last at ``stamp``."""
    found = []
    for package in distributions(path=[folder]):
        try:
            text = package.read_text("entry_points.txt") or ""
        except (OSError, ValueError):
            continue
        if "boostrun." in text:
            found.append(_plugin(package))
    return tuple(found)


def _plugin(package: Distribution) -> Plugin:
    try:
        name = str(package.metadata["Name"]).lower()
    except Exception:  # no METADATA, or what is no METADATA
        name = str(getattr(package, "_path", "a package without a name"))
    try:
        points = tuple(point for point in package.entry_points if point.group.startswith("boostrun."))
        modules = {point.value.partition(":")[0].partition(".")[0].strip() for point in points}
    except Exception as error:
        return Plugin(name, frozenset(), (), f"{type(error).__name__}")
    with contextlib.suppress(Exception):  # a damaged RECORD: what the entry points name is all that is known
        modules |= {file.parts[0].removesuffix(".py") for file in package.files or () if file.suffix == ".py"}
    return Plugin(name, frozenset(modules), points)
