"""What the C files of stumps and of trees have in common: tables of columns and thresholds, and how a value is read."""

from __future__ import annotations

import numpy as np

from .inputs import UNITS, thresholds_of
from .missing import reading, told
from .parts import ProgramParts
from .saved import Saved
from .text import block, table


def split_program(
    saved: Saved, what: str, template: str, column: str, weights: list[str], comparisons: int, notes: str, **sizes: int
) -> ProgramParts:
    """A program that compares columns with the thresholds of the saved model, and adds ``weights``, tables too.

    Parameters
    ----------
    template : ``scores`` in C, with ``@type@``, ``@value@`` and the names of ``sizes``, of which ``k`` is one
    column : in C the place in the table of columns, whose value ``@value@`` stands for
    comparisons : counted in a prediction, a multiply-add each
    """
    model = saved.model
    x_type, thresholds = thresholds_of(saved.inputs, model.features, model.thresholds)
    read = reading(saved, x_type)
    tables = [table("feature", model.features.astype(np.int64)), table("threshold", thresholds), *weights]
    body = block(template, type=x_type, value=read.value.format(column), **sizes)
    return ProgramParts(
        what=what,
        x_type=x_type,
        x_size=read.size,
        x_text=told(saved, UNITS[x_type]),
        n_scores=sizes["k"],
        code="\n\n".join([*tables, *read.tables, body]),
        counted=comparisons,
        runs=comparisons,
        notes=notes,
    )
