"""A user's function as a drifting stream: ``dataset=module:function``, its examples in their order.

It yields examples ``(x, y)``, x a sequence of numbers or, as in river, a dict of them, or blocks of examples,
``(X (k, d), y (k,))``; or it returns the arrays ``(X, y)``. A class is called in the same way, and iterated. Its
parameters are keys. The stream is held in memory, read once a process, and identified by its content: a function that
yields other examples each time is another stream each time. Classes and feature names of dicts are collected before
the first trial, whenever they first appear; a feature absent from an example is missing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun import extend
from boostrun.data.dataset import Parts, names_of
from boostrun.data.keys import OwnStreamKeys
from boostrun.data.streams.drift_stream import DriftStream
from boostrun.data.streams.file_stream import forward_filled
from boostrun.errors import BoostrunError
from boostrun.extend.loader import content_digest

NEEDS = ("first",)  # of the keys that say how a stream is followed: a function may never end
_MOST = 1 << 26  # numbers that are held, 512 MiB
_OF_A_LABEL = 8  # numbers that take as much memory as a label
_BLOCK = 10_000  # examples, after which they are counted


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """No files: the content of the stream identifies it."""
    return {}


def places(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return f"it is what {options['name']} yields"


def parameters(options: Mapping) -> dict[str, Any]:
    """The keys of measurement and the digest of the content, in place of the user's keys."""
    own = {key: options[key] for key in (*_not_its_own(), "first", "delay", "measures") if key in options}
    return {**own, "content": _held(*_asked(options))[1]}


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """The stream, in its order; draws no random numbers.

    Raises BoostrunError if it fails, never ends or yields something else, for missing values (unless ``missing`` fills
    them), infinite values, labels that are no classes, and fewer than two classes.
    """
    where = str(options["name"])
    x, names = _held(*_asked(options))[0]
    if options["missing"] == "last":
        x = forward_filled(x, np.zeros(x.shape[1]))
    if not (good := np.isfinite(x)).all():
        row, column = np.argwhere(~good)[0]
        raise BoostrunError(
            f"{where} gave values that are {'NaN' if np.isnan(x[row, column]) else 'infinite'}, first in row {row}, "
            f"feature {column} (counted from 0)"
            f"{'; dataset.missing=last repeats the last value' if np.isnan(x[row, column]) else ''}"
        )
    classes, y = np.unique(names, return_inverse=True)
    if len(classes) < 2:
        raise BoostrunError(f"{where}: all {len(y)} examples have the label {classes[0]}; two classes are needed")
    return DriftStream(where, x, y.astype(np.int64), tuple(map(str, classes.tolist())), np.array([], np.int64))


def _not_its_own() -> tuple[str, ...]:
    """Keys that every such stream has, except those that limit its use and delay labels."""
    return tuple(key for key in OwnStreamKeys.__dataclass_fields__ if key not in ("first", "delay", "measures"))


def _asked(options: Mapping) -> tuple[str, str, int | None]:
    every = {"name", "first", "delay", "measures", *_not_its_own()}
    given = {key: value for key, value in options.items() if key not in every}
    return str(options["name"]), json.dumps(given, sort_keys=True), options.get("first")


@functools.lru_cache(maxsize=2)
def _held(where: str, given: str, first: int | None) -> tuple[tuple[np.ndarray, np.ndarray], str]:
    """Values (n, d) float64 and labels (n,) as text or whole numbers, and their digest."""
    thing = extend.obtain(where)
    found = extend.call(where, thing, **json.loads(given))
    if not isinstance(found, Iterable):
        raise BoostrunError(f"{where} must yield examples (x, y), or return arrays, not {type(found).__name__}")
    held = _Held(where, first)
    extend.call(where, held.take, found)
    x = held.values()
    if any(label is None for label in held.labels):
        raise BoostrunError(f"{where} gave examples without a label")
    labels = names_of(np.array(held.labels), f"y of {where}")
    return (x, labels), content_digest(Parts(x, labels))


class _Held:
    """Examples as they come, in blocks of numbers."""

    def __init__(self, where: str, first: int | None):
        self.where, self.first = where, first
        self.labels: list[Any] = []
        self._blocks: list[np.ndarray] = []
        self._waiting: list[Any] = []
        self._names: dict[Any, int] = {}  # of a dict's features: their places, in the order in which they came
        self._numbers = 0

    def take(self, found: Iterable) -> None:
        """Collect the stream, as far as it is wanted."""
        for piece in [found] if _is_block(found) else found:
            if not isinstance(piece, Sequence) or len(piece) != 2:
                raise BoostrunError(f"{self.where} must yield pairs (x, y), not {type(piece).__name__}")
            x, y = piece
            if _is_block(piece):
                self._put()
                self._waiting, more = list(np.asarray(x, np.float64)), np.asarray(y).ravel().tolist()
                if len(more) != len(self._waiting):
                    raise BoostrunError(f"{self.where} gave {len(self._waiting)} examples with {len(more)} labels")
                self.labels += more
                self._put()
            else:
                self._waiting.append(x)
                self.labels.append(y)
                if len(self._waiting) == _BLOCK:
                    self._put()
            if self.first is not None and len(self.labels) >= self.first:
                del self.labels[self.first :]
                break
        self._put()

    def values(self) -> np.ndarray:
        """All of them, (n, d) float64; NaN where an example has no such feature."""
        if not self.labels:
            raise BoostrunError(f"{self.where} gave no examples")
        width = max(block.shape[1] for block in self._blocks)
        padded = [np.pad(block, ((0, 0), (0, width - block.shape[1])), constant_values=np.nan)
                  for block in self._blocks]  # fmt: skip
        return np.concatenate(padded)[: len(self.labels)]

    def _put(self) -> None:
        """Turn waiting examples into a block of numbers."""
        if not self._waiting:
            return
        named = isinstance(self._waiting[0], Mapping)
        try:
            block = self._of_dicts() if named else np.array(self._waiting, np.float64).reshape(len(self._waiting), -1)
        except (TypeError, ValueError, AttributeError):
            raise BoostrunError(
                f"{self.where} gave an x that is no row of numbers, or rows of several lengths"
            ) from None
        if not named and self._blocks and block.shape[1] != self._blocks[0].shape[1]:
            raise BoostrunError(f"{self.where} went from {self._blocks[0].shape[1]} to {block.shape[1]} features")
        self._blocks.append(block)
        self._waiting = []
        self._numbers += block.size + _OF_A_LABEL * len(block)
        if self._numbers > _MOST:
            raise BoostrunError(
                f"{self.where} had not ended after {len(self.labels):,} examples, more than are held at once; "
                "dataset.first=... says how many are wanted"
            )

    def _of_dicts(self) -> np.ndarray:
        for row in self._waiting:
            for name in row:
                self._names.setdefault(name, len(self._names))
        block = np.full((len(self._waiting), len(self._names)), np.nan)
        for values, row in zip(block, self._waiting):
            for name, value in row.items():
                if value is not None:
                    values[self._names[name]] = value
        return block


def _is_block(piece: Any) -> bool:
    return isinstance(piece, tuple) and len(piece) == 2 and len(getattr(piece[0], "shape", ())) == 2
