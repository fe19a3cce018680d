"""The files of boostrun that a command enters, and the way of words to settings: ``python scripts/walk.py WORDS``.

A file is entered when one of its functions is called; the import of a module does not count. Prints the number of files
that the command WORDS enters; for ``fit``, those of a ReservoirClassifier that is fitted.

``settings WORDS`` follows the words to checked settings, in a process that has done so before: each call of a function
of boostrun is a step, and a step into another room that was entered before is a return. A room is a folder of boostrun,
or a module beside them. Prints the number of returns.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boostrun

PACKAGE = Path(boostrun.__file__).parent


def files_called(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """The file of each function of boostrun that a call leads to, in order."""
    found: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(PACKAGE)):
            found.append(Path(code.co_filename).relative_to(PACKAGE).as_posix())

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return found


def returns(files: list[str]) -> int:
    """How many steps lead into another room that was entered before.

    >>> returns(["cli/run.py", "config/words.py", "config/catalogue.py", "cli/run.py"])
    1
    """
    rooms = [file.partition("/")[0] for file in files]
    steps = [room for i, room in enumerate(rooms) if i == 0 or room != rooms[i - 1]]
    return len(steps) - len(set(steps))


def fit() -> None:
    """Fit a ReservoirClassifier to digits."""
    from sklearn.datasets import load_digits

    from boostrun import ReservoirClassifier

    ReservoirClassifier(reservoir_size=30, n_estimators=5, random_state=0).fit(*load_digits(return_X_y=True))


def main(words: list[str]) -> int:
    """The number that the words ask for."""
    if words[0] == "settings":
        file = "compose" if (PACKAGE / "runner" / "compose.py").exists() else "plan"
        compose_one = importlib.import_module(f"boostrun.runner.{file}").compose_one
        compose_one(words[1:])
        return returns(files_called(compose_one, words[1:]))
    if words == ["fit"]:
        return len(set(files_called(fit)))
    return len(set(files_called(importlib.import_module("boostrun.cli").main, words)))


if __name__ == "__main__":
    print(main(sys.argv[1:]))
