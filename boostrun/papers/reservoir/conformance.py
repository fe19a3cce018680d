"""Checks of a strategy: r different samples, weights for them, the same choice for the same random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.conformance import Check, Failed, numpy_left_alone
from boostrun.papers.reservoir.strategies import Batch

_N, _D, _R = 40, 6, 16


def checks(make: Callable[[], Any]) -> list[Check]:
    """All checks of a strategy; ``make()`` gives a new one."""
    return [
        Check("r different samples of the batch, ascending", lambda: _kept(make, batch(), _R)),
        Check("a finite weight of at least 0 for each of them", lambda: _weights(make, batch(), _R)),
        Check("same random numbers, same choice", lambda: _repeated(make)),
        Check("the batch is left as it is", lambda: _untouched(make)),
        Check("it keeps all samples if r is their number", lambda: _all(make)),
        Check("r = 1", lambda: _kept(make, batch(), 1)),
        Check("a batch of one class", lambda: _held(make, batch(labels=np.ones(_N)), _R)),
        Check("weights of 0 for some, and for all", lambda: _vanished(make)),
        Check("round after round", lambda: _rounds(make)),
        Check("a reservoir shared by three classes", lambda: _shared(make)),
    ]


def batch(n: int = _N, labels: np.ndarray | None = None, seed: int = 0) -> Batch:
    """Samples at hand as the loop has them."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 256, (n, _D), dtype=np.uint8)
    drawn, scores = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.normal(size=n)
    labels = drawn if labels is None else labels
    weights = 1.0 / (1.0 + np.exp(labels * scores))
    return Batch(samples, labels, weights, rng.integers(0, 5, n), scores, np.ones(n))


def _chosen(make: Callable, given: Batch, r: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    answer = make()(given, r, np.random.default_rng(seed))
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise Failed(f"it must return (kept, weights), not {type(answer).__name__}")
    return np.asarray(answer[0]), np.asarray(answer[1])


def _kept(make: Callable, given: Batch, r: int) -> None:
    kept, _ = _chosen(make, given, r)
    _held_kept(kept, r, len(given.samples))


def _held_kept(kept: np.ndarray, r: int, n: int) -> None:
    if kept.dtype.kind not in "iu":
        raise Failed(f"kept is of {kept.dtype}: places in the batch, whole numbers, are needed")
    if kept.shape != (r,):
        raise Failed(f"it kept {kept.shape} samples where ({r},) are to be kept")
    if len(np.unique(kept)) != r:
        raise Failed(f"it kept {len(np.unique(kept))} different samples, some more than once, of r = {r}")
    if kept.min() < 0 or kept.max() >= n:
        raise Failed(f"it kept samples {kept.min()} to {kept.max()} of {n}")
    if (np.diff(kept) < 0).any():
        raise Failed("kept is not ascending")


def _weights(make: Callable, given: Batch, r: int) -> None:
    _, weights = _chosen(make, given, r)
    _held_weights(weights, (r,))


def _held_weights(weights: np.ndarray, shape: tuple[int, ...]) -> None:
    if weights.shape != shape:
        raise Failed(f"weights of the shape {weights.shape} where {shape} are needed")
    if weights.dtype.kind != "f" or not np.isfinite(weights).all():
        raise Failed(f"weights of {weights.dtype}, some NaN or infinite: finite floats are needed")


def _held(make: Callable, given: Batch, r: int) -> None:
    _kept(make, given, r)
    _weights(make, given, r)


def _repeated(make: Callable) -> None:
    with numpy_left_alone():
        first = _chosen(make, batch(), _R, seed=3)
    for one, other in zip(first, _chosen(make, batch(), _R, seed=3)):
        if not np.array_equal(one, other):
            raise Failed("the same batch and the same generator give another choice")


def _untouched(make: Callable) -> None:
    given, before = batch(), batch()
    _chosen(make, given, _R)
    for name in ("samples", "labels", "weights", "arrived", "scores", "masses"):
        if not np.array_equal(getattr(given, name), getattr(before, name)):
            raise Failed(f"it writes into batch.{name}")


def _all(make: Callable) -> None:
    kept, weights = _chosen(make, batch(), _N)
    if not np.array_equal(kept, np.arange(_N)):
        raise Failed(f"of r = n = {_N} samples it kept {len(np.unique(kept))}")
    _held_weights(weights, (_N,))


def _vanished(make: Callable) -> None:
    for share in (0.7, 1.0):
        given = batch()
        given.weights[: int(share * _N)] = 0.0
        _held(make, given, _R)


def _rounds(make: Callable) -> None:
    strategy, rng = make(), np.random.default_rng(0)
    for seed in range(3):
        kept, weights = strategy(batch(seed=seed), _R, rng)
        _held_kept(np.asarray(kept), _R, _N)
        _held_weights(np.asarray(weights), (_R,))


def _shared(make: Callable) -> None:
    from boostrun.conformance import Skipped

    strategy = make()
    if not callable(getattr(strategy, "for_all_classes", None)):
        raise Skipped("it has no for_all_classes(batch, r, rng)")
    one = batch()
    labels = np.where(np.arange(_N)[:, None] % 3 == np.arange(3), 1.0, -1.0)
    columns = {name: np.repeat(getattr(one, name)[:, None], 3, axis=1) for name in ("weights", "scores", "masses")}
    given = Batch(one.samples, labels, columns["weights"], one.arrived, columns["scores"], columns["masses"])
    kept, weights = strategy.for_all_classes(given, _R, np.random.default_rng(0))
    _held_kept(np.asarray(kept), _R, _N)
    _held_weights(np.asarray(weights), (_R, 3))
