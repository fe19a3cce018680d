"""Entry points of installed packages for boostrun; imports none of their modules.

Only packages whose ``entry_points.txt`` mentions boostrun are read, so that damage in other packages has no effect.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import NamedTuple


class Plugin(NamedTuple):
    """A package with entry points for boostrun.

    Its name, its top-level modules, and its entry points or the reason they cannot be read.
    """

    name: str
    modules: frozenset[str]
    points: tuple[EntryPoint, ...]
    error: str = ""


def plugins() -> list[Plugin]:
    """All plug-in packages on the Python path; of two with one name the first, as Python finds it."""
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
    """Top-level names that plug-ins have installed into a folder."""
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
    except Exception:  # METADATA is absent or unreadable
        name = str(getattr(package, "_path", "a package without a name"))
    try:
        points = tuple(point for point in package.entry_points if point.group.startswith("boostrun."))
        modules = {point.value.partition(":")[0].partition(".")[0].strip() for point in points}
    except Exception as error:
        return Plugin(name, frozenset(), (), f"{type(error).__name__}")
    with contextlib.suppress(Exception):  # a damaged RECORD: only the modules named by entry points are known
        modules |= {file.parts[0].removesuffix(".py") for file in package.files or () if file.suffix == ".py"}
    return Plugin(name, frozenset(modules), points)
