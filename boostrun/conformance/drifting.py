"""Checks of a stream whose concept may drift: its examples, changes and hold-outs, the same for the same seed."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.conformance import Check, Failed, Skipped, in_a_worker, numpy_left_alone, plain_and_finite
from boostrun.data.streams import draw
from boostrun.errors import DataMissingError

_ROWS = 999  # examples of a block: no divisor of a round number


def drifting_checks(dataset: Mapping[str, Any], data_root: Path) -> list[Check]:
    """All checks of a stream: its ``name`` in the catalogue, and its keys."""
    drawn: dict[tuple, Any] = {}

    def stream(stream_seed: int = 1, holdout_seed: int = 2) -> Any:
        if (seeds := (stream_seed, holdout_seed)) not in drawn:
            drawn[seeds] = drawn_of(dataset, data_root, *seeds)
        return drawn[seeds]

    return [
        Check("examples and class numbers that fit together", lambda: _accepted(stream())),
        Check("changes that rise, a hold-out for each concept or none", lambda: _concepts(stream())),
        Check("blocks of any size hand out the same examples", lambda: _blocks(stream())),
        Check("same seeds, same stream", lambda: _repeated(dataset, data_root, stream())),
        Check("the same in a worker process", lambda: _worker(dataset, data_root, stream())),
        Check("another seed, another stream, on the same hold-outs", lambda: _seeds(dataset, data_root, stream)),
        Check("what it says of itself can stand in a record", lambda: _facts(stream())),
    ]


def drawn_of(dataset: Mapping[str, Any], data_root: Path, stream_seed: int, holdout_seed: int) -> Any:
    """The stream; Skipped where its files are not there."""
    try:
        return draw(dataset, data_root, np.random.SeedSequence(stream_seed), np.random.SeedSequence(holdout_seed))
    except DataMissingError as missing:
        raise Skipped(f"its files are not there: {missing}") from None


def stream_digest(dataset: Mapping[str, Any], data_root: Path) -> str:
    """sha256 (hex) of the stream of the seeds 1 and 2, and of its hold-outs."""
    return _digest_of(drawn_of(dataset, data_root, 1, 2))


def _digest_of(stream: Any, examples: bool = True, holdouts: bool = True) -> str:
    total = hashlib.sha256()
    pairs = [*(stream.blocks(_ROWS) if examples else ()), *(stream.holdouts if holdouts else ())]
    for x, y in pairs:
        total.update(f"{x.dtype.str}{x.shape}{y.dtype.str}".encode())
        total.update(np.ascontiguousarray(x).tobytes())
        total.update(np.ascontiguousarray(y).tobytes())
    return total.hexdigest()


def _accepted(stream: Any) -> None:
    count = 0
    for x, y in [*stream.blocks(_ROWS), *stream.holdouts]:
        if x.ndim != 2 or y.shape != (len(x),):
            raise Failed(f"x of the shape {x.shape} and y of the shape {y.shape}: (n, d) and (n,) are needed")
        if x.dtype not in (np.float64, np.uint8) or y.dtype != np.int64:
            raise Failed(f"x of {x.dtype} and y of {y.dtype}: float64 or uint8, and int64 are needed")
        if not np.isfinite(x).all():
            raise Failed("some of x are NaN or infinite")
        if len(y) and not (y.min() >= 0 and y.max() < len(stream.classes)):
            raise Failed(f"y from {y.min()} to {y.max()}: these are places in classes, of which it has "
                         f"{len(stream.classes)}")  # fmt: skip
    for _, y in stream.blocks(_ROWS):
        count += len(y)
    if count != len(stream):
        raise Failed(f"it says that it has {len(stream)} examples and hands out {count}")
    if len(stream.classes) < 2:
        raise Failed(f"classes={stream.classes!r}: two at least are needed")


def _concepts(stream: Any) -> None:
    changes = np.asarray(stream.changes)
    if (np.diff(changes) <= 0).any() or (changes < 0).any():
        raise Failed(f"changes={changes.tolist()} do not rise")
    if stream.holdouts and len(stream.holdouts) != len(changes) + 1:
        raise Failed(f"{len(changes)} changes make {len(changes) + 1} concepts, and there are {len(stream.holdouts)} "
                     "hold-outs")  # fmt: skip
    if stream.holdouts:
        concepts = np.asarray(stream.concept(np.arange(1, len(stream) + 1)))
        if concepts.min() < 0 or concepts.max() >= len(stream.holdouts):
            raise Failed(f"concept() goes from {concepts.min()} to {concepts.max()}, of {len(stream.holdouts)}")


def _blocks(stream: Any) -> None:
    for size in (1000, 7):
        one = [y for _, y in stream.blocks(size)]
        if any(len(y) > size for y in one):
            raise Failed(f"blocks({size}) gave {max(map(len, one))} examples at once")
        whole = np.concatenate([y for _, y in stream.blocks(max(len(stream), 1))])
        if not np.array_equal(np.concatenate(one), whole):
            raise Failed(f"blocks({size}) gave other labels than one block of all")


def _repeated(dataset: Mapping[str, Any], data_root: Path, stream: Any) -> None:
    with numpy_left_alone():
        again = stream_digest(dataset, data_root)
    if again != _digest_of(stream):
        raise Failed("two draws with the same seeds differ")


def _worker(dataset: Mapping[str, Any], data_root: Path, stream: Any) -> None:
    if in_a_worker(stream_digest, dict(dataset), data_root) != _digest_of(stream):
        raise Failed("drawn in another process it differs")


def _seeds(dataset: Mapping[str, Any], data_root: Path, stream: Callable) -> None:
    stream()  # skipped where its files are not there
    loader = importlib.import_module(catalogue.dataset(dataset).loader)
    try:
        files = loader.files(dataset, data_root)
    except DataMissingError as missing:
        raise Skipped(f"its files are not there: {missing}") from None
    if files:
        raise Skipped("it is read from files: the same examples for every seed")
    if _digest_of(stream(1, 2), holdouts=False) == _digest_of(stream(3, 2), holdouts=False):
        raise Failed("it is generated, and another seed gives the same examples")
    if _digest_of(stream(1, 2), examples=False) != _digest_of(stream(3, 2), examples=False):
        raise Failed("its hold-outs change with the seed of the stream: rivals would be tested on different ones")


def _facts(stream: Any) -> None:
    if not plain_and_finite(dict(stream.facts)):
        raise Failed(f"facts={stream.facts!r}: plain values are needed")
