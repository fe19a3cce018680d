"""A user's own choices: which YAML file, entry point or word names them, and their declarations in the catalogue.

A word may name a class, ``algo=estimator algo.class=module:Class`` or ``algo=module:Class``, or the function of a
stream, ``dataset=module:function``. Such a class is a method of the catalogue, and such a function a data set, for as
long as the process lives, called by where it is. Only what words, files of ``--config-dir`` and entry points name is
imported, never what a value or a record names.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from boostrun.config import catalogue
from boostrun.config.catalogue import ENTRY_POINTS, describe_error
from boostrun.config.words import listed, parse
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.extend import keys
from boostrun.files import read_yaml
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
        raise BoostrunError(f"{where} failed{place}: {describe_error(error)}") from error


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
        raise BoostrunError(f"the module '{dotted}' cannot be imported: {describe_error(error)}") from error
    theirs = Path(folder or ".").joinpath(*dotted.split(".")).with_suffix(".py")
    source = getattr(module, "__file__", None)
    if folder and theirs.is_file() and not (source and theirs.samefile(source)):
        raise BoostrunError(f"{theirs} is hidden by {source or f'the module {dotted}'}: give the file another name")
    return module


_CLASS = "algo.class"
_registered: dict[tuple[str, str], Any] = {}  # (group, name) -> class or function
_taken: dict[str, tuple[str, ...]] = {}  # module:Class -> keys that only its **keywords take
_streams: set[str] = set()  # module:function


def take_named(overrides: Sequence[Any], config_dir: str | None = None) -> Sequence[Any]:
    """Put the user's own choices that overrides name into the catalogue, and return the overrides.

    In those returned, each class replaces the method that takes one.

    Raises BoostrunError for a class or function that is missing, or of the wrong kind.

    >>> found = take_named(parse(["algo=geem,estimator", "algo.class=sklearn.svm:SVC", "r=50"]))
    >>> [override.input_line for override in found]
    ['algo=geem,sklearn.svm:SVC', 'r=50']
    """
    by_key = {override.key_or_group: override for override in overrides}
    names = {group: _values(by_key[group]) if group in by_key else [] for group in ENTRY_POINTS}
    folder = os.path.realpath(config_dir or ".")
    for name in names["dataset"]:
        if ":" in name and name not in _streams:
            allow(name, folder)
            take_stream(name)
    for group, chosen in names.items():
        for name in chosen:
            if not catalogue.is_declared(group, name):
                _take_own(group, name, config_dir)
    known = catalogue.methods()
    takers = [name for name in names["algo"] if name in known and known[name].takes_class]
    typed = [name for name in names["algo"] if ":" in name]
    if not takers and not typed:
        return overrides
    classes = _values(by_key[_CLASS]) if takers and _CLASS in by_key else []
    if takers and not classes:
        raise BoostrunError(f"algo={takers[0]} needs a class: {_CLASS}=module:Class, as in {_CLASS}=sklearn.svm:SVC")
    given = [key.removeprefix("algo.") for key in by_key if key.startswith("algo.") and key != _CLASS]
    for where in [*classes, *typed]:
        allow(where, folder)
        take(where, given)
    if not takers:
        return overrides
    found = [each for name in names["algo"] for each in (classes if name in takers else [name])]
    (algo,) = parse([f"algo={','.join(found)}"])
    return [algo if each is by_key["algo"] else each for each in overrides if each is not by_key[_CLASS]]


def _take_own(group: str, name: str, config_dir: str | None) -> None:
    """Put a choice into the catalogue if a YAML file of a user's own folder, or an entry point, names its class."""
    path = catalogue.option(group, name, config_dir) if config_dir is not None else None
    if path is not None:
        where, folder = _class_in(path), os.path.realpath(config_dir or ".")
        if where is not None:  # else values for a choice of boostrun's own
            allow(where, folder)
            register(group, name, where)
    elif point := catalogue.installed(group).get(name):
        allow(point.value)
        register(group, name, point.value)


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


class OwnChoice(NamedTuple):
    """A user's choice as it is passed to a worker: a group and name, a paper (``group`` is paper), or a class or stream
    from the command line with its ``keywords``.
    """

    group: str
    name: str
    where: str
    folder: str
    keywords: tuple[str, ...] = ()


def register(group: str, name: str, where: str) -> None:
    """Declare an allowed class or function, and add it to the catalogue."""
    thing = obtain(where)
    if _registered.get((group, name)) is not thing or catalogue.own_class(group, name) != where:
        catalogue.add(group, name, keys.declared(group, thing, where), where)
        _registered[group, name] = thing


def try_out(algo: Mapping[str, Any], budget: Mapping[str, int]) -> None:
    """Make a user's method once, so that a value its constructor refuses is reported before any trial.

    Raises BoostrunError with the constructor's message and its line.
    """
    name = str(algo["name"])
    if where := name if is_typed(algo) else algo.get("class"):
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
    return (*(OwnChoice("paper", *paper) for paper in catalogue.own_papers()), *found)


def everything() -> tuple[OwnChoice, ...]:
    """Everything the user has registered in this process, for :func:`admit` in another."""
    classes = ((group, name, catalogue.own_class(group, name)) for group, name in _registered)
    found = (OwnChoice(group, name, where, folder_of(where)) for group, name, where in classes)
    return (*(OwnChoice("paper", *paper) for paper in catalogue.own_papers()), *found)


def admit(own: Iterable[OwnChoice]) -> None:
    """In a worker: register and allow everything the command has."""
    for group, name, where, folder, keywords in own:
        if group == "paper":
            catalogue.add_own_papers({name: where}, folder)
        elif group == "class":
            if not is_typed({"name": name}) or keywords_of(name) != keywords:
                allow(where, folder)
                take(where, keywords)
        elif group == "stream":
            if not is_typed({"name": name}):
                allow(where, folder)
                take_stream(where)
        elif catalogue.own_class(group, name) != where:
            allow(where, folder)
            register(group, name, where)


def forget() -> None:
    """Remove all registered choices."""
    _registered.clear()
    _taken.clear()
    _streams.clear()
    catalogue.forget()


def _class_in(path: Path) -> Any:
    import yaml

    try:
        content = read_yaml(path)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BoostrunError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    return content.get("class") if isinstance(content, dict) else None
