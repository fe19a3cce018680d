"""Randomness of a trial: one SeedSequence per trial, spawned by axis, so that rival methods see the same data."""

from __future__ import annotations

from typing import NamedTuple

from numpy.random import SeedSequence

from boostrun.config.fields import whole_number


class TrialSeeds(NamedTuple):
    """Independent seeds of one trial, one per axis.

    Two algorithms run with one seed share ``split`` and ``filter``; how much one of them draws for itself from
    ``algorithm`` has no effect on the data of the other.
    """

    split: SeedSequence
    """How the data is split into train and test."""
    filter: SeedSequence
    """Which samples Filter() hands out, and in which order."""
    algorithm: SeedSequence
    """Every random choice of the method itself."""


def spawn(seed: int) -> TrialSeeds:
    """The seeds of the trial number ``seed`` (an integer of at least 0).

    The axes are children of one ``SeedSequence`` in a fixed order, which stored records rely on: a new axis goes last.
    Each call gives fresh objects (a ``SeedSequence`` counts the children spawned from it).

    Raises
    ------
    BoostrunError
        For a seed that is not an integer of at least 0.

    >>> import numpy as np
    >>> seeds = spawn(3)
    >>> np.random.default_rng(seeds.filter).integers(100, size=3).tolist()
    [71, 10, 15]
    """
    return TrialSeeds(*SeedSequence(whole_number(seed, "seed")).spawn(len(TrialSeeds._fields)))
