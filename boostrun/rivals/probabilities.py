"""What the scores of the rivals on streams mean."""

from __future__ import annotations

from boostrun.methods.probabilities import LINKS, Link


def of_sgbt(classifier) -> Link:
    """The logistic loss, of two classes and of each of several against the rest."""
    return LINKS["logistic"]
