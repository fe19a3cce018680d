"""One trial: what is opened, made, trained and measured, in this order. Locks, caches and workers are the runner's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.random import SeedSequence

from boostrun.config.fields import whole_number
from boostrun.evaluation import Evaluation, Result


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


class Trained(NamedTuple):
    """A fitted model, the data it was trained on, and what was measured."""

    model: Any
    data: Any
    result: Result


def train_and_test(
    open_data: Callable[[Any], Any], make: Callable[[int], Any], evaluation: Evaluation, seed: int,
    compile_first: Callable[[Any], None],
) -> Trained:  # fmt: skip
    """Run the trial number ``seed``.

    Parameters
    ----------
    open_data : from the trial's seeds to what the evaluation is run on
    make : from the algorithm's seed, a whole number, to an unfitted estimator
    evaluation : how it is trained and measured
    seed : int, of at least 0
    compile_first : called with the data before anything is made; no second of it counts
    """
    seeds = spawn(seed)
    data = open_data(seeds)
    compile_first(data)
    model = make(int(seeds.algorithm.generate_state(1)[0]))
    return Trained(model, data, evaluation.run(model, data, seeds))  # type: ignore[arg-type]  # read-only is enough
