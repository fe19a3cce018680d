"""SIGTERM as a command takes it: as ctrl-C, whatever it is doing, with an exit code of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import time

EXIT = 128 + signal.SIGTERM
_AGAIN = 3.0  # seconds within which a second SIGTERM is the first one's echo: `timeout` sends two

_heard: list[float] = []


def prepare() -> None:
    """From now on the first SIGTERM raises KeyboardInterrupt; a later one ends the process at once."""
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGTERM, _hear)


def terminated() -> bool:
    """Whether SIGTERM has come."""
    return bool(_heard)


def _hear(number: int, frame: object) -> None:
    _heard.append(time.monotonic())
    if len(_heard) == 1:
        raise KeyboardInterrupt
    if _heard[-1] - _heard[0] > _AGAIN:
        os._exit(EXIT)
