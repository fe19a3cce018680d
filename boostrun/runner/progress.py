"""Progress of a run: a bar on a terminal, a few plain lines in a log file, and copies of records in MLflow.

With ``run.tracker=mlflow`` records are copied at the end of a run; those in the store stay authoritative.
``MLFLOW_TRACKING_URI`` says where they go (default: where the installed MLflow keeps its runs); the experiment is
``MLFLOW_EXPERIMENT_NAME`` or ``boostrun``.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from statistics import fmean, stdev
from typing import Any, TextIO

from boostrun.errors import BoostrunError
from boostrun.report.entry import marks_of
from boostrun.runner.naming import flat
from boostrun.store.cell import Cell, Trial

_LINES = 10  # plain lines for a long run, besides one at least every _SILENCE seconds
_SILENCE = 5.0
_REFRESH = 0.1  # seconds between two drawings of the bar
_WIDTH = 20  # characters of the bar
_BATCH = 1000  # metrics that one request may hold
_LONGEST = 500  # characters of a parameter's value


class RunProgress:
    """Shows the progress of a run; ± is the standard deviation over the trials of one cell.

    Parameters
    ----------
    metrics : sequence of str, optional
        The metrics to show; by default the first that a trial reports.
    stream : text file, optional
        Where to write, by default standard error. A terminal gets a bar, everything else (and ``TERM=dumb``) plain
        lines. ``NO_COLOR`` is respected.
    total : int, optional
        Number of trials of several runs that are shown as one, until :meth:`end`.
    """

    def __init__(
        self, metrics: Sequence[str] | None = None, stream: TextIO | None = None, total: int | None = None
    ) -> None:
        self.metrics = None if metrics is None else tuple(metrics)
        self._stream = sys.stderr if stream is None else stream
        self._several, self._total = total is not None, total or 0
        self._bar = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self.counted = 0
        """Trials so far, cached ones included."""
        self._cached = self._failed = self._counted_in_line = 0
        self._cells: dict[str, dict[str, list[float]]] = {}
        self._last: Trial | None = None
        self._begun = self._written = 0.0
        self._drawn = ""

    def start(self, trials: Sequence[Trial]) -> None:
        """A run of these trials begins."""
        self._cells.update({trial.cell.key: {} for trial in trials})
        if not self._begun:
            self._begun = self._written = time.monotonic()
            self._total = self._total if self._several else len(trials)
        if trials:
            self._draw()

    def cached(self, trial: Trial, metrics: Mapping[str, float]) -> None:
        """A trial was found in the store."""
        self._cached += 1
        self._count(trial, metrics)
        self._draw()

    def skip(self, count: int) -> None:
        """Count trials of one of several runs that need not be run."""
        self.start([])
        self._cached += count
        self.counted += count
        self._draw()

    def finished(self, trial: Trial, status: str, metrics: Mapping[str, float], message: str = "") -> None:
        """A trial has run: ``status`` is ``done`` or ``failed``, ``message`` says why it failed."""
        if status == "failed":
            self._failed += 1
            reason = (message.strip().splitlines() or ["no message"])[0]
            self.note(f"failed: {trial.cell.label} · seed {trial.seed}: {reason[:200]}")
        self._count(trial, metrics)
        now = time.monotonic()
        step = max(1, self._total // _LINES)
        if self._bar:
            self._draw()
        elif self.counted % step == 0 or self.counted == self._total or now - self._written >= _SILENCE:
            self._written, self._counted_in_line = now, self.counted
            self.note(self._line())

    def note(self, text: str) -> None:
        """Write a line of its own."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
        print(text, file=self._stream, flush=True)
        if self._drawn:
            self._draw(at_once=True)

    def close(self) -> None:
        """A run is over, however it ended."""
        if not self._several:
            self.end()

    def end(self) -> None:
        """All runs are over."""
        if self._drawn:
            self._draw(at_once=True)
            print(file=self._stream, flush=True)
            self._drawn = ""
        elif self.counted != self._counted_in_line and not self._bar:
            self.note(self._line())

    def _count(self, trial: Trial, metrics: Mapping[str, float]) -> None:
        self.counted += 1
        self._last = trial
        values = self._cells.setdefault(trial.cell.key, {})
        for name in self.metrics if self.metrics is not None else tuple(metrics)[:1]:
            if name in metrics:
                values.setdefault(name, []).append(metrics[name])

    def _news(self) -> str:
        """The counts so far, and the metrics of the last trial's cell."""
        parts = [f"{self._cached} cached", *([f"{self._failed} failed"] if self._failed else [])]
        if self._last is not None:
            parts += [self._last.cell.label] if len(self._cells) > 1 else []
            for name, values in self._cells[self._last.cell.key].items():
                spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
                parts.append(f"{name} {fmean(values):.2f}{spread}")
        return " · ".join(parts)

    def _line(self) -> str:
        return f"trials {self.counted}/{self._total} · {self._news()} · {time.monotonic() - self._begun:.1f} s"

    def _draw(self, at_once: bool = False) -> None:
        """Draw the bar in place of the one before, at most every ``_REFRESH`` seconds."""
        now = time.monotonic()
        if not self._bar or not (at_once or not self._drawn or now - self._written >= _REFRESH):
            return
        elapsed, run = now - self._begun, self.counted - self._cached
        pace = ""
        if run > 0 and elapsed > 0 and self.counted < self._total:  # cached trials say nothing about the pace
            rate = run / elapsed
            written = f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each"
            pace = f" · {written} · {_duration((self._total - self.counted) / rate)} left"
        filled = "━" * (_WIDTH * self.counted // max(self._total, 1))
        text = f" {self.counted}/{self._total} · {self._news()} · {_duration(elapsed)}{pace}"
        room = shutil.get_terminal_size().columns - len("trials ") - _WIDTH - 1
        coloured = filled if os.environ.get("NO_COLOR") else f"\x1b[32m{filled}\x1b[0m"
        self._drawn = f"trials {coloured}{' ' * (_WIDTH - len(filled))}{text[:room]}"
        self._written = now
        self._stream.write(f"\r{self._drawn}\x1b[K")
        self._stream.flush()


def _duration(seconds: float) -> str:
    """
    >>> _duration(4.06), _duration(125), _duration(7380)
    ('4.1 s', '2 min 05 s', '2 h 03 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


# -- copies in MLflow --------------------------------------------------------------------------------------------------


class Tracker:
    """Copies records to MLflow; BoostrunError if it is not installed or its store cannot be reached."""

    def __init__(self) -> None:
        try:
            from mlflow.tracking import MlflowClient
        except ImportError:
            raise BoostrunError("run.tracker=mlflow needs mlflow: pip install 'boostrun[mlflow]'") from None
        self.client = client = _call(MlflowClient)
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or "boostrun"
        found = _call(client.get_experiment_by_name, name)
        self.experiment = found.experiment_id if found else _call(client.create_experiment, name)

    def track(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Make a run of each record: settings become parameters; metrics, costs and curves become metrics."""
        for record in records:
            _call(self._track, record)

    def _track(self, record: Mapping[str, Any]) -> None:
        from mlflow.entities import Metric, Param

        end = int(datetime.fromisoformat(record["provenance"]["time"]).timestamp() * 1000)
        begun = end - int(1000 * record["cost"].get("seconds", 0.0))
        git = record["provenance"].get("git") or {}
        tags = {"boostrun.key": record["key"], "mlflow.source.git.commit": git.get("revision", "")}
        label = f"{Cell.from_config(record['cell']).label} seed={record['seed']}"
        run = self.client.create_run(self.experiment, start_time=begun, tags=tags, run_name=label).info.run_id
        settings = {**flat(record["cell"]), "seed": record["seed"]}
        params = [Param(key, str(value)[:_LONGEST]) for key, value in settings.items()]
        metrics = [Metric(name, value, end, step) for name, value, step in _figures(record)]
        self.client.log_batch(run, params=params)
        for first in range(0, len(metrics), _BATCH):
            self.client.log_batch(run, metrics=metrics[first : first + _BATCH])
        self.client.set_terminated(run, "FINISHED" if record["status"] == "done" else "FAILED", end_time=end)


def _figures(record: Mapping[str, Any]) -> Iterator[tuple[str, float, int]]:
    """(name, value, step) of a record: metrics and costs, and curves as ``curve.NAME`` with their checkpoints.

    >>> record = {"metrics": {"error": 1.5}, "cost": {}, "curve": {"T": [1, 9], "error": [3.0, 1.5], "changes": [4]}}
    >>> list(_figures(record))
    [('error', 1.5, 0), ('curve.error', 3.0, 1), ('curve.error', 1.5, 9)]
    """
    for part in ("metrics", "cost"):
        for name, value in record[part].items():
            if isinstance(value, (int, float)):
                yield name, float(value), 0
    marks = marks_of(record["curve"])
    steps = record["curve"].get(marks) or []
    for name, values in record["curve"].items():
        if name == marks or not isinstance(values, list) or len(values) != len(steps):
            continue
        for step, value in zip(steps, values):
            if isinstance(value, (int, float)):
                yield f"curve.{name}", float(value), int(step)


def _call(function, *arguments):
    """Call MLflow; its errors become a BoostrunError of one line."""
    from mlflow.exceptions import MlflowException

    try:
        return function(*arguments)
    except (MlflowException, ImportError, OSError) as error:
        raise BoostrunError(f"MLflow: {str(error).strip().splitlines()[0]}") from None
