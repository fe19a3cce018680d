"""What a trial does, apart from where its data come from: which seed goes where, who trains on what.

``make`` is a function of the random state that returns an unfitted estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boostrun.runner.seeds import Seeds, spawn

Make = Callable[[int], Any]


def on_bank(make: Make, train_and_test: Callable[..., dict], bank, seed: int) -> tuple[Any, dict[str, Any]]:
    """(fitted estimator, metrics with cost and curve) on a feature bank."""
    seeds = spawn(seed)
    model = make(_random_state(seeds))
    return model, train_and_test(model, bank, seeds.filter)


def on_chunks(make: Make, train_and_test: Callable[..., dict], data, limit: float, bins: int, seed: int) -> dict:
    """Metrics, cost and curve on files that are read in chunks; ``limit`` in MiB."""
    seeds = spawn(seed)
    return train_and_test(make(_random_state(seeds)), data, limit, bins, seeds.filter)


def on_stream(
    make: Make, small, evaluation, draw: Callable[..., Any], dataset: Mapping[str, Any], budget: Mapping[str, int],
    seed: int,
) -> dict[str, Any]:  # fmt: skip
    """Metrics, cost and curve on a stream whose concept may change: the same for all algorithms, hold-outs too.

    ``small`` is the estimator with a small budget, for what has to be compiled; ``draw`` is given two seeds.
    """
    seeds = spawn(seed)
    stream = draw(seeds.split, seeds.filter)
    evaluation.rehearse(small, stream)
    model = make(_random_state(seeds))
    return evaluation.train_and_test(model, stream, dataset, budget.get("n", evaluation.FIRST))


def _random_state(seeds: Seeds) -> int:
    return int(seeds.algorithm.generate_state(1)[0])
