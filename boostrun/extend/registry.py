"""The user's own choices: the YAML file, entry point or word that names each, and their declarations in the catalogue.

On the command line: ``algo=estimator algo.class=module:Class``, or ``algo=module:Class``; and a stream,
``dataset=module:function``. Such a class is a method of the catalogue, and such a function a data set, for the rest of
the process, under its "module:name". Only names typed on the command line are imported this way, never names from a
file of settings.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from boostrun import plugins
from boostrun.config import catalogue, defaults
from boostrun.config.words import listed, parse
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.extend import keys
from boostrun.methods.declaration import Method, Part

_SPELLING = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_allowed: dict[str, str] = {}  # module:Class -> the folder in which it was found, empty if it is installed


def allow(where: str, folder: str = "") -> None:
    """Allow ``where`` to be imported in this process, from ``folder`` if it is not installed."""
    if not isinstance(where, str) or not _SPELLING.fullmatch(where):
        raise BoostrunError(f"'{where}' names no class: module:Class is needed, as in my_algo:MyBooster")
    _allowed[where] = folder


def allowed(wanted: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The names in ``wanted`` that may be imported here, with their folders, to be passed to a worker."""
    return tuple((where, _allowed[where]) for where in wanted if where in _allowed)


def folder_of(where: str) -> str:
    """The folder in which an allowed name was found; empty if it is installed."""
    return _allowed[where]


def obtain(where: str) -> Callable[..., Any]:
    """Import an allowed class or function; BoostrunError if it is not allowed, absent, or not callable.

    >>> obtain("os:system")
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: os:system is not imported: no YAML in --config-dir and no entry point names it
    """
    found = named(where)
    if not callable(found):
        raise BoostrunError(f"{where} is neither a class nor a function but of type {type(found).__name__}")
    return found


def named(where: str) -> Any:
    """Import an allowed name, whatever it is; BoostrunError if it is not allowed or absent."""
    if where not in _allowed:
        raise BoostrunError(f"{where} is not imported: no YAML in --config-dir and no entry point names it")
    folder = _allowed[where]
    dotted, _, name = where.partition(":")
    module = _module(dotted, folder)
    try:
        return getattr(module, name)
    except AttributeError:
        hint = did_you_mean(name, [word for word in vars(module) if not word.startswith("_")])
        file = getattr(module, "__file__", None) or dotted
        raise BoostrunError(f"{where}: {file} has no class or function '{name}'{hint}") from None


def module_of(where: str) -> str:
    """Dotted name of the module in ``where``.

    >>> module_of("mine.booster:Booster")
    'mine.booster'
    """
    return where.partition(":")[0]


def call(where: str, function: Callable[..., Any], *arguments: Any, **keys: Any) -> Any:
    """Call ``function`` of ``where``; its exceptions become a BoostrunError that names the line."""
    try:
        return function(*arguments, **keys)
    except BoostrunError:
        raise
    except (Exception, SystemExit) as error:
        file = getattr(sys.modules.get(module_of(where)), "__file__", None)
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        raise BoostrunError(f"{where} failed{place}: {_said(error)}") from error


def _module(dotted: str, folder: str) -> ModuleType:
    if folder and folder not in sys.path:
        sys.path.append(folder)  # last: no file of theirs hides a module that something else imports
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(dotted)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{dotted}.".startswith(f"{error.name}."):
            looked = f"in {folder} or " if folder else ""
            raise BoostrunError(f"there is no module '{dotted}' {looked}on the Python path") from None
        raise BoostrunError(f"the module '{dotted}' cannot be imported: {_said(error)}") from error
    theirs = Path(folder or ".").joinpath(*dotted.split(".")).with_suffix(".py")
    source = getattr(module, "__file__", None)
    if folder and theirs.is_file() and not (source and theirs.samefile(source)):
        raise BoostrunError(f"{theirs} is hidden by {source or f'the module {dotted}'}: give the file another name")
    return module


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


_CLASS = "algo.class"
_taken: dict[str, tuple[str, ...]] = {}  # module:Class -> keys that only its **keywords take
_streams: set[str] = set()  # module:function


def translated(overrides: Sequence[str], config_dir: str | None = None) -> list[str]:
    """The words, with each class replaced by the method that takes it; adds classes and streams to the catalogue.

    Raises BoostrunError if a class or function is absent or unsuitable.

    >>> translated(["algo=geem,estimator", "algo.class=sklearn.svm:SVC", "r=50"])
    ['algo=geem,sklearn.svm:SVC', 'r=50']
    """
    if not any(word.startswith(("algo=", "dataset=", f"{_CLASS}=")) for word in overrides):
        return list(overrides)
    typed = {override.key_or_group: override for override in parse(overrides)}
    folder = os.path.realpath(config_dir or ".")
    for name in _values(typed["dataset"]) if "dataset" in typed else []:
        if ":" in name and name not in _streams:
            allow(name, folder)
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
        allow(where, folder)
        take(where, given)
    return [
        f"algo={','.join(found)}" if word.startswith("algo=") else word
        for word in overrides if not (takers and word.startswith(f"{_CLASS}="))
    ]  # fmt: skip


def _values(override: Any) -> list[str]:
    return listed(override) if override.is_sweep_override() else [str(override.value())]


