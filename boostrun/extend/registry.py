"""Choices of a person's own: which YAML or entry point names them, and their schemas beside the packaged ones."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from boostrun.config import defaults
from boostrun.errors import BoostrunError
from boostrun.extend import keys, objects
from boostrun.schemas import SCHEMAS

ENTRY_POINTS = {"algo": "boostrun.algorithms", "dataset": "boostrun.datasets", "features": "boostrun.features"}
_registered: list[tuple[str, str]] = []


def installed(group: str) -> dict[str, EntryPoint]:
    """The choices of a group that installed packages bring, by name; nothing is imported."""
    if group not in ENTRY_POINTS:
        return {}
    return {point.name: point for point in sorted(entry_points(group=ENTRY_POINTS[group]))}


def offer(group: str, name: str) -> bool:
    """Let Hydra find an installed choice; False where no package brings one of this name."""
    point = installed(group).get(name)
    if point is None:
        return False
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(group=group, name=name, node={"name": name, "class": point.value})
    return True


def fill_in(config: dict[str, Any], yaml_of: Mapping[str, Mapping[str, Path]]) -> dict[str, Any]:
    """A composed config in which the keys of a person's own choices have their defaults; their schemas are registered.

    ``yaml_of`` gives the YAML files of a person's own folder: group -> name -> file. A ``class`` counts only where that
    file, or an entry point, says the same: not from the command line, and not by way of another file.
    Raises BoostrunError with one sentence.
    """
    for group in ENTRY_POINTS:
        values = config.get(group)
        if not isinstance(values, dict):
            continue
        name, where = values.get("name"), values.get("class")
        if where is None:
            if (group, name) in _registered:
                raise BoostrunError(f"{group}.class says what {group} '{name}' is, and cannot be taken away")
            continue
        if (group, name) not in _registered and name in SCHEMAS[group]:
            raise BoostrunError(f"{group} '{name}' is boostrun's own, and has no key 'class': give yours another name")
        path = yaml_of.get(group, {}).get(str(name))
        point = installed(group).get(str(name)) if path is None else None
        if path is None and point is None:
            raise BoostrunError(f"{group} '{name}' names {where}, but its name is that of no YAML file in --config-dir")
        said = _class_in(path) if path is not None else point.value  # type: ignore[union-attr]
        if said != where:
            raise BoostrunError(
                f"{group}.class is {said}, as {path or 'its entry point'} says, and cannot be given elsewhere ({where})"
            )
        objects.allow(where, str(path.parents[1].resolve()) if path is not None else "")
        register(group, str(name), where)
        config[group] = {**defaults(group, str(name)), **values}
    return config


def register(group: str, name: str, where: str) -> None:
    """Make the schema of an allowed class or function and put it beside the packaged ones."""
    SCHEMAS[group][name] = keys.schema(group, objects.obtain(where), where)
    if (group, name) not in _registered:
        _registered.append((group, name))


def forget() -> None:
    """Take all registered choices out again."""
    for group, name in _registered:
        SCHEMAS[group].pop(name, None)
    _registered.clear()


def _class_in(path: Path) -> Any:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BoostrunError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    return content.get("class") if isinstance(content, dict) else None
