"""Choices of a person's own: which YAML or entry point names them, and their declarations beside the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

from boostrun import plugins
from boostrun.config import catalogue, defaults
from boostrun.errors import BoostrunError
from boostrun.extend import keys, objects, typed

ENTRY_POINTS = {"algo": "boostrun.algorithms", "dataset": "boostrun.datasets", "features": "boostrun.features"}
_registered: dict[tuple[str, str], str] = {}


class OwnChoice(NamedTuple):
    """What a worker is told of a choice of a person's own, or of a paper in his folder (then ``group`` is paper), or of
    what is named on the command line: a class, with the ``keywords`` that it is given, or a stream.
    """

    group: str
    name: str
    where: str
    folder: str
    keywords: tuple[str, ...] = ()


def installed(group: str) -> dict[str, EntryPoint]:
    """The choices of a group that installed packages bring, by name; nothing is imported.

    One of a name that there is already is left out, see :func:`boostrun.config.catalogue.left_out`.
    """
    found: dict[str, EntryPoint] = {}
    for point in plugins.entry_points(ENTRY_POINTS[group]) if group in ENTRY_POINTS else ():
        declared = point.name in catalogue.names(group) and not is_own(group, point.name)
        if declared or found.get(point.name, point).value != point.value:
            why = f"{group} '{point.name}' is there already"
            catalogue.leave_out(catalogue.LeftOut(f"the {ENTRY_POINTS[group]}", point.name, point.value, why))
        else:
            found[point.name] = point
    return found


def is_own(group: str, name: str) -> bool:
    """Whether a choice is a person's own that has been registered here."""
    return (group, name) in _registered


def where_of(group: str, name: str) -> str:
    """module:Class of a person's own choice that has been registered here."""
    return _registered[group, name]


def fill_in(config: dict[str, Any], yaml_of: Mapping[str, Mapping[str, Path]]) -> dict[str, Any]:
    """A composed config in which the keys of a person's own choices, now in the catalogue, have their defaults.

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
            if is_own(group, str(name)):
                raise BoostrunError(f"{group}.class says what {group} '{name}' is, and cannot be taken away")
            continue
        if not is_own(group, str(name)) and name in catalogue.names(group):
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
    """Declare an allowed class or function and put it beside the others."""
    catalogue.add(group, name, keys.declared(group, objects.obtain(where), where))
    _registered[group, name] = where


def try_out(algo: Mapping[str, Any], budget: Mapping[str, int]) -> None:
    """Make a person's own method once: a value that its constructor refuses is told before any trial.

    Raises BoostrunError with what the constructor says, and where.
    """
    name = str(algo["name"])
    if is_own("algo", name) or typed.is_typed(algo):
        where = name if typed.is_typed(algo) else where_of("algo", name)
        try:
            objects.call(where, catalogue.method(algo).make, algo, budget, {"random_state": 0})
        except BoostrunError as error:
            raise BoostrunError(f"algo '{name}': {error}") from error


def registered(chosen: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[OwnChoice, ...]:
    """What a worker must be told of these (group, values), and of the papers of a person's own folder."""
    found = dict[OwnChoice, None]()
    for group, values in chosen:
        name = values["name"]
        if "class" in values:
            found[OwnChoice(group, name, values["class"], objects.folder_of(values["class"]))] = None
        elif group == "algo" and typed.is_typed(values):
            found[OwnChoice("class", name, name, objects.folder_of(name), typed.keywords_of(name))] = None
        elif group == "dataset" and typed.is_typed(values):
            found[OwnChoice("stream", name, name, objects.folder_of(name))] = None
    return (*(OwnChoice("paper", *beside) for beside in catalogue.beside()), *found)


def everything() -> tuple[OwnChoice, ...]:
    """All that a person has brought to this process, for :func:`admit` in another."""
    found = (OwnChoice(group, name, where, objects.folder_of(where)) for (group, name), where in _registered.items())
    return (*(OwnChoice("paper", *beside) for beside in catalogue.beside()), *found)


def admit(own: Iterable[OwnChoice]) -> None:
    """In a worker: what the command has admitted may be imported here too."""
    for group, name, where, folder, keywords in own:
        if group == "paper":
            catalogue.take_beside({name: where}, folder)
        elif group == "class":
            if not typed.is_typed({"name": name}) or typed.keywords_of(name) != keywords:
                objects.allow(where, folder)
                typed.take(where, keywords)
        elif group == "stream":
            if not typed.is_typed({"name": name}):
                objects.allow(where, folder)
                typed.take_stream(where)
        elif _registered.get((group, name)) != where:
            objects.allow(where, folder)
            register(group, name, where)


def forget() -> None:
    """Take all registered choices out again."""
    _registered.clear()
    typed.forget()
    catalogue.forget()


def _class_in(path: Path) -> Any:
    import yaml

    from boostrun.config import quick_yaml

    try:
        content = quick_yaml.load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BoostrunError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    return content.get("class") if isinstance(content, dict) else None
