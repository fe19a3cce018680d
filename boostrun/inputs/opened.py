"""Which part of a bank a trial sees: what is held out first, then so many samples of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.config import catalogue
from boostrun.inputs.table import Table


def opened(bank: Any, dataset: Mapping, features: Mapping) -> Table:
    """The table of ``bank``, held out and cut as the cell's ``dataset`` says."""
    table = Table(bank, catalogue.pipelines()[features["name"]].gives)
    if fraction := dataset.get("holdout"):
        table = table.held_out(fraction, dataset.get(catalogue.dataset(dataset).copies, 0))
    if count := dataset.get("train_samples"):
        table = table.subset(count)
    return table
