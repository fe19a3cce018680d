"""Which method detects changes, trains its base classifiers online, adds and removes them, keeps a window."""

from __future__ import annotations

from pathlib import Path

from boostrun.papers.iboost import METHODS
from boostrun.report.paired import write_text_table
from boostrun.report.reference import lookup, reference

_TRAITS = {
    "detects changes": "change_detector", "online base": "online_base_update",
    "adds and removes": "classifier_add_remove", "sliding window": "sliding_window",
}  # fmt: skip
_NAMES = {"iboost_stochastic": "iboost", "iboost_batch": "iboost"}  # one row in the paper's table
_NONE = "—"


def draw(folder: Path, data_root: Path) -> str:
    """Write the paper's table of methods beside what the declarations say; returns what to tell."""
    frame = reference("iboost", "characteristics")
    rows, apart = [], 0
    for name, method in METHODS.items():
        if not method.budget:  # it looks at labels alone
            continue
        row = [name]
        for trait, metric in _TRAITS.items():
            found = lookup(frame, metric, {"method": _NAMES.get(name, name)})
            ours, paper = trait in method.traits, None if found is None else found[0] == 1
            apart += paper is not None and ours != paper
            row += ["x" if ours else "-", _NONE if paper is None else "x" if paper else "-"]
        rows.append(row)
    head = ["method", *(text for trait in _TRAITS for text in (trait, "paper"))]
    told = f"{apart} of them differ from the paper's; — where the paper's table has no such method."
    return write_text_table("IBoost: what each method has", [head, *rows], told, folder)
