"""Count the files of boostrun that a command uses: ``python scripts/walk.py WORDS``.

A command enters a file if it calls one of its functions; importing a module does not count. Prints the number of files
that the command WORDS enters; for ``fit``, the number that ``ReservoirClassifier.fit`` enters.

``settings WORDS`` counts returns while the words are parsed into checked settings, in a process that has done so
before. A room is a folder of boostrun or a module beside these folders. A return is a call that leads from one room
into another that was entered before.
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
    """The files of the functions of boostrun that a call runs, in order of their calls."""
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
    """The number of changes into a room that was entered before.

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
    """Return the number of files, or of returns, for the words of a command line."""
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
