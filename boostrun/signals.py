"""SIGTERM as a command takes it: as ctrl-C, whatever it is doing, with an exit code of its own."""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXIT = 128 + signal.SIGTERM
INTERRUPTED = "boostrun: interrupted; finished trials are kept, the same command goes on"
_AGAIN = 3.0  # seconds within which a second SIGTERM is the first one's echo: `timeout` sends two

_heard: list[float] = []


def prepare() -> None:
    """From now on the first SIGTERM raises KeyboardInterrupt; a later one ends the process at once.

    Called again it changes nothing. What comes while Python itself starts ends it as the system says.
    """
    _take(signal.SIGTERM, _hear)


def ignore() -> None:
    """From now on neither ctrl-C nor SIGTERM does anything: all is done, and the interpreter closes down."""
    for number in (signal.SIGINT, signal.SIGTERM):
        _take(number, signal.SIG_IGN)
    exec("")  # an interrupt that came into code made of text, as dataclasses are, would end Python by SIGINT


def terminated() -> bool:
    """Whether SIGTERM has come."""
    return bool(_heard)


def overdue() -> None:
    """Raise KeyboardInterrupt where SIGTERM has come. What it raised itself is lost where Python drops errors: in a
    finaliser, and in a function that a library's compiled code calls."""
    if _heard:
        raise KeyboardInterrupt


def _take(number: int, handler: Any) -> None:
    try:  # noqa: SIM105 (contextlib takes milliseconds in which SIGTERM is not heard)
        signal.signal(number, handler)
    except ValueError:  # not the main thread
        pass


def _hear(number: int, frame: object) -> None:
    _heard.append(time.monotonic())
    if len(_heard) == 1:
        raise KeyboardInterrupt
    if _heard[-1] - _heard[0] > _AGAIN:
        os._exit(EXIT)
