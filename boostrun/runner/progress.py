"""Progress of a run: a bar on a terminal, a few plain lines in a log file."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TextIO

from tqdm import tqdm

from boostrun.store.cell import Trial

_LINES = 10  # plain lines for a long run, besides one at least every _SILENCE seconds
_SILENCE = 5.0


class Running:
    """Mean and sample standard deviation of numbers that come one at a time (Welford).

    >>> running = Running()
    >>> for value in (1.0, 2.0, 4.0):
    ...     running.add(value)
    >>> f"{running.mean:.3f} {running.std:.3f}"
    '2.333 1.528'
    """

    def __init__(self) -> None:
        self.n, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self._squares += step * (value - self.mean)

    @property
    def std(self) -> float:
        """Sample standard deviation; 0 with fewer than two numbers."""
        return math.sqrt(max(self._squares, 0.0) / (self.n - 1)) if self.n > 1 else 0.0

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.std:.2f}" if self.n > 1 else f"{self.mean:.2f}"


class RunProgress:
    """Shows how a run gets on; ± is the standard deviation over the trials of one cell.

    Parameters
    ----------
    metrics : sequence of str, optional
        The metrics to show; the first that a trial reports when left out.
    stream : text file, optional
        Where to write; standard error when left out. A bar is drawn when it is a terminal, plain lines otherwise
        (or when ``TERM=dumb``). ``NO_COLOR`` is honoured.
    total : int, optional
        Trials of several runs that follow each other: it goes on through all of them, until :meth:`end`.
    """

    def __init__(
        self, metrics: Sequence[str] | None = None, stream: TextIO | None = None, total: int | None = None
    ) -> None:
        self.metrics = None if metrics is None else tuple(metrics)
        self._stream = sys.stderr if stream is None else stream
        self._of_all, self._begun_once = total, False
        self._bar: _Bar | None = None
        self._trials: dict[str, Trial] = {}
        self._cells: dict[str, dict[str, Running]] = {}
        self._cell = ""
        self._finished = self._cached = self._failed = self._total = 0
        self._begun = self._told = 0.0
        self._told_of = 0

    def start(self, trials: Sequence[Trial]) -> None:
        """A run of these trials begins."""
        if self._of_all is not None and self._begun_once:
            self._cells.update({trial.cell.key: {} for trial in trials})
            return
        self._begin(trials)

    def _begin(self, trials: Sequence[Trial]) -> None:
        self._begun_once = True
        self._total = len(trials) if self._of_all is None else self._of_all
        self._cells = {trial.cell.key: {} for trial in trials}
        self._finished = self._cached = self._failed = 0
        self._begun = self._told = time.monotonic()
        self._told_of = 0
        if self._stream.isatty() and os.environ.get("TERM") != "dumb":
            self._bar = _Bar(
                total=self._total,
                file=self._stream,
                ascii=" ━",
                colour=None if os.environ.get("NO_COLOR") else "green",
                bar_format="trials {bar:20} {n_fmt}/{total_fmt}{postfix} · {seconds}{pace}",
                dynamic_ncols=True,
            )

    def cached(self, trial: Trial, metrics: Mapping[str, float]) -> None:
        """A trial was found in the store."""
        self._cached += 1
        self._count(trial, metrics)
        if self._bar is not None:
            self._bar.initial = self._cached  # what was found says nothing about the pace
            self._bar.n = self._finished
            self._bar.set_postfix_str(self._news(), refresh=False)
            self._bar.update(0)

    @property
    def told(self) -> int:
        """How many trials it was told of."""
        return self._finished

    def skip(self, count: int) -> None:
        """So many trials of one of several runs need not be run."""
        if not self._begun_once:
            self._begin([])
        self._cached += count
        self._finished += count
        if self._bar is not None:
            self._bar.initial += count
            self._bar.update(count)

    def finished(self, trial: Trial, status: str, metrics: Mapping[str, float], message: str = "") -> None:
        """A trial has run: ``status`` is ``done`` or ``failed``, ``message`` says why it failed."""
        if status == "failed":
            self._failed += 1
            reason = (message.strip().splitlines() or ["no message"])[0]
            self._say(f"failed: {trial.cell.label} · seed {trial.seed}: {reason[:200]}")
        self._count(trial, metrics)
        if self._bar is not None:
            self._bar.set_postfix_str(self._news(), refresh=False)
            self._bar.update(1)
        else:
            self._tell()

    def note(self, text: str) -> None:
        """A line that does not disturb the bar."""
        self._say(text)

    def close(self) -> None:
        """The run is over, however it ended."""
        if self._of_all is None:
            self.end()

    def end(self) -> None:
        """All runs are over."""
        if self._bar is not None:
            self._bar.refresh()
            self._bar.close()
            self._bar = None
        elif self._finished != self._told_of:
            self._say(self._line())

    def _count(self, trial: Trial, metrics: Mapping[str, float]) -> None:
        self._finished += 1
        self._cell = trial.cell.label
        self._trials[trial.cell.key] = trial
        means = self._cells.setdefault(trial.cell.key, {})
        self._means = means
        names = self.metrics if self.metrics is not None else tuple(metrics)[:1]
        for name in names:
            if name in metrics:
                means.setdefault(name, Running()).add(metrics[name])

    def _news(self) -> str:
        parts = [f"{self._cached} cached"]
        if self._failed:
            parts.append(f"{self._failed} failed")
        if len(self._cells) > 1 and self._cell:
            parts.append(self._cell)
        parts += [f"{name} {running}" for name, running in getattr(self, "_means", {}).items()]
        return " · ".join(parts)

    def _line(self) -> str:
        return f"trials {self._finished}/{self._total} · {self._news()} · {time.monotonic() - self._begun:.1f} s"

    def _tell(self) -> None:
        now = time.monotonic()
        step = max(1, self._total // _LINES)
        if self._finished % step == 0 or self._finished == self._total or now - self._told >= _SILENCE:
            self._told, self._told_of = now, self._finished
            self._say(self._line())

    def _say(self, text: str) -> None:
        if self._bar is not None:
            self._bar.write(text, file=self._stream)
        else:
            print(text, file=self._stream, flush=True)


class _Bar(tqdm):
    """tqdm with seconds written as people read them, and a separator of our own."""

    @property
    def format_dict(self) -> dict:
        values = super().format_dict
        run = values["n"] - values["initial"]
        elapsed = values["elapsed"]
        pace = ""
        if run > 0 and elapsed > 0 and values["n"] < values["total"]:
            rate = run / elapsed
            written = f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each"
            pace = f" · {written} · {_duration((values['total'] - values['n']) / rate)} left"
        values.update(seconds=_duration(elapsed), pace=pace)
        if values["postfix"]:
            values["postfix"] = str(values["postfix"])
        return values

    @staticmethod
    def format_meter(*args, **values) -> str:
        # tqdm joins the postfix with a comma; the line reads better with the dot that all our output uses.
        if values.get("postfix"):
            values["bar_format"] = values["bar_format"].replace("{postfix}", " · " + _escaped(values["postfix"]))
            values["postfix"] = None
        return tqdm.format_meter(*args, **values)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _duration(seconds: float) -> str:
    """
    >>> _duration(4.06), _duration(125), _duration(7380)
    ('4.1 s', '2 min 05 s', '2 h 03 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
