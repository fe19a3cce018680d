"""One line on standard error when kernels are compiled and that takes a while, as in a fresh container."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

_PATIENCE = 1.0  # seconds of compiling, in all, that need no explanation
_LINE = "boostrun: compiling kernels; they are kept, so the next command does not wait for it"

_asked: bool | None = None


@contextlib.contextmanager
def told(wanted: bool) -> Iterator[None]:
    """While this lasts the line is written, or not; otherwise it is where standard error is a terminal."""
    global _asked
    before, _asked = _asked, wanted
    try:
        yield
    finally:
        _asked = before


def listen(event: Any) -> None:
    """Hear of kernels that are compiled; ``event`` is Numba's module of that name."""

    class Compiling(event.Listener):
        """Tells once a process, from a thread of its own: the one that compiles has no time for it."""

        def __init__(self) -> None:
            self._depth, self._patience, self._begun = 0, _PATIENCE, 0.0
            self._timer = threading.Timer(0.0, _tell)

        def on_start(self, event: Any) -> None:
            self._depth += 1
            if self._depth == 1 and not _said.is_set():
                self._begun = time.monotonic()
                self._timer = threading.Timer(self._patience, _tell)
                self._timer.daemon = True
                self._timer.start()

        def on_end(self, event: Any) -> None:
            self._depth -= 1
            if self._depth == 0:
                self._timer.cancel()
                self._patience = max(0.0, self._patience - (time.monotonic() - self._begun))

    event.register("numba:compile", Compiling())


_said = threading.Event()


def _tell() -> None:
    try:
        terminal = sys.stderr.isatty()
        if _said.is_set() or not (terminal if _asked is None else _asked):
            return
        _said.set()
        # On a terminal the line takes the place of the bar, which is drawn again below it.
        print(f"\r\033[K{_LINE}" if terminal else _LINE, file=sys.stderr, flush=True)
    except (AttributeError, OSError, ValueError):  # standard error is closed
        return
