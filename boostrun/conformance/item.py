"""Checks of a table or figure of a paper: every name in its file stands for something, every cell can be composed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from boostrun.config import yaml_files
from boostrun.conformance import Check, Failed, Skipped
from boostrun.runner import paper


def item_checks(name: str, config_dir: str | None = None, overrides: Sequence[str] = ()) -> list[Check]:
    """All checks of the item ``name``, as ``boostrun reproduce`` takes it."""
    return [
        Check("its rows, columns, figures and targets are there", lambda: _named(name, config_dir)),
        Check("the settings of every cell can be put together", lambda: _composed(name, config_dir, overrides, False)),
        Check("those of --quick too", lambda: _composed(name, config_dir, overrides, True)),
    ]


def _named(name: str, config_dir: str | None) -> None:
    found = paper.faults(name, config_dir)
    if found:
        path = yaml_files.options("paper", config_dir)[name]
        places = [_place(path, fault) for fault in found]
        if len(found) == 1:
            raise Failed(found[0], *places)
        raise Failed(f"{len(found)} faults", *(f"{fault} ({place})" for fault, place in zip(found, places)))


def _place(path: Path, fault: str) -> str:
    """The line of an item's file where the name that a fault is about stands."""
    word = fault.partition("'")[2].partition("'")[0]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if word and re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", line) and not line.lstrip().startswith("#"):
            return f"{path}:{number}: {line.strip()}"
    return str(path)


def _composed(name: str, config_dir: str | None, overrides: Sequence[str], quick: bool) -> None:
    if paper.drawing(name, config_dir):
        raise Skipped("it is drawn without trials")
    if paper.faults(name, config_dir):
        raise Skipped("its names come first")
    paper.load(name, overrides, quick, config_dir)
