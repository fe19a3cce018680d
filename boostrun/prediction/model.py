"""The classifier of a model file, whichever class has written it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from boostrun import __version__
from boostrun.config import catalogue, guests
from boostrun.errors import BoostrunError
from boostrun.methods.archive import kind_of, text_of
from boostrun.methods.declaration import obtain
from boostrun.methods.saved import Saveable, kinds


def load(path: str | Path) -> Saveable:
    """The classifier that was saved to ``path``: what ``load`` of its class gives, found by the name in the file.

    Raises BoostrunError with one sentence where there is no such file, it is none of ours, another version has
    written it, or its class is not installed.
    """
    kind, classes = kind_of(path), _classes()
    written = _written_by(path)
    if written:
        target = next((classes[name] for name in written if name in classes), None)
        if target is None:
            raise BoostrunError(
                f"{path} holds a model of {written[0]}, which is none of the classifiers of boostrun {__version__} and "
                f"the papers beside it (--config-dir DIR names a folder of your own){catalogue.missing(written[0])}"
            )
        try:
            cls = obtain(target)
        except (Exception, SystemExit) as error:
            raise BoostrunError(
                f"{path} holds a model of {target}, which cannot be imported: {guests.said(error)}"
            ) from error
        if kind not in _kinds(cls):
            raise _unknown(path, kind)
        return cls.load(path)
    for target in classes.values():  # a file of an older version: any class that holds what is in it predicts the same
        try:
            cls = obtain(target)
        except (Exception, SystemExit):  # somebody else's
            continue
        if kind in _kinds(cls):
            return cls.load(path)
    raise _unknown(path, kind)


def _classes() -> dict[str, str]:
    """ "module:Class" of every classifier there is, by the name of its class."""
    found = {name: f"{module}:{name}" for name, module in catalogue.public()}
    targets: dict[str, str] = {}
    for method in catalogue.methods().values():
        targets.setdefault(method.target.partition(":")[2], method.target)  # ours are asked first
    return targets | found


def _kinds(cls: Any) -> list[str]:
    """What files say that ``cls`` can load; none where it keeps no models."""
    of_ours = isinstance(cls, type) and issubclass(cls, Saveable)
    return [*kinds(cls)] if of_ours else []


def _written_by(path: str | Path) -> list[str]:
    try:
        names = json.loads(text_of(path, "facts") or "{}").get("written_by", [])
        return [name for name in names if isinstance(name, str)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, BoostrunError):
            raise
        raise BoostrunError(f"{path} is not a model saved by boostrun ({error})") from None


def _unknown(path: str | Path, kind: str) -> BoostrunError:
    return BoostrunError(
        f"{path} holds {kind[:80]}, which boostrun {__version__} does not know: it was written by another version, or "
        "is no classifier; train and save it again"
    )
