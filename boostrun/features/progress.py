"""Progress of long work on stderr: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time

_SECONDS = 5.0  # between two plain lines


class Progress:
    """Counts units of work; silent unless `show`. `done` units were done before, by a build that was killed.

    >>> with Progress("features", total=2, show=False) as progress:
    ...     progress.advance(2)
    """

    def __init__(self, label: str, total: int, show: bool, unit: str = "images", done: int = 0):
        self._label, self._total, self._unit = label, total, unit
        self._done = done
        self._show = show
        self._bar = None
        self._last = time.monotonic()
        if show and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, desc=label, unit=f" {unit}", file=sys.stderr, leave=False)
        if show and done:
            line = f"{label}: resumed at {done} of {total} {unit}"
            print(line, file=sys.stderr, flush=True) if self._bar is None else self._bar.write(line, file=sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self, count: int) -> None:
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif self._show and time.monotonic() - self._last >= _SECONDS:
            self._last = time.monotonic()
            print(f"{self._label}: {self._done} of {self._total} {self._unit}", file=sys.stderr, flush=True)
