"""Stumps that subsets of the classes share, as a sum with weights for every class; in C."""

from __future__ import annotations

import numpy as np

from boostrun.export.c import for_all_classes
from boostrun.export.parts import ProgramParts, Saved


def matrix_form(model) -> tuple[np.ndarray, np.ndarray, str]:
    """(steps (T, k), base (k,), words): +1 and -1 stumps have half the weight of those of 0 and 1, and the base the
    other half.
    """
    steps = 0.5 * model.columns
    return steps, (model.biases + steps).sum(axis=0), f"shared by subsets of {steps.shape[1]} classes"


def c_shared_stumps(saved: Saved) -> ProgramParts:
    """The C of SharedStumps."""
    return for_all_classes(saved, *matrix_form(saved.model))
