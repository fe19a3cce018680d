"""Pictures beside a paper's table, made of the records of its cells and of their data: ``pictures`` of an item."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from boostrun.errors import DataMissingError
from boostrun.runner.plan import PlannedCell, bank_of, roots

_TEMPLATES = 30  # in the paper's Figure 5
_MOST = 120  # images that are shown; how many there are is told


def draw(kind: str, cell: PlannedCell, place: str, folder: Path) -> str:
    """Write one picture of a cell's first record; returns what to tell: where it is, or why there is none."""
    if not cell.best_records:
        return f"no {kind} picture of {place}: no record"
    record = min(cell.best_records, key=lambda record: record["seed"])
    path = folder / f"{kind}_{re.sub(r'[^A-Za-z0-9]+', '_', place).strip('_')}.png"
    try:
        why = PICTURES[kind](cell, record, place, path)
    except DataMissingError as missing:
        why = str(missing)
    return f"no {kind} picture of {place}: {why}" if why else f"written: {path}"


def _templates(cell: PlannedCell, record: dict, place: str, path: Path) -> str:
    """Shalev-Shwartz et al. 2011, Figure 5: the first templates under their masks, and the last weights for them."""
    import numpy as np

    from boostrun.papers.shareboost.figures.templates import template_figure

    bank = bank_of(cell.settings, progress=False)
    fitted = bank.fitted()
    if "filters" not in fitted or not record["curve"].get("weights"):
        return "its features are no templates"
    selected = np.array(record["curve"]["selected"][:_TEMPLATES])
    weights = np.array(record["curve"]["weights"])[: len(selected), : len(bank.classes)]
    mask, filter_ = np.divmod(selected, len(fitted["filters"]))
    title = (
        f"{place}: the first {len(selected)} of {len(record['curve']['selected'])} templates, their masks and weights"
    )
    template_figure(fitted["filters"][filter_], fitted["masks"][mask], weights, bank.classes, title, path)
    return ""


def _errors(cell: PlannedCell, record: dict, place: str, path: Path) -> str:
    """Shalev-Shwartz et al. 2011, Figure 6: the test images that are predicted wrongly."""
    from boostrun.data import load
    from boostrun.extend import loader
    from boostrun.papers.shareboost.figures.errors import errors_figure

    wrong = record["curve"].get("misclassified")
    if not wrong or "holdout" in cell.cell.dataset:
        return "its record names no test samples"
    data_root, _ = roots(cell.settings)
    data = load(loader.config_for(cell.settings.dataset, data_root), data_root)
    if data.x_test.ndim < 3:
        return "its samples are no images"
    shown = wrong[:_MOST]
    labels = [(data.classes[truth], data.classes[predicted]) for _, predicted, truth in shown]
    told = f", the first {len(shown)}" if len(shown) < len(wrong) else ""
    title = f"{place}: {len(wrong)} of {len(data.x_test)} test images are misclassified{told} (class as predicted)"
    errors_figure(data.x_test[[number for number, *_ in shown]], labels, title, path)
    return ""


PICTURES: dict[str, Callable[[PlannedCell, dict, str, Path], str]] = {"templates": _templates, "errors": _errors}
