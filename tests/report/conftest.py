"""Records and entries made by hand: the report needs the format alone."""

from __future__ import annotations

import pytest

from boostrun.report.entry import Entry
from boostrun.report.table import TableSpec


@pytest.fixture
def make_record():
    return record


@pytest.fixture
def make_entry():
    return entry


@pytest.fixture
def spec():
    return TableSpec("Strategies", "reservoir", "table3", "test_accuracy_pct", True, ("dataset", "r"))


def record(seed=0, metrics=None, algo="geem", dataset="mnist", r=100, **more):
    """A finished trial; `metrics` may be a number, the test accuracy."""
    if not isinstance(metrics, dict):
        metrics = {"test_accuracy_pct": 84.0 + seed if metrics is None else metrics}
    return {
        "schema": 1, "key": f"{algo}-{dataset}-{r}-{seed}",
        "cell": {"algo": {"name": algo}, "dataset": {"name": dataset}, "features": {}, "budget": {"r": r, "T": 250}},
        "cell_key": f"{algo}-{dataset}-{r}", "seed": seed, "status": "done", "inputs": {"data": "d0", "source": "s0"},
        "metrics": metrics, "cost": {"train_seconds": 0.25, "samples_drawn": 63000, "peak_samples_held": 2 * r},
        "curve": {}, "provenance": {"revision": "abc", "versions": {"numpy": "2.0"}, "cpu": "x", "time": "noon"},
        "error": None,
    } | more  # fmt: skip


def entry(row="geem", dataset="mnist", r=100, values=(), expected=10, **more):
    """An entry with one trial per value; None stands for a record without the metric."""
    records = [record(seed, {} if v is None else v, row, dataset, r) for seed, v in enumerate(values)]
    where = {"dataset": dataset, "method": row, "r": str(r)}
    return Entry(row, (dataset, f"r={r}"), where, expected, records, **more)
