"""SIGTERM handled as ctrl-C, with its own exit code."""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXIT = 128 + signal.SIGTERM
INTERRUPTED = "boostrun: interrupted; finished trials are kept, the same command goes on"
_AGAIN = 3.0  # seconds within which a second SIGTERM is an echo of the first: `timeout` sends two

_heard: list[float] = []


def prepare() -> None:
    """Make the first SIGTERM raise KeyboardInterrupt, and a later one end the process at once.

    Calling it again changes nothing. A signal during Python's own start has the system's default effect.
    """
    _take(signal.SIGTERM, _hear)


def ignore() -> None:
    """Ignore ctrl-C and SIGTERM from now on, while the interpreter shuts down."""
    for number in (signal.SIGINT, signal.SIGTERM):
        _take(number, signal.SIG_IGN)
    exec("")  # an interrupt that came into code made of text, as dataclasses are, would end Python by SIGINT


def terminated() -> bool:
    """Whether SIGTERM was received."""
    return bool(_heard)


def overdue() -> None:
    """Raise KeyboardInterrupt if SIGTERM was received.

    Python drops the handler's own exception in a finaliser and in callbacks from a library's compiled code.
    """
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
