"""Copies of records in MLflow, with ``run.tracker=mlflow``. The records in the store stay authoritative.

``MLFLOW_TRACKING_URI`` says where they go (default: where the installed MLflow keeps its runs); the experiment is
``MLFLOW_EXPERIMENT_NAME`` or ``boostrun``. Records are copied at the end of a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.report.entry import marks_of
from boostrun.store.cell import Cell

_BATCH = 1000  # metrics that one request may hold
_LONGEST = 500  # characters of a parameter's value


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
        params = [Param(key, str(value)[:_LONGEST]) for key, value in _settings(record)]
        metrics = [Metric(name, value, end, step) for name, value, step in _figures(record)]
        self.client.log_batch(run, params=params)
        for first in range(0, len(metrics), _BATCH):
            self.client.log_batch(run, metrics=metrics[first : first + _BATCH])
        self.client.set_terminated(run, "FINISHED" if record["status"] == "done" else "FAILED", end_time=end)


def _settings(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The cell and the seed of a record, under the keys that one types on the command line."""
    for group in ("algo", "dataset", "features"):
        for key, value in record["cell"][group].items():
            yield (group if key == "name" else f"{group}.{key}"), value
    yield from record["cell"]["budget"].items()
    yield "seed", record["seed"]


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