def take(where: str, given: Collection[str]) -> None:
    """Add an allowed class to the catalogue as the method that takes it; ``given`` are keys for its ``**keywords``."""
    cls = obtain(where)
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
    """Add an allowed function to the catalogue as a stream."""
    catalogue.add("dataset", where, keys.of_stream(obtain(where), where))
    _streams.add(where)


def _taker_of(cls: Any) -> Method:
    """The method that takes such a class: the first whose required methods it has, else the first."""
    takers = [method for method in catalogue.methods().values() if method.takes_class]
    able = (one for one in takers if all(callable(getattr(cls, name, None)) for name in one.class_like))
    return next(able, takers[0])


def is_typed(values: Mapping[str, Any]) -> bool:
    """Whether the values of a cell's algo or data set belong to a class or function named on the command line."""
    return values.get("name") in _taken or values.get("name") in _streams


def keywords_of(where: str) -> tuple[str, ...]:
    """The keys that a class named on the command line takes by ``**keywords`` only."""
    return _taken[where]


def forget_typed() -> None:
    """Forget all names from the command line."""
    _taken.clear()
    _streams.clear()


ENTRY_POINTS = {"algo": "boostrun.algorithms", "dataset": "boostrun.datasets", "features": "boostrun.features"}
_registered: dict[tuple[str, str], str] = {}


class OwnChoice(NamedTuple):
    """A user's choice as it is passed to a worker: a group and name, a paper (``group`` is paper), or a class or stream
    from the command line with its ``keywords``.
    """

    group: str
    name: str
    where: str
    folder: str
    keywords: tuple[str, ...] = ()


def installed(group: str) -> dict[str, EntryPoint]:
    """The choices of a group that installed packages declare, by name; imports nothing.

    A name that already exists is left out, see :func:`boostrun.config.catalogue.left_out`.
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
    """Whether a choice is the user's and registered here."""
    return (group, name) in _registered


def where_of(group: str, name: str) -> str:
    """module:Class of a registered choice of the user."""
    return _registered[group, name]


def fill_in(config: dict[str, Any], yaml_of: Mapping[str, Mapping[str, Path]]) -> dict[str, Any]:
    """A composed config with the defaults of the user's choices filled in; adds them to the catalogue.

    ``yaml_of`` gives the user's YAML files: group -> name -> file. A ``class`` counts only if that file or an entry
    point names it: it cannot come from the command line or another file. Raises BoostrunError with one sentence.
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
        allow(where, str(path.parents[1].resolve()) if path is not None else "")
        register(group, str(name), where)
        config[group] = {**defaults(group, str(name)), **values}
    return config


def register(group: str, name: str, where: str) -> None:
    """Declare an allowed class or function and put it beside the others."""
    catalogue.add(group, name, keys.declared(group, obtain(where), where))
    _registered[group, name] = where


def try_out(algo: Mapping[str, Any], budget: Mapping[str, int]) -> None:
    """Make a user's method once, so that a value its constructor refuses is reported before any trial.

    Raises BoostrunError with the constructor's message and its line.
    """
    name = str(algo["name"])
    if is_own("algo", name) or is_typed(algo):
        where = name if is_typed(algo) else where_of("algo", name)
        try:
            call(where, catalogue.method(algo).make, algo, budget, {"random_state": 0})
        except BoostrunError as error:
            raise BoostrunError(f"algo '{name}': {error}") from error


def registered(chosen: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[OwnChoice, ...]:
    """The registered choices among these (group, value), and the user's papers, to be passed to a worker."""
    found = dict[OwnChoice, None]()
    for group, values in chosen:
        name = values["name"]
        if "class" in values:
            found[OwnChoice(group, name, values["class"], folder_of(values["class"]))] = None
        elif group == "algo" and is_typed(values):
            found[OwnChoice("class", name, name, folder_of(name), keywords_of(name))] = None
        elif group == "dataset" and is_typed(values):
            found[OwnChoice("stream", name, name, folder_of(name))] = None
    return (*(OwnChoice("paper", *beside) for beside in catalogue.beside()), *found)


def everything() -> tuple[OwnChoice, ...]:
    """Everything the user has registered in this process, for :func:`admit` in another."""
    found = (OwnChoice(group, name, where, folder_of(where)) for (group, name), where in _registered.items())
    return (*(OwnChoice("paper", *beside) for beside in catalogue.beside()), *found)


def admit(own: Iterable[OwnChoice]) -> None:
    """In a worker: register and allow everything the command has."""
    for group, name, where, folder, keywords in own:
        if group == "paper":
            catalogue.take_beside({name: where}, folder)
        elif group == "class":
            if not is_typed({"name": name}) or keywords_of(name) != keywords:
                allow(where, folder)
                take(where, keywords)
        elif group == "stream":
            if not is_typed({"name": name}):
                allow(where, folder)
                take_stream(where)
        elif _registered.get((group, name)) != where:
            allow(where, folder)
            register(group, name, where)


def forget() -> None:
    """Remove all registered choices."""
    _registered.clear()
    forget_typed()
    catalogue.forget()


def _class_in(path: Path) -> Any:
    import yaml

    from boostrun.config import quick_yaml

    try:
        content = quick_yaml.load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BoostrunError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    return content.get("class") if isinstance(content, dict) else None
