"""One trial: what is opened, made, trained and measured, in this order. Locks, caches and workers are the runner's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from boostrun.evaluation import Evaluation, Result
from boostrun.evaluation.seeds import spawn


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
