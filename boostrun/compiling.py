"""A line on standard error when compiling kernels takes a while, as in a fresh container."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

_PATIENCE = 1.0  # seconds of compiling, in all, that need no explanation
_LINE = "boostrun: compiling kernels; they are kept, so the next command does not wait for it"

_wanted: bool | None = None


@contextlib.contextmanager
def notice(wanted: bool) -> Iterator[None]:
    """Within the block the line is written, or not; outside, only if standard error is a terminal."""
    global _wanted
    before, _wanted = _wanted, wanted
    try:
        yield
    finally:
        _wanted = before


def listen(event: Any) -> None:
    """Register for kernels being compiled; ``event`` is Numba's module of that name."""

    class Compiling(event.Listener):
        """Writes the line once a process, from its own thread: the compiling thread is busy."""

        def __init__(self) -> None:
            self._depth, self._patience, self._begun = 0, _PATIENCE, 0.0
            self._timer = threading.Timer(0.0, _write_line)

        def on_start(self, event: Any) -> None:
            self._depth += 1
            if self._depth == 1 and not _said.is_set():
                self._begun = time.monotonic()
                self._timer = threading.Timer(self._patience, _write_line)
                self._timer.daemon = True
                self._timer.start()

        def on_end(self, event: Any) -> None:
            self._depth -= 1
            if self._depth == 0:
                self._timer.cancel()
                self._patience = max(0.0, self._patience - (time.monotonic() - self._begun))

    event.register("numba:compile", Compiling())


_said = threading.Event()


def _write_line() -> None:
    try:
        terminal = sys.stderr.isatty()
        if _said.is_set() or not (terminal if _wanted is None else _wanted):
            return
        _said.set()
        # On a terminal the line takes the place of the bar, which is drawn again below it.
        print(f"\r\033[K{_LINE}" if terminal else _LINE, file=sys.stderr, flush=True)
    except (AttributeError, OSError, ValueError):  # standard error is closed
        return
