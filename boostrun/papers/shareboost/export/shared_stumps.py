"""Stumps that subsets of the classes share, in C."""

from __future__ import annotations

from boostrun.export.parts import ProgramParts
from boostrun.export.saved import Saved
from boostrun.export.stumps import for_all_classes


def parts(saved: Saved) -> ProgramParts:
    """The C of SharedStumps: +1 and -1 stumps have half the weight of those of 0 and 1, and the base the other half."""
    steps = 0.5 * saved.model.columns
    base = (saved.model.biases + steps).sum(axis=0)
    return for_all_classes(saved, steps, base, f"shared by subsets of {steps.shape[1]} classes")
