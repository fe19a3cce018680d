"""What Grbovic & Vucetic (2011) say of methods and streams beside what is here; no trials."""

from __future__ import annotations

from pathlib import Path

from boostrun.report.text_table import write_text_table

_TRAITS = {
    "detects changes": "change_detector", "online base": "online_base_update",
    "adds and removes": "classifier_add_remove", "sliding window": "sliding_window",
}  # fmt: skip
_KINDS = {"sea": "sudden", "santafe": "incremental", "led": "rigorous", "rbf": "gradual"}  # the paper's words
_NAMES = {"iboost_stochastic": "iboost", "iboost_batch": "iboost"}  # one row in the paper's table
_NONE = "—"


def types(folder: Path, _: Path) -> str:
    """Kinds of drift, drawn."""
    from boostrun.papers.iboost.figures.drift_types import drift_types_figure

    return f"written: {drift_types_figure(folder / 'figure.png')}"


def methods(folder: Path, _: Path) -> str:
    """Which method detects changes, trains its base classifiers online, adds and removes them, keeps a window."""
    from boostrun.report.reference import lookup, reference
    from boostrun.schemas.drift import ALGORITHMS

    frame = reference("iboost", "characteristics")
    rows, apart = [], 0
    for name, schema in ALGORITHMS.items():
        row = [name]
        for trait, metric in _TRAITS.items():
            found = lookup(frame, metric, {"method": _NAMES.get(name, name)})
            ours, paper = trait in schema.traits, None if found is None else found[0] == 1
            apart += paper is not None and ours != paper
            row += ["x" if ours else "-", _NONE if paper is None else "x" if paper else "-"]
        rows.append(row)
    head = ["method", *(text for trait in _TRAITS for text in (trait, "paper"))]
    told = f"{apart} of them differ from the paper's; — where the paper's table has no such method."
    return write_text_table("IBoost: what each method has", [head, *rows], told, folder)


def data(folder: Path, data_root: Path) -> str:
    """Sizes of the streams as they are drawn, and the paper's; its name for each kind of drift."""
    from boostrun.data.streams import draw
    from boostrun.errors import DataMissingError
    from boostrun.report.reference import lookup, reference

    frame = reference("iboost", "datasets")
    rows, told = [], []
    for name, kind in _KINDS.items():
        ours = [_NONE] * 3
        try:
            stream = draw({"name": name}, data_root)
            held = sum(len(holdout.y) for holdout in stream.holdouts)
            concepts = len(stream.changes) + 1 if name != "rbf" else _NONE  # it changes with every example
            ours = [str(len(stream)), str(held) if held else _NONE, str(concepts)]
        except DataMissingError as missing:
            told.append(f"missing: {missing}")
        figures = [lookup(frame, metric, {"dataset": name}) for metric in ("train_size", "holdout_size", "n_concepts")]
        paper = [_NONE if found is None else f"{found[0]:.0f}" for found in figures]
        rows.append([name, kind, *(text for pair in zip(ours, paper) for text in pair)])
    head = ["stream", "drift", "training examples", "paper", "hold-out examples", "paper", "concepts", "paper"]
    page = "— where there is none: without a hold-out each example is predicted before it is learnt."
    return "\n".join([*told, write_text_table("IBoost: the streams", [head, *rows], page, folder)])
