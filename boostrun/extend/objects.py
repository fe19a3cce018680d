"""A class or function named as ``module:Class``: imported only when a person has named it, each failure a sentence."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from boostrun.errors import BoostrunError, did_you_mean

_SPELLING = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_allowed: dict[str, str] = {}  # module:Class -> the folder that it was named in, empty where it is installed


def allow(where: str, folder: str = "") -> None:
    """From now on ``where`` may be imported in this process, from ``folder`` if it is not installed."""
    if not isinstance(where, str) or not _SPELLING.fullmatch(where):
        raise BoostrunError(f"'{where}' names no class: module:Class is needed, as in my_algo:MyBooster")
    _allowed[where] = folder


def allowed(wanted: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Those of ``wanted`` that may be imported here, with their folders: what a worker needs to be told."""
    return tuple((where, _allowed[where]) for where in wanted if where in _allowed)


def folder_of(where: str) -> str:
    """The folder that an allowed name was found in, empty where it is installed."""
    return _allowed[where]


def obtain(where: str) -> Callable[..., Any]:
    """The class or function; BoostrunError where nobody has named it, it is not there, or it is something else.

    >>> obtain("os:system")
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: os:system is not imported: no YAML in --config-dir and no entry point names it
    """
    found = named(where)
    if not callable(found):
        raise BoostrunError(f"{where} is neither a class nor a function but of type {type(found).__name__}")
    return found


def named(where: str) -> Any:
    """What is named, whatever it is; BoostrunError where nobody has named it, or it is not there."""
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
    """What ``function`` of ``where`` returns; an exception of its becomes a sentence that names the line."""
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
